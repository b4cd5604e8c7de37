# SPDX-License-Identifier: GPL-3.0-or-later
"""Export for Engine: a file dialog, then the export of a copy, with progress; Escape ends it."""

import os

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty
from bpy.types import Operator

from ...core.words import listed, noted
from ...rig.chain.paths.owners import with_settings
from ...ui.context import active_armature, why_no_chain, why_not_edit
from ...ui.parts import entry
from ...ui.registration import registration
from ...ui.sliced import SlicedOperator
from ...ui.text import for_settings
from .clips import solves
from .formats import FORMATS
from .process import export_copy_steps


def _why_not(context):
    """Say why nothing can be exported now; "" where there is a chain or a mechanism."""
    armature = active_armature(context)
    has_machine = armature is not None and len(armature.ik2d.mechanisms) > 0
    return why_not_edit(context) if has_machine else why_no_chain(context)


class IK2D_OT_export(SlicedOperator, Operator):
    """Write the rig with all its clips for an engine: baked, without controls, from a copy of this file"""

    bl_idname = "ik2d.export"
    bl_label = "Export for Engine"

    filepath: StringProperty(
        name="File", description="File to write", subtype='FILE_PATH', options={'SKIP_SAVE'}
    )
    check_existing: BoolProperty(
        name="Check Existing",
        description="Ask before a file is written over",
        default=True,
        options={'HIDDEN'},
    )
    filter_glob: StringProperty(
        name="Filter",
        description="Files that the dialog shows",
        default=";".join(f"*{ending}" for ending in FORMATS),
        options={'HIDDEN'},
    )
    format: EnumProperty(
        name="Format",
        description="Format of the file",
        items=[
            (".glb", "glTF Binary", "One file, for three.js, Godot and most others"),
            (".gltf", "glTF Separate", "A file with a file of data and textures next to it"),
            (".fbx", "FBX", "For Unity and Unreal"),
            (".usdc", "USD", "One file for each clip, since USD has one timeline"),
        ],
    )
    deform_only: BoolProperty(
        name="Deform Bones Only",
        description="Leave out bones that deform nothing, and carry none that do",
    )

    why_not = staticmethod(_why_not)
    doing, done_noun = noted("Exporting"), noted("Export")
    _by_dialog = False

    def invoke(self, context, event):
        """Open the file dialog, unless a script has named the file."""
        if self.properties.is_property_set("filepath"):
            return super().invoke(context, event)
        self._by_dialog = True
        stem = os.path.splitext(bpy.data.filepath)[0] or active_armature(context).name
        self.filepath = stem + self.format
        context.window_manager.fileselect_add(self)
        return {'RUNNING_MODAL'}

    def check(self, _context):
        """Give the file's name the ending of the format chosen."""
        stem, ending = os.path.splitext(self.filepath)
        wanted = (stem if ending.lower() in FORMATS else self.filepath) + self.format
        changed = wanted != self.filepath
        self.filepath = wanted
        return changed

    def draw(self, _context):
        """Draw the settings at the side of the file dialog."""
        layout = for_settings(self.layout)
        layout.prop(self, "format")
        layout.prop(self, "deform_only")

    def execute(self, context):
        """Export, for a person in slices."""
        return super().invoke(context, None) if self._by_dialog else super().execute(context)

    def begin(self, context):
        active = active_armature(context)
        others = [ob for ob in with_settings(context.selected_objects) if ob != active]
        armatures = [active, *(ob for ob in others if solves([ob]))]
        steps = export_copy_steps(armatures, self.filepath, deform_only=self.deform_only)
        return steps, listed([armature.name for armature in armatures], most=2)

    def finish(self, _context, result):
        self.tell(result.sentence(), (*result.warnings, *result.misses))


HEADINGS = {"export-for-engine": "export"}
MENU = {"rig": [entry("ik2d.export", 'EXPORT')]}
classes = (IK2D_OT_export,)
register, unregister = registration(classes)
