# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of a scene at each time."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_leg, add_target
from sampled_legs import steps

from ik2d_addon.core.solution import drained
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.record import settings_animated
from ik2d_addon.rig.scene.sampler import sample_steps


def test_each_chain_has_its_own_pole():
    armature = add_leg()
    places = {"one": (1.0, 2.0, 3.0), "other": (4.0, 5.0, 6.0), "target": (0.0, -0.5, 0.6)}
    objects = {name: add_target({1: place}, name) for name, place in places.items()}
    for pole in ("other", "one"):
        add_chain(armature, "shin", objects["target"], plane='POLE', pole=objects[pole], name=pole)
    _, result = steps([read_chain(armature, chain) for chain in armature.ik2d.chains], [1.0])
    for chain, samples in zip(armature.ik2d.chains, result.chains, strict=True):
        assert samples.poles[0] == pytest.approx(places[chain.name])
        assert samples.targets[0] == pytest.approx(places["target"])


def test_a_chain_that_stands_still_next_to_one_that_moves_is_held_in_the_memory_of_one_frame():
    armature = add_armature(
        {
            "still": ((0, 0, 0), (0, 0.1, 1), "", 0.0),
            "moving": ((2, 0, 0), (2, 0.1, 1), "", 0.0),
        }
    )
    moving = armature.pose.bones["moving"]
    for frame, place in ((1, 0.0), (9, 1.0)):
        moving.location.x = place
        moving.keyframe_insert("location", frame=frame)
    target = add_target({1: (0, 0, 1), 9: (0, 1, 1)})
    for name in ("still", "moving"):
        add_chain(armature, name, target, bone_count=1, name=name)
    rigs = [read_chain(armature, chain) for chain in armature.ik2d.chains]
    sampling = drained(sample_steps(bpy.context.scene, rigs, [1.0, 5.0, 9.0], [3.0], way="CURVES"))
    for rig, samples in zip(rigs, sampling.chains, strict=True):
        moves = rig.name == "moving"
        assert bool(samples.bases.strides[0]) == bool(samples.poses.strides[0]) == moves
        assert (np.diff(samples.bases[:3, 0, 0, 3]) > 0.0).all() == moves
        assert (samples.bases[3, 0, 0, 3] < samples.bases[1, 0, 0, 3]) == moves  # extra times come last
        assert samples.targets[0, 1] < samples.targets[3, 1] < samples.targets[1, 1] < samples.targets[2, 1]


@pytest.mark.parametrize("how", ["keys", "driver", "strip"])
def test_settings_that_are_animated_are_those_of_each_time(how, sampled_in):
    armature = add_leg()
    chain = add_chain(armature, "shin", add_target({}), bend='NEGATIVE', softness=0.25, influence=0.5)
    assert not settings_animated(armature)
    armature.pose.bones["body"].keyframe_insert("location", frame=1)
    assert not settings_animated(armature)
    rig = read_chain(armature, chain)
    _, result = steps([rig], [1.0, 11.0])
    (samples,) = result.chains
    assert samples.softness.tolist() == [0.25, 0.25] and samples.influence.tolist() == [0.5, 0.5]
    assert samples.bend.tolist() == [-1.0, -1.0]
    if how == "driver":
        armature.driver_add('ik2d.chains["shin"].influence').driver.expression = "frame / 20"
        softness = [0.25, 0.25]
    else:
        for frame, value, bend in ((1, 0.05, 'POSITIVE'), (11, 0.55, 'NEGATIVE')):
            chain.softness, chain.influence, chain.bend = value, value, bend
            for name in ("softness", "influence", "bend"):
                chain.keyframe_insert(name, frame=frame)
        softness = [0.05, 0.55]
    if how == "strip":
        animation = armature.animation_data
        action, slot = animation.action, getattr(animation, "action_slot", None)
        animation.action = None
        strip = animation.nla_tracks.new().strips.new("Strip", 1, action)
        if slot is not None:
            strip.action_slot = slot
    assert settings_animated(armature)
    _, result = steps([rig], [1.0, 11.0])
    (samples,) = result.chains
    assert samples.softness == pytest.approx(softness)
    assert samples.influence == pytest.approx([0.05, 0.55])
    assert samples.bend.tolist() == ([-1.0, -1.0] if how == "driver" else [1.0, -1.0])
