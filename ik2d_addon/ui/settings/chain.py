# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rig stores: `Object.ik2d`, its chains and their settings."""

from contextlib import ExitStack
from math import pi

import bpy
from bpy.props import (
    BoolProperty,
    BoolVectorProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import PropertyGroup

from ...core import IK2DError
from ...features.adopt import keep as adopted
from ...features.adopt.keep import IK2D_PG_adopted
from ...live.registry import RIGS, key_of, status_of
from ...rig.chain.chain import chain_bones
from ...rig.chain.hands import note_offset, posed_hands, put_hands_back
from ...rig.chain.renames import follow_joints, free_name, remember
from ..registration import register_classes, unregister_classes

OVERRIDABLE = {'LIBRARY_OVERRIDABLE'}
HIDDEN = {'HIDDEN'}
GROWING = {'LIBRARY_OVERRIDABLE', 'USE_INSERTION'}


def _keep_name_unique(chain, _context):
    """Give the chain the next free name, as Blender does for objects.

    Library overrides find a chain by its name, so two of one name cannot be told apart.
    """
    name = free_name(chain)
    if name != chain.name:
        chain.name = name


# --- The joints of a chain ---------------------------------------------------


def joints_wanted(chain) -> list[str]:
    """Return the names of the chain's bones, root to tip; none where it has no such bones."""
    armature = chain.id_data
    if armature.pose is None:  # an armature that no scene has shown yet
        return []
    try:
        return [bone.name for bone in chain_bones(armature, chain.tip, chain.bone_count)]
    except IK2DError:
        return []


def joints_missing(chain) -> list[str]:
    """Return the chain's bones that have no joint, as after the rig was edited."""
    return [name for name in joints_wanted(chain) if name not in chain.joints]


def sync_joints(chain) -> None:
    """Give the chain one joint for each of its bones, root to tip; a bone that stays keeps its settings.

    Runs by itself when the tip or the number of bones changes. Settings of bones that leave the chain
    lie in `chain.dormant` until they are in it again. A chain with no such bones keeps what it has, so
    that a slip of the pen loses nothing; so does one that comes from a linked library.
    """
    follow_joints(chain)
    wanted = joints_wanted(chain)
    if not wanted or wanted == [joint.name for joint in chain.joints]:
        return
    kept = {joint.name: _kept(joint) for joint in [*chain.dormant, *chain.joints]}
    chain.joints.clear()  # not those of a library, which an override cannot remove
    for name in joints_missing(chain):
        _add_joint(chain.joints, name, kept.get(name, {}))
    chain.dormant.clear()
    for name, values in kept.items():
        if values and name not in chain.joints and name not in chain.dormant:
            _add_joint(chain.dormant, name, values)
    follow_joints(chain)


def _kept(joint) -> dict:
    """Return what a joint is set to; nothing where it is as a new one."""
    if not any(joint.is_property_set(key) for key in JOINT_SETTINGS):
        return {}
    values = {key: getattr(joint, key) for key in JOINT_SETTINGS}
    for key in ("slid", "slide_base"):
        values[key] = tuple(values[key])  # a copy: the joint goes
    place = {key: getattr(joint.place, key) for key in PLACE}
    for key in ("head", "tail"):
        place[key] = tuple(place[key])
    return {**values, "place": place}


def _add_joint(joints, name: str, values: dict) -> None:
    joint = joints.add()
    joint.name = name
    for key in JOINT_SETTINGS:
        if key in values:
            setattr(joint, key, values[key])
    for key, value in values.get("place", {}).items():
        setattr(joint.place, key, value)


def _solving_changed(_settings, _context):
    """Have live chains look at their settings again."""
    RIGS.mark()


# What settings have in common: those that say how a chain is solved; of these the ones that may be animated;
# and what the add-on itself notes beside them.
_ANIMATED = {"override": OVERRIDABLE, "update": _solving_changed}
_SETTING = {**_ANIMATED, "options": set()}
_NOTE = {"override": OVERRIDABLE, "options": HIDDEN}


def _live_changed(chain, _context):
    RIGS.failures.pop(key_of(chain), None)
    RIGS.mark()


def _bones_changed(chain, _context):
    sync_joints(chain)
    RIGS.mark()


def _plane_changed(chain, _context):
    chain.plane_taken, chain.is_off_plane = "", False
    RIGS.mark()


def _target_changed(chain, _context):
    """Note how the target stands, and its bone, to find that again when it is renamed."""
    RIGS.mark()
    chain.property_unset("subtarget_place")
    if chain.subtarget and chain.target is not None and chain.target.type == 'ARMATURE':
        remember(chain.subtarget_place, chain.target.data, chain.subtarget)
    note_offset(chain)


def _minimum_changed(joint, _context):
    RIGS.mark()
    if joint.limit_max < joint.limit_min:  # also ends the update that this itself sets off
        joint.limit_max = joint.limit_min


def _maximum_changed(joint, _context):
    RIGS.mark()
    if joint.limit_min > joint.limit_max:
        joint.limit_min = joint.limit_max


def _shortest_changed(joint, _context):
    RIGS.mark()
    if joint.slide_max < joint.slide_min:
        joint.slide_max = joint.slide_min


def _longest_changed(joint, _context):
    RIGS.mark()
    if joint.slide_min > joint.slide_max:
        joint.slide_min = joint.slide_max


class IK2D_PG_place(PropertyGroup):
    """Where a bone stood in the rest pose when it last had the name that is stored beside this."""

    head: FloatVectorProperty(name="Head", description="Head of the bone, in rest", **_NOTE)
    tail: FloatVectorProperty(name="Tail", description="Tail of the bone, in rest", **_NOTE)
    parent: StringProperty(name="Parent", description="Parent of the bone", **_NOTE)
    index: IntProperty(
        name="Index",
        description="Place of the bone among all bones; -1 where it is not known",
        default=-1,
        **_NOTE,
    )
    count: IntProperty(name="Count", description="How many bones there were", **_NOTE)


PLACE = ("head", "tail", "parent", "index", "count")


class IK2D_PG_joint(PropertyGroup):
    """What the joint at one bone's head may do."""

    name: StringProperty(
        name="Bone",
        description="Bone that turns about this joint, its head",
        override=OVERRIDABLE,
        options=set(),
    )
    use_limit: BoolProperty(
        name="Limit",
        description="Keep the joint's angle, in the chain's plane, between Min and Max",
        default=False,
        **_SETTING,
    )
    limit_min: FloatProperty(
        name="Min",
        description="Smallest angle, relative to the rest pose and positive towards the Positive bend",
        default=-pi,
        soft_min=-2.0 * pi,
        soft_max=2.0 * pi,
        subtype='ANGLE',
        override=OVERRIDABLE,
        update=_minimum_changed,
        options=set(),
    )
    limit_max: FloatProperty(
        name="Max",
        description="Largest angle, relative to the rest pose and positive towards the Positive bend",
        default=pi,
        soft_min=-2.0 * pi,
        soft_max=2.0 * pi,
        subtype='ANGLE',
        override=OVERRIDABLE,
        update=_maximum_changed,
        options=set(),
    )
    weight: FloatProperty(
        name="Weight",
        description="How willingly the joint turns beside the others, in CCD chains; 0 holds it in all",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype='FACTOR',
        **_SETTING,
    )
    is_scaled: BoolProperty(
        name="Scaled", description="Whether a solve or a bake has changed the bone's Y Scale", **_NOTE
    )
    scale_base: FloatProperty(
        name="Scale Base", description="Y Scale that the bone had before", default=1.0, **_NOTE
    )
    scale_posed: FloatProperty(
        name="Scale Posed", description="Y Scale that the last solve has posed", **_NOTE
    )
    use_slide: BoolProperty(
        name="Slide",
        description=(
            "Let the bone slide along itself, as pistons and telescopes do: it moves the next bone of the"
            " chain; the last bone moves itself"
        ),
        default=False,
        **_SETTING,
    )
    slide_min: FloatProperty(
        name="Min",
        description="Length that is added to the bone at the least; negative where it slides in",
        default=0.0,
        soft_min=-10.0,
        soft_max=10.0,
        subtype='DISTANCE',
        override=OVERRIDABLE,
        update=_shortest_changed,
        options=set(),
    )
    slide_max: FloatProperty(
        name="Max",
        description="Length that is added to the bone at the most, where it slides out",
        default=1.0,
        soft_min=-10.0,
        soft_max=10.0,
        subtype='DISTANCE',
        override=OVERRIDABLE,
        update=_longest_changed,
        options=set(),
    )
    slid: BoolVectorProperty(
        name="Slid",
        description="Channels of the bone's location that a solve or bake has moved",
        size=3,
        **_NOTE,
    )
    slide_base: FloatVectorProperty(
        name="Slide Base",
        description="Location that the bone had in these channels before",
        size=3,
        precision=6,
        **_NOTE,
    )
    place: PointerProperty(
        name="Place",
        description="Where the bone stood last, to find it again when it is renamed",
        type=IK2D_PG_place,
        **_NOTE,
    )


JOINT_SETTINGS = (
    "use_limit",
    "limit_min",
    "limit_max",
    "weight",
    "is_scaled",
    "scale_base",
    "scale_posed",
    "use_slide",
    "slide_min",
    "slide_max",
    "slid",
    "slide_base",
)


class IK2D_PG_ccd_walk(PropertyGroup):
    """Where a walk through plain CCD, joint by joint, has come to."""

    joint: IntProperty(name="Next Joint", description="Joint that turns next, 0 for the root", min=0, **_NOTE)
    mark: StringProperty(
        name="Mark", description="Pose, target and frame after the last step; others begin anew", **_NOTE
    )


# --- The chains of a rig -----------------------------------------------------


class IK2D_PG_chain(PropertyGroup):
    """One planar bone chain and the target that its tip follows.

    What a chain is solved by has an `update`, or a live chain would not notice that it changed.

    Bend, turning over, softness and influence can be animated: a bake reads them on every frame. All else is
    one for all frames, which `options` without ANIMATABLE says to whoever presses I on it.
    """

    name: StringProperty(
        name="Name",
        description="Name of the chain, unique within the armature",
        default="Chain",
        override=OVERRIDABLE,
        update=_keep_name_unique,
        options=set(),
    )
    enabled: BoolProperty(name="Enabled", description="Solve and bake this chain", default=True, **_SETTING)
    live: BoolProperty(
        name="Live",
        description=(
            "Have the tip follow its target while this is moved, scrubbed, played and rendered; nothing is"
            " keyed. Baking the chain turns it off"
        ),
        default=False,
        override=OVERRIDABLE,
        update=_live_changed,
        options=set(),
    )
    live_status: StringProperty(
        name="Live Status",
        description="What the chain reached on the frame that is shown, or what keeps it from being live",
        get=status_of,
        options=HIDDEN,
    )
    tip: StringProperty(
        name="Tip",
        description="Last bone of the chain: its tail follows the target",
        override=OVERRIDABLE,
        update=_bones_changed,
        options=set(),
    )
    bone_count: IntProperty(
        name="Bones",
        description="Bones in the chain, counted from the tip up; 0 takes all up to the root",
        default=0,
        min=0,
        soft_max=20,
        max=1000,
        override=OVERRIDABLE,
        update=_bones_changed,
        options=set(),
    )
    joints: CollectionProperty(name="Joints", type=IK2D_PG_joint, override=GROWING, options=set())
    # Settings of bones that are out of the chain for now, until they come back.
    dormant: CollectionProperty(name="Dormant Joints", type=IK2D_PG_joint, override=GROWING, options=HIDDEN)
    active_joint: IntProperty(
        name="Active Joint",
        description="Joint that is highlighted in the list",
        min=0,
        override=OVERRIDABLE,
        options=set(),
    )
    target: PointerProperty(
        name="Target",
        description="Object that the tip follows",
        type=bpy.types.Object,
        override=OVERRIDABLE,
        options=set(),
        update=_target_changed,
    )
    subtarget: StringProperty(
        name="Bone",
        description="Bone of the target armature whose head the tip follows",
        override=OVERRIDABLE,
        options=set(),
        update=_target_changed,
    )
    subtarget_place: PointerProperty(
        name="Place",
        description="Where the target's bone stood last, to find it again when it is renamed",
        type=IK2D_PG_place,
        **_NOTE,
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
        **_SETTING,
    )
    bend: EnumProperty(
        name="Bend",
        description="Side that the chain bends to",
        items=(
            ('POSITIVE', "Positive", "The side that the rest pose bends to"),
            ('NEGATIVE', "Negative", "The other side"),
        ),
        default='POSITIVE',
        **_ANIMATED,
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
        **_ANIMATED,
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
        override=OVERRIDABLE,
        options=set(),
        update=_plane_changed,
    )
    plane_normal: FloatVectorProperty(
        name="Normal",
        description="Normal of the custom plane, in the armature's space at rest",
        default=(1.0, 0.0, 0.0),
        size=3,
        subtype='XYZ',
        options=set(),
        **_ANIMATED,
    )
    plane_taken: StringProperty(
        name="Plane Taken",
        description="Plane that the last solve or bake took where it is automatic",
        options=set(),
        override=OVERRIDABLE,
    )
    is_off_plane: BoolProperty(
        name="Target Off Plane",
        description="Whether the target left the chain's plane in the last solve or bake",
        default=False,
        options=set(),
        override=OVERRIDABLE,
    )
    accepted_off_plane: FloatProperty(
        name="Accepted Off Plane",
        description="How far the joints may be off one plane without a word, as a part of the chain's reach",
        min=0.0,
        **_NOTE,
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
        **_ANIMATED,
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
        **_SETTING,
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
        **_SETTING,
    )
    stretch_bones: EnumProperty(
        name="Stretched Bones",
        description="Which bones change their length",
        items=(
            ('ALL', "All Evenly", "All bones of the chain by the same factor, so that it keeps its shape"),
            ('LAST', "Last Only", "The last bone alone; the others keep their length"),
        ),
        default='ALL',
        **_SETTING,
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
        **_ANIMATED,
    )
    hand_rotation: HAND_ROTATION
    hand_offset: HAND_OFFSET
    hands_posed: HANDS_POSED
    start_from: EnumProperty(
        name="Start From",
        description="The pose from which CCD starts at each frame",
        items=(
            ('REST', "Rest Pose", "Each frame by itself: the same target always gives the same pose"),
            ('PREVIOUS', "Frame Before", "Each frame goes on from the one before"),
        ),
        default='PREVIOUS',
        **_SETTING,
    )
    root_turns_freely: BoolProperty(
        name="Root Turns Freely",
        description=(
            "Let the first bone turn as far as it needs at no cost, so that the target's distance alone"
            " decides how the chain bends; else its turn counts like the others'"
        ),
        default=True,
        **_SETTING,
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
        **_SETTING,
    )
    iterations: IntProperty(
        name="Iterations",
        description="Most corrections that CCD makes on one frame before it takes another way",
        default=60,
        min=1,
        soft_max=200,
        max=10000,
        **_SETTING,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Distance from the target that counts as reached; 0 is a millionth of the chain's reach",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        subtype='DISTANCE',
        precision=5,
        **_SETTING,
    )
    ccd_walk: PointerProperty(
        name="CCD Walk",
        description="Where a walk through plain CCD has come to",
        type=IK2D_PG_ccd_walk,
        **_NOTE,
    )
    adopted: PointerProperty(
        name="Adopted",
        description="IK constraints that the chain stands for, and what gives them back",
        type=IK2D_PG_adopted,
        **_NOTE,
    )
    native_stand: NATIVE_STAND
    native_probe: NATIVE_PROBE
    native_constraint: NATIVE_CONSTRAINT
    native_before: NATIVE_BEFORE
    native_print: NATIVE_PRINT
    last_solve: StringProperty(
        name="Last Solve", description="What came of the last solve of this chain", **_NOTE
    )
    last_bake: StringProperty(
        name="Last Bake", description="What came of the last bake of this chain", **_NOTE
    )
    bake_reached: BoolProperty(
        name="Reached",
        description="Whether the last bake brought the tip to its target on every frame",
        **_NOTE,
    )
    solve_mark: StringProperty(
        name="Solve Mark",
        description="What the last solve was made of, to see whether it still holds",
        **_NOTE,
    )
    bake_mark: StringProperty(
        name="Bake Mark", description="What the last bake was made of, to see whether it still holds", **_NOTE
    )
    left_out: StringProperty(name="Left Out", description="What Limits from Bones could not take", **_NOTE)
    missed_frames: StringProperty(
        name="Missed Frames",
        description="Frames on which the last bake missed the target, as \"3..7 12\"",
        override=OVERRIDABLE,
        options=set(),
    )
    worst_frame: IntProperty(
        name="Worst Frame",
        description="Frame on which the last bake missed the target most; -1 where it missed none",
        default=-1,
        override=OVERRIDABLE,
        options=set(),
    )


def _reduce_changed(settings, _context):
    if settings.use_reduce and settings.on_target_keys:  # it is either the one or the other
        settings.on_target_keys = False


def _on_target_keys_changed(settings, _context):
    if settings.on_target_keys and settings.use_reduce:
        settings.use_reduce = False


def _own_range_changed(settings, context):
    """Start from the scene's range; but a range that somebody set stays."""
    scene, names = context.scene, ("frame_start", "frame_end")
    if settings.use_custom_range:
        if not any(settings.is_property_set(name) for name in names):
            for name in names:
                setattr(settings, name, getattr(scene, name))
    elif all(getattr(settings, name) == getattr(scene, name) for name in names):
        for name in names:
            settings.property_unset(name)


class IK2D_PG_settings(PropertyGroup):
    """All that IK 2D stores on an armature object."""

    chains: CollectionProperty(
        name="Chains",
        type=IK2D_PG_chain,
        override=GROWING,
        options=set(),
    )
    active_index: IntProperty(
        name="Active Chain",
        description="Chain whose settings are shown",
        min=0,
        override=OVERRIDABLE,
        options=set(),
    )
    use_custom_range: BoolProperty(
        name="Own Range",
        description="Bake a range of its own instead of the scene's, whose numbers it starts from",
        default=False,
        override=OVERRIDABLE,
        options=set(),
        update=_own_range_changed,
    )
    frame_start: IntProperty(
        name="Start", description="First frame to bake", default=1, override=OVERRIDABLE, options=set()
    )
    frame_end: IntProperty(
        name="End", description="Last frame to bake", default=250, override=OVERRIDABLE, options=set()
    )
    frame_step: IntProperty(
        name="Step",
        description="Frames from one key to the next",
        default=1,
        min=1,
        soft_max=10,
        override=OVERRIDABLE,
        options=set(),
    )
    use_reduce: BoolProperty(
        name="Reduce Keys",
        description="Leave out the keys that the tip can do without",
        default=False,
        override=OVERRIDABLE,
        update=_reduce_changed,
        options=set(),
    )
    reduce_error: FloatProperty(
        name="Max Error",
        description="Furthest that the tip may stray for it, on the frames and between them",
        default=0.001,
        min=1e-6,
        soft_max=0.1,
        subtype='DISTANCE',
        precision=4,
        override=OVERRIDABLE,
        options=set(),
    )
    on_target_keys: BoolProperty(
        name="On Target Keys",
        description="Key only the frames on which the target itself has keys, the first and the last",
        default=False,
        override=OVERRIDABLE,
        update=_on_target_keys_changed,
        options=set(),
    )
    single_axis: BoolProperty(
        name="Single Axis",
        description=(
            "Set the bones to an Euler order in which one channel turns them in the plane, so that each has"
            " a single curve to edit. Changes their rotation mode"
        ),
        default=False,
        override=OVERRIDABLE,
        options=set(),
    )
    verify: EnumProperty(
        name="Verify",
        description="Play the finished bake back and measure where the tips really are",
        items=(
            ('SAMPLE', "Sample", "Some fifty frames: spread over the range, and where most may be wrong"),
            ('ALL', "All Frames", "Every frame, and half-way to the next"),
            ('NONE', "Nothing", "Trust the solver"),
        ),
        default='SAMPLE',
        override=OVERRIDABLE,
        options=set(),
    )
    last_bake: StringProperty(
        name="Last Bake",
        description="What came of the last bake",
        override=OVERRIDABLE,
        options=set(),
    )
    last_bake_alert: BoolProperty(
        name="Last Bake Alert",
        description="Whether the last bake missed a target or gave a warning",
        default=False,
        **_NOTE,
    )
    bake_mark: StringProperty(
        name="Bake Mark",
        description="Range and options of the last bake, to see whether it still holds",
        **_NOTE,
    )
    last_solve: StringProperty(name="Last Solve", description="What came of the last solve", **_NOTE)
    last_solve_alert: BoolProperty(
        name="Last Solve Alert",
        description="Whether the last solve missed a target or gave a warning",
        default=False,
        **_NOTE,
    )
    owner: StringProperty(
        name="Owner", description="Object that the results are about: a copy of it has none", **_NOTE
    )


classes = (IK2D_PG_place, IK2D_PG_joint, IK2D_PG_ccd_walk, IK2D_PG_chain, IK2D_PG_settings)


def register() -> None:
    with ExitStack() as undo:
        adopted.register()
        undo.callback(adopted.unregister)
        register_classes(classes)
        undo.callback(unregister_classes, classes)
        bpy.types.Object.ik2d = PointerProperty(
            name="IK 2D", type=IK2D_PG_settings, override=OVERRIDABLE, options=set()
        )
        undo.pop_all()


def unregister() -> None:
    del bpy.types.Object.ik2d
    unregister_classes(classes)
    adopted.unregister()


OVERRIDABLE = {'LIBRARY_OVERRIDABLE'}


def _rotation_changed(chain, _context) -> None:
    RIGS.mark()
    if chain.hand_rotation == 'NONE' and chain.hands_posed:
        put_hands_back(chain, posed_hands(chain))
    note_offset(chain)


def _offset_changed(_chain, _context) -> None:
    RIGS.mark()


HAND_ROTATION = EnumProperty(
    name="Hand or Foot",
    description="How the bones turn that hang on the tip, such as a hand or a foot",
    items=(
        ('NONE', "As It Is", "They turn with the tip, as their own channels have it"),
        (
            'WORLD',
            "Keep in World",
            (
                "They stay as in the rest pose, however the chain and what is above it turn, so that a foot"
                " stays flat. The armature object turns them, and their own keys made by hand"
            ),
        ),
        (
            'TARGET',
            "Follow Target",
            (
                "They turn as the target does: a bone from its rest pose on, an object from where it stands"
                " when this is chosen"
            ),
        ),
    ),
    default='NONE',
    override=OVERRIDABLE,
    update=_rotation_changed,
    options=set(),
)
HAND_OFFSET = FloatVectorProperty(
    name="Hand Offset",
    description="Axes of the armature as the target object saw them when Follow Target was chosen",
    size=9,
    default=(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
    precision=6,
    override=OVERRIDABLE,
    update=_offset_changed,
    options={'HIDDEN'},
)
HANDS_POSED = StringProperty(
    name="Hands Posed",
    description="Bones on the tip that a solve or a bake has turned",
    override=OVERRIDABLE,
    options={'HIDDEN'},
)


_OVERRIDABLE, _HIDDEN = {'LIBRARY_OVERRIDABLE'}, {'HIDDEN'}

NATIVE_STAND = PointerProperty(
    name="Stand",
    description="Empty in the plane of a native chain that carries its controls",
    type=bpy.types.Object,
    override=_OVERRIDABLE,
    options=_HIDDEN,
)
NATIVE_PROBE = PointerProperty(
    name="Probe",
    description="Empty that is where the target of a native chain is",
    type=bpy.types.Object,
    override=_OVERRIDABLE,
    options=_HIDDEN,
)
NATIVE_CONSTRAINT = StringProperty(
    name="Native Constraint",
    description="Name of the constraints that turn the bones of a native chain; empty for another",
    override=_OVERRIDABLE,
    options=_HIDDEN,
)
NATIVE_PRINT = StringProperty(
    name="Made From",
    description="What a native chain was made from, to see whether it still does what its settings say",
    override=_OVERRIDABLE,
    options=_HIDDEN,
)
NATIVE_BEFORE = StringProperty(
    name="Before Native",
    description="What is to be put back when the chain is native no more",
    override=_OVERRIDABLE,
    options=_HIDDEN,
)
