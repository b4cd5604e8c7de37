# SPDX-License-Identifier: GPL-3.0-or-later
"""The fixes that findings.py offers: each is a button, and a function that says what it has done.

Those that change bones are in rest_fixes.py, the one that mutes constraints in muting.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import bpy
import numpy as np

from ...bake.cures.off_plane import LABELS, TO_TARGET
from ...bake.request import chosen_range
from ...core.swing import SWING
from ...core.words import listed, number_of, refusal, say
from ...rig.animation import key_faults, versions
from ...rig.animation.value_keys import refuse_tweak_mode
from ...rig.chain.chain import RigChain, read_chain
from ...rig.chain.checks.bones import chain_bones
from ...rig.chain.planes import swing_note
from ...rig.chain.renames import Settings, straighten
from ...rig.pose.rotations import channels_at_rest
from ...rig.scene.live_pause import live_paused
from ...rig.scene.missing_inputs import is_nowhere
from ...ui.settings.joint_list import joints_missing, sync_joints
from .planes import joints_off_plane
from .planes import keep_plane as keep_chain_plane
from .planes import plane_to_target as turn_to_target
from .sharing import bones_below, shared_with, users_of

# Of many bones in a sentence, this many are named.
NAMED = 3


Work: TypeAlias = Callable[[bpy.types.Object, Settings], str]
# All fixes, by their ways.
FIXES: dict[str, "Fix"] = {}


@dataclass(frozen=True)
class Fix:
    """A button that fixes a finding: one of the ways of `ik2d.mend`, or an operator of its own."""

    way: str
    label: str
    tooltip: str = ""  # an operator has its own
    work: Work | None = None  # says what it has done
    operator: str = "ik2d.mend"
    icon: str = 'TOOL_SETTINGS'

    def __post_init__(self) -> None:
        FIXES[self.way] = self


def fix(label: str) -> Callable[[Work], Fix]:
    """Return the decorator that makes a function a fix; its docstring is the tooltip, its name the way."""

    def declare(work: Work) -> Fix:
        tooltip = " ".join((work.__doc__ or "").split()).removesuffix(".")
        return Fix(work.__name__.upper(), label, tooltip, work)

    return declare


def mend(way: str, armature: bpy.types.Object, settings: Settings) -> str:
    """Fix a chain in one of the ways of `ik2d.mend`; return a sentence that says what was done.

    Raises IK2DError, with nothing changed, if there is nothing to fix or it cannot be fixed.
    """
    work = FIXES[way].work
    assert work is not None  # fixes that are operators are not called here
    with live_paused():
        done = work(armature, settings)
    armature.update_tag()
    bpy.context.view_layer.update()
    return done


# --- Settings ----------------------------------------------------------------


def runs_backwards(settings: bpy.types.PropertyGroup, bones: Sequence[str]) -> list[bpy.types.PropertyGroup]:
    """Return the joints of some bones whose limits or slides have Min above Max."""
    joints = [joint for joint in map(settings.joints.get, bones) if joint is not None]
    return [
        joint
        for joint in joints
        if (joint.use_limit and joint.limit_min > joint.limit_max)
        or (joint.use_slide and joint.slide_min > joint.slide_max)
    ]


@fix("Swap Min and Max")
def turn_ranges(armature: bpy.types.Object, settings: Settings) -> str:
    """Swap Min and Max of the chain's ranges that run backwards."""
    bones = chain_bones(armature, settings.tip, settings.bone_count, settings.name)
    joints = runs_backwards(settings, [bone.name for bone in bones])
    refuse_nothing(settings, joints, say("range runs backwards"))
    for joint in joints:
        for kind in ("limit", "slide"):
            ends = sorted(getattr(joint, f"{kind}_{end}") for end in ("min", "max"))
            setattr(joint, f"{kind}_min", ends[0])
            setattr(joint, f"{kind}_max", ends[1])
    return say(
        "The ranges of {names} go from Min to Max again",
        names=listed([joint.name for joint in joints], NAMED),
    )


def stuck_outside(rig: RigChain) -> list[str]:
    """Return the bones that cannot turn and whose range leaves out their turn."""
    low, high = rig.joints.limits.T
    stuck = (rig.joints.fixed | (rig.joints.weights == 0.0)) & ((low > 0.0) | (high < 0.0))
    return [bone for bone, is_stuck in zip(rig.bones, stuck, strict=True) if is_stuck]


