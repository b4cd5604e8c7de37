# SPDX-License-Identifier: GPL-3.0-or-later
"""A fingerprint differs where something differs that a chain is read from, and nowhere else."""

import bpy
import pytest
from rigs import add_target, leg_with_target

from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.fingerprint import digest, fingerprint, holders_of, key_places, settings_of


def leg():
    """Return an armature with a chain and its target, as Blender has evaluated it."""
    armature, target = leg_with_target()
    bpy.context.view_layer.update()
    return armature, armature.ik2d.chains[0], target


def to_edit_mode(armature, change):
    """Change an edit bone."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    change(armature.data.edit_bones)
    bpy.ops.object.mode_set(mode='OBJECT')


CHANGES = {
    "a setting": lambda rig, chain, target: setattr(chain, "solver", 'CCD'),
    "a custom normal": lambda rig, chain, target: setattr(chain, "plane_normal", (0.0, 1.0, 0.0)),
    "a hand's offset": lambda rig, chain, target: setattr(chain, "hand_offset", (0.0,) * 9),
    "a limit": lambda rig, chain, target: setattr(chain.joints[0], "use_limit", True),
    "another target": lambda rig, chain, target: setattr(chain, "target", add_target({}, "Other")),
    "more bones": lambda rig, chain, target: setattr(chain, "bone_count", 3),
    "a lock": lambda rig, chain, target: setattr(
        rig.pose.bones["shin"], "lock_rotation", (True, False, True)
    ),
    "rest": lambda rig, chain, target: to_edit_mode(
        rig, lambda bones: setattr(bones["shin"], "tail", (0.0, 0.3, 0.4))
    ),
    "a constraint of the target": lambda rig, chain, target: target.constraints.new('COPY_LOCATION'),
    "a parent of the target": lambda rig, chain, target: setattr(target, "parent", add_target({}, "Other")),
    "native": lambda rig, chain, target: setattr(chain, "native_constraint", "IK 2D"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_chain_is_read_from_changes_its_fingerprint(change):
    armature, chain, target = leg()
    before = fingerprint(armature, chain)
    assert fingerprint(armature, chain) == before
    CHANGES[change](armature, chain, target)
    bpy.context.view_layer.update()
    assert fingerprint(armature, chain) != before


def test_state_and_what_is_read_on_each_frame_leave_it_as_it_is():
    armature, chain, _target = leg()
    before = fingerprint(armature, chain)
    chain.name, chain.live, chain.active_joint, chain.softness, chain.influence = "leg", True, 1, 0.1, 0.5
    chain.plane_taken, chain.missed_frames, chain.worst_frame = "X", "1..2", 1
    chain.joints[0].is_scaled, chain.joints[0].slid = True, (True, False, False)
    assert fingerprint(armature, chain) == before


def test_settings_are_what_is_not_hidden():
    armature, chain, _target = leg()
    names = [name for name, _ in settings_of(chain)]
    assert sorted(names) == sorted(
        [
            *(
                "tip_rotation",
                "tip_angle_offset",
                "tip_angle_first",
                "swing_normal",
                "plane_turn",
                "pole_angle",
                "aim_distance",
            ),
            *("bone_count", "solver", "bend", "turn_over", "plane", "plane_normal", "softness", "stretch"),
            *(
                "compress",
                "stretch_bones",
                "influence",
                "hand_rotation",
                "hand_offset",
                "hand_turn",
                "start_from",
            ),
            *("root_turns_freely", "slide_weight", "iterations", "tolerance"),
            *(
                "post_axis",
                "post_side",
                "use_post_limit",
                "post_limit_min",
                "post_limit_max",
                "post_reach_over",
            ),
        ]
    )
    assert [name for name, _ in settings_of(chain.joints[0])] == [
        *("use_limit", "limit_min", "limit_max", "weight", "use_slide", "slide_min", "slide_max")
    ]
    assert [name for name, _ in settings_of(chain.foot)] == [
        *("is_added", "roll", "toe", "break_angle", "use_ground", "heel", "ball", "toe_tip")
    ]
    assert [name for name, _ in settings_of(armature.ik2d, {"verify"})] == [
        *("use_custom_range", "frame_start", "frame_end", "frame_step", "bake_selected"),
        *("use_reduce", "reduce_error", "on_target_keys", "single_axis", "ease_flips"),
    ]
    assert dict(settings_of(chain))["plane_normal"] == (1.0, 0.0, 0.0)


def test_a_target_is_held_by_its_bones_and_its_parents():
    armature, _chain, target = leg()
    target.parent, target.parent_type, target.parent_bone = armature, 'BONE', "shin"
    found = [(ob, [bone.name for bone in bones]) for ob, bones in holders_of(target, "none")]
    assert found == [(target, []), (armature, ["shin", "thigh", "body"])]
    assert list(holders_of(None, "")) == []


def test_keys_are_told_by_their_places_and_not_by_their_handles():
    _armature, _chain, target = leg()
    curve = existing_fcurves(target)[0]
    before = key_places([curve])
    curve.keyframe_points[0].handle_right_type = 'FREE'
    curve.keyframe_points[0].handle_right[1] += 1.0
    assert key_places([curve]) == before
    curve.keyframe_points[0].co[1] += 0.1
    assert key_places([curve]) != before and key_places([curve])[0][:2] == before[0][:2]
    assert digest(b"") != digest(b"x")
