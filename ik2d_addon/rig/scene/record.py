# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a scene at each time (bones, armature, targets, settings), and the samples in it."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.affine import Frames, is_constant, norms, thinned, unrepeated
from ...core.inputs import Floats
from ...core.words import say
from ..animation import versions
from ..animation.times import evaluated_times
from ..chain.chain import RigChain
from .by_curves import hindrance, placed
from .carried import carried_by
from .feet.deforming import grounds_of, may_deform
from .feet.goals import with_foot
from .feet.surface import Ground
from .rounding import rounding
from .samples import ChainSamples

Target = tuple[bpy.types.Object, str]  # an object, and the name of its bone or ""

# The largest difference from Blender, as a part of the chain's reach, or of a matrix, besides the rounding.
_AS_BLENDER = 1e-6


@dataclass(frozen=True, eq=False)
class Record(Frames):
    """Blender's evaluated matrices of one armature and some targets at all times."""

    world: Floats  # (frames, 4, 4) the armature object
    places: Floats  # (frames, targets, 3) in the world
    aims: Floats  # (frames, targets, 3, 3) the axes of the targets there
    bones: dict[str, int]  # where a bone's numbers are in the following
    poses: NDArray[np.float32]  # (frames, bones, 4, 4)
    bases: NDArray[np.float32]  # (frames, bones, 4, 4) their own location, rotation and scale
    settings: list[Floats]  # (frames, 3 or 7) of each chain, as ChainSamples has them
    surfaces: list[NDArray[np.object_]]  # (frames,) of the ground of each chain, a Surface or None
    stepped: str = ""  # as in Sampling


def record_by_curves(
    scene: bpy.types.Scene, chains: Sequence[RigChain], targets: Sequence[Target], times: Sequence[float]
) -> Generator[int, None, Record | None]:
    """Return the record of `record_stepping` computed from F-Curves; None where these are not enough.

    Without the surfaces of grounds.
    """
    armature, names = chains[0].armature, needed_bones(chains)
    if are_set_anew(chains) or is_hindered(chains, targets):
        return None
    shown = evaluated_times(scene, times)
    placements = yield from placed(armature, names, targets, shown)
    if placements is None:
        return None
    frames = len(times)
    stood = placements.targets
    places = np.empty((frames, len(stood), 3))
    axes = np.empty((frames, len(stood) * has_turning_targets(chains), 3, 3))
    for k, target in enumerate(stood):
        places[:, k] = target.place.astype("f4")  # as Blender hands them over
        if axes.size:
            axes[:, k] = target.linear.astype("f4")
    poses, bases = (
        _of_bones([each[name] for name in names], frames) for each in (placements.poses, placements.bases)
    )
    world = np.broadcast_to(placements.world.astype("f4").astype(np.float64), (frames, 4, 4))
    numbers = {name: row for row, name in enumerate(names)}
    return Record(world, places, axes, numbers, poses, bases, settings_of(chains, frames), [])


def are_set_anew(chains: Sequence[RigChain]) -> bool:
    """Return whether keys, drivers or native controls may set chains of one armature on each frame."""
    return settings_animated(chains[0].armature) or any(chain.settings.native is not None for chain in chains)


def is_hindered(chains: Sequence[RigChain], targets: Sequence[Target]) -> bool:
    """Return whether more than F-Curves places chains of one armature and targets, or shapes a ground."""
    return bool(hindrance(chains[0].armature, needed_bones(chains), targets)) or any(
        map(may_deform, grounds_of(chains))
    )


def _of_bones(matrices: Sequence[Floats], frames: int) -> NDArray[np.float32]:
    """Return stacked matrices (frames, bones, 4, 4), a read-only view where none of them changes."""
    if all(matrix.ndim == 2 for matrix in matrices):
        return np.broadcast_to(np.array(matrices, "f4"), (frames, len(matrices), 4, 4))
    poses = np.empty((frames, len(matrices), 4, 4), "f4")
    for row, matrix in enumerate(matrices):
        poses[:, row] = matrix
    return poses


def has_turning_targets(chains: Sequence[RigChain]) -> bool:
    """Return whether the axes of targets count too."""
    return any(chain.follows_rotation for chain in chains)


def settings_of(chains: Sequence[RigChain], frames: int) -> list[Floats]:
    """Return the settings (frames, 3 or 7) of each chain that nothing animates."""
    return [np.tile(np.array(chain.values, np.float64), (frames, 1)) for chain in chains]


def settings_animated(armature: bpy.types.Object) -> bool:
    """Return whether anything animates the settings of an armature's chains."""
    animation = armature.animation_data
    if animation is None:
        return False
    curves = (*versions.existing_fcurves(armature), *animation.drivers)
    return bool(len(animation.nla_tracks)) or any(curve.data_path.startswith("ik2d.") for curve in curves)


def needed_bones(chains: Sequence[RigChain]) -> list[str]:
    """Return the names of the chains' bones, and of those above them."""
    names = dict.fromkeys(name for chain in chains for name in chain.bones)
    above = (chain.pose_bones[0].parent for chain in chains)
    hands = (name for chain in chains if chain.hands is not None for name in chain.hands.bones)
    return list(names | dict.fromkeys(bone.name for bone in above if bone) | dict.fromkeys(hands))


