# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scenarios share: finding the arm on the screen, and reading what Blender made of it."""

import os
import sys

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["IK2D_GUI_TOOLS"])
import blender_ui as ui  # noqa: E402

# The sub-panels of Chain, from the top: the first closed header is so far below Bend, each next one below
# that, in pixels at scale 1.
SUB_PANELS, FIRST, NEXT = ("Reach", "Joints", "Foot or Hand", "Advanced"), 32, 26


def at(point):
    """Return where a point of the world is in the window."""
    area, view = ui.region()
    x, y = location_3d_to_region_2d(view, area.spaces.active.region_3d, Vector(point))
    return view.x + x, view.y + y


def look_from_the_front():
    """Numpad 1, then Home: the front view of everything."""
    area, view = ui.region()
    yield from ui.move(*ui.center(view))
    yield from ui.key('NUMPAD_1')
    view_3d = area.spaces.active.region_3d
    yield from ui.wait_until(lambda: view_3d.view_perspective == 'ORTHO', "the front view")
    yield 1.5  # the view turns smoothly
    yield from ui.key('HOME')
    yield 1.5


def shift_click(x, y):
    """Click with Shift held; a real key must have arrived before the real button is pressed."""
    if ui.SIMULATE:
        yield from ui.click(x, y, 'LEFTMOUSE', 'shift')
        return
    yield from ui.move(x, y)
    print("@xdo keydown shift", flush=True)  # blender-gui hands it to xdotool
    yield 0.3
    yield from ui.click(x, y)
    yield 0.3
    print("@xdo keyup shift", flush=True)
    yield 0.3


def click_target():
    """Click the target's circle, below, then elsewhere on it, until it is the active object.

    A view that still turns moves it from the mouse, a bone may lie over it, and the sidebar's edge takes
    what is clicked beside it.
    """
    target = bpy.data.objects["Target"]
    sides = [Vector(side) for side in ((0, 0, -1), (1, 0, 0), (0, 0, 1), (-1, 0, 0))]
    for side in 3 * sides:
        yield from ui.click(*at(target.matrix_world.translation + target.empty_display_size * side))
        yield 1.0
        if bpy.context.object == target:
            return
    raise AssertionError(f"no click selected the target, but {bpy.context.object} in {bpy.context.mode}")


def select_target_then_tip():
    """As for Blender's own IK: click the target, Shift-click the arm, Pose Mode, click the last bone."""
    yield from look_from_the_front()
    arm = bpy.data.objects["Arm"]
    yield from click_target()
    yield from shift_click(*at((-0.25, 0, 0.75)))
    yield from ui.wait_until(lambda: bpy.context.object == arm, "the arm's selection")
    yield from ui.key('TAB', 'ctrl')
    yield from ui.wait_until(lambda: arm.mode == 'POSE', "Pose Mode")
    yield from ui.click(*at((0.05, 0, 2.0)))
    yield from ui.wait_until(lambda: bpy.context.active_pose_bone.name == "fore", "the bone's selection")


def search(name, picture=""):
    """Type a name into F3's search and take the first hit; picture: where to save what it lists."""
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('F3')
    yield 0.5
    yield from ui.text(name)
    if picture:
        yield from ui.shot(picture)
    yield from ui.key('RET')


