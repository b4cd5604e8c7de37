# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with the chain that is shown, as the sidebar tells it, each with a button that mends it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy.types import Context, Object, Operator, PropertyGroup, UILayout

from ...bake.keys.clearing import baked_paths
from ...bake.request import chosen_range
from ...core import IK2DError
from ...live.registry import Key, key_of
from ...rig.animation.versions import existing_fcurves
from ...rig.chain.chain import RigChain
from ...rig.chain.fingerprint import fingerprint, key_places
from ...rig.chain.native_state import controls_of
from ...rig.pose.target_plane import keep_plane
from ...ui.context import active_armature, allowed, named_chain, shown_chain, why_not_edit
from ...ui.registration import register_classes, unregister_classes
from ...ui.settings.joint_list import joints_wanted
from ...ui.text import draw_text, row_or_column
from .findings import Finding, Mend, findings, reading
from .fixes import mend

# A chain with more findings than these gets a word instead of more rows.
_ROWS = 4
# What keeps a chain from being solved, and not only from being keyed.
_UNSOLVABLE = ('PROBLEM', 'SHARED_BONES', 'REST_POSITION')
# Ways that have operators of their own, and what is drawn beside them.
_OPERATORS = {
    'USE_BONE': ("ik2d.use_bone", 'BONE_DATA'),
    'MUTE_CONSTRAINTS': ("ik2d.mute_constraints", 'HIDE_ON'),
    'PLANE_TO_TARGET': ("ik2d.plane_to_target", 'ORIENTATION_NORMAL'),
    'FLIP': ("ik2d.flip", 'MOD_MIRROR'),
    'UPDATE_JOINTS': ("ik2d.joints_update", 'FILE_REFRESH'),
    'ADOPT': ("ik2d.adopt", 'CON_KINEMATIC'),
}
_WAYS = (
    ('TURN_RANGES', "Swap Min and Max", "Swap Min and Max of the chain's ranges that run backwards"),
    ('CLEAR_TARGET', "Clear Target", "Take away the target, which the chain itself moves"),
    ('DISABLE', "Disable", "Disable this chain, so that the other one has the bones that they share"),
    ('SHOW_POSE', "Show Pose Position", "Have the armature show its pose in place of its rest position"),
    (
        'UNLOCK_CHANNELS',
        "Unlock Channels",
        "Unlock the F-Curves, and groups, that a bake of the chain writes",
    ),
    (
        'UNMUTE_CHANNELS',
        "Unmute Channels",
        "Unmute the F-Curves, and groups, that a bake of the chain writes",
    ),
    (
        'MUTE_MODIFIERS',
        "Mute Modifiers",
        "Mute the F-Curve modifiers that would act on top of the chain's keys",
    ),
    ('MUTE_DRIVERS', "Mute Drivers", "Mute the drivers that would win over the chain's keys"),
    ('SINGLE_USER', "Make Single User", "Give the armature a copy of its action, which others play too"),
    ('REPLACE', "Replace, Not Mix", "Have the action replace what NLA strips do, with influence 1"),
    (
        'APPLY_SCALE',
        "Apply Scale",
        "Apply the armature's scale to its bones; what is parented to it stays where it is",
    ),
    (
        'CLEAR_SCALE',
        "Clear Bone Scale",
        "Take the scale off bones, of the chain or above it, that have an uneven one",
    ),
    ('HINGE_PLANE', "Plane of Hinges", "Set the chain's plane to the one that its hinges turn in"),
    ('UNLOCK_HINGES', "Unlock Hinges", "Unlock the bones whose only axis is not square to the chain's plane"),
    (
        'FLATTEN',
        "Flatten Rest Pose",
        "Turn the chain's bones in the rest pose until its joints are in one plane; lengths stay, and what"
        " hangs on a bone moves with it",
    ),
    ('ACCEPT', "Accept", "Leave the joints as far off the plane as they are, and say no more of it"),
    ('WIDEN', "Widen to Rest", "Widen the ranges of joints that may not turn to the pose that they keep"),
    ('UNLOCK', "Unlock Rotation", "Unlock the rotation of the bones that locks keep from turning"),
    (
        'KEEP_PLANE',
        "Keep Plane",
        "Make the plane that the chain takes on these frames its own, so that another path of its target does"
        " not change it, or the side that it bends to",
    ),
)

# --- What is asked whenever the sidebar is drawn -----------------------------

# Chains as they were read last, with all that they were read from.
_readings: dict[Key, tuple[Any, RigChain | str]] = {}


def read(chain: PropertyGroup) -> RigChain | str:
    """Return what `reading` does; nothing is read anew while all that it comes from is the same."""
    armature = chain.id_data
    key, seen = key_of(chain), _fingerprint(armature, chain)
    known = _readings.get(key)
    if known is None or known[0] != seen:
        if len(_readings) > 256:  # of files that were open before
            _readings.clear()
        _readings[key] = known = (seen, reading(armature, chain))
    found = known[1]
    # After an undo the objects are others, though they are the same.
    if isinstance(found, str):
        return found
    return replace(found, armature=armature, target=chain.target, native=controls_of(chain))


