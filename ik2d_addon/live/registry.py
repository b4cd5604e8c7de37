# SPDX-License-Identifier: GPL-3.0-or-later
"""The live chains, the order in which they are solved, and the status of each."""

from collections.abc import Iterator
from contextlib import suppress
from math import dist, inf
from typing import Any, TypeAlias

import bpy
import numpy as np

from ..bake.lengths import Units, length_text
from ..bake.reporting.causes import FK
from ..bake.reporting.swing_notes import WHERE
from ..core import IK2DError
from ..core.words import noted, say
from ..rig.chain.checks.bones import pose_bones_of
from ..rig.chain.fingerprint import fingerprint, has_own_rotation
from ..rig.chain.order import in_rounds, refuse_shared
from ..rig.chain.paths.owners import with_settings
from ..rig.chain.post import bones_to_post
from ..rig.chain.renames import bones_of, why_linked
from ..rig.pose.swings import NEAR
from ..rig.scene import live_pause
from ..rig.scene.rounding import reached_within
from .chain import LiveChain
from .kept.cache import Kept
from .refusals import SharedControls, state_of_controls
from .shown import largest_scale, shown_place
from .status import AIMED, MOVED_ELSE, ON_TARGET, LiveOutcome, Look, shown_reach
from .updates import AsRead, Updates

_HIDDEN = noted("the armature is hidden, and Blender may not move it")
# A chain: the session UID of its armature, and its name.
Key = tuple[int, str]
# The controls that the chains of an armature share, by armature.
Shared: TypeAlias = dict[bpy.types.Object, SharedControls]


