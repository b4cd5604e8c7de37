# SPDX-License-Identifier: GPL-3.0-or-later
"""Where targets, and what holds the chains, are at every frame, as Blender evaluates them."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import bpy
import numpy as np
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from ...core import IK2DError
from ...core.affine import are_finite, is_constant, picked, product, thinned, unrepeated
from ...core.inputs import Floats
from ..animation import versions
from ..animation.keys import evaluated_times
from ..chain.chain import RigChain, bend_of
from ..chain.native_state import sampled_controls
from . import own_scene
from .by_curves import hindrance, placed

_Result = TypeVar("_Result")
Target = tuple[bpy.types.Object, str]  # an object, and the name of its bone or ""

# What 32-bit arithmetic in another order may differ by, of the extent of what is compared.
_SAME = 1e-5
# Whether places that F-Curves alone tell are worked out from these: always, never, or where there are many.
CURVES, STEP, AUTO = 'CURVES', 'STEP', 'AUTO'
WAY = AUTO
# At how many times Blender is asked whether they were worked out as it has them, and how many are many.
LOOKS = 26
_MANY = 4 * LOOKS
# What they may be off, of the chain's reach, or of a matrix.
_AS_BLENDER = 1e-6


@dataclass(frozen=True, eq=False)
class ChainSamples:
    """What one chain needs to know of the scene, over the frames."""

    targets: Floats  # (frames, 3) in the world
    world: Floats  # (frames, 4, 4) the armature object's matrix
    parent: Floats | None  # (frames, 4, 4) pose matrix of the bone above the chain, if there is one
    bases: Floats  # (frames, n, 4, 4) the bones' own location, rotation and scale
    tips: Floats  # (frames, 3) where the tip stands, in the world
    settings: Floats  # (frames, 3) the chain's softness, bend (-1..+1) and influence
    # Of a chain with hands, (frames, 3, 3) the target's axes in the world, and (frames, k, 3, 3) those of the
    # hands in the armature's pose space, as they stand
    aims: Floats | None = None
    hands: Floats | None = None

    @property
    def softness(self) -> Floats:
        """(frames,) 0..1."""
        return self.settings[:, 0]

    @property
    def bend(self) -> Floats:
        """(frames,) +1 or -1."""
        return self.settings[:, 1]

    @property
    def influence(self) -> Floats:
        """(frames,) 0..1."""
        return self.settings[:, 2]

    def at(self, rows: Sequence[int] | NDArray[np.intp] | slice) -> "ChainSamples":
        """Return the samples of some of the frames alone."""
        columns: dict[str, Any] = {part.name: getattr(self, part.name) for part in fields(self)}
        given = {name: values for name, values in columns.items() if values is not None}
        return replace(self, **{name: picked(values, rows) for name, values in given.items()})

    def with_settings(
        self,
        softness: Floats | float | None = None,
        bend: Floats | float | None = None,
        influence: Floats | float | None = None,
    ) -> "ChainSamples":
        """Return the samples with other settings, one for all frames or (frames,); None: as they are."""
        settings = self.settings.copy()
        for column, values in enumerate((softness, bend, influence)):
            if values is not None:
                settings[:, column] = values
        return replace(self, settings=settings)

    @classmethod
    def joined(cls, parts: "Sequence[ChainSamples]") -> "ChainSamples":
        """Return the samples of one chain, one part after the other."""
        columns: dict[str, Any] = {}
        for part in fields(cls):
            values = [getattr(one, part.name) for one in parts]
            columns[part.name] = None if values[0] is None else np.concatenate(values)
        return cls(**columns)


@dataclass(frozen=True, eq=False)
class Sampling:
    """Samples of all chains, and why the full scene was evaluated for them ("" if it was not).

    stepped: what was found elsewhere than its F-Curves say, so that all frames were stepped through; ""
    where nothing was.
    """

    chains: list[ChainSamples]
    full_scene: str
    stepped: str = ""


def sample_now(scene: bpy.types.Scene, chains: Sequence[RigChain]) -> Sampling:
    """Sample chains of one armature as the scene stands, with what was moved by hand and not keyed.

    Errors as in `sample_steps`.
    """
    targets, forced = _targets(chains), _forced(scene, chains)
    layer = _view_layer(scene)
    with _probes(scene, [*targets, *forced]) as probes:
        recording = _record(
            scene, chains, probes[: len(targets)], [scene.frame_float], lambda _: layer.update()
        )
        record = finished(recording)
    return _sampling(chains, record, np.zeros(1, np.intp), [scene.frame_float], "", checked=True)


def sample_steps(
    scene: "bpy.types.Scene | Sampler",
    chains: Sequence[RigChain],
    times: Sequence[float],
    extra: Sequence[float] = (),
    *,
    checked: bool = True,
    way: str | None = None,
) -> Generator[int, None, Sampling]:
    """Sample chains of one armature at the times (frames), and then at `extra` ones, which are not checked.

    It evaluates only what the chains and their targets depend on, unless that might differ from the
    full scene; and what F-Curves alone place it works out from them, at many times, and asks Blender at a
    few. scene: or a Sampler of it, for whoever samples more than once. way: STEP has Blender evaluate each
    time, as for whoever wants its own word; CURVES works out few times, too; None: as WAY says. Yields the
    number of times done; returns the Sampling. The scene shows what it showed when it ends or is closed.
    Raises IK2DError for a target or a rig that has no finite place at some time, where that is checked.
    """
    if not isinstance(scene, Sampler):
        with Sampler(scene, chains) as sampler:
            return (yield from sample_steps(sampler, chains, times, extra, checked=checked, way=way))
    sampled = sorted([*times, *extra])  # forwards: simulations, if any, want it so
    record = yield from scene.record(chains, sampled, way or WAY)
    rows = np.searchsorted(sampled, [*times, *extra])
    return _sampling(chains, record, rows, times, scene.full_scene, checked=checked)


def sample_alone(
    scene: bpy.types.Scene, chains: Sequence[RigChain], times: Sequence[float], extra: Sequence[float] = ()
) -> Sampling | None:
    """Do what `sample_steps` does without a step of the user's scene; None where it would take one."""
    with Sampler(scene, chains) as sampler:
        finished(sampler.compare())
        return None if sampler.full_scene else finished(sample_steps(sampler, chains, times, extra))


