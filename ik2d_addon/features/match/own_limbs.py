# SPDX-License-Identifier: GPL-3.0-or-later
"""The controls that a rig has of its own: FK bones that a chain's limb copies, and what moves its target.

The bones of a limb that one sees are the chain's, or others that copy them. Where they copy further bones
that hang on one another as they do themselves, these are their FK bones, and the rig's own switch says which
of both they follow.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import bpy

from ...core.words import say
from ...rig.animation.bone_channels import ROTATIONS, channel_values
from ...rig.animation.remembered import put_back, remembered
from ...rig.animation.value_keys import acting_driver, curve_of, driver_of
from ...rig.animation.versions import existing_fcurves
from ...rig.chain.chain import RigChain
from ...rig.chain.dependencies import acts_now

# Constraints by which bones copy others; the first two turn them.
TURNING = ('COPY_TRANSFORMS', 'COPY_ROTATION')
# What poses a bone.
_CHANNELS = ("location", "scale", *ROTATIONS)
# The path of a custom property, of a bone or of the whole rig.
_PROPERTY = re.compile(r'(?:bones\["(?P<bone>(?:[^"\\]|\\.)*)"\])?\["(?P<property>[^"]*)"\]$')
COPIES = (*TURNING, 'COPY_LOCATION', 'COPY_SCALE')


@dataclass(frozen=True)
class Part:
    """A bone of a limb as one sees it, and the bones and controls that it follows in FK and in IK."""

    bone: str
    source: str  # the bone that it copies in FK
    control: str  # whose rotation turns that: itself or above it
    places: bool  # whether it is put where its FK bone is, rather than turned alone
    ik_source: str = ""  # the bone that it copies in IK; "" for none
    ik_control: str = ""


@dataclass(frozen=True, eq=False)
class OwnLimb:
    """The own FK and IK controls of a chain's limb; all bones are the armature's."""

    rig: RigChain
    joints: tuple[Part, ...]  # of each of the chain's bones
    hands: tuple[Part, ...]  # of what is below, that FK controls turn too
    target: str  # the control that carries the chain's target; "" if that is no bone of this armature
    pole: str

    @property
    def parts(self) -> tuple[Part, ...]:
        """The joints and the hands."""
        return (*self.joints, *self.hands)

    @property
    def controls(self) -> tuple[str, ...]:
        """All controls that switches may key."""
        names = [name for part in self.parts for name in (part.control, part.ik_control)]
        return tuple(dict.fromkeys(name for name in (*names, self.target, self.pole) if name))

    def copies(self, part: Part, fk: bool) -> list[bpy.types.Constraint]:
        """Return the constraints by which a bone copies FK bones, or IK bones."""
        first = self.joints[0].source
        bones = self.rig.armature.pose.bones
        there = _copies_of(self.rig.armature, bones[part.bone])
        return [each for each in there if fk == (part.source == each.subtarget or _hangs(bones, each, first))]


def limb_of(rig: RigChain) -> OwnLimb | None:
    """Return the limb of a chain whose rig has FK controls of its own for all its bones; None without."""
    armature = rig.armature
    by_others = rig.settings.native is not None or rig.foot is not None or rig.post_above is not None
    if by_others or not _any_copies(armature):
        return None
    found = _Finder(rig)
    joints = found.joints((), 0)
    if joints is None or found.follow_ik(joints):
        return None
    return OwnLimb(rig, joints, tuple(found.hands(joints)), *found.ik_controls())


def _hangs(bones: bpy.types.bpy_prop_collection, copy: bpy.types.Constraint, first: str) -> bool:
    return first == copy.subtarget or bones[first] in bones[copy.subtarget].parent_recursive


def _any_copies(armature: bpy.types.Object) -> bool:
    return any(each.type in TURNING for bone in armature.pose.bones for each in bone.constraints)


def _copies_of(
    armature: bpy.types.Object, bone: bpy.types.PoseBone, types: Collection[str] = COPIES
) -> list[bpy.types.Constraint]:
    """Return the constraints by which a bone copies others of its armature, muted ones aside."""
    bones = armature.pose.bones
    return [
        each
        for each in bone.constraints
        if each.type in types and not each.mute and each.target == armature and each.subtarget in bones
    ]


def is_switched(copy: bpy.types.Constraint) -> bool:
    """Return whether a driver or keys set the influence of a constraint, or it is off."""
    armature, path = copy.id_data, copy.path_from_id("influence")
    animated = acting_driver(armature, path) is not None or curve_of(armature, path) is not None
    return animated or copy.influence == 0.0


class _Finder:
    """Looks for the bones that copy a chain's bones and FK bones."""

    def __init__(self, rig: RigChain) -> None:
        self._rig, self._armature, self._bones = rig, rig.armature, rig.armature.pose.bones
        root = rig.pose_bones[0]
        self._above = {root.name, *(bone.name for bone in root.parent_recursive)}
        self._copied_by: dict[str, list[str]] = {}
        for bone in self._bones:
            for copy in _copies_of(self._armature, bone, TURNING):
                self._copied_by.setdefault(copy.subtarget, []).append(bone.name)

    def joints(self, found: tuple[Part, ...], row: int) -> tuple[Part, ...] | None:
        """Return the parts of the bones from a row on, below those that were found; None for none."""
        if row == len(self._rig.bones):
            return found
        for part in self._parts(self._rig.bones[row], found):
            whole = self.joints((*found, part), row + 1)
            if whole is not None:
                return whole
        return None

    def _parts(self, bone: str, above: tuple[Part, ...]) -> Iterator[Part]:
        """Yield the parts that a bone of the chain may be, or one that copies it."""
        family = self._family(bone)
        for name in family:
            copies = _copies_of(self._armature, self._bones[name], TURNING)
            if not any(map(is_switched, copies)):
                continue
            own = {copy.subtarget for copy in copies if copy.subtarget in family}
            if name != bone and not own:
                continue
            for copy in copies:
                if copy.subtarget not in family and self._is_below(copy.subtarget, above):
                    yield self._part(name, copy, above, min(own, default=""))

    def _family(self, bone: str) -> list[str]:
        """Return a bone and those that copy it, or one that does."""
        family = [bone]
        for name in family:
            family += [each for each in self._copied_by.get(name, ()) if each not in family]
        return family

    def _is_below(self, source: str, above: tuple[Part, ...]) -> bool:
        bone = self._bones[source]
        return not above or self._bones[above[-1].source] in bone.parent_recursive

    def _part(
        self, name: str, copy: bpy.types.Constraint, above: Sequence[Part], ik_source: str, control: str = ""
    ) -> Part:
        taken = {each for part in above for each in (part.source, part.control)}
        fk_control = self._fk_control(copy.subtarget, taken)
        places = copy.type == 'COPY_TRANSFORMS'
        return Part(name, copy.subtarget, fk_control, places, ik_source, control)

    def follow_ik(self, joints: tuple[Part, ...]) -> bool:
        """Return whether IK moves the bones that the joints copy: then the chain is on FK bones itself."""
        sources = [self._bones[part.source] for part in joints]
        below = [bone for bone in (*sources, *sources[-1].children) if bone.name not in self._rig.bones]
        return any(each.type == 'IK' and acts_now(each) for bone in below for each in bone.constraints)

    def hands(self, joints: tuple[Part, ...]) -> Iterator[Part]:
        """Yield the parts below the joints whose FK bones hang on theirs."""
        above: list[Part] = list(joints)
        first, last = (self._bones[joints[row].source] for row in (0, -1))
        inside = {bone.name for bone in (first, *first.children_recursive)}
        known = {part.bone for part in joints}
        for source in last.children_recursive:
            for name in self._copied_by.get(source.name, ()):
                if name in inside or name in known or name in self._above:
                    continue
                copies = _copies_of(self._armature, self._bones[name], TURNING)
                if not any(map(is_switched, copies)):
                    continue
                known.add(name)
                by_ik = [copy.subtarget for copy in copies if copy.subtarget not in inside]
                copy = next(copy for copy in copies if copy.subtarget == source.name)
                ik_source = by_ik[-1] if by_ik else ""
                control = self._hand_control(ik_source, first=len(above) == len(joints))
                part = self._part(name, copy, above, ik_source, control)
                above.append(part)
                yield part

    def ik_controls(self) -> tuple[str, str]:
        """Return the controls of the target and of the pole; "" for those of another object."""
        nodes = ((self._rig.target, self._rig.subtarget), self._rig.pole or (None, ""))
        target, pole = (self._ik_control(bone) if ob == self._armature and bone else "" for ob, bone in nodes)
        return target, pole

    def _fk_control(self, source: str, taken: Collection[str]) -> str:
        """Return the control that turns an FK bone: the nearest with a shape, else that may turn."""
        ways = list(self._upwards(source, {*self._above, *taken}, copies_first=True))
        shaped = [name for name in ways if self._bones[name].custom_shape]
        return next(iter(shaped or ways), source)

    def _hand_control(self, source: str, first: bool) -> str:
        """Return the control that turns what a hand copies in IK; "" where another's carries it along."""
        if not source:
            return ""
        target = self.ik_controls()[0]
        with_target = [] if not target else list(self._upwards(self._rig.subtarget, self._above))
        ways = list(self._upwards(source, {*self._above, *with_target}))
        shaped = [name for name in ways if self._bones[name].custom_shape]
        own = next(iter(shaped or ways), "")
        return own or (target if first else "")

    def _ik_control(self, source: str) -> str:
        """Return the control that moves a bone and nothing of other limbs: the highest with a shape."""
        ways = [name for name in self._upwards(source, self._above) if not self._moves_others(name)]
        shaped = [name for name in ways if self._bones[name].custom_shape]
        return shaped[-1] if shaped else next(iter(ways), source)

    def _upwards(self, source: str, blocked: Collection[str], *, copies_first: bool = False) -> Iterator[str]:
        """Yield a bone and those above it that a person may turn, or that it copies.

        copies_first: whether what it copies turns it, rather than a part of it on top of what is above.
        """
        seen: set[str] = set()
        name = source
        while name and name not in blocked and name not in seen:
            seen.add(name)
            bone = self._bones[name]
            copies = [copy.subtarget for copy in _copies_of(self._armature, bone, TURNING)]
            if not copies and not all(bone.lock_rotation):
                yield name
            ways = [bone.parent.name if bone.parent else "", *copies[-1:]]
            ways = [way for way in ways if way and way not in blocked]
            name = next(iter(ways[::-1] if copies_first else ways), "")

    def _moves_others(self, control: str) -> bool:
        """Return whether a bone carries what the IK of another limb follows."""
        carried = {control, *(bone.name for bone in self._bones[control].children_recursive)}
        own = {*self._rig.bones, *self._above}
        return any(
            each.type == 'IK' and each.target == self._armature and each.subtarget in carried
            for bone in self._bones
            if bone.name not in own
            for each in bone.constraints
        )


