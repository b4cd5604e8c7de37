# SPDX-License-Identifier: GPL-3.0-or-later
"""Random sequences of bakes, plantings, switches and edits by hand, next to twins that get the edits alone.

Each action has a twin, a copy that nothing of the product touches. After each step all keys of the twin have
to be in the action or among what is kept of it, or to have been named; when all is cleared, action and twin
are equal, but for handles next to keys that were edited meanwhile.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import bpy
from hand_made_actions import (
    HAS_SLOTS,
    Place,
    channels_for,
    curves_of,
    holders,
    key_of_every_kind,
    looks,
    rename_in,
    rows,
    two_legs,
)
from kept_edits import FRAME, Edits

from ik2d_addon.bake import BakeOptions, bake, clear
from ik2d_addon.chains import find_contacts, plant_feet, snap_fk, target_to_tip, unplant_feet
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.kept import giving_back, keeping
from ik2d_addon.rig.animation.kept.giving_back import give_back
from ik2d_addon.rig.animation.kept.marks import SNAP, Marks
from ik2d_addon.rig.animation.kept.record import KEPT, KeptMotion, is_kept_action
from ik2d_addon.rig.animation.versions import place_of

STEPS = (
    *("bake", "bake", "bake one", "undo", "plant", "plant", "contacts", "switch to IK", "switch to FK"),
    *("clear", "clear", "clear one", "clear all", "unplant", "unsnap", "unsnap all"),
    *("insert", "insert", "move", "move", "delete", "retype", "touch", "touch", "drop", "I"),
    *("choose", "choose", "duplicate", "rename bone", "rename object", "rename action", "reopen"),
)


class Loss(AssertionError):
    """Keys that somebody made are lost, or something is left over."""


class Sequence(Edits):
    """One random sequence."""

    def __init__(self, seed: int, folder: Path) -> None:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.context.preferences.edit.use_global_undo = True
        self.random, self.folder, self.seed = Random(seed), folder, seed
        self.log: list[str] = []
        self.named: dict[tuple[str, Place], list[float]] = {}
        self.loose: set[tuple[str, Place]] = set()  # curves whose handles may differ
        self.renamed: dict[str, list[tuple[str, str]]] = {}  # of the bones in an action
        self.compared = 0
        armature = two_legs(self.random)
        self.now = armature.name
        self.modes = {self.now: [bone.rotation_mode for bone in armature.pose.bones]}
        self.actions: dict[str, list[tuple[str, str]]] = {self.now: []}
        self.twins: dict[str, str] = {}
        self._fill(armature)

    def _fill(self, armature: bpy.types.Object) -> None:
        """Give the armature two actions, or two slots of one, and make the twins."""
        one = HAS_SLOTS and self.random.random() < 0.4
        walk = bpy.data.actions.new("Walk")
        for name in ("Walk", "Run"):
            action = walk if one or name == "Walk" else bpy.data.actions.new(name)
            holder = channels_for(armature, action, name)
            loose = key_of_every_kind(armature, holder, self.random)
            handle = holder.slot_handle if HAS_SLOTS else 0
            self.loose |= {(action.name, (handle, *place)) for place in loose}
            if self.random.random() < 0.7:
                self._key_contacts(armature, holder)
            self.actions[self.now].append((action.name, f"OB{name}"))
        names = dict.fromkeys(name for name, _ in self.actions[self.now])
        for target in [chain.target for chain in armature.ik2d.chains]:
            names[target.animation_data.action.name] = None
        for name in names:
            self._twin(bpy.data.actions[name], bpy.data.actions[name])
        self._use(0)

    def _key_contacts(self, armature: bpy.types.Object, holder) -> None:
        for number, chain in enumerate(armature.ik2d.chains):
            curve = holder.fcurves.new(f"{chain.path_from_id()}.foot.contact")
            for frame, value in ((-20, 0), (5 + 4 * number, 1), (12 + 2 * number, 0), (22, 1), (26, 0)):
                curve.keyframe_points.insert(frame, value).interpolation = 'CONSTANT'

    def _twin(self, action: bpy.types.Action, source: bpy.types.Action) -> None:
        twin = source.copy()
        twin.name = f"{action.name} twin"
        twin.use_fake_user = action.use_fake_user = True
        self.twins[action.name] = twin.name

    @property
    def armature(self) -> bpy.types.Object:
        """The armature that is worked on now."""
        return bpy.data.objects[self.now]

    def _use(self, row: int) -> None:
        name, slot = self.actions[self.now][row]
        animation = self.armature.animation_data
        animation.action = bpy.data.actions[name]
        if HAS_SLOTS:
            animation.action_slot = animation.action.slots[slot]

    def _objects(self) -> list[bpy.types.Object]:
        """Return the objects whose keys are worked on: the armature first, then its targets."""
        return [self.armature, *(chain.target for chain in self.armature.ik2d.chains)]

    # --- One sequence --------------------------------------------------------

    def run(self) -> int:
        """Take some steps, then clear all; return how many times all was compared. Raises Loss."""
        giving_back._lost, keeping._dropped = self._named(giving_back._lost), self._named(keeping._dropped)
        try:
            for _ in range(self.random.randint(8, 16)):
                step = self.random.choice(STEPS)
                self.log.append(step)
                getattr(self, "_" + step.split(" ")[0].lower())(step)
                self._check()
            self._end()
        finally:
            giving_back._lost, keeping._dropped = giving_back._lost.told, keeping._dropped.told
        return self.compared

    def _named(self, tell: Callable[..., str]) -> Callable[..., str]:
        """Return a function as the one that names keys, which notes them too."""

        def noted(curve, owner, frames):
            action = curve.id_data
            handles = [h for h, holder in holders(action) if curve in list(holder.fcurves)]
            place = (handles[0] if handles else 0, curve.data_path, curve.array_index)
            self.named.setdefault((action.name, place), []).extend(frames)
            return tell(curve, owner, frames)

        noted.told = tell
        return noted

    def _range(self) -> tuple[int, int]:
        first = self.random.randint(1, 30)
        return first, first + self.random.randint(1, 15)

    def _try(self, work: Callable[[], object]) -> None:
        """Do something that may be refused, which then has changed nothing."""
        before, named = self._all(), {place: list(frames) for place, frames in self.named.items()}
        try:
            work()
        except IK2DError as error:
            self.log[-1] += f" (refused: {str(error)[:50]})"
            self.named = named
            if self._all() != before:
                raise self._loss("refused, and something was changed") from error

    def _all(self) -> dict:
        """Return the looks of all actions, and what is kept of them."""
        return {name: (looks(bpy.data.actions[name]), self._kept_rows(name)) for name in self.twins}

    def _loss(self, what: str) -> Loss:
        return Loss(f"{what}; seed {self.seed}, steps {self.log}")

    def _bake(self, step: str) -> None:
        first, last = self._range()
        random = self.random
        kind, one_curve = random.choice(("", "", "", "", "reduce", "target keys")), random.random() < 0.25
        reduce = 0.01 if kind == "reduce" and last > first + 2 else 0.0
        options = BakeOptions(single_axis=one_curve, reduce=reduce, on_target_keys=kind == "target keys")
        chains = [random.choice("LR")] if step == "bake one" else None
        every = random.choice((1, 1, 1, 2, 3)) if not kind else 1
        self.log[-1] += f" {first}-{last}{' one curve' if options.single_axis else ''}"
        self._try(lambda: bake(self.armature, chains, first, last, every, options=options))

    def _undo(self, _: str) -> None:
        before, named, name = self._all(), dict(self.named), self.now
        bpy.ops.ed.undo_push(message="before")
        self._bake("bake")
        self.named = named
        bpy.ops.ed.undo_push(message="after")
        bpy.ops.ed.undo()
        assert self.now == name
        if self._all() != before:
            raise self._loss("undo")

    def _plant(self, _: str) -> None:
        first, last = self.random.choice(((1, 20), (5, 30), (18, 30), (1, 14)))
        self.log[-1] += f" {first}-{last}"
        self._try(lambda: plant_feet(self.armature, None, first, last))

    def _contacts(self, _: str) -> None:
        self._try(lambda: find_contacts(self.armature, None, 1, 30))

    def _switch(self, step: str) -> None:
        first, last = self._range()
        work = target_to_tip if step.endswith("IK") else snap_fk
        switch = self.random.random() < 0.5
        self.log[-1] += f" {first}-{last} {switch}"
        chains = [self.random.choice("LR")]
        self._try(lambda: work(self.armature, chains, first, last, switch=switch))

    def _clear(self, step: str) -> None:
        first, last = (None, None) if "all" in step else self._range()
        self.log[-1] += f" {first}-{last}"
        chain = self.random.choice("LR") if "one" in step else ""
        self._try(lambda: clear(self.armature, chain, first, last))

    def _unplant(self, _: str) -> None:
        self._try(lambda: unplant_feet(self.armature))

    def _unsnap(self, step: str) -> None:
        first, last = (None, None) if "all" in step else self._range()
        for ob in self._objects():
            give_back(ob, lambda path, index: True, (SNAP,), first, last)

    # --- Other changes -------------------------------------------------------

    def _choose(self, _: str) -> None:
        self._use(self.random.randrange(len(self.actions[self.now])))

    def _duplicate(self, _: str) -> None:
        if len(self.actions) > 2:
            return
        armature, source = self.armature, self.armature.animation_data.action.name
        for ob in bpy.context.view_layer.objects:
            ob.select_set(ob == armature)
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.duplicate()
        copy = bpy.context.view_layer.objects.active
        action = copy.animation_data.action
        self._twin(action, bpy.data.actions[self.twins[source]])
        self.loose |= {(action.name, place) for name, place in self.loose if name == source}
        self.named |= {(action.name, k[1]): list(v) for k, v in self.named.items() if k[0] == source}
        self.renamed[action.name] = list(self.renamed.get(source, ()))
        self.modes[copy.name] = list(self.modes[self.now])
        here = [slot for name, slot in self.actions[self.now] if name == source]
        self.actions[copy.name] = [(action.name, slot) for slot in here]
        self.now = self.random.choice((self.now, copy.name))

    def _rename(self, step: str) -> None:
        number = len(self.log)
        if step == "rename object":
            old, self.armature.name = self.now, f"Object {number}"
            self.now = f"Object {number}"
            for known in (self.actions, self.modes):
                known[self.now] = known.pop(old)
        elif step == "rename action":
            self._rename_action(self.armature.animation_data.action, f"Action {number}")
        else:
            bone = self.random.choice(list(self.armature.pose.bones))
            old, new = bone.name, f"Bone {number}"
            self.armature.data.bones[old].name = new
            for name in dict.fromkeys(name for name, _ in self.actions[self.now]):
                rename_in(bpy.data.actions[name], old, new)
                rename_in(bpy.data.actions[self.twins[name]], old, new)
                self.renamed.setdefault(name, []).append((old, new))
                self.loose = {self._moved(place, name, old, new) for place in self.loose}
                self.named = {self._moved(k, name, old, new): v for k, v in self.named.items()}

    def _moved(self, known: tuple[str, Place], action: str, old: str, new: str) -> tuple[str, Place]:
        name, (handle, path, index) = known
        if name != action:
            return known
        return name, (handle, path.replace(f'["{old}"]', f'["{new}"]'), index)

    def _rename_action(self, action: bpy.types.Action, new: str) -> None:
        old, action.name = action.name, new
        self.twins[new] = self.twins.pop(old)
        self.renamed[new] = self.renamed.pop(old, [])
        self.loose = {(new if name == old else name, place) for name, place in self.loose}
        self.named = {(new if k[0] == old else k[0], k[1]): v for k, v in self.named.items()}
        for owner, known in self.actions.items():
            self.actions[owner] = [(new if name == old else name, slot) for name, slot in known]

    def _reopen(self, _: str) -> None:
        path = str(self.folder / "sequence.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)

    # --- Comparing -----------------------------------------------------------

    def _kept_rows(self, name: str) -> dict[Place, dict]:
        """Return the keys that are kept of an action, by the places that their F-Curves have now."""
        action, found = bpy.data.actions[name], {}
        for handle, holder in holders(action):
            record = KeptMotion(place_of(holder))
            for number, index, path in record.kept_curves():
                at = (handle, self._path_now(name, holder, number, index, path), index)
                found.setdefault(at, {}).update(rows(record.curve(KEPT, number, index)))
        return found

    def _path_now(self, name, holder, number, index, path) -> str:
        for curve in holder.fcurves:
            if curve.array_index == index and len(curve.keyframe_points):
                marks = Marks.on(curve)
                if (marks.ours & (marks.numbers == number)).any():
                    return curve.data_path
        for old, new in self.renamed.get(name, ()):
            path = path.replace(f'["{old}"]', f'["{new}"]')
        return path

    def _check(self) -> None:
        """Raise Loss where a key of a twin is neither in its action, nor kept, nor named."""
        for name, twin in self.twins.items():
            own, kept = curves_of(bpy.data.actions[name]), self._kept_rows(name)
            for place, curve in curves_of(bpy.data.actions[twin]).items():
                there = dict(kept.get(place, {}))
                if place in own:
                    there |= rows(own[place])
                named = self.named.get((name, place), [])
                lost = [
                    frame
                    for row, frame in rows(curve).items()
                    if row not in there and not any(abs(frame - one) < FRAME for one in named)
                ]
                if lost:
                    raise self._loss(f"'{name}' {place} lost its keys at {lost[:5]}")

    def _end(self) -> None:
        """Clear all that the product has done, then compare all actions with their twins."""
        for owner in list(self.actions):
            self.now = owner
            for row, (name, _) in enumerate(self.actions[owner]):
                self._use(row)
                self.log.append(f"end {name}")
                with suppress(IK2DError):
                    unplant_feet(self.armature)
                clear(self.armature)
                self._unsnap("unsnap all")
                with suppress(IK2DError):
                    unplant_feet(self.armature)
                clear(self.armature)
                self._unsnap("unsnap all")
                self._check()
            modes = [bone.rotation_mode for bone in self.armature.pose.bones]
            if modes != self.modes[owner]:
                raise self._loss(f"rotation modes {self.modes[owner]} are {modes}")
        for name, twin in self.twins.items():
            self._compare(name, twin)
        left = [action.name for action in bpy.data.actions if is_kept_action(action) and action.users]
        if left:
            held = {name: list(curves_of(bpy.data.actions[name])) for name in left}
            raise self._loss(f"left over: {held}")

    def _compare(self, name: str, twin: str) -> None:
        own, there = looks(bpy.data.actions[name]), looks(bpy.data.actions[twin])
        extra = [place for place in own if place not in there and (name, place) not in self.named]
        if extra:
            raise self._loss(f"'{name}': new curves {extra[:3]}")
        for place, look in there.items():
            if (name, place) in self.named or not look["co"]:
                continue
            self.compared += 1
            apart = [field for field in look if own.get(place, {}).get(field) != look[field]]
            if (name, place) in self.loose:
                apart = [one for one in apart if one in ("co", "type", "interpolation", "easing")]
            if apart:
                raise self._loss(f"'{name}' {place} differs in {apart}")
        order = [place for place in own if place in there and (name, place) not in self.loose]
        if order != [place for place in there if place in own and (name, place) not in self.loose]:
            raise self._loss(f"'{name}': another order of its curves")
