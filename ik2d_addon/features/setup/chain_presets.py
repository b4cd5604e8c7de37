# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of a chain in Blender's own preset system: those of the add-on, and the user's own.

They hold solver settings; not the bones, the target or the joints. Those of machines that turn about a post
also choose that plane; which bone the post is, and how far it turns, stays.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel
from bpy.props import StringProperty
from bpy.types import Operator, Panel

from ...core.words import refusal, say
from ...rig.animation.remembered import put_back_after
from ...rig.chain.native_state import give
from ...rig.chain.post import POST
from ...ui.context import shown_chain, to_see
from ...ui.operator import ChainOperator
from ...ui.registration import register_classes, unregister_classes

SUBDIR = "ik2d/chain"
# The folder of the presets that come with the add-on.
FOLDER = str(Path(__file__).resolve().parent)
# The settings of a chain that a preset holds.
VALUES = (
    "solver",
    "softness",
    "hand_rotation",
    "tip_rotation",
    "tip_angle_offset",
    "tip_angle_first",
    "post_reach_over",
    "stretch",
    "compress",
    "stretch_bones",
    "slide_weight",
    "start_from",
    "root_turns_freely",
    "iterations",
    "tolerance",
)


def apply_preset(chain: bpy.types.PropertyGroup, filepath: str) -> None:
    """Give a chain the settings of a preset's file; raise the errors that the file raises."""
    with _made_active(chain):
        bpy.utils.execfile(filepath)
        for name in VALUES:
            give(chain, name, getattr(chain, name))
    chain.id_data.update_tag()


@contextmanager
def _made_active(chain: bpy.types.PropertyGroup) -> Iterator[None]:
    """Make a chain the active one of the active object for a while: preset files name it so."""
    armature, settings = chain.id_data, chain.id_data.ik2d
    with put_back_after([(settings, "active_index")]):
        settings.active_index = list(settings.chains).index(chain)
        with bpy.context.temp_override(object=armature, active_object=armature):
            yield


class IK2D_OT_preset_apply(ChainOperator, Operator):
    """Set up the active chain by this preset"""

    bl_idname = "ik2d.preset_apply"
    bl_label = "Apply Chain Preset"

    filepath: StringProperty(
        name="File", description="The preset's file", subtype='FILE_PATH', options={'SKIP_SAVE', 'HIDDEN'}
    )
    menu_idname: StringProperty(
        name="Menu", description="Menu that lists the presets", options={'SKIP_SAVE', 'HIDDEN'}
    )

    def work(self, context):
        chain, name = shown_chain(context), os.path.basename(self.filepath)
        if not os.path.isfile(self.filepath):
            raise refusal("There is no preset '{path}'", path=self.filepath)
        try:
            apply_preset(chain, self.filepath)
        except Exception as error:  # the user's own file may hold anything
            raise refusal(
                "The preset '{name}' could not be applied: {error}", name=name, error=error
            ) from None
        label = bpy.path.display_name(name, title_case=False)
        shows = to_see(chain)
        if chain.plane == POST and not chain.post:
            shows = say("; choose its Post, the bone that its plane turns about")
        return say(
            "Chain '{chain}' has the preset '{label}'{shows}", chain=chain.name, label=label, shows=shows
        )


class IK2D_OT_preset_add(AddPresetBase, ChainOperator, Operator):
    """Add a preset of how the active chain is solved, or remove one"""

    bl_idname = "ik2d.preset_add"
    bl_label = "Add Chain Preset"
    preset_menu = "IK2D_PT_presets"
    preset_subdir = SUBDIR
    preset_defines = ["settings = bpy.context.object.ik2d", "chain = settings.chains[settings.active_index]"]
    preset_values = [f"chain.{name}" for name in VALUES]

    def execute(self, context):
        with _made_active(shown_chain(context)):
            return super().execute(context)


class IK2D_PT_presets(PresetPanel, Panel):
    """Presets of how a chain is solved; add your own"""

    bl_label = "Chain Presets"
    preset_subdir = SUBDIR
    preset_operator = "ik2d.preset_apply"
    preset_add_operator = "ik2d.preset_add"


HEADINGS = {"presets": "preset_*"}
classes = (IK2D_OT_preset_apply, IK2D_OT_preset_add, IK2D_PT_presets)


def register() -> None:
    """Register the presets and the add-on's folder of them."""
    with ExitStack() as undo:
        register_classes(classes)
        undo.callback(unregister_classes, classes)
        bpy.utils.register_preset_path(FOLDER)
        undo.pop_all()


def unregister() -> None:
    """Unregister the folder and the presets."""
    bpy.utils.unregister_preset_path(FOLDER)
    unregister_classes(classes)