class Rigs:
    """Cached readings of the file's live chains."""

    def __init__(self) -> None:
        self.failures: dict[Key, str] = {}  # why a chain was turned off
        self.drop()

    def drop(self) -> None:
        """Forget all readings: what they refer to may be gone."""
        self.chains: dict[Key, LiveChain] = {}
        self.rounds: list[list[LiveChain]] = []
        self.problems: dict[Key, str] = {}  # why a live chain is not solved
        self.updates = Updates()
        # Chains whose own settings were edited, each with its armature and its index.
        self._edited: dict[Key, tuple[bpy.types.Object, int]] = {}
        self._stale: set[Key] = set()  # chains whose targets may be moved by something else than they were
        self._apart: dict[Key, str] = {}  # why chains cannot be live beside others
        self._fingerprints: dict[Key, tuple[Any, ...]] = {}
        self._as_read: dict[bpy.types.Object, AsRead] = {}
        self._in_scenes: set[bpy.types.ID] = set()  # what they depend on, as far as a scene has it
        self.kept: Kept | None = None
        self.frames = 0  # that were shown since anything was edited
        self._current = False

    @property
    def is_marked(self) -> bool:
        """Whether all live chains will be checked before the next frame."""
        return not self._current

    def mark(self) -> None:
        """Check all live chains before the next frame: something may have changed."""
        self._current, self.kept, self.frames = False, None, 0

    def mark_edited(self, settings: bpy.types.PropertyGroup) -> None:
        """Check one chain before the next frame: a setting of it, its foot or its joints was edited."""
        try:
            armature, path = settings.id_data, settings.path_from_id()
            index = int(path.split("[")[1].split("]")[0])
            self._edited[key_of(armature.ik2d.chains[index])] = armature, index
        except (ValueError, LookupError, UnicodeDecodeError):  # a group that is in no list
            self._current = False
        self.kept, self.frames = None, 0

    def mark_bones(self, settings: bpy.types.PropertyGroup) -> None:
        """Check a chain of other bones; what hangs on the tips of others may be one of these."""
        if self._fingerprints and any(has_own_rotation(chain) for *_, chain in live_settings()):
            self.mark()
        self.mark_edited(settings)

    def concerned(self, depsgraph: bpy.types.Depsgraph) -> set[LiveChain] | None:
        """Return the chains that an update concerns; None for all, which are then checked.

        What was kept is dropped where one of them, or an Action, was edited.
        """
        if not self._current or live_pause.pauses:
            return None
        if not self.updates.known:
            return set()
        found = self.updates.concerned(depsgraph, self._is_explained)
        if found is None:
            self.mark()
            return None
        moved, changed = found
        if moved or depsgraph.id_type_updated('ACTION'):
            self.kept, self.frames = None, 0
        self._stale |= {chain.key for chain in changed}
        edited = {self.chains[key] for key in self._edited if key in self.chains}
        return moved | edited | {chain for chain in self.chains.values() if chain.depends_on_unseen}

    def _is_explained(self, data: bpy.types.ID) -> bool:
        """Return whether edited settings explain that armature data is updated: its bones are as read."""
        edited = self._edited.values()
        with suppress(ReferenceError, AttributeError):  # an armature is gone
            its = {rig: AsRead.of(rig) for rig in self._as_read if edited and rig.data == data}
            agree = [
                now.agrees(self._as_read[rig], {index for owner, index in edited if owner == rig})
                for rig, now in its.items()
            ]
            if all(agree) and not its.keys().isdisjoint(rig for rig, _ in edited):
                self._as_read |= its
                return True
        return False

    def mark_collections(self, depsgraph: bpy.types.Depsgraph | None = None) -> None:
        """Check them after objects came or went, or collections were enabled or disabled.

        depsgraph: of the update that tells so; where it shows all as before, nothing is checked.
        """
        if depsgraph is not None and self._current and self.updates.in_scenes == self._in_scenes:
            are_read = self._as_read.keys() == {armature for armature, *_ in live_settings()}
            with suppress(ReferenceError, AttributeError):  # something is gone
                if are_read and not any(chain.unseen_changed(depsgraph) for chain in self.chains.values()):
                    return
        self.mark()
        for chain in self.chains.values():
            chain.forget_unseen()

    def rest_changed(self) -> bool:
        """Return whether rest poses or locks were edited. Of animated ones Blender tells on each frame."""
        if not all(key in self.chains for key in self._fingerprints):  # one that an edit may mend
            return True
        return any(chain.rest_changed() for chain in self.chains.values())

    def read_again(self, chain: LiveChain) -> None:
        """Read a chain again before the next frame, even if its fingerprint is the same."""
        self._fingerprints.pop(chain.key, None)
        self.mark()

    def settle(self) -> bool:
        """Read the chains that are new or have changed; return whether any chain is live."""
        stale, edited, self._stale, self._edited = self._stale, self._edited, set(), {}
        shared: Shared = {}
        if self._current and not any(self._has_changed(key, shared) for key in stale):
            if all(self._is_mended(key, *place, shared) for key, place in edited.items()):
                return bool(self.rounds)
        self._current = True
        chains: dict[Key, LiveChain] = {}
        fingerprints: dict[Key, tuple[Any, ...]] = {}
        waiting: set[bpy.types.ID] = set()  # what the chains depend on that cannot be solved
        self.problems, before = {}, self.problems
        for armature, index, settings in live_settings():
            needed = {armature, armature.data}
            try:
                key = key_of(settings)
                followed = (settings.target, settings.pole, settings.foot.ground)
                needed.update(node for node in followed if node is not None)
                fingerprints[key] = _print_of(armature, index, settings, shared)
            except UnicodeDecodeError:  # a name that is no text: the panel says so
                waiting |= needed
                continue
            is_same = fingerprints[key] == self._fingerprints.get(key)
            if is_same and (key in self.chains or key in before):
                if key in self.chains:
                    chains[key] = self.chains[key]
                else:
                    self.problems[key] = before[key]
                    waiting |= needed
                continue
            try:
                _refuse(armature)
                chains[key] = LiveChain(armature, settings, index, shared[armature].reaching)
            except IK2DError as error:
                self.problems[key] = str(error)
                waiting |= needed
        if chains != self.chains:
            self._arrange(chains)
        self.problems |= self._apart
        self.chains, self._fingerprints = chains, fingerprints
        self._as_read = {}
        for armature in shared:
            with suppress(UnicodeDecodeError):  # as above
                self._as_read[armature] = AsRead.of(armature)
        for key in self._apart:
            chain = chains[key]
            waiting.update((chain.armature, chain.armature.data, *(node for node, _ in chain.followed)))
        self.updates = Updates((chain for ready in self.rounds for chain in ready), waiting)
        self._in_scenes = self.updates.in_scenes
        return bool(self.rounds)

    def _has_changed(self, key: Key, shared: Shared) -> bool:
        """Return whether a chain is another than it was read. shared: as in `_print_of`."""
        chain = self.chains.get(key)
        try:
            settings = chain and chain.armature.ik2d.chains[chain.index]
            if not settings or key_of(settings) != key:
                return True
            return _print_of(chain.armature, chain.index, settings, shared) != self._fingerprints.get(key)
        except (ReferenceError, LookupError, AttributeError, UnicodeDecodeError):  # something is gone
            return True

    def _is_mended(self, key: Key, armature: bpy.types.Object, index: int, shared: Shared) -> bool:
        """Read an edited chain, if it is live; return whether all others are as they were."""
        before = self.chains.get(key)
        try:
            settings = armature.ik2d.chains[index]
            if not (settings.live and settings.enabled) or key_of(settings) != key:
                return key not in self._fingerprints
            now = _print_of(armature, index, settings, shared)
            if now == self._fingerprints.get(key) and before is not None:
                return True
            if before is None and (key in self._fingerprints or armature not in self._as_read):
                return False
            _refuse(armature)
            chain = LiveChain(armature, settings, index, shared[armature].reaching)
        except (IK2DError, UnicodeDecodeError, LookupError, ReferenceError):
            return False
        if before is not None and chain.ties != before.ties or self._apart:
            return False
        self.chains[key], self._fingerprints[key] = chain, now
        if before is not None:
            self.rounds = [[chain if each is before else each for each in ready] for ready in self.rounds]
        else:
            self._arrange(self.chains)
        self.updates.take(chain, before)
        self._in_scenes = self.updates.in_scenes
        return not self._apart

    def _arrange(self, chains: dict[Key, LiveChain]) -> None:
        """Put the chains into rounds, each after the chains that it hangs on."""
        by_rig, self._apart = {id(chain.rig): key for key, chain in chains.items()}, {}
        owners: dict[bpy.types.Object, dict[str, str]] = {}
        fit = []
        for key, chain in chains.items():
            taken = owners.setdefault(chain.armature, {})
            try:
                refuse_shared([chain.rig], taken)
                taken.update(dict.fromkeys(chain.rig.turned_bones, chain.name))
                fit.append(chain.rig)
            except IK2DError as error:
                self._apart[key] = str(error)
        rounds, circle = in_rounds(fit)
        for rig in circle:
            self._apart[by_rig[id(rig)]] = say(
                "Chain '{chain}' and other live chains depend on one another in a circle; turn Live "
                "off for one of them",
                chain=rig.name,
            )
        self.rounds = [[chains[by_rig[id(rig)]] for rig in ready] for ready in rounds]


