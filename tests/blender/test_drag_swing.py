# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging tips of chains whose planes follow their targets or poles."""

import bpy
import numpy as np
import pytest
from mathutils import Vector
from rigs import evaluated_place, evaluated_tip
from swing_rigs import RULES, follow, move_about, random_limb
from test_drag import everything
from test_live import SAME

from ik2d_addon.bake import solve
from ik2d_addon.core import IK2DError
from ik2d_addon.features.ccd_steps.operator import step_chain
from ik2d_addon.features.drag.drag import take_hold

NEAR = 3.0 * SAME


def held(seed, rule, count, solved=True, **settings):
    """Return a limb with a chain, and hold of its tip."""
    limb = random_limb(seed, count)
    chain = follow(limb, rule, pole_angle=limb.rng.uniform(-np.pi, np.pi), **settings)
    move_about(limb, chain)
    bpy.context.scene.frame_set(5)
    chain.target.animation_data_clear()
    if solved:
        solve(limb.armature)
    return limb, chain, take_hold(bpy.context.scene, limb.armature, chain.name)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("count", [2, 4])
def test_nothing_jumps_where_a_drag_begins(count, rule):
    limb, chain, drag = held(600 + count, rule, count)
    before, target = limb.joints, Vector(chain.target.location)
    drag.to((0.0, 0.0))
    assert np.abs(limb.joints - before).max() <= NEAR * limb.reach
    assert (Vector(chain.target.location) - target).length <= NEAR * limb.size
    drag.put_back()
    assert np.abs(limb.joints - before).max() <= NEAR * limb.reach


@pytest.mark.parametrize("rule", RULES)
def test_the_tip_of_an_unsolved_pose_stays_where_it_is(rule):
    limb, chain, drag = held(610, rule, 3, solved=False)
    tip = evaluated_tip(limb.armature, chain.tip)
    drag.to((0.0, 0.0))
    assert (evaluated_tip(limb.armature, chain.tip) - tip).length <= NEAR * limb.size


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("settings", [{}, {"solver": 'CCD'}, {"influence": 0.6}], ids=str)
def test_the_tip_goes_with_the_target_in_the_plane_of_the_frame_and_the_plane_follows(settings, rule):
    for seed in range(620, 626):
        limb, chain, drag = held(seed, rule, 3, **settings)
        at, normal = Vector(chain.target.location), drag.plane.normal
        for part in np.linspace(0.0, 0.3, 5):
            drag.to((part * limb.size, -0.5 * part * limb.size))
        place = evaluated_place(chain.target)
        assert abs((place - at).dot(Vector(normal))) <= NEAR * limb.size
        if drag.solved.solution.reached[0] and "influence" not in settings:
            assert (evaluated_tip(limb.armature, chain.tip) - place).length <= NEAR * limb.size
        if "solver" not in settings:
            shown = limb.joints
            solve(limb.armature)
            assert np.abs(limb.joints - shown).max() <= 2.0 * NEAR * limb.reach


@pytest.mark.slow
def test_escape_puts_all_back():
    limb, chain, drag = held(630, 'POLE', 3)
    before = everything(limb.armature, chain.target)
    drag.to((0.2 * limb.size, 0.1 * limb.size))
    assert everything(limb.armature, chain.target) != before
    drag.put_back()
    assert everything(limb.armature, chain.target) == before


@pytest.mark.slow
def test_a_pole_that_hangs_on_the_target_moves_with_it():
    limb, chain, _ = held(631, 'POLE', 2)
    chain.pole.animation_data_clear()
    world = chain.pole.matrix_world.copy()
    chain.pole.parent = chain.target
    chain.pole.matrix_world = world
    bpy.context.view_layer.update()
    drag = take_hold(bpy.context.scene, limb.armature, chain.name)
    drag.to((0.2 * limb.size, 0.1 * limb.size))
    shown = limb.joints
    solve(limb.armature)
    assert np.abs(limb.joints - shown).max() <= 2.0 * NEAR * limb.reach


def test_a_drag_ends_where_its_pole_is_gone_and_needs_one():
    limb, chain, drag = held(632, 'POLE', 2)
    bpy.data.objects.remove(chain.pole)
    assert not drag.is_there()
    chain.target = None
    with pytest.raises(IK2DError, match="has no pole"):
        take_hold(bpy.context.scene, limb.armature, chain.name)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_steps_of_ccd_turn_in_the_plane_of_the_frame(rule):
    limb, chain, _ = held(640, rule, 3, solver='CCD')
    for _ in range(60):
        step, _ = step_chain(limb.armature, chain, whole=True)
    miss = (evaluated_tip(limb.armature, chain.tip) - evaluated_place(chain.target)).length
    assert miss <= max(1e-3, 1.1 * step.distance / limb.size) * limb.size
    assert step.distance <= 1e-3 * limb.size
