# SPDX-License-Identifier: GPL-3.0-or-later
"""The three faces that scripts import: their names, and what each says of itself."""

import inspect

import bpy
import pytest
from rigs import add_chain, add_leg, add_target, evaluated_tip, leg_with_target

from ik2d_addon import bake, chains, core

FACES = {
    core: {
        "Chain",
        "forward",
        "jacobian",
        "Solution",
        "Status",
        "IK2DError",
        "solve_two_bone",
        "solve_even",
        "solve_arc",
        "solve_ccd",
        "solve_ccd_path",
        "solve_even_path",
        "solve_pose",
        "solve_pose_path",
        "reachable",
        "Region",
        "Stretch",
        "Plane",
        "Mechanism",
        "MechanismSolution",
        "MechanismStatus",
    },
    bake: {
        *("bake", "bake_steps", "solve", "clear", "check", "BakeOptions", "BakeReport", "ChainReport"),
        *(
            "ChainResult",
            "Circumstances",
            "HandErrors",
            "JointsSolved",
            "KeysPlayed",
            "MechanismReport",
            "PlaneAngles",
            "PostTurned",
            "Standard",
        ),
    },
    chains: {
        "add_chain",
        "add_foot",
        "add_gear",
        "add_mechanism",
        "add_pin",
        "add_ram",
        "add_slide",
        "close_rest_pose",
        "drive",
        "propose_joints",
        "remove_mechanism",
        "add_pole",
        "add_second_target",
        "remove_second_target",
        "switch_parent",
        "fit_pole_angle",
        "remove_chain",
        "remove_foot",
        "flip",
        "mirror_chain",
        "mirror_mechanism",
        "adopt",
        "release",
        "make_native",
        "remove_native",
        "target_to_tip",
        "snap_fk",
        "find_contacts",
        "plant_feet",
        "unplant_feet",
        "clear_snaps",
        "show_before",
        "hold_pose",
        "Hold",
    },
}


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_a_face_has_these_names_and_no_others(face) -> None:
    assert set(face.__all__) == FACES[face] and len(face.__all__) == len(FACES[face])
    assert all(hasattr(face, name) for name in face.__all__)


@pytest.mark.parametrize("name", ["CCDResult", "ccd_step", "ccd_slide_step", "stretched", "stretched_status"])
def test_what_the_core_handed_on_before_is_still_to_be_had_there(name: str) -> None:
    assert name not in core.__all__ and hasattr(core, name)


@pytest.mark.parametrize(
    "function",
    [
        value
        for face in FACES
        for value in (getattr(face, name) for name in face.__all__)
        if inspect.isfunction(value)
    ],
    ids=lambda function: function.__name__,
)
def test_every_function_of_a_face_says_what_its_arguments_are(function) -> None:
    words = inspect.getdoc(function) or ""
    if "Arguments as in `bake`" in words:
        words += inspect.getdoc(bake.bake)
    told = {
        "armature",
        "armature_object",
        "chain",
        "mechanism",
        "settings",
    }  # their modules say what these are
    for name, parameter in inspect.signature(function).parameters.items():
        assert parameter.annotation is not inspect.Parameter.empty, name
        assert name in told or name in words or name.removesuffix("s") in words, f"{name} in {words!r}"


def test_a_script_makes_a_chain_and_flips_mirrors_and_removes_it() -> None:
    armature = add_leg()
    target = add_target({1: (0, -0.5, 0.9)})
    chain = chains.add_chain(armature, "shin", target=target)
    assert (chain.bone_count, chain.target, chain.bend) == (2, target, 'POSITIVE')
    chains.flip(chain)
    assert chain.bend == 'NEGATIVE'
    assert chains.remove_chain(armature, chain) == "shin" and not armature.ik2d.chains


def test_the_chain_that_is_named_is_removed_and_the_active_one_stays_active() -> None:
    armature, _ = leg_with_target()
    add_chain(armature, "thigh", add_target({}, "Other"), bone_count=1)
    armature.ik2d.active_index = 1
    assert chains.remove_chain(armature, armature.ik2d.chains["shin"]) == "shin"
    assert [chain.name for chain in armature.ik2d.chains] == ["thigh"] and armature.ik2d.active_index == 0


def test_a_script_adopts_ik_and_releases_it() -> None:
    armature = add_leg()
    constraint = armature.pose.bones["shin"].constraints.new('IK')
    constraint.target, constraint.chain_count = add_target({1: (0, -0.5, 0.9)}), 2
    bpy.context.view_layer.update()
    (name,) = chains.adopt(armature)
    assert constraint.mute and name in armature.ik2d.chains
    assert chains.release(armature, name) == []
    assert not constraint.mute and not armature.ik2d.chains


def test_a_script_makes_a_chain_native_and_takes_that_back() -> None:
    armature, target = leg_with_target()
    before = len(bpy.data.objects)
    chains.make_native(armature, armature.ik2d.chains[0])
    bpy.context.scene.frame_set(1)
    tip = evaluated_tip(armature, "shin")
    assert (tip - target.matrix_world.translation).length < 1e-5
    chains.remove_native(armature, armature.ik2d.chains[0])
    assert len(bpy.data.objects) == before
