# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the active mechanism to drivers, and remove these: the operators and their buttons."""

from bpy.types import Context, Operator, UILayout

from ....core.words import say
from ....rig.chain.native_state import controls_of, is_native
from ....ui.context import shown_mechanism, why_no_mechanism
from ....ui.operator import ChainOperator
from ....ui.parts import entry
from ....ui.registration import registration
from ....ui.text import draw_text, field
from ..changes import acts_as_set
from ..empties import remove_native
from .changes import mechanism_changed
from .reasons import why_not_native


class IK2D_OT_mechanism_make_native(ChainOperator, Operator):
    """Have Blender's own drivers close the loops, also where this add-on is not installed"""

    bl_idname = "ik2d.mechanism_make_native"
    bl_label = "Convert Mechanism to Drivers"

    @staticmethod
    def why_not(context):
        return why_no_mechanism(context) or why_not_native(shown_mechanism(context))

    def work(self, context):
        from .build import make_mechanism_native

        mechanism = shown_mechanism(context)
        native = make_mechanism_native(mechanism.id_data, mechanism)
        context.view_layer.update()
        name = mechanism.name
        done = say("Mechanism '{name}' is on drivers: the file plays without IK 2D", name=name)
        self.tell(done, native.warnings)


class IK2D_OT_mechanism_remove_native(ChainOperator, Operator):
    """Remove the drivers, constraints and empty that were made for the mechanism; its own keys act again"""

    bl_idname = "ik2d.mechanism_remove_native"
    bl_label = "Remove Drivers of Mechanism"

    @staticmethod
    def why_not(context):
        if reason := why_no_mechanism(context):
            return reason
        mechanism = shown_mechanism(context)
        on_none = say("Mechanism '{name}' is not on drivers", name=mechanism.name)
        return "" if is_native(mechanism) else on_none

    def work(self, context):
        mechanism = shown_mechanism(context)
        remove_native(mechanism.id_data, mechanism)
        context.view_layer.update()
        return say("Mechanism '{name}' is no longer on drivers", name=mechanism.name)


def draw_native(layout: UILayout, context: Context) -> None:
    """Draw one toggle that converts the active mechanism to drivers and reverts it, and its controls."""
    mechanism = shown_mechanism(context)
    native = mechanism is not None and is_native(mechanism)
    if native and (changed := mechanism_changed(mechanism)):
        words = say("On drivers, but {changed}: convert again", changed=changed)
        draw_text(layout, context, words, 'ERROR')
    if native and not acts_as_set(mechanism):
        layout.operator("ik2d.mechanism_make_native", text=say("Convert Again"), translate=False)
    label = say("Remove Drivers") if native else say("Convert to Drivers")
    operator = "ik2d.mechanism_remove_native" if native else "ik2d.mechanism_make_native"
    layout.operator(operator, text=label, translate=False, icon='DRIVER', depress=native)
    controls = controls_of(mechanism) if native else None
    for name in (one for one in (controls or ()) if one.endswith(" length")):
        field(layout, context, controls, f'["{name}"]', name)


HEADINGS = {"convert-to-drivers": "mechanism_make_native mechanism_remove_native"}
MENU = {"rig": [entry("ik2d.mechanism_make_native"), entry("ik2d.mechanism_remove_native")]}
classes = (IK2D_OT_mechanism_make_native, IK2D_OT_mechanism_remove_native)
register, unregister = registration(classes)
