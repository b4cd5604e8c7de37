# SPDX-License-Identifier: GPL-3.0-or-later
"""The Make Native and Remove Native operators, and the controls in the sidebar."""

from typing import TYPE_CHECKING

from bpy.types import Context, Object, Operator, PropertyGroup, UILayout

from ...core import IK2DError
from ...rig.chain.native_state import acts, is_native
from ...ui.context import active_armature, shown_chain, why_no_chain
from ...ui.operator import ChainOperator, tick
from ...ui.registration import registration
from ...ui.text import draw_text
from . import remove_native
from .changes import acts_as_set, changed_since_made

if TYPE_CHECKING:
    from .build import Native

_ORDER = ("softness", "stretch", "compress", "influence", "bend", "turn_over")


def draw_native(layout: UILayout, _context: Context) -> None:
    """Draw the buttons of both operators."""
    row = layout.row(align=True)
    row.operator("ik2d.make_native", icon='DRIVER')
    row.operator("ik2d.remove_native", icon='X')


def draw_controls(layout: UILayout, chain: PropertyGroup, controls: Object) -> None:
    """Draw a native chain's controls, with their keying buttons, instead of its settings."""
    column = layout.column()
    column.use_property_decorate = True
    for name in _ORDER:
        if name in controls:
            column.prop(controls, f'["{name}"]', text=name.replace("_", " ").title())
    if not acts(chain) and not changed_since_made(chain):
        column.label(text="Baked: Make Native again to follow", icon='INFO')


def draw_changed(layout: UILayout, context: Context, chain: PropertyGroup) -> None:
    """Draw a warning if a native chain's drivers no longer match its settings."""
    changed = changed_since_made(chain)
    if changed:
        draw_text(layout, context, f"Native, but {changed}: Remove Native, then make it anew", 'ERROR')


class _OnChains(ChainOperator):
    """Base of both operators: on the active chain, or all enabled ones."""

    all: tick("All Chains", "Every enabled chain of the armature, not the active one alone")

    def chains(self, context: Context, native: bool) -> list[PropertyGroup]:
        """Return the active chain; of all enabled ones, those that are native, or those to make native."""
        if not self.all:
            return [shown_chain(context)]
        enabled = [chain for chain in active_armature(context).ik2d.chains if chain.enabled]
        return [chain for chain in enabled if (is_native(chain) if native else not acts_as_set(chain))]


class IK2D_OT_make_native(_OnChains, Operator):
    """Have Blender's own drivers bring the tip to its target: live, exact, and without this add-on"""

    bl_idname = "ik2d.make_native"
    bl_label = "Make Native"

    def execute(self, context):
        from .build import make_native

        chains = self.chains(context, native=False)
        made, faults = [], []
        for chain in chains:
            try:
                made.append(make_native(chain.id_data, chain))
            except IK2DError as error:
                faults.append(str(error))
        for fault in faults:
            self.report({'ERROR'} if not made else {'WARNING'}, fault)
        if not made:
            return {'CANCELLED'} if faults else self.refuse("All enabled chains are native already")
        context.view_layer.update()
        for warning in (warning for native in made for warning in native.warnings):
            self.report({'WARNING'}, warning)
        self.report({'INFO'}, _made_in_words(active_armature(context), chains, made))
        return {'FINISHED'}


def _made_in_words(armature: Object, chains: list[PropertyGroup], made: "list[Native]") -> str:
    if len(made) > 1:
        return f"{len(made)} chains of '{armature.name}' are native: the file plays without IK 2D"
    name = next(chain.name for chain in chains if chain.native_stand == made[0].controls)
    return f"Chain '{name}' is native: the file plays without IK 2D"


class IK2D_OT_remove_native(_OnChains, Operator):
    """Take away the drivers, constraints and empties that make the chain native; its keys show again"""

    bl_idname = "ik2d.remove_native"
    bl_label = "Remove Native"

    @staticmethod
    def why_not(context):
        if reason := why_no_chain(context):
            return reason
        return "" if any(map(is_native, active_armature(context).ik2d.chains)) else "No chain is native"

    def work(self, context):
        chains = [chain for chain in self.chains(context, native=True) if is_native(chain)]
        if not chains:
            what = "No enabled chain" if self.all else f"Chain '{shown_chain(context).name}'"
            raise IK2DError(f"{what} is {'native' if self.all else 'not native'}")
        names = [chain.name for chain in chains]
        for chain in chains:
            remove_native(chain.id_data, chain)
        context.view_layer.update()
        said = f"Chain '{names[0]}' is" if len(names) == 1 else f"{len(names)} chains are"
        return f"{said} native no more"


classes = (IK2D_OT_make_native, IK2D_OT_remove_native)
register, unregister = registration(classes)
