# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes in a file's names and notes that are no UTF-8 are a sentence, wherever they are read."""

import bpy
import pytest
from rigs import add_target, leg_with_target, press

from ik2d_addon.bake import bake, check
from ik2d_addon.cli.program import run
from ik2d_addon.core import IK2DError
from ik2d_addon.features.adopt.adopt import adopt
from ik2d_addon.features.native import is_native, make_native, remove_native
from ik2d_addon.features.setup import panels
from ik2d_addon.live.registry import RIGS
from ik2d_addon.rig.chain.readable import mend_texts, unreadable
from ik2d_addon.rig.chain.renames import straighten

MARK = b"ZQmarkedZQ"


def name_bone(armature):
    armature.data.bones["thigh"].name = MARK.decode()


def name_other_bone(armature):
    armature.data.bones["body"].name = MARK.decode()


def name_constraint(armature):
    armature.pose.bones["shin"].constraints.new('LIMIT_SCALE').name = MARK.decode()


def name_target(armature):
    armature.ik2d.chains[0].target.name = MARK.decode()


def name_pole(armature):
    armature.ik2d.chains[0].pole = add_target({1: (0, -2, 1)}, MARK.decode())


def name_armature(armature):
    armature.name = MARK.decode()


def name_chain(armature):
    armature.ik2d.chains[0].name = MARK.decode()


def note(name):
    return lambda armature: setattr(armature.ik2d.chains[0], name, MARK.decode())


def note_adopted(armature):
    chain = armature.ik2d.chains[0]
    taken = chain.adopted.constraints.add()
    taken.bone, taken.constraint, taken.note = "shin", "IK", MARK.decode()


NAMES = [name_bone, name_other_bone, name_constraint, name_target, name_pole, name_armature]
TEXTS = {
    "chain": name_chain,
    "result": note("last_bake"),
    "post": note("post"),
    "native": note("native_before"),
    "print": note("native_print"),
    "adopted": note_adopted,
}


def drive_bone(armature):
    name_other_bone(armature)
    armature.driver_add(armature.pose.bones[MARK.decode()].path_from_id("location"), 0)


def opened(mark, tmp_path, native=False, live=False):
    """Return the leg of a file in which what `mark` named has a byte that no UTF-8 has."""
    armature, _ = leg_with_target()
    if native:
        make_native(armature, armature.ik2d.chains[0])
    armature.ik2d.chains[0].live = live
    mark(armature)
    path = tmp_path / "leg.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    content = path.read_bytes()
    assert MARK in content
    path.write_bytes(content.replace(MARK, b"\xff" + MARK[1:]))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    armature = next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE')
    bpy.context.view_layer.objects.active = armature
    return armature, path


WORDS = r"The name '\\xffQmarkedZQ' is not readable text \(its bytes are not UTF-8\); rename its owner"


@pytest.mark.parametrize("mark", NAMES)
def test_a_name_that_is_no_text_is_a_sentence(mark, tmp_path, capfd):
    armature, path = opened(mark, tmp_path)
    chain = armature.ik2d.chains[0]
    for panel in (panels.IK2D_PT_chain, panels.IK2D_PT_reach, panels.IK2D_PT_rig):
        assert not panel.poll(bpy.context)
    for work in (bake, adopt, straighten, lambda rig: make_native(rig, chain)):
        with pytest.raises(IK2DError, match=f"^{WORDS}$"):
            work(armature)
    for name in ("bake", "solve", "adopt", "make_native", "chain_remove", "flip", "mirror"):
        press(name)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("mark", NAMES)
def test_the_command_line_says_it_of_such_a_file_and_goes(mark, tmp_path, capfd):
    _, path = opened(mark, tmp_path)
    before = path.read_bytes()
    for words in (["bake"], ["native", "--all"], ["check"], ["list"]):
        capfd.readouterr()
        assert run([*words, str(path)], opens_scene=True) == 2
        said = "".join(capfd.readouterr())
        assert "is not readable text (its bytes are not UTF-8); rename its owner" in said
        assert "Traceback" not in said and "unexpected" not in said
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", TEXTS)
def test_a_stored_text_that_is_none_becomes_one_and_the_leg_bakes(text, tmp_path, capfd):
    armature, _ = opened(TEXTS[text], tmp_path, native=text in ("native", "print"))
    assert "Traceback" not in capfd.readouterr().err and not unreadable(armature)
    chain = armature.ik2d.chains[0]
    mend_texts(armature.ik2d)
    assert bake(armature, frame_start=1, frame_end=3).max_error < 1e-5
    assert isinstance(check(armature), list) and chain.name
    remove_native(armature, chain)
    assert not is_native(chain) and bpy.ops.ik2d.chain_remove() == {'FINISHED'}


def test_renamed_the_leg_is_whole_again(tmp_path):
    armature, _ = opened(name_bone, tmp_path)
    armature.pose.bones[1].bone.name = "thigh"
    straighten(armature)
    assert [joint.name for joint in armature.ik2d.chains[0].joints] == ["thigh", "shin"]
    assert bake(armature, frame_start=1, frame_end=3).max_error < 1e-5


@pytest.mark.parametrize("mark", [*NAMES, name_chain, drive_bone])
def test_a_live_chain_with_such_a_name_stops_without_a_traceback(mark, tmp_path, capfd):
    opened(mark, tmp_path, live=True)
    for frame in (2, 5, 3):
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
    assert "Traceback" not in capfd.readouterr().err and not RIGS.failures
