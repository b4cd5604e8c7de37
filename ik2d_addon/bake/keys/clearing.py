# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves: take away the keys that a bake made, and no others."""

from collections.abc import Iterable, Sequence

import bpy
from bpy.types import Object, PropertyGroup

from ...core import IK2DError
from ...core.words import say
from ...rig.animation import keys, versions
from ...rig.animation.bone_channels import ROTATIONS
from ...rig.animation.fcurves import column
from ...rig.animation.times import action_time
from ...rig.chain.chain import RigChain
from ...rig.chain.hands import forget_posed, hands_with_keys, posed_hands, put_hands_back
from ...rig.chain.renames import bones_of, needed_chain
from ...rig.chain.stretch import ALONG
from ...rig.scene.slide_locations import put_slides_back, slid_joints
from ...rig.scene.stretch_scales import put_scales_back, scaled_joints


def clear_keys(
    armature: bpy.types.Object,
    bones: Sequence[str],
    frame_start: float | None = None,
    frame_end: float | None = None,
) -> int:
    """Remove the generated keys on the bones' rotations, slides and stretched scales; return how many.

    The frames are the action's; None has no end. Bones without scale keys left get back their own scale.
    Keys of other kinds and on locked channels stay; empty curves and groups go too. Raises IK2DError for
    a linked action.
    """
    holder = versions.existing_channels(armature)
    if holder is None:
        return 0
    removed = _clear(armature, _baked(armature, bones, holder.fcurves), frame_start, frame_end)
    if removed:
        put_scales_back(armature, bones)
    return removed


def release_slides(rigs: Sequence[RigChain]) -> None:
    """Clear baked keys from the locations of bones that carry no slide any more; restore the locations."""
    for rig in rigs:
        slides = rig.slides
        bones = [] if slides is None else [rig.bones[i] for i in slides.channels if not slides.carries(i)]
        if bones:
            slid = _slid(rig.armature, bones)
            curves = versions.existing_fcurves(rig.armature)
            _clear(rig.armature, [curve for curve in curves if (curve.data_path, curve.array_index) in slid])
            put_slides_back(rig.armature, bones)


def release_hands(rigs: Sequence[RigChain]) -> None:
    """Clear baked keys from hands that chains no longer turn, and restore their rotations."""
    there = {settings.name: settings for settings in rigs[0].armature.ik2d.chains}
    for rig in rigs:
        settings = there.get(rig.name)
        if settings is None:  # removed while it was baked
            continue
        left = set(posed_hands(settings)) - set(rig.hands.bones if rig.hands is not None else ())
        if left:
            paths = baked_paths(rig.armature, sorted(left))
            curves = versions.existing_fcurves(rig.armature)
            _clear(rig.armature, [curve for curve in curves if curve.data_path in paths])
            put_hands_back(settings, left)
            forget_posed(settings, left)


def _clear(
    armature: bpy.types.Object,
    curves: Iterable[bpy.types.FCurve],
    frame_start: float | None = None,
    frame_end: float | None = None,
) -> int:
    """Remove the generated keys from the armature's own F-Curves; return how many."""
    holder = versions.existing_channels(armature)
    if holder is None:
        return 0
    removed, groups = 0, set()
    for curve in [curve for curve in curves if not is_locked(curve)]:
        frames, gone = column(curve, "co")[:, 0], ~keys.made_by_hand(curve)
        if frame_start is not None:
            gone &= frames >= frame_start - keys.SAME_FRAME
        if frame_end is not None:
            gone &= frames <= frame_end + keys.SAME_FRAME
        if not gone.any():
            continue
        if not armature.animation_data.action.is_editable:
            raise IK2DError(
                say(
                    "The action of '{armature}' is linked from another file; its keys stay",
                    armature=armature.name,
                )
            )
        removed += int(gone.sum())
        if gone.all():
            groups |= {curve.group.name} if curve.group else set()
            holder.fcurves.remove(curve)
        else:
            keys.keep_keys(curve, ~gone)
    for group in [group for group in holder.groups if group.name in groups and not len(group.channels)]:
        holder.groups.remove(group)
    return removed