def live_settings() -> Iterator[tuple[bpy.types.Object, int, bpy.types.PropertyGroup]]:
    """Yield the armature, the index and the settings of each chain that is live and enabled."""
    for armature in with_settings(bpy.data.objects):
        for index, chain in enumerate(armature.ik2d.chains):
            if chain.live and chain.enabled:
                yield armature, index, chain


def _print_of(
    armature: bpy.types.Object, index: int, settings: bpy.types.PropertyGroup, shared: Shared
) -> tuple[Any, ...]:
    """Return the fingerprint of a live chain, with the state of what else may move its bones.

    shared: those missing are read into it.
    """
    bones = bones_of(armature.data, settings.tip, settings.bone_count)
    bones += [bone.name for bone in bones_to_post(settings) if bone.name not in bones]
    if armature.pose is None:
        return index, fingerprint(armature, settings), []
    if armature not in shared:
        shared[armature] = SharedControls.of(armature)
    return index, fingerprint(armature, settings), state_of_controls(armature, bones, shared[armature])


def _refuse(armature: bpy.types.Object) -> None:
    """Raise IK2DError for an armature whose pose cannot be written."""
    if reason := why_linked(armature):
        raise IK2DError(reason)
    pose_bones_of(armature)


def key_of(settings: bpy.types.PropertyGroup) -> Key:
    """Return the key of a chain."""
    return settings.id_data.session_uid, settings.name


def problem_of_live(settings: bpy.types.PropertyGroup) -> str:
    """Return why a live chain is not solved, or why Live was turned off; "" without a reason."""
    reasons = RIGS.problems if settings.live else RIGS.failures
    return reasons.get(key_of(settings), "")


