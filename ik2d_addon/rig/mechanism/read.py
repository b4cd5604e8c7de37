# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a mechanism from an armature: pose bones and settings -> Mechanism and Plane."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...core import IK2DError, Plane
from ...core.affine import changed
from ...core.inputs import Floats
from ...core.mechanism import Mechanism
from ...core.words import refusal, say
from ..animation.bone_channels import rotation_property
from ..animation.nla import strip_paths
from ..animation.value_keys import acting_driver
from ..chain.checks.bones import pose_bones_of
from ..chain.dependencies import Movers, Node, acts_now, walk
from .placing import RestBone, common_plane

PIN, SLIDE, GUIDE, RAM, GEAR = 'PIN', 'SLIDE', 'GUIDE', 'RAM', 'GEAR'
TURN, TARGET = 'TURN', 'TARGET'
# The largest location, as a part of the bone's length, and change of scale of a bone at rest in its pose.
_STILL = 1e-4


@dataclass(frozen=True, eq=False)
class MeasuredJoint:
    """A joint besides those at the bones' heads, which are always closed: its place at rest, (3,)."""

    kind: str
    bone: str
    other: str  # "" for the frame
    place: Floats
    along: Floats  # (3,) of a slide, or from a ram's barrel to its rod
    stroke: tuple[float, float] = (0.0, 0.0)  # of a ram; none where the second is 0


@dataclass(frozen=True, eq=False)
class RigDriver:
    """What drives: the bone's own turn against its parent, a ram's length, or a target."""

    kind: str
    bone: str
    body: str  # what drives in the Mechanism: for a target the body that is left free
    target: Node | None = None
    path: str = ""  # of the ram's length
    stroke: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, eq=False)
class RigMechanism:
    """A mechanism of an armature's bones. Lengths are the armature's."""

    armature: bpy.types.Object
    name: str
    placed: Mapping[str, RestBone]  # parents first
    plane: Plane
    core: Mechanism
    joints: tuple[MeasuredJoint, ...]
    drivers: tuple[RigDriver, ...]
    frame: str  # the bone that carries all; "" for the armature
    dead: str
    softness: float
    open_between: float
    goes_on: bool = False  # whether a target's pose goes on from that of the frame before
    controlled: frozenset[str] = frozenset()  # drivers that more than their keys turns
    chained: frozenset[str] = frozenset()  # bones that chains turn

    # As chains have them, for the order in which they are solved.
    slides = None
    foot = None
    post_above = None
    follows_rotation = True

    @property
    def bones(self) -> tuple[str, ...]:
        """All bones, parents first."""
        return tuple(self.placed)

    @property
    def turned_bones(self) -> tuple[str, ...]:
        """The bones that it may turn: all but those that chains turn, and drivers that others do."""
        return tuple(bone for bone in self.placed if bone not in self.unkeyed_drivers)

    @property
    def unkeyed_drivers(self) -> frozenset[str]:
        """The drivers that it never keys."""
        return self.chained | self.controlled

    @property
    def followed(self) -> list[Node]:
        """The objects and bones that drive it."""
        nodes = [one.target for one in self.drivers if one.target is not None]
        return nodes + [(self.armature, one.bone) for one in self.drivers if one.kind == TURN]

    @property
    def roles(self) -> dict[str, Node]:
        """The targets that it must not move; they are checked when it is read."""
        return {}

    @property
    def rams(self) -> list[MeasuredJoint]:
        """Its rams: the barrel, the rod, and the way from one to the other."""
        return [joint for joint in self.joints if joint.kind == RAM]

    @property
    def size(self) -> float:
        """The diameter of its joints, in the armature's units."""
        return self.core.size

    @property
    def unit(self) -> float:
        """World lengths in one of its armature's, now; the mean of its axes' where these differ."""
        return float(np.mean(np.abs(self.armature.matrix_world.to_scale())))

    def flat(self, place: Floats) -> Floats:
        """Return a place (3,) in the plane, (2,)."""
        return self.plane.project(place)

    def with_chains(self, bones: Collection[str]) -> "RigMechanism":
        """Return the mechanism where chains turn some bones; raise IK2DError for one that it turns itself."""
        driving = {one.bone for one in self.drivers if one.kind == TURN}
        shared = [bone for bone in self.placed if bone in bones]
        for bone in shared:
            if bone not in driving:
                raise refusal(
                    "Mechanism '{name}': a chain turns '{bone}' too; let '{bone}' drive the mechanism, or "
                    "disable one of them",
                    name=self.name,
                    bone=bone,
                )
        return changed(self, chained=frozenset(shared))


