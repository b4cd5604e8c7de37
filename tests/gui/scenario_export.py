# SPDX-License-Identifier: GPL-3.0-or-later
"""Export for Engine from the file dialog: it runs while Blender stays open, and Escape ends it."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import animation, select_target_then_tip, ui

SHOTS = os.environ["IK2D_SHOTS"]
OUT = os.path.join(SHOTS, "arm.fbx")


def exporting():
    """Whether an export waits in the window, for its dialog or for its process."""
    return any(operator.bl_idname == "IK2D_OT_export" for operator in ui.window().modal_operators)


def browser():
    """Return the area of the file dialog, or None."""
    return next((area for area in ui.window().screen.areas if area.type == 'FILE_BROWSER'), None)


def begin(area):
    """Open the dialog, name the file, and press Enter in it as its button does."""
    region = next(region for region in area.regions if region.type == 'WINDOW')
    with bpy.context.temp_override(window=ui.window(), area=area, region=region):
        assert bpy.ops.ik2d.export('INVOKE_DEFAULT', format=".fbx") == {'RUNNING_MODAL'}
    yield from ui.wait_until(lambda: browser() and browser().spaces.active.params, "the dialog")
    parameters = browser().spaces.active.params
    parameters.directory, parameters.filename = SHOTS.encode(), "arm.fbx"
    yield from ui.shot(f"{SHOTS}/export_dialog.png")
    region = next(region for region in browser().regions if region.type == 'WINDOW')
    with bpy.context.temp_override(window=ui.window(), area=browser(), region=region):
        assert bpy.ops.file.execute() == {'FINISHED'}
    yield from ui.wait_until(lambda: browser() is None and exporting(), "the export")


def test():
    """End one export with Escape, and let another one finish."""
    bpy.context.preferences.view.filebrowser_display_type = 'SCREEN'
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from select_target_then_tip()
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(bpy.data.objects["Arm"].ik2d.chains) == 1, "the chain")
    before = animation()
    if os.path.exists(OUT):
        os.remove(OUT)
    yield from begin(area)
    yield from ui.key('ESC')
    yield from ui.wait_until(lambda: not exporting(), "the end", 30)
    assert not os.path.exists(OUT) and animation() == before
    yield from begin(next(one for one in ui.window().screen.areas if one.type == 'VIEW_3D'))
    yield from ui.wait_until(lambda: not exporting(), "the file", 120)
    assert os.path.getsize(OUT) > 10_000 and animation() == before
    assert bpy.data.objects["Arm"].ik2d.chains[0].enabled


ui.run(test)
