# SPDX-License-Identifier: GPL-3.0-or-later
"""What is reported is what Blender plays."""

import bpy
import numpy as np
import pytest
from machine_rigs import add_machine, evaluated_openings
from machines import four_bar

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.bake.mechanisms import playing
from ik2d_addon.bake.mechanisms.keying import key_mechanism
from ik2d_addon.bake.mechanisms.playing import reports_of
from ik2d_addon.rig.animation.versions import existing_fcurves
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


def baked_then_moved(monkeypatch):
    """Bake a machine and move one key; return its armature, and a function of how to verify.

    That returns the openings (49,) on frames and between, and how many times Blender was asked at.
    """
    armature, mechanism = add_machine(four_bar())
    scene = bpy.context.scene
    bake(armature, None, 1, 25)
    machine = key_mechanism(scene, read_mechanism(armature, mechanism), range(1, 26), BakeOptions())
    bone = armature.pose.bones["rocker"]
    path = bone.path_from_id("rotation_quaternion")
    curves = [curve for curve in existing_fcurves(armature) if curve.data_path.startswith(path[:-10])]
    key = min(curves[-1].keyframe_points, key=lambda point: abs(point.co.x - 12.0))
    key.co.y += 0.01
    curves[-1].update()
    asked = []
    stepped = playing._stepped

    def counted(scene, armature, machines, times):
        asked.append(len(times))
        return stepped(scene, armature, machines, times)

    monkeypatch.setattr(playing, "_stepped", counted)

    def verified(verify):
        asked.clear()
        (report,) = reports_of(scene, armature, [machine], verify)
        return np.concatenate((report.open, report.open_between)), sum(asked), report.size

    return armature, verified


def test_where_keys_alone_turn_bones_blender_is_asked_at_few_times(monkeypatch):
    _, verified = baked_then_moved(monkeypatch)
    by_curves, few, size = verified('SAMPLE')
    shown, all_times, _ = verified('ALL')
    assert few <= playing.LOOKS + 1 and all_times >= 49
    assert by_curves == pytest.approx(shown, abs=1e-6 * size)
    assert shown[11] > 1e-3 * size and np.median(shown) < 1e-5 * size


def test_where_more_turns_bones_blender_is_asked_at_all_times(monkeypatch):
    armature, verified = baked_then_moved(monkeypatch)
    limit = armature.pose.bones["rocker"].constraints.new('LIMIT_ROTATION')
    limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
    limit.owner_space = 'LOCAL'
    shown, asked, size = verified('SAMPLE')
    assert asked >= 49 and np.median(shown) > 1e-3 * size


def test_where_blender_shows_another_pose_it_is_asked_at_all_times(monkeypatch):
    _, verified = baked_then_moved(monkeypatch)
    expected, *_ = verified('ALL')
    rest = playing.placed

    def elsewhere(*given):
        found = yield from rest(*given)
        found.poses["rocker"] = found.poses["rocker"] + 1e-3
        return found

    monkeypatch.setattr(playing, "placed", elsewhere)
    shown, asked, _ = verified('SAMPLE')
    assert asked >= 49 and (shown == expected).all()
