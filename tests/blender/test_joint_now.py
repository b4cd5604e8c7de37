# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar shows a joint's angle in the pose, as its Min and Max count: at a limit it is that limit."""

from math import radians
from types import SimpleNamespace

import bpy
import pytest
from mathutils import Matrix
from rigs import add_target, leg_with_target
from test_result_lines import Context, Layout

from ik2d_addon.bake import solve
from ik2d_addon.features.setup import panels
from ik2d_addon.rig.chain.chain import read_chain


def angle(chain, bone):
    """Return the angle that the sidebar shows, in the pose as Blender has it."""
    bpy.context.view_layer.update()
    return panels.joint_angle(chain, bone)


def test_at_rest_each_joint_is_at_zero():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    assert [angle(chain, bone) for bone in ("thigh", "shin")] == pytest.approx([0.0, 0.0], abs=1e-5)
    assert angle(chain, "body") is None


@pytest.mark.parametrize("bone", ["thigh", "shin"])
def test_a_turn_about_the_planes_normal_is_the_angle_of_its_joint_alone(bone):
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    rig = read_chain(armature, chain)
    axis = rig.joints.axes[rig.bones.index(bone)].tolist()
    armature.pose.bones[bone].rotation_quaternion = Matrix.Rotation(0.4, 3, axis).to_quaternion()
    assert angle(chain, bone) == pytest.approx(0.4, abs=1e-5)
    (other,) = {"thigh", "shin"} - {bone}
    assert angle(chain, other) == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("low, high", [(radians(20), radians(35)), (radians(-5), radians(8))])
def test_a_joint_that_a_limit_stops_shows_that_limit(low, high):
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    joint = chain.joints["shin"]
    joint.use_limit, joint.limit_min, joint.limit_max = True, low, high
    chain.target = add_target({}, "Near")
    chain.target.location = (0, -0.2, 1.6)
    bpy.context.view_layer.update()
    solve(armature)
    assert angle(chain, "shin") == pytest.approx(high, abs=1e-4)


def test_the_panel_shows_the_angle_below_min_and_max():
    armature, _ = leg_with_target()
    drawn, chain = [], armature.ik2d.chains[0]
    panels.IK2D_PT_joints._draw_joint(Layout(drawn), Context(), chain, chain.joints["shin"])
    place = drawn.index(("prop", "limit_max"))
    assert drawn[place + 1 : place + 3] == [("label", "Now", 'NONE'), ("label", "0.0°", 'NONE')]


def test_a_tolerance_of_zero_is_shown_as_automatic():
    armature, _ = leg_with_target()
    for tolerance in (0.0, 0.01):
        armature.ik2d.chains[0].tolerance = tolerance
        drawn = []
        shown = (Layout(drawn), armature, armature.ik2d.chains[0])
        panel = SimpleNamespace(settings=lambda _context, shown=shown: shown)
        panels.IK2D_PT_advanced.draw(panel, Context())
        assert (("label", "Automatic", 'NONE') in drawn) is (tolerance == 0.0)
