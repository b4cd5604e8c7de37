# SPDX-License-Identifier: GPL-3.0-or-later
"""A live chain is switched to the bones' own keys and back from the panel Rig, without a jump, and undone."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import evaluated, scroll, select_target_then_tip, ui

SHOTS = os.environ["IK2D_SHOTS"]


def arm():
    """Return the arm; undo makes another of it."""
    return bpy.data.objects["Arm"]


def show(sidebar, picture):
    """Redraw the sidebar and keep a picture of it."""
    sidebar.tag_redraw()
    yield 0.6
    yield from ui.shot(f"{SHOTS}/match_{picture}.png")


def tip_on(frame):
    """Return where the tip is on a frame."""
    _root, tip, _target = evaluated(frame)
    return tip


def keyed(path):
    """Return on which frames something of the arm has keys."""
    from bl_ext.user_default.ik2d.ik2d_addon.rig.animation.versions import existing_fcurves

    curves = [curve for curve in existing_fcurves(arm()) if path in curve.data_path]
    return sorted({point.co[0] for curve in curves for point in curve.keyframe_points})


def switch(area, sidebar, frame, button):
    """Switch at a frame by a button of the panel; the tip stays there and on the frame before."""
    before = [tip_on(one) for one in (frame - 1, frame)]
    yield from ui.click_button(area, sidebar, f"{button}(switch=True)")
    yield from ui.wait_until(lambda: frame in keyed("influence"), "the switch")
    after = [tip_on(one) for one in (frame - 1, frame)]
    assert max((one - other).length for one, other in zip(before, after, strict=True)) < 1e-4, (before, after)


def test():
    """As a person would."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from select_target_then_tip()
    x, y = yield from ui.find_button(area, sidebar, "ik2d.chain_add")
    yield from ui.click(x, y - int(62 * bpy.context.preferences.system.ui_scale))  # the header of Rig
    yield from ui.find_button(area, sidebar, "ik2d.snap_fk")
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(arm().ik2d.chains) == 1, "the chain")
    yield from show(sidebar, "1_live")
    yield from scroll(sidebar, 'WHEELDOWNMOUSE')
    yield from switch(area, sidebar, 4, "ik2d.snap_fk")
    assert keyed("influence") == [3, 4] and keyed('"upper"') == [3, 4]
    assert (tip_on(15) - tip_on(4)).length < 1e-5  # its own keys hold it
    yield from show(sidebar, "2_by_its_own_keys")
    yield from switch(area, sidebar, 20, "ik2d.target_to_tip")
    assert keyed("influence") == [3, 4, 19, 20]
    assert (tip_on(20) - tip_on(15)).length < 1e-4 < (tip_on(22) - tip_on(20)).length
    yield from show(sidebar, "3_by_the_target")

    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: keyed("influence") == [3, 4], "one undo")
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: not keyed("influence") and not keyed('"upper"'), "the next")


ui.run(test)
