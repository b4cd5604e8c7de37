# SPDX-License-Identifier: GPL-3.0-or-later
"""Random mechanisms of one crank and 1 to 8 groups: closed, and the same however they are placed."""

import numpy as np
import pytest
from machines import openings, xy

from ik2d_addon.core import Mechanism, MechanismStatus

ANGLES = np.linspace(-np.pi, np.pi, 361)
pytestmark = pytest.mark.slow
# Away from an end by so much (radians) poses do not follow its rounding's square root.
APART = 1e-6


def random_parts(rng):
    """Return the parts of a mechanism: its crank's pivot, and groups with their bodies and places."""

    def place(size=1.0):
        return complex(*rng.normal(size=2)) * size

    parts, bodies = [place(0.3)], [0, "crank"]
    for k in range(int(rng.integers(1, 9))):
        a, b = rng.choice(len(bodies), 2, replace=False)
        kind = rng.choice(["RRR", "RRR", "RRP", "line", "own line"])
        far = place(3.0) if kind == "RRR" else np.exp(1j * rng.uniform(0.0, 6.0))
        parts.append((kind, bodies[a], bodies[b], place(), place(), far))
        bodies += [f"x{k}"] + ([f"y{k}"] if kind in ("RRR", "RRP") else [])
    return parts


def built(parts, scale=1.0, turn=1.0 + 0j, shift=0j):
    """Return the mechanism of parts, turned, scaled and moved."""

    def at(place):
        return xy(place * scale * turn + shift)

    mechanism = Mechanism().pin(0, "crank", at(parts[0])).drive("crank")
    for k, (kind, a, b, p, q, far) in enumerate(parts[1:]):
        x, y = f"x{k}", f"y{k}"
        mechanism = mechanism.pin(a, x, at(p))
        if kind == "RRR":
            mechanism = mechanism.pin(b, y, at(q)).pin(x, y, at(far))
        if kind == "RRP":
            mechanism = mechanism.pin(x, y, at(q)).slide(b, y, at(q), xy(far * turn), keeps_angle=True)
        if kind == "line":
            mechanism = mechanism.slide(b, x, at(q), xy(far * turn))
        if kind == "own line":
            mechanism = mechanism.slide(x, b, at(q), xy(far * turn))
    return mechanism


def interval(mechanism):
    """Return the ends of the crank's interval that holds rest."""
    ends = mechanism.feasible("crank", -np.pi, np.pi)
    (row,) = np.flatnonzero((ends[:, 0] <= 0.0) & (ends[:, 1] >= 0.0))
    return ends[row]


def test_300_random_mechanisms_close_to_1e_12_and_hold_their_crank(some):
    rng, closed = np.random.default_rng(0), 0
    for _ in range(some(300)):
        mechanism = built(random_parts(rng))
        assert mechanism.mobility().words() == "1 freedom, 1 driver"
        solution = mechanism.solve({"crank": ANGLES})
        assert openings(mechanism, solution).max() < 1e-12
        low, high = interval(mechanism)
        inside = (ANGLES >= low) & (ANGLES <= high)
        assert np.array_equal(solution.status == MechanismStatus.CLOSED, inside)
        closed += inside.sum()
    assert closed > 20 * some(300)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_random_mechanisms_are_the_same_turned_moved_and_scaled(scale, some):
    rng = np.random.default_rng(0)
    for _ in range(some(300)):
        parts = random_parts(rng)
        first, second = built(parts), built(parts, scale, np.exp(0.7j), 5.0 * scale ** (scale > 1.0) - 3j)
        low, high = interval(first)
        assert np.abs(interval(second) - [low, high]).max() < 1e-9
        solutions = [mechanism.solve({"crank": ANGLES}) for mechanism in (first, second)]
        assert np.array_equal(solutions[0].status, solutions[1].status)
        rows = (ANGLES > low + APART) & (ANGLES < high - APART)
        turns = [np.exp(1j * solution.turns[rows]) for solution in solutions]
        assert np.abs(turns[0] - turns[1]).max(initial=0.0) < 1e-9


def test_one_frame_of_a_random_mechanism_is_that_of_all_frames(some):
    rng = np.random.default_rng(0)
    for _ in range(some(300)):
        parts = random_parts(rng)
        together = built(parts).solve({"crank": ANGLES})
        for row in rng.integers(len(ANGLES), size=3):
            alone = built(parts).solve({"crank": ANGLES[row]})
            assert alone.status[0] == together.status[row]
            assert np.abs(np.exp(1j * alone.turns[0]) - np.exp(1j * together.turns[row])).max() < 1e-9
