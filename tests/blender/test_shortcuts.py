# SPDX-License-Identifier: GPL-3.0-or-later
"""The shortcuts and the tool: they collide with nothing of Blender's, and are gone with the add-on."""

import importlib.util
from pathlib import Path

import bpy
import pytest
from bl_ui.space_toolsystem_common import ToolSelectPanelHelper

from ik2d_addon.features.drag import tool
from ik2d_addon.ui import keymaps, preferences

# What Blender listens to with the mouse over a 3D View in Pose Mode.
KEYMAPS = {
    "Pose",
    "3D View",
    "3D View Generic",
    "Object Non-modal",
    "Frames",
    "Screen",
    "Window",
    "Animation",
    "User Interface",
}
DATA = Path(bpy.utils.resource_path('LOCAL')) / "scripts" / "presets" / "keyconfig" / "keymap_data"
VARIANTS = ({}, {"select_mouse": 'RIGHT'}, {"legacy": True}, {"spacebar_action": 'TOOL'})


def keys_of_blender(name, settings):
    """Yield the events that one of Blender's keyconfigs binds in Pose Mode, of one set of its options."""
    spec = importlib.util.spec_from_file_location(name, DATA / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for keymap, _, contents in module.generate_keymaps(module.Params(**settings)):
        if keymap in KEYMAPS or keymap.startswith("3D View Tool: Pose"):
            yield from (item[1] for item in contents["items"])


@pytest.mark.parametrize(
    "name, settings",
    [("blender_default", settings) for settings in VARIANTS] + [("industry_compatible_data", {})],
)
def test_no_shortcut_collides_with_one_of_blender(name, settings):
    if not DATA.is_dir():
        pytest.skip("this Blender has no keyconfigs of its own")
    taken = list(keys_of_blender(name, settings))
    assert len(taken) > 100
    for one in keymaps.SHORTCUTS:
        for event in taken:
            if event["type"] != one.key:
                continue
            held = [event.get(modifier, False) for modifier in ("shift", "ctrl", "alt", "oskey")]
            same = all(
                have in (-1, want) for have, want in zip(held, (False, False, one.alt, False), strict=True)
            )
            assert not (event.get("any") or same), event


def test_each_shortcut_runs_an_operator_that_there_is():
    for one in keymaps.SHORTCUTS:
        assert getattr(bpy.ops.ik2d, one.operator.removeprefix("ik2d.")).get_rna_type()
    assert len({(one.key, one.alt) for one in keymaps.SHORTCUTS}) == len(keymaps.SHORTCUTS)


def tool_names():
    """Return the names of the tools of Pose Mode."""
    cls = ToolSelectPanelHelper._tool_class_from_space_type('VIEW_3D')
    return [tool.idname for tool in ToolSelectPanelHelper._tools_flatten(cls._tools['POSE']) if tool]


def test_the_tool_is_in_the_toolbar_once_and_goes_with_the_add_on():
    assert tool_names().count("ik2d.drag_tool") == 1
    tool.unregister()
    assert "ik2d.drag_tool" not in tool_names()
    tool.register()
    assert tool_names().count("ik2d.drag_tool") == 1


def test_the_tools_icon_is_one_of_blender():
    icons = Path(bpy.utils.system_resource('DATAFILES')) / "icons"
    assert (icons / f"{tool.IK2D_TL_drag.bl_icon}.dat").is_file()


def test_the_preferences_belong_to_the_extension_alone():
    assert preferences.EXTENSION == ""
