# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls of every public function of the solvers, and values that none of their arguments expects."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ik2d_addon.core import (
    Chain,
    Mechanism,
    Plane,
    Region,
    Stretch,
    ccd_slide_step,
    ccd_step,
    ccd_steps,
    forward,
    jacobian,
    path_steps,
    posture_of,
    reachable,
    solve_arc,
    solve_ccd,
    solve_ccd_path,
    solve_even,
    solve_even_path,
    solve_pose,
    solve_pose_path,
    solve_two_bone,
    stretched,
    stretched_status,
)
from ik2d_addon.core.ccd.step import ccd_joint
from ik2d_addon.core.contacts import find_contacts, held
from ik2d_addon.core.pops import pop_bands

CHAIN = Chain([1.0, 0.8])
LIMITED = Chain([1.0, 0.8, 0.5], limits=[[-1.0, 1.0]] * 3, weights=[1.0, 0.0, 0.5])
SLIDING = Chain([1.0, 0.8], slides=[[0.0, 0.0], [-0.3, 0.5]])
REGION = reachable(LIMITED, np.zeros(3))
SLID_REGION = reachable(SLIDING)
SOLUTION = solve_arc(CHAIN, [[1.0, 0.5], [0.3, 0.2]])
PLANE = Plane.fit([[0, 0, 2], [0, -0.1, 1], [0, 0, 0]], [1, 0, 0])
JOINTS = [[0.0, 0.0, 2.0], [0.0, -0.1, 1.0], [0.0, 0.0, 0.0]]
STEPS = {
    "places": [[[0.0, 0, 0], [0, 1, 0]], [[0, 0, 0], [1, 1, 1]], [[0, 0, 0], [2, 1, 0]]],
    "times": [0.0, 0.1, 0.2],
    "up": [0.0, 0.0, 1.0],
    "ground": [0.0, 0.1, 0.2],
    "ground_velocity": [0.1, 0.0, 0.0],
    "loop": True,
}
FOUR_BAR = Mechanism().pin(0, "crank", [0, 0]).pin("crank", "rod", [0, 1]).pin("rod", "arm", [2, 2])
FOUR_BAR = FOUR_BAR.pin("arm", 0, [3, 0]).drive("crank")
ENGINE = Mechanism().pin(0, "crank", [0, 0]).pin("crank", "rod", [1, 0]).pin("rod", "piston", [4, 0.2])
POSED = FOUR_BAR.solve({"crank": [0.0, 1.0]})
TARGETS, ZEROS = [[1.0, 0.5], [0.3, 0.2]], [0.0, 0.0]
REGION_PARTS = {name: getattr(REGION, name) for name in ("sets", "scale", "low", "high", "least", "most")}

