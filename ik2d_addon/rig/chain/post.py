# SPDX-License-Identifier: GPL-3.0-or-later
"""The post of a chain: a bone that turns about one of its own axes so that the plane holds the target.

It is above the chain's first bone (a turntable, a slewing cab), or that bone itself, which then bends as well
(pan and tilt), or is all of the chain (a turntable alone: its heading counts, the target's height does not).
A first bone of several that only turns about its post's axis is taken off the chain.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...core import IK2DError, Plane
from ...core.inputs import Floats
from ...core.post import PostRule, side_at_rest
from ...core.words import listed, refusal
from ..rest import rest_axes, rest_matrix
from .checks.own_post import refuse_held, refuse_mode
from .dependencies import acts_now, parents, walk
from .joints import Joints, axes_left, normal_in_bone
from .renames import bones_of

POST = 'POST'
AUTO = 'AUTO'
_SIDES = {'POSITIVE': 1.0, 'NEGATIVE': -1.0}
# The space of a bone's own channels; of a target's they are read in these.
_OWN, _OWN_OF_TARGETS = 'LOCAL', ('LOCAL', 'LOCAL_OWNER_ORIENT')
# Constraints that carry a bone along with their targets, on top of what its parents do.
_CARRYING = ('CHILD_OF', 'ARMATURE')
# A plane whose normal is nearer to the axis than this sine, and a line nearer to it, do not turn about it.
_ASIDE = 0.01
# Constraints that change a bone's size alone; that turn it to their target.
_OF_SIZE = ('LIMIT_SCALE', 'MAINTAIN_VOLUME', 'COPY_SCALE')
_AIMING = ('DAMPED_TRACK', 'LOCKED_TRACK', 'STRETCH_TO', 'IK', 'LIMIT_DISTANCE')
_AXES_READ = (*(f"use_{axis}" for axis in "xyz"), *(f"invert_{axis}" for axis in "xyz"))
# The settings of a constraint that decide whether its bone turns along with a post.
DECIDING = ("owner_space", "target_space", "mix_mode", "use_offset", "use_target_z", *_AXES_READ)


@dataclass(frozen=True, eq=False)
class Post:
    """A post as the solvers see it."""

    bone: str
    rule: PostRule
    between: tuple[str, ...] = ()  # bones between it and the chain's first one, from it on

    @property
    def letter(self) -> str:
        """The name of its axis."""
        return "XYZ"[self.rule.axis]


def bones_to_post(settings: bpy.types.PropertyGroup) -> list[bpy.types.PoseBone]:
    """Return the pose bones from a chain's post down to its first one, with both; none without a post."""
    data, pose = settings.id_data.data, settings.id_data.pose
    if settings.plane != POST or pose is None:
        return []
    names = bones_of(data, settings.tip, settings.bone_count)
    post, first = pose.bones.get(settings.post), pose.bones.get(names[0]) if names else None
    if post is None or first is None:
        return []
    upwards = [first, *first.parent_recursive]
    return upwards[upwards.index(post) :: -1] if post in upwards else [post]


def post_above(settings: bpy.types.PropertyGroup, bones: Sequence[bpy.types.PoseBone]) -> bool:
    """Return whether a chain's post is a bone above those that bend.

    Also where it is the first of several and can do nothing but turn about its axis.
    """
    return settings.post != bones[0].name or len(bones) > 1 and _only_turns(settings, bones[0])


def bending_bones(
    settings: bpy.types.PropertyGroup, bones: list[bpy.types.PoseBone]
) -> list[bpy.types.PoseBone]:
    """Return the bones of a chain, root to tip, without a first one that only turns as its post."""
    if settings.plane == POST and settings.post == bones[0].name and post_above(settings, bones):
        return bones[1:]
    return bones


def bending_bones_of(settings: bpy.types.PropertyGroup) -> list[str]:
    """Return the names of the bones that `bending_bones` leaves; none where the chain has no bones."""
    names = bones_of(settings.id_data.data, settings.tip, settings.bone_count)
    if settings.plane != POST or settings.post not in names[:1] or settings.id_data.pose is None:
        return names
    posed = [bone for name in names if (bone := settings.id_data.pose.bones.get(name)) is not None]
    return [bone.name for bone in bending_bones(settings, posed)] if posed else []


