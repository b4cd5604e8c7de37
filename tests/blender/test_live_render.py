# SPDX-License-Identifier: GPL-3.0-or-later
"""A frame that is rendered shows live chains as it would show them baked."""

import bpy
import numpy as np
import pytest
from rigs import leg_with_target

from ik2d_addon.bake import bake
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAME = 20


def skinned_leg():
    """Add the leg with a live chain, a block on each bone, and a camera that looks at them from the side."""
    armature, target = leg_with_target(live=True)
    scene = bpy.context.scene
    for name in ("thigh", "shin"):
        mesh = bpy.data.meshes.new(name)
        corners = [(x, y, z) for x in (-0.1, 0.1) for y in (0.0, -0.9) for z in (-0.1, 0.1)]
        faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        mesh.from_pydata(corners, [], faces)
        block = bpy.data.objects.new(name, mesh)
        block.parent, block.parent_type, block.parent_bone = armature, 'BONE', name
        scene.collection.objects.link(block)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale = 'ORTHO', 3.0
    camera.location, camera.rotation_euler = (5.0, -0.2, 1.2), (np.pi / 2.0, 0.0, np.pi / 2.0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", 'SUN'))
    sun.rotation_euler, sun.data.energy = (0.3, 1.2, 0.0), 3.0
    scene.collection.objects.link(sun)
    scene.render.resolution_x = scene.render.resolution_y = 48
    return armature, target


def picture(path, animation: bool = False) -> np.ndarray:
    """Render and return the pixels, as floats."""
    scene = bpy.context.scene
    scene.render.image_settings.file_format = 'PNG'
    scene.frame_start = scene.frame_end = FRAME
    scene.render.filepath = str(path)
    if animation:
        bpy.ops.render.render(animation=True)
        path = f"{path}{FRAME:04}.png"
    else:
        bpy.ops.render.render(write_still=True)
        path = f"{path}.png"
    image = bpy.data.images.load(str(path))
    pixels = np.array(image.pixels[:])
    bpy.data.images.remove(image)
    return pixels


@pytest.mark.slow
@pytest.mark.parametrize("engine", ['BLENDER_WORKBENCH', 'CYCLES'])
@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("blurred", [False, True])
@pytest.mark.parametrize("played", [False, True])
def test_a_live_chain_renders_as_a_baked_one(tmp_path, engine, hidden, blurred, played):
    armature, target = skinned_leg()
    scene = bpy.context.scene
    scene.render.engine, scene.render.use_motion_blur = engine, blurred
    if engine == 'CYCLES':
        if not hasattr(scene, "cycles"):
            pytest.skip("this Blender has no Cycles")
        scene.cycles.samples, scene.cycles.device, scene.cycles.seed = 1, 'CPU', 0
    target.hide_render = hidden
    for frame in (*range(1, 30), *range(1, 30)) if played else ():  # so that all frames are kept
        scene.frame_set(frame)
    scene.frame_set(1)
    elsewhere = picture(tmp_path / "still")
    live = picture(tmp_path / "live", animation=True)
    assert armature.ik2d.chains[0].live and not len(existing_fcurves(armature))
    bake(armature, frame_start=1, frame_end=40)
    baked = picture(tmp_path / "baked", animation=True)
    assert np.abs(live - elsewhere).max() > 0.1
    # A block's edge may fall on the other side of a pixel's middle.
    assert (np.abs(live - baked) > 0.02).mean() < 0.01


def test_motion_blur_shows_a_live_chain_between_frames(tmp_path):
    armature, _ = skinned_leg()
    scene = bpy.context.scene
    if not hasattr(scene, "cycles"):
        pytest.skip("this Blender has no Cycles")
    scene.render.engine, scene.render.use_motion_blur = 'CYCLES', True
    scene.cycles.samples, scene.cycles.seed = 4, 0
    live = picture(tmp_path / "live", animation=True)
    bake(armature, frame_start=1, frame_end=40)
    baked = picture(tmp_path / "baked", animation=True)
    assert np.abs(live - baked).mean() < 0.01
