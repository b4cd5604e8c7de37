# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of Plant Feet: slides and knees before and after, as Blender plays them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...bake.lengths import Units, length_text
from ...bake.reporting.report import BakeReport
from ...core.contacts.runs import Mask, runs
from ...core.inputs import Floats
from ...core.words import number_of, say
from ...rig.chain.foot.contacts import names_of
from .contacts import spans
from .motion import ChainMotion

# Slides up to these parts of the reach, on frames and half-way between them, are rounding.
ON_FRAMES, HALF_WAY = 2e-5, 2e-4
# A knee that turns faster than before by this is named.
_FASTER = 1.5


@dataclass(frozen=True, eq=False)
class PlantedChain:
    """A chain that was planted. Lengths are the world's."""

    name: str
    contacts: dict[str, list[tuple[int, int]]]  # first and last frame of each, by the setting's name
    slide_before: float  # the largest within a contact
    slide_on_frames: float
    slide: float  # half-way between frames too
    knee_before: float  # degrees from one frame to the next, of the joint that turns fastest
    knee: float
    knee_frame: int  # on which it does
    reach: float


@dataclass(frozen=True, eq=False)
class PlantReport:
    """Result of Plant Feet: its chains, and the report of the bake."""

    chains: tuple[PlantedChain, ...]
    bake: BakeReport
    units: Units
    own_warnings: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Whether no contact slides and no target is missed."""
        return self.bake.all_reached and not any(True for _ in self.faults())

    @property
    def warnings(self) -> tuple[str, ...]:
        """All warnings: of slides and knees, then the bake's."""
        return (*self.faults(), *self.own_warnings, *self.bake.warnings)

    def sentence(self) -> str:
        """Return the report in one sentence."""
        number = sum(len(spans) for chain in self.chains for spans in chain.contacts.values())
        before = max(chain.slide_before for chain in self.chains)
        left = max(chain.slide for chain in self.chains)
        if before <= left:
            return say(
                "Planted {chains} in {contacts}, which slide by up to {length}",
                chains=number_of(len(self.chains), "chain"),
                contacts=number_of(number, "contact"),
                length=self._length(left),
            )
        return say(
            "Planted {chains} in {contacts}: slides of up to {length} are down to {length_2}",
            chains=number_of(len(self.chains), "chain"),
            contacts=number_of(number, "contact"),
            length=self._length(before),
            length_2=self._length(left),
        )

    def faults(self) -> Iterator[str]:
        """Yield a sentence for each chain that slides in a contact, or has a knee much faster than before."""
        for chain in self.chains:
            on_frames, half_way = chain.slide_on_frames / chain.reach, chain.slide / chain.reach
            if on_frames > ON_FRAMES or half_way > HALF_WAY:
                yield say(
                    "Chain '{chain}': a contact slides by {length} on frames, and by {length_2} between them",
                    chain=chain.name,
                    length=self._length(chain.slide_on_frames),
                    length_2=self._length(chain.slide),
                )
            if chain.knee > _FASTER * chain.knee_before:
                yield say(
                    "Chain '{chain}': a joint turns by {knee:.3g} degrees to frame {knee_frame}, and by "
                    "{knee_before:.3g} at most before; move the contact's end, or the body",
                    chain=chain.name,
                    knee=chain.knee,
                    knee_frame=chain.knee_frame,
                    knee_before=chain.knee_before,
                )

    def _length(self, length: float) -> str:
        return length_text(length, self.units)


def planted_chain(
    frames: Sequence[int],
    mask: Mask,
    before: ChainMotion,
    after: ChainMotion,
    carried: Floats,
    on_tips: Mask | None,
) -> PlantedChain:
    """Return the result of a chain.

    mask: (m, k) its contacts on the frames. before: the motion on these; after: with times half-way between
    them. carried: (m, 3) of the ground. on_tips: (m,) where a foot rolls over the tip of its toes.
    """
    chain = before.rig.armature.path_resolve(before.rig.settings.path)
    ways = np.empty((2 * len(frames) - 1, 3))
    ways[::2], ways[1::2] = carried, 0.5 * (carried[1:] + carried[:-1])
    past = None
    if on_tips is not None:
        past = np.empty(len(ways), bool)
        past[::2], past[1::2] = on_tips, on_tips[1:] | on_tips[:-1]
    whole = after.at(slice(None, None, 2))
    knees = _speeds(whole.bends)
    return PlantedChain(
        before.rig.name,
        {name: spans(frames, on) for name, on in zip(names_of(chain), mask.T, strict=True)},
        max(_slides(before, mask, carried, None), default=0.0),
        max(_slides(whole, mask, carried, on_tips), default=0.0),
        max(_slides(after, mask, ways, past, 2), default=0.0),
        float(_speeds(before.bends).max(initial=0.0)),
        float(knees.max(initial=0.0)),
        frames[1 + int(knees.argmax())],
        before.reach,
    )


def _speeds(bends: Floats) -> Floats:
    """Return the degrees (m - 1,) that the fastest joint turns from frame to frame."""
    if not bends.shape[1]:
        return np.zeros(len(bends) - 1)
    speeds: Floats = np.degrees(np.abs(np.diff(bends, axis=0)).max(axis=1))
    return speeds


def _slides(
    motion: ChainMotion, mask: Mask, carried: Floats, on_tips: Mask | None, steps: int = 1
) -> Iterator[float]:
    """Yield how far each standing point gets from where its contact began, as the ground sees it.

    mask: (m, k) of the frames. carried: (rows, 3). on_tips: (rows,) where the toes stand on their tip, past
    the break angle; None for nowhere. steps: rows of the motion a frame, 2 with those half-way.
    """
    kinds = [(points, mask[:, k]) for k, points in enumerate(np.moveaxis(motion.points, 1, 0))]
    if on_tips is not None and on_tips.any():
        kinds.append((motion.toe_tips, mask[:, 1]))
    for kind, (points, on) in enumerate(kinds):
        for first, end in runs(on):
            rows = np.arange(steps * first, steps * (end - 1) + 1)
            if on_tips is not None and kind:
                rows = rows[on_tips[rows] == (kind == 2)]
            if len(rows):
                apart = points[rows] - carried[rows]
                yield float(np.linalg.norm(apart - apart[0], axis=1).max())
