# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a planar chain from an armature: pose bones -> Chain and Plane."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ..core import IK2DError, Plane
from ..core.inputs import Floats
from .axes import normal_in_bone
from .dependencies import Node, parents, walk
from .joints import Joints, read_joints

_AXES = {'X': (1.0, 0.0, 0.0), 'Y': (0.0, 1.0, 0.0), 'Z': (0.0, 0.0, 1.0)}
# Joints further off the plane than this part of the reach deserve a word to the user.
FAR_OFF_PLANE = 0.01


@dataclass(frozen=True, eq=False)
class RigChain:
    """A chain of pose bones as the solvers see it, in the armature's rest space."""

    armature: bpy.types.Object
    name: str
    bones: tuple[str, ...]  # root to tip
    plane: Plane
    off_plane: float  # the furthest that any joint is off the plane in rest
    target: bpy.types.Object
    subtarget: str
    solver: str  # 'TWO_BONE' or 'CCD'
    bend: int  # +1 or -1
    iterations: int
    tolerance: float | None
    softness: float
    joints: Joints
    warnings: tuple[str, ...]  # what else acts on the bones

    @property
    def pose_bones(self) -> list[bpy.types.PoseBone]:
        """The chain's pose bones, root to tip."""
        return [self.armature.pose.bones[name] for name in self.bones]


def read_chain(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> RigChain:
    """Return the chain that `settings` (one of `Object.ik2d.chains`) describes.

    Raises IK2DError with a sentence for the user where it is incomplete or impossible.
    """
    bones = chain_bones(armature, settings.tip, settings.bone_count, settings.name)
    solver = _solver(settings, len(bones))
    _check_target(armature, settings, bones)
    joints = rest_joints(bones)
    plane = bend_plane(settings, bones, joints)
    return RigChain(
        armature=armature,
        name=settings.name,
        bones=tuple(bone.name for bone in bones),
        plane=plane,
        off_plane=float(plane.distance(joints).max()),
        target=settings.target,
        subtarget=settings.subtarget,
        solver=solver,
        bend=1 if settings.bend == 'POSITIVE' else -1,
        iterations=settings.iterations,
        tolerance=settings.tolerance or None,
        softness=settings.softness,
        joints=read_joints(settings, bones, [normal_in_bone(plane, bone) for bone in bones]),
        warnings=tuple(_meddlers(settings.name, bones)),
    )


def _meddlers(chain_name: str, bones: list[bpy.types.PoseBone]) -> Iterator[str]:
    """Yield a sentence for each constraint that would act on top of the chain's rotations."""
    for bone in bones:
        for constraint in bone.constraints:
            if not constraint.mute and constraint.influence > 0.0:
                yield (
                    f"Chain '{chain_name}': bone '{bone.name}' has the constraint '{constraint.name}', which"
                    " acts on top of the baked rotation; disable it"
                )


def problem_of(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> str:
    """Return what keeps a chain from being solved and what to do about it; "" for a good one."""
    try:
        read_chain(armature, settings)
    except IK2DError as error:
        return str(error)
    return ""


def chain_bones(
    armature: bpy.types.Object, tip: str, bone_count: int, chain_name: str = ""
) -> list[bpy.types.PoseBone]:
    """Return a chain's pose bones, root to tip; `bone_count` 0 goes to the hierarchy's root.

    Raises IK2DError for an unknown tip, and for more bones than the tip has above it.
    """
    chain = f"Chain '{chain_name}'" if chain_name else "The chain"
    if not tip:
        raise IK2DError(f"{chain} has no tip bone; choose its last bone")
    bone = pose_bones_of(armature).get(tip)
    if bone is None:
        raise IK2DError(f"{chain}: armature '{armature.name}' has no bone '{tip}'; choose another tip")
    bones = [bone, *bone.parent_recursive]
    if bone_count > len(bones):
        raise IK2DError(
            f"{chain} asks for {bone_count} bones, but '{tip}' and those above it are only {len(bones)};"
            f" set Bones to {len(bones)} or less"
        )
    return list(reversed(bones[: bone_count or len(bones)]))


def pose_bones_of(armature: bpy.types.Object) -> bpy.types.bpy_prop_collection:
    """Return the pose bones of an armature; raise IK2DError for one that has no pose yet."""
    if armature.pose is None:
        raise IK2DError(f"Armature '{armature.name}' is new and has no pose yet; update the view layer first")
    return armature.pose.bones


def rest_joints(bones: list[bpy.types.PoseBone]) -> Floats:
    """Return the joints of pose bones (n + 1, 3) in rest: each head, then the tip's tail.

    Joint to joint, so that a child that stands off its parent's tail counts where it stands.
    """
    return np.array([bone.bone.head_local for bone in bones] + [bones[-1].bone.tail_local], np.float64)


def _solver(settings: bpy.types.PropertyGroup, bone_count: int) -> str:
    if settings.solver == 'TWO_BONE' and bone_count != 2:
        raise IK2DError(
            f"Chain '{settings.name}' has {bone_count} {'bone' if bone_count == 1 else 'bones'}, but the"
            " Two-Bone solver takes two; set Bones to 2 or the solver to Automatic"
        )
    if settings.solver == 'AUTO':
        return 'TWO_BONE' if bone_count == 2 else 'CCD'
    return str(settings.solver)


def _check_target(
    armature: bpy.types.Object, settings: bpy.types.PropertyGroup, bones: list[bpy.types.PoseBone]
) -> None:
    """Raise IK2DError unless the target exists and does not hang on the chain itself."""
    target, subtarget = settings.target, settings.subtarget
    if target is None:
        raise IK2DError(f"Chain '{settings.name}' has no target; choose the object that its tip follows")
    if subtarget and (target.type != 'ARMATURE' or subtarget not in pose_bones_of(target)):
        raise IK2DError(
            f"Chain '{settings.name}': target '{target.name}' has no bone '{subtarget}';"
            " choose another bone or none"
        )
    names = [bone.name for bone in bones]
    refuse_own_target(settings.name, armature, names, walk([(target, subtarget)], parents))


def refuse_own_target(
    chain_name: str, armature: bpy.types.Object, bones: Sequence[str], moved_by: Sequence[Node]
) -> None:
    """Raise IK2DError where a bone of the chain is among what its target is moved by, the target first."""
    own = [bone for ob, bone in moved_by if ob == armature and bone in bones]
    if not own:
        return
    target, subtarget = moved_by[0]
    what = f"bone '{subtarget}'" if subtarget else f"'{target.name}'"
    raise IK2DError(
        f"Chain '{chain_name}': its target {what} is moved by the chain itself: it depends on bone"
        f" '{own[0]}'; choose a target that does not"
    )


def bend_plane(settings: bpy.types.PropertyGroup, bones: list[bpy.types.PoseBone], joints: Floats) -> Plane:
    """Return the plane, in rest space, that a chain's settings make its pose bones bend in."""
    try:
        if settings.plane == 'AUTO':
            return Plane.fit(joints, straight_normal=bones[0].bone.matrix_local.col[0].xyz)
        return Plane.facing(joints, _AXES[settings.plane])
    except IK2DError as error:
        raise IK2DError(f"Chain '{settings.name}': {error}") from None