def turned_bones_of(settings: bpy.types.PropertyGroup) -> list[str]:
    """Return the names of the bones that a chain turns, or has turned: a post first, then root to tip.

    A post that was chosen stays with the chain in another plane, unless another chain turns it.
    """
    armature = settings.id_data
    names = bones_of(armature.data, settings.tip, settings.bone_count)
    post = settings.post
    if not names or post in names or post not in armature.data.bones:
        return names
    if settings.plane != POST:
        for other in armature.ik2d.chains:
            turned = bones_of(armature.data, other.tip, other.bone_count)
            if other != settings and (post in turned or other.plane == POST and other.post == post):
                return names
    return [post, *names]


def is_turntable(settings: bpy.types.PropertyGroup, bones: Sequence[bpy.types.PoseBone]) -> bool:
    """Return whether a chain is one bone that can do nothing but turn about its post's axis."""
    return settings.post == bones[0].name and len(bones) == 1 and _only_turns(settings, bones[0])


def joints_of_post(
    settings: bpy.types.PropertyGroup, bones: Sequence[bpy.types.PoseBone], joints: Joints
) -> Joints:
    """Return the joints of a chain. One that is only the post turns with the plane, and not in it."""
    if settings.plane != POST or settings.post != bones[0].name:
        return joints
    if not joints.fixed[0] and not is_turntable(settings, bones):
        return joints
    first = np.arange(len(bones)) == 0
    return replace(
        joints,
        limits=np.where(first[:, None], np.nan, joints.limits),
        weights=np.where(first, 0.0, joints.weights),
        fixed=joints.fixed & ~first,
    )


def post_axis(settings: bpy.types.PropertyGroup, bone: bpy.types.PoseBone) -> int:
    """Return the number (0..2) of the axis that a post turns about; raise IK2DError where there is none."""
    left = turning_axes(bone)
    if settings.post_axis == AUTO:
        if len(left) != 1:
            if not left:
                raise refusal(
                    "locks keep its post '{bone}' from turning; unlock its rotation about one axis, or "
                    "choose another post",
                    bone=bone.name,
                )
            raise refusal(
                "its post '{bone}' may turn about {axes}, and a post turns about one; set Post Axis, or lock "
                "the rotation about the others",
                bone=bone.name,
                axes=listed(["XYZ"[axis] for axis in left]),
            )
        return left[0]
    axis = "XYZ".index(settings.post_axis)
    if axis not in left:
        raise refusal(
            "locks keep its post '{bone}' from turning about its {axis} axis; unlock it, or choose another "
            "Post Axis",
            bone=bone.name,
            axis=settings.post_axis,
        )
    return axis


def turning_axes(bone: bpy.types.PoseBone) -> list[int]:
    """Return the numbers (0..2) of the own axes that no lock, nor IK lock, keeps a bone from turning about.

    IK locks count as long as they leave any. Euler angles that are locked may be off rest: those of a post
    stay as they are.
    """
    if bone.rotation_mode in ('QUATERNION', 'AXIS_ANGLE'):
        left = axes_left(bone)
    else:
        left = [axis for axis, locked in enumerate(bone.lock_rotation) if not locked]
    with_ik = [axis for axis in left if not getattr(bone, f"lock_ik_{'xyz'[axis]}")]
    return with_ik or left


def read_post(
    settings: bpy.types.PropertyGroup, bones: list[bpy.types.PoseBone], joints: Floats, plane: Plane
) -> Post | None:
    """Return a chain's post, None for none.

    bones: those that bend, root to tip, with their joints (n + 1, 3) in rest.

    Raises IK2DError for a post that is missing, is not above the chain, cannot turn, or whose turn the chain
    does not follow.
    """
    if settings.plane != POST:
        return None
    try:
        return _read(settings, bones, joints, plane)
    except IK2DError as error:
        raise refusal("Chain '{chain}': {error}", chain=settings.name, error=error) from None


