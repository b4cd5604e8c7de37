# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a .blend that was written is whole: Blender says "Saved" of some that a full disk cut off.

Needs no Blender. The forms of the file: Blender's own doc/blender_file_format, and the seekable format of
Zstandard, in which it compresses.
"""

import os
import re
import struct
from typing import BinaryIO

# The pointers' size is in the header: "BLENDER-v405", from Blender 5.0 on "BLENDER17-01v0500".
_HEADER = re.compile(rb"BLENDER(?:-v\d{3}|17-01v\d{4})")
_BLOCK_UNTIL_4 = struct.Struct("<4si8sii")  # code, length, old address, structure, count
_BLOCK_FROM_5 = struct.Struct("<4si8sqq")  # code, structure, old address, length, count
_FRAME, _TABLE, _FOOTER = 0xFD2FB528, 0x184D2A5E, 0x8F92EAB1  # how parts of a compressed file begin, and end
_FOOTER_SIZE = 9  # number of frames, a byte, the number above


def is_whole(path: str) -> bool:
    """Return whether a .blend of Blender 3.0 or later ends where its own tables say.

    Raises OSError if it cannot be read.
    """
    with open(path, "rb") as file:
        try:
            start = file.read(17)
            if header := _HEADER.match(start):
                return _blocks_are_whole(file, header.group())
            # A header that came after these was never seen: nothing is known of what follows it.
            return (len(start) == 17 and start.startswith(b"BLENDER")) or _frames_are_whole(file)
        except struct.error:  # it is cut off within a block's head
            return False


def _blocks_are_whole(file: BinaryIO, header: bytes) -> bool:
    size = os.fstat(file.fileno()).st_size
    large = len(header) == 17
    block = _BLOCK_FROM_5 if large else _BLOCK_UNTIL_4
    file.seek(len(header))
    code = b""
    while code != b"ENDB":
        fields = block.unpack(file.read(block.size))
        code, length = fields[0], fields[3] if large else fields[1]
        if not 0 <= length <= size - file.tell():
            return False
        file.seek(length, os.SEEK_CUR)
    return file.tell() == size


def _frames_are_whole(file: BinaryIO) -> bool:
    size = file.seek(0, os.SEEK_END)
    if size < _FOOTER_SIZE:
        return False
    file.seek(size - _FOOTER_SIZE)
    count, _, footer = struct.unpack("<IBI", file.read(_FOOTER_SIZE))
    table = 8 + 8 * count + _FOOTER_SIZE
    if footer != _FOOTER or table > size:
        return False
    file.seek(size - table)
    magic, _ = struct.unpack("<II", file.read(8))
    lengths = [length for length, _ in struct.iter_unpack("<II", file.read(8 * count))]
    start = 0
    for length in lengths:
        file.seek(start)
        if struct.unpack("<I", file.read(4)) != (_FRAME,):
            return False
        start += length
    return magic == _TABLE and start + table == size
