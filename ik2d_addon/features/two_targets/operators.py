# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Second Target, Switch Parent and Remove Second Target, and their rows in the panel."""

import bpy
from bpy.props import BoolProperty, StringProperty
from bpy.types import Context, Operator, PropertyGroup, UILayout

from ...core.words import noted, refusal, say
from ...rig.chain.dependencies import Node, acting
from ...rig.chain.fingerprint import led_by
from ...rig.chain.native_state import is_native
from ...rig.chain.post import turned_bones_of
from ...ui.context import named_chain, redraw, select_with_posed, shown_chain, why_no_chain
from ...ui.operator import ChainOperator, chain_name, tick
from ...ui.parts import entry
from ...ui.registration import registration
from ...ui.text import draw_text, draw_value, field, for_settings
from .blend import ON_DRIVERS, POLE_OF, TARGET, blend_of, second_of, spaces_of
from .second import add_second_target, notes_of, remove_second_target
from .switch import switch_parent


def chosen_node(context: Context, chain: PropertyGroup) -> Node | None:
    """Return the selected bone, else object, that is not of a chain and not its target; None without any.

    The active bone comes first, then the others in their order.
    """
    armature, active = chain.id_data, context.active_pose_bone
    own = {(armature, bone) for bone in turned_bones_of(chain)}
    own.update(led_by(chain))
    bones = [bone for bone in context.selected_pose_bones or () if (bone.id_data, bone.name) not in own]
    bones.sort(key=lambda bone: bone != active)
    if bones:
        return bones[0].id_data, bones[0].name
    left_out = {armature, *(ob for ob, _ in led_by(chain))}
    others = [ob for ob in context.selected_objects if ob not in left_out]
    return (others[0], "") if others else None


def _why_no_target(context: Context) -> str:
    """Say why the shown chain has no target to blend or to switch; "" where it has one."""
    if reason := why_no_chain(context):
        return reason
    chain = shown_chain(context)
    if chain.target is None:
        return say("Chain '{chain}' has no target; choose the object that its tip follows", chain=chain.name)
    return say(ON_DRIVERS, chain=chain.name) if is_native(chain) else ""


def _why_no_blend(context: Context) -> str:
    if reason := why_no_chain(context):
        return reason
    chain = shown_chain(context)
    if blend_of(chain, TARGET) is None and blend_of(chain, POLE_OF) is None:
        return say("Chain '{chain}' has no second target and no switch of parents", chain=chain.name)
    return ""


class IK2D_OT_second_target_add(ChainOperator, Operator):
    """Have the chain's target blend to a second one: the other selected bone or object, else a new empty"""

    bl_idname = "ik2d.second_target_add"
    bl_label = "Add Second Target"

    chain: chain_name("Chain that gets it; empty for the active one")

    why_not = staticmethod(_why_no_target)

    def work(self, context):
        context.view_layer.update()
        chain = named_chain(context, self.chain)
        chosen = chosen_node(context, chain)
        ob, bone = add_second_target(chain, chosen)
        if chosen is None:
            select_with_posed(context, ob)
        self.warn(notes_of(chain))
        return say(
            "Chain '{chain}' can blend to '{target}': key Blend below its target",
            chain=chain.name,
            target=bone or ob.name,
        )


class IK2D_OT_second_target_remove(ChainOperator, Operator):
    """Have the chain follow its first target alone, and remove its blend, its switches and their empties"""

    bl_idname = "ik2d.second_target_remove"
    bl_label = "Remove Second Target"

    chain: chain_name("Chain that loses it; empty for the active one")

    why_not = staticmethod(_why_no_blend)

    def work(self, context):
        chain = named_chain(context, self.chain)
        remove_second_target(chain)
        name = chain.subtarget or chain.target.name
        return say("Chain '{chain}' follows '{target}' again", chain=chain.name, target=name)


