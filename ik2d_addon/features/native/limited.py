# SPDX-License-Identifier: GPL-3.0-or-later
"""Two bones within limits in simple expressions, and one: the nearest of the poses of core/two_bone.py.

Candidates are both bend sides, and at each end of a range the pose in which the other bone aims; each is
clamped to the limits. Of equally near ones the first is taken: the chain's own bend side.
"""

from dataclasses import dataclass, field, replace
from math import cos, sin

import numpy as np

from .expressions import LONGEST, num
from .plan import NativePlan, Shape
from .two_bone import DISTANCE, TINY, evenly_stretched, softened

# Tips whose distances differ by less than this part of the reach are equally near: 32 bits hold no less.
_EQUALLY_NEAR = 1e-6


@dataclass
class _Candidates:
    """The steps so far, and each candidate's (root's heading, knee) as a step's name or a number."""

    steps: list[tuple[str, str]] = field(default_factory=list)
    poses: list[tuple[str, str]] = field(default_factory=list)

    def step(self, name: str, expression: str) -> str:
        self.steps.append((name, expression))
        return name


def plan(shape: Shape) -> NativePlan:
    """Return the plan for two bones, one or both with limits."""
    root, knee = (_range(shape, i) for i in range(2))
    (d1, d2), outer, inner = shape.lengths.tolist(), shape.reach, abs(shape.lengths[0] - shape.lengths[1])
    candidates = _Candidates(softened(shape))
    eased = f"(({num(outer)}-g)/max({DISTANCE},{num(TINY * outer)}) if softness>0 else 1)"
    candidates.step("e", eased)
    candidates.step("X", "x*e")
    candidates.step("Y", "y*e")
    square = "(X*X+Y*Y)"
    above, below = f"{num(outer * outer, 12)}-{square}", f"{square}-{num(inner * inner, 12)}"
    candidates.step("h", f"2*atan2(sqrt(max({above},0)),sqrt(max({below},0)))")
    side = f"(1 if ({shape.is_positive})==(turn_over<.5) else -1)"
    for n, sign in enumerate(("", "-")):
        t = candidates.step(f"t{n}", _within(candidates, f"w{n}", f"{sign}h*{side}", knee))
        r = candidates.step(f"r{n}", _within(candidates, f"v{n}", _aim(d1, d2, t), root))
        candidates.poses.append((r, t))
    for end in () if knee is None else knee:
        n = len(candidates.poses)
        r = candidates.step(f"r{n}", _within(candidates, f"v{n}", _aim(d1, d2, num(end)), root))
        candidates.poses.append((r, num(end)))
    for end in () if root is None else root:
        n = len(candidates.poses)
        aim = f"atan2(Y-{num(d1 * sin(end))},X-{num(d1 * cos(end))})-{num(end)}"
        candidates.poses.append((num(end), candidates.step(f"t{n}", _within(candidates, f"w{n}", aim, knee))))
    _choose(candidates, shape)
    return NativePlan(tuple(candidates.steps), (f"r-{num(shape.headings[0])}", f"t-{num(shape.angles[1])}"))


def _range(shape: Shape, joint: int) -> tuple[float, float] | None:
    """Return a joint's limits as the solver's angles; None if it is free."""
    low, high = (shape.limits[joint] + shape.angles[joint]).tolist()
    return None if np.isnan(low) else (low, high)


def _within(found: _Candidates, name: str, angle: str, limits: tuple[float, float] | None) -> str:
    """Return an angle clamped to limits, at the end that is nearer all the way round."""
    if limits is None:
        return angle
    whole = clamped(angle, limits)
    return whole if len(whole) <= LONGEST else clamped(found.step(name, angle), limits)


def clamped(angle: str, limits: tuple[float, float]) -> str:
    """Return the expression of an angle clamped to limits (radians), at the end nearer all the way round."""
    low, high, middle = num(limits[0]), num(limits[1]), num((limits[0] + limits[1]) / 2.0)
    # The arc tangent takes whole turns away.
    return f"clamp({middle}+2*atan(tan(({angle}-{middle})/2)),{low},{high})"


def _aim(d1: float, d2: float, knee: str) -> str:
    """Return the root's heading that points the tip at the target."""
    adjacent, opposite = f"({num(d1)}+{num(d2)}*cos({knee}))", f"{num(d2)}*sin({knee})"
    return f"atan2(Y*{adjacent}-X*{opposite},X*{adjacent}+Y*{opposite})"


def _choose(found: _Candidates, shape: Shape) -> None:
    """Add the steps to "r" and "t": the first of the nearest candidates."""
    (d1, d2), errors = shape.lengths.tolist(), []
    squares, product = num(d1 * d1 + d2 * d2, 12), num(2.0 * d1 * d2, 12)
    for n, (r, t) in enumerate(found.poses):
        across = f"X*({num(d1)}*cos({r})+{num(d2)}*cos({r}+{t}))"
        along = f"Y*({num(d1)}*sin({r})+{num(d2)}*sin({r}+{t}))"
        square = f"X*X+Y*Y+{squares}+{product}*cos({t})-2*({across}+{along})"
        errors.append(found.step(f"e{n}", f"sqrt(max({square},0))"))
    found.step("m", f"min({','.join(errors)})+{num(_EQUALLY_NEAR * shape.reach)}")
    chosen = str(len(errors) - 1)
    for n in range(len(errors) - 2, -1, -1):
        chosen = f"{n} if e{n}<=m else {chosen}"
    found.step("k", chosen)
    for name, which in (("r", 0), ("t", 1)):
        text = found.poses[-1][which]
        for n in range(len(errors) - 2, -1, -1):
            text = f"{found.poses[n][which]} if k<{n}.5 else {text}"
        found.step(name, text)


def single(shape: Shape) -> NativePlan:
    """Return the plan for one bone, which points at its target, or at the nearer end of its limits."""
    aim, limits = f"atan2(y,x)-{num(shape.headings[0])}", shape.limits[0]
    turn = aim if np.isnan(limits).any() else clamped(aim, (limits[0], limits[1]))
    if shape.stretch is None:
        return NativePlan((), (turn,))
    even = replace(shape, stretch=replace(shape.stretch, last_only=False))
    return NativePlan((*softened(even), *evenly_stretched(even)), (turn,), ("k",))