def read_mechanism(armature: bpy.types.Object, settings: Any, moves: bool = True) -> RigMechanism:
    """Read a mechanism; raise IK2DError for bones and joints that make none or do not move as driven.

    moves: whether it must move as driven; one that is still being made need not.
    """
    try:
        rig = _read(armature, settings)
        if moves and rig.core.fault:
            raise IK2DError(rig.core.fault)
        return rig
    except IK2DError as error:
        start = say("Mechanism '{name}': ", name=settings.name)
        if str(error).startswith(start):
            raise
        raise IK2DError(f"{start}{error}") from error


def _read(armature: bpy.types.Object, settings: Any) -> RigMechanism:
    placed, frame = _placed(armature, settings)
    plane = common_plane(settings.name, list(placed.values()))
    joints = [_joint(armature, one, placed, frame, plane) for one in settings.joints if one.kind != GEAR]
    rams = {bone for joint in joints if joint.kind == RAM for bone in (joint.bone, joint.other)}

    def flat(place: Floats) -> Floats:
        return plane.project(place)

    core = Mechanism()
    for bone in placed.values():
        if bone.name not in rams:
            core = core.pin(bone.parent or 0, bone.name, flat(bone.head))
    for joint in joints:
        if joint.kind == PIN:
            core = core.pin(joint.bone, joint.other or 0, flat(joint.place))
        elif joint.kind == RAM:
            ends = [placed[name] for name in (joint.bone, joint.other)]
            (a, p), (b, q) = ((end.parent or 0, flat(end.head)) for end in ends)
            core = core.ram(a, p, b, q, joint.bone)
        else:
            along = flat(joint.place + joint.along) - flat(joint.place)
            core = core.slide(
                joint.other or 0, joint.bone, flat(joint.place), along, keeps_angle=joint.kind == GUIDE
            )
    for one in settings.joints:
        if one.kind == GEAR:
            _needed_bone(placed, one.bone)
            core = core.gear(one.bone, _needed_bone(placed, one.other).name, one.ratio)
    core, drivers = _driven(armature, settings, core, placed, rams)
    for bone in settings.bones:
        if bone.other_side and bone.name in placed and bone.name not in rams:
            core = core.other_side(bone.name)
    return RigMechanism(
        armature,
        settings.name,
        placed,
        plane,
        core,
        tuple(joints),
        drivers,
        frame,
        settings.dead,
        settings.softness,
        settings.open_between,
        settings.way == 'GO_ON',
        frozenset(one.bone for one in drivers if one.kind == TURN and is_controlled(armature, one.bone)),
    )


def is_controlled(armature: bpy.types.Object, name: str) -> bool:
    """Return whether a constraint, a driver or an NLA strip turns a bone."""
    bone = armature.pose.bones[name]
    path = bone.path_from_id(rotation_property(bone.rotation_mode))
    driven = any(acting_driver(armature, path, index) for index in range(4))
    return driven or path in strip_paths(armature) or any(map(acts_now, bone.constraints))


