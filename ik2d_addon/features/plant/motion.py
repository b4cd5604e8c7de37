# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion that chains have: of their bones by own keys, else of the targets that they follow."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...bake.now import poses_around, solve_samples
from ...bake.solving.frames import SolvedChain
from ...core.affine import inverse, is_constant, norms, orientations
from ...core.contacts.planted import FootMotion
from ...core.inputs import Floats
from ...rig.animation.bone_channels import matrices
from ...rig.chain.chain import RigChain
from ...rig.chain.foot.bones import FOOT, TOES
from ...rig.chain.foot.foot import Foot
from ...rig.chain.hands import Hands
from ...rig.pose.bone_matrices import rest_to_pose
from ...rig.pose.hand_rotations import own_turns
from ...rig.pose.measures import rest_reach
from ...rig.pose.target_plane import facing_target
from ...rig.rest import rest_axes
from ...rig.scene.feet.goals import control_turns
from ...rig.scene.samples import ChainSamples

# Joints of captured motion are farther from a plane than this part of the reach.
_FLAT = 0.01
# A target that stays within this part of the reach stands still.
_SAME_PLACE = 1e-5


@dataclass(frozen=True, eq=False)
class ChainMotion:
    """The motion of a chain over m frames, in the world."""

    rig: RigChain
    by_bones: bool  # whether its bones have it by themselves; else it is the target's
    tips: Floats  # (m, 3)
    roots: Floats  # (m, 3)
    foot: FootMotion | None  # None for a chain without a foot
    bends: Floats  # (m, n - 1) radians at the joints between the bones
    reach: float  # in the world
    off_plane: bool  # whether its joints leave the plane that it bends in
    into: Floats  # (m, 4, 4) from the world to the rest space in which the chain bends
    # (m, k, 3, 3) own rotations of the foot's bones on top of its turns and bends; None without a foot
    own: Floats | None = None

    def at(self, rows: slice) -> "ChainMotion":
        """Return the motion on some frames."""
        arrays = {name: getattr(self, name)[rows] for name in ("tips", "roots", "bends", "into")}
        return replace(self, foot=self.foot and self.foot.at(rows), **arrays)

    @property
    def points(self) -> Floats:
        """(m, k, 3) of the places that stand: heel and ball of a foot, else the tip."""
        if self.foot is None or self.rig.foot is None:
            return self.tips[:, None]
        shape = self.rig.foot.shape
        return np.stack([self.point(at) for at in (shape.heel, shape.ball)], axis=1)

    @property
    def toe_tips(self) -> Floats:
        """(m, 3) of the toes' tip, as the toes are bent."""
        assert self.foot is not None and self.rig.foot is not None
        its_foot = self.rig.foot
        ball, tip = (its_foot.offsets(np.array(point)) for point in (its_foot.shape.ball, its_foot.shape.tip))
        bent = self.foot.turns @ its_foot.turns(self.foot.bends) @ (tip - ball)
        tips: Floats = self.point(its_foot.shape.ball) + self.foot.scales[:, None] * bent
        return tips

    def point(self, place: tuple[float, float]) -> Floats:
        """Return where (m, 3) the foot carries a point of its shape."""
        assert self.foot is not None and self.rig.foot is not None
        offset = self.rig.foot.offsets(np.array(place))
        carried: Floats = self.foot.ankles + self.foot.scales[:, None] * (self.foot.turns @ offset)
        return carried


def motion_of(
    scene: bpy.types.Scene, rig: RigChain, samples: ChainSamples, times: Sequence[float], by_bones: bool
) -> ChainMotion:
    """Return the motion in samples of a chain. by_bones: take it from the bones as posed."""
    scales = np.cbrt(np.abs(np.linalg.det(samples.world[:, :3, :3])))
    rooted = _joints(samples)
    tips = samples.tips if by_bones else samples.targets
    foot, control = None, None
    if rig.foot is not None and rig.hands is not None and samples.hands is not None:
        turned = _posed(rig, rig.hands, samples)
        if not by_bones:
            turned = _by_control(scene, rig, rig.foot, rig.hands, samples, times)
        foot = _foot(rig, rig.foot, rig.hands, samples, np.array(tips), scales, turned)
        control = _own(rig.foot, rig.hands, rig, foot, samples, turned)
    if by_bones:
        bends = bends_of(samples)
    else:
        bends = _solved(scene, rig, samples, times).turns[:, 1:]
    roots = (samples.world @ rooted[:, 0, :, None])[:, :3, 0]
    reach = rest_reach(rig) * float(scales.mean())
    inside = inverse(np.broadcast_to(rest_to_pose(rig, samples), (len(tips), 4, 4)))
    off = by_bones and rig.swing is None and _leaves_plane(rig, samples, rooted, inside)
    into = inside @ inverse(samples.world)
    return ChainMotion(rig, by_bones, np.array(tips), roots, foot, bends, reach, off, into, control)


def has_own_motion(rig: RigChain, samples: ChainSamples) -> bool:
    """Return whether a chain's bones move by themselves; those of a live one do so beneath what is shown."""
    return rig.settings.native is None and not is_constant(samples.bases)


def is_live(rig: RigChain) -> bool:
    """Return whether a chain shows its target's motion, and hides that of its bones' own keys."""
    return bool(rig.armature.path_resolve(rig.settings.path).live)


