# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain in the pose that the viewport shows: its plane, joints, limits and target, to be drawn.

It is read from what Blender's depsgraph has evaluated, as the viewport shows it and Live looks at it, and
changes nothing: so it can be read while a window is drawn, when nothing can be added or evaluated. The
originals have the same values, but after a file was opened only once something has changed.
"""

from dataclasses import dataclass
from functools import cached_property
from math import atan2, remainder, tau

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...core import Chain, IK2DError, Region, Stretch, reachable
from ...core.affine import inverse
from ...core.chain import DEFAULT_TOLERANCE
from ...core.inputs import Floats, wrapped
from ...core.words import noted, refusal
from ...rig.chain.chain import RigChain, values_of
from ...rig.chain.dependencies import Node
from ...rig.chain.foot.bones import TOES
from ...rig.chain.native_state import controls_of, is_flipped, sampled_controls, with_foot_controls
from ...rig.chain.renames import chain_named
from ...rig.pose.bone_matrices import rest_to_pose
from ...rig.pose.kinematics import angles_before, read_linkage
from ...rig.pose.posts import chain_of_post, post_space
from ...rig.pose.swings import aimed_as_far, swung
from ...rig.pose.target_plane import facing_target
from ...rig.pose.tip_headings import wanted_headings
from ...rig.scene.bone_constraints import is_carried
from ...rig.scene.carried import carried_now
from ...rig.scene.feet.goals import ground_matrix, size_of, with_foot
from ...rig.scene.lengths.slide_locations import location_without_slides
from ...rig.scene.samples import ChainSamples
from .post_view import PostView, view_post

# What 32 bits may add to the distance of a tip that is on its target, as a part of the reach.
_ROUNDING = 1e-5

REACHED, NOT_SOLVED, OFF_THE_PLANE = "", noted("not solved at this frame"), noted("off the plane")
OUT_OF_REACH, TOO_CLOSE, STOPPED = (
    noted("out of reach"),
    noted("too close to the root"),
    noted("stopped by limits"),
)


@dataclass(frozen=True, eq=False)
class FootView:
    """A foot in the current pose. Points (3,) are in the world."""

    sole: Floats  # (3, 3): heel, ball and toe tip
    control: Floats


@dataclass(frozen=True, eq=False)
class ViewedSettings:
    """The settings that a chain is drawn by."""

    bend: float  # +1 or -1
    softness: float
    stretch: Stretch
    tolerance: float  # in the chain's units


@dataclass(frozen=True, eq=False)
class ChainView:
    """A chain in the current pose. Points (2,) are in its plane's x and y, the root at the origin."""

    name: str
    bones: tuple[str, ...]  # root to tip
    chain: Chain  # the lengths, slides and limits that it has now, before it stretches
    rest: Floats  # (n,) the solver's angles before any joint turns
    limits: Floats  # (n, 2) of turns from there, NaN where free
    joints: Floats  # (n + 1, 2) as posed, root to tip
    to_world: Floats  # (4, 4) from x, y and height over the plane
    settings: ViewedSettings
    tip: Floats  # (3,) in the world
    target: Floats  # (3,) in the world; of one bone that aims, as far from the root as its tip
    pole: Floats | None = None  # (3,) in the world; None where the plane does not turn towards one
    heading: float | None = None  # of the last bone as wanted, radians from the x axis; None where it is free
    foot: FootView | None = None
    post: PostView | None = None  # above it

    @property
    def heading_off(self) -> float:
        """Radians, 0 to pi, of the last bone off its wanted heading; 0 where it is free."""
        along = self.joints[-1] - self.joints[-2]
        return 0.0 if self.heading is None else abs(remainder(atan2(along[1], along[0]) - self.heading, tau))

    @property
    def turns(self) -> Floats:
        """(n,) radians that each joint has turned from rest, as its limits count."""
        headings = np.arctan2(*np.diff(self.joints, axis=0).T[::-1])
        return wrapped(np.diff(headings, prepend=0.0) - self.rest)

    @property
    def scale(self) -> float:
        """The world's units in one of the chain's."""
        return float(np.linalg.norm(self.to_world[:3, 0]))

    @property
    def reach(self) -> tuple[float, float]:
        """(inner, outer): the annulus of the tip, bones slid and stretched as far as they may."""
        return self.settings.stretch.reach(self.chain)

    @property
    def size(self) -> float:
        """Its greatest reach in the world, which sizes of what is drawn are parts of."""
        return self.scale * self.reach[1]

    @property
    def distance(self) -> float:
        """From the tip to the target, in the world."""
        return float(np.linalg.norm(self.target - self.tip))

    @cached_property
    def region(self) -> Region | None:
        """Region that the tip can reach within limits; None without limits, or where it is unknown.

        It is unknown for a chain that stretches: each of its lengths has a region of its own.
        """
        if not self.chain.is_limited or not self.settings.stretch.is_off:
            return None
        try:
            return reachable(self.chain, self.rest)
        except IK2DError:  # the ranges are too narrow
            return None

    @cached_property
    def why_missed(self) -> str:
        """Why the tip is not on its target, in words; "" where it is."""
        tolerance = self.settings.tolerance + _ROUNDING * self.chain.reach[1]
        if self.distance <= tolerance * self.scale:
            return REACHED
        if self.post is not None and not self.post.is_solved:
            return NOT_SOLVED
        x, y, height = self.flat(self.target)
        if self.post is not None and self.post.why_missed and abs(height) > tolerance:
            return self.post.why_missed
        place = np.array((x, y))
        inner, outer = self.reach
        distance = float(np.hypot(x, y))
        if distance > outer + tolerance:
            return OUT_OF_REACH
        if distance < inner - tolerance:
            return TOO_CLOSE
        if self.region is not None and float(self.region.nearest(place)[1]) > tolerance:
            return STOPPED
        aside = float(np.hypot(*(self.joints[-1] - place)))
        return OFF_THE_PLANE if abs(height) > tolerance and aside <= tolerance else NOT_SOLVED

    def flat(self, point: Floats) -> Floats:
        """Return a point (3,) of the world as x, y and height over the plane."""
        into = inverse(self.to_world)
        flat: Floats = into[:3, :3] @ point + into[:3, 3]
        return flat

    def fan(self, joint: int) -> tuple[float, float, float]:
        """Return the directions in the plane of a joint's least and greatest turn and of the bone as posed.

        Infinite without a limit. The third is given in the turn that is nearest to their range.
        """
        headings = np.arctan2(*np.diff(self.joints, axis=0).T[::-1])
        zero = float(self.rest[joint] + (headings[joint - 1] if joint else 0.0))
        low, high = np.where(np.isnan(self.limits[joint]), (-np.inf, np.inf), self.limits[joint]) + zero
        middle = 0.5 * (low + high) if np.isfinite((low, high)).all() else zero
        turn = 2.0 * np.pi
        needle = float(headings[joint])
        return float(low), float(high), needle + turn * float(np.round((middle - needle) / turn))


