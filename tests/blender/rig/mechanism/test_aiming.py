# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns aimed again close joints that Blender's rest matrices open."""

import numpy as np
import pytest
from machine_rigs import TILT, add_machine
from machines import MACHINES

from ik2d_addon.rig.mechanism.aiming import aimed, fixed_bones
from ik2d_addon.rig.mechanism.posing import Motions, by_turns, openings
from ik2d_addon.rig.mechanism.read import read_mechanism


def opened(rig, turns):
    """Return how far joints are open, in sizes."""
    own = {bone: by_turns(rig, bone, turns[bone]) for bone in rig.bones}
    return openings(rig, Motions.of_rotations(rig, own)) / rig.size


@pytest.mark.parametrize("make", MACHINES, ids=lambda make: make.__name__)
def test_small_openings_are_closed_and_given_turns_are_kept(make):
    rig = read_mechanism(*add_machine(make(), tilt=TILT, roll=0.3))
    rng = np.random.default_rng(5)
    fixed = fixed_bones(rig)
    geared = {str(rig.core.bodies[one.b]) for one in rig.core.joints if one.kind.name == "GEAR"}
    kept = fixed | geared  # what a gear turns is as exact as what turns it
    off = {bone: np.zeros(9) if bone in kept else rng.normal(0.0, 1e-6, 9) for bone in rig.bones}
    new = aimed(rig, off, fixed)
    coupled = "front" in rig.bones  # at rest a dead point is not far
    assert opened(rig, new).max() < (1e-5 if coupled else 3e-8) < opened(rig, off).max() * 10.0
    assert all((new[bone] == 0.0).all() for bone in fixed)
    assert all(np.abs(new[bone]).max() < 1e-9 for bone in geared)


def test_torn_joints_stay_as_they_are():
    rig = read_mechanism(*add_machine(MACHINES[0]()))
    turns = {bone: np.full(2, 0.1) if bone == "rocker" else np.zeros(2) for bone in rig.bones}
    assert all((aimed(rig, turns, ())[bone] == turns[bone]).all() for bone in rig.bones)
