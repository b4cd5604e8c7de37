# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that are a blend of others: what they copy, and which of these acts, by how much."""

import bpy
import pytest
from rigs import add_armature, add_target, evaluated_place

from ik2d_addon.rig.chain.dependencies import acting, copied_by, copies_of, leaders


def blend(*influences, kind='COPY_TRANSFORMS'):
    """Add an empty that copies others, each by an influence; return it and these."""
    empty = add_target({}, "Blend")
    others = [add_target({}, name) for name in "ABCD"[: len(influences)]]
    for i, (other, influence) in enumerate(zip(others, influences, strict=True)):
        other.location = (i, 2 * i, 1)
        constraint = empty.constraints.new(kind)
        constraint.target, constraint.influence = other, influence
    bpy.context.view_layer.update()
    return empty, others


@pytest.mark.parametrize("kind", ['COPY_TRANSFORMS', 'COPY_LOCATION'])
@pytest.mark.parametrize(
    "influences, most",
    [((1, 0), 0), ((1, 0.4), 0), ((1, 0.6), 1), ((1, 1), 1), ((1, 0.5, 0.8), 2), ((1, 0.9, 0.3), 1)],
)
def test_the_one_that_places_it_most_acts_with_its_share_of_each_move(kind, influences, most):
    empty, others = blend(*influences, kind=kind)
    (node, share) = acting((empty, ""))
    assert node == (others[most], "")
    before = evaluated_place(empty)
    others[most].location.z += 1.0
    bpy.context.view_layer.update()
    assert (evaluated_place(empty) - before).z == pytest.approx(share, abs=1e-6)


def test_blends_of_blends_and_bones():
    empty, (first, _) = blend(1, 0.25)
    armature = add_armature({"ctl": ((0, 0, 0), (0, 0, 1), "", 0)})
    over = add_target({}, "Over")
    for node, influence in (((empty, ""), 1.0), ((armature, "ctl"), 0.2)):
        constraint = over.constraints.new('COPY_TRANSFORMS')
        constraint.target, constraint.subtarget = node
        constraint.influence = influence
    assert list(copied_by((over, ""))) == [(empty, ""), (armature, "ctl")]
    (node, share) = acting((over, ""))
    assert node == (first, "") and share == pytest.approx(0.6)
    over.constraints[1].influence = 1.0
    assert acting((over, "")) == ((armature, "ctl"), 1.0)


@pytest.mark.parametrize(
    "change",
    [
        lambda empty: setattr(empty.constraints[0], "influence", 0.9),
        lambda empty: setattr(empty.constraints[1], "mute", True),
        lambda empty: setattr(empty.constraints[1], "target", None),
        lambda empty: setattr(empty.constraints[1], "target_space", 'LOCAL'),
        lambda empty: setattr(empty.constraints[1], "mix_mode", 'BEFORE'),
        lambda empty: empty.constraints.new('LIMIT_LOCATION'),
        lambda empty: empty.constraints.remove(empty.constraints[1]),
    ],
)
def test_anything_else_is_no_blend(change):
    empty, _ = blend(1, 0.5)
    change(empty)
    assert copies_of((empty, "")) == [] and acting((empty, "")) == ((empty, ""), 1.0)


def test_a_circle_ends():
    empty, (first, _) = blend(1, 0)
    for _ in range(2):
        first.constraints.new('COPY_TRANSFORMS').target = empty
    assert acting((empty, ""))[1] > 0.0


def test_what_leads_it_are_its_parent_and_what_it_copies():
    empty, others = blend(1, 0.5)
    parent = add_target({}, "Parent")
    empty.parent = parent
    assert list(leaders((empty, ""))) == [(parent, ""), *((other, "") for other in others)]
