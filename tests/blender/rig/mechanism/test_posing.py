# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of a mechanism as channels and motions, and how far joints are open in them."""

import bpy
import numpy as np
import pytest
from machine_rigs import MODES, TILT, add_machine, evaluated_openings
from machines import MACHINES, four_bar, landing_gear

from ik2d_addon.rig.mechanism.posing import (
    Motions,
    by_channels,
    by_turns,
    channels_at,
    channels_of_rest,
    evaluated_motions,
    local_turns,
    openings,
    pose_of,
)
from ik2d_addon.rig.mechanism.read import read_mechanism
from ik2d_addon.rig.mechanism.values import stepping


@pytest.mark.parametrize("make", MACHINES, ids=lambda make: make.__name__)
def test_solved_turns_close_the_joints(make):
    machine = make()
    rig = read_mechanism(*add_machine(machine))
    given = {one.body: rig.core.solve({}).drivers[one.body] for one in rig.drivers}
    turns = local_turns(rig, rig.core.solve(given))
    own = {bone: by_turns(rig, bone, turns[bone]) for bone in rig.bones}
    assert openings(rig, Motions.of_rotations(rig, own)).max() < 1e-6 * rig.size


def test_a_bone_turned_off_opens_its_pin_by_its_length():
    rig = read_mechanism(*add_machine(four_bar()))
    turns = {bone: np.zeros(2) for bone in rig.bones}
    turns["rocker"] = np.array([0.0, 0.01])
    own = {bone: by_turns(rig, bone, turns[bone]) for bone in rig.bones}
    opened = openings(rig, Motions.of_rotations(rig, own))
    assert opened == pytest.approx([0.0, 0.02], abs=1e-4)


def test_a_ram_turned_off_opens_by_its_length():
    rig = read_mechanism(*add_machine(landing_gear()))
    turns = {bone: np.zeros(1) for bone in rig.bones}
    turns["ram rod"] = np.array([0.01])
    own = {bone: by_turns(rig, bone, turns[bone]) for bone in rig.bones}
    length = np.linalg.norm(rig.rams[0].along)
    assert openings(rig, Motions.of_rotations(rig, own)) == pytest.approx([0.01 * length], rel=1e-3)


@pytest.mark.parametrize("mode", MODES)
def test_channels_turn_about_the_normal_to_64_bits_but_near_an_own_axis(mode):
    rig = read_mechanism(*add_machine(four_bar(), mode=mode, tilt=TILT, roll=0.7))
    turns = {bone: np.linspace(-4.0, 4.0, 41) for bone in rig.bones}
    for bone, rotation in channels_at(rig, turns, False).items():
        both = by_channels(rig, rotation, rotation.values), by_turns(rig, bone, turns[bone])
        there, wanted = (np.array([turn(axis[:, None]) for axis in np.eye(3)]) for turn in both)
        assert np.abs(there - wanted).max() < (1e-6 if bone == "crank" else 1e-9)
    assert [one.bone for one in channels_of_rest(rig, False)] == ["rocker", "coupler"]


def test_what_blender_evaluates_is_measured_as_the_tests_do():
    armature, mechanism = add_machine(four_bar(), base=True)
    rig = read_mechanism(armature, mechanism)
    with stepping(bpy.context.scene, armature) as (show, _):
        seen = [pose_of(rig, show(time)) for time in (1.0, 9.0)]
    opened = openings(rig, evaluated_motions(rig, seen))
    # Unbaked: the crank alone turns, and its coupler with it.
    assert opened[0] < 1e-6 and opened[1] > 0.5
    heads = [rig.placed[bone].head for bone in rig.bones]
    size = max(np.linalg.norm(a - b) for a in heads for b in heads)
    assert opened[1] / size == pytest.approx(evaluated_openings(mechanism, [9.0])[0], rel=1e-4)