def switches_of(limb: OwnLimb) -> Iterator[str]:
    """Yield the properties by which the rig itself switches a limb, in words, where drivers read such."""
    armature = limb.rig.armature
    copies = (each for part in limb.parts for fk in (True, False) for each in limb.copies(part, fk))
    for copy in copies:
        driver = acting_driver(armature, copy.path_from_id("influence"))
        for variable in driver.driver.variables if driver is not None else ():
            for target in variable.targets:
                named = _PROPERTY.search(target.data_path or "")
                if named is not None and variable.type == 'SINGLE_PROP':
                    bone = named["bone"] or target.id.name
                    yield say("'{property}' of '{bone}'", property=named["property"], bone=bone)


# --- Either kind of bones alone -----------------------------------------------


@contextmanager
def acting(limbs: Sequence[OwnLimb], *, fk: bool) -> Iterator[None]:
    """Have limbs follow their FK bones alone, or with fk=False their IK bones alone, for a while."""
    armatures = list(dict.fromkeys(limb.rig.armature for limb in limbs))
    with ExitStack() as undo:
        with _pose_held(armatures):
            for limb in limbs:
                for part in limb.parts:
                    for kind in (True, False):
                        # What always acts stays: beneath the others, or it copies a part of something alone.
                        for each in filter(is_switched, limb.copies(part, kind)):
                            _set_influence(each, float(kind == fk), undo)
        try:
            yield
        finally:
            with _pose_held(armatures):
                undo.close()