# Each function with good arguments by their names, all of which are replaced in turn.
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Chain": (
        Chain,
        {"lengths": [1.0, 0.8], "limits": [[-1, 1], [0, 2]], "weights": [1, 0.5], "slides": [[0, 1], [0, 0]]},
    ),
    "tolerance": (CHAIN.tolerance_or_default, {"tolerance": 0.1}),
    "forward": (forward, {"chain": SLIDING, "angles": ZEROS, "slides": ZEROS}),
    "jacobian": (jacobian, {"chain": SLIDING, "angles": ZEROS, "slides": ZEROS, "orientation": True}),
    "solve_two_bone": (
        solve_two_bone,
        {"chain": CHAIN, "target": TARGETS, "bend": 1, "start": ZEROS, "tolerance": 0.01, "softness": 0.1},
    ),
    "solve_arc": (
        solve_arc,
        {"chain": CHAIN, "target": TARGETS, "bend": 1, "tolerance": 0.01, "softness": 0.1},
    ),
    "solve_pose": (
        solve_pose,
        {
            "chain": CHAIN,
            "target": TARGETS,
            "angle": 0.5,
            "bend": 1,
            "rest": ZEROS,
            "root_weight": 0.5,
            "tolerance": 0.01,
            "softness": 0.1,
        },
    ),
    "solve_pose_path": (
        solve_pose_path,
        {
            "chain": CHAIN,
            "targets": TARGETS,
            "angles": 0.5,
            "start": [0.1] * len(ZEROS),
            "bend": 1,
            "rest": ZEROS,
            "root_weight": 0.5,
            "tolerance": 0.01,
            "softness": 0.1,
        },
    ),
    "solve_even": (
        solve_even,
        {
            "chain": CHAIN,
            "target": TARGETS,
            "bend": 1,
            "rest": ZEROS,
            "root_weight": 0.5,
            "tolerance": 0.01,
            "softness": 0.1,
            "slide_weight": 1.0,
        },
    ),
    "solve_even with slides": (
        solve_even,
        {"chain": SLIDING, "target": TARGETS, "rest": ZEROS, "root_weight": None, "slide_weight": 1.0},
    ),
    "solve_even_path": (
        solve_even_path,
        {
            "chain": LIMITED,
            "targets": TARGETS,
            "start": [0.1] * 3,
            "start_slides": [0.0] * 3,
            "bend": 1,
            "rest": [0.0] * 3,
            "root_weight": 0.5,
            "tolerance": 0.01,
            "softness": 0.1,
            "slide_weight": 1.0,
        },
    ),
    **{
        f"{solve.__name__} {'with' if start_slides else 'without'} slides": (
            solve,
            {
                "chain": SLIDING if start_slides else LIMITED,
                ("targets" if solve is solve_ccd_path else "target"): TARGETS,
                "start": [0.1] * (2 if start_slides else 3),
                "start_slides": start_slides,
                "tolerance": 0.01,
                "max_iterations": 20,
                "bend": 1,
                "softness": 0.1,
                **({"rest": None, "posture_gain": 10.0} if solve is solve_ccd_path else {}),
            },
        )
        for solve in (solve_ccd, solve_ccd_path)
        for start_slides in (None, ZEROS)
    },
    "ccd_steps": (
        lambda **given: list(ccd_steps(**given)),
        {"chain": CHAIN, "target": TARGETS, "start": ZEROS, "max_iterations": 9, "bend": 1, "softness": 0.0},
    ),
    "path_steps": (
        lambda **given: list(path_steps(**given)),
        {"chain": CHAIN, "targets": TARGETS, "start": ZEROS, "posture": posture_of(CHAIN), "bend": 1},
    ),
    "posture_of": (posture_of, {"chain": CHAIN, "rest": ZEROS, "gain": 10.0}),
    "ccd_step": (ccd_step, {"chain": CHAIN, "angles": ZEROS, "target": [1, 1], "tolerance": 0.1}),
    "ccd_slide_step": (
        ccd_slide_step,
        {"chain": SLIDING, "angles": ZEROS, "slides": ZEROS, "target": [1.0, 1.0], "tolerance": 0.1},
    ),
    "ccd_joint": (ccd_joint, {"chain": CHAIN, "angles": ZEROS, "target": [1.0, 1.0], "joint": 1}),
    "pop_bands": (pop_bands, {"chain": CHAIN, "softness": 0.1, "most": 5.0}),
    "find_contacts": (find_contacts, {**STEPS, "size": 1.0}),
    "held": (held, {**STEPS, "contacts": [[True, False], [True, True], [False, True]]}),
    "reachable": (reachable, {"chain": LIMITED, "angles": [0.0] * 3}),
    "Region": (Region, REGION_PARTS),
    "contains": (REGION.contains, {"points": TARGETS}),
    "nearest": (REGION.nearest, {"points": TARGETS}),
    "poses": (REGION.poses, {"points": TARGETS, "near": [0.0] * 3}),
    "slid_poses": (SLID_REGION.slid_poses, {"points": TARGETS, "near": ZEROS, "near_slides": ZEROS}),
    "at": (SOLUTION.at, {"rows": [0, 1]}),
    "at of one": (SOLUTION.at(1).at, {"rows": 0}),
    "Stretch": (Stretch, {"most": 1.5, "least": 0.8, "last_only": True}),
    "reach": (Stretch(1.5, 0.5).reach, {"chain": CHAIN}),
    "stretched": (
        stretched,
        {"chain": CHAIN, "distance": [0.1, 2.5], "softness": 0.1, "stretch": Stretch(1.5)},
    ),
    "stretched_status": (
        stretched_status,
        {"chain": CHAIN, "distance": [0.1, 2.5], "stretch": Stretch(1.5), "tolerance": 0.1},
    ),
    "Plane": (
        Plane,
        {"origin": [0.0] * 3, "x": [1.0, 0.0, 0.0], "y": [0.0, 1.0, 0.0], "normal": [0.0, 0.0, 1.0]},
    ),
    "fit": (Plane.fit, {"points": JOINTS, "straight_normal": [1.0, 0.0, 0.0]}),
    "fit a straight chain": (Plane.fit, {"points": JOINTS[::2], "straight_normal": [1.0, 0.0, 0.0]}),
    "of_bend": (Plane.of_bend, {"points": JOINTS}),
    "turning_about": (Plane.turning_about, {"points": JOINTS, "axis": [1.0, 0.0, 0.0]}),
    "is_straight": (Plane.is_straight, {"points": JOINTS}),
    "facing": (Plane.facing, {"points": JOINTS, "normal": [1.0, 0.0, 0.0], "along": [0.0, 0.0, 1.0]}),
    "project": (PLANE.project, {"points": JOINTS}),
    "lift": (PLANE.lift, {"points": TARGETS}),
    "distance": (PLANE.distance, {"points": JOINTS}),
    "pin": (FOUR_BAR.pin, {"a": "arm", "b": "hand", "place": [3.0, 2.0], "place_b": [3.0, 2.1]}),
    "slide": (
        ENGINE.slide,
        {"a": 0, "b": "piston", "place": [4, 0.2], "direction": [1, 0], "keeps_angle": True},
    ),
    "gear": (FOUR_BAR.gear, {"a": "crank", "b": "wheel", "ratio": -2.0}),
    "ram": (FOUR_BAR.ram, {"a": 0, "place_a": [3, 0], "b": "rod", "place_b": [1, 2], "name": "ram"}),
    "drive": (ENGINE.drive, {"what": "crank", "against": 0}),
    "other_side": (FOUR_BAR.other_side, {"body": "arm"}),
    "solve": (
        lambda crank, dead, ease: FOUR_BAR.solve({"crank": crank}, dead=dead, ease=ease),
        {"crank": [0.0, 1.0], "dead": "EASE", "ease": 0.1},
    ),
    "solve drivers": (FOUR_BAR.solve, {"drivers": {"crank": [0.0, 1.0]}}),
    "solve_target": (
        FOUR_BAR.solve_target,
        {"body": "rod", "place": [1.0, 2.0], "target": TARGETS, "drivers": {}, "goes_on": True},
    ),
    "feasible": (
        FOUR_BAR.feasible,
        {"driver": "crank", "least": -1.0, "greatest": 1.0, "others": {}},
    ),
    "places": (POSED.places, {"body": "rod", "place": [1.0, 2.0]}),
    "turn of a body": (POSED.turn, {"body": "rod", "against": "crank"}),
}

