# SPDX-License-Identifier: GPL-3.0-or-later
"""Inputs that are blocked or missing are not success: the bake says so, and what to do about it."""

import os
import re

import bpy
import pytest
from rigs import add_chain, add_leg, add_target, animation_of, evaluated_tip, leg_with_target

from ik2d_addon.bake import BakeOptions, bake, solve
from ik2d_addon.cli.program import run
from ik2d_addon.core import IK2DError
from ik2d_addon.features.doctor.findings import findings
from ik2d_addon.features.doctor.fixes import mend
from ik2d_addon.rig.chain.chain import reading

# Reads no scene, so that it is sampled as all others are; but no arithmetic of Blender's own either.
PYTHON = "__import__('math').sin(frame / 10)"
BLOCKED = "Blender does not run its Python.*--enable-autoexec"


def drive(owner, path="location", index=1, expression=PYTHON):
    """Drive a channel with Python, and let Blender try."""
    owner.driver_add(path, index).driver.expression = expression
    bpy.context.view_layer.update()


def refused(armature, words):
    """Bake and solve; both must refuse with these words, and change nothing."""
    before = animation_of(armature)
    for work in (lambda: bake(armature, frame_start=1, frame_end=5), lambda: solve(armature)):
        with pytest.raises(IK2DError, match=words) as caught:
            work()
        assert animation_of(armature) == before
    return str(caught.value)


@pytest.fixture
def untrusted():
    """Preferences as they come: Python in files does not run."""
    assert not bpy.context.preferences.filepaths.use_scripts_auto_execute


# --- Drivers ----------------------------------------------------------------------------------------


def test_a_target_whose_driver_is_blocked_is_an_error_that_names_it(untrusted):
    armature, target = leg_with_target()
    drive(target)
    words = refused(armature, BLOCKED)
    assert "'Target'" in words and "location" in words


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("through", ["parent", "constraint", "driver", "influence", "property", "root"])
def test_so_is_whatever_its_place_depends_on(through, hidden, untrusted):
    armature, target = leg_with_target()
    other = add_target({1: (0, 0, 0)}, "Other")
    owner, path, index = other, "location", 1
    if through == "parent":
        target.parent = other
    elif through == "constraint":
        target.constraints.new('COPY_LOCATION').target = other
    elif through == "driver":
        curve = target.driver_add("location", 0)
        variable = curve.driver.variables.new()
        variable.type, variable.targets[0].id = 'TRANSFORMS', other
        curve.driver.expression = "var * 0"
    elif through == "influence":
        constraint = target.constraints.new('COPY_LOCATION')
        constraint.target = other
        owner, path, index = constraint, "influence", -1
    elif through == "property":
        other["height"] = 1.0
        curve = target.driver_add("location", 0)
        variable = curve.driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = other, '["height"]'
        curve.driver.expression = "var * 0"
        owner, path, index = other, '["height"]', -1
    else:
        owner = armature
    for ob in (target, other):
        ob.hide_viewport = hidden
    drive(owner, path, index)
    refused(armature, BLOCKED)


def test_a_driver_that_moves_nothing_of_ours_is_no_ones_business(untrusted):
    armature, target = leg_with_target()
    drive(target, "color", 1)
    drive(add_target({1: (0, 0, 0)}, "Other"))
    assert bake(armature, frame_start=1, frame_end=5).all_reached


def test_a_driver_that_is_muted_is_not_missed(untrusted):
    armature, target = leg_with_target()
    drive(target, index=0)
    target.animation_data.drivers[0].mute = True
    assert bake(armature, frame_start=1, frame_end=5).all_reached


def test_a_driver_that_fails_by_itself_is_an_error_too():
    armature, target = leg_with_target()
    curve = target.driver_add("location", 1)
    variable = curve.driver.variables.new()  # of nothing
    variable.targets[0].data_path = "location.x"
    curve.driver.expression = "var + 1"
    bpy.context.view_layer.update()
    words = refused(armature, "driver of 'Target'.*does not work.*mend")
    assert "autoexec" not in words


