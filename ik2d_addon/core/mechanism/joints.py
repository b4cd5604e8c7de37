# SPDX-License-Identifier: GPL-3.0-or-later
"""The data of a mechanism: bodies, joints between two of them, and drivers."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import IK2DError
from ..inputs import LONGEST, brief, floats_within

Body: TypeAlias = str | int  # a name; 0 is the ground
Points: TypeAlias = NDArray[np.complex128]
GROUND = 0
MOST_BODIES = 500
# Lengths are parts of the size. A triangle is flat, and a rest pose dead, below this sine of its knee.
FLAT = 1e-5
# A joint that is open by no more is closed: single precision, in which Blender stores bones, is not finer.
CLOSED = 1e-6


class Kind(Enum):
    """What a joint keeps: GUIDE is a slide that keeps its angle."""

    PIN = auto()
    SLIDE = auto()
    GUIDE = auto()
    GEAR = auto()
    RAM = auto()


@dataclass(frozen=True)
class Joint:
    """A joint of bodies a and b, by their numbers, with its places on each in the rest pose."""

    kind: Kind
    a: int
    b: int
    at_a: complex = 0j
    at_b: complex = 0j
    along: complex = 1.0 + 0j  # the direction of a slide, of length 1
    ratio: float = 1.0  # turns of b for one of a
    name: str = ""  # of a ram

    def other(self, body: int) -> int:
        """Return the body at the other end."""
        return self.b if body == self.a else self.a

    def end(self, body: int) -> complex:
        """Return the joint's place on one of its bodies."""
        return self.at_a if body == self.a else self.at_b

    @property
    def rest_length(self) -> float:
        """The distance of both places at rest: of a ram its length."""
        return abs(self.at_b - self.at_a)


@dataclass(frozen=True)
class Driver:
    """What is given: the turn of a body against another, or a ram's length."""

    name: Body
    body: int = 0
    against: int = 0
    ram: int = -1  # the number of its joint

    @property
    def is_ram(self) -> bool:
        """Whether it is a length."""
        return self.ram >= 0


def ends_of(driver: Driver, joints: Sequence[Joint]) -> tuple[int, int]:
    """Return the two bodies that a driver moves against one another."""
    if driver.is_ram:
        return joints[driver.ram].a, joints[driver.ram].b
    return driver.body, driver.against


def checked_body(body: object) -> Body:
    """Return a body's name or number; raise IK2DError for anything else."""
    if isinstance(body, (str, int)) and not isinstance(body, bool):
        return body
    raise IK2DError(f"a body must be a name or a whole number, not {brief(body)}")


def point(place: ArrayLike, name: str) -> complex:
    """Return a place (x, y) as a complex number; raise IK2DError for anything else."""
    pair = floats_within(place, name, LONGEST)
    if pair.shape != (2,):
        raise IK2DError(f"{name} must be two numbers, x and y, not {brief(place)}")
    return complex(pair[0], pair[1])


def pairs(points: Points) -> NDArray[np.float64]:
    """Return complex numbers (...) as pairs (..., 2)."""
    return np.stack((points.real, points.imag), axis=-1)
