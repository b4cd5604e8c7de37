# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings on planes that follow a target or a pole."""

import math

import bpy
import pytest
from mathutils import Euler, Vector
from rigs import add_armature, add_chain, add_target

from ik2d_addon.bake import BakeOptions, bake


def limb(plane, way, pole=None, mode='QUATERNION', frames=24):
    """Return the report on a limb that bends to the front, for a target on a way, a function of 0..1."""
    armature = add_armature(
        {
            "upper": ((0, 0, 0), (0, -0.2, -1), "", 0.0),
            "lower": ((0, -0.2, -1), (0, 0, -2), "upper", 0.0),
        }
    )
    armature.pose.bones["upper"].rotation_mode = mode
    target = add_target({frame: way((frame - 1) / (frames - 1)) for frame in range(1, frames + 1)})
    chain = add_chain(armature, "lower", target, bone_count=2, plane=plane)
    if pole is not None:
        chain.pole = add_target(
            {frame: pole((frame - 1) / (frames - 1)) for frame in range(1, frames + 1)}, "P"
        )
        chain.pole_angle = math.pi / 2
    bpy.context.view_layer.update()
    return armature, frames


def warnings(armature, frames, **options):
    report = bake(armature, frame_start=1, frame_end=frames, options=BakeOptions(**options))
    assert report.all_reached
    return [one for one in report.chains[0].warnings if "plane" in one]


def past(direction, by=0.0):
    """Return a way that passes a direction from the root by an angle in degrees."""
    there = Vector(direction).normalized()
    aside = there.orthogonal().normalized()
    other = there.cross(aside)

    def way(part):
        turn = math.radians(90.0) * (part - 0.5)
        return 1.5 * (
            math.cos(turn) * (math.cos(math.radians(by)) * there + math.sin(math.radians(by)) * other)
            + math.sin(turn) * aside
        )

    return way


CASES = [
    ('SWING', past((1, 0, 0)), None, "across its plane"),
    ('ARC', past((0, 0, 1), by=1.0), None, "straight behind the chain"),
    ('POLE', past((0, -1, 0)), lambda _: Vector((0, -4, 0)), "in line with its pole"),
]


@pytest.mark.parametrize(("plane", "way", "pole", "where"), CASES)
def test_where_a_plane_may_turn_over_it_is_told(plane, way, pole, where):
    near, turns = warnings(*limb(plane, way, pole))
    assert where in near and "Ease Flips" in near
    assert "its plane turns by" in turns


@pytest.mark.parametrize(("plane", "way", "pole", "where"), CASES)
def test_eased_it_turns_slowly(plane, way, pole, where):
    armature, frames = limb(plane, way, pole, frames=48)
    assert warnings(armature, frames, ease_flips=True) == [] or plane == 'ARC'


@pytest.mark.parametrize(
    ("plane", "direction", "pole"),
    [(c[0], d, c[2]) for c, d in zip(CASES, [(1, 0, 0), (0, 0, 1), (0, -1, 0)], strict=True)],
)
def test_thirty_degrees_aside_there_is_nothing_to_tell(plane, direction, pole):
    assert warnings(*limb(plane, past(direction, by=30.0), pole)) == []


@pytest.mark.parametrize(("mode", "told"), [('QUATERNION', False), ('XYZ', True)])
def test_euler_angles_that_stray_are_told(mode, told):
    def pole(part):
        return 5.0 * (Euler((0.4, 0.9, math.radians(25 * 23) * part)).to_matrix() @ Vector((1, 0.3, 0)))

    armature, frames = limb('POLE', lambda part: Vector((0.3, 0.2 * part, -1.5)), pole, mode)
    found = [one for one in warnings(armature, frames) if "Quaternion" in one]
    assert bool(found) == told
