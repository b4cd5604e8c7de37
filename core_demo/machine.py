# SPDX-License-Identifier: GPL-3.0-or-later
"""The four-bar of the demo: its lengths, its crank's turn, and the place of its coupler that is dragged."""

import numpy as np
from ik2d_core import Mechanism, MechanismSolution, MechanismStatus
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GROUND = 3.0  # from the crank's pivot to the rocker's
# Lengths that it begins with, and those that they may have.
LENGTHS = {"crank": 1.0, "coupler": 2.5, "rocker": 2.0}
SHORTEST, LONGEST = 0.4, 3.6
DEAD = {"Stop": "STOP", "Ease": "EASE", "Go Through": "THROUGH"}
CURVE = 361  # places of the coupler's curve
# The crank's angles at rest that are tried, to find one at which the loop closes.
TRIED = np.radians(np.arange(90.0, 450.0, 5.0))
WORDS = {
    MechanismStatus.CLOSED: "Every loop is closed",
    MechanismStatus.EASED: "Closed; the crank eases into a dead point",
    MechanismStatus.HELD: "Held at a dead point",
    MechanismStatus.OPEN: "Open",
}


class DemoMachine:
    """A four-bar linkage: a crank that turns, a coupler with a place to drag, and a rocker. Radians."""

    def __init__(self) -> None:
        self.lengths = dict(LENGTHS)
        self.dead = "Stop"
        self.turned = 0.0
        self.result = ""
        self.set_length("crank", LENGTHS["crank"])

    def set_length(self, body: str, length: float) -> bool:
        """Give a body another length; return whether the loop closes anywhere. If not, the result says so."""
        before = self.lengths[body]
        self.lengths[body] = length
        for angle in TRIED:
            tip = self.lengths["crank"] * np.array([np.cos(angle), np.sin(angle)])
            top = self._top(tip)
            if top is not None:
                self._assemble(tip, top)
                return True
        self.lengths[body] = before
        self.result = f"A {body} of {length:.2f} closes no loop"
        return False

    def _top(self, tip: Floats) -> Floats | None:
        """Return the pin of coupler and rocker, above the line of their other pins; None without one."""
        way = np.array([GROUND, 0.0]) - tip
        far, coupler, rocker = float(np.hypot(*way)), self.lengths["coupler"], self.lengths["rocker"]
        along = (far**2 + coupler**2 - rocker**2) / (2.0 * far)
        square = coupler**2 - along**2
        if square < 0.01 * coupler**2:
            return None
        top: Floats = tip + (along * way + np.sqrt(square) * np.array([-way[1], way[0]])) / far
        return top

    def _assemble(self, tip: Floats, top: Floats) -> None:
        self.tip, self.top = tip, top
        self.place = (tip + top) / 2.0 + np.array([-0.2, 0.5])
        machine = Mechanism().pin(0, "crank", [0.0, 0.0]).pin("crank", "coupler", tip)
        machine = machine.pin("coupler", "rocker", top).pin("rocker", 0, [GROUND, 0.0])
        self.machine = machine.drive("crank")
        self.turn(self.turned)

    def set_dead(self, name: str) -> None:
        """Take another way with dead points."""
        self.dead = name
        self.turn(self.turned)

    def turn(self, angle: float) -> None:
        """Turn the crank to an angle from rest."""
        self.turned = angle
        self.pose = self.machine.solve({"crank": angle}, dead=DEAD[self.dead], ease=0.1)
        self.result = "; ".join(self.pose.remarks()) or WORDS[MechanismStatus(int(self.pose.status[0]))]

    def drag(self, x: float, y: float) -> None:
        """Bring the coupler's place as near to (x, y) as it gets."""
        found = self.machine.solve_target("coupler", self.place, [x, y])
        self.turn(float(found.drivers["crank"][0]))
        self.result = f"Dragged: {found.residual[0]:.3f} from the mouse"

    def joints(self) -> Floats:
        """Return the four pins (4, 2), from the crank's pivot to the rocker's."""
        crank = self.pose.places("crank", self.tip)[0]
        return np.array([[0.0, 0.0], crank, self.pose.places("coupler", self.top)[0], [GROUND, 0.0]])

    def coupler(self) -> Floats:
        """Return the coupler as a triangle (3, 2): its pins and the place to drag."""
        places = (self.tip, self.place, self.top)
        return np.array([self.pose.places("coupler", place)[0] for place in places])

    def curve(self) -> Floats:
        """Return the places of the coupler (CURVE, 2) over a turn of the crank."""
        return self._over_a_turn().places("coupler", self.place)

    def _over_a_turn(self) -> MechanismSolution:
        return self.machine.solve(
            {"crank": np.linspace(-np.pi, np.pi, CURVE)}, dead=DEAD[self.dead], ease=0.1
        )