def _read(
    settings: bpy.types.PropertyGroup, bones: list[bpy.types.PoseBone], joints: Floats, plane: Plane
) -> Post:
    bone = post_bone(settings, bones)
    axis, limits = post_axis(settings, bone), None
    if settings.use_post_limit:
        limits = settings.post_limit_min, settings.post_limit_max
        if limits[0] > limits[1]:
            raise refusal("the limits of its post '{bone}' run backwards; set Min below Max", bone=bone.name)
    between = tuple(each.name for each in between_bones(bone, bones[0]))
    _refuse_held_apart(bone, bones)
    rest = rest_matrix(bone.bone)
    into = np.linalg.inv(rest)
    own_joints = joints @ into[:3, :3].T + into[:3, 3]
    normal = normal_in_bone(plane, bone)
    if np.linalg.norm(np.delete(normal, axis)) < _ASIDE:
        raise refusal(
            "its plane is square to the {axis} axis of its post '{bone}', so no turn about that moves it; "
            "choose another Post Axis or another post",
            axis="XYZ"[axis],
            bone=bone.name,
        )
    if bone == bones[0]:
        refuse_held(bone)
        refuse_mode(bone, axis, normal)
    side = side_at_rest(axis, normal, own_joints)
    # A turntable with its back to the target would be on its way, and yet not on it.
    reaches_over = settings.post_reach_over and not is_turntable(settings, bones)
    rule = PostRule(axis, side * _SIDES[settings.post_side], limits, reaches_over)
    return Post(bone.name, rule, between)


def post_bone(settings: bpy.types.PropertyGroup, bones: Sequence[bpy.types.PoseBone]) -> bpy.types.PoseBone:
    """Return the pose bone of a chain's post; raise IK2DError unless the chain's first bone hangs on it."""
    name, first = settings.post, bones[0]
    if not name:
        raise refusal(
            "it has no post; choose the bone that its plane turns about, or set Bends In to another plane"
        )
    bone = settings.id_data.pose.bones.get(name)
    if bone is None:
        raise refusal("its armature has no bone '{bone}' for its post; choose another one", bone=name)
    if bone != first and bone not in first.parent_recursive:
        raise refusal(
            "its post '{bone}' does not carry its first bone '{first}'; choose a bone above that, or that "
            "bone itself",
            bone=name,
            first=first.name,
        )
    return bone


def straight_normal(
    settings: bpy.types.PropertyGroup, bones: Sequence[bpy.types.PoseBone], line: Floats
) -> Floats | None:
    """Return the normal (3,) in rest of a straight chain's plane, which holds its line (3,) and the axis.

    Of one bone that only turns about its post's axis, the plane holds the direction that it points to: along
    it or, where that is its axis, its own Z. None where there is nothing to choose by.
    """
    bone = post_bone(settings, bones)
    axes, axis = rest_axes(bone.bone), post_axis(settings, bone)
    if bone == bones[0] and axis == 1:
        line = axes[:, 2]
    normal: Floats = np.cross(line, axes[:, axis])  # so that it is on the positive side
    size = float(np.linalg.norm(normal))
    return normal / size if size > _ASIDE * np.linalg.norm(line) else None


def _only_turns(settings: bpy.types.PropertyGroup, bone: bpy.types.PoseBone) -> bool:
    """Return whether locks leave a bone one axis alone."""
    return len(turning_axes(bone)) == 1