def watch(
    scene: bpy.types.Scene, chains: Sequence[RigChain], targets: Sequence[Target], times: Sequence[float]
) -> tuple[Floats, Floats, dict[str, Floats]]:
    """Return how chains of one armature stand as posed at ascending times (frames), and where targets are.

    Returns the armature's matrices (frames, 4, 4), the targets' places (frames, targets, 3) in the world, and
    {bone: pose matrices (frames, 4, 4)} of the chains' bones and of those above them.
    """
    with Sampler(scene, chains, targets) as sampler:
        record = finished(sampler.record(chains, times, STEP, targets))
    poses = {name: record.poses[:, row].astype(np.float64) for name, row in record.bones.items()}
    return record.world, record.places, poses


def _targets(chains: Sequence[RigChain]) -> list[Target]:
    return list(dict.fromkeys((chain.target, chain.subtarget) for chain in chains))


def _forced(scene: bpy.types.Scene, chains: Sequence[RigChain]) -> list[Target]:
    """Return what else needs a probe: Blender leaves out what is hidden unless something shown needs it."""
    armature = chains[0].armature
    return [(armature, chains[0].bones[-1])] if _may_be_hidden(armature, _view_layer(scene)) else []


def _sampling(
    chains: Sequence[RigChain],
    record: "_Record",
    rows: NDArray[np.intp],
    times: Sequence[float],
    full_scene: str,
    *,
    checked: bool,
) -> Sampling:
    """Give each chain its part of a record, in the order of the rows; those of the times are checked."""
    numbers = {target: k for k, target in enumerate(_targets(chains))}
    record = replace(record, world=thinned(record.world))
    samples = [
        _of_chain(chain, record, numbers[chain.target, chain.subtarget], own).at(rows)
        for chain, own in zip(chains, record.settings, strict=True)
    ]
    if checked:
        for chain, own in zip(chains, samples, strict=True):
            refuse_unsolvable(chain, own.at(slice(len(times))), times)
    return Sampling(samples, full_scene, record.stepped)


