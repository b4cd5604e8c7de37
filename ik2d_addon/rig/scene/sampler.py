# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample targets, and what chains hang on, at every frame, as Blender evaluates them."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import bpy
import numpy as np
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from ...core.affine import thinned
from ...core.inputs import Floats
from ...core.solution import drained
from ..chain.chain import RigChain
from ..chain.dependencies import walk
from . import own_scene
from .bone_constraints import is_carried
from .feet.deforming import grounds_of, shaped_by
from .probes import is_shown, may_be_hidden, probes_on, view_layer_of
from .record import (
    Record,
    Target,
    difference_of,
    is_hindered,
    record_by_curves,
    samples_of,
)
from .samples import ChainSamples, refuse_unsolvable
from .stepping import record_stepping

# The largest difference by 32-bit arithmetic in another order, as a part of the extent compared.
_SAME = 1e-5
# Whether places that F-Curves alone define are computed from these: always, never, or for many times.
CURVES, STEP, AUTO = 'CURVES', 'STEP', 'AUTO'
WAY = AUTO
# The number of times at which computed places are compared with Blender's, and the number that is many.
LOOKS = 26
_MANY = 4 * LOOKS


@dataclass(frozen=True, eq=False)
class Sampling:
    """Samples of all chains, and why the full scene was evaluated for them ("" if it was not).

    stepped: what was not where its F-Curves say, so that frames were stepped through; "" for nothing.
    """

    chains: list[ChainSamples]
    full_scene: str
    stepped: str = ""


def sample_now(scene: bpy.types.Scene, chains: Sequence[RigChain]) -> Sampling:
    """Sample chains of one armature in the current scene, unkeyed changes included; errors as below."""
    targets, forced = _targets(chains), _forced(scene, chains)
    layer = view_layer_of(scene)
    with probes_on(scene, [*targets, *forced], chains) as probes:
        recording = record_stepping(
            scene, chains, probes[: len(targets)], [scene.frame_float], lambda _: layer.update()
        )
        record = drained(recording)
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

    Evaluates only what the chains and their targets depend on, unless that might differ from the full
    scene; at many times, places by F-Curves alone are computed, and compared with Blender's at a few.
    scene: or a Sampler of it, to sample more than once. way: STEP for Blender's own evaluation at each
    time; CURVES computes few times too; None: as WAY. Yields the number of times done; returns the
    Sampling. The scene's frame is restored when it ends or is closed. Raises IK2DError for a target or a
    rig without a finite place at a checked time.
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
    """Return the Sampling of `sample_steps`; None where the user's scene would have to be stepped."""
    with Sampler(scene, chains) as sampler:
        drained(sampler.compare())
        return None if sampler.full_scene else drained(sample_steps(sampler, chains, times, extra))


def watch(
    scene: bpy.types.Scene,
    chains: Sequence[RigChain],
    targets: Sequence[Target],
    times: Sequence[float],
    progress: Callable[[float], None] | None = None,
) -> tuple[Floats, Floats, dict[str, Floats]]:
    """Return the evaluated poses of chains of one armature, and places of targets, at ascending times.

    As the armature's matrices (frames, 4, 4), the targets' places (frames, targets, 3) in the world, and
    {bone: pose matrices (frames, 4, 4)} of the chains' bones and of those above them. progress: called
    with the part that is done, 0..1.
    """
    tell = None if progress is None else lambda done: progress(min(1.0, done / len(times)))
    with Sampler(scene, chains, targets) as sampler:
        record = drained(sampler.record(chains, times, STEP, targets), tell)
    poses = {name: record.poses[:, row].astype(np.float64) for name, row in record.bones.items()}
    return record.world, record.places, poses


def _targets(chains: Sequence[RigChain]) -> list[Target]:
    return list(dict.fromkeys(node for chain in chains for node in chain.followed))


def _forced(scene: bpy.types.Scene, chains: Sequence[RigChain]) -> list[Target]:
    """Return the armature if it needs a probe: Blender evaluates hidden objects only for visible ones."""
    armature = chains[0].armature
    return [(armature, chains[0].bones[-1])] if may_be_hidden(armature, view_layer_of(scene)) else []


def _sampling(
    chains: Sequence[RigChain],
    record: Record,
    rows: NDArray[np.intp],
    times: Sequence[float],
    full_scene: str,
    *,
    checked: bool,
) -> Sampling:
    """Return the chains' samples in a record, in the order of the rows; those of the times are checked."""
    samples = [one.at(rows) for one in _samples(chains, record, _targets(chains), times)]
    if checked:
        _refuse(chains, [one.at(slice(len(times))) for one in samples], times)
    return Sampling(samples, full_scene, record.stepped)


def sampled(
    chains: Sequence[RigChain], record: Record, targets: Sequence[Target], times: Sequence[float]
) -> list[ChainSamples]:
    """Return the chains' samples in a record of times; targets: those of the record. Errors as above."""
    samples = _samples(chains, record, targets, times)
    _refuse(chains, samples, times)
    return samples


