# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rig keeps of a bake that missed its target, and the operators that lead to these frames."""

import bpy
import pytest
from rigs import add_chain, add_leg, add_target, evaluated_place, evaluated_tip, leg_with_target

from ik2d_addon.bake import bake
from ik2d_addon.features.baking.missed_frames import mark_frames, stored_runs

NEAR, FAR, FARTHEST = (0, -0.6, 0.6), (0, 0, -3), (0, 0, -4)


def leg_that_misses(places, name="Rig", **settings):
    """Return the active leg, whose target jumps from place to place, frame by frame from 1."""
    target = add_target(dict(enumerate(places, 1)), f"{name} target")
    for curve in curves(target):
        for key in curve.keyframe_points:
            key.interpolation = 'CONSTANT'
    armature = add_leg(name)
    add_chain(armature, "shin", target, **settings)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, len(places)
    return armature


def curves(ob):
    """Return an object's F-Curves."""
    from ik2d_addon.rig.animation.versions import existing_fcurves

    return existing_fcurves(ob)


def markers():
    """Return [(frame, name)] of the scene's markers."""
    return sorted((marker.frame, marker.name) for marker in bpy.context.scene.timeline_markers)


def test_the_rig_keeps_runs_of_missed_frames_and_the_worst_one():
    armature = leg_that_misses([NEAR, FAR, FAR, FARTHEST, NEAR, NEAR, FAR, NEAR])
    bpy.ops.ik2d.bake()
    chain = armature.ik2d.chains[0]
    assert chain.missed_frames == "2..4 7" and list(stored_runs(chain)) == [(2, 4), (7, 7)]
    assert chain.worst_frame == 4 and armature.ik2d.last_bake_alert
    misses = {}
    for frame in range(1, 9):
        bpy.context.scene.frame_set(frame)
        misses[frame] = (evaluated_tip(armature, "shin") - evaluated_place(chain.target)).length
    assert [frame for frame, miss in misses.items() if miss > 1e-4] == [2, 3, 4, 7]
    assert max(misses, key=misses.get) == chain.worst_frame


def test_runs_count_the_frames_that_were_baked_also_below_zero():
    armature = leg_that_misses([FAR])
    bpy.ops.ik2d.bake(frame_start=-7, frame_end=3, step=5)
    chain = armature.ik2d.chains[0]
    assert chain.missed_frames == "-7..3" and list(stored_runs(chain)) == [(-7, 3)]


def test_a_bake_that_reaches_everything_forgets_the_misses_of_the_one_before():
    armature = leg_that_misses([FAR, FAR, NEAR])
    bpy.ops.ik2d.bake()
    bpy.ops.ik2d.bake(frame_start=3)
    chain = armature.ik2d.chains[0]
    assert (chain.missed_frames, chain.worst_frame, armature.ik2d.last_bake_alert) == ("", -1, False)
    assert bpy.ops.ik2d.mark_frames.poll() is False


def test_a_warning_alone_raises_the_alert():
    armature, target = leg_with_target()
    target.animation_data_clear()
    target.location = NEAR
    other = armature.pose.bones["thigh"].constraints.new('COPY_ROTATION')
    other.target, other.influence = target, 1e-6  # rules the bone, but next to nothing
    bpy.context.view_layer.objects.active = armature
    bpy.ops.ik2d.bake(frame_start=1, frame_end=2)
    assert armature.ik2d.last_bake_alert and not armature.ik2d.chains[0].missed_frames


def test_a_target_off_the_plane_is_missed():
    armature, target = leg_with_target()
    target.animation_data_clear()
    target.location = (0.5, *NEAR[1:])  # beside the leg's plane: its tip follows within the plane
    bpy.context.view_layer.objects.active = armature
    bpy.ops.ik2d.bake(frame_start=1, frame_end=2)
    assert armature.ik2d.last_bake_alert and armature.ik2d.chains[0].missed_frames == "1..2"


