# SPDX-License-Identifier: GPL-3.0-or-later
"""The active armature and its chain, and the reasons why nothing can be done."""

import bpy
from bpy.types import Context, Object, PropertyGroup

from ..core.words import refusal, say
from ..rig.chain.fingerprint import led_by
from ..rig.chain.native_state import acts
from ..rig.chain.paths.owners import with_settings
from ..rig.chain.renames import needed_chain, why_linked

# The armature that was found last by one of its targets: the first one to check.
_last_found = ""


def active_chain(armature: Object) -> PropertyGroup | None:
    """Return the chain whose settings are shown, or None."""
    chains, index = armature.ik2d.chains, armature.ik2d.active_index
    return chains[index] if 0 <= index < len(chains) else None


def active_mechanism(armature: Object | None) -> PropertyGroup | None:
    """Return the mechanism whose settings are shown, or None."""
    if armature is None or armature.type != 'ARMATURE':
        return None
    mechanisms, index = armature.ik2d.mechanisms, armature.ik2d.active_mechanism
    return mechanisms[index] if 0 <= index < len(mechanisms) else None


def to_see(chain: PropertyGroup) -> str:
    """Say what shows a change of a chain: "; bake to see it"; "" for one that is live or acts on drivers."""
    return "" if chain.live or acts(chain) else say("; bake to see it")


# --- Reading the context -----------------------------------------------------


def active_armature(context: Context) -> Object | None:
    """Return the active object if it is an armature, else the one with a chain or mechanism that follows it.

    Of several, it is one whose active chain or mechanism does, else the first.
    """
    active = context.object
    if active is None or active.type == 'ARMATURE':
        return active
    global _last_found
    # Each button asks this whenever it is drawn: check the last one, then all objects.
    known = context.scene.objects.get(_last_found)
    if known is not None and _shows(known, active):
        return known
    following = followers(context.scene, active)
    chosen = [armature for armature in following if _shows(armature, active)]
    armature = next(iter(chosen or following), None)
    _last_found = armature.name if armature is not None else ""
    return armature


def follows(one: PropertyGroup | None, target: Object) -> bool:
    """Return whether an object leads a chain or mechanism: as target or pole, or as one that they blend."""
    return one is not None and target in [ob for ob, _ in led_by(one)]


def _shows(armature: Object, target: Object) -> bool:
    return follows(active_chain(armature), target) or follows(active_mechanism(armature), target)


def followers(scene: bpy.types.Scene, target: Object) -> list[Object]:
    """Return the armatures of a scene that have a chain to a target, or to a pole, or a mechanism to one."""
    if target.users < 2:  # its collection alone: a chain would be another user
        return []
    return [
        armature
        for armature in with_settings(scene.objects)
        if any(follows(one, target) for one in (*armature.ik2d.chains, *armature.ik2d.mechanisms))
    ]


def shown_chain(context: Context) -> PropertyGroup | None:
    """Return the chain that the sidebar shows: the active one, or one that follows the active object."""
    armature = active_armature(context)
    if armature is None:
        return None
    chain, target = active_chain(armature), context.object
    if target == armature or follows(chain, target):
        return chain
    return next((other for other in armature.ik2d.chains if follows(other, target)), chain)


def shown_mechanism(context: Context) -> PropertyGroup | None:
    """Return the mechanism that the sidebar shows: the active one of the active armature."""
    return active_mechanism(active_armature(context))


def named_chain(context: Context, name: str) -> PropertyGroup:
    """Return the active armature's chain of that name, for "" the one shown.

    Raises IK2DError where there is none.
    """
    armature = active_armature(context)
    chain = needed_chain(armature, name) if name else shown_chain(context)
    if chain is None:
        raise refusal("Armature '{armature}' has no chain to take", armature=armature.name)
    return chain


def select_with_posed(context: Context, ob: Object) -> None:
    """Select a new object, ready to be moved, and of all others only posed armatures; these stay active."""
    if ob.visible_get():
        for other in context.selected_objects:
            if other.mode != 'POSE':
                other.select_set(False)
        ob.select_set(True)


def redraw(context: Context) -> None:
    """Redraw all areas of the screen: Blender redraws no sidebar and no timeline for what Python keys."""
    for area in context.screen.areas if context.screen is not None else ():
        area.tag_redraw()


def why_not_edit(context: Context) -> str:
    """Say why the chains of the active armature cannot be edited now; "" where they can."""
    armature = active_armature(context)
    if armature is None:
        return say("Make an armature the active object, or the target of one of its chains or mechanisms")
    if reason := why_linked(armature):
        return reason
    if armature.mode not in {'OBJECT', 'POSE'}:
        return say("Switch to Object Mode or Pose Mode")
    return ""


def why_no_chain(context: Context) -> str:
    """Say why there is no chain to work on now; "" where the sidebar shows one that can be edited."""
    return why_not_edit(context) or ("" if shown_chain(context) else say("Add a chain first"))


def why_no_mechanism(context: Context) -> str:
    """Say why there is no mechanism to work on now; "" where the sidebar shows one that can be edited."""
    return why_not_edit(context) or (
        "" if shown_mechanism(context) else say("Make a mechanism first: New Mechanism")
    )


def why_not_solve(context: Context) -> str:
    """Say why nothing can be solved now; "" where something can."""
    reason = why_not_edit(context)
    if reason:
        return reason
    settings = active_armature(context).ik2d
    if not (settings.chains or settings.mechanisms):
        return say("Add a chain first")
    enabled = any(one.enabled for one in (*settings.chains, *settings.mechanisms))
    return "" if enabled else say("Enable a chain first")
