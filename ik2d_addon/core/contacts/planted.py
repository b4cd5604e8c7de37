# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that stand: the control and the roll that hold heel and ball of a moving foot in its contacts.

In a contact the control stays where it is, and the foot rolls on it: over the heel while that stands alone,
over the ball while the toes stand alone, flat where both do. So what stands keeps its place between frames
too. In between, the control is where the foot's own motion asks for it, with an offset that eases from one
contact to the next.
"""

from dataclasses import dataclass

import numpy as np

from ..affine import norms, rotations_about, turned
from ..foot import FootAxes
from ..inputs import Floats
from .held import ease_between
from .runs import Mask, runs


@dataclass(frozen=True, eq=False)
class FootMotion:
    """The motion of a foot over m frames, in the world."""

    ankles: Floats  # (m, 3)
    turns: Floats  # (m, 3, 3) rotations of the foot from its rest space to the world
    bends: Floats  # (m,) radians of the toes against the foot, as FootShape counts them
    scales: Floats  # (m,) the world's units in one of the rest space's
    break_angles: Floats  # (m,) radians

    def at(self, rows: slice) -> "FootMotion":
        """Return the motion over some frames."""
        return FootMotion(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


@dataclass(frozen=True, eq=False)
class PlantedFoot:
    """The control of a foot over m frames, in the world, and how the foot rolls on it."""

    places: Floats  # (m, 3)
    turns: Floats  # (m, 3, 3) rotations from the foot's rest space, without its roll
    rolls: Floats  # (m,) radians
    toes: Floats  # (m,) radians that the toes bend up


def planted(
    motion: FootMotion, axes: FootAxes, heel: Mask, toe: Mask, times: Floats, up: Floats, loop: bool = False
) -> PlantedFoot:
    """Return the control and the roll of a foot that stands in its contacts, and else moves as it did.

    heel, toe: (m,) masks of the frames in which they stand; times: (m,) seconds; up: (3,) away from the
    ground. loop: whether the last frame is the first again, apart from travel.
    """
    if loop:
        return _planted_loop(motion, axes, heel, toe, times, up)
    spans = runs(heel | toe)
    rolls, stands = np.zeros(len(times)), []
    for first, end in spans:
        stand = _stand_turn(motion.at(slice(first, end)), axes, heel[first:end] & toe[first:end], up)
        angles = axes.angles(stand.T @ motion.turns[first:end])
        rolls[first:end] = _rolls(angles, heel[first:end], toe[first:end])
        stands.append(stand)
    ease_between(rolls[:, None], spans, times)
    turns = motion.turns @ np.swapaxes(axes.turns(rolls), 1, 2)
    ankles, _, _ = axes.shape.rolled(rolls, np.zeros_like(rolls), motion.break_angles)
    places: Floats = motion.ankles - motion.scales[:, None] * turned(turns, axes.offsets(ankles))
    moves, twists = np.zeros_like(places), np.zeros_like(places)
    for (first, end), stand in zip(spans, stands, strict=True):
        while_held, rows = motion.at(slice(first, end)), slice(first, end)
        moves[rows] = _stand_place(while_held, axes, stand, heel[rows], toe[rows], up) - places[rows]
        twists[rows] = vectors_of(stand @ np.swapaxes(turns[rows], 1, 2))
    ease_between(moves, spans, times)
    ease_between(twists, spans, times)
    ball = np.clip(rolls, 0.0, motion.break_angles)
    toes = -ball - motion.bends
    back = np.zeros((len(times), 1))
    down = runs(toe)
    for first, end in down:
        back[first:end, 0] = -toes[first:end]
    ease_between(back, down, times)
    bends: Floats = np.clip(toes + back[:, 0], -0.5 * np.pi, 0.5 * np.pi)
    held: Floats = places + moves
    return PlantedFoot(held, turns_of(twists) @ turns, rolls, bends)


def _planted_loop(
    motion: FootMotion, axes: FootAxes, heel: Mask, toe: Mask, times: Floats, up: Floats
) -> PlantedFoot:
    """Return the foot of a loop: the middle of three in a row, which sees no seam."""
    count, travel = len(times) - 1, motion.ankles[-1] - motion.ankles[0]

    def thrice(rows: Floats, step: Floats | float = 0.0) -> Floats:
        return np.concatenate([rows[:-1] + (i - 1) * step for i in range(3)] + [rows[-1:] + 1.0 * step])

    whole = FootMotion(
        thrice(motion.ankles, travel),
        *(thrice(rows) for rows in (motion.turns, motion.bends, motion.scales, motion.break_angles)),
    )
    heel, toe = (np.concatenate((mask[:-1], mask[:-1], mask[:-1], mask[:1])) for mask in (heel, toe))
    three = planted(whole, axes, heel, toe, thrice(times, times[-1] - times[0]), up)
    middle = slice(count, 2 * count + 1)
    return PlantedFoot(*(getattr(three, name)[middle] for name in three.__dataclass_fields__))


# --- One contact -------------------------------------------------------------


def _stand_turn(motion: FootMotion, axes: FootAxes, flat: Mask, up: Floats) -> Floats:
    """Return the rotation (3, 3) of a control in a contact: the foot's where it is flat, else made level."""
    if flat.any():
        return _mean(motion.turns[flat])
    leaning = np.arctan2(-(motion.turns @ axes.ahead) @ up, (motion.turns @ axes.up) @ up)
    return _mean(motion.turns @ np.swapaxes(axes.turns(leaning), 1, 2))


