# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged .blend files: a sentence and exit code 2, a bake, or what Blender itself does with the file."""

import struct
from pathlib import Path
from random import Random

from . import inside, judge
from .case import Case, Outcome, Result
from .program import ROOT, Ended

LIMIT = 30.0
OTHER_FILES = {
    "empty": b"",
    "one byte": b"B",
    "text": b"Not a scene.\n" * 50,
    "header alone": b"BLENDER-v402",
    "new header alone": b"BLENDER17-01v0500",
    "zeros": bytes(100_000),
    "gzip": bytes.fromhex("1f8b0800000000000003") + b"x" * 100,
    "zstd": bytes.fromhex("28b52ffd") + b"x" * 100,
    "zip": b"PK\x03\x04" + bytes(60),
    "picture": (ROOT / "sample_scenes" / "05_deadlock.png").read_bytes(),
    "Python": b"import bpy\n",
}
HEADERS = (
    *(b"BLENDER-v999", b"BLENDER-v100", b"BLENDER-v000", b"BLENDER_v402", b"BLENDER-V402", b"BLENDER_V402"),
    *(
        b"BLENDER-v50x",
        b"BLENDER17-01v0999",
        b"BLENDER17-01v9999",
        b"BLENDER17-02v0500",
        b"BLENDER99-01v0500",
    ),
    *(b"blender-v402", b"BLENDER-v503", b"BLENDER17-01v0600"),
)


def run(case: Case) -> Result:
    """Bake a file that was damaged."""
    scene = case.place / "scene.blend"
    what, content = _damaged(case)
    scene.write_bytes(content)
    damaged = Path(case.folder / "damaged.blend")
    damaged.write_bytes(content)
    before = judge.files(case.place)
    ended = case.blender.run(["bake", scene], case.place, LIMIT)
    complaints = judge.manners(ended, {0, 2}) + judge.litter(case.place)
    if ended.code in (0, 1):
        complaints += judge.whole([scene], case.blender.look)
    elif not ended.crashed:
        complaints += judge.unchanged(before, case.place)
    if (ended.crashed or ended.code in (0, 1)) and complaints and _is_blenders_own(case, damaged, ended):
        return case.result(what, Outcome.BLENDER, [])
    return case.of_code(what, complaints, ended)


def _is_blenders_own(case: Case, damaged: Path, ended: Ended) -> bool:
    """Return whether Blender without the add-on fails at the file, too.

    For a crash it opens, plays, saves and opens it again, reads properties of the add-on's shape from it, and
    opens it where corrupted memory ends it at once: of what reads out of bounds, not every run crashes.
    """
    own, played = case.blender.call(inside.play, damaged, case.folder / "copy.blend", limit=LIMIT)
    if not ended.crashed:
        return own.crashed or not played
    alike = own.crashed or case.blender.call(inside.read_alike, damaged, limit=LIMIT)[0].crashed
    return alike or case.blender.checked(damaged, LIMIT).crashed


def _damaged(case: Case) -> tuple[str, bytes]:
    """Return what was done, and the damaged file's bytes."""
    random = case.random
    if random.random() < 0.04:
        name = random.choice(list(OTHER_FILES))
        return name, OTHER_FILES[name]
    # Most of what hits a compressed file is noticed by its checksum: three of four are not compressed.
    plain = random.random() < 0.75
    names = sorted(name for name in case.samples if name[:2].isdigit() and name.endswith("plain") == plain)
    sample = random.choice(names)
    content = case.samples[sample].read_bytes()
    damage = random.choice(WAYS if plain else WAYS[:4])
    return f"{sample}: {damage.__name__.strip('_').replace('_', ' ')}", damage(content, random)


def _cut_off(content: bytes, random: Random) -> bytes:
    return content[: random.choice((random.randrange(len(content)), random.randrange(200), len(content) - 1))]


def _bytes_flipped(content: bytes, random: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 3, 10, 100, 1000))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _part_overwritten(content: bytes, random: Random) -> bytes:
    start, length = random.randrange(len(content)), random.choice((1, 4, 8, 64, 1000, 20000))
    new = random.choice((bytes(length), b"\xff" * length, random.randbytes(length)))
    return content[:start] + new + content[start + length :]


def _other_header(content: bytes, random: Random) -> bytes:
    header = random.choice(HEADERS)
    return header + content[_blocks_begin(content) :]


def _part_left_out(content: bytes, random: Random) -> bytes:
    start = random.randrange(len(content))
    return content[:start] + content[start + random.choice((1, 4, 100, 10000)) :]


def _block_zeroed(content: bytes, random: Random) -> bytes:
    start, end, head = random.choice(blocks(content))
    return content[: start + head] + bytes(end - start - head) + content[end:]


def _block_left_out(content: bytes, random: Random) -> bytes:
    start, end, _ = random.choice(blocks(content))
    return content[:start] + content[end:]


def _block_twice(content: bytes, random: Random) -> bytes:
    start, end, _ = random.choice(blocks(content))
    return content[:end] + content[start:end] + content[end:]


def _blocks_swapped(content: bytes, random: Random) -> bytes:
    (a, b, _), (c, d, _) = sorted(random.sample(blocks(content), 2))
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def _block_head_changed(content: bytes, random: Random) -> bytes:
    start, _, head = random.choice(blocks(content))
    place = start + random.randrange(head)
    return content[:place] + random.randbytes(1) + content[place + 1 :]


def _numbers_changed(content: bytes, random: Random) -> bytes:
    """Put odd numbers into one block: pointers, counts and floats among them."""
    start, end, head = random.choice(
        [block for block in blocks(content) if block[1] - block[0] > block[2] + 8]
    )
    changed = bytearray(content)
    for _ in range(random.choice((1, 2, 5))):
        place = start + head + 4 * random.randrange((end - start - head) // 4 - 1)
        new = struct.pack(*random.choice(ODD_NUMBERS))
        changed[place : place + len(new)] = new
    return bytes(changed)


ODD_NUMBERS = (
    *(("<i", -1), ("<i", 2**31 - 1), ("<i", -(2**31)), ("<f", float("nan")), ("<f", float("inf"))),
    *(("<f", 1e38), ("<f", -1e-42), ("<q", 0), ("<q", -1), ("<i", 12345)),
)
WAYS = (
    *(_cut_off, _bytes_flipped, _part_overwritten, _part_left_out),  # of compressed files too
    *(_other_header, _block_zeroed, _block_left_out, _block_twice, _blocks_swapped),
    *(_block_head_changed, _numbers_changed, _numbers_changed),
)


def blocks(content: bytes) -> list[tuple[int, int, int]]:
    """Return (start, end, length of its head) of each block of a file that is not compressed."""
    new = content[7:8].isdigit()
    place, found = _blocks_begin(content), []
    while content[place : place + 4] not in (b"ENDB", b""):
        # code, SDNA index, old pointer, length, count; 8 bytes for length and count since 5.0
        head = 32 if new else 24
        length = struct.unpack_from("<q" if new else "<i", content, place + (16 if new else 4))[0]
        found.append((place, place + head + length, head))
        place += head + length
    return found


def _blocks_begin(content: bytes) -> int:
    return int(content[7:9]) if content[7:8].isdigit() else 12
