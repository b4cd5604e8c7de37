# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored settings of a chain."""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import PropertyGroup

from ...live.registry import RIGS, key_of
from ...live.status.chain import distance_of, is_on_target, status_of
from ...rig.chain.hands import move_offset
from ...rig.chain.renames import free_name, remember
from .found_plane import keep_found_plane
from .joint import ANIMATED, GROWING, HIDDEN, NOTE, SETTING, STORED, IK2D_PG_joint, IK2D_PG_place
from .joint_list import joint_shown, show_joint, sync_joints
from .topics.hands import HandSettings
from .topics.notes import ChainNotes
from .topics.plane import PlaneSettings


def _keep_name_unique(chain, _context):
    """Give the chain the next free name, as Blender does for objects.

    Library overrides find a chain by its name, so two of one name cannot be told apart.
    """
    name = free_name(chain)
    if name != chain.name:
        chain.name = name


def _live_changed(chain, context):
    _keep_name_unique(chain, context)  # two that were never named have one default name
    RIGS.failures.pop(key_of(chain), None)
    if chain.live:
        RIGS.mark_edited(chain)
        chain.property_unset("was_live")
    else:
        RIGS.mark()


def _enabled_changed(_chain, _context):
    RIGS.mark()  # others may have its bones


def _bones_changed(chain, _context):
    if not (chain.uid or _is_of_library(chain)):  # a new one, not one that an earlier version has made
        chain.sides_from_rest = True
    sync_joints(chain)
    keep_found_plane(chain)
    RIGS.mark_bones(chain)


def _is_of_library(chain) -> bool:
    override = chain.id_data.override_library
    return override is not None and chain.name in override.reference.ik2d.chains


def _target_changed(chain, _context):
    """Store the target's bone, to find it again when it is renamed, and keep the hands as they are."""
    RIGS.mark_edited(chain)
    chain.property_unset("subtarget_place")
    chain.owns_target = False
    if chain.subtarget and chain.target is not None and chain.target.type == 'ARMATURE':
        remember(chain.subtarget_place, chain.target.data, chain.subtarget)
    move_offset(chain)


