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
from ...rig.chain.renames import free_name, remember
from .adopted import IK2D_PG_adopted
from .found_plane import keep_found_plane
from .joint import ANIMATED, GROWING, HIDDEN, NOTE, SETTING, STORED, IK2D_PG_joint, IK2D_PG_place
from .joint_list import sync_joints
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


def _bones_changed(chain, _context):
    sync_joints(chain)
    keep_found_plane(chain)
    RIGS.mark()


def _plane_changed(chain, _context):
    chain.plane_taken, chain.is_off_plane, chain.plane_found = "", False, False
    RIGS.mark()


def _target_changed(chain, _context):
    """Store the target's bone, to find it again when it is renamed, and its rotation."""
    RIGS.mark()
    chain.property_unset("subtarget_place")
    if chain.subtarget and chain.target is not None and chain.target.type == 'ARMATURE':
        remember(chain.subtarget_place, chain.target.data, chain.subtarget)
    note_offset(chain)


def _rotation_changed(chain, _context) -> None:
    RIGS.mark()
    if chain.hand_rotation == 'NONE' and chain.hands_posed:
        put_hands_back(chain, posed_hands(chain))
    note_offset(chain)


class IK2D_PG_ccd_walk(PropertyGroup):
    """Where a walk through plain CCD, joint by joint, has come to."""

    joint: IntProperty(name="Next Joint", description="Joint that turns next, 0 for the root", min=0, **NOTE)
    mark: StringProperty(
        name="Mark", description="Pose, target and frame after the last step; others begin anew", **NOTE
    )


# --- The chains of a rig -----------------------------------------------------


