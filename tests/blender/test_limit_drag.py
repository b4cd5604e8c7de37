# SPDX-License-Identifier: GPL-3.0-or-later
"""An end of a joint's range, set by a number or in the chain's plane; tests/gui drags it."""

import math

import bpy
import numpy as np
import pytest
from rigs import leg_with_target

from ik2d_addon.bake import solve
from ik2d_addon.features.overlay.chain_view import ChainView, view_chain
from ik2d_addon.features.overlay.figure import fan_radius
from ik2d_addon.features.overlay.gizmos import button_place, handle_places
from ik2d_addon.features.overlay.limit_drag import direction_at, set_limit
from ik2d_addon.rig.chain.chain import read_chain


def posed_leg() -> tuple[bpy.types.Object, ChainView]:
    """Return the leg with a limited knee, solved, and how it stands."""
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    joint = chain.joints[1]
    joint.limit_min, joint.limit_max, joint.use_limit = -0.2, 1.0, True
    armature.location, armature.scale = (1, 2, 3), (2, 2, 2)
    bpy.context.view_layer.update()
    solve(armature)
    bpy.context.view_layer.update()
    return armature, view_chain(read_chain(armature, chain), chain)


@pytest.mark.parametrize(
    ("end", "angle", "range_"),
    [
        ('MIN', -1.5, (-1.5, 1.0)),
        ('MAX', 2.5, (-0.2, 2.5)),
        ('MIN', 1.7, (1.0, 1.0)),
        ('MAX', -0.9, (-0.2, -0.2)),
        ('MIN', -9.0, (1.0 - 2 * math.pi, 1.0)),
        ('MAX', 9.0, (-0.2, 2 * math.pi - 0.2)),
    ],
)
def test_an_end_stays_on_its_side_and_within_a_turn(end, angle, range_) -> None:
    armature, _ = leg_with_target()
    joint = armature.ik2d.chains[0].joints[1]
    joint.limit_min, joint.limit_max = -0.2, 1.0
    set_limit(joint, end, angle)
    assert (joint.limit_min, joint.limit_max) == pytest.approx(range_, abs=1e-6)
    assert joint.use_limit


def test_the_operator_sets_a_number() -> None:
    armature, _ = leg_with_target()
    bpy.context.view_layer.objects.active = armature
    assert bpy.ops.ik2d.limit_set(joint="shin", end='MAX', angle=0.5) == {'FINISHED'}
    assert armature.ik2d.chains[0].joints["shin"].limit_max == pytest.approx(0.5)
    with pytest.raises(RuntimeError, match="no joint 'foot'"):
        bpy.ops.ik2d.limit_set(joint="foot", end='MAX', angle=0.5)
    armature.ik2d.chains.clear()
    with pytest.raises(RuntimeError, match="no chain to take"):
        bpy.ops.ik2d.limit_set(joint="shin", end='MAX', angle=0.5)


@pytest.mark.parametrize("direction", [-2.5, -0.3, 0.0, 1.1, 3.0])
@pytest.mark.parametrize("view", [(5.0, 0.0, 0.0), (-4.0, 3.0, 1.0), (0.5, 6.0, 2.0)])
def test_a_line_of_sight_says_a_direction_from_the_joint(direction, view) -> None:
    _, chain_view = posed_leg()
    flat = chain_view.joints[1] + 0.7 * np.array((math.cos(direction), math.sin(direction)))
    point = (chain_view.to_world @ (*flat, 0.0, 1.0))[:3]
    origin = point + view
    found = direction_at(chain_view, 1, origin, -np.array(view))
    assert math.remainder(found - direction, 2 * math.pi) == pytest.approx(0.0, abs=1e-6)


def test_a_plane_seen_from_its_edge_says_nothing() -> None:
    _, chain_view = posed_leg()
    assert direction_at(chain_view, 1, (1, -5, 3), (0, 1, 0)) is None


@pytest.mark.parametrize("gizmo", [0.0, 2.0, 50.0])
def test_handles_are_on_the_ends_of_the_fan_or_inside_the_gizmo_of_a_short_bone(gizmo) -> None:
    _, chain_view = posed_leg()
    low, high, _ = chain_view.fan(1)
    places = [
        chain_view.flat(place)[:2] - chain_view.joints[1] for place in handle_places(chain_view, 1, gizmo)
    ]
    for place, direction in zip(places, (low, high), strict=True):
        assert math.remainder(math.atan2(place[1], place[0]) - direction, 2 * math.pi) == pytest.approx(0)
        far = np.hypot(*place)
        fan = fan_radius(chain_view, 1)
        assert far == pytest.approx(fan) if gizmo <= 2.0 else fan < far < 0.5 * gizmo / chain_view.scale
        assert fan <= np.linalg.norm(chain_view.joints[2] - chain_view.joints[1])


@pytest.mark.parametrize("range_", [(0.3, 0.3), (-math.pi, math.pi)])
def test_handles_that_would_meet_stand_apart(range_) -> None:
    armature, _ = posed_leg()
    chain = armature.ik2d.chains[0]
    chain.joints[1].limit_min, chain.joints[1].limit_max = range_
    chain_view = view_chain(read_chain(armature, chain), chain)
    first, second = handle_places(chain_view, 1, 0.0)
    assert np.linalg.norm(second - first) > 0.05


def test_a_free_joint_has_no_handles_and_one_bone_no_button() -> None:
    armature, chain_view = posed_leg()
    assert handle_places(chain_view, 0, 0.0) is None
    assert button_place(chain_view, 0.0) is not None
    chain = armature.ik2d.chains[0]
    chain.bone_count = 1
    assert button_place(view_chain(read_chain(armature, chain), chain), 0.0) is None
