# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a scene at each time (bones, armature, targets, settings), and the samples in it."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.affine import Frames, at_all, norms, repeated, thinned, unrepeated
from ...core.inputs import Floats
from ...core.words import say
from ..animation import versions
from ..animation.times import evaluated_times
from ..chain.chain import RigChain
from .bone_constraints import is_carried
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
    settings: list[Floats]  # (frames, 4 or 8) of each chain, as ChainSamples has them
    surfaces: list[NDArray[np.object_]]  # (frames,) of the ground of each chain, a Surface or None
    copied: list[Floats]  # (frames,) of each chain, as ChainSamples have it
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
    copied = [np.zeros(frames) for _ in chains]  # without constraints
    return Record(world, places, axes, numbers, poses, bases, settings_of(chains, frames), [], copied)


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
    """Return the settings (frames, 4 or 8) of each chain that nothing animates, read-only."""
    return [repeated(np.array(chain.values, np.float64), frames) for chain in chains]


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
    chains: Sequence[RigChain], record: Record, targets: Sequence[Target], times: Sequence[float]
) -> list[ChainSamples]:
    """Return the samples of chains in a record. targets: its own. times: those that have to be right."""
    numbers, frames = {target: number for number, target in enumerate(targets)}, len(record.world)
    span = min(times, default=0.0), max(times, default=0.0)
    poses, bases = (_Matrices(values, record.bones) for values in (record.poses, record.bases))
    # The numbers of each target, and of each tip, side by side.
    places, aims = (np.ascontiguousarray(each.swapaxes(0, 1)) for each in (record.places, record.aims))
    world, tips, samples = thinned(record.world), _tips(chains, record), []
    for number, chain in enumerate(chains):
        followed = {role: numbers[node] for role, node in chain.roles.items()}
        target, pole = followed["target"], followed.get("pole")
        root = chain.armature.pose.bones[chain.bones[0]]
        parent = poses.of([root.parent.name])[:, 0] if root.parent else None
        carried = None
        if is_carried(chain, *span):
            carried = carried_by(root, poses.of([root.name])[:, 0], bases.of([root.name])[:, 0], parent)
        its_samples = ChainSamples(
            targets=places[target],
            world=world,
            parent=parent,
            bases=bases.of(chain.bones),
            tips=at_all(tips[number], frames),
            settings=thinned(record.settings[number]),
            aims=aims[target] if chain.follows_rotation else None,
            hands=None if chain.hands is None else poses.of(chain.hands.bones)[..., :3, :3],
            carried=carried,
            poses=poses.of(chain.bones, np.float32),
            poles=None if pole is None else places[pole],
            copied=record.copied[number] if chain.remarks.copies else None,
        )
        if chain.foot is not None and its_samples.hands is not None:
            surface, ground = None, followed.get("ground")
            if ground is not None:
                roots = (record.world @ poses.of([root.name])[:, 0, :, 3:])[:, 2, 0]
                shapes = record.surfaces[number].tolist() if chain.foot.has_surface else None
                surface = Ground(places[ground], aims[ground], shapes, roots)
            its_samples = with_foot(chain, its_samples, norms(its_samples.hands[:, 0, :, 0]), surface)
        samples.append(its_samples)
    return samples


class _Matrices:
    """The matrices (frames, bones, 4, 4) of a record by bone: in the memory of one frame where none moves."""

    def __init__(self, values: NDArray[np.float32], rows: Mapping[str, int]) -> None:
        """rows: of the bones, by name."""
        self._values, self._rows, shown = values, rows, unrepeated(values)
        moves = (shown != shown[:1]).any(axis=(0, 2, 3))  # NaN counts
        self._moving = {name for name, row in rows.items() if moves[row]}

    def of(self, bones: Sequence[str], bits: type = np.float64) -> NDArray[Any]:
        """Return those of some bones."""
        rows = [self._rows[bone] for bone in bones]
        if self._moving.isdisjoint(bones):
            return repeated(self._values[0, rows].astype(bits), len(self._values))
        return self._values[:, rows].astype(bits, copy=False)


def _tips(chains: Sequence[RigChain], record: Record) -> Floats:
    """Return the tips (chains, frames, 3) in the world; one frame (chains, 1, 3) where nothing moves."""
    lengths = [chain.armature.pose.bones[chain.bones[-1]].bone.length for chain in chains]
    last = unrepeated(record.poses)[:, [record.bones[chain.bones[-1]] for chain in chains]]
    # With the last row too, where Blender keeps places that a constraint has made infinite.
    tails = (last[..., 1].astype(np.float64) * np.array(lengths)[:, None] + last[..., 3])[..., None]
    tips = (unrepeated(thinned(record.world))[:, None] @ tails)[..., :3, 0]
    return np.ascontiguousarray(tips.swapaxes(0, 1))


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
