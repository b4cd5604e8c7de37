# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of a mechanism: as many as its bound asks for, drivers only where they are held."""

import bpy
import numpy as np
import pytest
from machine_rigs import add_machine, key_turns, make_linear
from machines import four_bar, jansen_leg, toggle_clamp
from rigs import add_armature

from ik2d_addon.bake import BakeOptions
from ik2d_addon.bake.mechanisms.keying import key_mechanism
from ik2d_addon.chains import add_mechanism, drive
from ik2d_addon.rig.mechanism.read import read_mechanism


def keyed(armature, mechanism, frames, **options):
    """Return a mechanism keyed on the first frames."""
    rig = read_mechanism(armature, mechanism)
    return key_mechanism(bpy.context.scene, rig, range(1, frames + 1), BakeOptions(**options))


def test_a_driver_keeps_its_keys_unless_it_is_held():
    assert {one.bone for one in keyed(*add_machine(four_bar()), 25).rotations} == {"rocker", "coupler"}
    armature, mechanism = add_machine(toggle_clamp(), 10)
    key_turns(armature, "handle", np.linspace(0.2, 1.6, 10))
    machine = keyed(armature, mechanism, 10)
    assert "handle" in {one.bone for one in machine.rotations} and machine.unkeyed == ()


@pytest.mark.parametrize("bound, least, most", [(2e-2, 7, 7), (1e-4, 13, 37), (1e-6, 37, 200)])
def test_a_finer_bound_takes_keys_between_frames(bound, least, most):
    armature, mechanism = add_machine(jansen_leg(), 7)  # 60 degrees a frame
    mechanism.open_between = bound
    assert least <= len(keyed(armature, mechanism, 7).keys) <= most


def test_keys_on_frames_are_among_them_and_one_frame_is_enough():
    armature, mechanism = add_machine(jansen_leg(), 7)
    machine = keyed(armature, mechanism, 7)
    assert set(range(1, 8)) <= set(machine.keys.tolist()) and (np.diff(machine.keys) >= 0.0625).all()
    assert len(keyed(armature, mechanism, 1).keys) == 1


@pytest.mark.parametrize("frames", [53, 71])
def test_sparse_keys_are_compared_with_the_poses_of_their_own_times(frames):
    armature, mechanism = add_machine(four_bar(), frames)
    armature.animation_data_clear()
    key_turns(armature, "crank", np.linspace(0.0, 0.5, frames))
    make_linear(armature)
    machine = keyed(armature, mechanism, frames, reduce=1e-4)
    assert machine.keys.tolist() == [1, frames] and machine.open_times.size == 0


def test_where_all_bones_drive_there_is_nothing_to_key():
    armature = add_armature({"a": ((0, 0, 0), (0, 0, 1), "", 0.0), "b": ((0, 0, 1), (1, 0, 1), "a", 0.0)})
    mechanism = add_mechanism(armature, ["a", "b"], "arm")
    for name in ("a", "b"):
        drive(mechanism, name)
    for frames in (1, 5):
        machine = keyed(armature, mechanism, frames)
        assert machine.rotations == [] and len(machine.keys) == frames


def test_the_first_turn_of_a_follower_is_within_half_a_turn():
    armature, mechanism = add_machine(four_bar())
    armature.animation_data_clear()
    key_turns(armature, "crank", np.linspace(40.0, 41.0, 5))
    make_linear(armature)
    for rotation in keyed(armature, mechanism, 5).rotations:
        assert np.abs(rotation.values[0]).max() <= np.pi