NUMBERS = (
    *(0, 1, -1, 2, 1.5, -0.5, 1e-310, 5e-324, 1e-290, 1e-9, 1e6, 1e70, 1e160, 1e300, 1.7e308, -1e308),
    *(np.nan, np.inf, -np.inf, 10**20, 10**400, -(10**5000), Fraction(1, 3), np.float32(0.5), np.int8(-3)),
    *(1j, np.complex64(2.0), True, False, np.bool_(True), None, "", "x", "1", b"1", np.longdouble("1e4000")),
)
THINGS = (
    *(object(), {}, {"a": 1}, set(), range(2), slice(None), print, Chain, CHAIN, LIMITED, SLIDING, PLANE),
    *(
        np.array(None),
        np.zeros(0),
        np.zeros((2, 0)),
        np.zeros((0, 2)),
        np.zeros((1, 1, 1, 2)),
        np.zeros((3, 3)),
    ),
    *([[1.0], [1.0, 2.0]], [[]], [], (), [1, "x"], [None, None], [None, 1.0], [1j, 0], [True, False]),
    *(np.array([1.0, None], object), np.array([[1], [1, 2]], object), np.array(["1", "2"])),
    *(np.array(["2020-01-01"], "M8[D]"), np.array([(1, 2.0)], "i4,f8"), [10**400, 0], [1e300, 1e300]),
    *([1, 1, 1], [[1, 1, 1]], [[-90.0, 90.0]] * 2, [[-1e9, 1e9]] * 2, np.ones((5, 2)), np.ones((7, 3))),
)


def nonsense(rng: np.random.Generator) -> Any:
    """Return any value: a number, a thing, or numbers in a list or an array of any shape."""
    kind = rng.integers(4)
    if kind == 0:
        return THINGS[rng.integers(len(THINGS))]
    if kind == 1:
        return NUMBERS[rng.integers(len(NUMBERS))]
    some = [NUMBERS[i] for i in rng.integers(len(NUMBERS), size=rng.integers(1, 5))]
    return some if kind == 2 else [some, some]


def numbers_in(result: Any) -> list[np.ndarray]:
    """Return all arrays of floats in a result, whatever holds them; limits may be infinite."""
    if isinstance(result, (list, tuple)):
        return [array for part in result for array in numbers_in(part)]
    if isinstance(result, (np.ndarray, float)):
        return [np.asarray(result)] if np.asarray(result).dtype.kind == "f" else []
    if hasattr(result, "__dataclass_fields__") and not isinstance(result, (Chain, Region)):
        return [array for name in result.__dataclass_fields__ for array in numbers_in(getattr(result, name))]
    return []