class IK2D_PG_chain(TipAngleSettings, PropertyGroup):
    """One planar bone chain and the target that its tip follows.

    What a chain is solved by has an `update`, or a live chain would not notice that it changed.

    Bend, turning over, softness and influence can be animated: a bake reads them on every frame. All else is
    one for all frames, which `options` without ANIMATABLE says to whoever presses I on it.
    """

    name: StringProperty(
        name="Name",
        description="Name of the chain, unique within the armature",
        default="Chain",
        update=_keep_name_unique,
        **STORED,
    )
    enabled: BoolProperty(name="Enabled", description="Solve and bake this chain", default=True, **SETTING)
    live: BoolProperty(
        name="Live",
        description=(
            "Have the tip follow its target while this is moved, scrubbed, played and rendered; nothing is"
            " keyed. Baking the chain turns it off"
        ),
        default=False,
        update=_live_changed,
        **STORED,
    )
    live_status: StringProperty(
        name="Live Status",
        description="What the chain reached on the frame that is shown, or what keeps it from being live",
        get=status_of,
        options=HIDDEN,
    )
    live_reached: BoolProperty(
        name="Live Reached",
        description="Whether the chain is live, and its tip on its target in the pose that is shown",
        get=is_on_target,
        options=HIDDEN,
    )
    live_distance: FloatProperty(
        name="Live Distance",
        description="Distance from tip to target in the pose that is shown; -1 where the chain is not live",
        get=distance_of,
        options=HIDDEN,
    )
    tip: StringProperty(
        name="Tip",
        description="Last bone of the chain: its tail follows the target",
        update=_bones_changed,
        **STORED,
    )
    bone_count: IntProperty(
        name="Bones",
        description="Bones in the chain, counted from the tip up; 0 takes all up to the root",
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
    target: PointerProperty(
        name="Target",
        description="Object that the tip follows",
        type=bpy.types.Object,
        update=_target_changed,
        **STORED,
    )
    subtarget: StringProperty(
        name="Bone",
        description="Bone of the target armature whose head the tip follows",
        update=_target_changed,
        **STORED,
    )
    subtarget_place: PointerProperty(
        name="Place",
        description="Where the target's bone stood last, to find it again when it is renamed",
        type=IK2D_PG_place,
        **NOTE,
    )
    solver: EnumProperty(
        name="Solver",
        description="How the chain is solved",
        items=(
            (
                'AUTO',
                "Automatic",
                "Two-Bone for chains of two bones, Even for all others, also with limits",
                0,
            ),
            ('TWO_BONE', "Two-Bone", "Exact closed-form solution, for chains of two bones", 1),
            ('EVEN', "Even", "The pose that bends least from rest, all joints sharing the bend", 3),
            ('ARC', "Arc", "All joints on one circle, for joints without limits; rest does not count", 4),
            ('CCD', 'CCD', "Cyclic coordinate descent, which turns one joint after the other", 2),
        ),
        default='AUTO',
        **SETTING,
    )
    bend: EnumProperty(
        name="Bend",
        description="Side that the chain bends to",
        items=(
            ('POSITIVE', "Positive", "The side that the rest pose bends to"),
            ('NEGATIVE', "Negative", "The other side"),
        ),
        default='POSITIVE',
        **ANIMATED,
    )
    turn_over: FloatProperty(
        name="Turn Over",
        description=(
            "How far the chain is turned over from its bend to the other side, through the stretched chain;"
            " keys on it make a flip that takes its time"
        ),
        default=0.0,
        min=0.0,
        max=1.0,
        subtype='FACTOR',
        **ANIMATED,
    )
    plane: EnumProperty(
        name="Plane",
        description="Plane that the chain bends in, given by its normal",
        items=(
            (
                'AUTO',
                "Automatic",
                (
                    "The bend of the rest pose, or the axis of hinges that agree; a straight chain bends"
                    " towards its target, or about its first bone's X axis"
                ),
                0,
            ),
            ('HINGES', "Hinges", "The common axis of the joints that locks leave one axis to turn about", 4),
            ('X', 'X', "Normal along the armature's X axis", 1),
            ('Y', 'Y', "Normal along the armature's Y axis", 2),
            ('Z', 'Z', "Normal along the armature's Z axis", 3),
            ('CUSTOM', "Custom", "A normal of its own, in the armature's space at rest", 5),
        ),
        default='AUTO',
        update=_plane_changed,
        **STORED,
    )
    plane_normal: FloatVectorProperty(
        name="Normal",
        description="Normal of the custom plane, in the armature's space at rest",
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
    is_off_plane: BoolProperty(
        name="Target Off Plane",
        description="Whether the target left the chain's plane in the last solve or bake",
        default=False,
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
            "Part of the reach over which the tip eases into the stretched chain instead of popping;"
            " it stays a little behind its target there. 0 is exact"
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
            "How many times as long the bones may get where the target is out of reach, by keys on their Y"
            " Scale. 1 is off"
        ),
        default=1.0,
        min=1.0,
        soft_max=2.0,
        max=100.0,
        **SETTING,
    )
    compress: FloatProperty(
        name="Compress",
        description=(
            "To which part of their length the bones may shorten where the target is too close, which only"
            " a bone longer than all others together makes it: 0.5 is to half, and so is 2. 1 is off"
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
        description="Which bones change their length",
        items=(
            ('ALL', "All Evenly", "All bones of the chain by the same factor, so that it keeps its shape"),
            ('LAST', "Last Only", "The last bone alone; the others keep their length"),
        ),
        default='ALL',
        **SETTING,
    )
    influence: FloatProperty(
        name="Influence",
        description=(
            "How far the joints turn from the pose without this chain, which keys made by hand show, else"
            " the rest pose, to the solved one"
        ),
        default=1.0,
        min=0.0,
        max=1.0,
        subtype='FACTOR',
        **ANIMATED,
    )
    hand_rotation: EnumProperty(
        name="Hand or Foot",
        description="How the bones turn that hang on the tip, such as a hand or a foot",
        items=(
            ('NONE', "As It Is", "They turn with the tip, as their own channels have it"),
            (
                'WORLD',
                "Keep in World",
                (
                    "They stay as in the rest pose, however the chain and what is above it turn, so that a"
                    " foot stays flat. The armature object turns them, and their own keys made by hand"
                ),
            ),
            (
                'TARGET',
                "Follow Target",
                (
                    "They turn as the target does: a bone from its rest pose on, an object from where it"
                    " stands when this is chosen"
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
    hands_posed: StringProperty(
        name="Hands Posed",
        description="Bones on the tip that a solve or a bake has turned",
        **NOTE,
    )
    start_from: EnumProperty(
        name="Start Each Frame From",
        description="The pose that CCD, and within limits Even, goes on from at each frame of a bake",
        items=(
            (
                'REST',
                "Rest Pose",
                "Each frame by itself: the same target always gives the same pose, in a bake as in live",
            ),
            ('PREVIOUS', "Frame Before", "Each frame goes on from the one before, without a jump"),
        ),
        default='PREVIOUS',
        **SETTING,
    )
    root_turns_freely: BoolProperty(
        name="Root Turns Freely",
        description=(
            "Let the first bone turn as far as it needs at no cost, so that the target's distance alone"
            " decides how the chain bends; else its turn counts like the others'"
        ),
        default=True,
        **SETTING,
    )
    slide_weight: FloatProperty(
        name="Slide Weight",
        description=(
            "How willingly bones slide rather than turn, in Even chains: small numbers turn first, great"
            " ones slide first"
        ),
        default=1.0,
        min=0.001,
        soft_min=0.1,
        soft_max=10.0,
        max=1000.0,
        **SETTING,
    )
    iterations: IntProperty(
        name="Iterations",
        description="Most corrections that CCD makes on one frame before it takes another way",
        default=60,
        min=1,
        soft_max=200,
        max=10000,
        **SETTING,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Distance from the target that counts as reached; 0 is a millionth of the chain's reach",
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
        name="Last Solve", description="What came of the last solve of this chain", **NOTE
    )
    last_bake: StringProperty(
        name="Last Bake", description="What came of the last bake of this chain", **NOTE
    )
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
    left_out: StringProperty(name="Left Out", description="What Limits from Bones could not take", **NOTE)
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
