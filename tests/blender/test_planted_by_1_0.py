# SPDX-License-Identifier: GPL-3.0-or-later
"""A file that 1.0.0 planted opens, is cleared and planted again; damaged and crafted notes change nothing.

tests/data/planted/1.0.0.blend was planted by 1.0.0 in Blender 4.2; the .json holds what was true before.
"""

import base64
import io
import json
import zipfile
import zlib
from pathlib import Path

import bpy
import numpy as np
import pytest
from rigs import every_bit_of_animation, leg_with_target

from ik2d_addon.chains import plant_feet, unplant_feet
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import existing_fcurves

FILE = Path(__file__).resolve().parents[1] / "data" / "planted" / "1.0.0.blend"
WAS = json.loads(FILE.with_suffix(".json").read_text(encoding="utf-8"))
REACH = 1.0


@pytest.fixture
def planted():
    """The armature of the file, as it was saved."""
    bpy.ops.wm.open_mainfile(filepath=str(FILE))
    return next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE')


def key_counts(ob):
    """Return the number of keys of each channel."""
    return {f"{one.data_path}|{one.array_index}": len(one.keyframe_points) for one in existing_fcurves(ob)}


def poses(armature):
    """Return the evaluated matrices (frames, bones, 4, 4) on the frames of the .json."""
    scene, found = bpy.context.scene, []
    step = (scene.frame_end - scene.frame_start + 1) // len(WAS["pose"])
    for frame in range(scene.frame_start, scene.frame_end + 1, step):
        scene.frame_set(frame)
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(bone.matrix) for bone in seen.pose.bones])
    return np.array(found)


def is_as_before(armature):
    """Assert that keys, settings, targets and poses are those of before the planting."""
    chains = armature.ik2d.chains
    assert [chain.target.name for chain in chains] == WAS["targets"]
    assert [chain.plane for chain in chains] == WAS["planes"]
    assert [chain.live for chain in chains] == WAS["live"]
    assert [key_counts(chain.target) for chain in chains] == WAS["target_keys"]
    assert key_counts(armature) == WAS["rig"]
    assert np.abs(poses(armature) - np.array(WAS["pose"])).max() < 1e-5 * REACH
    assert not any(chain.pole or len(chain.planted.channels) for chain in chains)


def everything():
    """Return the animation and the place of all objects, and the names of all objects and actions."""
    objects = {
        ob.name: (every_bit_of_animation(ob), ob.hide_render, tuple(ob.location)) for ob in bpy.data.objects
    }
    notes = [
        (note.owner, note.path, note.index, note.value, note.curve)
        for ob in bpy.data.objects
        if ob.type == 'ARMATURE'
        for chain in ob.ik2d.chains
        for note in chain.planted.channels
    ]
    return objects, notes, sorted(action.name for action in bpy.data.actions)


def test_it_is_planted_and_clear_gives_the_motion_of_before_back(planted):
    assert np.abs(poses(planted) - np.array(WAS["pose"])).max() > 0.01 * REACH
    there = {action.name for action in bpy.data.actions}
    assert unplant_feet(planted) == []
    is_as_before(planted)
    assert {action.name for action in bpy.data.actions} <= there


@pytest.mark.slow
def test_it_is_planted_again_and_cleared(planted):
    plant_feet(planted)
    left = [note.path for chain in planted.ik2d.chains for note in chain.planted.channels]
    assert left and all(".contact" in path for path in left)
    plant_feet(planted, None, 10, 40)
    assert unplant_feet(planted) == []
    is_as_before(planted)


def test_it_is_cleared_after_it_was_saved_again(planted, tmp_path):
    name = planted.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "again.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "again.blend"))
    unplant_feet(bpy.data.objects[name])
    is_as_before(bpy.data.objects[name])


# --- Damage ------------------------------------------------------------------


def changed_curve(note, **values):
    """Give a note's F-Curve other values."""
    note.curve = json.dumps({**json.loads(note.curve), **values})


def packed(data):
    """Return bytes as notes hold them."""
    return base64.b85encode(zlib.compress(data, 9)).decode()


def archive(note, change):
    """Give a note's keys another archive: change(arrays by name, archive to write)."""
    keys = zlib.decompress(base64.b85decode(json.loads(note.curve)["keys"]))
    with zipfile.ZipFile(io.BytesIO(keys)) as old:
        members = {name: old.read(name) for name in old.namelist()}
    change(members)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as new:
        for name, data in members.items():
            new.writestr(name, data)
    changed_curve(note, keys=packed(file.getvalue()))


def array(values, kind="f4"):
    """Return an array as numpy saves it."""
    file = io.BytesIO()
    np.save(file, np.asarray(values, kind))
    return file.getvalue()


def with_member(name, data):
    """Return a change that puts other bytes into an archive."""
    return lambda note: archive(note, lambda members: members.update({name: data}))


