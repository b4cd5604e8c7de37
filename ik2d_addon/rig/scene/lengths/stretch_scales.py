# SPDX-License-Identifier: GPL-3.0-or-later
"""The scale of bones that stretch: its keys, its value before, and how it is restored."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np

from ....core.inputs import Floats
from ...animation import keys
from ...animation.bone_channels import BoneChannels, BoneRotation
from ...animation.fcurves import column
from ...animation.kept.giving_back import give_back
from ...animation.kept.marks import BAKE, PLANT_BAKE
from ...animation.remembered import put_back_on_error
from ...chain.chain import RigChain
from ...chain.stretch import ALONG, scale_curve


def scale_channels(rig: RigChain, factors: Floats | None) -> list[BoneChannels]:
    """Return the channels to key of the bones' scales, for factors (frames, n) of their lengths."""
    stretching = rig.stretching
    if stretching is None or factors is None:
        return []
    scales = stretching.bases * stretching.own_factors(factors)
    return [_along(rig.bones[i], scales[:, i : i + 1]) for i in np.flatnonzero(stretching.scaled).tolist()]


def scales_back(rig: RigChain, keyed: bool = True) -> list[BoneChannels]:
    """Return the channels, of one value each, that restore scales that bones no longer need.

    keyed: only those that have keys.
    """
    return [
        _along(bone.name, np.array([[base]]))
        for bone, base in _left_over(rig)
        if not keyed or scale_curve(bone) is not None
    ]


@contextmanager
def scales_remembered(rigs: Iterable[RigChain], posed: Sequence[BoneRotation] = ()) -> Iterator[None]:
    """Store the bones' scale before they stretch; forget it where they no longer do.

    posed: channels that a solve has set instead of keys. If the code inside fails, all is restored.
    """
    chains = [rig for rig in rigs if rig.stretching is not None]
    touched = [(joint, bone) for rig in chains for joint, bone in _joints(rig)]
    noted = [(joint, name) for joint, _ in touched for name in ("is_scaled", "scale_base", "scale_posed")]
    with put_back_on_error([*noted, *((bone, "scale") for _, bone in touched)]):
        for rig in chains:
            _note(rig, posed)
        yield
    for rig in chains:
        put_scales_back(rig.armature, [bone.name for bone, _ in _left_over(rig)], idle=True)


def put_scales_back(armature: bpy.types.Object, bones: Iterable[str], idle: bool = False) -> None:
    """Restore the scale of bones whose stretch is no longer keyed; idle: first remove keys of that scale."""
    names = set(bones)
    for joint in scaled_joints(armature):
        bone = armature.pose.bones.get(joint.name)
        if bone is None or joint.name not in names:
            continue
        curve = scale_curve(bone)
        if curve is not None and idle and _is_idle(curve, joint.scale_base):
            _take_keys_away(armature, curve)
            curve = scale_curve(bone)
        if curve is None or keys.made_by_hand(curve).all():
            bone.scale[ALONG] = joint.scale_base
            joint.is_scaled = False


def scaled_joints(armature: bpy.types.Object) -> list[bpy.types.PropertyGroup]:
    """Return the joints, of all chains, of bones whose scale a solve or bake has changed."""
    joints = (joint for chain in armature.ik2d.chains for joint in (*chain.joints, *chain.dormant))
    return [joint for joint in joints if joint.is_scaled]


def _along(bone: str, values: Floats) -> BoneChannels:
    scales = np.ones((len(values), 3))
    scales[:, ALONG] = values[:, 0]
    return BoneChannels(bone, "scale", scales, channels=(ALONG,))


def _joints(rig: RigChain) -> list[tuple[bpy.types.PropertyGroup, bpy.types.PoseBone]]:
    joints = rig.armature.path_resolve(rig.settings.path).joints
    return [(joints[bone.name], bone) for bone in rig.pose_bones if bone.name in joints]


def _left_over(rig: RigChain) -> list[tuple[bpy.types.PoseBone, float]]:
    """Return the bones that were scaled and no longer are, each with its own scale."""
    if rig.stretching is None:
        return []
    marked = {joint.name for joint, _ in _joints(rig) if joint.is_scaled}
    bases = zip(rig.pose_bones, rig.stretching.bases.tolist(), rig.stretching.scaled, strict=True)
    return [(bone, base) for bone, base, scaled in bases if bone.name in marked and not scaled]


def _note(rig: RigChain, posed: Sequence[BoneRotation]) -> None:
    """Store the own scale of each bone that is scaled, and its posed scale."""
    assert rig.stretching is not None
    values = {channels.bone: channels.values[0, ALONG] for channels in posed}
    scaled = {
        name: base
        for name, base, on in zip(rig.bones, rig.stretching.bases, rig.stretching.scaled, strict=True)
        if on
    }
    for joint, _ in _joints(rig):
        if joint.name in scaled:
            joint.is_scaled, joint.scale_base = True, scaled[joint.name]
            joint.scale_posed = values.get(joint.name, 0.0)
    bases = {bone.name: base for bone, base in _left_over(rig)}
    for joint, bone in _joints(rig):
        if joint.name in bases:
            joint.scale_base = bases[joint.name]
            if scale_curve(bone) is None:
                bone.scale[ALONG] = joint.scale_base


def note_posed_scales(rig: RigChain) -> None:
    """Store the scales that a chain's bones were posed with."""
    for joint, bone in _joints(rig):
        if joint.is_scaled:
            joint.scale_posed = bone.scale[ALONG]


def _take_keys_away(armature: bpy.types.Object, curve: bpy.types.FCurve) -> None:
    """Remove a bake's keys from an F-Curve, and give back those that they replaced."""
    channel = (curve.data_path, curve.array_index)
    give_back(armature, lambda path, index: (path, index) == channel, (BAKE, PLANT_BAKE))


def _is_idle(curve: bpy.types.FCurve, base: float) -> bool:
    """Return whether all keys that a bake has made have the base's value."""
    made = column(curve, "co")[~keys.made_by_hand(curve), 1]
    return bool((made == np.float32(base)).all())