def samples_now(rig: RigChain, settings: bpy.types.PropertyGroup) -> ChainSamples:
    """Return the samples of a chain on the current frame, as the viewport shows it."""
    armature, settings, bones = _shown_chain(rig, settings)
    matrices = {role: matrix_of(node) for role, node in rig.roles.items()}
    matrix, pole = matrices["target"], matrices.get("pole")
    parent = bones[0].parent
    world = np.array(armature.matrix_world, np.float64)
    tip = armature.matrix_world @ bones[-1].tail
    controls = controls_of(settings)
    controls = None if controls is None else as_shown(controls)
    frame = bpy.context.scene.frame_float
    side = rig.settings.side
    values = values_of(settings, side, with_foot=rig.foot is not None)
    (softness, _, influence, turn), foot = values[:4], values[4:]
    first = softness, -side if is_flipped(settings) else side, influence, turn
    if controls is not None:
        first = sampled_controls(controls, side)
        foot = with_foot_controls(controls, foot) if foot else foot
    samples = ChainSamples(
        targets=np.array([matrix.translation], np.float64),
        world=world[None],
        parent=None if parent is None else np.array(parent.matrix, np.float64)[None],
        bases=_bases(rig, bones)[None],
        tips=np.array([tip], np.float64),
        settings=np.array([(*first, *foot)]),
        aims=np.array([matrix.to_3x3()], np.float64) if rig.follows_rotation else None,
        carried=carried_now(bones[0]) if is_carried(rig, frame, frame) else None,
        poles=None if pole is None else np.array([pole.translation], np.float64),
    )
    if rig.foot is None:
        return samples
    ground = (
        ground_matrix(
            rig,
            matrices["ground"],
            bpy.context.view_layer.depsgraph,
            (armature.matrix_world @ bones[0].head).z,
        )
        if rig.foot.ground is not None
        else None
    )
    return with_foot(rig, samples, size_of(rig, armature.pose.bones), ground)


def matrix_of(node: Node) -> Matrix:
    """Return the world's matrix of an object, or of its bone, as the viewport shows it."""
    ob, bone = as_shown(node[0]), node[1]
    return ob.matrix_world @ ob.pose.bones[bone].matrix if bone else ob.matrix_world.copy()


def as_shown(ob: bpy.types.Object) -> bpy.types.Object:
    """Return an object as the depsgraph of the viewport has evaluated it, or itself where it has not."""
    depsgraph = bpy.context.view_layer.depsgraph
    shown = ob if depsgraph is None else ob.evaluated_get(depsgraph)
    return shown if shown.is_evaluated else ob