def _samples(
    chains: Sequence[RigChain], record: Record, targets: Sequence[Target], times: Sequence[float]
) -> list[ChainSamples]:
    numbers = {target: k for k, target in enumerate(targets)}
    record = replace(record, world=thinned(record.world))
    span = min(times, default=0.0), max(times, default=0.0)
    return [
        samples_of(chain, record, numbers, values, is_carried(chain, *span), surfaces)
        for chain, values, surfaces in zip(chains, record.settings, record.surfaces, strict=True)
    ]


def _refuse(chains: Sequence[RigChain], samples: Sequence[ChainSamples], times: Sequence[float]) -> None:
    for chain, values in zip(chains, samples, strict=True):
        refuse_unsolvable(chain, values, times)


class Sampler:
    """Samples chains of one armature repeatedly, in a scene of our own or, in doubt, in the user's.

    A context: the scene is made on first use, compared with the user's once, and removed at the end.
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
        self._hindered = False

    def __enter__(self) -> "Sampler":
        return self

    def __exit__(self, *_: object) -> None:
        self._left.close()
        self._own = None

    @property
    def full_scene(self) -> str:
        """Why the full scene is evaluated; "" where it is not, or is not known to be."""
        return self._why or ""

    @property
    def by_curves(self) -> bool:
        """Whether F-Curves are known to place all that was asked for."""
        return self._why == "" and not self._hindered

    def steps_alone(self) -> Generator[int, None, bool]:
        """Return whether times are stepped through in a scene of the rig alone, where the order is free."""
        yield from self.compare()
        return self._hindered and not self._why

    def compare(self) -> Generator[int, None, None]:
        """Check once whether a scene of our own will do, and make it; yield the number of times done."""
        if self._why is not None:
            return
        armature = self._chains[0].armature
        shapes = walk([(ground, "") for ground in grounds_of(self._chains)], shaped_by)
        self._why = own_scene.doubt(armature, [block for block, _ in (*self._targets, *shapes)])
        if self._why:
            return
        own = self._own = self._left.enter_context(own_scene.isolated(self.scene, armature))
        probed = [*self._targets, *self._forced]
        probes = self._left.enter_context(probes_on(own, probed, self._chains, own=True))
        self._probes = dict(zip(probed, probes, strict=True))
        self._hindered = is_hindered(self._chains, self._targets)
        if not self._hindered:
            return  # F-Curves place it all, the same in any scene
        _settle(self.scene)
        shown = yield from record_stepping(
            own, self._chains, probes[: len(self._targets)], [self.scene.frame_float]
        )
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
    ) -> Generator[int, None, Record]:
        """Record some of the chains at ascending times; targets: None for the chains' own."""
        targets = _targets(chains) if targets is None else targets
        yield from self.compare()
        if self._own is None:
            wanted = [*targets, *self._forced]
            with _frame_kept(self.scene), probes_on(self.scene, wanted, self._chains) as probes:
                return (yield from record_stepping(self.scene, chains, probes[: len(targets)], times))
        probes = [self._probes[target] for target in targets]
        stepped = ""
        if way == CURVES or way == AUTO and len(times) >= _MANY:
            record = yield from record_by_curves(self._own, chains, targets, times)
            if record is not None:
                looked = np.unique(np.linspace(0, len(times) - 1, LOOKS).round().astype(np.intp)).tolist()
                seen = drained(record_stepping(self._own, chains, probes, [times[row] for row in looked]))
                stepped = difference_of(chains, targets, record.at(looked), seen)
                if not stepped:
                    yield len(times)
                    still = [np.full(len(times), surfaces[0], object) for surfaces in seen.surfaces]
                    return replace(record, surfaces=still)
        return replace((yield from record_stepping(self._own, chains, probes, times)), stepped=stepped)


def _difference(
    scene: bpy.types.Scene, chains: Sequence[RigChain], targets: Sequence[Target], own: Record
) -> str:
    """Return the difference between our own scene and the user's on its current frame, or "".

    Objects that the user's scene does not evaluate cannot be compared.
    """
    layer = view_layer_of(scene)
    depsgraph, armature = layer.depsgraph, chains[0].armature
    if depsgraph is None:
        return ""
    if is_shown(armature, layer):
        evaluated = armature.evaluated_get(depsgraph)
        roots = [chain.pose_bones[0] for chain in chains]
        above = [root.parent for root in roots if root.parent] + [root for root in roots if root.constraints]
        poses = [evaluated.pose.bones[bone.name].matrix for bone in above]
        held = [own.poses[0, own.bones[bone.name]] for bone in above]
        if not all(map(_same, [own.world[0], *held], [evaluated.matrix_world, *poses])):
            return f"'{armature.name}' stands elsewhere in a scene of its own"
    for (target, subtarget), place in zip(targets, own.places[0], strict=True):
        if not is_shown(target, layer):
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
def _frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        if (scene.frame_current, scene.frame_subframe) != (frame, subframe):
            scene.frame_set(frame, subframe=subframe)


def _settle(scene: bpy.types.Scene) -> None:
    """Evaluate changes since the scene was last evaluated; free without any."""
    layer = view_layer_of(scene)
    if layer.depsgraph is not None:
        layer.update()
