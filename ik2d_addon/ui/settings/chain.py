# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored settings of a chain."""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import PropertyGroup

from ...live.registry import RIGS, distance_of, is_on_target, key_of, status_of
from ...rig.chain.hands import note_offset, posed_hands, put_hands_back
from ...rig.chain.native_state import is_flipped
from ...rig.chain.renames import free_name, remember
from ...rig.pose.hand_rotations import note_kept_turn
from .adopted import IK2D_PG_adopted
from .chain_list import flip
from .foot import IK2D_PG_foot
from .found_plane import keep_found_plane
from .joint import ANIMATED, GROWING, HIDDEN, NOTE, OVERRIDABLE, SETTING, STORED, IK2D_PG_joint, IK2D_PG_place
from .joint_list import joint_shown, show_joint, sync_joints
from .planted import IK2D_PG_planted
from .pole import PoleSettings, keep_posed
from .tip_angle import TipAngleSettings


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
    RIGS.mark()
    if chain.live:
        chain.property_unset("was_live")


def _bones_changed(chain, _context):
    if not (chain.uid or _is_of_library(chain)):  # a new one, not one that an earlier version has made
        chain.sides_from_rest = True
    sync_joints(chain)
    keep_found_plane(chain)
    RIGS.mark()


def _is_of_library(chain) -> bool:
    override = chain.id_data.override_library
    return override is not None and chain.name in override.reference.ik2d.chains


def _plane_changed(chain, _context):
    chain.plane_taken, chain.plane_found = "", False
    chain.property_unset("swing_normal")
    if not chain.is_property_set("pole_angle"):
        keep_posed(chain)
    RIGS.mark()


def _target_changed(chain, _context):
    """Store the target's bone, to find it again when it is renamed, and its rotation."""
    RIGS.mark()
    chain.property_unset("subtarget_place")
    chain.owns_target = False
    if chain.subtarget and chain.target is not None and chain.target.type == 'ARMATURE':
        remember(chain.subtarget_place, chain.target.data, chain.subtarget)
    note_offset(chain)


def _rotation_changed(chain, _context) -> None:
    RIGS.mark()
    if chain.hand_rotation == 'NONE' and chain.hands_posed:
        put_hands_back(chain, posed_hands(chain))
    note_offset(chain)
    note_kept_turn(chain)


_SIDES = (
    ('POSITIVE', "Positive", "The side that the rest pose bends to; of a straight one, about the axis"),
    ('NEGATIVE', "Negative", "The other side"),
)


def _bend_to(chain, side: int) -> None:
    if is_flipped(chain) != bool(side):
        flip(chain)


class IK2D_PG_ccd_walk(PropertyGroup):
    """Where a walk through plain CCD, joint by joint, has come to."""

    __slots__ = ()

    joint: IntProperty(name="Next Joint", description="Joint that turns next, 0 for the root", min=0, **NOTE)
    mark: StringProperty(
        name="Mark", description="Pose, target and frame after the last step; others begin anew", **NOTE
    )


# --- The chains of a rig -----------------------------------------------------


