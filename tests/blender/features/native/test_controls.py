# SPDX-License-Identifier: GPL-3.0-or-later
"""The controls on a stand, and the keys and drivers that come along."""

import bpy
import pytest
from rigs import add_modifiers, add_target, leg_with_target

from ik2d_addon.core import IK2DError
from ik2d_addon.features.native.controls import CONTROLS, STRETCH, add_controls, refuse_unreadable
from ik2d_addon.rig.animation.versions import existing_fcurves


def stand_for(chain):
    controls = add_target({}, "stand")
    add_controls(controls, chain, (*CONTROLS, *STRETCH))
    return controls


def test_controls_are_as_the_chain_is_set_with_range_and_description():
    armature, _ = leg_with_target(bend='NEGATIVE', softness=0.25, influence=0.5, stretch=1.5, turn_over=0.125)
    controls = stand_for(armature.ik2d.chains[0])
    wanted = {"bend": -1.0, "softness": 0.25, "influence": 0.5, "stretch": 1.5, "compress": 1.0}
    assert {name: controls[name] for name in wanted} == wanted and controls["turn_over"] == 0.125
    for control in (*CONTROLS, *STRETCH):
        shown = controls.id_properties_ui(control.name).as_dict()
        assert (shown["min"], shown["max"]) == (control.least, control.most)
        assert shown["description"] and not shown["description"].endswith(".")
    assert controls.animation_data is None


def test_keys_come_along_with_handles_extrapolation_and_modifiers():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    for frame, value in ((1, 0.0), (10, 1.0), (20, 0.5)):
        chain.influence = value
        chain.keyframe_insert("influence", frame=frame)
    (curve,) = existing_fcurves(armature)
    curve.keyframe_points[1].interpolation = 'BEZIER'
    curve.keyframe_points[1].handle_left_type = 'FREE'
    curve.keyframe_points[1].handle_left = (6.0, 0.9)
    curve.extrapolation = 'LINEAR'
    curve.modifiers.new('NOISE').strength = 0.125
    (copy,) = existing_fcurves(stand_for(chain))
    assert copy.data_path == '["influence"]' and copy.extrapolation == 'LINEAR'
    for frame in range(-5, 30):
        assert copy.evaluate(frame) == curve.evaluate(frame)


def test_keys_come_along_with_additive_modifiers_and_the_points_of_an_envelope():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    for frame, value in ((1, 0.0), (10, 1.0), (20, 0.5)):
        chain.influence = value
        chain.keyframe_insert("influence", frame=frame)
    (curve,) = existing_fcurves(armature)
    add_modifiers(curve)
    controls, played = stand_for(chain), []
    for frame in range(-3, 25):
        bpy.context.scene.frame_set(frame)
        played.append(chain.influence)
        assert min(max(controls["influence"], 0.0), 1.0) == chain.influence
    assert len(set(played)) > 3


def test_a_choice_holds_until_its_next_key():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    for frame, side in ((1, 'POSITIVE'), (10, 'NEGATIVE')):
        chain.bend = side
        chain.keyframe_insert("bend", frame=frame)
    (copy,) = existing_fcurves(stand_for(chain))
    assert [copy.evaluate(frame) for frame in (1, 9, 10)] == [1.0, 1.0, -1.0]


def test_a_bend_driven_by_an_expression_comes_along_and_another_is_refused():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    driver = chain.driver_add("bend").driver
    driver.expression = "frame>5"
    controls = stand_for(chain)
    bpy.context.scene.frame_set(1)
    before = controls["bend"]
    bpy.context.scene.frame_set(9)
    assert (before, controls["bend"]) == (1.0, -1.0)
    refuse_unreadable(chain)
    driver.type = 'AVERAGE'
    with pytest.raises(IK2DError, match="driver of its bend is not an expression"):
        refuse_unreadable(chain)


def test_keys_in_strips_are_refused_with_the_way_out():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.keyframe_insert("influence", frame=1)
    animation = armature.animation_data
    animation.nla_tracks.new().strips.new("walk", 1, animation.action)
    animation.action = None
    with pytest.raises(IK2DError, match="keys in the NLA strip 'walk'.*bring them into"):
        refuse_unreadable(chain)
