# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion that chains have: of their bones by own keys, else of the targets that they follow."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...bake.now import poses_around, solve_samples
from ...bake.solving.frames import SolvedChain
from ...core.affine import inverse, is_constant, norms
from ...core.contacts.planted import FootMotion
from ...core.inputs import Floats
from ...rig.chain.chain import RigChain
from ...rig.chain.foot.bones import FOOT, TOES
from ...rig.chain.foot.foot import Foot
from ...rig.chain.hands import Hands, orientations
from ...rig.pose.kinematics import rest_to_pose
from ...rig.pose.measures import rest_reach
from ...rig.pose.target_plane import facing_target
from ...rig.scene.feet.goals import control_turns
from ...rig.scene.samples import ChainSamples

# Joints of captured motion are farther from a plane than this part of the reach.
_FLAT = 0.01


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

    def at(self, rows: slice) -> "ChainMotion":
        """Return the motion on some frames."""
        own = {name: getattr(self, name)[rows] for name in ("tips", "roots", "bends")}
        return replace(self, foot=self.foot and self.foot.at(rows), **own)

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
        own = self.rig.foot
        ball, tip = (own.offsets(np.array(point)) for point in (own.shape.ball, own.shape.tip))
        bent = self.foot.turns @ own.turns(self.foot.bends) @ (tip - ball)
        tips: Floats = self.point(own.shape.ball) + self.foot.scales[:, None] * bent
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
    foot = None
    if rig.foot is not None and rig.hands is not None and samples.hands is not None:
        foot = _foot(rig, rig.foot, samples, tips, scales, by_bones)
    if by_bones:
        bends = bends_of(samples)
    else:
        bends = _solved(scene, rig, samples, times).turns[:, 1:]
    roots = (samples.world @ rooted[:, 0, :, None])[:, :3, 0]
    reach = rest_reach(rig) * float(scales.mean())
    off = by_bones and rig.swing is None and _leaves_plane(rig, samples, rooted)
    return ChainMotion(rig, by_bones, np.array(tips), roots, foot, bends, reach, off)


def has_own_motion(rig: RigChain, samples: ChainSamples) -> bool:
    """Return whether a chain's bones move by themselves, rather than by the target."""
    settings = rig.armature.path_resolve(rig.path)
    return not settings.live and rig.native is None and not is_constant(samples.bases)


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
    return solved.distance, solved.reach


def _solved(
    scene: bpy.types.Scene, rig: RigChain, samples: ChainSamples, times: Sequence[float]
) -> SolvedChain:
    facing = facing_target(rig, samples)
    return solve_samples(scene, facing, samples, times, poses_around(scene, facing, times), fully=True)


def _joints(samples: ChainSamples) -> Floats:
    """Return the heads (m, n, 4) of a chain's bones as posed, in pose space."""
    assert samples.poses is not None
    return np.array(samples.poses[:, :, :, 3], np.float64)


def _leaves_plane(rig: RigChain, samples: ChainSamples, joints: Floats) -> bool:
    """Return whether joints (m, n, 4), or the tip, leave the chain's plane."""
    ends = np.append(samples.tips, np.ones((len(joints), 1)), axis=1)
    tips = (inverse(samples.world) @ ends[..., None])[..., 0]
    points = np.concatenate((joints, tips[:, None]), axis=1)
    inside = inverse(np.broadcast_to(rest_to_pose(rig, samples), (len(joints), 4, 4)))
    rest = (inside[:, None] @ points[..., None])[..., :3, 0]
    return float(np.abs(rig.plane.distance(rest.reshape(-1, 3))).max()) > _FLAT * rest_reach(rig)


def _foot(
    rig: RigChain, foot: Foot, samples: ChainSamples, ankles: Floats, scales: Floats, by_bones: bool
) -> FootMotion:
    """Return the motion of a chain's foot: as its bones are posed, or as its control says."""
    assert rig.hands is not None and samples.hands is not None
    posed = samples.hands
    sizes = scales * norms(posed[:, 0, :, 0])
    armature = orientations(samples.world[:, :3, :3])
    breaks = samples.settings[:, 5]
    if not by_bones:
        assert samples.foot is not None
        rolled = control_turns(samples, rig.hands) @ foot.turns(samples.foot[:, 0])
        return FootMotion(ankles, armature @ rolled, samples.foot[:, 1] - samples.foot[:, 0], sizes, breaks)

    turns = _turned(rig.hands, posed, rig, FOOT)
    toes = _turned(rig.hands, posed, rig, TOES)
    assert turns is not None
    bends = np.zeros(len(turns)) if toes is None else foot.angles(np.swapaxes(turns, 1, 2) @ toes)
    return FootMotion(ankles, armature @ turns, bends, sizes, breaks)


def _turned(hands: Hands, posed: Floats, rig: RigChain, part: int) -> Floats | None:
    """Return the rotations (m, 3, 3) from rest, in pose space, of a foot's part; None without its bones."""
    if part not in hands.parts:
        return None
    row = hands.parts.index(part)
    rest = rig.armature.pose.bones[hands.bones[row]].bone.matrix_local
    turned: Floats = orientations(posed[:, row]) @ orientations(np.array(rest, np.float64)[:3, :3]).T
    return turned