def between_bones(post: bpy.types.PoseBone, first: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """Return the bones between a post and the first one of its chain, from it on."""
    above = first.parent_recursive
    return above[: above.index(post)][::-1] if post in above else []


def _refuse_held_apart(post: bpy.types.PoseBone, bones: Sequence[bpy.types.PoseBone]) -> None:
    """Raise IK2DError for a bone that does not turn with a post. bones: those that bend, root to tip."""
    for bone, constraint in held_apart(post, bones):
        if constraint is None:
            raise refusal(
                "'{bone}' inherits no rotation, so it does not turn with its post '{post}'; turn Inherit "
                "Rotation on, or set Bends In to another plane",
                bone=bone.name,
                post=post.name,
            )
        raise is_held_apart(bone, constraint, post)


def held_apart(
    post: bpy.types.PoseBone, bones: Sequence[bpy.types.PoseBone]
) -> Iterator[tuple[bpy.types.PoseBone, bpy.types.Constraint | None]]:
    """Yield bones that do not turn with a post, each with the constraint that keeps it; None for none.

    bones: those that bend, root to tip. Constraints on them but the first are controls of theirs.
    """
    first, *later = bones
    carried = [*between_bones(post, first), first] if post != first else []
    for bone in (*carried, *later):
        if not bone.bone.use_inherit_rotation:
            yield bone, None
    for bone, constraint in holding_apart(carried, post):
        if acts_now(constraint):
            yield bone, constraint


def holding_apart(
    carried: Sequence[bpy.types.PoseBone], post: bpy.types.PoseBone
) -> Iterator[tuple[bpy.types.PoseBone, bpy.types.Constraint]]:
    """Yield the constraints that keep bones below a post from turning with it, each with its bone."""
    for bone in carried:
        for constraint in bone.constraints:
            if not _turns_along(constraint, post):
                yield bone, constraint


def is_held_apart(
    bone: bpy.types.PoseBone, constraint: bpy.types.Constraint, post: bpy.types.PoseBone
) -> IK2DError:
    """Return the error for a bone that such a constraint holds."""
    words = {"constraint": constraint.name, "bone": bone.name, "post": post.name}
    if constraint.type in _CARRYING:
        return refusal(
            "the constraint '{constraint}' on '{bone}' carries it besides its parents, so it does not turn "
            "as its post '{post}' does; disable the constraint, or choose a post below '{bone}'",
            **words,
        )
    return refusal(
        "the constraint '{constraint}' on '{bone}' keeps it from turning with its post '{post}'; disable the "
        "constraint, or choose a post below '{bone}'",
        **words,
    )


def _turns_along(constraint: bpy.types.Constraint, post: bpy.types.PoseBone) -> bool:
    """Return whether a constraint of a bone below a post does the same however the post turns.

    On the bone's own channels, if the post changes nothing of what it reads; in the world or in pose space,
    if all that it follows turns with the post.
    """
    if constraint.type in _OF_SIZE:
        return True
    targets = [each for each in _targets_of(constraint) if each.target is not None]
    space = getattr(constraint, "target_space", constraint.owner_space)
    if constraint.owner_space == _OWN and constraint.type not in _CARRYING:
        return not any(_changes(each, space, post) for each in targets)
    follows = all(_is_carried(each, post) for each in targets)
    return bool(targets) and follows and space == constraint.owner_space and _is_whole(constraint)


def _changes(target: Any, space: str, post: bpy.types.PoseBone) -> bool:
    """Return whether a post changes what is read of a constraint's target in a space."""
    if space in _OWN_OF_TARGETS:
        return bool(target.target == post.id_data and target.subtarget == post.name)
    return _is_carried(target, post)


def _is_carried(target: Any, post: bpy.types.PoseBone) -> bool:
    """Return whether a constraint's target is a post, or hangs on it by its parents."""
    return (post.id_data, post.name) in walk([(target.target, target.subtarget)], parents)


def _is_whole(constraint: bpy.types.Constraint) -> bool:
    """Return whether a constraint in world or pose space does all that what it follows does."""
    kind = constraint.type
    if kind == 'TRACK_TO':
        return bool(constraint.use_target_z)  # its up is the world's else
    if kind in ('COPY_LOCATION', 'COPY_ROTATION'):
        every = all(getattr(constraint, f"use_{axis}") for axis in "xyz")
        if not every or any(getattr(constraint, f"invert_{axis}") for axis in "xyz"):
            return False
        return not constraint.use_offset if kind == 'COPY_LOCATION' else constraint.mix_mode == 'REPLACE'
    return kind in _AIMING or kind == 'COPY_TRANSFORMS' and constraint.mix_mode == 'REPLACE'


def _targets_of(constraint: bpy.types.Constraint) -> Iterator[Any]:
    if constraint.type == 'ARMATURE':
        yield from constraint.targets
    elif hasattr(constraint, "target"):
        yield constraint
