# SPDX-License-Identifier: GPL-3.0-or-later
"""Locations of bones that carry slides: with their slides, to key, and without.

A location may be more than its slide. Its value without is stored on the chain's joints when a solve or a
bake first writes it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

import bpy
import numpy as np

from ....core.affine import changed
from ....core.inputs import Floats
from ....core.words import say
from ...animation import keys, versions
from ...animation.bone_channels import BoneChannels
from ...animation.kept.giving_back import by_hand_alone
from ...animation.remembered import put_back_on_error
from ...animation.times import animation_times, strip_times
from ...chain.chain import RigChain
from ..samples import ChainSamples


def without_slides(
    scene: bpy.types.Scene, rig: RigChain, samples: ChainSamples, times: Sequence[float], copies: bool = True
) -> ChainSamples:
    """Return a chain's samples with its bones' locations without slides. copies: as in `noted_locations`."""
    if rig.slides is None:
        return samples
    bases = samples.bases.copy()
    for bone, noted in noted_locations(rig, animation_times(scene, times), copies).items():
        bases[:, bone, :3, 3] = np.where(np.isnan(noted), bases[:, bone, :3, 3], noted)
    return changed(samples, bases=bases)


def noted_locations(rig: RigChain, times: Sequence[float], copies: bool = True) -> dict[int, Floats]:
    """Return the locations {bone: (times, 3)} without slides of the bones that carry them.

    NaN in channels that no solve or bake has written: the current value counts. Else by keys made by hand,
    or the stored value. times: of the armature's action, but not of a tweaked NLA strip. copies: whether
    a bake's keys give way, in a copy of the action, to those that they replaced; else IK2DError is raised for
    a location that has them among keys made by hand.
    """
    locations: dict[int, Floats] = {}
    if rig.slides is None:
        return locations
    joints, own = _joints(rig), nullcontext(versions.existing_channels(rig.armature))
    paths = {_path(rig, bone) for bone in rig.slides.channels}
    with by_hand_alone(rig.armature, lambda path, _: path in paths) if copies else own as holder:
        for bone, channels in rig.slides.channels.items():
            locations[bone] = np.full((len(times), 3), np.nan)
            for channel in channels:
                if joints[bone].slid[channel]:
                    locations[bone][:, channel] = base_of(joints[bone])[channel]
                elif copies:
                    continue
                curve = holder and holder.fcurves.find(_path(rig, bone), index=channel)
                if not curve or not versions.plays(rig.armature, curve):
                    continue
                if copies or _is_hand_made(rig, bone, curve):
                    shown = strip_times(rig.armature, times)
                    locations[bone][:, channel] = [curve.evaluate(time) for time in shown]
    return locations


def _is_hand_made(rig: RigChain, bone: int, curve: bpy.types.FCurve) -> bool:
    """Return whether keys made by hand slide a bone; raise IK2DError where a bake's are among them."""
    refusal = say(
        "Chain '{chain}': bone '{bone}' slides from keys made by hand on its location, and "
        "those of a bake are among them; clear the bake",
        chain=rig.name,
        bone=rig.bones[bone],
    )
    return keys.is_hand_made(curve, refusal)


def location_without_slides(
    rig: RigChain, bone: int, posed: Sequence[bpy.types.PoseBone] | None = None
) -> Floats:
    """Return the current location (3,) of a bone without slides. Reads no keys.

    posed: the chain's bones as evaluated; None for the originals.
    """
    location = np.array((posed or rig.pose_bones)[bone].location)
    if rig.slides is not None and bone in rig.slides.channels:
        joint = _joints(rig)[bone]
        location = np.where(joint.slid, base_of(joint), location)
    return location


def slide_channels(rig: RigChain, locations: Floats | None) -> list[BoneChannels]:
    """Return the channels to key of the bones' locations (frames, n, 3); none where all are rigid."""
    if locations is None or rig.slides is None:
        return []
    return [
        BoneChannels(rig.bones[i], "location", locations[:, i], channels=channels)
        for i, channels in rig.slides.channels.items()
    ]


@contextmanager
def slides_remembered(rigs: Sequence[RigChain]) -> Iterator[None]:
    """Store the locations before slides are added; forget them again if the code inside fails."""
    sliding = [
        (rig, bone, channels, _joints(rig)[bone])
        for rig in rigs
        if rig.slides is not None
        for bone, channels in rig.slides.channels.items()
    ]
    noted = [(joint, name) for *_, joint in sliding for name in ("slid", "slide_base")]
    with put_back_on_error(noted):
        for rig, bone, channels, joint in sliding:
            for channel in channels:
                if not joint.slid[channel]:
                    joint.slide_base[channel] = _base(rig, bone, channel)
                    joint.slid[channel] = True
        yield


def _base(rig: RigChain, bone: int, channel: int) -> float:
    """Return the location without slides of a bone: as another chain has stored it, or the current one."""
    for joint in slid_joints(rig.armature):
        if joint.name == rig.bones[bone] and joint.slid[channel]:
            return float(base_of(joint)[channel])
    return float(rig.pose_bones[bone].location[channel])


def put_slides_back(armature: bpy.types.Object, bones: Sequence[str]) -> None:
    """Restore bones' locations before slides were added, except channels that still have keys."""
    kept = {(curve.data_path, curve.array_index) for curve in versions.existing_fcurves(armature)}
    for joint in list(slid_joints(armature)):
        bone = armature.pose.bones.get(joint.name)
        if bone is None or joint.name not in bones:
            continue
        path = bone.path_from_id("location")
        for channel in range(3):
            if joint.slid[channel] and (path, channel) not in kept:
                bone.location[channel] = base_of(joint)[channel]
        joint.slid = (False, False, False)
        joint.slide_base = (0.0, 0.0, 0.0)


def base_of(joint: bpy.types.PropertyGroup) -> Floats:
    """Return the location (3,) that is stored on a joint; 0 for NaN in a damaged file."""
    base = np.array(joint.slide_base, np.float64)
    return np.where(np.isfinite(base), base, 0.0)


def slid_joints(armature: bpy.types.Object) -> Iterator[bpy.types.PropertyGroup]:
    """Yield the joints, of all chains, whose bones have a location that a solve or bake has written."""
    for chain in armature.ik2d.chains:
        for joint in (*chain.joints, *chain.dormant):
            if any(joint.slid):
                yield joint


def _joints(rig: RigChain) -> list[bpy.types.PropertyGroup]:
    """Return the joint of each of the chain's bones, None for none; those that carry slides have one."""
    joints = rig.armature.path_resolve(rig.settings.path).joints
    return [joints.get(name) for name in rig.bones]


def _path(rig: RigChain, bone: int) -> str:
    return str(rig.pose_bones[bone].path_from_id("location"))