def test_solve_leaves_what_the_last_bake_missed():
    armature = leg_that_misses([NEAR, FAR])
    bpy.ops.ik2d.bake()
    bpy.context.scene.frame_set(1)
    bpy.ops.ik2d.solve()
    chain = armature.ik2d.chains[0]
    assert (chain.missed_frames, chain.worst_frame) == ("2", 2)
    assert "reached" in chain.last_solve


def test_mark_frames_marks_where_each_run_begins_and_ends():
    armature = leg_that_misses([NEAR, FAR, FAR, FARTHEST, NEAR, NEAR, FAR, NEAR], name="Rig")
    armature.ik2d.chains[0].name = "Leg"
    bpy.ops.ik2d.bake()
    assert bpy.ops.ik2d.mark_frames() == {'FINISHED'}
    expected = [(2, "Leg missed"), (4, "Leg missed, end"), (7, "Leg missed")]
    assert markers() == expected
    for marker in list(bpy.context.scene.timeline_markers):
        bpy.context.scene.timeline_markers.remove(marker)
    assert mark_frames(armature.ik2d.chains[0], bpy.context.scene) == 2
    assert markers() == expected


def test_mark_frames_replaces_its_own_markers_and_no_others():
    armature = leg_that_misses([FAR, NEAR, FAR])
    scene = bpy.context.scene
    scene.timeline_markers.new("Cut", frame=2)
    scene.timeline_markers.new("other missed", frame=3)
    bpy.ops.ik2d.bake()
    bpy.ops.ik2d.mark_frames()
    bpy.ops.ik2d.bake(frame_start=2)
    bpy.ops.ik2d.mark_frames()
    assert markers() == [(2, "Cut"), (3, "other missed"), (3, "shin missed")]
    assert armature.ik2d.chains[0].missed_frames == "3"


def test_chain_names_longer_than_a_marker_may_be_are_marked_once():
    armature = leg_that_misses([FAR, FAR])
    armature.ik2d.chains[0].name = "é" * 60
    bpy.ops.ik2d.bake()
    for _ in range(2):
        bpy.ops.ik2d.mark_frames()
    assert [frame for frame, _ in markers()] == [1, 2]
    assert markers()[0][1] == "é" * 25 + " missed" and markers()[1][1] == "é" * 25 + " missed, end"


def test_without_a_name_it_is_the_active_chain_or_the_first_that_missed():
    armature = leg_that_misses([NEAR, FARTHEST, NEAR])
    late = add_target({1: NEAR, 2: NEAR, 3: FAR}, "Late")
    for curve in curves(late):
        for key in curve.keyframe_points:
            key.interpolation = 'CONSTANT'
    add_chain(armature, "thigh", late, bone_count=1, name="never")
    report = bake(armature, ["shin"])
    from ik2d_addon.features.baking.results import store_bake

    store_bake(armature, report)
    never, shin = armature.ik2d.chains["never"], armature.ik2d.chains["shin"]
    never.missed_frames, never.worst_frame = "1 3", 3
    for active, first in ((0, (shin, 2)), (1, (never, 1))):
        armature.ik2d.active_index = active
        bpy.ops.ik2d.mark_frames()
        assert (first[1], f"{first[0].name} missed") in markers()
        bpy.context.scene.timeline_markers.clear()
    never.missed_frames = ""
    bpy.ops.ik2d.mark_frames()
    assert (2, "shin missed") in markers()
    with pytest.raises(RuntimeError, match="The last bake of chain 'never' missed no frame"):
        bpy.ops.ik2d.mark_frames(chain="never")
    with pytest.raises(RuntimeError, match="has no chain 'arm'"):
        bpy.ops.ik2d.mark_frames(chain="arm")


def test_with_nothing_missed_the_button_says_so():
    def refusal():
        with pytest.raises(RuntimeError) as caught:
            bpy.ops.ik2d.mark_frames()
        return str(caught.value)

    assert "Make an armature the active object" in refusal()
    armature = leg_that_misses([NEAR])
    assert "Bake first" in refusal()
    bpy.ops.ik2d.bake()
    assert "The last bake missed no frame" in refusal()
    assert not armature.ik2d.last_bake_alert
