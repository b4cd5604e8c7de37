# SPDX-License-Identifier: GPL-3.0-or-later
"""A point of a mechanism dragged: what drives it is set so that the point comes nearest to the mouse."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

import bpy
import numpy as np
from bpy.types import Context, Object, PropertyGroup, Scene

from ...bake.lengths import Units, length_text
from ...core import IK2DError
from ...core.inputs import Floats
from ...core.mechanism import MechanismSolution
from ...core.words import refusal, say
from ...live.shown import shown_place
from ...rig.animation.bone_channels import BoneRotation, rotation_property, set_values, values_of
from ...rig.animation.value_keys import acting_driver
from ...rig.animation.versions import is_hidden
from ...rig.chain.checks.bones import pose_bones_of
from ...rig.chain.checks.found_post import chains_turning
from ...rig.chain.dependencies import acts_now
from ...rig.chain.joints import EXACT, own_axis
from ...rig.chain.renames import straighten
from ...rig.mechanism.now import in_plane, solve_now
from ...rig.mechanism.posing import channels_at, pose_of
from ...rig.mechanism.read import PIN, RAM, TARGET, TURN, RigDriver, RigMechanism, read_mechanism
from ...rig.mechanism.values import turning_axis
from ...rig.pose.target_moves import why_fixed
from ...ui.auto_keying import Moved
from .held import HeldPoint
from .pointing import DragPlane
from .target_move import TargetMove

# A point that is farther off than this part of the mechanism's size has not reached the mouse.
_REACHED = 1e-6


def evaluated_of(armature: Object) -> Object:
    """Return the evaluated armature."""
    return armature.evaluated_get(bpy.context.evaluated_depsgraph_get())


def mechanism_of(armature: Object, bone: str) -> PropertyGroup | None:
    """Return the enabled mechanism of a bone that no chain turns; None without."""
    found = (one for one in armature.ik2d.mechanisms if one.enabled and bone in one.bones)
    return None if bone in chains_turning(armature) else next(found, None)


def visible_bones(armature: Object) -> Iterator[bpy.types.PoseBone]:
    """Yield the bones of enabled mechanisms that are shown, but for those that chains turn."""
    chained, bones = chains_turning(armature), pose_bones_of(armature)
    for name in dict.fromkeys(
        bone.name for one in armature.ik2d.mechanisms if one.enabled for bone in one.bones
    ):
        if name in bones and name not in chained and not is_hidden(bones[name]):
            yield bones[name]


def machines_behind(armature: Object, bones: Collection[str]) -> tuple[list[RigMechanism], list[str]]:
    """Return the mechanisms, not live, that some bones drive, and the faults of those that have some."""
    found: list[RigMechanism] = []
    faults: list[str] = []
    for one in armature.ik2d.mechanisms:
        driving = {driver.bone for driver in one.drivers if driver.kind == TURN}
        if one.enabled and not one.live and driving.intersection(bones):
            try:
                found.append(read_mechanism(armature, one).with_chains({*chains_turning(armature), *bones}))
            except IK2DError as error:
                faults.append(str(error))
    return found, faults


def ends_to_hold(rig: RigMechanism, bone: str) -> dict[str, tuple[str, Floats]]:
    """Return the ends of a bone, 'TAIL' first, that can move: each with its body and place (3,) at rest."""
    placed = rig.placed[bone]
    if any(bone in (ram.bone, ram.other) for ram in rig.rams):  # which aim, so that their tails slide
        return {'HEAD': (placed.parent, placed.head)} if placed.parent else {}
    fixed = [one.place for one in rig.joints if one.kind == PIN and one.bone == bone and not one.other]
    ends = {'TAIL': placed.tail, **({'HEAD': placed.head} if placed.parent else {})}
    return {
        end: (bone, place) for end, place in ends.items() if not any((place == one).all() for one in fixed)
    }


class MechanismDrag(HeldPoint):
    """An end of a mechanism's bone, held in the mechanism's plane."""

    def __init__(
        self, scene: Scene, armature: Object, settings: PropertyGroup, bone: str, end: str = ""
    ) -> None:
        """Take hold of an end of a bone, of the one that can move where no end is named.

        Raises IK2DError for a mechanism with a fault, and for what cannot move.
        """
        super().__init__(scene, armature)
        straighten(armature)
        self._named, self._settings = settings.name, settings
        self.rig = rig = read_mechanism(armature, settings).with_chains(chains_turning(armature))
        ends = ends_to_hold(rig, bone)
        if not ends:
            raise refusal("'{bone}' cannot move: both its ends are fixed; drag another bone", bone=bone)
        self.bone, self.end = bone, end if end in ends else next(iter(ends))
        self._body, self._place = ends[self.end]
        why = {one.body: self._why_still(one) for one in rig.drivers}
        self._free = [one for one in rig.drivers if not why[one.body]]
        if not self._free:
            raise refusal(
                "Nothing can drive mechanism '{name}': {why}", name=rig.name, why=next(iter(why.values()))
            )
        self._goal = next((one for one in rig.drivers if one.kind == TARGET), None)
        evaluated, target = evaluated_of(self.armature), None
        if self._goal is not None:
            ob, subtarget = self._goal.target
            target = np.array(shown_place(ob, subtarget, bpy.context.evaluated_depsgraph_get()))
            self.why_fixed = why_fixed(ob, subtarget)
        solution = solve_now(scene, rig, evaluated, place=target).solution
        self._take(solution)
        self._begun, self.solution = dict(self._given), None
        place = self._seen(solution, self._body, self._place)
        held = self._held(evaluated)[:3, :3]
        normal = np.cross(held @ rig.plane.x, held @ rig.plane.y)
        self.plane = DragPlane.of(place, normal / np.linalg.norm(normal))
        self._off = 0.0  # of the point from the mouse, in the world
        self._lift = np.zeros(3)  # from the plane of the goal's tail to the target
        self.target = None
        if self._goal is not None and target is not None:
            tail = self._seen(solution, self._goal.bone, rig.placed[self._goal.bone].tail)
            self._lift = ((target - tail) @ self.plane.normal) * self.plane.normal
            self.target = TargetMove.of(*self._goal.target, target)
        self._kept = {
            (name, prop): tuple(getattr(armature.pose.bones[name], prop))
            for name in rig.turned_bones
            for prop in (rotation_property(armature.pose.bones[name].rotation_mode),)
        }
        self._lengths = {one.body: self._length_of(one).length for one in self._free if one.kind == RAM}

    @property
    def what(self) -> str:
        """What is held, in words."""
        words = say("Head of '{bone}'", bone=self.bone) if self.end == 'HEAD' else ""
        return words or say("Tail of '{bone}'", bone=self.bone)

    def _why_still(self, one: RigDriver) -> str:
        """Say why a drag cannot change a driver; "" where it can."""
        if one.kind == TARGET:
            return ""
        name = f"'{one.bone}'"
        if one.kind == RAM:
            driven = acting_driver(self.armature, one.path, 0)
            return say("the length of {name} has a driver", name=name) if driven else ""
        bone = self.armature.pose.bones[one.bone]
        path = bone.path_from_id(rotation_property(bone.rotation_mode))
        if one.bone in self.rig.chained:
            return say("a chain turns {name}; drag a bone of that chain", name=name)
        if any(map(acts_now, bone.constraints)):
            return say("{name} has constraints", name=name)
        if any(acting_driver(self.armature, path, channel) for channel in range(4)):
            return say("the rotation of {name} has a driver", name=name)
        channels, turned = self._channels(one, 0.0), own_axis(turning_axis(self.rig, one.bone), EXACT)
        needed = (
            [turned]
            if channels.values.shape[1] == 3 and turned is not None
            else range(channels.values.shape[1])
        )
        if set(needed) - set(channels.unlocked(self.armature)):
            return say("the rotation of {name} is locked", name=name)
        return ""

    def _channels(self, one: RigDriver, turn: float) -> BoneRotation:
        return channels_at(self.rig, {one.bone: np.array([turn])}, single_axis=False)[one.bone]

    def _length_of(self, one: RigDriver) -> PropertyGroup:
        """Return the settings that have the length of a ram."""
        settings: PropertyGroup = self.armature.path_resolve(one.path.rpartition(".")[0])
        return settings

    def _held(self, evaluated: Object) -> Floats:
        """Return the matrix (4, 4) from the mechanism's rest pose to the world, as its frame carries it."""
        world: Floats = np.array(evaluated.matrix_world, np.float64) @ pose_of(self.rig, evaluated)[""]
        return world

    def _seen(self, solution: MechanismSolution, body: str, place: Floats) -> Floats:
        """Return where a place (3,) of a body at rest is in the world, (3,)."""
        plane, flat = self.rig.plane, self.rig.flat(place)
        at = plane.lift(solution.places(body, flat)[0]) + place - plane.lift(flat)
        seen: Floats = (self._held(evaluated_of(self.armature)) @ np.append(at, 1.0))[:3]
        return seen

    def _take(self, solution: MechanismSolution) -> None:
        """Take the drivers' values of a solution: those given, and those that are used, to go on from."""
        self._given = {str(body): float(value[0]) for body, value in solution.given.items()}
        self._used = {str(body): float(value[0]) for body, value in solution.drivers.items()}

    def is_there(self) -> bool:
        """Return whether all that is held is still there: the armature, its bones, mechanism and target."""
        try:
            bones, named = self.armature.pose.bones, self.armature.ik2d.mechanisms.get(self._named)
            there = self.scene in self.armature.users_scene and all(bone in bones for bone in self.rig.bones)
            target = self._goal.target if self._goal is not None else (self.armature, "")
            has_target = bool(target[0].name) and (not target[1] or target[1] in target[0].pose.bones)
            return there and has_target and named is not None and len(named.drivers) == len(self.rig.drivers)
        except ReferenceError:
            return False

    def to(self, offset: Sequence[float]) -> None:
        """Bring the point to an offset, or as near to it as what drives it lets it."""
        self.offset, rig, evaluated = np.array(offset, np.float64), self.rig, evaluated_of(self.armature)
        point = self.plane.at(self.offset)
        free = {one.body for one in self._free}
        solution = rig.core.solve_target(
            self._body,
            rig.flat(self._place),
            in_plane(self.scene, rig, evaluated, point)[0],
            {body: value for body, value in self._given.items() if body not in free},
            goes_on=True,
            start={body: value for body, value in self._used.items() if body in free},
            ranges={one.body: one.stroke for one in self._free if one.kind == RAM},
            dead=rig.dead,
            ease=rig.softness,
        )
        given = {str(body): float(value[0]) for body, value in solution.given.items()}
        now = solve_now(self.scene, rig, evaluated, given)
        self.solution = now.solution
        self._take(now.solution)
        self._write(point)
        set_values(self.armature, now.values(self.armature))
        bpy.context.view_layer.update()
        self._off = float(np.linalg.norm(self._seen(self.solution, self._body, self._place) - point))

    def _write(self, point: Floats) -> None:
        """Set what drives to the values given; its target to the point of the world, if that is held."""
        for one in self._free:
            value = self._given[one.body]
            if one.kind == RAM:
                self._length_of(one).length = (value - one.stroke[0]) / (one.stroke[1] - one.stroke[0])
            elif one.kind == TURN:
                set_values(self.armature, values_of(self.armature, [self._channels(one, value)]))
            elif self.target is not None and self.solution is not None:
                if (self.bone, self.end) != (one.bone, 'TAIL'):
                    point = self._seen(self.solution, one.bone, self.rig.placed[one.bone].tail)
                self.target.to(point + self._lift)

    def put_back(self) -> None:
        """Put all back exactly as it was, as far as it is still there."""
        with suppress(ReferenceError):
            for (bone, prop), values in self._kept.items():
                if bone in self.armature.pose.bones:
                    setattr(self.armature.pose.bones[bone], prop, values)
            for one in self._free if self.is_there() else ():
                if one.kind == RAM:
                    self._length_of(one).length = self._lengths[one.body]
        with suppress(ReferenceError):
            if self.target is not None and self.is_there():
                self.target.put_back()
        bpy.context.view_layer.update()

    def key(self, context: Context, in_any_case: bool = False) -> int:
        """Key what drives, with the values given: what is shown of an eased driver is eased already."""
        shown = {bone: tuple(getattr(self.armature.pose.bones[bone], prop)) for bone, prop in self._kept}
        if self.solution is not None:
            self._write(self.plane.at(self.offset))
        try:
            return super().key(context, in_any_case)
        finally:
            for bone, prop in self._kept:
                setattr(self.armature.pose.bones[bone], prop, shown[bone])

    def moved(self) -> Iterator[Moved]:
        """Yield what drives and has moved; all of it where nothing has."""
        turned = [one for one in self._free if self._given[one.body] != self._begun[one.body]]
        for one in turned or self._free:
            if one.kind == RAM:
                yield Moved(self._length_of(one), "length", is_target=True)
            elif one.kind == TURN:
                channels = self._channels(one, 0.0)
                bone = self.armature.pose.bones[one.bone]
                yield Moved(bone, channels.property, channels.unlocked(self.armature), is_target=True)
            elif self.target is not None:
                yield Moved(self.target.holder, "location", range(3), is_target=True)

    def make_active(self) -> None:
        """Make the mechanism that is held the active one."""
        self.armature.ik2d.active_mechanism = self.armature.ik2d.mechanisms.find(self._named)

    @property
    def has_reached(self) -> bool:
        """Whether the point was moved, and is where it is held."""
        scale = float(np.cbrt(abs(np.linalg.det(self._held(evaluated_of(self.armature))[:3, :3]))))
        return self.solution is not None and self._off <= _REACHED * self.rig.size * scale

    def outcome(self) -> str:
        """Return the outcome in words: "reached", or how far the point is off."""
        if self.solution is None:
            return say("where it was")
        length = length_text(self._off, Units.of(self.scene))
        return say("reached") if self.has_reached else say("off by {length}", length=length)
