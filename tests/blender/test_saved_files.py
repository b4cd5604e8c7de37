# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that earlier versions saved: they open with every setting as it was, and go on working.

tools/save_settings.py wrote them, one with the code of each version (0.1.0 of its first day too).
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import bpy
import pytest
from openings import evaluated_openings
from programs import python_in_blender
from rigs import evaluated_tip

from ik2d_addon.bake import bake, clear
from ik2d_addon.chains import release, remove_chain, remove_foot, remove_native
from tools.save_settings import groups, settings_of, stored

ROOT = Path(__file__).resolve().parents[2]
SAVED = ROOT / "tests" / "data" / "saved"
VERSION = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
FILES = sorted(path.stem for path in SAVED.glob("*.blend"))
LATER = [name for name in FILES if name != "0.1.0_first_day"]  # with drivers, adopted limbs and feet
MACHINES = [name for name in LATER if name not in ("0.1.0", "1.0.0")]
# Runs tools/save_settings.py, and leaves without Python's own exit, in which bpy may crash.
SAVE = "import os\nfrom tools.save_settings import main\nmain({path!r})\nsys.stdout.flush()\nos._exit(0)"
FIRST = SAVED / f"{VERSION}.json"
REACH = 1.91
# A sentence on which nothing depends; and a default that grew, which files do not hold. The path of an
# adopted chain is gone too: keys follow their chain.
GONE, DEFAULTS = {"last_result", "is_off_plane"}, {"iterations": 500}


def opened(name):
    """Open a saved file; return what its settings were when it was saved."""
    bpy.ops.wm.open_mainfile(filepath=str(SAVED / f"{name}.blend"))
    return json.loads((SAVED / f"{name}.json").read_text(encoding="utf-8"))


def off_target(name, frame):
    """Return how far the evaluated tip of a leg is from its target."""
    bpy.context.scene.frame_set(frame)
    target = bpy.data.objects[f"{name} target"].matrix_world.translation
    return (evaluated_tip(bpy.data.objects[name], "shin") - target).length


def test_there_is_a_file_of_this_version():
    assert VERSION in FILES, f"run tools/save_settings.py tests/data/saved/{VERSION}.blend with bpy 4.2"


def test_the_tool_saves_a_file_of_all_settings_that_opens_with_them(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SAVED", tmp_path)
    code = python_in_blender(SAVE.format(path=str(tmp_path / "now.blend")))
    done = subprocess.run(code, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    was = opened("now")
    for armature in set(was) - {"enums"}:
        assert dict(stored(bpy.data.objects[armature].ik2d, "")) == was[armature], armature
    chosen = [path for path, value in was["Stored"].items() if value != was["Plain"].get(path)]
    assert len(chosen) > 40 and set(json.loads(FIRST.read_text(encoding="utf-8"))) == set(was)


@pytest.mark.parametrize("name", FILES)
def test_every_setting_is_as_it_was(name):
    was = opened(name)
    del was["enums"]
    for armature, values in was.items():
        now, compared = dict(stored(bpy.data.objects[armature].ik2d, "")), 0
        for path, value in values.items():
            setting = path.rpartition(".")[2]
            if setting in GONE or path.endswith(".adopted.path") or DEFAULTS.get(setting) == value:
                continue
            compared += 1
            assert now[path] == value, (armature, path)
        assert compared > 10 or armature == "Adopted"


@pytest.mark.parametrize("name", FILES)
def test_every_choice_has_the_number_that_files_hold(name):
    was = opened(name)["enums"]
    now = {
        f"{type(owner).__name__}.{rule.identifier}": {item.identifier: item.value for item in rule.enum_items}
        for group in groups(bpy.data.objects["Stored"])
        for owner, rule in settings_of(group)
        if rule.type == 'ENUM'
    }
    for setting, choices in was.items():
        assert choices.items() <= now[setting].items(), setting
    assert was


@pytest.mark.parametrize("name", FILES)
def test_a_baked_chain_plays_clears_and_bakes_again(name):
    opened(name)
    leg = bpy.data.objects["Plain"]
    assert max(off_target("Plain", frame) for frame in (1, 6, 12)) < 1e-5 * REACH
    clear(leg)
    assert off_target("Plain", 1) > 0.1 * REACH  # the last pose stays
    assert bake(leg, frame_start=1, frame_end=12).all_reached
    assert max(off_target("Plain", frame) for frame in (1, 6, 12)) < 1e-5 * REACH


@pytest.mark.parametrize("name", LATER)
def test_drivers_still_follow_and_can_be_removed(name):
    opened(name)
    leg = bpy.data.objects["Native"]
    assert max(off_target("Native", frame) for frame in (1, 6, 12)) < 1e-5 * REACH
    remove_native(leg, leg.ik2d.chains[0])
    assert not leg.animation_data or not leg.animation_data.drivers


@pytest.mark.parametrize("name", LATER)
def test_an_adopted_limb_is_released(name):
    opened(name)
    leg = bpy.data.objects["Adopted"]
    assert leg.pose.bones["shin"].constraints[0].mute
    assert release(leg, leg.ik2d.chains[0].name) == []
    assert not leg.pose.bones["shin"].constraints[0].mute and not leg.ik2d.chains


@pytest.mark.parametrize("name", LATER)
def test_a_foot_bakes_and_is_removed(name):
    opened(name)
    leg = bpy.data.objects["Footed"]
    assert bake(leg, frame_start=1, frame_end=12).all_reached
    remove_foot(leg, leg.ik2d.chains[0])
    assert remove_chain(leg) == "Footed leg"


@pytest.mark.parametrize("name", MACHINES)
def test_a_baked_mechanism_plays_clears_and_bakes_again(name):
    opened(name)
    machine = bpy.data.objects["Machine"]
    (mechanism,) = machine.ik2d.mechanisms
    assert evaluated_openings(mechanism, (1, 6, 12)).max() < 2e-6
    clear(machine)
    assert evaluated_openings(mechanism, (12,)).max() > 1e-2
    assert bake(machine, frame_start=1, frame_end=12).is_good
    assert evaluated_openings(mechanism, (1, 6, 12)).max() < 2e-6
