# SPDX-License-Identifier: GPL-3.0-or-later
"""Random options, sensible and absurd: an exit code of 0 to 2, and for 2 one sentence and no file changed."""

import os
from contextlib import suppress
from pathlib import Path

from . import judge
from .case import Case, Result
from .values import FRAMES, NUMBERS, PATHS, TEXTS

LIMIT = 40.0
WITH_VALUE = {
    "--armature": TEXTS,
    "--chain": TEXTS,
    "--frames": FRAMES,
    "--output": PATHS,
    "--report": PATHS,
    "--reduce": NUMBERS,
    "--verify": ("SAMPLE", "ALL", "NONE", "all", "", "x", "SAMPLE|ALL", "ſample"),
    "--max-error": NUMBERS,
    "--jobs": NUMBERS,
}
SENSIBLE = {
    "--armature": ("Rig", "Arm", "Excavator"),
    "--chain": ("Chain", "Arm"),
    "--frames": ("1:10", "1:10:3", "-5:5", "1048570:1048574"),
    "--output": ("out.blend", "{name}_baked.blend", "sub/{name}.blend", "link.blend", "scene.blend"),
    "--report": ("r.json", "r.csv", "-", "{name}.json", "stdout"),
    "--reduce": ("0.001", "0"),
    "--verify": ("ALL", "NONE"),
    "--max-error": ("0", "1e-5", "10"),
    "--jobs": ("1", "2"),
}
FLAGS = (
    *(
        "--target-keys",
        "--single-axis",
        "--enable-autoexec",
        "-y",
        "--force",
        "--debug",
        "--json",
        "--help",
        "-h",
    ),
    *("--version", "--frame", "--", "-", "-yy", "--unknown", "@file", ""),
)
SCENES = (
    *("scene.blend", "other.blend", "missing.blend", "sub", "", "null", "link.blend", "text.blend"),
    *(b"\xff.blend", "a\nb.blend", "scene.blend", "./scene.blend"),
)
GATHERED = {
    "good.json": '{"file": "a.blend", "armatures": [{"armature": "A", "summary": "s", "all_reached": true,'
    ' "max_error": 0.1, "left_out": [], "chains": [{"armature": "A", "name": "C", "frames": [1, 2],'
    ' "keys": 2, "max_error": 0.1, "summary": "s", "warnings": []}]}]}',
    "empty.json": "{}",
    "list.json": "[[], {}, null]",
    "nan.json": '{"file": 1, "armatures": [{"max_error": NaN, "chains": [{}]}]}',
    "deep.json": "[" * 100_000,
    "cut.json": '{"file": "a.blend", "armatures": [{',
    "odd.json": '{"file": null, "armatures": {"chains": 5, "max_error": "1"}}',
    "huge.json": '{"file": "a", "armatures": [{"max_error": 1' + "0" * 5000 + "}]}",
}
REPORTS = (*GATHERED, "good.json", "good.json", "missing.json", "scene.blend", "sub", "null", "")
COMMANDS = (
    *("bake",) * 12,
    *("check", "check", "check", "list", "list", "gather", "gather"),
    *("", "Bake", "--help", "bake\n", b"\xff"),
)


def run(case: Case) -> Result:
    """Run the program with random options."""
    _furnish(case)
    words = _words(case)
    before = judge.files(case.place)
    ended = case.blender.run(words, case.place, LIMIT)
    codes = (0, 1, 2) if any(b"--max-error" in os.fsencode(word) for word in words) else (0, 2)
    several = sum(word in SCENES for word in words) > 1 or words[0] == "gather"
    complaints = judge.manners(ended, codes, several=several) + judge.litter(case.place, before)
    after = judge.files(case.place)
    if ended.code in (0, 1):
        scenes = [path for path in case.place.glob("*.blend") if path.name != "text.blend"]
        complaints += judge.whole(scenes, case.blender.look)
        kept = {name: content for name, content in before.items() if not len(content) == 64}
        changed = judge.changes(kept, {name: after.get(name, "gone") for name in kept})
        complaints += [f"{change}, which was no regular file" for change in changed]
    elif not ended.crashed and not several:
        complaints += judge.unchanged(before, case.place)
    if words[:1] != ["bake"]:
        complaints += [c for c in judge.unchanged(before, case.place) if b".blend" in os.fsencode(c)]
    return case.of_code(" ".join(_shown(word) for word in words), complaints, ended)


def _words(case: Case) -> list[str | bytes]:
    random = case.random
    words: list[str | bytes] = [random.choice(COMMANDS)]
    number = random.choice((1,) * 12 + (0, 2, 2, 3))
    usual, odd = ("good.json", REPORTS) if words == ["gather"] else ("scene.blend", SCENES)
    oddness = 0.15 if number < 2 else 0.7
    words += [random.choice(odd) if random.random() < oddness else usual for _ in range(number)]
    for _ in range(random.choice((0, 1, 1, 2, 2, 3, 5))):
        at = random.randrange(1, len(words) + 1) if random.random() < 0.1 else len(words)
        words[at:at] = _option(random)
    return words


def _option(random) -> list[str | bytes]:
    if random.random() < 0.2:
        return [random.choice(FLAGS)]
    name = random.choice(list(WITH_VALUE))
    values = WITH_VALUE[name if random.random() < 0.85 else random.choice(list(WITH_VALUE))]
    value = random.choice(SENSIBLE[name] if random.random() < 0.6 else values)
    if random.random() < 0.05:
        return [name]
    if random.random() < 0.4:
        return [os.fsencode(name) + b"=" + os.fsencode(value)]
    return [name, value]


def _furnish(case: Case) -> None:
    """Put into the case's place what options name: a scene, a folder, links, files that are no regular ones.

    `null` and `stdout` stand in for those of /dev, which a faulty program run as root would harm.
    """
    place = case.place
    case.scene("05_deadlock")
    case.scene("02_excavator", "other.blend")
    case.scene("05_deadlock", "real.blend")
    (place / "scene.blend1").write_bytes(b"an earlier backup")
    (place / "text.blend").write_text("no scene")
    (place / "sub").mkdir()
    for name, text in GATHERED.items():
        (place / name).write_text(text)
    for name, to in (
        *(("link.blend", "real.blend"), ("dangling.blend", "nowhere.blend")),
        *(("loop.blend", "loop.blend"), ("stdout", "/proc/self/fd/1")),
    ):
        (place / name).symlink_to(to)
    os.mkfifo(place / "fifo")
    make_null(place / "null")


def make_null(path: Path) -> bool:
    """Make a device like /dev/null, if this user may; return whether."""
    with suppress(PermissionError):
        os.mknod(path, 0o020666, os.makedev(1, 3))
    return path.exists()


def _shown(word: str | bytes) -> str:
    shown = repr(os.fsencode(word))[1:]
    return shown if len(shown) < 60 else f"{shown[:40]}...' ({len(word)} characters)"