@pytest.mark.slow
def test_on_the_command_line_it_is_exit_code_2_and_trusting_the_file_is_the_way_out(
    tmp_path, capsys, untrusted
):
    armature, target = leg_with_target()
    target.animation_data_clear()
    target.location = (0, -0.5, 0.6)
    drive(target, expression=f"-0.5 + 0.3 * {PYTHON}")
    bpy.context.scene.frame_end = 20
    path = str(tmp_path / "leg.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    arguments = ["bake", path, "--verify", "ALL", "--max-error", "0.001"]
    size = os.path.getmtime(path)
    assert run(arguments, opens_scene=True) == 2
    assert "--enable-autoexec" in capsys.readouterr().err
    assert os.path.getmtime(path) == size
    assert run([*arguments, "--enable-autoexec"], opens_scene=True) == 0
    bpy.context.scene.frame_set(15)
    target = bpy.data.objects["Target"]
    assert abs(target.matrix_world.translation.y - -0.5) > 0.1
    tip = evaluated_tip(bpy.data.objects["Rig"], "shin")
    assert (tip - target.matrix_world.translation).length < 2e-5


# --- Libraries --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("through", ["target", "parent", "constraint", "bone"])
def test_a_target_whose_library_is_missing_is_an_error_that_names_the_library(through, tmp_path):
    library, shot = str(tmp_path / "props.blend"), str(tmp_path / "shot.blend")
    other = add_leg("Prop") if through == "bone" else add_target({1: (0, -0.5, 0.6)}, "Prop")
    bpy.data.libraries.write(library, {other})
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(library, link=True) as (_there, wanted):
        wanted.objects = ["Prop"]
    prop = wanted.objects[0]
    bpy.context.scene.collection.objects.link(prop)
    armature = add_leg()
    target = prop
    if through in ("parent", "constraint"):
        target = add_target({1: (0, -0.5, 0.6)})
        if through == "parent":
            target.parent = prop
        else:
            target.constraints.new('COPY_LOCATION').target = prop
    add_chain(armature, "shin", target, subtarget="thigh" if through == "bone" else "")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    os.remove(library)
    try:
        bpy.ops.wm.open_mainfile(filepath=shot)
    except RuntimeError:
        pass  # Blender says so too
    armature = bpy.data.objects["Rig"]
    words = refused(armature, "props.blend.* is missing")
    assert "'Prop'" in words
    if through == "bone":  # what is in its place has no bones
        with pytest.raises(IK2DError, match="target 'Prop' has no bone 'thigh'"):
            bake(armature, frame_start=1, frame_end=5, options=BakeOptions(force=True))
    else:
        forced(armature, "needs 'Prop' from the library.*props.blend.* is missing")


# --- By force ---------------------------------------------------------------------------------------


def forced(armature, words):
    """Bake by force; it must warn with these words, and count nothing as reached."""
    report = bake(armature, frame_start=1, frame_end=5, options=BakeOptions(force=True))
    (problem,) = report.forced
    assert re.search(words, problem) and report.chains[0].standard.forced == (problem,)
    assert [w for w in report.warnings if w.startswith(problem) and "baked by force" in w]
    assert not report.all_reached and not report.chains[0].reached
    assert "1 chain by force" in report.sentence() and "by force" in report.chains[0].sentence()
    assert report.to_dict()["chains"][0]["forced"] == [problem]
    assert len(animation_of(armature)) == 8
    return report


@pytest.mark.parametrize("hidden", [False, True])
def test_by_force_a_blocked_driver_is_a_warning_and_the_chain_in_doubt(hidden, untrusted):
    armature, target = leg_with_target()
    target.hide_viewport = hidden
    drive(target, expression=f"-0.5 + 0 * {PYTHON}")
    refused(armature, BLOCKED)
    forced(armature, BLOCKED)


def test_a_target_out_of_reach_says_that_it_was_forced_too(untrusted):
    armature, target = leg_with_target()
    drive(target)
    target.animation_data.action = None
    target.location.z = 50.0
    assert "out of reach" in forced(armature, BLOCKED).sentence()


def test_of_two_chains_the_one_that_needs_no_force_is_not_in_doubt(untrusted):
    armature, target = leg_with_target()
    other = add_target({1: (0, 0, 3)}, "Other")
    add_chain(armature, "body", other, bone_count=1)
    drive(target)
    report = bake(armature, frame_start=1, frame_end=5, options=BakeOptions(force=True))
    assert [bool(chain.standard.forced) for chain in report.chains] == [True, False]
    assert bake(armature, ["body"], 1, 5, options=BakeOptions(force=True)).forced == ()


def test_a_deleted_target_is_refused_by_force_too():
    armature, target = leg_with_target()
    bpy.context.scene.collection.objects.unlink(target)
    with pytest.raises(IK2DError, match="was deleted"):
        bake(armature, frame_start=1, frame_end=5, options=BakeOptions(force=True))


# --- Ghosts -----------------------------------------------------------------------------------------


def test_a_target_that_was_deleted_is_an_error():
    """With X: its chain still holds it, and bakes followed it."""
    armature, target = leg_with_target()
    bpy.ops.object.select_all(action='DESELECT')
    target.select_set(True)
    bpy.context.view_layer.objects.active = target
    bpy.ops.object.delete()
    chain = armature.ik2d.chains[0]
    if chain.target is None:
        pytest.skip("this Blender lets go of what it deletes")
    refused(
        armature, "target 'Target' is in no scene: it was deleted, or came along with a rig that was appended"
    )


def test_the_target_of_an_appended_collection_is_not_called_deleted_and_a_click_links_it(tmp_path):
    """Blender appends what a chain follows along with it, into no collection where only a collection was."""
    armature, target = leg_with_target()
    rigs = bpy.data.collections.new("Rigs")
    bpy.context.scene.collection.children.link(rigs)
    rigs.objects.link(armature)
    bpy.context.scene.collection.objects.unlink(armature)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path) as (_there, wanted):
        wanted.collections = ["Rigs"]
    bpy.context.scene.collection.children.link(wanted.collections[0])
    armature, target = (bpy.data.objects[name] for name in ("Rig", "Target"))
    assert not target.users_collection and not target.library
    refused(
        armature, "target 'Target' is in no scene: it was deleted, or came along with a rig that was appended"
    )
    chain = armature.ik2d.chains[0]
    found = findings(armature, chain, reading(armature, chain), 1, 24)
    assert found[0].blocks and [fix.label for fix in found[0].fixes] == ["Link to Scene"]
    mend('LINK_TO_SCENE', armature, chain)
    assert target.users_collection[:] == (wanted.collections[0],)
    assert bake(armature, frame_start=1, frame_end=5).all_reached


def test_a_target_in_a_collection_that_no_scene_shows_bakes_with_a_warning():
    armature, target = leg_with_target()
    elsewhere = bpy.data.collections.new("Elsewhere")
    elsewhere.objects.link(target)
    bpy.context.scene.collection.objects.unlink(target)
    report = bake(armature, frame_start=1, frame_end=5)
    assert [
        w
        for w in report.warnings
        if "target 'Target' is in no scene, only in the collection 'Elsewhere'" in w
    ]


def test_a_target_of_another_scene_or_excluded_is_not_mentioned():
    armature, target = leg_with_target()
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(target)
    bpy.context.scene.collection.objects.unlink(target)
    assert not bake(armature, frame_start=1, frame_end=5).warnings