def stands(rig: RigChain, samples: ChainSamples) -> bool:
    """Return whether a chain's target does not move by itself: in the world, or with the armature alone.

    samples: of the chain without its foot, whose rolls would move the ankle.
    """
    ends = np.append(samples.targets, np.ones((len(samples.targets), 1)), axis=1)
    carried = (inverse(samples.world) @ ends[..., None])[:, :3, 0]
    within = _SAME_PLACE * rest_reach(rig)
    scale = float(np.cbrt(np.abs(np.linalg.det(samples.world[0, :3, :3]))))
    places = ((samples.targets, within * scale), (carried, within))
    return any(float(np.ptp(each, axis=0).max()) <= most for each, most in places)


def bends_of(samples: ChainSamples) -> Floats:
    """Return the angles (m, n - 1) between the bones of a chain as posed, radians."""
    assert samples.poses is not None
    along = np.array(samples.poses[:, :, :3, 1], np.float64)
    along /= np.linalg.norm(along, axis=2, keepdims=True)
    cosines = (along[:, 1:] * along[:, :-1]).sum(axis=2)
    angles: Floats = np.arccos(np.clip(cosines, -1.0, 1.0))
    return angles


def misses(
    scene: bpy.types.Scene, rig: RigChain, samples: ChainSamples, times: Sequence[float]
) -> tuple[Floats, float]:
    """Return how far (m,) a chain's tip stays off its target, and the chain's reach, in the world."""
    solved = _solved(scene, rig, samples, times)
    return solved.miss.distance, solved.reach


def _solved(
    scene: bpy.types.Scene, rig: RigChain, samples: ChainSamples, times: Sequence[float]
) -> SolvedChain:
    facing = facing_target(rig, samples)
    return solve_samples(scene, facing, samples, times, poses_around(scene, facing, times), fully=True)


def _joints(samples: ChainSamples) -> Floats:
    """Return the heads (m, n, 4) of a chain's bones as posed, in pose space."""
    assert samples.poses is not None
    return np.array(samples.poses[:, :, :, 3], np.float64)


def _leaves_plane(rig: RigChain, samples: ChainSamples, joints: Floats, inside: Floats) -> bool:
    """Return whether joints (m, n, 4), or the tip, leave the chain's plane. inside: to rest space."""
    ends = np.append(samples.tips, np.ones((len(joints), 1)), axis=1)
    tips = (inverse(samples.world) @ ends[..., None])[..., 0]
    points = np.concatenate((joints, tips[:, None]), axis=1)
    rest = (inside[:, None] @ points[..., None])[..., :3, 0]
    return float(np.abs(rig.plane.distance(rest.reshape(-1, 3))).max()) > _FLAT * rest_reach(rig)


# --- The foot ----------------------------------------------------------------


def _foot(
    rig: RigChain,
    foot: Foot,
    hands: Hands,
    samples: ChainSamples,
    ankles: Floats,
    scales: Floats,
    turned: Floats,
) -> FootMotion:
    """Return the motion of a chain's foot. turned: (m, k, 3, 3) its bones' rotations from rest."""
    assert samples.hands is not None
    sizes = scales * norms(samples.hands[:, 0, :, 0])
    turns = turned[:, hands.parts.index(FOOT)]
    bends = np.zeros(len(turns))
    if TOES in hands.parts:
        bends = foot.angles(np.swapaxes(turns, 1, 2) @ turned[:, hands.parts.index(TOES)])
    armature = orientations(samples.world[:, :3, :3])
    return FootMotion(ankles, armature @ turns, bends, sizes, samples.break_angle)


def _own(
    foot: Foot, hands: Hands, rig: RigChain, motion: FootMotion, samples: ChainSamples, turned: Floats
) -> Floats:
    """Return the local rotations (m, k, 3, 3) of a foot's bones that its turns and bends leave to them.

    The first bone of the foot has none: the foot turns as it does.
    """
    turns = np.swapaxes(orientations(samples.world[:, :3, :3]), 1, 2) @ motion.turns
    turns_from_rest = []
    for name, kind, its_turns in zip(hands.bones, hands.parts, np.moveaxis(turned, 1, 0), strict=True):
        carried = turns if kind == FOOT else turns @ foot.turns(motion.bends)
        rest = rest_axes(rig.armature.data.bones[name])
        turns_from_rest.append(rest.T @ np.swapaxes(carried, 1, 2) @ its_turns @ rest)
    return np.stack(turns_from_rest, axis=1)


def _posed(rig: RigChain, hands: Hands, samples: ChainSamples) -> Floats:
    """Return the rotations (m, k, 3, 3) from rest, in pose space, of a foot's bones as they are posed."""
    assert samples.hands is not None
    rest = np.array([rest_axes(rig.armature.data.bones[name]) for name in hands.bones])
    turned: Floats = orientations(samples.hands) @ np.swapaxes(rest, 1, 2)
    return turned


def _by_control(
    scene: bpy.types.Scene,
    rig: RigChain,
    foot: Foot,
    hands: Hands,
    samples: ChainSamples,
    times: Sequence[float],
) -> Floats:
    """Return the rotations (m, k, 3, 3) from rest of a foot's bones as its control and their own keys say."""
    assert samples.foot is not None
    control, unled = control_turns(samples, hands), own_turns(scene, rig, times)
    turned_by = []
    for name, kind, values in zip(hands.bones, hands.parts, unled.values, strict=True):
        bone = rig.armature.pose.bones[name]
        rest = rest_axes(bone.bone)
        free = matrices(bone.rotation_mode, values)
        turned_by.append(control @ foot.turns(samples.foot[:, kind]) @ rest @ free @ rest.T)
    return np.stack(turned_by, axis=1)