def _fingerprint(armature: Object, chain: PropertyGroup) -> Any:
    """Return the fingerprint of all that a chain is read from, as far as anybody changes it."""
    return (
        armature.as_pointer(),
        armature.data.as_pointer(),
        fingerprint(armature, chain),
        list(_animation(armature, chain)) if armature.animation_data else (),
    )


def _animation(armature: Object, chain: PropertyGroup) -> Iterator[Any]:
    """Yield what is read of the keys and drivers of bones that stretch, slide, or have locks."""
    bones = [armature.pose.bones[name] for name in joints_wanted(chain)]
    changing = chain.stretch != 1.0 or chain.compress != 1.0 or any(joint.is_scaled for joint in chain.joints)
    if not changing and not any(joint.use_slide for joint in chain.joints):
        bones = [bone for bone in bones if any(bone.lock_rotation)]
    if bones:
        yield len(armature.animation_data.drivers)
        paths = baked_paths(armature, [bone.name for bone in bones])
        paths |= {bone.path_from_id("scale") for bone in bones}
        for curve in existing_fcurves(armature):
            if curve.data_path in paths:
                yield curve.data_path, key_places(curve)


def problem_of(chain: PropertyGroup) -> str:
    """Return what keeps a chain from being solved and what to do about it; "" for a good one."""
    found = read(chain)
    return found if isinstance(found, str) else ""


def findings_of(context: Context, armature: Object, chain: PropertyGroup) -> list[Finding]:
    """Return what is wrong with a chain on the frames that the sidebar shows, the gravest first."""
    first, last, _step = chosen_range(armature, context.scene)
    return findings(armature, chain, read(chain), first, last)


def draw_findings(layout: UILayout, context: Context, armature: Object, chain: PropertyGroup) -> str:
    """Draw what is wrong with a chain, and the buttons that mend it.

    Returns what keeps it from being solved; "" for nothing.
    """
    found = findings_of(context, armature, chain)
    for finding in found[:_ROWS]:
        column = layout.column(align=True)
        draw_text(column.box(), context, shown(finding), 'INFO' if finding.note else 'ERROR')
        _draw_mends(column, context, chain, finding)
    if len(found) > _ROWS:
        layout.label(text=f"and {len(found) - _ROWS} more")
    return next((finding.sentence for finding in found if finding.kind in _UNSOLVABLE), "")


def shown(finding: Finding) -> str:
    """Return a finding's sentences without the name of the chain, which the panel is about."""
    lines = [line.removeprefix(f"Chain '{finding.chain}': ") for line in finding.sentence.splitlines()]
    return "\n".join(line[:1].upper() + line[1:] for line in lines)


def _draw_mends(column: UILayout, context: Context, chain: PropertyGroup, finding: Finding) -> None:
    mends = [one for one in finding.mends if one.way != 'ADOPT' or hasattr(bpy.types, "IK2D_OT_adopt")]
    if mends:
        row = row_or_column(column, context, [one.label for one in mends])
        for one in mends:
            _draw_mend(row, chain, one)


def _draw_mend(row: UILayout, chain: PropertyGroup, one: Mend) -> None:
    name, icon = _OPERATORS.get(one.way, ("ik2d.mend", 'TOOL_SETTINGS'))
    button = row.operator(name, text=one.label, icon=icon)
    if one.way not in _OPERATORS:
        button.way, button.chain = one.way, chain.name
    elif one.way in {'FLIP', 'ADOPT'}:
        button.chain = chain.name


# --- The operator ------------------------------------------------------------


class IK2D_OT_mend(Operator):
    """Mend what is wrong with the chain, in one of the ways that the sidebar offers"""

    bl_idname = "ik2d.mend"
    bl_label = "Mend Chain"
    bl_options = {'REGISTER', 'UNDO'}

    way: EnumProperty(name="Way", description="What to do", items=_WAYS, options={'SKIP_SAVE'})
    chain: StringProperty(
        name="Chain",
        description="Chain to mend; empty for the active one",
        options={'SKIP_SAVE'},
    )

    @classmethod
    def poll(cls, context):
        reason = why_not_edit(context)
        if not reason and shown_chain(context) is None:
            reason = "Add a chain first"
        return allowed(cls, reason)

    @classmethod
    def description(cls, _context, properties):
        """Say what the click does."""
        return next(words for way, _label, words in _WAYS if way == properties.way)

    def execute(self, context):
        armature = active_armature(context)
        try:
            done = self._mend(context, armature, named_chain(context, self.chain))
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        self.report({'INFO'}, done)
        return {'FINISHED'}

    def _mend(self, context: Context, armature: Object, chain: PropertyGroup) -> str:
        if self.way != 'KEEP_PLANE':
            return mend(self.way, armature, chain)
        first, last, _step = chosen_range(armature, context.scene)
        keep_plane(armature, chain, context.scene, first, last)
        return f"Chain '{chain.name}' keeps the plane that it has on these frames"


classes = (IK2D_OT_mend,)


def register() -> None:
    """Register the operator."""
    register_classes(classes)


def unregister() -> None:
    """Unregister the operator."""
    _readings.clear()
    unregister_classes(classes)