def click_small_button(area, sidebar, wanted):
    """Click one of the small buttons at the right: beside the list, and the one that flips the bend."""
    step = int(8 * bpy.context.preferences.system.ui_scale)
    yield from ui.move(*ui.center(ui.region()[1]))
    yield 0.3  # the button that was clicked last is left
    for x in range(sidebar.x + sidebar.width - 3 * step, sidebar.x + sidebar.width // 2, -step):
        for y in range(sidebar.y + sidebar.height, sidebar.y + sidebar.height - 90 * step, -step):
            yield from ui.move(x, y)
            if wanted in ui.under_mouse(area, sidebar):
                yield from ui.click(x, y - step // 2)
                return
    raise AssertionError(f"no small button for {wanted!r}")


def click_sub_panel(area, sidebar, name, wanted=""):
    """Click the header of a sub-panel of Chain, with those above it closed; then a button of it is there."""
    try:  # below it stands how a straight limb bends
        x, y = yield from ui.find_button(area, sidebar, "ik2d.turn_plane")
    except AssertionError:
        x, y = yield from ui.find_button(area, sidebar, "bend")
    below = FIRST + NEXT * SUB_PANELS.index(name)
    yield from ui.click(x, y - int(below * bpy.context.preferences.system.ui_scale))
    yield 0.8  # panels slide to their places
    if wanted:
        yield from ui.find_button(area, sidebar, wanted)


def open_result(area, sidebar, wanted):
    """Click the line of the bake's result, below Clear Bake; then a button of its details is there."""
    _x, y = yield from ui.find_button(area, sidebar, "ik2d.clear_bake")
    yield from ui.click(sidebar.x + 60, y - int(24 * bpy.context.preferences.system.ui_scale))
    yield 0.8
    yield from ui.find_button(area, sidebar, wanted)


def zoom_to_width(sidebar, width):
    """Zoom into the sidebar until no more than so many of its own pixels fit, as if it were so narrow."""
    view = sidebar.view2d

    def shown():
        return view.region_to_view(sidebar.width, 0)[0] - view.region_to_view(0, 0)[0]

    yield from ui.move(*ui.center(sidebar))
    for _ in range(20):
        if shown() <= width:
            break
        yield from ui.key('NUMPAD_PLUS')
        yield 0.3
    print("the sidebar shows", shown(), "pixels", flush=True)
    assert 0.8 * width < shown() <= width, shown()


def scroll(sidebar, wheel):
    """Turn the wheel over the sidebar, as far as it goes."""
    yield from ui.move(*ui.center(sidebar))
    for _ in range(20):
        yield from ui.button('PRESS', wheel)
    yield from ui.move(*ui.center(ui.region()[1]))
    yield 1.0


def take_theme(name):
    """Take one of Blender's own themes."""
    paths = [os.path.join(folder, name) for folder in bpy.utils.preset_paths("interface_theme")]
    (path,) = [path for path in paths if os.path.exists(path)]
    bpy.ops.script.execute_preset(filepath=path, menu_idname="USERPREF_MT_interface_theme_presets")


def keyed_frames():
    """Return {(data path, index): number of keys} of the arm's action in use."""
    return {channel: len(keys) for channel, keys in animation().items()}


def animation():
    """Return {(data path, index): every key's place, handles and kinds} of the arm's action in use."""
    data = bpy.data.objects["Arm"].animation_data
    if data is None or data.action is None:
        return {}
    if not hasattr(data, "action_slot"):  # Blender 4.2 and 4.3
        curves = data.action.fcurves
    elif data.action_slot is None:
        curves = ()
    else:
        curves = data.action.layers[0].strips[0].channelbag(data.action_slot, ensure=True).fcurves
    return {
        (curve.data_path, curve.array_index): [
            (*key.co, *key.handle_left, *key.handle_right, key.handle_left_type, key.interpolation, key.type)
            for key in curve.keyframe_points
        ]
        for curve in curves
    }


def evaluated(frame):
    """Return where Blender has the arm's root, its tip and the target on a frame."""
    scene = bpy.context.scene
    scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    arm = bpy.data.objects["Arm"].evaluated_get(graph)
    target = bpy.data.objects["Target"].evaluated_get(graph)
    return (
        arm.matrix_world @ arm.pose.bones["upper"].head,
        arm.matrix_world @ arm.pose.bones["fore"].tail,
        target.matrix_world.translation.copy(),
    )


def assert_tip_follows(frames):
    """The tip is on the target on every frame in reach, else as near as the arm's length lets it."""
    reach = sum(bone.length for bone in bpy.data.objects["Arm"].data.bones)
    short = []
    for frame in frames:
        root, tip, target = evaluated(frame)
        missing = max(0.0, (target - root).length - reach)
        assert abs((tip - target).length - missing) < 1e-5 * reach, (frame, root, tip, target)
        short += [frame] if missing else []
    assert 0 < len(short) < len(frames), short  # the scene has both kinds of frames
    return short