def samples_of(
    chain: RigChain,
    record: Record,
    numbers: Mapping[Target, int],
    settings: Floats,
    is_carried: bool = False,
    surfaces: NDArray[np.object_] | None = None,
) -> ChainSamples:
    """Return the samples of one chain in a record.

    numbers: there, of all that it follows. surfaces: (frames,) of the ground under its foot, as in a Record.
    """
    followed = {role: numbers[node] for role, node in chain.roles.items()}
    target, pole, ground = followed["target"], followed.get("pole"), followed.get("ground")
    rows = [record.bones[name] for name in chain.bones]
    above = chain.pose_bones[0].parent
    parent = _widened(record.poses, record.bones[above.name]) if above else None
    last, length = unrepeated(record.poses)[:, rows[-1]], chain.pose_bones[-1].bone.length
    # With the last row too, where Blender keeps places that a constraint has made infinite.
    tails = (last[..., 1].astype(np.float64) * length + last[..., 3])[..., None]
    hands = chain.hands
    hand_rows = [record.bones[name] for name in (hands.bones if hands else ())]
    samples = ChainSamples(
        targets=record.places[:, target],
        world=record.world,
        parent=parent,
        bases=_widened(record.bases, rows),
        tips=np.broadcast_to((unrepeated(record.world) @ tails)[:, :3, 0], (len(record.world), 3)),
        settings=thinned(settings),
        aims=record.aims[:, target] if chain.follows_rotation else None,
        hands=record.poses[:, hand_rows, :3, :3].astype(np.float64) if hands is not None else None,
        carried=carried_by(chain.pose_bones[0], record.poses[:, rows[0]], record.bases[:, rows[0]], parent)
        if is_carried
        else None,
        poses=np.broadcast_to(unrepeated(record.poses)[:, rows], (len(record.poses), len(rows), 4, 4)),
        poles=None if pole is None else record.places[:, pole],
    )
    if chain.foot is None or samples.hands is None:
        return samples
    surface = None
    if ground is not None and chain.foot.ground is not None:
        heads = record.poses[:, rows[0], :, 3:].astype(np.float64)
        roots = (record.world @ heads)[:, 2, 0]
        shapes = surfaces.tolist() if surfaces is not None and chain.foot.has_surface else None
        surface = Ground(record.places[:, ground], record.aims[:, ground], shapes, roots)
    return with_foot(chain, samples, norms(samples.hands[:, 0, :, 0]), surface)


def _widened(values: NDArray[np.float32], bones: int | list[int]) -> Floats:
    """Return values (frames, bones, ..) of some bones in 64 bits, a view where all frames are the same."""
    rows = unrepeated(values)[:, bones]
    if is_constant(rows):
        return np.broadcast_to(rows[0].astype(np.float64), (len(values), *rows.shape[1:]))
    return rows.astype(np.float64)


def difference_of(
    chains: Sequence[RigChain], targets: Sequence[Target], worked_out: Record, seen: Record
) -> str:
    """Return the object or bone that differs between two records of the same times, in words; "" for none."""
    reach = min(sum(bone.bone.length for bone in chain.pose_bones) for chain in chains)
    in_world = reach * np.linalg.norm(np.nan_to_num(seen.world[:, :3, :3]), axis=(1, 2)).min() / np.sqrt(3.0)
    places_off = _rounding(seen.world[:, None, :3, 3], seen.places)
    poses_off = _rounding(seen.poses[..., :3, 3])
    unlike = ~_near(worked_out.places, seen.places, in_world, places_off).all(axis=(0, 2))
    if unlike.any():
        return f"'{targets[int(np.argmax(unlike))][0].name}'"
    if not _near(worked_out.aims, seen.aims, 1.0).all():
        return "the axes of a target"
    if not _near_matrices(worked_out.world[:, None], seen.world[:, None], in_world, places_off).all():
        return f"'{chains[0].armature.name}'"
    pairs = ((worked_out.poses, seen.poses), (worked_out.bases, seen.bases))
    near = np.logical_and.reduce([_near_matrices(one, other, reach, poses_off) for one, other in pairs])
    return (
        ""
        if near.all()
        else next(say("bone '{name}'", name=name) for name, row in seen.bones.items() if not near[row])
    )


def _rounding(*places: NDArray[Any]) -> Floats:
    """Return the rounding (frames, 1, 1) of places (frames, .., 3); those that are not finite have none."""
    sizes = (
        np.abs(np.where(np.isfinite(matrices), matrices, 0.0)).max(axis=(1, 2), initial=0.0)
        for matrices in places
    )
    return rounding(np.sum(list(sizes), axis=0))[:, None, None]


def _near_matrices(one: NDArray[Any], other: NDArray[Any], length: float, off: Floats) -> NDArray[np.bool_]:
    """Return a mask of bones whose matrices (frames, bones, 4, 4) agree, places within a length or `off`."""
    size = np.abs(other[..., :3, :3]).max(axis=(0, 2, 3), initial=1.0)[:, None, None]
    turned = _near(one[..., :3, :3], other[..., :3, :3], size).all(axis=(0, 2, 3))
    moved = _near(one[..., :3, 3], other[..., :3, 3], length, off).all(axis=(0, 2))
    near: NDArray[np.bool_] = turned & moved
    return near


def _near(
    one: NDArray[Any], other: NDArray[Any], length: Floats | float, off: Floats | float = 0.0
) -> NDArray[np.bool_]:
    """Return which numbers agree within a fraction of a length, and the rounding `off`. NaN never agrees."""
    near: NDArray[np.bool_] = np.abs(one.astype(np.float64) - other) <= _AS_BLENDER * length + off
    return near
