# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay draws, as plain numbers."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ik2d_addon.core import Chain, solve_two_bone
from ik2d_addon.core.chain import forward
from ik2d_addon.features.overlay import shapes

ROOT = Path(__file__).resolve().parents[2]


def area(triangles) -> float:
    """Return the area of flat triangles (m, 3, 2)."""
    first, second = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    return float(0.5 * np.abs(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]).sum())


@pytest.mark.parametrize("name", ["shapes", "colors"])
def test_shapes_and_colours_need_no_blender(name) -> None:
    path = ROOT / "ik2d_addon" / "features" / "overlay" / f"{name}.py"
    code = f"import runpy, sys; sys.modules['bpy'] = sys.modules['gpu'] = None; runpy.run_path({str(path)!r})"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_circle_is_round_to_two_thousandths() -> None:
    points = shapes.arc(3.0)
    assert np.hypot(*points.T) == pytest.approx(3.0)
    assert np.hypot(*shapes.pieces(points).mean(axis=1).T).min() > 3.0 * 0.998
    assert points[0] == pytest.approx(points[-1])


@pytest.mark.parametrize("radius", [0.013, 1.0, 2.6, 4700.0])
def test_the_grid_keeps_to_its_disc_and_has_a_line_through_the_root(radius) -> None:
    lines = shapes.grid(radius)
    assert np.hypot(lines[..., 0], lines[..., 1]) == pytest.approx(radius)
    assert 10 <= len(lines) <= 40
    assert (np.abs(lines[:, :, 0]).max(axis=1) < 1e-9 * radius).sum() == 1


def test_a_chain_without_size_has_no_grid() -> None:
    assert shapes.grid(0.0).shape == (0, 2, 2)


@pytest.mark.parametrize(("length", "step"), [(0.23, 0.2), (0.9, 1.0), (3.6, 5.0), (600.0, 500.0)])
def test_steps_are_round(length, step) -> None:
    assert shapes.round_step(length) == pytest.approx(step)


def test_a_fan_covers_its_range() -> None:
    centre = np.array((1.0, 2.0))
    triangles, outline = shapes.fan(centre, 2.0, 0.5, 2.0)
    assert area(triangles) == pytest.approx(0.5 * 1.5 * 2.0**2, rel=1e-2)
    assert outline[0, 0] == pytest.approx(centre) and outline[-1, 1] == pytest.approx(centre)


def test_a_range_of_more_than_a_turn_is_a_disc_without_edges() -> None:
    triangles, outline = shapes.fan(np.zeros(2), 1.0, -4.0, 9.0)
    assert area(triangles) == pytest.approx(math.pi, rel=1e-2)
    assert np.hypot(outline[..., 0], outline[..., 1]) == pytest.approx(1.0)


def test_a_band_is_filled_and_hatched_between_its_distances() -> None:
    triangles, strokes = shapes.band(2.0, 3.0)
    assert area(triangles) == pytest.approx(math.pi * 5.0, rel=1e-2)
    assert np.hypot(*strokes[:, 0].T) == pytest.approx(2.0)
    assert np.hypot(*strokes[:, 1].T) == pytest.approx(3.0)


def test_a_band_from_the_origin_has_strokes_that_are_told_apart() -> None:
    triangles, strokes = shapes.band(0.0, 0.1)
    assert area(triangles) == pytest.approx(math.pi * 0.01, rel=1e-2)
    ends = strokes[:, 1]
    assert np.hypot(*ends.T) == pytest.approx(0.1)
    assert np.hypot(*np.diff(ends, axis=0).T).min() > 0.03


def test_a_needle_that_is_stopped_has_a_bar() -> None:
    free, stopped = (shapes.needle(np.zeros(2), 1.0, 0.3, stop) for stop in (False, True))
    assert (len(free), len(stopped)) == (1, 2)
    bar = stopped[1, 1] - stopped[1, 0]
    assert bar @ free[0, 1] == pytest.approx(0.0)


@pytest.mark.parametrize("ends", [((0, 0), (1, 0)), ((0, 0, 0), (0, 3, 4)), ((1, 1), (1, 1))])
def test_a_dashed_line_begins_and_ends_with_a_dash(ends) -> None:
    start, end = np.array(ends, float)
    dashes = shapes.dashes(start, end, 0.1)
    assert dashes[0, 0] == pytest.approx(start) and dashes[-1, 1] == pytest.approx(end)
    drawn = np.linalg.norm(dashes[:, 1] - dashes[:, 0], axis=1).sum()
    assert drawn <= 0.75 * np.linalg.norm(end - start) + 1e-12 or len(dashes) == 1


def test_a_line_to_the_end_of_the_world_has_few_dashes() -> None:
    assert len(shapes.dashes(np.zeros(3), np.array((1e9, 0, 0)), 0.1)) <= 60


def test_ticks_stand_across_the_line_and_in_the_plane() -> None:
    points = np.array([(0, 0, 0), (1, 0, 0), (2, 1, 0)], float)
    ticks = shapes.ticks(points, np.array((0.0, 0.0, 1.0)), 0.25)
    ways = ticks[:, 1] - ticks[:, 0]
    assert np.linalg.norm(ways, axis=1) == pytest.approx(0.5)
    assert ways[0] @ (points[1] - points[0]) == pytest.approx(0.0)
    assert ways[:, 2] == pytest.approx(0.0)


@pytest.mark.parametrize("points", [np.zeros((1, 3)), np.ones((4, 3))])
def test_a_target_that_stands_still_has_no_ticks(points) -> None:
    ticks = shapes.ticks(points, np.array((0.0, 0.0, 1.0)), 0.25)
    assert (ticks[:, 0] == ticks[:, 1]).all()


@pytest.mark.parametrize("bend", [1, -1])
@pytest.mark.parametrize("target", [(1.2, 0.3), (-0.4, 1.5), (0.1, -1.9)])
def test_the_arrow_points_to_the_side_that_the_solver_bends_to(bend, target) -> None:
    chain = Chain([1.0, 1.0])
    joints = forward(chain, solve_two_bone(chain, target, bend=bend).angles)
    start, end = shapes.bend_arrow(joints, bend, 2.0)
    elbow = joints[1] - 0.5 * (joints[0] + joints[2])
    assert (end - start) @ elbow > 0.0
    assert (end - start) @ (joints[2] - joints[0]) == pytest.approx(0.0, abs=1e-12)


def test_a_straight_chain_has_an_arrow_and_one_bone_has_none() -> None:
    assert shapes.bend_arrow(np.array([(0, 0), (1, 0), (2, 0)], float), 1.0, 2.0) is not None
    assert shapes.bend_arrow(np.array([(0, 0), (1, 0), (0, 0)], float), 1.0, 2.0) is not None
    assert shapes.bend_arrow(np.array([(0, 0), (1, 0)], float), 1.0, 1.0) is None
    assert shapes.bend_arrow(np.zeros((3, 2)), 1.0, 0.0) is None
