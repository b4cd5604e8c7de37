# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators Convert to Drivers and Remove Drivers, and the settings in the sidebar that drivers read."""

from typing import TYPE_CHECKING

from bpy.types import Context, Object, Operator, PropertyGroup, UILayout

from ...core import IK2DError
from ...core.words import listed, noted, refusal, say
from ...rig.chain.native_state import controls_of, is_native
from ...rig.chain.readable import in_words
from ...ui.context import active_armature, shown_chain, why_no_chain
from ...ui.operator import ChainOperator, tick
from ...ui.parts import entry
from ...ui.registration import registration
from ...ui.text import draw_text, field
from . import remove_native
from .changes import acts_as_set, changed_since_made

if TYPE_CHECKING:
    from .build import Native


def adopted_with(chain: PropertyGroup) -> list[PropertyGroup]:
    """Return the chains that one Adopt has taken together with a chain; it alone where that is not known."""
    batch = chain.adopted.batch if hasattr(chain, "adopted") else 0  # not where Adopt was removed
    together = [other for other in chain.id_data.ik2d.chains if batch and other.adopted.batch == batch]
    return [other for other in together if len(other.adopted.constraints)] or [chain]


def draw_native(layout: UILayout, context: Context) -> None:
    """Draw one toggle that converts the active chain to drivers and reverts it."""
    chain = shown_chain(context)
    native = chain is not None and is_native(chain)
    if native and not acts_as_set(chain):
        layout.operator("ik2d.make_native", text=say("Convert Again"), translate=False, icon='DRIVER')
    label = say("Remove Drivers") if native else IK2D_OT_make_native.bl_label
    operator = "ik2d.remove_native" if native else "ik2d.make_native"
    layout.operator(operator, text=label, translate=False, icon='DRIVER', depress=native)
    if chain is not None and len(adopted_with(chain)) > 1:
        label = say("Remove Drivers of This Limb") if native else say("Convert This Limb Only")
        layout.operator(operator, text=label, translate=False, icon='DRIVER').this_only = True


def draw_setting(
    layout: UILayout, context: Context, chain: PropertyGroup, name: str, group: PropertyGroup | None = None
) -> None:
    """Draw one of a chain's settings; of a chain on drivers the control that acts in its place, if any.

    group: of the chain's settings that it is in, if it is in one.
    """
    controls, group = controls_of(chain), group or chain
    if controls is None:
        field(layout, context, group, name)
    elif name in controls:
        label = group.bl_rna.properties[name].name
        field(layout, context, controls, f'["{name}"]', label)


def draw_bend(layout: UILayout, context: Context, chain: PropertyGroup) -> None:
    """Draw the side that a chain bends to, or its control on drivers, with a button that flips it."""
    row = layout.row(align=True)
    field(row, context, chain, "bend" if controls_of(chain) is None else "shown_bend")
    row.operator("ik2d.flip", text="", icon='MOD_MIRROR').chain = chain.name


def draw_bend_control(layout: UILayout, context: Context, chain: PropertyGroup) -> None:
    """Draw the number that keys and drivers set the bend of a chain on drivers by: below 0 it is Negative."""
    controls = controls_of(chain)
    if controls is not None and "bend" in controls:
        field(layout, context, controls, '["bend"]', say("Bend to Key"))


def draw_changed(layout: UILayout, context: Context, chain: PropertyGroup) -> None:
    """Draw a warning if a native chain's drivers no longer match its settings."""
    changed = changed_since_made(chain)
    if changed:
        draw_text(
            layout,
            context,
            say("On drivers, but {changed}: remove these, then convert again", changed=changed),
            'ERROR',
        )


class _OnChains(ChainOperator):
    """Base of both operators: on the active chain with those adopted with it, or on all enabled ones."""

    all: tick("All Chains", "Every enabled chain of the armature")
    this_only: tick("This Limb Only", "The active chain alone, not all that were adopted with it")

    def chains(self, context: Context, native: bool) -> list[PropertyGroup]:
        """Return the active chain; of all enabled ones, those that are native, or those to make native."""
        chain = shown_chain(context)
        if not self.all and (self.this_only or len(adopted_with(chain)) == 1):
            return [chain]
        chains = active_armature(context).ik2d.chains if self.all else adopted_with(chain)
        enabled = [chain for chain in chains if chain.enabled]
        return [chain for chain in enabled if (is_native(chain) if native else not acts_as_set(chain))]


class IK2D_OT_make_native(_OnChains, Operator):
    """Have Blender's own drivers bring the tip to its target, also where this add-on is not installed"""

    bl_idname = "ik2d.make_native"
    bl_label = "Convert to Drivers"

    def work(self, context):
        from .build import make_native

        chains = self.chains(context, native=False)
        made, faults = [], []
        for chain in chains:
            try:
                made.append(make_native(chain.id_data, chain))
            except IK2DError as error:
                faults.append(str(error))
            except UnicodeDecodeError as error:  # a name that is no text
                faults.append(in_words(error))
        if not made:
            for fault in faults[:-1]:
                self.refuse(fault)
            raise IK2DError(faults[-1] if faults else say("All enabled chains are on drivers already"))
        self.warn(faults)
        context.view_layer.update()
        self.warn(warning for native in made for warning in native.warnings)
        return _made_in_words(active_armature(context), chains, made)


def _made_in_words(armature: Object, chains: list[PropertyGroup], made: "list[Native]") -> str:
    if len(made) > 1:
        done = say("{count} chains of '{armature}' are on drivers", count=len(made), armature=armature.name)
    else:
        name = next(chain.name for chain in chains if chain.native_stand == made[0].controls)
        done = say("Chain '{name}' is on drivers", name=name)
    left = [chain.name for chain in armature.ik2d.chains if chain.enabled and not is_native(chain)]
    if left:
        return say("{done}; {names} still need IK 2D or a bake", done=done, names=listed(left))
    return say("{done}: the file plays without IK 2D", done=done)


class IK2D_OT_remove_native(_OnChains, Operator):
    """Remove the drivers, constraints and empties that were made for the chain; its own keys act again"""

    bl_idname = "ik2d.remove_native"
    bl_label = "Remove Drivers"

    @staticmethod
    def why_not(context):
        if reason := why_no_chain(context):
            return reason
        return (
            "" if any(map(is_native, active_armature(context).ik2d.chains)) else say("No chain is on drivers")
        )

    def work(self, context):
        chains = [chain for chain in self.chains(context, native=True) if is_native(chain)]
        if not chains:
            if self.all:
                raise refusal("No enabled chain is on drivers")
            raise refusal("Chain '{chain}' is not on drivers", chain=shown_chain(context).name)
        names = [chain.name for chain in chains]
        for chain in chains:
            remove_native(chain.id_data, chain)
        context.view_layer.update()
        if len(names) == 1:
            return say("Chain '{chain}' is no longer on drivers", chain=names[0])
        return say("{count} chains are no longer on drivers", count=len(names))


HEADINGS = {"convert-to-drivers": "remove_native"}
BOX = noted("Drivers"), draw_native
MENU = {
    "rig": [
        entry("ik2d.make_native", 'DRIVER'),
        entry("ik2d.remove_native"),
    ]
}
classes = (IK2D_OT_make_native, IK2D_OT_remove_native)
register, unregister = registration(classes)