def without_member(note):
    """Take a column away."""
    archive(note, lambda members: members.pop("easing.npy"))


def huge_header(note):
    """Let a header say more than its bytes hold."""

    def change(members):
        data = members["co.npy"]
        at = data.index(b"'shape': (") + len(b"'shape': (")
        members["co.npy"] = data[:at] + b"9999999" + data[at + 7 :]

    archive(note, change)


DAMAGE = {
    "no JSON": lambda note: setattr(note, "curve", "{"),
    "a list": lambda note: setattr(note, "curve", "[1, 2]"),
    "deep JSON": lambda note: setattr(note, "curve", "[" * 100_000),
    "no keys": lambda note: setattr(note, "curve", '{"group": ""}'),
    "keys as a number": lambda note: changed_curve(note, keys=7),
    "no base85": lambda note: changed_curve(note, keys="\u00e9\u00e9"),
    "no zlib": lambda note: changed_curve(note, keys=base64.b85encode(b"text").decode()),
    "no archive": lambda note: changed_curve(note, keys=packed(b"text")),
    "a bomb": lambda note: changed_curve(note, keys=packed(b"\0" * (1 << 28))),
    "a smoothing": lambda note: changed_curve(note, auto_smoothing="MINE"),
    "an extrapolation": lambda note: changed_curve(note, extrapolation=3),
    "a long group": lambda note: changed_curve(note, group="x" * 64),
    "a column too few": without_member,
    "a column too many": with_member("more.npy", array([1])),
    "a bad header": with_member("co.npy", b"\x93NUMPY\x01\x00\xff\xff{"),
    "a huge header": huge_header,
    "a pickle": with_member("co.npy", b"\x80\x04N."),
    "a wrong shape": with_member("co.npy", array(np.zeros((74, 3)))),
    "a flat array": with_member("co.npy", array(np.zeros(148))),
    "another count": with_member("co.npy", array(np.zeros((5, 2)))),
    "another type": with_member("co.npy", array(np.zeros((74, 2)), "f8")),
    "no number": with_member("co.npy", array(np.full((74, 2), np.nan))),
    "no order": with_member("co.npy", array(np.arange(148)[::-1].reshape(74, 2))),
    "a value as a word": lambda note: setattr(note, "value", '"text"'),
    "a value without JSON": lambda note: setattr(note, "value", "nothing"),
    "a value as a table": lambda note: setattr(note, "value", '{"a": 1}'),
    "an endless value": lambda note: setattr(note, "value", "Infinity"),
    "no owner": lambda note: setattr(note, "owner", None),
    "a path of others": lambda note: setattr(note, "path", "hide_render"),
    "no path": lambda note: setattr(note, "path", ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("work", [unplant_feet, plant_feet], ids=["clear", "plant again"])
def test_a_damaged_note_gives_one_sentence_and_changes_nothing(planted, kind, work):
    chain = planted.ik2d.chains[1]
    note = next(one for one in chain.planted.channels if one.owner == chain.target and one.curve)
    DAMAGE[kind](note)
    before = everything()
    with pytest.raises(IK2DError) as caught:
        work(planted)
    assert "\n" not in str(caught.value) and chain.name in str(caught.value)
    assert everything() == before


# --- Crafted -----------------------------------------------------------------


@pytest.mark.parametrize("what", ["pole", "empty pole", "armature", "keys", "hide", "note", "parent"])
def test_a_crafted_note_touches_nothing_of_others(what):
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    bpy.context.view_layer.objects.active = armature
    data = bpy.data.meshes.new("mesh") if what != "empty pole" else None
    mine = bpy.data.objects.new("My House", data)
    bpy.context.scene.collection.objects.link(mine)
    for frame in (1, 9):
        mine.keyframe_insert("location", frame=frame)
    note = chain.planted.channels.add()
    note.owner, note.path, note.index, note.value = target, "location", 0, "0"
    if what in ("pole", "empty pole"):
        chain.planted.pole = mine
    elif what == "armature":
        chain.planted.pole = armature
    elif what == "keys":
        note.owner = mine
    elif what == "hide":
        note.owner, note.path, note.index, note.value = mine, "hide_render", -1, "true"
    elif what == "note":
        note.value = '{"a": 1}'
    else:
        note.owner, note.path, note.index, note.value = armature, "parent", -1, "1"
    before, own = every_bit_of_animation(mine), every_bit_of_animation(armature)
    try:
        bpy.ops.ik2d.plant_clear()
    except RuntimeError as error:
        assert "Traceback" not in str(error)
    assert bpy.data.objects.get("My House") == mine and bpy.data.objects.get("Rig") == armature
    assert every_bit_of_animation(mine) == before and not mine.hide_render
    assert every_bit_of_animation(armature) == own
