# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains without limits: every target in the annulus of reach is reached, from any start.

Three stages, each a file: sweeps of CCD give the pose its shape (only where the target is far: from
close by, the least change of pose looks best), least corrections of all joints bring the tip to the
target, and where those do not arrive, a pose between two known ones does, with certainty.
"""

from .correction import corrected, error_of
from .shapes import between, nearest_turns, off_the_annulus, off_the_line, two_bones
from .sweep import CcdBones, sweep

# How far the tip may be from its target, in reaches, for corrections alone to take it there.
NEAR = 0.25
SWEEPS = 2
# A turn of a joint (radians) that looks smooth between two frames, and how far a joint may turn for each
# reach that the target moves, before the other joints are asked to share.
GENTLE = 0.12
SUDDEN = 25.0
SHARINGS = 5


def solve_free(
    bones: CcdBones, start: list[float], x: float, y: float, bend: float, tolerance: float, rounds: int
) -> tuple[list[float], int]:
    """Return the angles for one target, and the sweeps and corrections they took (reach is 1)."""
    lengths = bones.lengths
    nearest = off_the_annulus(lengths, start, x, y, bend)
    if nearest is not None:
        return nearest, 0
    if len(lengths) == 2:
        return two_bones(lengths, start, x, y, bend), 0
    bent = off_the_line(bones, start, x, y, bend)
    first_error = error_of(lengths, bent, x, y)
    is_far = first_error > NEAR
    shaped = swept(bones, bent, start, x, y) if is_far else bent
    angles, error, done = corrected(lengths, bones.weights[::-1], shaped, (x, y), tolerance, rounds, is_far)
    if error > tolerance:
        angles = between(lengths, shaped, x, y, bend, tolerance)
    elif not is_far and is_sudden(largest_turn(bent, angles), first_error):
        angles = shared(bones, bent, angles, (x, y), tolerance, rounds)
    return angles, done + (SWEEPS if is_far else 0)


def swept(bones: CcdBones, pose: list[float], start: list[float], x: float, y: float) -> list[float]:
    """Return the pose after two sweeps of CCD, each angle near the start's."""
    for _ in range(SWEEPS):
        pose = sweep(bones.sharing, pose, x, y)
    return nearest_turns(pose, start)


def shared(
    bones: CcdBones,
    start: list[float],
    angles: list[float],
    target: tuple[float, float],
    tolerance: float,
    rounds: int,
) -> list[float]:
    """Return a pose with a smaller largest turn from the start than `angles`, if there is one.

    Close to a pose on a line one or two joints may do all the turning. Those are made less willing,
    w / (1 + (turn / GENTLE)^2), and the correction is done again from the start.
    """
    best, weights = angles, bones.weights
    for _ in range(SHARINGS):
        turns = [new - old for new, old in zip(angles, start, strict=True)]
        weights = [w / (1.0 + (turn / GENTLE) ** 2) for w, turn in zip(weights, turns, strict=True)]
        weights = [w / max(weights) for w in weights]
        angles, error, _ = corrected(bones.lengths, weights[::-1], start, target, tolerance, rounds)
        if error <= tolerance and largest_turn(start, angles) < largest_turn(start, best):
            best = angles
        if largest_turn(start, best) <= GENTLE:
            break
    return best


def largest_turn(start: list[float], angles: list[float]) -> float:
    """Return the largest turn of a joint."""
    return max(abs(new - old) for new, old in zip(angles, start, strict=True))


def is_sudden(turn: float, error: float) -> bool:
    """Return whether a largest turn is much for a miss of `error` before (reach is 1)."""
    return turn > GENTLE and turn > SUDDEN * error
