# SPDX-License-Identifier: GPL-3.0-or-later
"""Simple expressions as text, which Blender's drivers evaluate without Python.

They have arithmetic without powers, comparisons, `a if b else c` and the functions in WORDS. A driver that
divides by zero, or takes the root of a negative number, never works again: such arguments are clamped.
"""

import re
from contextlib import suppress
from io import StringIO
from tokenize import COMMENT, TokenError, generate_tokens

import numpy as np

from ...core.affine import crosses
from ...core.inputs import Floats
from ...core.words import refusal
from ...rig.chain.joints import EXACT

# Blender cuts longer expressions silently.
LONGEST = 255
# The words in an expression that are not variables.
WORDS = set(
    "and or not if else True False pi frame radians degrees abs fabs floor ceil trunc round int sin cos tan"
    " asin acos atan atan2 exp log sqrt pow fmod lerp clamp smoothstep min max".split()
)
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
# An Euler angle near gimbal lock is off by the root of its entries' error: these get all digits.
_ALL_DIGITS = 15
_NOTHING = 1e-16


def num(value: float, digits: int = 10) -> str:
    """Return a number as text, a negative one in brackets, so that a sign may come before it."""
    text = f"{float(value):.{digits}g}"
    return f"({text})" if text.startswith("-") else text


def names_in(expression: str) -> list[str]:
    """Return the variables of an expression, each once."""
    return [name for name in dict.fromkeys(_NAME.findall(expression)) if name not in WORDS]


def checked(expression: str) -> str:
    """Return the expression; raise IK2DError for one that is too long for a driver."""
    if len(expression) > LONGEST:
        raise refusal(
            "a driver would need {count} characters, more than the {most} that it takes",
            count=len(expression),
            most=LONGEST,
        )
    return expression


def without_comments(expression: str) -> str:
    """Return an expression of Python's without its comments, which would swallow what is put after them."""
    lines = expression.splitlines()
    with suppress(TokenError, SyntaxError):  # of what is no Python
        for token in generate_tokens(StringIO(expression).readline):
            if token.type == COMMENT:
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column].rstrip()
    return "\n".join(lines)


def euler_angles(axis: Floats, turn: str) -> tuple[str, str, str]:
    """Return expressions of the XYZ Euler angles of a turn about a local axis (3,); "" for angles of 0.

    turn: the variable of the turn. An angle is the arc tangent of two entries of the rotation matrix.
    """
    near = int(np.argmax(np.abs(axis)))
    if np.linalg.norm(np.delete(axis, near)) <= EXACT:
        angles = ["", "", ""]
        angles[near] = turn if axis[near] > 0.0 else f"-{turn}"
        return angles[0], angles[1], angles[2]
    parts, factors = turn_parts(axis), ("", f"*cos({turn})", f"*sin({turn})")

    def entry(row: int, column: int, sign: float = 1.0) -> str:
        terms = ((sign * matrix[row, column], factor) for matrix, factor in zip(parts, factors, strict=True))
        return "+".join(f"{num(v, _ALL_DIGITS)}{of}" for v, of in terms if abs(v) > _NOTHING) or "0"

    return (
        checked(f"atan2({entry(2, 1)},{entry(2, 2)})"),
        checked(f"asin(clamp({entry(2, 0, -1.0)},-1,1))"),
        checked(f"atan2({entry(1, 0)},{entry(0, 0)})"),
    )


def turn_parts(axis: Floats) -> tuple[Floats, Floats, Floats]:
    """Return P, Q and S (3, 3) of a turn a about an axis (3,): R = P + Q cos a + S sin a."""
    along = np.outer(axis, axis)
    return along, np.eye(3) - along, crosses(axis)
