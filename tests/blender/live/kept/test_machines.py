# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of live mechanisms that are solved ahead: as those that are followed, where F-Curves alone lead."""

import bpy
import numpy as np
import pytest
from machine_rigs import TILT, add_machine, key_turns
from machines import excavator, four_bar, jansen_leg, toggle_clamp
from rigs import add_target

from ik2d_addon.bake import bake
from ik2d_addon.chains import drive
from ik2d_addon.live.mechanism import LiveMechanism
from ik2d_addon.live.registry import RIGS


@pytest.fixture
def followed(monkeypatch):
    """Return a list that gets an entry for each mechanism that is posed after an evaluation."""
    calls, follow = [], LiveMechanism.follow

    def noted(machine, *arguments):
        calls.append(machine.name)
        return follow(machine, *arguments)

    monkeypatch.setattr(LiveMechanism, "follow", noted)
    return calls


def on(frame, armature):
    """Return the evaluated pose matrices (bones, 4, 4) on a frame."""
    bpy.context.scene.frame_set(frame)
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([bone.matrix for bone in shown.pose.bones])


def carried(armature):
    """Move what carries a machine, and the armature."""
    for frame, turn in ((1, 0.0), (25, 1.0)):
        armature.pose.bones["base"].rotation_euler = turn, 0.3 * turn, 0.0
        armature.pose.bones["base"].keyframe_insert("rotation_euler", frame=frame)
        armature.location = turn, 2.0 * turn, 0.0
        armature.keyframe_insert("location", frame=frame)


@pytest.mark.parametrize("make", [jansen_leg, excavator, four_bar])
def test_frames_ahead_are_as_those_that_are_followed_and_are_found_as_they_are_kept(make, followed):
    armature, mechanism = add_machine(make(), 25, tilt=TILT, roll=0.3, base=True, mode='QUATERNION')
    carried(armature)
    mechanism.live = True
    alone = {}
    for frame in range(1, 26):
        RIGS.mark()  # nothing is kept
        alone[frame] = on(frame, armature)
    for frame in (1, 2, 3):
        on(frame, armature)
    followed.clear()
    for frame in (*range(4, 26), 7, 19, 3, 12):
        assert np.abs(on(frame, armature) - alone[frame]).max() < 4e-6 * max(1.0, np.abs(alone[frame]).max())
    assert not followed and mechanism.live_closed


def test_a_hand_on_the_driver_and_an_edit_are_seen(followed):
    armature, mechanism = add_machine(four_bar(), 25)
    mechanism.live = True
    for frame in range(1, 8):
        on(frame, armature)
    followed.clear()
    before = on(10, armature)
    assert not followed
    key_turns(armature, "crank", [2.0], first=10)
    after = on(10, armature)
    assert followed and np.abs(after - before).max() > 0.1 and mechanism.live_closed


def test_frames_on_which_a_driver_is_held_are_followed(followed):
    armature, mechanism = add_machine(toggle_clamp(), 25)
    mechanism.live = True
    armature.animation_data_clear()
    key_turns(armature, "handle", np.linspace(0.0, 1.0, 25))
    for frame in range(1, 10):
        on(frame, armature)
    followed.clear()
    on(24, armature)
    assert followed and "is held at" in mechanism.live_status and mechanism.live_closed


def test_a_target_is_followed_from_the_first_frame_on_as_a_bake_does(followed):
    armature, mechanism = add_machine(four_bar(), 25)
    armature.animation_data_clear()
    mechanism.drivers.clear()
    x, _, z = armature.data.bones["coupler"].tail_local
    drive(mechanism, "coupler", add_target({1: (x, 0, z), 25: (x + 0.4, 0, z + 0.4)}))
    mechanism.way = 'GO_ON'
    mechanism.live = True
    for frame in (1, 2, 3):
        on(frame, armature)
    followed.clear()
    shown = {frame: on(frame, armature) for frame in (15, 4, 18, 25)}
    assert not followed
    size = next(iter(RIGS.chains.values())).rig.size
    bake(armature)
    for frame, matrices in shown.items():
        assert np.abs(on(frame, armature) - matrices).max() < 1e-5 * size
