# SPDX-License-Identifier: GPL-3.0-or-later
"""What a .blend file has beside its data: the picture that file browsers show, and the Blender it is of."""

import struct
from pathlib import Path

import bpy
import pytest
from programs import bake_here, is_baked, leg_file
from rigs import add_target

from ik2d_addon.cli.files.blend_files import _BLOCK_FROM_5, _BLOCK_UNTIL_4, _HEADER

WIDTH, HEIGHT = 8, 6
PIXELS = bytes(range(WIDTH * HEIGHT)) * 4


def blocks(whole: bytes) -> dict[bytes, tuple[int, int]]:
    """Return where the last block of each code begins and ends in an uncompressed .blend."""
    header = _HEADER.match(whole).group()
    block, length_at = (_BLOCK_FROM_5, 3) if len(header) == 17 else (_BLOCK_UNTIL_4, 1)
    found, at = {}, len(header)
    while at < len(whole):
        fields = block.unpack_from(whole, at)
        end = at + block.size + fields[length_at]
        found[fields[0]] = at, end
        at = end
    return found


def with_picture(whole: bytes) -> bytes:
    """Return an uncompressed .blend with the picture that Blender saves where it has a window."""
    content = struct.pack("<2i", WIDTH, HEIGHT) + PIXELS
    if whole.startswith(b"BLENDER17"):
        block = _BLOCK_FROM_5.pack(b"TEST", 0, bytes(8), len(content), 1)
    else:
        block = _BLOCK_UNTIL_4.pack(b"TEST", len(content), bytes(8), 0, 1)
    _, end = blocks(whole)[b"REND"]
    return whole[:end] + block + content + whole[end:]


def saved(folder: Path) -> Path:
    path = leg_file(folder)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    return path


@pytest.mark.slow
def test_the_picture_of_the_file_stays(tmp_path):
    path = saved(tmp_path)
    path.write_bytes(with_picture(path.read_bytes()))
    assert bake_here(path) == 0 and is_baked(path)
    whole = path.read_bytes()
    start, end = blocks(whole)[b"TEST"]
    assert whole[start:end].endswith(struct.pack("<2i", WIDTH, HEIGHT) + PIXELS)


def of_version(whole: bytes, major: int, minor: int) -> bytes:
    """Return an uncompressed .blend that says it is of another Blender."""
    header = _HEADER.match(whole).group()
    number = b"%04d" % (major * 100 + minor)
    return header[:-4] + (number if len(header) == 17 else b"v" + number[1:]) + whole[len(header) :]


@pytest.mark.parametrize("step", [(0, 1), (1, 0)])
def test_a_file_of_a_newer_blender_is_refused_unless_forced(step, tmp_path, capsys):
    path = saved(tmp_path)
    major, minor = bpy.app.version_file[0] + step[0], bpy.app.version_file[1] + step[1]
    newer = of_version(path.read_bytes(), major, minor)
    path.write_bytes(newer)
    assert bake_here(path) == 2
    said = capsys.readouterr().err
    assert f"was saved by a newer Blender ({major}.{minor}; this is " in said
    assert path.read_bytes() == newer
    assert bake_here(path, "--force") == 0
    assert f"ik2d: warning: '{path}' was saved by a newer Blender" in capsys.readouterr().err
    assert is_baked(path)


def test_what_was_moved_by_hand_and_not_keyed_goes_when_blender_opens_the_file(tmp_path):
    """So it is no bake's doing."""
    path = tmp_path / "moved.blend"
    add_target({1: (1, 2, 3)}).location.x = 4.0
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=True)
    assert bpy.data.objects["Target"].location.x == 1.0