def _rolls(angles: Floats, heel: Mask, toe: Mask) -> Floats:
    """Return the rolls (m,) of a contact: none where heel and toes stand, eased into where one does.

    angles: (m,) of the foot against its control.
    """
    flat, rolls = heel & toe, np.where(heel & toe, 0.0, angles)
    for alone, low, high in ((heel & ~toe, -np.pi, 0.0), (toe & ~heel, 0.0, np.pi)):
        for first, end in runs(alone):
            shares = np.arange(1, end - first + 1) / (end - first + 1)
            for beside, share in ((first - 1, 1.0 - shares), (end, shares)):
                if 0 <= beside < len(flat) and flat[beside]:  # where the rest of its angle is dropped
                    rolls[first:end] -= angles[beside] * share * share * (3.0 - 2.0 * share)
            rolls[first:end] = np.clip(rolls[first:end], low, high)
    return np.clip(rolls, -0.5 * np.pi, 0.5 * np.pi)


def _stand_place(
    motion: FootMotion, axes: FootAxes, stand: Floats, heel: Mask, toe: Mask, up: Floats
) -> Floats:
    """Return the place (3,) of a control in a contact: that which heel and ball have on average.

    stand: its rotation (3, 3). Its height is the median, so that a foot that sinks for a while does not
    pull it down.
    """
    shape, candidates = axes.shape, []
    for mask, point in ((heel, shape.heel), (toe, shape.ball)):
        offset = axes.offsets(np.array(point))
        moved = motion.turns[mask] @ offset - stand @ offset
        candidates.append(motion.ankles[mask] + motion.scales[mask, None] * moved)
    places = np.concatenate(candidates)
    heights = places @ up
    place: Floats = places.mean(axis=0) + (np.median(heights) - heights.mean()) * up
    return place


# --- Rotations ---------------------------------------------------------------


def _mean(turns: Floats) -> Floats:
    """Return the rotation (3, 3) nearest to all of some rotations (m, 3, 3)."""
    left, _, right = np.linalg.svd(turns.mean(axis=0))
    sign = np.sign(np.linalg.det(left @ right))
    mean: Floats = (left * (1.0, 1.0, sign)) @ right
    return mean


def turns_of(vectors: Floats) -> Floats:
    """Return the rotations (m, 3, 3) about vectors (m, 3) by their lengths, radians."""
    angles = norms(vectors)
    axes = np.where(angles[:, None] > 0.0, vectors / np.where(angles > 0.0, angles, 1.0)[:, None], (1, 0, 0))
    return rotations_about(axes, angles)


def vectors_of(turns: Floats) -> Floats:
    """Return the vectors (m, 3) of rotations (m, 3, 3): axes, as long as the angles in radians.

    Each is the one of its two that is nearer to the one before, so that they run on.
    """
    twists = np.stack(
        (
            turns[:, 2, 1] - turns[:, 1, 2],
            turns[:, 0, 2] - turns[:, 2, 0],
            turns[:, 1, 0] - turns[:, 0, 1],
        ),
        axis=-1,
    )
    sines = norms(twists)
    angles = np.arctan2(sines, np.trace(turns, axis1=1, axis2=2) - 1.0)
    vectors: Floats = twists / np.where(sines > 0.0, sines, 1.0)[:, None] * angles[:, None]
    return vectors