class IK2D_PG_chain(PlaneSettings, HandSettings, ChainNotes, PropertyGroup):
    """One planar bone chain and the target that its tip follows; features hang settings of their own on it.

    What a chain is solved by has an `update`, or a live chain would not notice that it changed.

    Bend, turning over, softness and influence can be animated: a bake reads them on every frame. All else is
    one for all frames, which `options` without ANIMATABLE says to whoever presses I on it.
    """

    __slots__ = ()

    name: StringProperty(
        name="Name",
        description="Name of the chain, unique within the armature",
        default="Chain",
        update=_keep_name_unique,
        **STORED,
    )
    uid: IntProperty(
        description="The chain's own number, by which its keys follow it in the list; 0 for none",
        min=0,
        **NOTE,
    )
    enabled: BoolProperty(
        name="Enabled",
        description="Pose and bake this chain",
        default=True,
        update=_enabled_changed,
        **STORED,
    )
    live: BoolProperty(
        name="Live",
        description=(
            "Follow the target while it is moved, scrubbed, played and rendered, without keys; a bake turns"
            " it off"
        ),
        update=_live_changed,
        **STORED,
    )
    was_live: BoolProperty(
        description="Whether a bake has turned Live off, so that Clear Bake turns it on",
        **NOTE,
    )
    live_status: StringProperty(
        description="What the chain reached on the frame that is shown, or what keeps it from being live",
        get=status_of,
        options=HIDDEN,
    )
    live_reached: BoolProperty(
        description="Whether the chain is live, and its tip on its target in the pose that is shown. "
        "A single bone that aims has to point at it",
        get=is_on_target,
        options=HIDDEN,
    )
    live_distance: FloatProperty(
        description="Distance from tip to target in the pose that is shown. Of a single bone that aims, from "
        "its tip to where it would point at the target. -1 where the chain is not live",
        get=distance_of,
        options=HIDDEN,
    )
    tip: StringProperty(
        name="Last Bone",
        description="Bone whose tail follows the target",
        update=_bones_changed,
        **STORED,
    )
    bone_count: IntProperty(
        name="Chain Length",
        description="Number of bones in the chain, counted up from the last bone; 0 takes all up to the root",
        min=0,
        soft_max=20,
        max=1000,
        update=_bones_changed,
        **STORED,
    )
    joints: CollectionProperty(name="Joints", type=IK2D_PG_joint, override=GROWING, options=set())
    # Settings of bones that have left the chain, kept until they are in it again.
    dormant: CollectionProperty(name="Dormant Joints", type=IK2D_PG_joint, override=GROWING, options=HIDDEN)
    active_joint: IntProperty(description="Joint that is highlighted in the list", min=0, **NOTE)
    shown_joint: IntProperty(
        name="Joint",
        description="Joint whose settings are shown; in Pose Mode that of the active bone",
        min=0,
        get=joint_shown,
        set=show_joint,
        options=HIDDEN,
    )
    target: PointerProperty(
        name="Target",
        description="Object that the tail of the last bone follows",
        type=bpy.types.Object,
        update=_target_changed,
        **STORED,
    )
    subtarget: StringProperty(
        name="Bone",
        description="Bone of the target armature whose head is followed",
        update=_target_changed,
        **STORED,
    )
    subtarget_place: PointerProperty(
        name="Place",
        description="Where the target's bone stood last, to find it again when it is renamed",
        type=IK2D_PG_place,
        **NOTE,
    )
    owns_target: BoolProperty(
        description="Whether the target was made with the chain, and goes with it",
        **NOTE,
    )
    before_added: StringProperty(
        description="The limb's pose, and what was selected, before the chain was added", **NOTE
    )
    solver: EnumProperty(
        name="Solver",
        description="Method that finds the pose",
        items=(
            (
                'AUTO',
                "Automatic",
                "Two-Bone for chains of two bones, Smooth for all others, also with limits",
                0,
            ),
            ('TWO_BONE', "Two-Bone", "Exact closed-form solution, for chains of two bones", 1),
            ('EVEN', "Smooth (Least Bend)", "Bends as little as possible from rest, shared by all joints", 3),
            ('ARC', "Circle", "Puts all joints on one circle, whatever the rest pose; needs no limits", 4),
            ('CCD', 'CCD', "Cyclic coordinate descent: turns one joint after the other", 2),
        ),
        default='AUTO',
        **SETTING,
    )
    softness: FloatProperty(
        name="Softness",
        description=(
            "Part of the reach over which the chain eases into being straight instead of popping; the tip"
            " stays a little behind its target there. 0 = exact"
        ),
        min=0.0,
        soft_max=0.2,
        max=1.0,
        subtype='FACTOR',
        **ANIMATED,
    )
    stretch: FloatProperty(
        name="Stretch",
        description=(
            "How much longer the bones may get to reach a far target, by their Y Scale: 2 = twice as long,"
            " 1 = off"
        ),
        default=1.0,
        min=1.0,
        soft_max=2.0,
        max=100.0,
        **SETTING,
    )
    compress: FloatProperty(
        name="Shortest Length",
        description=(
            "How short the bones may get for a target that is too close, by their Y Scale: 0.5 = half,"
            " 1 = off"
        ),
        default=1.0,
        min=0.01,
        soft_min=0.1,
        soft_max=1.0,
        max=100.0,
        **SETTING,
    )
    stretch_bones: EnumProperty(
        name="Stretched Bones",
        description="Bones that change their length",
        items=(
            ('ALL', "All", "All bones by the same factor, so that the chain keeps its shape"),
            ('LAST', "Last Only", "The last bone alone; the others keep their length"),
        ),
        default='ALL',
        **SETTING,
    )
    influence: FloatProperty(
        name="IK Blend",
        description="How far the bones follow the IK: 0 is their own keys (FK), 1 the IK alone",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype='FACTOR',
        **ANIMATED,
    )
    start_from: EnumProperty(
        name="Start Each Frame From",
        description=(
            "Pose that CCD, and Smooth within limits or with an angle of the last bone, starts from at each"
            " frame of a bake"
        ),
        items=(
            (
                'REST',
                "Rest Pose",
                "Each frame by itself: the same target always gives the same pose, baked or live",
            ),
            ('PREVIOUS', "Frame Before", "Each frame continues from the one before, without a jump"),
        ),
        default='PREVIOUS',
        **SETTING,
    )
    root_turns_freely: BoolProperty(
        name="First Bone Turns Freely",
        description=(
            "Bend by the target's distance alone: the first bone turns as far as needed. Off: its turn counts"
            " like the others'"
        ),
        default=True,
        **SETTING,
    )
    slide_weight: FloatProperty(
        name="Slide vs. Turn",
        description="Prefer turning (small numbers) or sliding (large numbers) in Smooth chains",
        default=1.0,
        min=0.001,
        soft_min=0.1,
        soft_max=10.0,
        max=1000.0,
        **SETTING,
    )
    iterations: IntProperty(
        name="Iterations",
        description="Most corrections that CCD makes on one frame before another method takes over",
        default=60,
        min=1,
        soft_max=200,
        max=10000,
        **SETTING,
    )
    tolerance: FloatProperty(
        name="Reached Within",
        description=(
            "How near the tip has to be for its target to count as reached; 0 is automatic, a millionth of"
            " the chain's length"
        ),
        min=0.0,
        soft_max=0.1,
        subtype='DISTANCE',
        precision=5,
        **SETTING,
    )
