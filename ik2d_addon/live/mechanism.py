# SPDX-License-Identifier: GPL-3.0-or-later
"""A live mechanism: its cached reading, and how it follows what drives it on a frame.

On a new frame it writes what a bake keys there, also of a driver that is held at a dead point, or eased into
it; what was given is remembered, so that nothing is eased twice. A driver that is turned by hand in between
stays as it is turned: the others follow it as far as the loops close, and the next frame holds it.
"""

from typing import Any, NamedTuple, TypeAlias

import bpy

from ..core.affine import changed
from ..core.words import refusal, say
from ..rig.animation.bone_channels import rotation_property
from ..rig.animation.value_keys import driven_paths
from ..rig.chain.fingerprint import rest_fingerprint
from ..rig.chain.native_state import is_native
from ..rig.mechanism.aiming import fixed_bones
from ..rig.mechanism.now import MechanismNow, solve_now, turn_now, values_now
from ..rig.mechanism.read import TARGET, RigMechanism, read_mechanism
from ..rig.mechanism.values import turning_axis
from .chain import LiveChain
from .following import LiveItem
from .status.outcome import NATIVE
from .writing import BoneWriter, PoseWrites


class MechanismOutcome(NamedTuple):
    """The result of a frame that was followed."""

    now: MechanismNow

    @property
    def status(self) -> int:
        """MechanismStatus."""
        return int(self.now.solution.status[0])

    @property
    def measures(self) -> tuple[float, ...]:
        """The values of the drivers, and the distance from the target, as far as the status tells of them."""
        solution = self.now.solution
        held = [float(solution.drivers[name][0]) for name, is_so in solution.held.items() if is_so[0]]
        return *held, float(solution.residual[0])


