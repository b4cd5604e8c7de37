# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones and the target that Add Chain takes: those that are selected."""

from collections.abc import Iterator

from bpy.types import Context, Object, PoseBone

from ...core import IK2DError
from ...core.words import say
from ...rig.chain.checks.bones import is_joined
from ...rig.chain.checks.found_post import chains_turning, found_post
from ...rig.chain.checks.targets import refuse_own_target
from ...rig.chain.dependencies import leading, parents, walk
from ...rig.chain.fingerprint import followed_by
from ...rig.chain.post import turning_axes
from ...ui.context import active_armature, why_not_edit

# More bones than these are told by the first and the last.
_TOLD = 4
# The number of the axis along a bone, about which it twists.
_ALONG = 1


def why_not_add(context: Context) -> str:
    """Return why no chain can be added now; "" if one can."""
    reason = why_not_edit(context)
    if reason:
        return reason
    armature = active_armature(context)
    if context.object != armature:
        return say("Make '{armature}' the active object to add a chain to it", armature=armature.name)
    if armature.data.bones.active is None:
        return say("Select the last bone of the chain in Pose Mode")
    return ""


def chosen_bones(context: Context, whole_branch: bool = False) -> list[str]:
    """Return the bones of the chain that Add Chain makes, root to tip.

    The active bone with the selected bones above and below it, without a gap; if it is alone, with its
    parent, unless that branches there. No bone of another chain but the active one. whole_branch: all bones
    from where they branch off, down to where they branch again. Without a first one that locks show to be
    the post of those below it.
    """
    run = _run(context, whole_branch)
    found = found_post(run)
    return _names(run[found.first :] if found is not None else run)


def _run(context: Context, whole_branch: bool) -> list[PoseBone]:
    armature = active_armature(context)
    active = armature.pose.bones[armature.data.bones.active.name]
    taken = set(chains_turning(armature))
    if whole_branch:
        return _branch(active, taken)
    selected = {bone.name for bone in context.selected_pose_bones or () if bone.id_data == armature} - taken
    run = [active]
    while run[0].parent is not None and run[0].parent.name in selected:
        run.insert(0, run[0].parent)
    while len(below := [bone for bone in run[-1].children if bone.name in selected]) == 1:
        run += below
    if len(run) == 1 and active.parent is not None and active.parent.name not in taken:
        bends = turning_axes(active) != [_ALONG]  # or is a turntable
        if bends and not _branches_to(active):
            run.insert(0, active.parent)
    return run


def _branches_to(bone: PoseBone) -> bool:
    """Return whether a bone is one of several limbs of its parent, such as a leg of one bone on a body.

    Bones that join it elsewhere, or that carry nothing where this one does, are helpers and no limbs.
    """
    others = [other for other in bone.parent.children if other != bone]
    if is_joined(bone.bone):
        others = [other for other in others if is_joined(other.bone)]
    return any(len(other.children) or not len(bone.children) for other in others)


def _names(bones: list[PoseBone]) -> list[str]:
    return [bone.name for bone in bones]


def _branch(bone: PoseBone, taken: set[str]) -> list[PoseBone]:
    """Return the bones that join end to end through a bone, without another that joins them or is taken."""
    branch = [bone]
    while is_joined(branch[0].bone) and len(_joined_below(branch[0].parent)) == 1:
        if branch[0].parent.name in taken:
            break
        branch.insert(0, branch[0].parent)
    while len(below := _joined_below(branch[-1])) == 1 and below[0].name not in taken:
        branch += below
    return branch


def _joined_below(bone: PoseBone) -> list[PoseBone]:
    return [child for child in bone.children if is_joined(child.bone)]


def target_candidates(context: Context) -> list[tuple[Object, str]]:
    """Return the other selected bones, then objects, as (object, bone name); Blender's Add IK does so too.

    Without bones above and below the active one, which are of its chain, or would be moved by it, and
    without objects that other chains follow: Add Chain has selected the last one's target.
    """
    armature = active_armature(context)
    active = armature.pose.bones[armature.data.bones.active.name]
    line = {active.name, *_names(active.parent_recursive), *_names(active.children_recursive)}
    bones = context.selected_pose_bones or []  # empty or None outside Pose Mode
    candidates = [
        (bone.id_data, bone.name) for bone in bones if bone.id_data != armature or bone.name not in line
    ]
    left_out = {armature, *(bone.id_data for bone in bones)}
    followed = [node for chain in armature.ik2d.chains for node in followed_by(chain, with_ground=False)]
    left_out |= {ob for ob, _ in leading(followed)}
    return candidates + [(other, "") for other in context.selected_objects if other not in left_out]


def choose_target(
    armature: Object, bones: list[str], candidates: list[tuple[Object, str]]
) -> tuple[Object, str] | None:
    """Return the first target that a chain of these bones can follow; None without candidates.

    If the chain moves all of them, but some are not its own bones, it is the last of these: the user
    meant one, and the panel says what is wrong.
    """
    for target, subtarget in candidates:
        try:
            refuse_own_target("", armature, bones, walk([(target, subtarget)], parents))
        except IK2DError:
            continue
        return target, subtarget
    meant = [(ob, bone) for ob, bone in candidates if not (ob == armature and bone in bones)]
    return meant[-1] if meant else None


def plan_in_words(context: Context, whole_branch: bool = False) -> str:
    """Return the bones and the target of the chain that Add Chain makes: "thigh, shin to Foot Target"."""
    run = _run(context, whole_branch)
    found = found_post(run)
    bones = _names(run[found.first :] if found is not None else run)
    chosen = choose_target(active_armature(context), bones, target_candidates(context))
    target = say("a new target") if chosen is None else chosen[1] or chosen[0].name
    plan = say("{bones} to {target}", bones=", ".join(_told(bones)), target=target)
    if found is None or found.owner or found.bone in bones:
        return plan
    return say("{plan}, on the post {post}", plan=plan, post=found.bone)


def _told(bones: list[str]) -> Iterator[str]:
    """Yield the names of some bones, of many the first and the last."""
    if len(bones) <= _TOLD:
        yield from bones
    else:
        yield say("{bone} … {bone_2} ({count} bones)", bone=bones[0], bone_2=bones[-1], count=len(bones))
