# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake, or a live chain, goes through Blender's exporters and comes back with tips where they were."""

import json
import struct

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.rig.animation.kept.record import is_kept_action

FRAMES = range(1, 25)
BONES = ("thigh", "shin", "foot")
REACH = 2.0
# Of the reach, or as an entry of a rotation. Blender's rest matrices are up to 2.4e-5 off rotations, and glTF
# keeps rotations alone; 1.0e-5 and 7.4e-6 were measured, the same in every Blender and at both rates.
ROUNDED = 3e-5


def enable_exporter(name: str = "io_scene_gltf2") -> None:
    """Enable Blender's own add-on, which each version comes with."""
    import addon_utils  # Blender's own, found once bpy is there

    addon_utils.enable(name, default_set=True)


def add_walker(roll: float = 0.4):
    """Add a leg with a foot, and a body that nods, and a target that walks; return both."""
    armature = add_armature(
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "body", roll),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", -0.2),
            "foot": ((0, 0, 0.1), (0.0, -0.3, 0), "shin", 0.7),
        }
    )
    body = armature.pose.bones["body"]
    body.rotation_mode = 'XYZ'
    for frame, angle in ((1, 0.1), (12, -0.15), (24, 0.1)):
        body.rotation_euler = (angle, 0, 0)
        body.keyframe_insert("rotation_euler", frame=frame)
    target = add_target({1: (0, 0.4, 0.1), 8: (0, -0.5, 0.1), 12: (0, -0.1, 0.55), 24: (0, 0.4, 0.1)})
    bpy.context.view_layer.objects.active = armature
    return armature, target


def plain():
    """Bake a chain that keeps its foot flat."""
    armature, target = add_walker()
    add_chain(armature, "shin", target, hand_rotation='WORLD')
    bake(armature)
    return armature


def reduced():
    """Bake it with few keys, in Euler angles and an axis with its angle."""
    armature, target = add_walker()
    add_chain(armature, "shin", target, hand_rotation='WORLD')
    armature.pose.bones["shin"].rotation_mode = 'ZXY'
    armature.pose.bones["foot"].rotation_mode = 'AXIS_ANGLE'
    bake(armature, options=BakeOptions(reduce=0.003))
    return armature


def adopted():
    """Bake a chain that was an IK constraint with a pole."""
    armature, target = add_walker()
    pole = add_target({}, "Pole")
    pole.location = (0, -3.0, 1.0)
    constraint = armature.pose.bones["shin"].constraints.new('IK')
    constraint.target, constraint.chain_count = target, 2
    constraint.pole_target, constraint.pole_angle = pole, -1.5708
    bpy.context.view_layer.update()
    bpy.ops.ik2d.adopt(all=True)
    assert constraint.mute and len(armature.ik2d.chains) == 1
    bake(armature)
    return armature


def native():
    """Bake a chain that is native."""
    armature, target = add_walker()
    add_chain(armature, "shin", target)
    bpy.ops.ik2d.make_native()
    bake(armature)
    return armature


def native_unbaked():
    """Leave it to its drivers: the exporter samples what these show."""
    armature, target = add_walker()
    add_chain(armature, "shin", target)
    bpy.ops.ik2d.make_native()
    return armature


def live():
    """Leave a chain live: the exporter samples what Blender shows, on the frames of the armature's action."""
    armature, target = add_walker()
    add_chain(armature, "shin", target, hand_rotation='WORLD').live = True
    return armature


def joints_on_frames(armature) -> np.ndarray:
    """Return where Blender has the head of each bone (frames, bones, 3), the foot's being the tip."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        matrices = (evaluated.matrix_world @ evaluated.pose.bones[name].matrix for name in BONES)
        found.append([[*matrix.translation] for matrix in matrices])
    return np.array(found)


def foot_on_frames(armature) -> np.ndarray:
    """Return how Blender has the foot turned since the first frame (frames, 3, 3), in the world."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        matrix = evaluated.matrix_world @ evaluated.pose.bones["foot"].matrix
        found.append(np.array(matrix.to_quaternion().to_matrix()))
    return np.array(found) @ found[0].T


def there_and_back(path):
    """Export the scene, empty it, import it again; return the armature that came."""
    enable_exporter()
    bpy.ops.export_scene.gltf(filepath=str(path), export_format='GLB')
    fps = bpy.context.scene.render.fps
    bpy.ops.wm.read_factory_settings(use_empty=True)
    enable_exporter()
    bpy.context.scene.render.fps = fps
    bpy.ops.import_scene.gltf(filepath=str(path))
    (armature,) = (ob for ob in bpy.data.objects if ob.type == 'ARMATURE')
    return armature