class IK2D_OT_switch_parent(ChainOperator, Operator):
    """Have the chain's target go with another parent from this frame on: the other selected bone or object"""

    bl_idname = "ik2d.switch_parent"
    bl_label = "Switch Parent"

    chain: chain_name("Chain whose target changes its parent; empty for the active one")
    new_parent: StringProperty(
        name="Parent", description="Object that the target goes with", options={'SKIP_SAVE'}
    )
    new_bone: StringProperty(name="Bone", description="Bone of that armature", options={'SKIP_SAVE'})
    to_world: tick("World", "Have the target go with nothing")
    with_pole: BoolProperty(
        name="Pole Too",
        description="Have the chain's pole go with the same parent",
        default=True,
        options={'SKIP_SAVE'},
    )

    why_not = staticmethod(_why_no_target)

    def invoke(self, context, event):
        """Ask for the parent where nothing is selected that could be it."""
        asks = not (
            self.new_parent or self.to_world or chosen_node(context, named_chain(context, self.chain))
        )
        return context.window_manager.invoke_props_dialog(self) if asks else self.execute(context)

    def draw(self, context):
        """Draw the parent to choose."""
        layout = for_settings(self.layout)
        field(layout, context, self, "to_world")
        column = layout.column()
        column.active = not self.to_world
        field(column, context, self, "new_parent", search_in=context.scene, search="objects")
        ob = context.scene.objects.get(self.new_parent)
        if ob is not None and ob.type == 'ARMATURE':
            field(column, context, self, "new_bone", search_in=ob.data, search="bones", icon='BONE_DATA')
        field(layout, context, self, "with_pole")

    def work(self, context):
        chain = named_chain(context, self.chain)
        parent = self._parent(context, chain)
        later = switch_parent(context.scene, chain, parent, self.with_pole)
        self.warn(notes_of(chain))
        redraw(context)
        words = {"chain": chain.name, "frame": context.scene.frame_current_final}
        name = say("the world") if parent is None else f"'{parent[1] or parent[0].name}'"
        if later is None:
            return say(
                "From frame {frame:g} on the target of '{chain}' goes with {parent}", parent=name, **words
            )
        return say(
            "From frame {frame:g} to {later:g} the target of '{chain}' goes with {parent}, and to where the "
            "next switch takes over",
            parent=name,
            later=later,
            **words,
        )

    def _parent(self, context: Context, chain: PropertyGroup) -> Node | None:
        """Return the parent that was given, else the one that is selected; None for the world."""
        if self.to_world:
            return None
        if self.new_parent:
            ob = bpy.data.objects.get(self.new_parent)
            if ob is None:
                raise refusal("There is no object '{name}'", name=self.new_parent)
            return ob, self.new_bone
        chosen = chosen_node(context, chain)
        if chosen is None:
            raise refusal(
                "Select the target's new parent too, a bone or an object, or use Switch Parent to World"
            )
        self.new_parent, self.new_bone = chosen[0].name, chosen[1]
        return chosen


def draw_targets(layout: UILayout, context: Context, chain: PropertyGroup) -> None:
    """Draw the blend of a chain's two targets, what to know of it, and the buttons for both."""
    if chain.target is None:
        return
    second = second_of(chain)
    if second is not None:
        field(layout, context, second, "influence", noted("Blend"))
    if blend_of(chain) is not None:
        ob, bone = acting(TARGET.node(chain))[0]
        draw_value(layout, context, say("Acts Now"), bone or ob.name)
    for sentence in notes_of(chain):
        draw_text(layout, context, sentence, 'INFO')
    if is_native(chain):
        return
    row = layout.row(align=True)
    row.operator("ik2d.switch_parent", icon='CON_CHILDOF').chain = chain.name
    if second is None:
        row.operator("ik2d.second_target_add", text="", icon='ADD').chain = chain.name
    if second is not None or spaces_of(chain) or blend_of(chain, POLE_OF) is not None:
        row.operator("ik2d.second_target_remove", text="", icon='X').chain = chain.name


_SWITCH = entry("ik2d.switch_parent", 'CON_CHILDOF')
HEADINGS = {"two-targets": "second_target_*", "switch-parent": "switch_parent"}
MENU = {
    "pose": [_SWITCH, entry("ik2d.switch_parent", text=noted("Switch Parent to World"), to_world=True)],
    "chain": [entry("ik2d.second_target_add", 'ADD'), entry("ik2d.second_target_remove", 'X')],
}
classes = (IK2D_OT_second_target_add, IK2D_OT_second_target_remove, IK2D_OT_switch_parent)
register, unregister = registration(classes)
