# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators Adopt IK and Restore Original IK."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, CollectionProperty
from bpy.types import Context, Object, Operator, PropertyGroup, UILayout

from ...bake.lengths import Units
from ...core import IK2DError
from ...core.words import noted, say
from ...rig.animation.versions import is_hidden, is_selected
from ...rig.chain.readable import unreadable
from ...rig.chain.renames import bones_of
from ...ui.context import active_armature, named_chain, shown_chain, why_not_edit
from ...ui.kept import kept
from ...ui.operator import AskingOperator, chain_name, tick
from ...ui.parts import entry
from ...ui.preferences import is_live_at_once
from ...ui.registration import registration
from ...ui.text import draw_lines, draw_text
from ..native.operators import adopted_with
from .limbs import Limb, limbs_meant, limbs_of
from .poses import FEW_FRAMES, MOST_FRAMES
from .settings import is_adopted

if TYPE_CHECKING:  # loaded when it is first used
    from .adopt import Adoption

_DIALOG_WIDTH = 520


class IK2D_PG_adopted_limb(PropertyGroup):
    """A limb of the dialog, by the name of its last bone."""

    __slots__ = ()

    take: BoolProperty(name="Adopt", description="Turn the IK of this limb into a chain", default=True)


class IK2D_OT_adopt(AskingOperator, Operator):
    """Turn the IK of the selected bones' limbs into chains; Restore Original IK turns it back on"""

    bl_idname = "ik2d.adopt"
    bl_label = "Adopt IK"

    all: tick("All", "Adopt all IK constraints of the armature, not those of the selected bones alone")
    chain: chain_name("Chain whose bones' IK constraints to adopt, in place of the selected bones'")
    limbs: CollectionProperty(
        name="Limbs",
        description="Limbs of the dialog; those that are not ticked keep their IK",
        type=IK2D_PG_adopted_limb,
        options={'SKIP_SAVE'},
    )

    show_carried: tick("Taken Over", "Show what the chains take over from the IK")

    why_not = staticmethod(why_not_edit)

    def invoke(self, context, event):
        if self.question:
            return super().invoke(context, event)
        from .difference import dialog_text, differences, ticked

        self._by_hand = True
        self.limbs.clear()
        try:
            adoption = self._plan(context, FEW_FRAMES)
            compared = differences(adoption, context.scene)
        except IK2DError as error:
            return self.ask(error)
        self._text = dialog_text(adoption, compared, Units.of(context.scene))
        self._looked = _looked(adoption)
        near = ticked(adoption, compared)
        for plan in adoption.plans:
            limb = self.limbs.add()
            limb.name, limb.take = plan.name, plan.name in near
        return context.window_manager.invoke_props_dialog(self, width=_DIALOG_WIDTH)

    def draw(self, context):
        """Draw a line for each limb, how far its pose will be off, and notes once for all that have them."""
        if not hasattr(self, "_text"):
            super().draw(context)
            return
        text, width = self._text, (_DIALOG_WIDTH - 80) * context.preferences.system.ui_scale
        column = self.layout.column(align=True)
        for limb, line in zip(self.limbs, text.limbs, strict=True):
            row = column.row()
            if len(self.limbs) > 1:
                row.prop(limb, "take", text=line.title, translate=False)
            else:
                row.label(text=line.title, translate=False, icon='CON_KINEMATIC')
            off = row.row()
            off.alignment = 'RIGHT'
            off.label(text=line.difference, translate=False, icon='ERROR' if line.is_far else 'NONE')
        column = self.layout.column(align=True)
        for note in text.lost:
            draw_lines(column, context, note, 'ERROR', width)
        for note in (*text.notes, *self._looked):
            draw_lines(column, context, note, 'INFO', width)
        if text.carried:
            icon = 'TRIA_DOWN' if self.show_carried else 'TRIA_RIGHT'
            row = self.layout.row()
            row.alignment = 'LEFT'
            row.prop(self, "show_carried", icon=icon, emboss=False)
        for note in text.carried if self.show_carried else ():
            draw_lines(self.layout, context, note, 'BLANK1', width)

    def execute(self, context):
        """Adopt; after a question show the plan of what was chosen first."""
        if not self.question:
            return super().execute(context)
        bpy.ops.ik2d.adopt('INVOKE_DEFAULT', **self.given())
        return {'CANCELLED'}

    def work(self, context):
        from .adopt import adopted_in_words, carry_out
        from .difference import compare_adopted

        wm = context.window_manager
        wm.progress_begin(0.0, 2.0)
        try:
            far = [] if self.limbs or not self.all else self._tick(context)
            adoption = self._plan(context, MOST_FRAMES, wm.progress_update)
            names = carry_out(adoption, context.scene)
            sentences = compare_adopted(
                adoption, names, context.scene, lambda part: wm.progress_update(1.0 + part)
            )
        finally:
            wm.progress_end()
        _make_live(adoption, names)
        units, chains = Units.of(context.scene), adoption.armature.ik2d.chains
        for i, name in enumerate(names):
            first, *rest = adopted_in_words(adoption, i, chains[name], units)
            self.report({'INFO'}, first)
            self.warn(f"{name}: {line}" for line in rest)
        for line in (*adoption.notes, *sentences, *far):
            self.report({'INFO'}, line)
        listed = ", ".join(f"'{name}'" for name in names)
        return say("Adopted {listed}; Bake keys it", listed=listed)

    def _tick(self, context: Context) -> list[str]:
        """Tick the limbs as the dialog does, for a call without it; return a sentence on each other one."""
        from .difference import difference_in_words, differences, ticked

        adoption = self._plan(context, FEW_FRAMES)
        if len(adoption.plans) == 1:
            return []
        compared = differences(adoption, context.scene)
        near, units = ticked(adoption, compared), Units.of(context.scene)
        for plan in adoption.plans:
            limb = self.limbs.add()
            limb.name, limb.take = plan.name, plan.name in near
        far = [
            say(
                "Left alone: '{limb}' would be {difference}; select its bones to adopt it",
                limb=plan.limb.title,
                difference=difference_in_words(compared[plan.name], units),
            )
            for plan in adoption.plans
            if plan.name not in near
        ]
        if not near:
            raise IK2DError("; ".join(far))
        return far

    def _plan(
        self, context: Context, most: int, progress: Callable[[float], None] | None = None
    ) -> "Adoption":
        from .adopt import plan_adoption

        armature = active_armature(context)
        if self.chain:
            chain = named_chain(context, self.chain)
            names: list[str] | None = bones_of(armature.data, chain.tip, chain.bone_count)
        else:
            names = None if self.all else selected_bones(armature)
        without = {limb.name for limb in self.limbs if not limb.take}
        return plan_adoption(armature, context.scene, names, most, progress, without)


