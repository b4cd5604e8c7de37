# SPDX-License-Identifier: GPL-3.0-or-later
"""What is reported is what Blender plays."""

import bpy
import numpy as np
import pytest
from machine_rigs import add_machine, evaluated_openings
from machines import four_bar

from ik2d_addon.bake import BakeOptions
from ik2d_addon.bake.mechanisms.keying import key_mechanism
from ik2d_addon.bake.mechanisms.playing import reports_of
from ik2d_addon.rig.mechanism.read import read_mechanism


def test_without_keys_the_joints_are_open_as_in_the_evaluated_pose():
    armature, mechanism = add_machine(four_bar())
    scene = bpy.context.scene
    machine = key_mechanism(scene, read_mechanism(armature, mechanism), range(1, 26), BakeOptions())
    (report,) = reports_of(scene, armature, [machine], 'SAMPLE')
    expected = evaluated_openings(mechanism, range(1, 26))
    heads = [bone.head_local for bone in armature.data.bones]
    size = max((a - b).length for a in heads for b in heads)
    assert report.open == pytest.approx(expected * size, abs=1e-5) and not report.is_closed
    assert "open on 23 of 25 frames" in report.warnings[0] and len(report.open_between) == 24
    (unknown,) = reports_of(scene, armature, [machine], 'NONE')
    assert np.isnan(unknown.open).all() and "not played back" in unknown.sentence()
    assert reports_of(scene, armature, [], 'SAMPLE') == ()