@fix("Widen to Rest")
def widen(armature: bpy.types.Object, settings: Settings) -> str:
    """Widen the ranges of joints that may not turn to the pose that they keep."""
    bones = stuck_outside(read_chain(armature, settings))
    refuse_nothing(settings, bones, say("range leaves out the pose that its bone keeps"))
    for bone in bones:
        joint = settings.joints[bone]
        joint.limit_min, joint.limit_max = min(joint.limit_min, 0.0), max(joint.limit_max, 0.0)
    return say("The ranges of {names} hold the rest pose now", names=listed(bones, NAMED))


@fix("Clear Target")
def clear_target(_armature: bpy.types.Object, settings: Settings) -> str:
    """Take away the target, which the chain itself moves."""
    settings.target, settings.subtarget = None, ""
    return say(
        "Chain '{chain}' has no target now; choose one that the chain does not move", chain=settings.name
    )


@fix("Disable This One")
def disable(_armature: bpy.types.Object, settings: Settings) -> str:
    """Disable this chain, so that the other one has the bones that they share."""
    settings.enabled = False
    return say("Chain '{chain}' is disabled", chain=settings.name)


@fix("Shorten")
def shorten(_armature: bpy.types.Object, settings: Settings) -> str:
    """Have this chain begin below the bones that it shares, which stay with the other one."""
    shared = shared_with(settings, users_of(settings.id_data))
    refuse_nothing(settings, [*shared], say("bone is shared with another chain"))
    below = bones_below(settings, shared)
    refuse_nothing(settings, below, say("bone is its own below those that it shares"))
    settings.bone_count = len(below)
    return say("Chain '{chain}' begins at '{bone}' now", chain=settings.name, bone=below[0])


@fix("Accept")
def accept(armature: bpy.types.Object, settings: Settings) -> str:
    """Leave the joints as far off the plane as they are, and do not report it again."""
    off = joints_off_plane(read_chain(armature, settings))
    settings.accepted_off_plane = off * 1.001  # of 32 bits
    return say(
        "Joints of chain '{chain}' may be {part:.2g} % of its reach off the plane",
        chain=settings.name,
        part=100.0 * off,
    )


@fix("Plane of Hinges")
def hinge_plane(_armature: bpy.types.Object, settings: Settings) -> str:
    """Set the chain's plane to the one that its hinges turn in."""
    settings.plane = 'HINGES'
    return say("Chain '{chain}' bends in the plane of its hinges", chain=settings.name)


def cannot_follow(bones: Sequence[bpy.types.PoseBone]) -> bool:
    """Return whether later bones do not turn with the first, so that no plane of theirs can follow."""
    return any(not bone.bone.use_inherit_rotation for bone in bones[1:])


@fix(LABELS[SWING])
def swing(_armature: bpy.types.Object, settings: Settings) -> str:
    """Have the chain's plane swing with its target."""
    settings.plane = SWING
    return say("The plane of chain '{chain}' swings with its target", chain=settings.name)


@fix("Inherit Rotation")
def inherit_rotation(armature: bpy.types.Object, settings: Settings) -> str:
    """Turn on Inherit Rotation of the bones below the chain's first one."""
    refuse_linked_data(armature)
    bones = chain_bones(armature, settings.tip, settings.bone_count, settings.name)[1:]
    return inheriting(settings, [bone.bone for bone in bones if not bone.bone.use_inherit_rotation])


def inheriting(settings: Settings, loose: Sequence[bpy.types.Bone]) -> str:
    """Turn on Inherit Rotation of some bones; say so."""
    refuse_nothing(settings, loose, say("bone of it lacks Inherit Rotation"))
    for bone in loose:
        bone.use_inherit_rotation = True
    return say("Inherit Rotation is on for {names}", names=listed([bone.name for bone in loose], NAMED))


@fix("Keep Plane")
def keep_plane(armature: bpy.types.Object, settings: Settings) -> str:
    """Make the plane that the chain takes on these frames its own, so that another path of its target
    does not change it, or the side that it bends to.
    """
    scene = bpy.context.scene
    keep_chain_plane(armature, settings, scene, *chosen_range(armature, scene)[:2])
    return say("Chain '{chain}' keeps the plane that it has on these frames", chain=settings.name)