def selected_bones(armature: Object) -> list[str]:
    """Return the selected bones of an armature, the active one first; hidden ones only without any other."""
    active = armature.data.bones.active
    selected = [bone for bone in armature.pose.bones if is_selected(bone)]
    seen = [bone for bone in selected if not is_hidden(bone)]
    chosen = [bone.name for bone in seen or selected]
    return sorted(chosen, key=lambda name: active is None or name != active.name)


def _make_live(adoption: "Adoption", names: Sequence[str]) -> None:
    """Have the new chains follow their targets where the IK did at the current frame."""
    if not is_live_at_once():
        return
    for i, (name, plan) in enumerate(zip(names, adoption.plans, strict=True)):
        if i not in adoption.takers and plan.acts.now:
            adoption.armature.ik2d.chains[name].live = True


def _looked(adoption: "Adoption") -> list[str]:
    """Return a sentence on the frames that were looked at, unless it was at all."""
    frames = adoption.watched.frames if adoption.watched is not None else ()
    if len(frames) < 2 or len(frames) > frames[-1] - frames[0]:
        return []
    return [
        say(
            "Compared {count} frames from {frame} to {frame_2}; OK compares up to {most}",
            count=len(frames),
            frame=frames[0],
            frame_2=frames[-1],
            most=MOST_FRAMES,
        )
    ]


