# SPDX-License-Identifier: GPL-3.0-or-later
"""The pole angle at which a chain bends towards its pole."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target

from ik2d_addon.bake import solve
from ik2d_addon.rig.chain.chain import chain_bones
from ik2d_addon.rig.pose.pole_angle import angle_to_bend, angle_to_side


def bent(rng, count=2, straight=False):
    """Add a limb of some bones with any rolls, and a chain with a target and a pole anywhere about it."""
    bones, place, heading = {}, rng.normal(size=3), 0.3
    across = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for i in range(count):
        heading += 0.0 if straight else rng.uniform(0.2, 0.6)
        tail = place + rng.uniform(0.6, 1.4) * across @ (np.cos(heading), np.sin(heading), 0.0)
        bones[f"b{i}"] = (tuple(place), tuple(tail), f"b{i - 1}" if i else "", rng.uniform(-3.0, 3.0))
        place = tail
    armature = add_armature(bones)
    chain = add_chain(armature, f"b{count - 1}", add_target({}), count, plane='POLE')
    chain.pole = add_target({}, "Pole")
    root = np.array(bones["b0"][0])
    chain.target.location = root + 0.7 * rng.normal(size=3)
    chain.pole.location = root + 3.0 * rng.normal(size=3)
    return armature, chain, root


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
def test_the_knee_is_in_the_half_plane_of_target_and_pole(seed, bend):
    rng = np.random.default_rng(seed)
    armature, chain, root = bent(rng)
    chain.bend = bend
    chain.pole_angle = angle_to_bend(chain, chain_bones(armature, "b1", 2))
    bpy.context.view_layer.update()
    solve(armature)
    bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    knee = np.array(bones["b1"].head) - root
    line = np.array(chain.target.location) - root
    line /= np.linalg.norm(line)
    pole = np.array(chain.pole.location) - root
    beside, wanted = knee - (knee @ line) * line, pole - (pole @ line) * line
    size = np.linalg.norm(beside)
    assert size > 1e-3  # stretched out it would be on no side
    assert beside / size == pytest.approx(wanted / np.linalg.norm(wanted), abs=2e-3)


def test_a_straight_chain_and_a_side_along_it_have_no_angle():
    armature, chain, _root = bent(np.random.default_rng(0), straight=True)
    bones = chain_bones(armature, "b1", 2)
    assert angle_to_bend(chain, bones) is None
    line = np.array(bones[1].bone.tail_local) - np.array(bones[0].bone.head_local)
    assert angle_to_side(bones, line) is None