class LiveMechanism(LiveItem):
    """Cached reading of a live mechanism."""

    rig: RigMechanism
    outcome: MechanismOutcome | None

    def __init__(
        self,
        armature: bpy.types.Object,
        settings: bpy.types.PropertyGroup,
        index: int,
        chained: frozenset[str],
    ) -> None:
        """Read a mechanism; raise IK2DError if it cannot be solved. chained: bones that live chains turn."""
        super().__init__(armature, settings, index)
        if is_native(settings):
            raise refusal("Mechanism '{name}' {native}", name=settings.name, native=NATIVE)
        self.rig = rig = read_mechanism(armature, settings).with_chains(chained)
        bones = armature.pose.bones
        self._driving = fixed_bones(rig)
        _refuse_driven(rig, self._driving)
        self._writers = {name: BoneWriter(bones[name], turning_axis(rig, name)) for name in rig.bones}
        self._target = next((one.target for one in rig.drivers if one.kind == TARGET), None)
        self.followed = [self._target] if self._target is not None else []
        self.held_by = rig.frame
        self._rest = self._rest_now()
        self._sizes = _sizes(settings)
        # Of drivers that were written: their channels since, and the turns that were given.
        self._given: dict[str, tuple[tuple[float, ...], float]] = {}

    @property
    def can_be_solved_ahead(self) -> bool:
        """Whether frames to come may be solved ahead, by the bake's own stages."""
        return not (self.has_controls or self.depends_on_unseen or self.rig.unkeyed_drivers)

    @property
    def goes_on(self) -> bool:
        """Whether a bake goes on from the frame before: of poses that are as near to a target, too."""
        return self._target is not None

    @property
    def has_controls(self) -> bool:
        """Whether constraints may move its bones now and then."""
        bones = self.armature.pose.bones
        return any(len(bones[name].constraints) for name in self.rig.bones)

    @property
    def ties(self) -> tuple[Any, ...]:
        """What the order of live chains depends on."""
        return self.rig.bones, self.rig.turned_bones, self.followed

    def named(self, role: str) -> str:
        """Return its target in words."""
        return say("Mechanism '{name}': its {role}", name=self.name, role=role)

    def follow(
        self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, frame_changed: bool
    ) -> MechanismNow | None:
        """Return the mechanism solved as a depsgraph shows what drives it now; None if it does not show it.

        frame_changed: whether a driver is written where it is eased. Raises IK2DError for one that cannot be
        solved.
        """
        stored = self.armature.ik2d.mechanisms[self.index]
        if stored.name != self.name or _sizes(stored) != self._sizes:
            raise LookupError(say("mechanism '{it}' is not as it was", it=self.name))
        shown = self.armature.evaluated_get(depsgraph)
        if not shown.is_evaluated:
            return None
        values = values_now(scene, self.rig, shown)
        for name, (channels, given) in list(self._given.items()):
            if _channels(shown, name) == channels:
                values[name] = given
            else:  # its keys, or a hand
                del self._given[name]
        place = None if self._target is None else self.place_of(self._target, "target", scene, depsgraph)
        near = self._near(shown) if self.rig.goes_on else None
        now = solve_now(scene, self.rig, shown, values, place, near)
        turned = set[Any]() if frame_changed else self._eased_by_hand(now)
        if turned:  # the others follow it where it is
            used = {body: float(value[0]) for body, value in now.solution.drivers.items()}
            values = used | {name: values[name] for name in turned}
            now = solve_now(scene, changed(self.rig, dead='STOP'), shown, values, place, near)
        self.outcome, self._is_kept, self.is_as_baked = MechanismOutcome(now), False, False
        self.followed_on = scene.session_uid, scene.frame_current_final
        return now

    def _eased_by_hand(self, now: MechanismNow) -> set[Any]:
        """Return the driving bones that are turned by hand to where a frame would ease them."""
        if self.rig.dead != 'EASE':
            return set()
        return {name for name in self._driving.intersection(now.written) if name not in self._given}

    def _near(self, shown: bpy.types.Object) -> dict[Any, float]:
        """Return the shown turns of the bodies that the target moves, from which it goes on."""
        free = [one.body for one in self.rig.drivers if one.kind == TARGET]
        return {name: turn_now(self.rig, shown, name) for name in free}

    def write(
        self, now: MechanismNow, depsgraph: bpy.types.Depsgraph, frame_changed: bool, writes: PoseWrites
    ) -> bool:
        """Write what is shown otherwise, of drivers on a new frame alone; return whether anything was."""
        shown = self.armature.evaluated_get(depsgraph)
        names = [name for name in now.written if frame_changed or name not in self._driving]
        bones = [shown.pose.bones[name] for name in names]
        for name in self._driving.intersection(names):
            writer = self._writers[name]
            turned = writer.channels(now.turns[name], getattr(shown.pose.bones[name], writer.property))
            self._given[name] = tuple(turned), float(now.solution.given[name][0])
            self.followed_on = None  # what was given is not kept with the frame
        return writes.add(bones, [self._writers[name] for name in names], [now.turns[name] for name in names])

    def outcome_in(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> MechanismOutcome | None:
        """Return the outcome of the frame that a depsgraph shows; of one that was kept it is solved now."""
        if self.outcome is None and self._is_kept:
            as_baked = self.is_as_baked
            self.follow(scene, depsgraph, True)
            self.is_as_baked = as_baked
        return self.outcome

    def _rest_now(self) -> list[Any]:
        bones = [self.armature.pose.bones[name] for name in self.rig.bones]
        return rest_fingerprint(bones, *(self._target or (None, "")))


# What is live.
Live: TypeAlias = LiveChain | LiveMechanism


def _sizes(settings: Any) -> tuple[int, int, int]:
    """Return how many bones, joints and drivers there are: Blender tells of none that is removed."""
    return len(settings.bones), len(settings.joints), len(settings.drivers)


def _channels(armature: bpy.types.Object, name: str) -> tuple[float, ...]:
    bone = armature.pose.bones[name]
    return tuple(getattr(bone, rotation_property(bone.rotation_mode)))


def _refuse_driven(rig: RigMechanism, driving: set[str]) -> None:
    """Raise IK2DError for a bone that a driver turns in place of the mechanism."""
    driven = driven_paths(rig.armature)
    for name in rig.turned_bones if driven else ():
        bone = rig.armature.pose.bones[name]
        if name not in driving and bone.path_from_id(rotation_property(bone.rotation_mode)) in driven:
            raise refusal(
                "Mechanism '{name}': a driver moves bone '{bone}' in place of the mechanism; remove or mute "
                "the driver",
                name=rig.name,
                bone=name,
            )
