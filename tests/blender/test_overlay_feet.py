# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay of a foot: its sole as posed, a line to its control, and bars where it stands."""

import bpy
import numpy as np
import pytest
from foot_rigs import random_leg
from rigs import add_chain
from walkers import walker

from ik2d_addon.bake import solve
from ik2d_addon.chains import find_contacts
from ik2d_addon.features.overlay.chain_view import view_chain
from ik2d_addon.features.overlay.contact_bars import contact_bars, triangles
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
    assert np.abs(view.foot.sole - wanted).max() <= 1e-6 * size
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
    assert view.foot is None and not figure.lines[BOLD] and not figure.lines[THIN]


def test_bars_show_the_contacts_that_are_keyed():
    made = walker()
    chain = made.armature.ik2d.chains["shin.L"]
    assert contact_bars(chain, bpy.context.scene) is None
    find_contacts(made.armature)
    bpy.context.scene.frame_set(30)
    bars = contact_bars(chain, bpy.context.scene)
    heel, toes = bars.rows
    assert heel == ("Heel", ((1, 9), (24, 33), (48, 57))) and toes[0] == "Toes" and len(toes[1]) == 3
    rows, mark = bars.boxes(70.0, 790.0, 1.0)  # 720 of them for 72 frames
    assert [words for words, _, _ in rows] == ["Toes", "Heel"]  # from below
    _, ground, boxes = rows[1]
    assert boxes[:, 0].tolist() == pytest.approx([70.0, 300.0, 540.0])
    assert boxes[:, 2].tolist() == pytest.approx([160.0, 400.0, 640.0])
    assert (ground[0], ground[2]) == (70.0, 790.0) and (boxes[:, [1, 3]] == ground[[1, 3]]).all()
    assert mark[[0, 2]].mean() == pytest.approx(365.0) and mark[1] < rows[0][1][1] < mark[3]
    corners = np.array(triangles(boxes[:1]))
    assert corners.shape == (6, 2) and set(map(tuple, corners[:3])) != set(map(tuple, corners[3:]))
