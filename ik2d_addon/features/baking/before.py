# SPDX-License-Identifier: GPL-3.0-or-later
"""Show the motion that bakes, Plant Feet and switches have replaced, for those who want to look at it."""

import bpy
from bpy.types import Action, Context, Object, Operator

from ...core.words import refusal, say
from ...rig.animation.kept.digest import digest_of
from ...rig.animation.kept.giving_back import give_back
from ...rig.animation.kept.marks import PURPOSES
from ...rig.animation.kept.record import has_record
from ...rig.animation.value_keys import refuse_tweak_mode
from ...rig.animation.versions import assign_action, played_action, slot_played
from ...ui.context import active_armature, why_not_edit
from ...ui.operator import ChainOperator
from ...ui.parts import entry
from ...ui.registration import registration


def show_before(armature: Object) -> Action:
    """Have an armature play its action as it was before bakes, Plant Feet and switches; return that.

    It is a copy, with all replaced keys in their places. Called again, the armature plays its own action, and
    the copy goes, unless somebody has edited it. Raises IK2DError where nothing is kept.
    """
    refuse_tweak_mode(armature)
    action = played_action(armature)
    original = action.ik2d.shown_from if action is not None and action.is_property_set("ik2d") else None
    if action is not None and original is not None:
        _assign(armature, original)
        if digest_of(action) != action.ik2d.shown_digest:
            action.use_fake_user = True
        elif action.users == 0:
            bpy.data.actions.remove(action)
        return original
    if action is None or not has_record(action):
        raise refusal("No bake has replaced keys in the action of '{armature}'", armature=armature.name)
    copy = action.copy()
    copy.name = f"{action.name}, as before IK 2D"  # names of data are the same in all languages
    copy.ik2d.shown_from = action  # this is a user, so that the action stays in the file
    _assign(armature, copy)
    give_back(armature, lambda path, index: True, PURPOSES)
    copy.ik2d.shown_digest = digest_of(copy)
    bpy.context.view_layer.update()
    return copy


def _assign(armature: Object, action: Action) -> None:
    animation = armature.animation_data
    assign_action(animation, action, slot_played(animation))


def shows_before(armature: Object) -> bool:
    """Return whether an armature plays a copy that `show_before` has made."""
    action = played_action(armature)
    return action is not None and action.is_property_set("ik2d") and action.ik2d.shown_from is not None


def _why_not(context: Context) -> str:
    if reason := why_not_edit(context):
        return reason
    armature = active_armature(context)
    action = played_action(armature)
    if shows_before(armature) or (action is not None and has_record(action)):
        return ""
    return say("No bake has replaced keys in this action")


class IK2D_OT_show_before(ChainOperator, Operator):
    """Play a copy of the action with the keys that bakes replaced; once more, the action itself"""

    bl_idname = "ik2d.show_before"
    bl_label = "Show Motion Before Bakes"

    why_not = staticmethod(_why_not)

    def work(self, context):
        armature = active_armature(context)
        action = show_before(armature)
        if shows_before(armature):
            return say("'{armature}' plays the copy '{action}'", armature=armature.name, action=action.name)
        return say("'{armature}' plays '{action}' again", armature=armature.name, action=action.name)


MENU = {"bake": [entry("ik2d.show_before", 'HIDE_OFF')]}
classes = (IK2D_OT_show_before,)
register, unregister = registration(classes)
