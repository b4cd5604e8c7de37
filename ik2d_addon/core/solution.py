# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a solver: angles, and how near they bring the tip to its target; and work in steps to one."""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .affine import Frames, Rows
from .chain import Chain, at_limits, tips_at
from .errors import IK2DError
from .inputs import Floats, brief

_Told = TypeVar("_Told")
_Mapped = TypeVar("_Mapped")
_Result = TypeVar("_Result")
# Yields the number of targets or frames done, or 0 within one of them, and returns a result.
Steps = Generator[int, None, _Result]
# Yields (frames done, frames in all) and returns a result.
CountedSteps = Generator[tuple[int, int], None, _Result]


class Status(IntEnum):
    """The result for one target. An int, so that arrays can hold it.

    >>> solution = solve_two_bone(Chain([1.0, 1.0]), [[1.0, 1.0], [3.0, 0.0]])
    >>> [Status(status).name for status in solution.status]
    ['REACHED', 'TOO_FAR']
    """

    REACHED = 0
    """The tip is within the tolerance of the target."""
    TOO_FAR = 1
    """The target lies outside the outer reach; the chain points at it, stretched."""
    TOO_CLOSE = 2
    """The target lies inside the inner reach; the chain is folded, its tip as near as it gets."""
    LIMITED = 3
    """The target lies within reach, but it is proven that the limits of the joints forbid it."""
    STALLED = 4
    """The target lies within reach, but the solver stopped before it."""
    EASED = 5
    """The target lies within reach, but softness leaves the tip behind it by more than the tolerance."""
    ANGLE = 6
    """The tip is on its target, the last bone at the nearest angle found to the one asked for."""


# As arrays hold them: to compare an array with an IntEnum takes six times as long.
_REACHED, _ANGLE = np.int8(Status.REACHED), np.int8(Status.ANGLE)
_EASED, _STALLED = np.int8(Status.EASED), np.int8(Status.STALLED)


@dataclass(frozen=True, eq=False)
class Solution(Frames):
    """A solver's answer to targets of shape (...) for a chain of n bones.

    >>> solution = solve_two_bone(Chain([1.0, 1.0]), [[1.0, 1.0], [3.0, 0.0]])
    >>> solution.reached, solution.residual.round(3)
    (array([ True, False]), array([0., 1.]))
    >>> np.degrees(solution.at(0).angles).round(1)
    array([ 0., 90.])
    """

    angles: Floats  # (..., n) radians, each relative to the bone before
    status: NDArray[np.int8]  # (...) Status
    residual: Floats  # (...) distance from tip to target, in the chain's units
    iterations: NDArray[np.int32]  # (...) sweeps over the chain; 0 where a formula gave the answer
    limited: NDArray[np.bool_]  # (..., n) joints that are at a limit
    slides: Floats  # (..., n) lengths that the bones add to their own; read-only zeros where they are rigid
    # (...) where a path of solve_even_path has another pose than solve_even, or one of solve_pose_path jumps
    # from the target before; None for all other solvers
    parted: NDArray[np.bool_] | None = None
    # (...) radians, 0 to pi, of the last bone off the angle asked for; None where none was
    angle_error: Floats | None = None
    # (...) where solve_pose found no pose with target and angle, though none is proven not to exist; None
    # where it is never in doubt
    unproven: NDArray[np.bool_] | None = None

    def at(self, rows: Rows | int) -> "Solution":
        """Return the solution of some of the targets, or of one; that for a single target is row 0 of one.

        rows: a number, a list of numbers, a mask or a slice, of the first dimension of the targets.
        Raises IK2DError for a row beyond the last one.

        >>> solve_two_bone(Chain([1.0, 1.0]), [3.0, 0.0]).at(0).residual.round(3)
        1.0
        """
        known_parts = ((field.name, getattr(self, field.name)) for field in fields(self))
        each = {name: values for name, values in known_parts if values is not None}
        if self.status.ndim == 0:
            each = {name: values[np.newaxis] for name, values in each.items()}
        try:
            count = len(each["status"])
            known = np.ndim(np.arange(count)[rows]) <= 1
        except (IndexError, TypeError, ValueError):
            known = False
        if not known or rows is None:
            raise IK2DError(f"choose rows of 0 to {count - 1}, by number, list or mask, not {brief(rows)}")
        return Solution(**{name: values[rows] for name, values in each.items()})

    @property
    def reached(self) -> NDArray[np.bool_]:
        """(...) True where the tip is on its target."""
        return is_reached(self.status)

    @property
    def arrived(self) -> NDArray[np.bool_]:
        """(...) True where the tip is where it was to be: on its target, or behind it by softness."""
        arrived: NDArray[np.bool_] = self.reached | (self.status == _EASED)
        return arrived

    def within(self, reached: NDArray[np.bool_]) -> "Solution":
        """Return the solution with the tip on its target where `reached` (...) says so."""
        gained = reached & ~self.reached
        return replace(self, status=np.where(gained, _REACHED, self.status)) if gained.any() else self

    def missing(self, missed: NDArray[np.bool_], softness: Floats) -> "Solution":
        """Return the solution with EASED or STALLED, by softness (...), where the tip is off after all."""
        missed = missed & self.reached
        if not missed.any():
            return self
        status = np.where(missed, np.where(softness > 0.0, _EASED, _STALLED), self.status)
        return replace(self, status=status)

    @classmethod
    def of_rows(
        cls,
        chain: Chain,
        shape: tuple[int, ...],
        angles: Floats,
        status: NDArray[np.int8],
        residual: Floats,
        iterations: NDArray[np.int32] | None = None,
        slides: Floats | None = None,
    ) -> "Solution":
        """Return a solution for targets of a shape, from rows for all m of them.

        angles, slides: (m, n), None for bones that are rigid; the others (m,), no iterations for a formula's.
        """
        whole = (*shape, len(chain))
        return cls(
            angles=angles.reshape(whole),
            status=status.reshape(shape),
            residual=residual.reshape(shape),
            iterations=_none(shape, np.int32) if iterations is None else iterations.reshape(shape),
            limited=at_limits(chain, angles).reshape(whole),
            slides=_none(whole, np.float64) if slides is None else slides.reshape(whole),
        )