@fix(LABELS[TO_TARGET])
def plane_to_target(armature: bpy.types.Object, settings: Settings) -> str:
    """Set the chain's plane to the one that its target is nearest to, on the frames to bake."""
    scene = bpy.context.scene
    turn_to_target(armature, settings, scene, *chosen_range(armature, scene)[:2])
    label = settings.bl_rna.properties["plane"].enum_items[settings.plane].name
    return say("The plane of chain '{chain}' is {label} now", chain=settings.name, label=label)


@fix("Update Joints")
def update_joints(armature: bpy.types.Object, settings: Settings) -> str:
    """Give the chain one joint for each of its bones, after these were edited."""
    refuse_nothing(settings, joints_missing(settings), say("joint of it is missing"))
    straighten(armature)
    sync_joints(settings)
    return say("Chain '{chain}' has {count} joints", chain=settings.name, count=len(settings.joints))


@fix("Link to Scene")
def link_to_scene(armature: bpy.types.Object, settings: Settings) -> str:
    """Put the target, and all else that the chain follows, where the armature is."""
    followed = [ob for ob, _bone in read_chain(armature, settings).followed]
    lost = [ob for ob in dict.fromkeys(followed) if is_nowhere(ob)]
    refuse_nothing(settings, lost, say("target of it is in no scene"))
    scene = bpy.context.scene
    local = [collection for collection in armature.users_collection if collection.library is None]
    home = next(iter(local), scene.collection)
    for ob in lost:
        home.objects.link(ob)
    return say("Linked {names} to the scene", names=listed([ob.name for ob in lost], NAMED))


@fix("Show Pose Position")
def show_pose(armature: bpy.types.Object, _settings: Settings) -> str:
    """Have the armature show its pose in place of its rest position."""
    armature.data.pose_position = 'POSE'
    return say("'{armature}' shows its pose", armature=armature.name)


# --- Locks -------------------------------------------------------------------


@fix("Unlock Rotation")
def unlock(armature: bpy.types.Object, settings: Settings) -> str:
    """Unlock the rotation of the bones that locks keep from turning."""
    rig = read_chain(armature, settings)
    return _unlock_bones(rig, np.flatnonzero(rig.joints.fixed).tolist(), say("lock holds a bone"))


@fix("Unlock First Bone")
def unlock_first(armature: bpy.types.Object, settings: Settings) -> str:
    """Unlock the rotation of the chain's first bone, so that its plane can follow the target."""
    rig = read_chain(armature, settings)
    locked = [*swing_note(settings, rig.pose_bones[0])]
    return _unlock_bones(rig, [0] if locked else [], say("lock keeps its plane from following"))


@fix("Unlock Hinges")
def unlock_hinges(armature: bpy.types.Object, settings: Settings) -> str:
    """Unlock the bones whose only axis is not square to the chain's plane."""
    rig = read_chain(armature, settings)
    return _unlock_bones(rig, np.flatnonzero(rig.joints.slants > 0.0).tolist(), say("hinge is askew"))


def _unlock_bones(rig: RigChain, which: Sequence[int], what: str) -> str:
    bones = [rig.pose_bones[i] for i in which]
    if not bones:
        raise refusal("Chain '{chain}': no {what}", chain=rig.name, what=what)
    for bone in bones:
        bone.lock_rotation = (False, False, False)
        bone.lock_rotation_w = False
    return say("Unlocked the rotation of {names}", names=listed([bone.name for bone in bones], NAMED))


# --- Channels ----------------------------------------------------------------


@fix("Unlock Channels")
def unlock_channels(armature: bpy.types.Object, settings: Settings) -> str:
    """Unlock the F-Curves, and groups, that a bake of the chain writes."""
    locked = _switched_off(armature, settings, "lock", say("channel is locked"))
    return say("Unlocked {channels}", channels=number_of(locked, "channel"))


@fix("Unmute Channels")
def unmute_channels(armature: bpy.types.Object, settings: Settings) -> str:
    """Unmute the F-Curves, and groups, that a bake of the chain writes."""
    muted = _switched_off(armature, settings, "mute", say("channel is muted"))
    return say("Unmuted {channels}", channels=number_of(muted, "channel"))