def _shown_chain(
    rig: RigChain, settings: bpy.types.PropertyGroup
) -> tuple[bpy.types.Object, bpy.types.PropertyGroup, list[bpy.types.PoseBone]]:
    """Return a chain's armature, settings and bones, root to tip, as the viewport shows them."""
    armature, chain = as_shown(rig.armature), None
    if armature.pose is not None and all(bone in armature.pose.bones for bone in rig.bones):
        chain = chain_named(armature, settings.name)
    if chain is None:
        return rig.armature, settings, rig.pose_bones
    return armature, chain, [armature.pose.bones[bone] for bone in rig.bones]


def _bases(rig: RigChain, bones: list[bpy.types.PoseBone]) -> Floats:
    """Return the basis matrices (n, 4, 4) of posed bones, without the slides and scales of the chain."""
    bases = np.array([bone.matrix_basis for bone in bones], np.float64)
    for bone in rig.slides.channels if rig.slides is not None else ():
        bases[bone, :3, 3] = location_without_slides(rig, bone, bones)
    if rig.stretching is not None:
        bases = rig.stretching.scaled_bases(bases[None])[0]
    return bases


def view_chain(rig: RigChain, settings: bpy.types.PropertyGroup) -> ChainView:
    """Return a chain in the current pose. settings: those that it was read from.

    Raises IK2DError for a bone or a target with no finite place.
    """
    samples = samples_now(rig, settings)
    values = (samples.targets, samples.world, samples.bases, samples.tips, samples.poles)
    if not all(value is None or np.isfinite(value).all() for value in values):
        raise refusal(
            "Chain '{chain}': its bones, its target or its pole have no finite place", chain=rig.name
        )
    rig = facing_target(rig, samples)
    samples = aimed_as_far(rig, swung(rig, samples))
    linkage = read_linkage(rig, samples)
    lengths, headings = linkage.unturned()
    rest = angles_before(headings)[0]
    to_rest = rest_to_pose(rig, samples)
    wanted, to_pose = wanted_headings(rig, samples, to_rest), to_rest[0] @ rig.plane.matrix
    armature, shown, bones = _shown_chain(rig, settings)
    to_world, into = samples.world[0] @ to_pose, inverse(to_pose)
    posed = np.array([*(bone.head for bone in bones), bones[-1].tail], np.float64)
    flat = posed @ into[:3, :3].T + into[:3, 3]
    weights, limits = rig.joints.weights, rig.joints.limits
    slides = None if rig.slides is None else rig.slides.ranges
    chain = Chain(lengths[0], rig.joints.limits_from(rest), weights, slides)
    return ChainView(
        name=rig.name,
        bones=rig.bones,
        chain=chain,
        rest=rest,
        limits=limits,
        joints=flat[:, :2],
        to_world=to_world,
        settings=ViewedSettings(
            bend=float(samples.bend[0]),
            softness=float(samples.softness[0]),
            stretch=Stretch() if rig.stretching is None else rig.stretching.limits,
            tolerance=rig.settings.tolerance or DEFAULT_TOLERANCE * chain.reach[1],
        ),
        tip=samples.tips[0],
        target=samples.targets[0],
        pole=None if samples.poles is None else samples.poles[0],
        heading=None if wanted is None else float(wanted[0]),
        foot=_foot(rig, armature, shown.foot),
        post=_post(rig, settings, samples, posed, chain.reach[1] * float(np.linalg.norm(to_world[:3, 0]))),
    )


def _post(
    rig: RigChain, settings: bpy.types.PropertyGroup, samples: ChainSamples, posed: Floats, reach: float
) -> PostView | None:
    """Return the post above a chain; None without one. posed: the chain's joints, in pose space."""
    if rig.post_above is None:
        return None
    scene, own = bpy.context.scene, samples_now(chain_of_post(rig), settings)
    space = post_space(scene, rig, own, [scene.frame_float], as_posed=True)
    world = samples.world[0]
    return view_post(rig, samples, space, posed @ world[:3, :3].T + world[:3, 3], reach)


def _foot(rig: RigChain, armature: bpy.types.Object, foot: bpy.types.PropertyGroup) -> FootView | None:
    """Return the foot as posed; None without one."""
    if rig.foot is None or rig.hands is None:
        return None
    posed = [armature.pose.bones[bone] for bone in rig.hands.bones]
    last = next((bone for bone, kind in zip(posed, rig.hands.parts, strict=True) if kind == TOES), posed[0])
    places = (posed[0], foot.heel), (last, foot.ball), (last, foot.toe_tip)
    world, ankle = armature.matrix_world, Vector(rig.foot.ankle)
    sole = np.array(
        [
            world @ bone.matrix @ bone.bone.matrix_local.inverted_safe() @ (ankle + Vector(place))
            for bone, place in places
        ]
    )
    return FootView(sole, np.array(matrix_of(rig.roles["target"]).translation))