class IK2D_PG_chain(PoleSettings, TipAngleSettings, PropertyGroup):
    """One planar bone chain and the target that its tip follows.

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
        name="Number",
        description="The chain's own number, by which its keys follow it in the list; 0 for none",
        min=0,
        **NOTE,
    )
    enabled: BoolProperty(name="Enabled", description="Pose and bake this chain", default=True, **SETTING)
    live: BoolProperty(
        name="Live",
        description=(
            "Follow the target while it is moved, scrubbed, played and rendered, without keys; a bake turns"
            " it off"
        ),
        default=False,
        update=_live_changed,
        **STORED,
    )
    was_live: BoolProperty(
        name="Was Live",
        description="Whether a bake has turned Live off, so that Clear Bake turns it on",
        default=False,
        **NOTE,
    )
    live_status: StringProperty(
        name="Live Status",
        description="What the chain reached on the frame that is shown, or what keeps it from being live",
        get=status_of,
        options=HIDDEN,
    )
    live_reached: BoolProperty(
        name="Live Reached",
        description="Whether the chain is live, and its tip on its target in the pose that is shown. "
        "A single bone that aims has to point at it",
        get=is_on_target,
        options=HIDDEN,
    )
    live_distance: FloatProperty(
        name="Live Distance",
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
        default=0,
        min=0,
        soft_max=20,
        max=1000,
        update=_bones_changed,
        **STORED,
    )
    joints: CollectionProperty(name="Joints", type=IK2D_PG_joint, override=GROWING, options=set())
    # Settings of bones that have left the chain, kept until they are in it again.
    dormant: CollectionProperty(name="Dormant Joints", type=IK2D_PG_joint, override=GROWING, options=HIDDEN)
    active_joint: IntProperty(
        name="Active Joint",
        description="Joint that is highlighted in the list",
        min=0,
        **NOTE,
    )
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
        name="Own Target",
        description="Whether the target was made with the chain, and goes with it",
        default=False,
        **NOTE,
    )
    before_added: StringProperty(
        name="Before Added",
        description="The limb's pose, and what was selected, before the chain was added",
        **NOTE,
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
    bend: EnumProperty(
        name="Bend",
        description="Side that the chain bends to",
        items=_SIDES,
        default='POSITIVE',
        **ANIMATED,
    )
    shown_bend: EnumProperty(
        name="Bend",
        description="Side that a chain on drivers bends to",
        items=_SIDES,
        get=lambda chain: int(is_flipped(chain)),
        set=_bend_to,
        options=HIDDEN,
    )
    sides_from_rest: BoolProperty(
        name="Sides from Rest",
        description="Whether Positive is the side of the rest pose with every solver; not so before 1.1.0",
        default=False,
        **NOTE,
    )
    turn_over: FloatProperty(
        name="Bend to Other Side",
        description=(
            "How far the knee or elbow goes over to the other side: 0 not at all, 0.5 straight, 1 all the"
            " way. Keys on it make a slow flip"
        ),
        default=0.0,
        min=0.0,
        max=1.0,
        subtype='FACTOR',
        **ANIMATED,
    )
    plane: EnumProperty(
        name="Bends In",
        description="Plane that the chain bends in",
        items=(
            (
                'AUTO',
                "Automatic",
                (
                    "The plane of the rest pose, or of hinges that agree; a straight chain bends"
                    " towards its target, or about its first bone's X axis"
                ),
                0,
            ),
            ('HINGES', "Hinges", "Across the axis of the joints whose locks leave them one axis", 4),
            ('X', "YZ", "The armature's YZ plane: bones turn about its X axis", 1),
            ('Y', "XZ", "The armature's XZ plane: bones turn about its Y axis", 2),
            ('Z', "XY", "The armature's XY plane: bones turn about its Z axis", 3),
            ('CUSTOM', "Custom", "The plane across the Normal in Advanced", 5),
            (
                'SWING',
                "Swings with Target",
                "The rest pose's plane, turned as little as brings it through the target",
                6,
            ),
            ('POLE', "Towards Pole", "The plane of target and pole: knee or elbow points at the pole", 7),
            (
                'ARC',
                "Shortest Way",
                (
                    "The rest pose's plane, turned as the line from root to tip turns the shortest way to the"
                    " target"
                ),
                8,
            ),
        ),
        default='AUTO',
        update=_plane_changed,
        **STORED,
    )
    plane_normal: FloatVectorProperty(
        name="Normal",
        description="Direction across the custom plane, in the armature's space at rest",
        default=(1.0, 0.0, 0.0),
        size=3,
        subtype='XYZ',
        **SETTING,
    )
    plane_found: BoolProperty(
        name="Plane Found",
        description="Whether the plane goes with the bones: a fixed one where they are straight at rest",
        default=False,
        **NOTE,
    )
    plane_taken: StringProperty(
        name="Plane Taken",
        description="Plane that the last solve or bake took where it is automatic",
        **NOTE,
    )
    accepted_off_plane: FloatProperty(
        name="Accepted Off Plane",
        description="How far the joints may be off one plane without a word, as a part of the chain's reach",
        min=0.0,
        **NOTE,
    )
    softness: FloatProperty(
        name="Softness",
        description=(
            "Part of the reach over which the chain eases into being straight instead of popping; the tip"
            " stays a little behind its target there. 0 = exact"
        ),
        default=0.0,
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
    hand_rotation: EnumProperty(
        name="Foot or Hand",
        description="How the bones on the end of the chain turn, such as a foot or a hand",
        items=(
            ('NONE', "With the Limb", "They turn with the last bone, and by their own keys"),
            (
                'WORLD',
                "Keep in World",
                (
                    "They keep the direction of the rest pose, so that a foot stays flat, or the one to which"
                    " you turned them; the armature object and their own keys turn them"
                ),
            ),
            (
                'TARGET',
                "Follow Target",
                (
                    "They turn as the target does: a bone from its rest pose on, an object from the moment"
                    " this is chosen"
                ),
            ),
        ),
        default='NONE',
        update=_rotation_changed,
        **STORED,
    )
    hand_offset: FloatVectorProperty(
        name="Hand Offset",
        description="Axes of the armature as the target object saw them when Follow Target was chosen",
        size=9,
        default=(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        precision=6,
        **SETTING,
    )
    hand_turn: FloatVectorProperty(
        name="Hand Turn",
        description="How far the foot or hand was turned from its rest pose when Keep in World was chosen",
        size=9,
        default=(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        precision=6,
        **SETTING,
    )
    hands_posed: StringProperty(
        name="Hands Posed",
        description="Bones on the tip that a solve or a bake has turned",
        **NOTE,
    )
    foot: PointerProperty(
        name="Foot",
        description="Foot on the end of the chain, whose control is the chain's target",
        type=IK2D_PG_foot,
        override=OVERRIDABLE,
        options=set(),
    )
    start_from: EnumProperty(
        name="Start Each Frame From",
        description="Pose that CCD, and Smooth within limits, starts from at each frame of a bake",
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
        default=0.0,
        min=0.0,
        soft_max=0.1,
        subtype='DISTANCE',
        precision=5,
        **SETTING,
    )
    ccd_walk: PointerProperty(
        name="CCD Walk",
        description="Where a walk through plain CCD has come to",
        type=IK2D_PG_ccd_walk,
        **NOTE,
    )
    planted: PointerProperty(
        name="Planted",
        description="The motion before Plant Feet",
        type=IK2D_PG_planted,
        **NOTE,
    )
    adopted: PointerProperty(
        name="Adopted",
        description="IK constraints that the chain stands for, and what gives them back",
        type=IK2D_PG_adopted,
        **NOTE,
    )
    native_stand: PointerProperty(
        name="Stand",
        description="Empty in the plane of a native chain that carries its controls",
        type=bpy.types.Object,
        **NOTE,
    )
    native_probe: PointerProperty(
        name="Probe",
        description="Empty that is where the target of a native chain is",
        type=bpy.types.Object,
        **NOTE,
    )
    native_constraint: StringProperty(
        name="Native Constraint",
        description="Name of the constraints that turn the bones of a native chain; empty for another",
        **NOTE,
    )
    native_before: StringProperty(
        name="Before Native",
        description="What is to be put back when the chain is native no more",
        **NOTE,
    )
    native_print: StringProperty(
        name="Made From",
        description="What a native chain was made from, to see whether it still does what its settings say",
        **NOTE,
    )
    last_solve: StringProperty(
        name="Last Solve", description="Result of the last solve of this chain", **NOTE
    )
    last_bake: StringProperty(name="Last Bake", description="Result of the last bake of this chain", **NOTE)
    bake_reached: BoolProperty(
        name="Reached",
        description="Whether the last bake brought the tip to its target on every frame",
        **NOTE,
    )
    solve_mark: StringProperty(
        name="Solve Mark",
        description="What the last solve was made of, to see whether it still holds",
        **NOTE,
    )
    bake_mark: StringProperty(
        name="Bake Mark", description="What the last bake was made of, to see whether it still holds", **NOTE
    )
    left_out: StringProperty(
        name="Left Out", description="Limits that could not be copied from the bones", **NOTE
    )
    missed_frames: StringProperty(
        name="Missed Frames",
        description="Frames on which the last bake missed the target, as \"3..7 12\"",
        **NOTE,
    )
    worst_frame: IntProperty(
        name="Worst Frame",
        description="Frame on which the last bake missed the target most; -1 where it missed none",
        default=-1,
        **NOTE,
    )
