# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether anything moves a chain, as far as that can be told without evaluating the scene."""

from collections.abc import Sequence

import bpy
import numpy as np

from ..rig.animation.fcurves import column
from ..rig.animation.nla import keyed_paths, strip_paths
from ..rig.animation.versions import existing_fcurves
from ..rig.chain.dependencies import Movers, Node, copies_of, leaders, parents, walk
from ..rig.chain.fingerprint import followed_by
from ..rig.chain.renames import bones_of
from .solving.frames import SolvedChain

# Parents whose movements are those of the object or bone.
_RIGID = ('OBJECT', 'BONE', 'ARMATURE')
# Keys on these move no object.
_ELSE = ("pose.", "ik2d.", "hide_", "color", "show_", "display_", "empty_display_", "pass_index", '["')

# Settings of a chain whose keys pose it otherwise where its target stays.
_TURNING = ("foot.", "plane_turn")


# A target that moves by no more than this part of the reach stands still: 32 bits leave some 1e-7.
_STILL = 1e-6


def stands_still(solved: SolvedChain) -> bool:
    """Return whether a chain has one pose on all of several frames, since nothing moves its target."""
    if len(solved.noticed.aims) < 2 or np.ptp(solved.noticed.aims, axis=0).max() > _STILL:
        return False
    return not may_move(solved.rig.armature.path_resolve(solved.rig.settings.path))


def may_move(chain: bpy.types.PropertyGroup) -> bool:
    """Return whether a chain may have more than one pose.

    It may where its target, its pole, its foot or Plane Turn has keys, or anything else may move one of
    these, or what the chain hangs on. Reads keys of that alone.
    """
    movers = Movers()
    followed = walk(followed_by(chain, with_ground=False), leaders)
    if any(_is_keyed(node) or _is_moved(node, movers, chain) for node in followed):
        return True
    own = tuple(f"{chain.path_from_id()}.{name}" for name in _TURNING)
    if any(path.startswith(own) for path in keyed_paths(chain.id_data)):
        return True
    bones = bones_of(chain.id_data.data, chain.tip, chain.bone_count)
    held = walk([(chain.id_data, bones[0])], parents) if bones else []
    return any(_goes_on(node, bones) or _is_moved(node, movers, chain) for node in held)


def _is_keyed(node: Node) -> bool:
    ob, bone = node
    posed = ob.pose.bones.get(bone) if bone and ob.pose is not None else None
    prefix = f"{posed.path_from_id()}." if posed is not None else ""
    return any(_places(path, prefix) for path in keyed_paths(ob))


def _goes_on(node: Node, chained: Sequence[str]) -> bool:
    """Return whether keys move a node: of the chain's own bones by their locations alone.

    Keys of one value do not, such as those that I sets on all channels of a bone.
    """
    ob, bone = node
    prefix = f"{ob.pose.bones[bone].path_from_id()}." if bone else ""
    if bone and bone in chained:
        prefix += "location"
    if any(_places(path, prefix) for path in strip_paths(ob)):
        return True
    return any(
        np.ptp(column(curve, "co")[:, 1]) > 0.0
        for curve in existing_fcurves(ob)
        if _places(curve.data_path, prefix) and len(curve.keyframe_points)
    )


def _places(path: str, prefix: str) -> bool:
    """Return whether a path is of a bone, by its prefix; for "" of what moves the object as a whole."""
    return path.startswith(prefix) if prefix else not path.startswith(_ELSE)


def _is_moved(node: Node, movers: Movers, chain: bpy.types.PropertyGroup) -> bool:
    """Return whether drivers, constraints, physics, a soft parent or another chain may move a node."""
    ob, bone = node
    posed = ob.pose.bones.get(bone) if bone and ob.pose is not None else None
    if any(not constraint.mute for constraint in (posed or ob).constraints) and not copies_of(node):
        return True
    if any(not curve.mute for curve in movers.drivers_on(ob, posed.name if posed else "")):
        return True
    if posed is not None:
        return bone in _chained(ob, chain)
    soft = ob.parent is not None and (ob.parent_type not in _RIGID or ob.parent.type == 'CURVE')
    return ob.rigid_body is not None or soft


def _chained(ob: bpy.types.Object, but: bpy.types.PropertyGroup) -> set[str]:
    """Return the bones of an armature's enabled chains but one."""
    chains = ob.ik2d.chains if ob.is_property_set("ik2d") else ()
    return {
        bone
        for chain in chains
        if chain.enabled and chain != but
        for bone in bones_of(ob.data, chain.tip, chain.bone_count)
    }
