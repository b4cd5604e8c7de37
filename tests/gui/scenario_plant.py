# SPDX-License-Identifier: GPL-3.0-or-later
"""A fox whose boots slide: its contacts are found and held by buttons, an end is moved, and held again."""

import os
import sys
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import click_sub_panel, look_from_the_front, scroll, ui

SHOTS = os.environ["IK2D_SHOTS"]
SCENE = Path(__file__).resolve().parents[2] / "sample_scenes" / "08_cutout.blend"
LEGS = {"Leg.near": "foot.near", "Leg.far": "foot.far"}
# The header of Contacts is so far below the button that removes the foot, in pixels.
BELOW = 28
REACH = 0.6


def fox():
    """Return the armature; undo makes it anew."""
    return bpy.data.objects["Fox"]


def curves(ob):
    """Return the F-Curves of an object."""
    bags = (
        bag
        for layer in ob.animation_data.action.layers
        for strip in layer.strips
        for bag in strip.channelbags
    )
    return [curve for bag in bags for curve in bag.fcurves]


def spans(name, contact):
    """Return the first and last frame of each contact that is keyed."""
    path = f'{fox().ik2d.chains[name].path_from_id()}.foot.{contact}'
    (curve,) = [one for one in curves(fox()) if one.data_path == path]
    on = [frame for frame in range(1, 149) if curve.evaluate(frame) > 0.5]
    starts = [frame for frame in on if frame - 1 not in on]
    return [(frame, next(end for end in on if end >= frame and end + 1 not in on)) for frame in starts]


def slide(name, pivot, contacts):
    """Return how far Blender has a pivot go within contacts, at most, in parts of the leg's length."""
    chain, worst = fox().ik2d.chains[name], 0.0
    place = fox().data.bones[chain.tip].tail_local + Vector(getattr(chain.foot, pivot))
    for first, last in contacts:
        seen = []
        for frame in range(first, last + 1):
            bpy.context.scene.frame_set(frame)
            shown = fox().evaluated_get(bpy.context.evaluated_depsgraph_get())
            bone = shown.pose.bones[LEGS[name]]
            seen.append(shown.matrix_world @ bone.matrix @ bone.bone.matrix_local.inverted() @ place)
        worst = max(worst, *((one - seen[0]).length for one in seen))
    return worst / REACH


def planted(name):
    """Return whether a leg has keys of Plant Feet."""
    from bl_ext.user_default.ik2d.ik2d_addon.features.plant.before import has_planted_motion

    return has_planted_motion(fox().ik2d.chains[name])


def sliding_fox():
    """Bake the fox's legs, and take its body 15 % less far than its steps."""
    for name in LEGS:
        bpy.ops.ik2d.bake(chain=name)
    (way,) = [
        one
        for one in curves(fox())
        if one.data_path == 'pose.bones["hips"].location' and one.array_index == 2
    ]
    for key in way.keyframe_points:
        for co in (key.co, key.handle_left, key.handle_right):
            co.y = 0.85 * co.y
    way.update()


def test():
    """Find contacts, plant, end a contact earlier, plant again, clear."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    bpy.ops.wm.open_mainfile(filepath=str(SCENE))
    yield 2.0
    area, sidebar = yield from ui.sidebar("IK 2D")
    bpy.context.view_layer.objects.active = fox()
    fox().select_set(True)
    fox().ik2d.active_index = 0
    sliding_fox()
    bpy.ops.ed.undo_push(message="The fox")
    yield from look_from_the_front()
    yield from scroll(sidebar, 'WHEELDOWNMOUSE')
    yield from click_sub_panel(area, sidebar, "Foot or Hand")
    yield from scroll(sidebar, 'WHEELDOWNMOUSE')  # what it opened is below the window's edge
    x, y = yield from ui.find_button(area, sidebar, "ik2d.foot_remove")
    yield from ui.shot(f"{SHOTS}/plant_1_sliding.png")
    yield from ui.click(sidebar.x + 60, y - BELOW)
    yield 0.8  # panels slide to their places
    yield from scroll(sidebar, 'WHEELDOWNMOUSE')
    bpy.context.window_manager.ik2d_overlay.show = True
    from_the_panel = "bl_ext.user_default.ik2d"
    preferences = bpy.context.preferences.addons[from_the_panel].preferences
    preferences.overlay.show = True

    yield from ui.click_button(area, sidebar, "ik2d.find_contacts")
    yield from ui.wait_until(lambda: fox().ik2d.chains[0].foot.is_property_set("contact_toe"), "the contacts")
    found = {name: spans(name, "contact_toe") for name in LEGS}
    assert all(len(each) >= 3 for each in found.values()), found
    before = max(slide(name, "ball", found[name]) for name in LEGS)
    assert before > 0.01, before
    bpy.context.scene.frame_set(74)
    yield 0.5
    yield from ui.shot(f"{SHOTS}/plant_2_found.png")

    yield from ui.click_button(area, sidebar, "ik2d.plant_feet")
    yield from ui.wait_until(
        lambda: all(map(planted, LEGS)) and not bpy.context.window.modal_operators,
        "planting",
        60,
    )
    yield 0.5
    left = max(slide(name, "ball", spans(name, "contact_toe")) for name in LEGS)
    print("slides", before, left, flush=True)
    assert left < 1e-5, left
    bpy.context.scene.frame_set(74)
    yield 0.5
    yield from ui.shot(f"{SHOTS}/plant_3_planted.png")

    # The end of a contact, three frames earlier: the tick off, and I over it.
    first, last = next(span for span in spans("Leg.near", "contact_toe") if span[0] > 60)
    bpy.context.scene.frame_set(last - 2)
    yield 0.3
    yield from ui.click_button(area, sidebar, "].foot.contact_toe")
    yield from ui.wait_until(lambda: not fox().ik2d.chains[0].foot.contact_toe, "the tick")
    yield from ui.key('I')
    yield 0.5
    assert (first, last - 3) in spans("Leg.near", "contact_toe"), spans("Leg.near", "contact_toe")
    yield from ui.click_button(area, sidebar, "ik2d.plant_feet")
    yield 5.0
    yield from ui.wait_until(lambda: not bpy.context.window.modal_operators, "planting again", 60)
    assert (first, last - 3) in spans("Leg.near", "contact_toe")
    assert max(slide(name, "ball", spans(name, "contact_toe")) for name in LEGS) < 1e-5
    yield from ui.shot(f"{SHOTS}/plant_4_again.png")

    yield from ui.click_button(area, sidebar, "ik2d.plant_clear")
    yield from ui.wait_until(lambda: not any(map(planted, LEGS)), "the clear")
    keyed_by_hand = f'{fox().ik2d.chains["Leg.near"].path_from_id()}.foot.contact_toe'
    assert {one.data_path for one in curves(fox()) if ".foot.contact" in one.data_path} <= {keyed_by_hand}
    assert abs(max(slide(name, "ball", found[name]) for name in LEGS) - before) < 1e-6


ui.run(test)
