# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet, Find Contacts and their Clear."""

from bpy.props import FloatVectorProperty
from bpy.types import Context, Object, Operator, PropertyGroup, UILayout

from ...bake.request import chosen_options, chosen_range
from ...core.words import noted, number_of, say
from ...rig.chain.foot.contacts import names_of
from ...ui.context import active_armature, why_no_chain, why_not_solve
from ...ui.kept import kept
from ...ui.operator import AskingOperator, ChainOperator, chain_name, frame_number
from ...ui.parts import LAST, entry
from ...ui.registration import registration
from ...ui.sliced import SlicedOperator
from ..baking.results import store_bake
from .before import is_planted


class _OverFrames(AskingOperator):
    """Properties of the operators that look at a range of frames."""

    frame_start: frame_number("Start", "First frame; without it, the first of the rig's or scene's range", 1)
    frame_end: frame_number("End", "Last frame; without it, the last of the rig's or the scene's range", 250)
    chain: chain_name("Chain to take; empty for all that have a foot, or without any all that are enabled")
    ground_velocity: FloatVectorProperty(
        name="Ground Speed",
        description="Speed of the ground in units a second, for a walk in place",
        size=3,
        subtype='VELOCITY',
        options={'SKIP_SAVE'},
    )

    def chosen(self, context: Context) -> dict:
        """Return the arguments of the function; the frames are filled in for the redo panel."""
        armature, names = active_armature(context), ("frame_start", "frame_end")
        self.fill_in(zip(names, chosen_range(armature, context.scene)[:2], strict=True))
        return {
            "armature": armature,
            "chains": [self.chain] if self.chain else None,
            "ground_velocity": self.ground_velocity,
            **{name: getattr(self, name) for name in names},
        }


class IK2D_OT_plant_feet(_OverFrames, SlicedOperator, Operator):
    """Hold the feet where they stand by new keys of their targets, and bake; Clear gives the old keys back"""

    bl_idname = "ik2d.plant_feet"
    bl_label = "Plant Feet"

    doing, done_noun = noted("Planting"), noted("Plant Feet")

    why_not = staticmethod(why_not_solve)

    def begin(self, context):
        from .plant import plant_steps  # here, as few sessions need it

        chosen = self.chosen(context)
        options = chosen_options(chosen["armature"].ik2d)
        return plant_steps(options=options, **chosen), f"'{chosen['armature'].name}'"

    def finish(self, context, result):
        store_bake(active_armature(context), result.bake, context.scene)
        self.tell(result.sentence(), result.warnings, result.is_good)


class IK2D_OT_find_contacts(_OverFrames, Operator):
    """Key on which frames the feet stand, to look at and to edit before Plant Feet; nothing moves"""

    bl_idname = "ik2d.find_contacts"
    bl_label = "Find Contacts"

    why_not = staticmethod(why_not_solve)

    def work(self, context):
        from .plant import find_contacts

        contacts = find_contacts(**self.chosen(context))
        return say(
            "Found {contacts} of {chains}",
            contacts=number_of(sum(contacts.values()), "contact"),
            chains=number_of(len(contacts), "chain"),
        )


def _why_not_clear(context: Context) -> str:
    if reason := why_no_chain(context):
        return reason
    return "" if _is_planted(active_armature(context)) else say("No feet are planted")


def _is_planted(armature: Object) -> bool:
    chains = armature.ik2d.chains
    version = [(chain.tip, chain.bone_count, len(chain.planted.channels)) for chain in chains]

    def answer() -> bool:
        return any(map(is_planted, chains))

    return bool(kept(armature, "is_planted", version, answer, with_targets=True))


class IK2D_OT_plant_clear(ChainOperator, Operator):
    """Give all planted feet back the motion, and the contacts, that they had before Plant Feet"""

    bl_idname = "ik2d.plant_clear"
    bl_label = "Clear"

    why_not = staticmethod(_why_not_clear)

    def work(self, context):
        from .plant import unplant_feet

        armature = active_armature(context)
        self.warn(unplant_feet(armature))
        return say("The feet of '{armature}' move as before", armature=armature.name)


def draw_plant(layout: UILayout, context: Context, chain: PropertyGroup) -> None:
    """Draw the contacts of a chain with the buttons that find and hold them, folded at first."""
    header, body = layout.panel("ik2d_contacts", default_closed=True)
    header.label(text=say("Contacts"), translate=False)
    if body is None:
        return
    column = body.column(align=True)
    for name in names_of(chain):
        column.prop(chain.foot, name)
    body.operator("ik2d.find_contacts", icon='VIEWZOOM')
    row = body.row(align=True)
    row.operator("ik2d.plant_feet", icon='CON_FLOOR')
    row.operator("ik2d.plant_clear", icon='X')


HEADINGS = {"contacts": "foot.contact* find_contacts plant_*"}
MENU = {
    "bake": [
        entry("ik2d.find_contacts", 'VIEWZOOM', order=LAST),
        entry("ik2d.plant_feet", 'CON_FLOOR', order=LAST),
        entry("ik2d.plant_clear", 'X', noted("Clear Planted Feet"), order=LAST),
    ]
}
classes = (IK2D_OT_plant_feet, IK2D_OT_find_contacts, IK2D_OT_plant_clear)
register, unregister = registration(classes)
