# SPDX-License-Identifier: GPL-3.0-or-later
"""Two bones in simple expressions: the triangle of core/triangle.py, with softness and stretch.

Driver values are floats of 32 bits. One of them is the gap between the tip and full reach ("g"), not the
tip's distance, which would lose the knee's angle of a nearly straight chain.
"""

import numpy as np

from .expressions import num
from .plan import NativePlan, Shape

# The least divisor, as a part of the reach.
TINY = 1e-6
# Bones are aimed again if their rest matrices are off by more than this part of the reach.
_STRAIGHT_ENOUGH = 2e-6
# Smaller terms of the error, as parts of the reach, are left out.
_NOTHING = 1e-9
DISTANCE = "sqrt(x*x+y*y)"
_LEAST = "min(max(compress,.01),1/max(compress,.01))"


def plan(shape: Shape) -> NativePlan:
    """Return the plan for two bones without limits.

    Turning over scales the knee's angle, see bake/solving/turn_over.py.
    """
    steps = [*softened(shape)]
    if shape.stretch is not None and shape.stretch.last_only:
        steps += _last_stretched(shape)
    else:
        steps += evenly_stretched(shape) if shape.stretch else []
        steps += _turned(shape)
    root, knee = ("r2", "t2") if any(name == "t2" for name, _ in steps) else ("r", "t")
    factors: tuple[str, ...] = ()
    if shape.stretch is not None:
        factors = ("", "k") if shape.stretch.last_only else ("k", "k")
    return NativePlan(tuple(steps), (root, f"{knee}-{num(shape.angles[1])}"), factors)


def softened(shape: Shape) -> list[tuple[str, str]]:
    """Return the steps to "g", the gap between the rigid chain's tip and full reach.

    As in core/softness.py and, for bones that may shorten, core/stretch.py.
    """
    outer, inner = shape.reach, _inner(shape)
    room, tiny = num(outer - inner), num(1e-9 * outer)
    steps = [("w", f"max(min(softness*{num(outer)},{room}),{tiny})")]
    far = f"max({num(outer)}-{DISTANCE},w*exp(-max({DISTANCE}-{num(outer)}+w,0)/w))"
    if shape.stretch is None:
        return [*steps, ("g", far)]
    steps.append(("f", far))
    if inner <= TINY * outer or (shape.stretch.last_only and shape.lengths[1] < shape.lengths[0]):
        return [*steps, ("g", f"clamp(f,0,{room})")]
    left = f"({room}-min(softness*{num(outer)},{room}))"
    steps.append(("z", f"max(min(softness*{num(outer)},{left})*(0 if compress==1 else 1),{tiny})"))
    steps.append(("n", f"z*exp(-max({num(inner)}+z-{DISTANCE},0)/z)"))
    return [*steps, ("g", f"clamp(min(f,{room}-n),0,{room})")]


def evenly_stretched(shape: Shape) -> list[tuple[str, str]]:
    """Return the step to "k", the factor of both bones."""
    reached = f"max({num(shape.reach)}-g,{num(TINY * shape.reach)})"
    return [("k", f"clamp({DISTANCE}/{reached},{_LEAST},max(stretch,1)) if {DISTANCE}>0 else 1")]


def _last_stretched(shape: Shape) -> list[tuple[str, str]]:
    """Return the steps to "k", the second bone's factor, to the knee "t" and to the root's turn "r"."""
    (d1, d2), outer = shape.lengths, shape.reach
    longer = f"1+({DISTANCE}-{num(outer)}+g)/{num(d2)}"
    least, reached = "1", f"{num(outer)}-g+(k-1)*{num(d2)}"
    if d2 >= d1 and _inner(shape) > TINY * outer:  # as long as the first bone it lets the tip go to the root
        least = f"max({_LEAST},{num(d1 / d2)})"
        reached = f"{DISTANCE} if k<{num((1.0 + TINY) * d1 / d2)} else {reached}"
    return [
        ("k", f"clamp({longer},{least},max(stretch,1))"),
        ("q", reached),
        ("l", f"k*{num(d2)}"),
        ("t", _knee(shape, f"({num(d1)}+l-q)*({num(d1)}+l+q)", f"(q-{num(d1)}+l)*(q+{num(d1)}-l)")),
        ("r", _aim(shape, "x", "y", "t", "l")),
    ]


def _turned(shape: Shape) -> list[tuple[str, str]]:
    """Return the steps to the knee "t" and the root's turn from rest "r"; aimed again "t2" and "r2"."""
    outer, inner = shape.reach, _inner(shape)
    above = f"g*({num(2.0 * outer)}-g)"
    below = f"({num(outer - inner)}-g)*({num(outer + inner)}-g)"
    steps = [("t", _knee(shape, above, below)), ("r", _aim(shape, "x", "y", "t"))]
    if shape.misses is None or np.abs(shape.misses).sum(axis=(1, 2)).max() <= _STRAIGHT_ENOUGH * outer:
        return steps
    # The target and its miss; of the squares, again, only terms that 32 bits can hold.
    share = f"({num(outer)}-g)/max({DISTANCE},{num(TINY * outer)})"
    in_reach = f"if {DISTANCE}>{num(inner)} and {DISTANCE}<{num(outer)} else 0"
    return [
        *steps,
        ("u", f"({_missed(shape, 0)}) {in_reach}"),
        ("v", f"({_missed(shape, 1)}) {in_reach}"),
        ("s", f"2*(x*u+y*v)*{share}+u*u+v*v"),
        ("t2", _knee(shape, f"{above}-s", f"{below}+s")),
        ("p", f"x*{share}+u"),
        ("q", f"y*{share}+v"),
        ("r2", _aim(shape, "p", "q", "t2")),
    ]


def _knee(shape: Shape, above: str, below: str) -> str:
    """Return the second angle, from the squared tip distance's gaps to its upper and lower bounds."""
    return f"{shape.side}*2*atan2(sqrt(max({above},0)),sqrt(max({below},0)))"


def _missed(shape: Shape, axis: int) -> str:
    """Return the tip's miss in x or y."""
    assert shape.misses is not None
    pairs = [(a, b) for a in ("", "*cos(r)", "*sin(r)") for b in ("", "*cos(t)", "*sin(t)")]
    values = zip(shape.misses[axis].ravel(), pairs, strict=True)
    terms = [f"{v:+.4g}{a}{b}" for v, (a, b) in values if abs(v) > _NOTHING * shape.reach]
    return "".join(terms) or "0"


def _aim(shape: Shape, x: str, y: str, knee: str, second: str = "") -> str:
    """Return the root's turn from rest that aims the tip at (x, y). second: its length's variable."""
    d1, d2 = num(shape.lengths[0]), second or num(shape.lengths[1])
    adjacent, opposite = f"({d1}+{d2}*cos({knee}))", f"{d2}*sin({knee})"
    aim = f"atan2({y}*{adjacent}-{x}*{opposite},{x}*{adjacent}+{y}*{opposite})"
    return f"{aim}-{num(shape.headings[0])}"


def _inner(shape: Shape) -> float:
    return max(0.0, 2.0 * float(shape.lengths.max()) - shape.reach)