def _switched_off(armature: bpy.types.Object, settings: Settings, switch: str, what: str) -> int:
    """Switch off "lock" or "mute" of a chain's F-Curves and their groups; return how many had it on."""
    groups = key_faults.groups_of(armature, channels_at_rest(read_chain(armature, settings)))
    off = [
        switched for switched in (*_curves(armature, settings), *groups.values()) if getattr(switched, switch)
    ]
    refuse_nothing(settings, off, what)
    for switched in off:
        setattr(switched, switch, False)
    return len(off)


@fix("Mute Modifiers")
def mute_modifiers(armature: bpy.types.Object, settings: Settings) -> str:
    """Mute the F-Curve modifiers that would act on top of the chain's keys."""
    curves = _curves(armature, settings)
    acting = [modifier for curve in curves for modifier in curve.modifiers if not modifier.mute]
    refuse_nothing(settings, acting, say("channel has modifiers that act"))
    for modifier in acting:
        modifier.mute = True
    return say("Muted {modifiers}", modifiers=number_of(len(acting), "modifier"))


@fix("Mute Drivers")
def mute_drivers(armature: bpy.types.Object, settings: Settings) -> str:
    """Mute the drivers that would override the chain's keys."""
    rotations = channels_at_rest(read_chain(armature, settings))
    drivers = [curve for rotation in rotations for curve in key_faults.drivers_of(armature, rotation)]
    refuse_nothing(settings, drivers, say("channel is driven"))
    for curve in drivers:
        curve.mute = True
    return say("Muted {drivers}", drivers=number_of(len(drivers), "driver"))


def _curves(armature: bpy.types.Object, settings: Settings) -> list[bpy.types.FCurve]:
    rotations = channels_at_rest(read_chain(armature, settings))
    return [curve for rotation in rotations for curve in key_faults.curves_of(armature, rotation)]


@fix("Make Single User")
def single_user(armature: bpy.types.Object, settings: Settings) -> str:
    """Give the armature a copy of its action, which others play too."""
    others = versions.sharing_channels(armature)
    refuse_nothing(settings, others, say("other object plays the armature's action"))
    animation = armature.animation_data
    refuse_tweak_mode(armature)
    versions.assign_action(animation, animation.action.copy(), versions.slot_played(animation))
    return say(
        "'{armature}' has its own action '{action}' now", armature=armature.name, action=animation.action.name
    )


@fix("Replace, Not Mix")
def replace(armature: bpy.types.Object, settings: Settings) -> str:
    """Have the action replace what NLA strips do, with influence 1."""
    animation = armature.animation_data
    if animation is None or (animation.action_influence == 1.0 and animation.action_blend_type == 'REPLACE'):
        raise refusal("Chain '{chain}': its action is not mixed with NLA strips", chain=settings.name)
    animation.action_influence, animation.action_blend_type = 1.0, 'REPLACE'
    return say("The action of '{armature}' replaces what NLA strips do", armature=armature.name)


def refuse_linked_data(armature: bpy.types.Object) -> None:
    """Raise IK2DError for an armature whose bones come from another file."""
    if not armature.data.is_editable:
        raise refusal(
            "The bones of '{armature}' are linked from another file: mend them there",
            armature=armature.name,
        )


def refuse_nothing(settings: Settings, found: Sequence[object], what: str) -> None:
    """Raise IK2DError where there is nothing to mend. what: of what there is none."""
    if not len(found):
        raise refusal("Chain '{chain}': no {what}", chain=settings.name, what=what)


# --- Fixes that are operators of their own -----------------------------------

flip = Fix('FLIP', "Flip Bend", operator="ik2d.flip", icon='MOD_MIRROR')
limits_from_bones = Fix(
    'LIMITS_FROM_BONES', "Copy Limits from Bones", operator="ik2d.limits_from_bones", icon='CON_ROTLIMIT'
)
mechanism = Fix('MECHANISM', "Make a Mechanism", operator="ik2d.mechanism_of_circle", icon='MOD_INSTANCE')
adopt = Fix('ADOPT', "Adopt IK", operator="ik2d.adopt", icon='CON_KINEMATIC')