def baked_keys(armature: bpy.types.Object, bones: Sequence[str]) -> bool:
    """Return whether bakes have left keys on the bones."""
    curves = _baked(armature, bones, versions.existing_fcurves(armature))
    return any(not keys.made_by_hand(curve).all() for curve in curves)


def locked_channels(armature: bpy.types.Object, bones: Sequence[str]) -> list[str]:
    """Return the paths of the bones' baked channels whose keys are locked."""
    curves = _baked(armature, bones, versions.existing_fcurves(armature))
    return sorted({curve.data_path for curve in curves if is_locked(curve)})


def _baked(
    armature: bpy.types.Object, bones: Sequence[str], curves: Iterable[bpy.types.FCurve]
) -> list[bpy.types.FCurve]:
    """Return the F-Curves of the bones' rotations, slides, and scales that a chain has stretched."""
    paths, scaled = baked_paths(armature, bones), {joint.name for joint in scaled_joints(armature)}
    slid = _slid(armature, bones)
    posed = [armature.pose.bones[name] for name in scaled.intersection(bones) if name in armature.pose.bones]
    scales = {bone.path_from_id("scale") for bone in posed}
    return [
        curve
        for curve in curves
        if curve.data_path in paths
        or (curve.data_path, curve.array_index) in slid
        or (curve.data_path in scales and curve.array_index == ALONG)
    ]


def _slid(armature: bpy.types.Object, bones: Sequence[str]) -> set[tuple[str, int]]:
    """Return the path and index of each channel of the bones' locations that has carried a slide."""
    return {
        (armature.pose.bones[joint.name].path_from_id("location"), channel)
        for joint in slid_joints(armature)
        if joint.name in bones and joint.name in armature.pose.bones
        for channel in range(3)
        if joint.slid[channel]
    }


def baked_paths(armature: bpy.types.Object, bones: Sequence[str]) -> set[str]:
    """Return the data paths of some bones' rotations, in all rotation modes."""
    posed = [armature.pose.bones[name] for name in bones if name in armature.pose.bones]
    return {bone.path_from_id(name) for bone in posed for name in ROTATIONS}


def is_locked(curve: bpy.types.FCurve) -> bool:
    """Return whether an F-Curve or its group is locked."""
    return bool(curve.lock or (curve.group and curve.group.lock))


def forget_bakes(armature: Object, chains: Iterable[PropertyGroup]) -> None:
    """Reset the results of some chains' last bakes; the rig's too where no chain has one left."""
    settings = armature.ik2d
    for chain in chains:
        for name in ("last_bake", "bake_reached", "missed_frames", "worst_frame", "bake_mark"):
            chain.property_unset(name)
    if not any(other.last_bake for other in settings.chains):
        for name in ("last_bake", "last_bake_alert", "bake_mark"):
            settings.property_unset(name)


def clear(
    armature: Object, chain: str = "", frame_start: int | None = None, frame_end: int | None = None
) -> int:
    """Remove the baked keys of a chain, or of all, between two frames or everywhere; return how many.

    chain: a name, "" for all. frame_start, frame_end: both included; None has no end. Keys made by hand
    stay. Raises IK2DError for an unknown chain and for a linked action.
    """
    chains = chains_to_clear(armature, chain)
    start, end = (
        None if frame is None else action_time(armature, bpy.context.scene, frame)
        for frame in (frame_start, frame_end)
    )
    removed = clear_keys(armature, all_bones(chains), start, end)
    everywhere = frame_start is None and frame_end is None
    for one in armature.ik2d.chains if removed else ():
        if everywhere and one in chains or one.last_bake and not baked_keys(armature, all_bones([one])):
            put_slides_back(armature, all_bones([one]))
            forget_bakes(armature, [one])
    return removed


def chains_to_clear(armature: Object, name: str) -> list[PropertyGroup]:
    """Return the chain of a name, or for "" all; raise IK2DError for an unknown one."""
    if not name:
        return list(armature.ik2d.chains)
    return [needed_chain(armature, name)]


def all_bones(chains: Iterable[PropertyGroup]) -> list[str]:
    """Return the bones of some chains, with the hands that these turn, each once."""
    names = (
        [*bones_of(chain.id_data.data, chain.tip, chain.bone_count), *hands_with_keys(chain)]
        for chain in chains
    )
    return list(dict.fromkeys(name for bones in names for name in bones))
