# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a .blend is whole: at each place where it may be cut off, in each form."""

import random

import bpy
import pytest
from rigs import leg_with_target

from ik2d_addon.cli.files.blend_files import is_whole


@pytest.fixture(params=[True, False], ids=["compressed", "plain"])
def saved(tmp_path, request):
    """A .blend as this Blender saves it."""
    leg_with_target()
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=request.param)
    return path


def test_what_blender_saves_is_whole(saved):
    assert is_whole(str(saved))


@pytest.mark.slow
def test_wherever_it_is_cut_off_it_is_not(saved, tmp_path):
    content, cut = saved.read_bytes(), tmp_path / "cut.blend"
    lengths = [0, 1, 11, 12, 17, 30, len(content) - 1, len(content) - 9, len(content) - 40]
    for length in lengths + random.Random(1).sample(range(len(content)), 40):
        cut.write_bytes(content[:length])
        assert not is_whole(str(cut)), length


def test_a_hole_or_an_end_too_much_is_seen(saved, tmp_path):
    content, bad = saved.read_bytes(), tmp_path / "bad.blend"
    for changed in (content[:200] + content[300:], content + b"\\0", content + content[-100:]):
        bad.write_bytes(changed)
        assert not is_whole(str(bad))


def test_a_form_that_is_not_known_counts_as_whole(tmp_path):
    path = tmp_path / "future.blend"
    path.write_bytes(b"BLENDER17-02v0700" + bytes(100))
    assert is_whole(str(path))
