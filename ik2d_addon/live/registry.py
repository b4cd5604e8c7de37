# SPDX-License-Identifier: GPL-3.0-or-later
"""The live chains, the order in which they are solved, and the status of each."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

import bpy

from ..core import IK2DError
from ..core.words import say
from ..rig.chain.checks.bones import pose_bones_of
from ..rig.chain.fingerprint import fingerprint, has_own_rotation, mechanism_fingerprint
from ..rig.chain.native_state import is_mechanism
from ..rig.chain.order import in_rounds, refuse_shared
from ..rig.chain.paths.owners import with_settings
from ..rig.chain.post import bones_to_post
from ..rig.chain.renames import bones_of, refuse_linked
from ..rig.scene import live_pause
from .chain import LiveChain
from .following import Key, key_of
from .kept.cache import Kept
from .mechanism import Live, LiveMechanism
from .refusals import SharedControls, state_of_controls
from .updates import AsRead, Updates

# The controls that the chains of an armature share, by armature.
Shared: TypeAlias = dict[bpy.types.Object, SharedControls]


class Rigs:
    """Cached readings of the file's live chains."""

    def __init__(self) -> None:
        self.failures: dict[Key, str] = {}  # why a chain was turned off
        self.drop()

    def drop(self) -> None:
        """Forget all readings: what they refer to may be gone."""
        self.chains: dict[Key, Live] = {}
        self.rounds: list[list[Live]] = []
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

    def concerned(self, depsgraph: bpy.types.Depsgraph) -> set[Live] | None:
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

    def read_again(self, chain: Live) -> None:
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
        chains: dict[Key, Live] = {}
        fingerprints: dict[Key, tuple[Any, ...]] = {}
        waiting: set[bpy.types.ID] = set()  # what the chains depend on that cannot be solved
        self.problems, before = {}, self.problems
        for armature, index, settings in live_settings():
            needed = {armature, armature.data}
            try:
                key = key_of(settings)
                needed.update(node for node in _followed_by(settings) if node is not None)
                chained = _turned_by_chains(armature, chains) if is_mechanism(settings) else frozenset()
                fingerprints[key] = _print_of(armature, index, settings, shared, chained)
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
                if is_mechanism(settings):
                    chains[key] = LiveMechanism(armature, settings, index, chained)
                else:
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
            if chain is None:
                return True
            settings = _listed(chain.armature, key)[chain.index]
            if key_of(settings) != key:
                return True
            chained = chain.rig.chained if isinstance(chain, LiveMechanism) else frozenset()
            now = _print_of(chain.armature, chain.index, settings, shared, chained)
            return now != self._fingerprints.get(key)
        except (ReferenceError, LookupError, AttributeError, UnicodeDecodeError):  # something is gone
            return True

    def _is_mended(self, key: Key, armature: bpy.types.Object, index: int, shared: Shared) -> bool:
        """Read an edited chain, if it is live; return whether all others are as they were."""
        before = self.chains.get(key)
        beside = (chain for chain in self.chains.values() if isinstance(chain, LiveMechanism))
        if any(chain.armature == armature for chain in beside):  # it may hang on this one
            return False
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

    def _arrange(self, chains: dict[Key, Live]) -> None:
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
                "Chain '{chain}' and other live chains depend on one another in a circle: a loop that closes "
                "is a mechanism; press Make a Mechanism, or turn Live off for one of them",
                chain=rig.name,
            )
        self.rounds = [[chains[by_rig[id(rig)]] for rig in ready] for ready in rounds]


def live_settings() -> Iterator[tuple[bpy.types.Object, int, bpy.types.PropertyGroup]]:
    """Yield the armature, index and settings of each chain, then mechanism, that is live and enabled.

    The index is that in their list.
    """
    for armature in with_settings(bpy.data.objects):
        for items in (armature.ik2d.chains, armature.ik2d.mechanisms):
            for index, item in enumerate(items):
                if item.live and item.enabled:
                    yield armature, index, item


def _listed(armature: bpy.types.Object, key: Key) -> bpy.types.bpy_prop_collection:
    """Return the list that the settings of a key are in."""
    return armature.ik2d.mechanisms if key[2] else armature.ik2d.chains


def settings_of(chain: Live) -> Any:
    """Return the settings of a live chain or mechanism, by its name; None where they are gone."""
    return next((one for one in _listed(chain.armature, chain.key) if one.name == chain.name), None)


def _followed_by(settings: Any) -> Iterator[bpy.types.Object | None]:
    """Yield the objects that a chain or a mechanism follows."""
    if is_mechanism(settings):
        yield from (driver.target for driver in settings.drivers)
    else:
        yield from (settings.target, settings.pole, settings.foot.ground)


def _turned_by_chains(armature: bpy.types.Object, chains: Mapping[Key, Live]) -> frozenset[str]:
    """Return the bones of an armature that its live chains turn."""
    its = [chain.rig for chain in chains.values() if isinstance(chain, LiveChain)]
    return frozenset(bone for rig in its if rig.armature == armature for bone in rig.turned_bones)


def _print_of(
    armature: bpy.types.Object,
    index: int,
    settings: bpy.types.PropertyGroup,
    shared: Shared,
    chained: frozenset[str] = frozenset(),
) -> tuple[Any, ...]:
    """Return the fingerprint of a live chain or mechanism, with the state of what else may move its bones.

    shared: those missing are read into it. chained: the bones that live chains turn.
    """
    if is_mechanism(settings):
        bones = [bone.name for bone in settings.bones if armature.pose and bone.name in armature.pose.bones]
        if armature.pose is not None and armature not in shared:
            shared[armature] = SharedControls.of(armature)
        controls = state_of_controls(armature, bones, shared[armature]) if armature.pose else []
        its = chained.intersection(bones)
        return index, mechanism_fingerprint(armature, settings), controls, its
    bones = bones_of(armature.data, settings.tip, settings.bone_count)
    bones += [bone.name for bone in bones_to_post(settings) if bone.name not in bones]
    if armature.pose is None:
        return index, fingerprint(armature, settings), []
    if armature not in shared:
        shared[armature] = SharedControls.of(armature)
    return index, fingerprint(armature, settings), state_of_controls(armature, bones, shared[armature])


def _refuse(armature: bpy.types.Object) -> None:
    """Raise IK2DError for an armature whose pose cannot be written."""
    refuse_linked(armature)
    pose_bones_of(armature)


def problem_of_live(settings: bpy.types.PropertyGroup) -> str:
    """Return why a live chain is not solved, or why Live was turned off; "" without a reason."""
    reasons = RIGS.problems if settings.live else RIGS.failures
    return reasons.get(key_of(settings), "")


RIGS = Rigs()
