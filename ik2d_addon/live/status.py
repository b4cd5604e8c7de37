# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a live chain."""

from collections.abc import Callable
from dataclasses import dataclass

from ..bake.report import length_text
from ..core import Status

MEMORY = (
    "goes on from the frame before, so it cannot be live: a frame would depend on how one got there; set"
    " Start From to Rest Pose, or bake it"
)
NATIVE = "is native: its own drivers bring it to its target already; turn Live off, or press Remove Native"
# A shorter length, in meters, is not said.
SMALLEST = 5e-7
_MISSED = {
    Status.TOO_FAR: "Target too far: {} short of it",
    Status.TOO_CLOSE: "Target too close: {} off it",
    Status.LIMITED: "Limits keep it {} off its target",
    Status.STALLED: "Stops {} off its target",
}


@dataclass(frozen=True)
class Outcome:
    """Outcome of a live chain on a frame; lengths are calculated on request."""

    status: int  # Status
    measured: Callable[[tuple[float, float, bool]], tuple[float, float]]
    # Tip to target in the plane, and along its normal; whether the tip eases in on purpose.
    measures: tuple[float, float, bool]

    @property
    def reached(self) -> bool:
        """Whether the target could be reached, in the chain's plane."""
        return self.status in (Status.REACHED, Status.EASED)

    def lengths(self) -> tuple[float, float]:
        """Return the distances from tip to target, in the plane and along its normal, in the world."""
        return self.measured(self.measures)

    def sentence(self, unit_system: str) -> str:
        """Return the outcome in words: "Target too far: 0.12 m short of it"."""
        in_plane, height = self.lengths()
        if not self.reached:
            return _MISSED[Status(self.status)].format(length_text(in_plane, unit_system))
        if self.measures[2] and in_plane > 0.0:
            return f"Eases in {length_text(in_plane, unit_system)} before its target"
        if height >= SMALLEST:
            return f"Target {length_text(height, unit_system)} off the chain's plane"
        return "On its target"
