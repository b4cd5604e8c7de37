# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths in actions, drivers and keying sets, rewritten after moves in the list of chains."""

import bpy
from keyed_chains import holders, new_action, paths, two_legs

from ik2d_addon.rig.chain.paths.moves import Entry, PathMoves
from ik2d_addon.rig.chain.paths.rewriting import rewrite, stuck

LEFT, RIGHT = Entry(1, "L"), Entry(2, "R")
SWAP, WITHOUT_LEFT = (
    PathMoves.between([LEFT, RIGHT], [RIGHT, LEFT]),
    PathMoves.between([LEFT, RIGHT], [RIGHT]),
)
ANIMATED = ("bend", "turn_over", "softness", "influence", "foot.roll", "foot.contact_heel")


def test_every_setting_that_takes_keys_is_rewritten_and_nothing_else():
    armature = two_legs()
    curves = [(f"ik2d.chains[{i}].{name}", 0) for i in (0, 1) for name in ANIMATED]
    others = [('pose.bones["shin.R"].location', 1), ("location", 2), ('["ik2d.chains[0].bend"]', 0)]
    action = new_action("Idle", "Rig", [*curves, *others])
    order = [curve.data_path for holder in holders(action) for curve in holder.fcurves]
    assert rewrite(armature, SWAP) == []
    swapped = [
        path.replace("[0]", "[x]").replace("[1]", "[0]").replace("[x]", "[1]")
        if path.startswith("ik2d.")
        else path
        for path in order
    ]
    assert [curve.data_path for holder in holders(action) for curve in holder.fcurves] == swapped


def test_the_group_of_a_removed_chains_curves_goes_with_the_last_of_them():
    armature = two_legs()
    action = new_action("Idle", "Rig", [("ik2d.chains[0].bend", 0), ("ik2d.chains[1].bend", 0)])
    for holder in holders(action):
        for i, curve in enumerate(holder.fcurves):
            curve.group = holder.groups.new("LR"[i])
    rewrite(armature, WITHOUT_LEFT)
    assert paths(action) == ["ik2d.chains[0].bend"]
    assert [group.name for holder in holders(action) for group in holder.groups] == ["R"]


def test_nothing_is_stuck_where_all_is_local_and_the_rigs_own():
    armature = two_legs()
    assert stuck(armature, SWAP) == stuck(armature, WITHOUT_LEFT) == []


def test_an_armature_without_animation_is_no_problem():
    armature = two_legs()
    armature.animation_data_clear()
    bpy.data.actions.remove(bpy.data.actions["Rig Walk"])
    assert rewrite(armature, SWAP) == [] and stuck(armature, SWAP) == []


def test_a_curve_on_a_setting_without_keys_plays_nothing():
    """So only settings that take keys are looked for."""
    armature = two_legs()
    (holder,) = holders(armature.animation_data.action)
    for path in ("ik2d.chains[0].iterations", "ik2d.chains[0].joints[0].weight"):
        holder.fcurves.new(path).keyframe_points.insert(1, 0.5)
    bpy.context.scene.frame_set(2)
    chain = armature.ik2d.chains[0]
    assert (chain.iterations, chain.joints[0].weight) == (60, 1.0)
