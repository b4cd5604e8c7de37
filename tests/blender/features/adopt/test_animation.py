# SPDX-License-Identifier: GPL-3.0-or-later
"""The animation of a chain that stands for a constraint's: as it was there, and gone without a trace."""

import bpy
import pytest
from ik_rigs import driven_influence, from_the_tip, keyed_influence
from rigs import add_chain, add_modifiers
from snapshots import differences
from whole_rig import whole_rig

from ik2d_addon.features.adopt.animation import LEVELS, copy_animation, key_steps, levels_of, take_away
from ik2d_addon.rig.animation.versions import existing_fcurves

PATH = 'ik2d.chains["leg"]'


def leg(make):
    """Return the rig, with a chain."""
    armature = make()
    add_chain(armature, "shin", armature.pose.bones["shin"].constraints[0].target, name="leg")
    bpy.context.scene.frame_set(1)
    return armature


@pytest.mark.slow
def test_an_f_curve_is_copied_with_its_handles_and_modifiers():
    armature = leg(keyed_influence)
    source = existing_fcurves(armature)[0]
    source.keyframe_points[1].handle_left_type = 'FREE'
    source.keyframe_points[1].handle_left = (6.0, 0.9)
    source.modifiers.new('NOISE').strength = 0.1
    source.extrapolation = 'LINEAR'
    copy_animation(armature, source.data_path, f"{PATH}.influence", "leg")
    curves = {curve.data_path: curve for curve in existing_fcurves(armature)}
    curve = curves.pop(f"{PATH}.influence")
    (source,) = curves.values()
    for frame in (-4.0, 1.0, 4.5, 8.0, 15.0, 30.0):
        assert curve.evaluate(frame) == source.evaluate(frame)


def test_an_f_curve_is_copied_with_additive_modifiers_and_the_points_of_an_envelope():
    armature = leg(keyed_influence)
    (source,) = existing_fcurves(armature)
    add_modifiers(source)
    copy_animation(armature, source.data_path, f"{PATH}.influence", "leg")
    constraint, chain = armature.pose.bones["shin"].constraints[0], armature.ik2d.chains[0]
    played = []
    for frame in range(-3, 25):
        bpy.context.scene.frame_set(frame)
        played.append(chain.influence)
        assert chain.influence == constraint.influence
    assert len(set(played)) > 3


def test_a_driver_is_copied_and_the_source_stays():
    armature = leg(driven_influence)
    source = armature.animation_data.drivers[0].data_path
    copy_animation(armature, source, f"{PATH}.influence", "leg")
    assert [driver.data_path for driver in armature.animation_data.drivers] == [source, f"{PATH}.influence"]
    armature.pose.bones["body"]["IK"] = 0.3
    armature.update_tag()
    bpy.context.view_layer.update()
    assert armature.ik2d.chains[0].influence == pytest.approx(0.3)


def test_steps_hold_until_the_next():
    armature = leg(from_the_tip)
    key_steps(armature, f"{PATH}.bend", "leg", [(1, 0.0), (12, 1.0)], bpy.context.scene)
    for frame, side in ((1, 'POSITIVE'), (11, 'POSITIVE'), (12, 'NEGATIVE'), (40, 'NEGATIVE')):
        bpy.context.scene.frame_set(frame)
        assert armature.ik2d.chains[0].bend == side


@pytest.mark.parametrize("make", [from_the_tip, keyed_influence, driven_influence])
def test_taken_away_nothing_is_left(make):
    armature = leg(make)
    before, levels = whole_rig(armature), levels_of(armature)
    last = getattr(armature.animation_data, "last_slot_identifier", "")
    key_steps(armature, f"{PATH}.bend", "leg", [(1, 0.0)], bpy.context.scene)
    made = [level for level in LEVELS if level in levels_of(armature) - levels]
    take_away(armature, f"{PATH}.", "leg", made, last)
    assert not differences(before, whole_rig(armature))


def test_what_holds_other_curves_since_stays():
    armature = leg(from_the_tip)
    key_steps(armature, f"{PATH}.bend", "leg", [(1, 0.0)], bpy.context.scene)
    armature.keyframe_insert("location", frame=1)
    take_away(armature, f"{PATH}.", "leg", LEVELS, "")
    assert {curve.data_path for curve in existing_fcurves(armature)} == {"location"}
