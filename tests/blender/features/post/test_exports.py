# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake with a post goes through USD and comes back with its tip where it was; and through an override."""

import bpy
import numpy as np
import pytest
from post_rigs import robot_arm
from rigs import errors_on, evaluated_tip, override_from

from ik2d_addon.bake import bake, clear


@pytest.mark.slow
@pytest.mark.skipif(not bpy.app.build_options.usd, reason="this Blender was built without USD")
def test_tips_come_back_from_usd(tmp_path):
    armature, chain = robot_arm()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 24
    bpy.ops.mesh.primitive_cube_add(size=0.1)  # a skin: without one the exporter leaves bones out
    cube = bpy.context.object
    cube.parent = armature
    cube.modifiers.new("Skin", 'ARMATURE').object = armature
    cube.vertex_groups.new(name="lower").add(range(8), 1.0, 'REPLACE')
    bake(armature)
    tips = []
    for frame in range(1, 25):
        bpy.context.scene.frame_set(frame)
        tips.append(evaluated_tip(armature, "lower"))
    bpy.ops.wm.usd_export(filepath=str(tmp_path / "arm.usdc"), export_animation=True, export_armatures=True)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=str(tmp_path / "arm.usdc"))
    (came,) = (ob for ob in bpy.data.objects if ob.type == 'ARMATURE')
    length = came.data.bones["lower"].length
    off = []
    for frame, tip in enumerate(tips, 1):
        bpy.context.scene.frame_set(frame)
        shown = came.evaluated_get(bpy.context.evaluated_depsgraph_get())
        bone = shown.pose.bones["lower"]
        # A leaf has no end in USD: its head, and a length along it as it was.
        place = came.matrix_world @ (bone.head + (bone.tail - bone.head) * (0.8543984 / length))
        off.append((place - tip).length)
    assert max(off) < 1e-4


def test_an_override_of_a_rig_with_a_post_is_baked(tmp_path):
    armature, _ = robot_arm()
    library = str(tmp_path / "arm.blend")
    names = armature.name, "Target"
    bpy.ops.wm.save_as_mainfile(filepath=library)
    override = override_from(library, *names)
    chain = override.ik2d.chains["arm"]
    assert (chain.plane, chain.post, chain.post_axis) == ('POST', "base", 'Y')
    chain.post_side = 'NEGATIVE'
    first = bake(override, None, 1, 24).chains[0].post_angle[0]
    assert abs(abs(first) - np.pi) < 1e-4  # half round
    assert errors_on(range(1, 25), override, chain).max() < 5e-6
    clear(override)
    assert errors_on([24], override, chain).max() > 0.5