def _set_influence(constraint: bpy.types.Constraint, value: float, undo: ExitStack) -> None:
    """Set the influence of a constraint, and have nothing else set it."""
    path = constraint.path_from_id("influence")
    for curve in (driver_of(constraint.id_data, path), curve_of(constraint.id_data, path)):
        if curve is not None and not curve.mute:
            undo.callback(setattr, curve, "mute", False)
            curve.mute = True
    undo.callback(put_back, remembered([(constraint, "influence")]))
    constraint.influence = value


@contextmanager
def _pose_held(armatures: Sequence[bpy.types.Object]) -> Iterator[None]:
    """Evaluate armatures again after what is done inside, in the pose and with the properties that they have.

    A curve or driver that is muted has all keys evaluated, which undoes what was moved and not keyed.
    """
    poses = [(ob, name, channel_values(ob.pose.bones, name)) for ob in armatures for name in _CHANNELS]
    properties = [
        (holder, key, holder[key])
        for ob in armatures
        for holder, key in _keyed_properties(ob)
        if key in holder
    ]
    yield
    for ob in armatures:
        ob.update_tag(refresh={'OBJECT', 'DATA', 'TIME'})
    bpy.context.view_layer.update()
    for ob, name, values in poses:
        ob.pose.bones.foreach_set(name, values)
    for holder, key, value in properties:
        holder[key] = value
    for ob in armatures:
        ob.update_tag()
    bpy.context.view_layer.update()


def _keyed_properties(
    armature: bpy.types.Object,
) -> Iterator[tuple[bpy.types.Object | bpy.types.PoseBone, str]]:
    """Yield the custom properties of an armature and its bones that have keys."""
    for curve in existing_fcurves(armature):
        named = _PROPERTY.search(curve.data_path)
        bone = armature.pose.bones.get(named["bone"]) if named is not None and named["bone"] else None
        if named is not None and (bone is not None or not named["bone"]):
            yield bone or armature, named["property"]
