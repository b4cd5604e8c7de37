# SPDX-License-Identifier: GPL-3.0-or-later
"""What was replaced is given back, layer by layer, and F-Curves that are gone are revived."""

from contextlib import ExitStack

import bpy
import pytest
from rig.animation.kept.test_keeping import keyed_leg, replace
from rigs import every_bit_of, every_bit_of_animation

from ik2d_addon.rig.animation.kept.giving_back import by_hand_alone, give_back, has_keys
from ik2d_addon.rig.animation.kept.marks import BAKE, PLANT, PLANT_BAKE, PURPOSES, SNAP
from ik2d_addon.rig.animation.kept.marks import PLANTED as PLANTED_KEYS
from ik2d_addon.rig.animation.versions import existing_channels


def every(path, index):
    """Want each channel."""
    return True


def written(*layers):
    """Return a leg whose first F-Curve was written some times, each (times, purpose), and all bits before."""
    armature, _ = keyed_leg()
    before = every_bit_of_animation(armature)["curves"]
    curve = next(c for c in existing_channels(armature).fcurves if c.array_index == 0)
    with ExitStack() as undo:
        for times, purpose in layers:
            replace(armature, curve, times, purpose, undo)
        undo.pop_all()
    return armature, before


def bits(armature):
    """Return all bits of an armature's F-Curves."""
    return every_bit_of_animation(armature)["curves"]


BAKED, PLANTED, SNAPPED = (range(4, 22), BAKE), (range(2, 12), PLANT), (range(7, 25), SNAP)


@pytest.mark.parametrize(
    "layers",
    [
        (BAKED,),
        (BAKED, PLANTED),
        (PLANTED, BAKED),
        (SNAPPED, BAKED),
        (BAKED, SNAPPED, BAKED),
        (BAKED, PLANTED, SNAPPED, BAKED),
    ],
    ids=lambda layers: "-".join("BPS"[purpose] for _, purpose in layers),
)
@pytest.mark.parametrize(
    "order",
    [(PURPOSES,), ((BAKE, PLANT_BAKE), PLANTED_KEYS, (SNAP,)), ((SNAP,), PLANTED_KEYS, (BAKE, PLANT_BAKE))],
)
def test_all_comes_back_in_any_order(layers, order):
    armature, before = written(*layers)
    for purposes in (*order, *order):
        give_back(armature, every, purposes)
    assert bits(armature) == before and len(bpy.data.actions) == 1
    assert not has_keys(armature, every, PURPOSES)


def test_a_part_comes_back_and_then_the_rest():
    armature, before = written(BAKED)
    given = give_back(armature, every, (BAKE,), None, 8.0)
    assert (given.removed, given.returned, given.lost) == (5, 1, [])
    assert has_keys(armature, every, (BAKE,)) and not has_keys(armature, every, (SNAP,))
    give_back(armature, every, (BAKE,), 9.0)
    assert bits(armature) == before


def test_keys_on_locked_channels_stay():
    armature, _ = written(BAKED)
    curve = next(c for c in existing_channels(armature).fcurves if c.array_index == 0)
    curve.lock = True
    there = every_bit_of(curve)
    assert not give_back(armature, every, (BAKE,)).any and every_bit_of(curve) == there


def test_an_f_curve_that_is_gone_is_revived():
    armature, before = written((range(1, 22), BAKE))
    curve = next(c for c in existing_channels(armature).fcurves if c.array_index == 0)
    path = curve.data_path
    existing_channels(armature).fcurves.remove(curve)
    give_back(armature, every, (BAKE,))
    revived = existing_channels(armature).fcurves.find(path, index=0)
    own = next(look for place, look in before.items() if place[1:] == (path, 0))
    assert every_bit_of(revived) == own[2] and len(bpy.data.actions) == 1


def test_a_copy_shows_hand_keys_alone_and_changes_nothing():
    armature, before = written(BAKED)
    baked = bits(armature)
    with by_hand_alone(armature, every) as holder:
        curve = next(c for c in holder.fcurves if c.array_index == 0)
        own = next(look for place, look in before.items() if place[1:] == (curve.data_path, 0))
        assert [key[0] for key in every_bit_of(curve)] == [key[0] for key in own[2]]
    assert bits(armature) == baked
