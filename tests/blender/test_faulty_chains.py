# SPDX-License-Identifier: GPL-3.0-or-later
"""One faulty chain does not keep the others from being solved; it is told, and it counts as not reached."""

import bpy
import pytest
from rigs import add_armature, add_chain, add_target, animation_of

from ik2d_addon.bake import bake, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.features.doctor.sharing import shared_bones


def two_arms():
    """Return an active armature with two arms of two bones, each with a chain to a target in reach."""
    bones = {}
    for side, x in (("L", 0.0), ("R", 4.0)):
        bones[f"upper.{side}"] = ((x, 0, 0), (x + 0.2, 0, 1), "", 0.0)
        bones[f"fore.{side}"] = ((x + 0.2, 0, 1), (x, 0, 2), f"upper.{side}", 0.0)
    armature = add_armature(bones)
    for side, x in (("L", 0.0), ("R", 4.0)):
        target = add_target({1: (x + 1, 0, 1), 9: (x + 1, 0, 0.5)}, f"Target {side}")
        add_chain(armature, f"fore.{side}", target, name=side)
    bpy.context.scene.frame_end = 9
    bpy.context.view_layer.objects.active = armature
    return armature


def faults(armature):
    """Yield ways to spoil the second chain."""
    chain = armature.ik2d.chains["R"]
    return {
        "no target": lambda: setattr(chain, "target", None),
        "no such bone": lambda: setattr(chain, "tip", "hand"),
        "solver": lambda: (setattr(chain, "bone_count", 1), setattr(chain, "solver", 'TWO_BONE')),
        "a bone of the other": lambda: setattr(chain, "tip", "fore.L"),
        "own target": lambda: (
            setattr(chain, "target", armature),
            setattr(chain, "subtarget", "fore.R"),
        ),
    }


@pytest.mark.parametrize(
    "fault", ["no target", "no such bone", "solver", "a bone of the other", "own target"]
)
@pytest.mark.parametrize("function", [solve, bake])
def test_the_others_are_solved_and_the_fault_is_told(fault, function):
    armature = two_arms()
    faults(armature)[fault]()
    report = function(armature)
    assert [chain.name for chain in report.chains] == ["L"] and report.chains[0].reached
    assert not report.all_reached
    assert len(report.left_out) == 1 and "'R'" in report.left_out[0]
    assert report.left_out[0] in report.warnings
    assert "1 left out as faulty" in report.sentence()
    assert "every target" not in report.sentence()
    assert report.to_dict()["left_out"] == list(report.left_out)
    if function is bake:
        assert {path.split('"')[1] for path, _ in animation_of(armature)} == {"upper.L", "fore.L"}


def test_a_faulty_chain_that_is_named_is_an_error():
    armature = two_arms()
    armature.ik2d.chains["R"].target = None
    with pytest.raises(IK2DError, match="'R' has no target"):
        bake(armature, ["L", "R"])
    assert not animation_of(armature)


def test_nothing_but_faulty_chains_is_an_error():
    armature = two_arms()
    for chain in armature.ik2d.chains:
        chain.target = None
    with pytest.raises(IK2DError, match="'L' has no target"):
        solve(armature)


def test_chains_that_share_a_bone_say_so():
    armature = two_arms()
    left, right = armature.ik2d.chains
    assert not shared_bones(right)
    right.tip = "fore.L"
    assert shared_bones(right) == {"upper.L": "L", "fore.L": "L"}
    assert shared_bones(left) == {"upper.L": "R", "fore.L": "R"}
    left.enabled = False
    assert not shared_bones(right) and not shared_bones(left)
