# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of equal bones, and their samples at any targets."""

import math
from dataclasses import replace

import bpy
import numpy as np
from rigs import add_armature, add_chain, add_target

from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.sampler import sample_now


def add_tentacle(count, length=0.5, side=0.0, **settings):
    """Add a chain of bones along +Y from the origin that bends about X, straight or to a side by an angle."""
    bones, head = {}, np.zeros(3)
    for i in range(count):
        angle = i * side
        tail = head + length * np.array([0.0, math.cos(angle), math.sin(angle)])
        bones[f"t{i}"] = (tuple(head), tuple(tail), f"t{i - 1}" if i else "", 0.0)
        head = tail
    armature = add_armature(bones)
    return armature, add_chain(armature, f"t{count - 1}", add_target({}), bone_count=0, **settings)


def sampled(armature):
    """Return the chain and its samples as the rig stands, on one frame."""
    bpy.context.view_layer.update()
    rig = read_chain(armature, armature.ik2d.chains[0])
    return rig, sample_now(bpy.context.scene, [rig]).chains[0]


def at_targets(samples, targets, **changes):
    """Return the samples on as many frames as there are targets (frames, 3)."""
    repeated = {
        name: np.repeat(getattr(samples, name), len(targets), axis=0)
        for name in ("world", "parent", "bases", "tips", "settings")
        if getattr(samples, name) is not None
    }
    return replace(samples, **{**repeated, "targets": np.array(targets, float), **changes})