def look_at(settings: bpy.types.PropertyGroup) -> Look | None:
    """Return how far a chain's tip is from its target where Blender shows both; None where it does not."""
    layer, armature = bpy.context.view_layer, settings.id_data.original
    depsgraph = layer and (layer.depsgraph or bpy.context.evaluated_depsgraph_get())
    if not depsgraph or settings.target is None or armature.pose is None:
        return None
    shown, chain = armature.evaluated_get(depsgraph), RIGS.chains.get(key_of(settings))
    if not shown.is_evaluated:
        return None
    try:
        bones = [
            shown.pose.bones[name] for name in bones_of(armature.data, settings.tip, settings.bone_count)
        ]
        openness = inf
        if chain is not None:
            place, openness = chain.goal(bpy.context.scene, depsgraph)
        else:
            place = shown_place(settings.target, settings.subtarget, depsgraph)
        distance = dist(shown.matrix_world @ bones[-1].tail, place)
    except (IK2DError, LookupError, AttributeError, ReferenceError):  # something of it is gone
        return None
    world = np.array(shown.matrix_world, np.float64)[None]
    root = np.array(shown.matrix_world @ bones[0].head, np.float64)[None]
    tolerance_set = settings.tolerance * largest_scale(shown.matrix_world)
    tolerance = reached_within(tolerance_set, shown_reach(shown.matrix_world, bones), world, root)
    return Look(distance, tolerance, openness)


def status_of(settings: bpy.types.PropertyGroup) -> str:
    """Return the status of a live chain in words: its problem, or its outcome; "" for another chain."""
    return _judged(settings)[1]


def is_on_target(settings: bpy.types.PropertyGroup) -> bool:
    """Return whether a live chain follows its target, and Blender shows its tip there."""
    return _judged(settings)[0]


def _judged(settings: bpy.types.PropertyGroup) -> tuple[bool, str]:
    """Return whether a live chain's tip is shown on its target, and the status in words."""
    problem = problem_of_live(settings)
    if problem or not (settings.live and settings.enabled):
        return False, problem
    look = look_at(settings)
    if look is None:
        return False, say("The armature or the target is not shown here")
    chain = RIGS.chains.get(key_of(settings))
    outcome = chain.outcome if chain is not None else None
    if chain is not None and not (look.reached and chain.rig.settings.tip_angle is None):
        outcome = chain.outcome_in(bpy.context.scene, bpy.context.view_layer.depsgraph)
    if look.reached:
        return True, _reached(look, chain, outcome)
    off = off_words(look.distance, Units.of(bpy.context.scene))
    if outcome is not None and outcome.on_purpose == FK:
        return False, say(FK)
    if chain is None or outcome is None:  # nothing has moved since it became live
        return False, off
    cause = outcome.cause(look.distance, look.tolerance)
    is_hidden = cause == MOVED_ELSE and not chain.armature.visible_get()
    return False, f"{off}: {say(_HIDDEN if is_hidden else cause)}"


def off_words(distance: float, units: Units) -> str:
    """Return how far a tip is off its target, in words."""
    return say("{length} off its target", length=length_text(distance, units))


def _reached(look: Look, chain: LiveChain | None, outcome: LiveOutcome | None) -> str:
    """Return the status, in words, of a chain whose tip is shown on its target."""
    if chain is None:
        return say(ON_TARGET)
    on_target, swing = say(AIMED if chain.rig.settings.aims else ON_TARGET), chain.rig.swing
    if outcome is not None and outcome.angle_off:
        return say(
            "{on_target}, {angle:.3g} degrees off its angle",
            on_target=on_target,
            angle=np.degrees(outcome.angle_off),
        )
    if look.openness < NEAR and swing is not None:
        where = say("{where} within {angle:.0f} degrees", where=WHERE[swing.rule], angle=np.degrees(NEAR))
        return say("{on_target}, {where}, where its plane may turn over", on_target=on_target, where=where)
    if chain is not None and RIGS.kept is not None and RIGS.kept.awaits_range(chain):
        return say("{on_target}, by this frame alone until those before it are solved", on_target=on_target)
    return on_target


def distance_of(settings: bpy.types.PropertyGroup) -> float:
    """Return the distance from a live chain's tip to its target as shown; -1 for another chain.

    Of a single bone that aims at its target, whose tip need not get there: from the tip to where it would be
    if the bone pointed exactly at the target.
    """
    look = look_at(settings) if settings.live and settings.enabled else None
    return look.distance if look else -1.0


RIGS = Rigs()