def finished(steps: Generator[Any, None, _Result]) -> _Result:
    """Run steps to their end and return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            result: _Result = finished.value
            return result


class Sampler:
    """Samples chains of one armature, again and again, in one scene of our own or, in doubt, in the user's.

    The scene is opened when it is first asked, and compared with the user's once. A context: afterwards
    nothing of it is left.
    """

    def __init__(
        self, scene: bpy.types.Scene, chains: Sequence[RigChain], targets: Sequence[Target] | None = None
    ) -> None:
        """Take all chains, and targets, that may be asked for; of none given the chains' own."""
        self.scene, self._chains = scene, chains
        self._targets = _targets(chains) if targets is None else targets
        self._forced = _forced(scene, chains)
        self._own: bpy.types.Scene | None = None
        self._probes: dict[Target, bpy.types.Object] = {}
        self._left = ExitStack()
        # Why the full scene is evaluated instead of one of our own; "" where it is not, None before that
        # is known.
        self._why: str | None = None

    def __enter__(self) -> "Sampler":
        return self

    def __exit__(self, *_: object) -> None:
        self._left.close()
        self._own = None

    @property
    def full_scene(self) -> str:
        """Why the full scene is evaluated; "" where it is not, or is not known to be."""
        return self._why or ""

    def compare(self) -> Generator[int, None, None]:
        """Find out, once, whether a scene of our own will do, and open it; yield the number of times done."""
        if self._why is not None:
            return
        armature = self._chains[0].armature
        self._why = own_scene.doubt(self.scene, armature, [target for target, _ in self._targets])
        if self._why:
            return
        own = self._own = self._left.enter_context(own_scene.isolated(self.scene, armature))
        probed = [*self._targets, *self._forced]
        probes = self._left.enter_context(_probes(own, probed, own=True))
        self._probes = dict(zip(probed, probes, strict=True))
        if not hindrance(armature, _needed_bones(self._chains), self._targets):
            return  # F-Curves place it all, the same in any scene
        _settle(self.scene)
        shown = yield from _record(own, self._chains, probes[: len(self._targets)], [self.scene.frame_float])
        self._why = _difference(self.scene, self._chains, self._targets, shown)
        if self._why:  # what was moved by hand and not keyed differs too: ask a scene that sets the frame
            kept = [armature, *(target for target, _ in self._targets)]
            with own_scene.copied(self.scene, kept) as copy:
                self._why = _difference(copy, self._chains, self._targets, shown)
        if self._why:
            self.__exit__()

    def record(
        self,
        chains: Sequence[RigChain],
        times: Sequence[float],
        way: str,
        targets: Sequence[Target] | None = None,
    ) -> "Generator[int, None, _Record]":
        """Record some of the chains at ascending times; targets: None for the chains' own."""
        targets = _targets(chains) if targets is None else targets
        yield from self.compare()
        if self._own is None:
            with _frame_kept(self.scene), _probes(self.scene, [*targets, *self._forced]) as probes:
                return (yield from _record(self.scene, chains, probes[: len(targets)], times))
        probes = [self._probes[target] for target in targets]
        stepped = ""
        if way == CURVES or way == AUTO and len(times) >= _MANY:
            record = yield from _record_by_curves(self._own, chains, targets, times)
            if record is not None:
                looked = np.unique(np.linspace(0, len(times) - 1, LOOKS).round().astype(np.intp)).tolist()
                seen = finished(_record(self._own, chains, probes, [times[row] for row in looked]))
                stepped = _astray(chains, targets, record.at(looked), seen)
                if not stepped:
                    yield len(times)
                    return record
        return replace((yield from _record(self._own, chains, probes, times)), stepped=stepped)


