# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay of a foot: its sole as posed, and a line to its control."""

import bpy
import numpy as np
import pytest
from foot_rigs import random_leg
from rigs import add_chain

from ik2d_addon.bake import solve
from ik2d_addon.features.overlay.chain_view import view_chain
from ik2d_addon.features.overlay.figure import BOLD, THIN, Figure, draw_foot
from ik2d_addon.rig.chain.chain import read_chain

COLOR = (1.0, 1.0, 1.0)


def seen(armature, chain):
    bpy.context.view_layer.update()
    return view_chain(read_chain(armature, chain), chain)


@pytest.mark.parametrize("seed", range(5))  # all kinds of feet
def test_the_sole_is_drawn_as_the_feet_are_posed(seed):
    leg = random_leg(seed)
    leg.chain.foot.roll = 0.9
    solve(leg.armature)
    view, figure = seen(leg.armature, leg.chain), Figure()
    wanted = np.array([leg.pivots()[name] for name in ("heel", "ball", "toe_tip")])
    size = float(np.linalg.norm(wanted, axis=1).max())
    assert np.abs(view.sole - wanted).max() <= 1e-6 * size
    draw_foot(figure, view, COLOR)
    ((points, _),) = figure.lines[BOLD]
    assert np.abs(points - wanted[[0, 1, 1, 2]]).max() <= 1e-6 * size
    crosses, dashes = (points for points, _ in figure.lines[THIN])
    assert len(crosses) == 12  # two strokes at each pivot
    control = np.array(leg.chain.target.matrix_world.translation)
    assert np.abs(dashes[0] - control).max() <= 1e-5 * size


def test_a_chain_without_a_foot_has_no_sole():
    leg = random_leg(1)
    plain = add_chain(leg.armature, "thigh", leg.chain.target, 1)
    view, figure = seen(leg.armature, plain), Figure()
    draw_foot(figure, view, COLOR)
    assert view.sole is None and not figure.lines[BOLD] and not figure.lines[THIN]
