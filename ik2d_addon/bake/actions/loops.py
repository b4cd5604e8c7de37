# SPDX-License-Identifier: GPL-3.0-or-later
"""The ends of clips that play in a loop: the last pose is the first one, or it is said how far it is off."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...core.affine import changed
from ...core.words import say
from ...rig.animation.bone_channels import BoneRotation, matrices
from ..keys.keying import KeyedChain
from ..mechanisms.keying import KeyedMechanism

# Ends that differ by no more, in radians or in lengths, do by arithmetic alone.
_CLOSED = 1e-5


def with_closed_loops(
    chains: Sequence[KeyedChain],
) -> tuple[list[KeyedChain], dict[bpy.types.Object, list[str]]]:
    """Return chains whose last keys equal their first ones where they nearly do, and sentences on others.

    A pose then comes back exactly, however often the clip repeats.
    """
    closed, told = [], dict[bpy.types.Object, list[str]]()
    for chain in chains:
        armature = chain.solved.rig.armature
        gaps = {rotation.bone: _gap(armature, rotation) for rotation in chain.channels}
        closed.append(_closed(chain))
        bone = max(gaps, key=gaps.__getitem__, default="")
        if bone and gaps[bone] > _CLOSED:
            told.setdefault(armature, []).append(_open(chain, bone, gaps[bone]))
    return closed, told


def with_closed_machines(
    machines: Sequence[KeyedMechanism],
) -> tuple[list[KeyedMechanism], dict[bpy.types.Object, list[str]]]:
    """Return mechanisms as `with_closed_loops` does chains."""
    closed, told = [], dict[bpy.types.Object, list[str]]()
    for machine in machines:
        armature = machine.rig.armature
        gaps = {rotation.bone: _gap(armature, rotation) for rotation in machine.rotations}
        closed.append(changed(machine, rotations=[_with_equal_ends(one) for one in machine.rotations]))
        bone = max(gaps, key=gaps.__getitem__, default="")
        if bone and gaps[bone] > _CLOSED:
            sentence = say(
                "Mechanism '{name}': its loop is open by {angle}° at '{bone}', since what drives it "
                "does not end where it began",
                name=machine.rig.name,
                angle=f"{np.degrees(gaps[bone]):.2g}",
                bone=bone,
            )
            told.setdefault(armature, []).append(sentence)
    return closed, told


def _closed(chain: KeyedChain) -> KeyedChain:
    post, hands = chain.post, chain.hands
    if post is not None:
        post = changed(post, rotation=_with_equal_ends(post.rotation))
    if hands is not None:
        hands = changed(hands, rotations=[_with_equal_ends(rotation) for rotation in hands.rotations])
    return changed(
        chain,
        rotations=[_with_equal_ends(rotation) for rotation in chain.rotations],
        scales=[_with_equal_ends(scale) for scale in chain.scales],
        post=post,
        hands=hands,
    )


def _with_equal_ends(rotation: BoneRotation) -> BoneRotation:
    """Return channels whose last values are the first ones, or for a quaternion the opposite ones."""
    first, last = rotation.values[0], rotation.values[-1]
    for sign in (1.0, -1.0) if rotation.property == "rotation_quaternion" else (1.0,):
        apart = np.abs(sign * first - last).max()
        if 0.0 < apart <= _CLOSED:
            values = rotation.values.copy()
            values[-1] = sign * first
            return changed(rotation, values=values)
    return rotation


def _gap(armature: bpy.types.Object, rotation: BoneRotation) -> float:
    """Return how far the last values of channels are from the first: an angle in radians, or a length."""
    ends = rotation.values[[0, -1]]
    if not rotation.property.startswith("rotation"):
        return float(np.abs(np.diff(ends, axis=0)).max())
    mode = rotation.mode or armature.pose.bones[rotation.bone].rotation_mode
    first, last = matrices(mode, ends)
    # The chord of the rotation between them, 2 sin(angle / 2), is exact for small ones.
    chord = float(np.linalg.norm(first - last)) / np.sqrt(2.0)
    return 2.0 * float(np.arcsin(min(1.0, chord / 2.0)))


def _open(chain: KeyedChain, bone: str, gap: float) -> str:
    """Return the sentence on a loop that is open."""
    rig = chain.solved.rig
    places = {"chain": rig.name, "bone": bone, "angle": f"{np.degrees(gap):.2g}"}
    if not rig.goes_on:
        return say(
            "Chain '{chain}': its loop is open by {angle}° at '{bone}', since its target does not end where "
            "it began",
            **places,
        )
    if rig.has_memory:
        return say(
            "Chain '{chain}': its loop is open by {angle}° at '{bone}', since each frame goes on from the "
            "one before; set Start Each Frame From to Rest Pose to close it",
            **places,
        )
    return say(
        "Chain '{chain}': its loop is open by {angle}° at '{bone}', since each frame goes on from the one "
        "before",
        **places,
    )