def _record_by_curves(
    scene: bpy.types.Scene, chains: Sequence[RigChain], targets: Sequence[Target], times: Sequence[float]
) -> "Generator[int, None, _Record | None]":
    """Work out from F-Curves what `_record` reads; return None where that is not all there is to it."""
    armature, names = chains[0].armature, _needed_bones(chains)
    if settings_animated(armature) or any(chain.native is not None for chain in chains):
        return None
    if hindrance(armature, names, targets):
        return None
    shown = evaluated_times(scene, times)
    found = yield from placed(armature, names, targets, shown)
    if found is None:
        return None
    frames = len(times)
    stood = found.targets
    places, axes = np.empty((frames, len(stood), 3)), np.empty((frames, len(stood) * _turning(chains), 3, 3))
    for k, target in enumerate(stood):
        places[:, k] = target.place.astype("f4")  # as Blender hands them over
        if axes.size:
            axes[:, k] = target.linear.astype("f4")
    poses, bases = (_of_bones([each[name] for name in names], frames) for each in (found.poses, found.bases))
    world = np.broadcast_to(found.world.astype("f4").astype(np.float64), (frames, 4, 4))
    numbers = {name: row for row, name in enumerate(names)}
    return _Record(world, places, axes, numbers, poses, bases, _settings_of(chains, frames))


def _of_bones(matrices: Sequence[Floats], frames: int) -> NDArray[np.float32]:
    """Return matrices side by side (frames, bones, 4, 4), thin where none of them changes."""
    if all(one.ndim == 2 for one in matrices):
        return np.broadcast_to(np.array(matrices, "f4"), (frames, len(matrices), 4, 4))
    found = np.empty((frames, len(matrices), 4, 4), "f4")
    for row, one in enumerate(matrices):
        found[:, row] = one
    return found


def _astray(
    chains: Sequence[RigChain], targets: Sequence[Target], worked_out: "_Record", seen: "_Record"
) -> str:
    """Return what Blender has elsewhere than it was worked out, at the same times; "" for nothing."""
    reach = min(sum(bone.bone.length for bone in chain.pose_bones) for chain in chains)
    in_world = reach * np.linalg.norm(np.nan_to_num(seen.world[:, :3, :3]), axis=(1, 2)).min() / np.sqrt(3.0)
    astray = ~_near(worked_out.places, seen.places, in_world).all(axis=(0, 2))
    if astray.any():
        return f"'{targets[int(np.argmax(astray))][0].name}'"
    if not _near(worked_out.aims, seen.aims, 1.0).all():
        return "the axes of a target"
    if not _near_matrices(worked_out.world[:, None], seen.world[:, None], in_world).all():
        return f"'{chains[0].armature.name}'"
    pairs = ((worked_out.poses, seen.poses), (worked_out.bases, seen.bases))
    near = np.logical_and.reduce([_near_matrices(one, other, reach) for one, other in pairs])
    return "" if near.all() else next(f"bone '{name}'" for name, row in seen.bones.items() if not near[row])


def _near_matrices(one: NDArray[Any], other: NDArray[Any], length: float) -> NDArray[np.bool_]:
    """Return of which bones matrices (frames, bones, 4, 4) are the same, places to a part of a length."""
    size = np.abs(other[..., :3, :3]).max(axis=(0, 2, 3), initial=1.0)[:, None, None]
    turned = _near(one[..., :3, :3], other[..., :3, :3], size).all(axis=(0, 2, 3))
    moved = _near(one[..., :3, 3], other[..., :3, 3], length).all(axis=(0, 2))
    near: NDArray[np.bool_] = turned & moved
    return near


def _near(one: NDArray[Any], other: NDArray[Any], length: Floats | float) -> NDArray[np.bool_]:
    """Return which numbers are the same to a part of a length; what is none is not."""
    near: NDArray[np.bool_] = np.abs(one.astype(np.float64) - other) <= _AS_BLENDER * length
    return near


# The 4x4 matrices that are read of each pose bone.
_POSE_CHANNELS = ("matrix", "matrix_basis")


@dataclass(frozen=True, eq=False)
class _Record:
    """Blender's evaluated matrices of one armature and some targets at all times."""

    world: Floats  # (frames, 4, 4) the armature object
    places: Floats  # (frames, targets, 3) in the world
    aims: Floats  # (frames, targets, 3, 3) the axes of the targets there
    bones: dict[str, int]  # where a bone's numbers are in the following
    poses: NDArray[np.float32]  # (frames, bones, 4, 4)
    bases: NDArray[np.float32]  # (frames, bones, 4, 4) their own location, rotation and scale
    settings: list[Floats]  # (frames, 3) softness, bend and influence of each chain
    stepped: str = ""  # as in Sampling

    def at(self, rows: Sequence[int]) -> "_Record":
        """Return the record of some of the times alone."""
        picked = {name: getattr(self, name)[rows] for name in ("world", "places", "aims", "poses", "bases")}
        return replace(self, **picked, settings=[own[rows] for own in self.settings])