class IK2D_OT_release(AskingOperator, Operator):
    """Turn the original IK of all limbs that were adopted together back on, and remove their chains"""

    bl_idname = "ik2d.release"
    bl_label = "Restore Original IK"

    all: tick("All", "Restore the IK of all adopted chains of the armature")
    this_only: tick("This Limb Only", "Restore the IK of the active chain alone")

    @staticmethod
    def why_not(context):
        if reason := why_not_edit(context):
            return reason
        adopted = map(is_adopted, active_armature(context).ik2d.chains)
        return "" if any(adopted) else say("No chain was adopted from an IK constraint")

    def work(self, context):
        from .adopt import adopted_chains, release

        armature, chain = active_armature(context), shown_chain(context)
        names = adopted_chains(armature)
        if not self.all:
            if chain is None or not is_adopted(chain):
                which = (
                    say("Chain '{chain}' was not adopted", chain=chain.name)
                    if chain
                    else say("No chain is active")
                )
                reason = say("{which}; choose one that was adopted, or restore all", which=which)
                raise IK2DError(reason, ["all"])
            names = [chain.name] if self.this_only else [each.name for each in adopted_with(chain)]
        sentences = [line for name in reversed(names) for line in release(armature, name)]
        self.warn(sentences)
        released = [name for name in names if name not in adopted_chains(armature)]
        return (
            say("Restored the original IK of {names}", names=", ".join(map(repr, released)))
            if released
            else ""
        )


def draw_adopt(layout: UILayout, context: Context) -> None:
    """Draw the buttons that adopt and restore, and what adopting has changed for the active chain, folded."""
    column = layout.column(align=True)
    column.operator("ik2d.adopt", icon='CON_KINEMATIC')
    column.operator("ik2d.release", icon='LOOP_BACK')
    chain = shown_chain(context)
    if chain is None or not is_adopted(chain):
        return
    if len(adopted_with(chain)) > 1:
        label = say("Restore This Limb Only")
        column.operator("ik2d.release", text=label, translate=False, icon='LOOP_BACK').this_only = True
    adopted, lost = chain.adopted, chain.adopted.lost.splitlines()
    if not (adopted.apart or lost):
        return
    column = layout.column(align=True)
    row = column.row()
    row.alignment = 'LEFT'
    is_open = adopted.show_notes
    label = say("Changes: {count} not carried over", count=len(lost)) if lost else say("Changes")
    row.prop(
        adopted,
        "show_notes",
        text=label,
        translate=False,
        icon='TRIA_DOWN' if is_open else 'TRIA_RIGHT',
        emboss=False,
    )
    if not is_open:
        return
    if adopted.apart:
        draw_text(column, context, f"{chain.name}: {adopted.apart}.", 'INFO')
    for line in lost:
        draw_text(column, context, say("Not carried over: {line}.", line=line), 'ERROR')


def limb_here(context: Context) -> Limb | None:
    """Return the limb of the active bone that an IK constraint moves now, in Pose Mode; None without one."""
    armature = active_armature(context)
    if context.mode != 'POSE' or armature is None or unreadable(armature):
        return None
    active = armature.data.bones.active
    if active is None:
        return None
    times = [context.scene.frame_current_final]
    limbs: tuple[Limb, ...] = kept(
        armature, "limbs", times[0], lambda: limbs_of(armature, times).limbs, with_targets=False
    )
    return next(iter(limbs_meant(limbs, [active.name])), None) if limbs else None


HEADINGS = {"adopt-ik": "adopted_limb.take release"}
BOX = noted("Adopt"), draw_adopt
MENU = {
    "rig": [
        entry("ik2d.adopt", 'CON_KINEMATIC'),
        entry("ik2d.adopt", 'CON_KINEMATIC', noted("Adopt All IK"), all=True),
        entry("ik2d.release", 'LOOP_BACK'),
    ]
}
classes = (IK2D_PG_adopted_limb, IK2D_OT_adopt, IK2D_OT_release)
register, unregister = registration(classes)
