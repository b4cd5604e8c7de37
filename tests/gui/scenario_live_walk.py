# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet on an FK walk that Live hides; on a walk in place its error asks for the ground's speed."""

import os
import sys
from math import cos, pi, sin

import bpy
from mathutils import Vector

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import look_from_the_front, search, take_theme, ui
from rig_steps import build, in_window, rig

SHOTS = os.environ["IK2D_SHOTS"]
FRAMES, STEP, STRIDE = 48, 24, 0.6
SIDES = {"L": 0.15, "R": -0.15}


def curves():
    """Return the rig's F-Curves."""
    animation = rig().animation_data
    bag = animation.action.layers[0].strips[0].channelbag(animation.action_slot)
    return list(bag.fcurves)


def walk():
    """Build a biped that walks by keys of its bones, 10 % less far than its steps, with live chains."""
    bones = {"body": ((0, 0, 1.0), (0, 0, 1.5), "")}
    for side, x in SIDES.items():
        bones[f"thigh.{side}"] = ((x, 0, 1.0), (x, -0.04, 0.55), "body")
        bones[f"shin.{side}"] = ((x, -0.04, 0.55), (x, 0, 0.1), f"thigh.{side}")
    build(bones)
    bpy.context.scene.frame_end = FRAMES
    for i, side in enumerate(SIDES):
        rig().data.bones.active = rig().data.bones[f"shin.{side}"]
        in_window(bpy.ops.pose.select_all, action='DESELECT')
        in_window(bpy.ops.ik2d.chain_add, bone_count=2)
        target = rig().ik2d.chains[-1].target
        for frame in range(1, FRAMES + 1):
            steps, part = divmod(frame / STEP + 0.5 * i, 1.0)
            swing = max(0.0, (part - 0.6) / 0.4)
            way = steps + (0.5 - 0.5 * cos(pi * swing)) - 0.5 * i
            target.location.y, target.location.z = -STRIDE * way, 0.15 + 0.1 * sin(pi * swing)
            target.keyframe_insert("location", frame=frame)
    body = rig().pose.bones["body"]
    to_local = body.bone.matrix_local.to_3x3().inverted()
    for frame in (1, FRAMES):
        body.location = to_local @ Vector((0, -STRIDE * (frame / STEP - 0.3), -0.08))
        body.keyframe_insert("location", frame=frame)
    in_window(bpy.ops.ik2d.bake)
    for chain in rig().ik2d.chains:
        chain.target.animation_data_clear()
        chain.live = True
    scale_way(0.9)


def scale_way(factor):
    """Scale the way of the body."""
    for curve in curves():
        if curve.data_path.endswith('["body"].location'):
            for key in curve.keyframe_points:
                for co in (key.co, key.handle_left, key.handle_right):
                    co.y *= factor
            curve.update()


def slide(spans):
    """Return how far Blender has a tip go within contacts {chain: [(first, last)]}, at most."""
    worst = 0.0
    for name, own in spans.items():
        for first, last in own:
            seen = []
            for frame in range(first, last + 1):
                bpy.context.scene.frame_set(frame)
                shown = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
                seen.append(shown.matrix_world @ shown.pose.bones[rig().ik2d.chains[name].tip].tail)
            worst = max(worst, *((one - seen[0]).length for one in seen))
    return worst


def spans():
    """Return the first and last frame of each contact that is keyed."""
    found = {}
    for chain in rig().ik2d.chains:
        (curve,) = [one for one in curves() if one.data_path == f"{chain.path_from_id()}.foot.contact"]
        on = [frame for frame in range(1, FRAMES + 1) if curve.evaluate(frame) > 0.5]
        starts = [frame for frame in on if frame - 1 not in on]
        found[chain.name] = [
            (frame, next(end for end in on if end >= frame and end + 1 not in on)) for frame in starts
        ]
    return found


def test():
    """Plant, clear, walk in place, be asked."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    walk()
    in_window(bpy.ops.ed.undo_push, message="The walk")
    yield from look_from_the_front()
    yield from search("Plant Feet")
    yield from ui.wait_until(lambda: not any(c.live for c in rig().ik2d.chains), "planting", 60)
    yield 0.5
    yield from ui.shot(f"{SHOTS}/live_walk_1_planted.png")
    assert slide(spans()) < 1e-4, slide(spans())
    in_window(bpy.ops.ik2d.plant_clear)
    for chain in rig().ik2d.chains:
        chain.live = True
    scale_way(0.0)
    settings = rig().ik2d
    settings.use_custom_range, settings.frame_start, settings.frame_end = True, 2, 8
    in_window(bpy.ops.ed.undo_push, message="In place")
    for theme in ("Blender_Light.xml", "Blender_Dark.xml"):
        take_theme(theme)
        yield from search("Plant Feet")
        yield 2.0
        yield from ui.shot(f"{SHOTS}/live_walk_2_asked_{theme[8:-4].lower()}.png")
        yield from ui.key('ESC')
        yield 0.5
    assert all(chain.live for chain in rig().ik2d.chains)
    # The same dialog with a speed: OK plants.
    speed = STRIDE / STEP * bpy.context.scene.render.fps
    yield from ui.move(*ui.center(ui.region()[1]))
    in_window(
        bpy.ops.ik2d.plant_feet,
        'INVOKE_DEFAULT',
        question="Give the speed of the ground",
        asked="ground_velocity",
        ground_velocity=(0.0, speed, 0.0),
    )
    yield 1.0
    yield from ui.shot(f"{SHOTS}/live_walk_3_speed.png")
    yield from ui.key('RET')
    yield from ui.wait_until(lambda: not any(c.live for c in rig().ik2d.chains), "planting", 60)


ui.run(test)