def _record(
    scene: bpy.types.Scene,
    chains: Sequence[RigChain],
    probes: Sequence[bpy.types.Object],
    times: Sequence[float],
    show: Callable[[float], None] | None = None,
) -> Generator[int, None, _Record]:
    """Step through the times and read what the scene's depsgraph has then.

    show: what brings the scene to a time; None: setting its frame.
    """
    armature, layer = chains[0].armature, _view_layer(scene)
    show = show or (lambda time: scene.frame_set(int(time // 1), subframe=float(time % 1)))
    frames, names = len(times), _needed_bones(chains)
    order = {name: row for row, name in enumerate(armature.pose.bones.keys())}
    rows = np.array([order[name] for name in names])
    world, found, aims = np.empty((frames, 4, 4)), [], []
    turning = _turning(chains)
    read = np.empty((len(armature.pose.bones), 16), "f4")
    kept = {name: np.empty((frames, len(rows), 16), "f4") for name in _POSE_CHANNELS}
    settings = _settings_of(chains, frames)
    animated = settings_animated(armature)
    for i in range(frames):
        show(times[i])
        depsgraph = layer.depsgraph
        evaluated = armature.evaluated_get(depsgraph)
        world[i] = evaluated.matrix_world
        for name in _POSE_CHANNELS:
            evaluated.pose.bones.foreach_get(name, read.ravel())
            np.take(read, rows, axis=0, out=kept[name][i], mode="clip")  # clip: without a buffer
        if not np.isfinite(kept["matrix_basis"][i]).all():
            _leave_out_rotations(evaluated, names, kept["matrix_basis"][i])
        for probe in probes:
            matrix = probe.evaluated_get(depsgraph).matrix_world
            found.extend(matrix.translation)
            if turning:
                aims.append(matrix.to_3x3())
        for chain, own in zip(chains, settings, strict=True):
            if chain.native is not None:
                own[i] = sampled_controls(chain.native.evaluated_get(depsgraph))
            elif animated and chain.path:  # not bones that are no chain
                shown = evaluated.path_resolve(chain.path)
                own[i] = shown.softness, bend_of(shown), shown.influence
        yield i + 1
    places = np.array(found, np.float64).reshape(frames, len(probes), 3)
    axes = np.array(aims, np.float64).reshape(frames, len(probes) if turning else 0, 3, 3)
    # Blender hands them over column by column.
    poses, bases = (kept[name].reshape(frames, -1, 4, 4).swapaxes(2, 3) for name in _POSE_CHANNELS)
    numbers = {name: row for row, name in enumerate(names)}
    return _Record(world, places, axes, numbers, poses, bases, settings)


def _turning(chains: Sequence[RigChain]) -> bool:
    """Return whether the axes of targets count, too."""
    return any(chain.hands is not None and chain.hands.follow for chain in chains)


def _settings_of(chains: Sequence[RigChain], frames: int) -> list[Floats]:
    """Return the settings (frames, 3) of each chain that nothing animates."""
    return [
        np.tile(np.array((chain.softness, chain.bend, chain.influence), np.float64), (frames, 1))
        for chain in chains
    ]


def _leave_out_rotations(
    evaluated: bpy.types.Object, names: Sequence[str], bases: NDArray[np.float32]
) -> None:
    """Give bones whose matrices (bones, 16) are no numbers those of their location and scale alone.

    A rotation, which the bake replaces, may be no number: it must not take the scale along.
    """
    for row in np.flatnonzero(~np.isfinite(bases).all(axis=1)):
        bone = evaluated.pose.bones[names[row]]
        bases[row] = np.array(Matrix.LocRotScale(bone.location, None, bone.scale).transposed()).ravel()


def settings_animated(armature: bpy.types.Object) -> bool:
    """Return whether anything animates the settings of an armature's chains."""
    animation = armature.animation_data
    if animation is None:
        return False
    curves = (*versions.existing_fcurves(armature), *animation.drivers)
    return bool(len(animation.nla_tracks)) or any(curve.data_path.startswith("ik2d.") for curve in curves)


def _needed_bones(chains: Sequence[RigChain]) -> list[str]:
    """Return the names of the chains' bones, and of those above them."""
    names = dict.fromkeys(name for chain in chains for name in chain.bones)
    above = (chain.pose_bones[0].parent for chain in chains)
    hands = (name for chain in chains if chain.hands is not None for name in chain.hands.bones)
    return list(names | dict.fromkeys(bone.name for bone in above if bone) | dict.fromkeys(hands))


def _of_chain(chain: RigChain, record: _Record, target: int, settings: Floats) -> ChainSamples:
    """Pick what concerns one chain, by the number of its target."""
    rows = [record.bones[name] for name in chain.bones]
    above = chain.pose_bones[0].parent
    parent = _widened(record.poses, record.bones[above.name]) if above else None
    last, length = unrepeated(record.poses)[:, rows[-1]], chain.pose_bones[-1].bone.length
    # With the last row, too: there Blender keeps what a constraint sends nowhere.
    tails = (last[..., 1].astype(np.float64) * length + last[..., 3])[..., None]
    hands, hand_rows = (
        chain.hands,
        [record.bones[name] for name in (chain.hands.bones if chain.hands else ())],
    )
    return ChainSamples(
        targets=record.places[:, target],
        world=record.world,
        parent=parent,
        bases=_widened(record.bases, rows),
        tips=np.broadcast_to((unrepeated(record.world) @ tails)[:, :3, 0], (len(record.world), 3)),
        settings=thinned(settings),
        aims=record.aims[:, target] if hands is not None and hands.follow else None,
        hands=record.poses[:, hand_rows, :3, :3].astype(np.float64) if hands is not None else None,
    )


def _widened(values: NDArray[np.float32], bones: int | list[int]) -> Floats:
    """Return values (frames, bones, ..) of some bones in 64 bits, thin where all frames hold the same."""
    own = unrepeated(values)[:, bones]
    if is_constant(own):
        return np.broadcast_to(own[0].astype(np.float64), (len(values), *own.shape[1:]))
    return own.astype(np.float64)


def solvable(chain: RigChain, samples: ChainSamples) -> NDArray[np.bool_]:
    """Return at which frames all that a chain is solved for are finite numbers, and it has a size."""
    found: NDArray[np.bool_] = np.logical_and.reduce([good for good, _ in _conditions(chain, samples)])
    return found


def _conditions(chain: RigChain, samples: ChainSamples) -> Iterator[tuple[NDArray[np.bool_], str]]:
    """Yield at which frames (frames,) each thing is as it has to be, and what to say where it is not."""
    yield are_finite(samples.targets), f"target '{chain.target.name}' has no finite position"
    held = samples.world if samples.parent is None else product(samples.world, samples.parent)
    above = f"armature '{chain.armature.name}', or a bone above the chain,"
    yield are_finite(held), f"{above} has no finite place"
    linear = held[:1, :3, :3] if is_constant(held) else held[:, :3, :3]
    sized = np.abs(np.linalg.det(np.nan_to_num(linear))) > 0.0
    yield np.broadcast_to(sized, len(held)), f"{above} is scaled to nothing"
    for i, bone in enumerate(chain.pose_bones):
        own = samples.bases[:, i, :3, : 3 if bone.bone.use_connect else 4]
        yield are_finite(own), f"bone '{bone.name}' has no finite location or scale"
    for name, values in zip(("Softness", "Bend", "Influence"), samples.settings.T, strict=True):
        yield np.isfinite(values), f"its setting {name} has no value that it may have"


def refuse_unsolvable(chain: RigChain, samples: ChainSamples, times: Sequence[float]) -> None:
    """Raise IK2DError where there is nothing to solve for: see `_conditions`."""
    for good, problem in _conditions(chain, samples):
        if not good.all():
            time = times[int(np.argmin(good))]
            raise IK2DError(f"Chain '{chain.name}': {problem} at frame {time:g}; mend its animation there")


def _difference(
    scene: bpy.types.Scene, chains: Sequence[RigChain], targets: Sequence[Target], own: _Record
) -> str:
    """Compare our own scene with the user's on the frame that this shows, evaluated already.

    Returns what differs, or "". What the user's scene does not evaluate cannot be compared.
    """
    layer = _view_layer(scene)
    depsgraph, armature = layer.depsgraph, chains[0].armature
    if depsgraph is None:
        return ""
    if _is_shown(armature, layer):
        evaluated = armature.evaluated_get(depsgraph)
        above = [chain.pose_bones[0].parent for chain in chains if chain.pose_bones[0].parent]
        poses = [evaluated.pose.bones[bone.name].matrix for bone in above]
        held = [own.poses[0, own.bones[bone.name]] for bone in above]
        if not all(map(_same, [own.world[0], *held], [evaluated.matrix_world, *poses])):
            return f"'{armature.name}' stands elsewhere in a scene of its own"
    for (target, subtarget), place in zip(targets, own.places[0], strict=True):
        if not _is_shown(target, layer):
            continue
        evaluated = target.evaluated_get(depsgraph)
        matrix = evaluated.matrix_world
        if subtarget:
            matrix = matrix @ evaluated.pose.bones[subtarget].matrix
        if not _same(place, matrix.translation):
            return f"'{target.name}' stands elsewhere in a scene of its own"
    return ""


def _same(one: Floats | NDArray[np.float32], other: Matrix | Vector) -> bool:
    expected = np.array(other)
    return bool(np.abs(one - expected).max() <= _SAME * max(1.0, np.abs(expected).max()))


@contextmanager
def _probes(
    scene: bpy.types.Scene, targets: Sequence[Target], own: bool = False
) -> Iterator[list[bpy.types.Object]]:
    """Put an empty on each target for a while: Blender then evaluates also what is hidden.

    In a scene of our own an empty that is always shown may stand there itself, which is faster.
    """
    made, probes = [], []
    try:
        for target, subtarget in targets:
            if own and _is_shown_empty(target):
                scene.collection.objects.link(target)
                probes.append(target)
                continue
            probe = bpy.data.objects.new("ik2d probe", None)
            made.append(probe)
            constraint = probe.constraints.new('COPY_TRANSFORMS')
            constraint.target, constraint.subtarget = target, subtarget
            scene.collection.objects.link(probe)
            probes.append(probe)
        yield probes
    finally:
        bpy.data.batch_remove(made)


def _is_shown_empty(ob: bpy.types.Object) -> bool:
    """Return whether it is an empty that carries nothing and that no animation can hide."""
    return ob.type == 'EMPTY' and ob.instance_type == 'NONE' and not (ob.hide_viewport or _hides(ob))


def _may_be_hidden(ob: bpy.types.Object, layer: bpy.types.ViewLayer) -> bool:
    """Return whether an object is hidden, or an animation may hide it at some time."""
    return not _is_shown(ob, layer) or _hides(ob)


def _hides(ob: bpy.types.Object) -> bool:
    """Return whether an object's own animation may hide it."""
    animation = ob.animation_data
    if animation is None:
        return False
    driven = {curve.data_path for curve in animation.drivers}
    keyed = {curve.data_path for curve in versions.existing_fcurves(ob)}
    return "hide_viewport" in driven | keyed or bool(len(animation.nla_tracks))


@contextmanager
def _frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        if (scene.frame_current, scene.frame_subframe) != (frame, subframe):
            scene.frame_set(frame, subframe=subframe)


def _settle(scene: bpy.types.Scene) -> None:
    """Evaluate what was changed since the scene was shown; it costs nothing where nothing was."""
    layer = _view_layer(scene)
    if layer.depsgraph is not None:
        layer.update()


def _is_shown(ob: bpy.types.Object, layer: bpy.types.ViewLayer) -> bool:
    return bool(layer.objects.get(ob.name) == ob and ob.visible_get(view_layer=layer))


def _view_layer(scene: bpy.types.Scene) -> bpy.types.ViewLayer:
    """Return the view layer that is shown, of a scene that is not shown its first."""
    return bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]