def _placed(armature: bpy.types.Object, settings: Any) -> tuple[dict[str, RestBone], str]:
    """Return the bones, parents first, and the bone that carries them; raise IK2DError for none."""
    bones, names = pose_bones_of(armature), [bone.name for bone in settings.bones]
    if len(names) < 2:
        raise refusal("a mechanism needs two bones or more; add those that its loops are made of")
    for name in names:
        if name not in bones:
            raise refusal("the armature '{armature}' has no bone '{bone}'", armature=armature.name, bone=name)
    named = dict.fromkeys(names)  # in the order of the list
    posed = sorted((bones[name] for name in named), key=lambda bone: len(bone.parent_recursive))
    frames = {
        bone.name: bone.parent.name if bone.parent else ""
        for bone in posed
        if bone.parent is None or bone.parent.name not in named
    }
    first, frame = next(iter(frames.items()))
    for bone, carrier in frames.items():
        if carrier != frame:
            raise refusal(
                "'{bone}' hangs on {carrier} and '{bone_2}' on {carrier_2}; all must hang on one bone or "
                "on each other",
                bone=first,
                carrier=f"'{frame or armature.name}'",
                bone_2=bone,
                carrier_2=f"'{carrier or armature.name}'",
            )
    for bone in posed:
        _refuse_unfit(bone, carried=bone.name not in frames)
    parents = ["" if bone.name in frames else bone.parent.name for bone in posed]
    placed = {one.name: one for one in RestBone.each_of([bone.bone for bone in posed], parents)}
    return placed, frame


def _refuse_unfit(bone: bpy.types.PoseBone, carried: bool) -> None:
    """Raise IK2DError for a bone that is moved, scaled, of no length, or does not turn with its parent."""
    data = bone.bone
    if not data.length > 1e-12:
        raise refusal("'{bone}' has no length; give it one in Edit Mode", bone=bone.name)
    if carried and not data.use_inherit_rotation:
        raise refusal("'{bone}' does not inherit rotation; turn on Inherit Rotation", bone=bone.name)
    moved = not (data.use_connect and data.parent) and max(map(abs, bone.location)) > _STILL * data.length
    if moved or max(abs(value - 1.0) for value in bone.scale) > _STILL:
        raise refusal(
            "'{bone}' is moved or scaled in its pose, which opens its joints; clear its location and scale",
            bone=bone.name,
        )


def _needed_bone(placed: Mapping[str, RestBone], name: str) -> RestBone:
    if name in placed:
        return placed[name]
    raise refusal("'{bone}' is no bone of the mechanism; add it, or remove its joint", bone=name)


def _joint(
    armature: bpy.types.Object, one: Any, placed: Mapping[str, RestBone], frame: str, plane: Plane
) -> MeasuredJoint:
    """Return a joint of the settings, but no gear; raise IK2DError for one of bones that are not there."""
    bone = _needed_bone(placed, one.bone)
    place, along = bone.end(one.end), bone.axes[:, 1]
    if one.kind == RAM:
        rod = _needed_bone(placed, one.other)
        way = rod.head - bone.head
        flat = way - (way @ plane.normal) * plane.normal
        return MeasuredJoint(RAM, bone.name, rod.name, bone.head, flat, (one.stroke[0], one.stroke[1]))
    other = one.other
    if other == bone.name or one.end == 'HEAD' and one.kind == PIN and other == bone.parent:
        raise refusal(
            "'{bone}' cannot be pinned to {other}: it turns about this end of its own already",
            bone=bone.name,
            other=f"'{other or frame or armature.name}'",
        )
    if other in placed:
        along = along if one.kind == PIN else placed[other].axes[:, 1]
    elif other:
        along, other = _of_frame(armature, other, frame).axes[:, 1], ""
    return MeasuredJoint(one.kind, bone.name, other, place, along)


def _of_frame(armature: bpy.types.Object, name: str, frame: str) -> RestBone:
    """Return a bone outside of the mechanism that is one with its frame; raise IK2DError for another one."""
    bone = armature.pose.bones.get(name)
    above = "" if bone is None or bone.parent is None else bone.parent.name
    if bone is None or frame not in (name, above):
        raise refusal(
            "'{bone}' is neither a bone of the mechanism nor one of its frame; add it to the mechanism",
            bone=name,
        )
    return RestBone.of(bone.bone, "")