def _none(shape: tuple[int, ...], kind: type) -> NDArray[Any]:
    """Return a read-only array of zeros that takes no memory, however many."""
    return np.broadcast_to(np.zeros((), kind), shape)


def is_reached(status: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return which statuses (...) have the tip on its target: REACHED, and ANGLE."""
    reached: NDArray[np.bool_] = (status == _REACHED) | (status == _ANGLE)
    return reached


def distances_to(chain: Chain, angles: Floats, targets: Floats, slides: Floats | None = None) -> Floats:
    """Return the distances (...) from the tip to the targets (..., 2)."""
    offset = tips_at(chain, angles, slides) - targets
    return np.hypot(offset[..., 0], offset[..., 1])


def annulus_status(chain: Chain, targets: Floats, tolerance: float) -> NDArray[np.int8]:
    """Return TOO_FAR or TOO_CLOSE for targets (..., 2) off the annulus by more than `tolerance`.

    All others are REACHED: for a chain whose joints turn freely, some pose reaches them.
    """
    return reach_status(chain.reach, np.hypot(targets[..., 0], targets[..., 1]), tolerance)


def reach_status(reach: tuple[float, float], distance: Floats, tolerance: float) -> NDArray[np.int8]:
    """Return TOO_FAR or TOO_CLOSE for distances (...) out of a reach (inner, outer), else REACHED."""
    inner, outer = reach
    status = np.full(distance.shape, Status.REACHED, np.int8)
    status[distance > outer + tolerance] = Status.TOO_FAR
    status[distance < inner - tolerance] = Status.TOO_CLOSE
    return status


def eased_status(
    status: NDArray[np.int8], residual: Floats, softness: Floats, tolerance: Floats | float
) -> NDArray[np.int8]:
    """Return status (m,) with EASED where softness (m,) leaves the tip behind a target within reach."""
    eased: NDArray[np.int8] = status.copy()
    eased[(status == Status.REACHED) & (softness > 0.0) & (residual > tolerance)] = Status.EASED
    return eased


def drained(steps: Generator[_Told, None, _Result], tell: Callable[[_Told], object] | None = None) -> _Result:
    """Return the result of steps, run to their end. tell: called with what each step yields."""
    while True:
        try:
            told = next(steps)
        except StopIteration as end:
            result: _Result = end.value
            return result
        if tell is not None:
            tell(told)


def mapped(
    steps: Generator[_Told, None, _Result], change: Callable[[_Told], _Mapped]
) -> Generator[_Mapped, None, _Result]:
    """Return the steps with the same result, which yield change(told) for what each step yields.

    Closed before their end, they close the steps at once, so that what these undo is undone before the rest.
    """
    with closing(steps):
        while True:
            try:
                told = next(steps)
            except StopIteration as end:
                result: _Result = end.value
                return result
            yield change(told)
