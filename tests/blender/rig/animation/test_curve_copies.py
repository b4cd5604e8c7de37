# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of F-Curves have the same keys, settings and modifiers, and play the same."""

from random import Random

import bpy
import numpy as np
import pytest
from hand_made_actions import channels_for, curves_of, key_of_every_kind, looks, two_legs
from rigs import add_target, every_bit_of

from ik2d_addon.rig.animation.curve_copies import copy_curve
from ik2d_addon.rig.animation.versions import existing_fcurves


def vary(values, rng):
    """Set all values of a modifier, but whether it is muted, at random."""
    for found in values.bl_rna.properties:
        if found.is_readonly or found.identifier == "mute":
            continue
        if found.type == 'ENUM':
            value = rng.choice([item.identifier for item in found.enum_items]).item()
        elif found.type == 'FLOAT' and found.is_array:
            value = rng.uniform(-1.0, 1.0, len(getattr(values, found.identifier))).tolist()
        elif found.type in ('BOOLEAN', 'INT', 'FLOAT'):
            value = {'BOOLEAN': rng.random() < 0.5, 'INT': int(rng.integers(5)), 'FLOAT': rng.uniform(-9, 9)}
            value = value[found.type]
        else:
            continue
        setattr(values, found.identifier, value)
    values.frame_start, values.frame_end = sorted((values.frame_start, values.frame_end))
    values.blend_in, values.blend_out = rng.uniform(0.0, 3.0, 2).tolist()


@pytest.mark.parametrize(
    "kind", ['GENERATOR', 'FNGENERATOR', 'ENVELOPE', 'CYCLES', 'NOISE', 'LIMITS', 'STEPPED']
)
def test_a_copied_curve_plays_the_same_whatever_its_modifier(kind):
    rng = np.random.default_rng(7)
    moved = add_target({})
    for _ in range(20):
        moved.animation_data_clear()
        for frame in (1, 5, 9):
            moved.location.x = rng.uniform(-2.0, 2.0)
            moved.keyframe_insert("location", index=0, frame=frame)
        moved.keyframe_insert("location", index=1, frame=1)
        source, copy = sorted(existing_fcurves(moved), key=lambda curve: curve.array_index)
        source.extrapolation = rng.choice(['CONSTANT', 'LINEAR']).item()
        modifier = source.modifiers.new(kind)
        vary(modifier, rng)
        if kind == 'ENVELOPE':
            points = modifier.control_points
            for frame in sorted(rng.choice(20, rng.integers(4), replace=False)):
                points.add(frame)
            points.foreach_set("min", rng.uniform(-3.0, 0.0, len(points)).tolist())
            points.foreach_set("max", rng.uniform(0.0, 3.0, len(points)).tolist())
        copy_curve(source, copy)
        assert every_bit_of(copy) == every_bit_of(source)
        for frame in range(-12, 25, 2):
            bpy.context.scene.frame_set(frame)
            assert moved.location.x == moved.location.y


def test_settings_of_a_curve_are_copied():
    moved = add_target({1: (0, 0, 0), 5: (1, 2, 3)})
    source, copy, _ = sorted(existing_fcurves(moved), key=lambda curve: curve.array_index)
    source.mute = source.lock = source.hide = True
    source.auto_smoothing, source.color_mode, source.color = 'NONE', 'CUSTOM', (0.25, 0.5, 1.0)
    copy_curve(source, copy)
    assert copy.mute and copy.lock and copy.hide
    assert (copy.auto_smoothing, copy.color_mode, tuple(copy.color)) == ('NONE', 'CUSTOM', (0.25, 0.5, 1.0))


def test_a_copy_has_all_but_the_group_to_the_last_bit():
    armature = two_legs(Random(1))
    source = bpy.data.actions.new("Walk")
    key_of_every_kind(armature, channels_for(armature, source, "Walk"), Random(2))
    copy = bpy.data.actions.new("Copy")
    holder = channels_for(armature, copy, "Walk")
    for curve in curves_of(source).values():
        copy_curve(curve, holder.fcurves.new(curve.data_path, index=curve.array_index))
    apart = [{**look, "group": ""} for look in looks(source).values()]
    assert len(apart) > 3 and list(looks(copy).values()) == apart