def _driven(
    armature: bpy.types.Object,
    settings: Any,
    core: Mechanism,
    placed: Mapping[str, RestBone],
    rams: Collection[str],
) -> tuple[Mechanism, tuple[RigDriver, ...]]:
    """Return the mechanism with its drivers, and these; targets take the freedoms that are left."""
    found: list[RigDriver] = []
    for one in sorted(settings.drivers, key=lambda one: one.kind == TARGET):
        bone = _needed_bone(placed, one.bone)
        if one.kind == TARGET:
            free = _free_body(core, [other.body for other in found])
            _refuse_lost(armature, one, placed)
            if any(each.target not in (None, (one.target, one.subtarget)) for each in found):
                raise refusal("it has several targets; keep one")
            found.append(RigDriver(TARGET, bone.name, free, (one.target, one.subtarget)))
            core = core.drive(free, placed[free].parent or 0)
        elif one.kind == RAM:
            ram = next(
                (each for each in settings.joints if each.kind == RAM and each.bone == bone.name), None
            )
            if ram is None:
                raise refusal("'{bone}' is not the barrel of a ram; add the ram", bone=bone.name)
            path, stroke = f"{one.path_from_id()}.length", (float(ram.stroke[0]), float(ram.stroke[1]))
            if not 0.0 < stroke[0] < stroke[1]:
                raise refusal(
                    "the stroke of '{bone}' goes from {least:.3g} to {most:.3g}; set Stroke to two lengths, "
                    "the lesser first",
                    bone=bone.name,
                    least=stroke[0],
                    most=stroke[1],
                )
            found.append(RigDriver(RAM, bone.name, bone.name, path=path, stroke=stroke))
            core = core.drive(bone.name)
        elif bone.name in rams:
            raise refusal("'{bone}' is a part of a ram; drive it by its Length", bone=bone.name)
        else:
            found.append(RigDriver(TURN, bone.name, bone.name))
            core = core.drive(bone.name, bone.parent or 0)
    return core, tuple(found)


def _free_body(core: Mechanism, driving: Sequence[str]) -> str:
    """Return the body by which a target moves a mechanism, if possible one that makes triangles of all."""
    free = [str(body) for body in core.mobility().may_drive if body not in driving]
    if not free:
        raise refusal("there is no freedom left for a target; take a driver away")
    return next((body for body in free if not core.drive(body).plan.left), free[0])


def _refuse_lost(armature: bpy.types.Object, driver: Any, placed: Mapping[str, RestBone]) -> None:
    """Raise IK2DError for a target that is lost, or that the mechanism moves itself."""
    target, bone = driver.target, driver.subtarget
    if target is None or bone and (target.pose is None or bone not in target.pose.bones):
        raise refusal("the target of '{bone}' is lost; set it again", bone=driver.bone)
    if any(ob == armature and name in placed for ob, name in walk([(target, bone)], Movers())):
        raise refusal("it moves the target of '{bone}' itself; choose another one", bone=driver.bone)


def outside(rig: RigMechanism, places: Floats, worlds: Floats, frames: Floats | None) -> Floats:
    """Return places (m, 3) of the world in the mechanism's plane at rest, (m, 2).

    worlds: (m, 4, 4) the armature's matrices. frames: (m, 4, 4) pose matrices of the bone that carries it.
    """
    held = worlds if frames is None else worlds @ frame_motions(rig, frames)
    at = np.linalg.solve(held, np.concatenate((places, np.ones((len(places), 1))), axis=1)[..., None])
    return rig.plane.project(at[:, :3, 0])


def frame_motions(rig: RigMechanism, frames: Floats) -> Floats:
    """Return the motions (m, 4, 4) from rest of the bone that carries a mechanism, by its pose matrices."""
    rest = np.array(rig.armature.data.bones[rig.frame].matrix_local, np.float64)
    motions: Floats = frames @ np.linalg.inv(rest)
    return motions


def linkage_settings(settings: Any, number: Callable[[str], int | None]) -> tuple[list[Any], list[Any]]:
    """Return the settings of a mechanism's bones and of its joints, for fingerprints.

    number: returns the number of a bone of a name, which counts instead of the name as that may change.
    """
    joints = [
        (one.kind, number(one.bone), one.end, number(one.other), one.ratio, *one.stroke)
        for one in settings.joints
    ]
    return [(number(bone.name), bone.other_side) for bone in settings.bones], joints
