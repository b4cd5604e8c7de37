# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine of ten links, a crank and four triangles in a row, next to pylinkage and to two-bone solves.

pylinkage (MIT) is there with the group `bench`; without it what needs it is left out.
"""

from collections.abc import Iterator

import numpy as np

from ik2d_addon.core import Chain, Mechanism, solve_two_bone

from .timing import Task

# So often what takes less than a millisecond is done to be measured.
FRAMES, TIMES = 1000, 10
CRANK = 1.0
# Of each triangle: its pivot on the ground, and its two links.
TRIANGLES = ((3.0, 2.5, 2.0), (6.5, 3.2, 2.4), (10.0, 3.4, 2.6), (14.0, 3.9, 2.8))


def joints() -> Iterator[tuple[complex, complex, float, float]]:
    """Yield each triangle's pivot, its top, and the lengths of its two links, with the crank upwards."""
    start = complex(0.0, CRANK)
    for place, first, second in TRIANGLES:
        pivot = complex(place)
        way = pivot - start
        along = (abs(way) ** 2 + first**2 - second**2) / (2.0 * abs(way))
        start += way / abs(way) * complex(along, np.sqrt(first**2 - along**2))
        yield pivot, start, first, second


def ten_links() -> Mechanism:
    """Return the machine: its ground, crank, and two links of each triangle."""
    machine = Mechanism().pin(0, "crank", [0.0, 0.0]).drive("crank")
    before, at = "crank", complex(0.0, CRANK)
    for count, (pivot, top, _, _) in enumerate(joints()):
        rod, rocker = f"rod{count}", f"rocker{count}"
        machine = machine.pin(before, rod, [at.real, at.imag]).pin(rod, rocker, [top.real, top.imag])
        machine = machine.pin(rocker, 0, [pivot.real, pivot.imag])
        before, at = rocker, top
    return machine


def ours() -> Task:
    """Return a solve of one turn of the crank."""
    machine, angles = ten_links(), np.arange(1, FRAMES + 1) * (2.0 * np.pi / FRAMES)
    return lambda: machine.solve({"crank": angles})


def places() -> np.ndarray:
    """Return the last triangle's top on the frames of `ours` (FRAMES, 2)."""
    machine, (*_, last) = ten_links(), joints()
    angles = np.arange(1, FRAMES + 1) * (2.0 * np.pi / FRAMES)
    return machine.solve({"crank": angles}).places("rocker3", [last[1].real, last[1].imag])


def pylinkage() -> Task | None:
    """Return the same turn by pylinkage, whose task returns the last triangle's top; None without it."""
    try:
        from pylinkage.actuators import Crank
        from pylinkage.components import Ground
        from pylinkage.dyads import RRRDyad
        from pylinkage.simulation import Linkage
    except ImportError:
        return None

    def turn() -> np.ndarray:
        step = 2.0 * np.pi / FRAMES
        crank = Crank(anchor=Ground(0.0, 0.0), radius=CRANK, angular_velocity=step, initial_angle=np.pi / 2.0)
        parts, anchor = [crank.anchor, crank], crank.output
        for pivot, top, first, second in joints():
            ground = Ground(pivot.real, pivot.imag)
            anchor = RRRDyad(
                anchor1=anchor, anchor2=ground, distance1=first, distance2=second, x=top.real, y=top.imag
            )
            parts += [ground, anchor]
        return np.array([row[-1] for row in Linkage(parts).step(iterations=FRAMES)])

    return turn


def against_pylinkage() -> tuple[Task, Task] | None:
    """Return a turn of ten links by either side; None without pylinkage."""
    turn, theirs = ours(), pylinkage()
    return None if theirs is None else (_often(turn), _often(theirs))


def against_two_bones() -> tuple[Task, Task]:
    """Return a turn of ten links, and as many frames of two bones by rows."""
    arm, rng = Chain([1.0, 0.8]), np.random.default_rng(0)
    angles, far = rng.uniform(0.0, 2.0 * np.pi, FRAMES), rng.uniform(0.3, 1.7, FRAMES)
    targets = np.stack((far * np.cos(angles), far * np.sin(angles)), axis=1)
    return _often(ours()), _often(lambda: solve_two_bone(arm, targets))


def _often(task: Task) -> Task:
    return lambda: [task() for _ in range(TIMES)]
