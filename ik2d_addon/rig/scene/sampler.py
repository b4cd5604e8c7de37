# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample targets, and what chains hang on, at every frame, as Blender evaluates them."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from ...core.affine import changed
from ...core.inputs import Floats
from ...core.solution import drained, mapped
from ..chain.chain import RigChain
from ..chain.dependencies import walk
from ..chain.order import by_armature
from . import own_scene
from .feet.deforming import grounds_of, shaped_by
from .probes import is_shown, may_be_hidden, probes_on, view_layer_of
from .record import (
    Record,
    Target,
    are_set_anew,
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


class _Rig(NamedTuple):
    """Chains of one armature, and the targets that are sampled with them."""

    chains: Sequence[RigChain]
    targets: Sequence[Target]


@dataclass(frozen=True, eq=False)
class Sampling:
    """Samples of all chains, and why the full scene was evaluated for them ("" if it was not).

    stepped: for each armature what was not where its F-Curves say, so that frames were stepped through; ""
    for nothing.
    """

    chains: list[ChainSamples]
    full_scene: str
    stepped: Mapping[bpy.types.Object, str]


def is_by_curves(chains: Sequence[RigChain]) -> bool:
    """Return whether F-Curves alone place chains of one armature and their targets, and nothing sets them."""
    (rig,) = _rigs(chains)
    return not (are_set_anew(chains) or _doubt([rig]) or is_hindered(*rig))


def sample_now(scene: bpy.types.Scene, chains: Sequence[RigChain], with_targets: bool = True) -> Sampling:
    """Sample chains of one armature in the current scene, unkeyed changes included; errors as below.

    with_targets: False leaves the places of targets out, which are the armature's then: no object is added.
    """
    targets, forced = _targets(chains), _forced(scene, chains)
    layer, probed = view_layer_of(scene), targets if with_targets else []
    with probes_on(scene, [*probed, *forced], chains) as probes:
        read = [(chains, probes[: len(probed)] or [chains[0].armature] * len(targets))]
        (record,) = drained(record_stepping(scene, read, [scene.frame_float], lambda _: layer.update()))
        records = [(_Rig(chains, targets), record)]
    return _sampling(chains, records, np.zeros(1, np.intp), [scene.frame_float], "", checked=True)


def sample_steps(
    scene: "bpy.types.Scene | Sampler",
    chains: Sequence[RigChain],
    times: Sequence[float],
    extra: Sequence[float] = (),
    *,
    checked: bool = True,
    way: str | None = None,
) -> Generator[int, None, Sampling]:
    """Sample chains at the times (frames), and then at `extra` ones, which are not checked.

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
    records = yield from scene.records(chains, sampled, way or WAY)
    rows = np.searchsorted(sampled, [*times, *extra])
    return _sampling(chains, records, rows, times, scene.full_scene, checked=checked)


def sample_alone(
    scene: bpy.types.Scene, chains: Sequence[RigChain], times: Sequence[float], extra: Sequence[float] = ()
) -> Sampling | None:
    """Return the Sampling of `sample_steps`; None where the user's scene would have to be stepped."""
    with Sampler(scene, chains) as sampler:
        drained(sampler.compare())
        return None if sampler.full_scene else drained(sample_steps(sampler, chains, times, extra))


def watch(
    scene: "bpy.types.Scene | Sampler",
    chains: Sequence[RigChain],
    targets: Sequence[Target],
    times: Sequence[float],
    progress: Callable[[float], None] | None = None,
) -> tuple[Floats, Floats, dict[str, Floats], list[Floats]]:
    """Return the evaluated poses of chains of one armature, and places of targets, at ascending times.

    As the armature's matrices (frames, 4, 4), the targets' places (frames, targets, 3) in the world,
    {bone: pose matrices (frames, 4, 4)} of the chains' bones and of those above them, and how much the FK
    copies (frames,) of each chain act. scene: or a Sampler of it that has the targets. progress: called with
    the part that is done, 0..1.
    """
    tell = None if progress is None else lambda done: progress(min(1.0, done / len(times)))
    with nullcontext(scene) if isinstance(scene, Sampler) else Sampler(scene, chains, targets) as sampler:
        ((_, record),) = drained(sampler.records(chains, times, STEP, targets), tell)
    poses = {name: record.poses[:, row].astype(np.float64) for name, row in record.bones.items()}
    return record.world, record.places, poses, record.copied


def _targets(chains: Sequence[RigChain]) -> list[Target]:
    return list(dict.fromkeys(node for chain in chains for node in chain.followed))


def _rigs(chains: Sequence[RigChain], targets: Sequence[Target] | None = None) -> list[_Rig]:
    """Return the chains of each armature; targets: of the only one, None for the chains' own."""
    if targets is not None:
        return [_Rig(chains, targets)]
    return [_Rig(its, _targets(its)) for its in by_armature(chains).values()]


def _forced(scene: bpy.types.Scene, chains: Sequence[RigChain]) -> list[Target]:
    """Return the tips of hidden armatures, which Blender evaluates only where a probe needs them."""
    layer = view_layer_of(scene)
    hidden = [armature for armature in by_armature(chains) if may_be_hidden(armature, layer)]
    return [(chain.armature, chain.bones[-1]) for chain in chains if chain.armature in hidden]


def _sampling(
    chains: Sequence[RigChain],
    records: Sequence[tuple[_Rig, Record]],
    rows: NDArray[np.intp],
    times: Sequence[float],
    full_scene: str,
    *,
    checked: bool,
) -> Sampling:
    """Return the chains' samples in records, in the order of the rows; those of the times are checked."""
    found: dict[RigChain, ChainSamples] = {}
    for rig, record in records:
        in_order = len(rows) == len(record.world) and bool((rows[1:] > rows[:-1]).all())
        ordered = record if in_order else record.at(rows)
        found |= zip(rig.chains, samples_of(rig.chains, ordered, rig.targets, times), strict=True)
    samples = [found[chain] for chain in chains]
    if checked:
        for chain, own in zip(chains, samples, strict=True):
            refuse_unsolvable(chain, own.at(slice(len(times))), times)
    return Sampling(samples, full_scene, {rig.chains[0].armature: record.stepped for rig, record in records})


def sampled(
    chains: Sequence[RigChain], record: Record, targets: Sequence[Target], times: Sequence[float]
) -> list[ChainSamples]:
    """Return the chains' samples in a record of times; targets: those of the record. Errors as above."""
    samples = samples_of(chains, record, targets, times)
    for chain, own in zip(chains, samples, strict=True):
        refuse_unsolvable(chain, own, times)
    return samples


class Sampler:
    """Samples chains repeatedly, in a scene of our own with their armatures or, in doubt, in the user's.

    A context: the scene is made on first use, compared with the user's once, and removed at the end.
    """

    def __init__(
        self, scene: bpy.types.Scene, chains: Sequence[RigChain], targets: Sequence[Target] | None = None
    ) -> None:
        """Take all chains, and targets, that may be asked for; of none given the chains' own.

        Targets of their own are for chains of one armature.
        """
        self.scene, self._chains = scene, chains
        self._rigs = _rigs(chains, targets)
        self._targets = list(dict.fromkeys(target for rig in self._rigs for target in rig.targets))
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
        armatures = [rig.chains[0].armature for rig in self._rigs]
        self._why = _doubt(self._rigs)
        if self._why:
            return
        own = self._own = self._left.enter_context(own_scene.isolated(self.scene, *armatures))
        probed = [*self._targets, *self._forced]
        probes = self._left.enter_context(probes_on(own, probed, self._chains, own=True))
        self._probes = dict(zip(probed, probes, strict=True))
        self._hindered = any(is_hindered(*rig) for rig in self._rigs)
        if not self._hindered:
            return  # F-Curves place it all, the same in any scene
        _settle(self.scene)
        shown = yield from self._step(own, self._rigs, [self.scene.frame_float])
        self._why = _differences(self.scene, self._rigs, shown)
        if self._why:  # what was moved by hand and not keyed differs too: ask a scene that sets the frame
            kept = [*armatures, *(target for target, _ in self._targets)]
            with own_scene.copied(self.scene, kept) as copy:
                self._why = _differences(copy, self._rigs, shown)
        if self._why:
            self.__exit__()

    def records(
        self,
        chains: Sequence[RigChain],
        times: Sequence[float],
        way: str,
        targets: Sequence[Target] | None = None,
    ) -> Generator[int, None, list[tuple[_Rig, Record]]]:
        """Record some of the chains at ascending times; targets: None for the chains' own."""
        rigs = _rigs(chains, targets)
        yield from self.compare()
        if self._own is None:
            wanted = list(dict.fromkeys(target for rig in rigs for target in (*rig.targets, *self._forced)))
            with _frame_kept(self.scene), probes_on(self.scene, wanted, self._chains) as made:
                probes = dict(zip(wanted, made, strict=True))
                records = yield from self._step(self.scene, rigs, times, probes)
                return list(zip(rigs, records, strict=True))
        found: dict[int, Record] = {}
        stepped = dict.fromkeys(range(len(rigs)), "")
        if way == CURVES or way == AUTO and len(times) >= _MANY:
            for number, rig in enumerate(rigs):
                record = yield from record_by_curves(self._own, *rig, times)
                if record is not None:
                    found[number] = record
            looked = np.unique(np.linspace(0, len(times) - 1, LOOKS).round().astype(np.intp)).tolist()
            looking = self._step(self._own, [rigs[number] for number in found], [times[i] for i in looked])
            looks = yield from mapped(looking, lambda _: len(times))
            for number, seen in zip(tuple(found), looks, strict=True):
                stepped[number] = difference_of(*rigs[number], found[number].at(looked), seen)
                still = [np.full(len(times), surfaces[0], object) for surfaces in seen.surfaces]
                found[number] = changed(found[number], surfaces=still)
            found = {number: record for number, record in found.items() if not stepped[number]}
        left = [number for number in stepped if number not in found]
        if not left:
            yield len(times)
        seen_all = yield from self._step(self._own, [rigs[number] for number in left], times)
        for number, seen in zip(left, seen_all, strict=True):
            found[number] = changed(seen, stepped=stepped[number])
        return [(rig, found[number]) for number, rig in enumerate(rigs)]

    def _step(
        self,
        scene: bpy.types.Scene,
        rigs: Sequence[_Rig],
        times: Sequence[float],
        probes: Mapping[Target, bpy.types.Object] | None = None,
    ) -> Generator[int, None, list[Record]]:
        """Step through times of a scene and record rigs; probes: None for those of our own scene."""
        there = self._probes if probes is None else probes
        if not rigs:
            return []
        asked = [(rig.chains, [there[target] for target in rig.targets]) for rig in rigs]
        return (yield from record_stepping(scene, asked, times))


def _doubt(rigs: Sequence[_Rig]) -> str:
    """Return why a scene of our own might evaluate rigs otherwise than the user's; "" for no reason."""
    grounds = grounds_of(chain for rig in rigs for chain in rig.chains)
    shapes = walk([(ground, "") for ground in grounds], shaped_by)
    targets = (target for rig in rigs for target in rig.targets)
    first, *others = (rig.chains[0].armature for rig in rigs)
    return own_scene.doubt(first, [*others, *(block for block, _ in (*targets, *shapes))])


def _differences(scene: bpy.types.Scene, rigs: Sequence[_Rig], shown: Sequence[Record]) -> str:
    """Return the first difference of `_difference` between rigs in our own scene and in the user's, or ""."""
    each = (_difference(scene, *rig, record) for rig, record in zip(rigs, shown, strict=True))
    return next(filter(None, each), "")


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