def towards_pole():
    """Bake a leg that steps aside, towards a pole that moves, reduced, with a thigh in Euler angles."""
    armature, target = add_walker()
    # Its name comes after the rig's: Blender 5.2's importer plays the first of several animations alone.
    pole = add_target({1: (0.5, -2.0, 1.0), 12: (-0.8, -2.0, 1.4), 24: (0.5, -2.0, 1.0)}, "Side")
    target.location = 0.6, -0.3, 0.4
    target.keyframe_insert("location", frame=16)
    add_chain(armature, "shin", target, plane='POLE', pole=pole, pole_angle=0.7)
    armature.pose.bones["thigh"].rotation_mode = 'YXZ'
    bake(armature, options=BakeOptions(reduce=0.003, ease_flips=True))
    return armature


def on_a_post():
    """Bake a leg whose body, which nods by keys, turns about itself towards a target that goes round it."""
    armature, target = add_walker()
    target.delta_location = (0.6, 0.0, 0.3)
    add_chain(armature, "shin", target, plane='POST', post="body", post_axis='Y')
    assert bake(armature).all_reached
    return armature


RIGS = (plain, reduced, towards_pole, on_a_post, adopted, native, native_unbaked, live)


@pytest.mark.slow
@pytest.mark.parametrize("fps", [24, 60])
@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.__name__)
def test_tips_come_back_where_they_were(rig, fps, tmp_path):
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = fps, FRAMES[0], FRAMES[-1]
    armature = rig()
    joints, turned = joints_on_frames(armature), foot_on_frames(armature)
    assert np.ptp(joints[:, 2], axis=0).max() > 0.5
    came = there_and_back(tmp_path / "walk.glb")
    assert came.animation_data.action is not None and not came.animation_data.drivers
    assert np.linalg.norm(joints_on_frames(came) - joints, axis=2).max() < ROUNDED * REACH
    assert np.abs(foot_on_frames(came) - turned).max() < ROUNDED


@pytest.mark.parametrize("keyed", [(), (1, 24)], ids=["no action", "first and last frame"])
@pytest.mark.parametrize("kind", ["gltf", "fbx"])
def test_a_live_chain_is_exported_on_the_frames_of_the_armatures_own_action(kind, keyed, tmp_path):
    scene, path = bpy.context.scene, str(tmp_path / f"live.{'glb' if kind == 'gltf' else kind}")
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    armature = live()
    bpy.data.actions.remove(armature.animation_data.action)
    armature.animation_data_clear()
    for frame in keyed:
        armature.pose.bones["body"].keyframe_insert("location", frame=frame)
    joints = joints_on_frames(armature)
    for name in ("io_scene_gltf2", "io_scene_fbx"):
        enable_exporter(name)
    getattr(bpy.ops.export_scene, kind)(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    for name in ("io_scene_gltf2", "io_scene_fbx"):
        enable_exporter(name)
    getattr(bpy.ops.import_scene, kind)(filepath=path)
    (came,) = (ob for ob in bpy.data.objects if ob.type == 'ARMATURE')
    found = joints_on_frames(came)
    if keyed:
        assert np.linalg.norm(found - joints, axis=2).max() < ROUNDED * REACH
    else:
        assert np.ptp(found, axis=0).max() == 0.0 < np.ptp(joints, axis=0).max()


def test_exporters_see_no_action_that_was_kept(tmp_path):
    armature, target = add_walker()
    add_chain(armature, "shin", target)
    thigh = armature.pose.bones["thigh"]
    thigh.rotation_mode = 'QUATERNION'
    for frame in (1, 12, 24):
        thigh.rotation_quaternion = (1.0, 0.01 * frame, 0.0, 0.0)
        thigh.keyframe_insert("rotation_quaternion", frame=frame)
    bake(armature, frame_start=5, frame_end=20)
    (kept,) = (action for action in bpy.data.actions if is_kept_action(action))
    enable_exporter()
    enable_exporter("io_scene_fbx")
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "x.glb"), export_format='GLB')
    data = (tmp_path / "x.glb").read_bytes()
    length = struct.unpack("<I", data[12:16])[0]
    clips = [clip["name"] for clip in json.loads(data[20 : 20 + length])["animations"]]
    assert clips and not any("before IK 2D" in clip for clip in clips)
    bpy.ops.export_scene.fbx(filepath=str(tmp_path / "x.fbx"))
    assert kept.name.encode() not in (tmp_path / "x.fbx").read_bytes()
