# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make fuzz` notices, shown on programs that do wrong on purpose; and that a case can be had again."""

import os
import sys
from pathlib import Path

import pytest

from tools.fuzz import environments, judge, kills, many, options, results, two_at_once
from tools.fuzz.case import Case, Outcome, Result
from tools.fuzz.program import Ended, Program

# A stand-in for the command line. A scene is whole with its first and last word; KEY is what a bake adds.
PROGRAM = '''
import os, sys, tempfile
kind, command, path, *options = sys.argv[1:]
folder = os.path.dirname(os.path.abspath(path))
written = os.path.realpath(path)
if "--output" in options:
    written = os.path.join(folder, options[options.index("--output") + 1])

def put(path, content):
    part = os.path.join(folder, f".ik2d-{os.getpid()}")
    with open(part, "wb") as file:
        file.write(content)
    os.replace(part, path)

for name in os.listdir(folder):
    if name.removeprefix(".ik2d-").isdigit() and kind != "litters":
        os.remove(os.path.join(folder, name))
scene = open(path, "rb").read()
baked = scene.replace(b"ENDB", b"KEY ENDB")
if kind == "tracebacks":
    raise ValueError("an error that nobody caught")
if kind == "refuses":
    sys.exit("ik2d: error: 'it' is refused")
if kind == "refuses in order":
    print("ik2d: error: 'it' is refused; choose another", file=sys.stderr)
    sys.exit(2)
if kind == "refuses at length":
    print("usage: something", file=sys.stderr)
    sys.exit(2)
if kind == "refuses and writes":
    put(written, baked)
    print("ik2d: error: too late", file=sys.stderr)
    sys.exit(2)
if kind == "halves":
    baked = scene[: len(scene) // 2]
if kind == "forgets":
    baked = scene
if kind == "litters":
    tempfile.mkdtemp(prefix="blender_")
    open(os.path.join(folder, ".ik2d-0"), "w").close()
if kind == "ruins the backup":
    open(written + "1", "wb").close()
elif os.path.exists(written):
    put(written + "1", open(written, "rb").read())
put(written, baked)
if "--report" in options:
    put(os.path.join(folder, options[options.index("--report") + 1]), b"{}")
'''
# A stand-in for a bake of many files: a process for each, whose last word is its scene.
MANY = """
import os, signal, subprocess, sys
kind, _, *words = sys.argv[1:]
scenes = [word for word in words if word.lower().endswith(".blend") and not word.startswith("--output")]
bake = "import os, sys; p = sys.argv[-1]; c = open(p, 'rb').read(); f = open(p + '.new', 'wb');"
bake += "f.write(c.replace(b'ENDB', b'KEY ENDB')); f.close(); os.replace(p + '.new', p)"
if kind == "deaf":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
if kind in ("deaf", "outlived"):
    bake = "import time; time.sleep(600)"
if kind == "elsewhere":
    open(os.path.join("..", "stray"), "w").close()
if kind == "tracebacks":
    raise ValueError("an error that nobody caught")
for one in [subprocess.Popen([sys.executable, "-S", "-c", bake, "--", scene]) for scene in scenes]:
    one.wait()
"""
SCENE = b"BLENDER " + b"x" * 100 + b" ENDB"
SAMPLES = (*kills.SAMPLES, "04_out_of_reach", *(f"armature {i}" for i in range(20)))


class NoBlender:
    """Looks into the scenes of the stand-in, and runs it."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def look(self, path: Path) -> dict | None:
        content = path.read_bytes()
        whole = content.startswith(b"BLENDER") and content.endswith(b"ENDB")
        return {"baked": content.count(b"KEY")} if whole else None

    def run(self, words: list, cwd: Path, limit: float) -> Ended:
        return self.program.run(words, limit, before=lambda: os.chdir(cwd))


@pytest.fixture
def case(tmp_path):
    """Return a function that makes a case of a part for a stand-in that does wrong in a way."""

    def made(kind: str, part: str, number: int) -> Case:
        file = tmp_path / "program.py"
        file.write_text(PROGRAM)
        program = Program((sys.executable, "-S", file, kind))
        samples = dict.fromkeys(SAMPLES, tmp_path / "sample.blend")
        (tmp_path / "sample.blend").write_bytes(SCENE)
        return Case(part, 1, number, tmp_path / "case", samples, program, NoBlender(program))

    return made


def surroundings(name: str) -> int:
    """Return the number of a case in the surroundings of a name."""
    return [made.__name__ for made in environments.SURROUNDINGS].index(name)


@pytest.fixture
def many_files(tmp_path, monkeypatch):
    """Return a function that has a stand-in that does wrong in a way try one of the kinds of many files."""
    monkeypatch.setattr(many, "LIMIT", 5.0)
    monkeypatch.setattr(many, "ENDS_WITHIN", 1.0)
    file = tmp_path / "many.py"
    file.write_text(MANY)
    samples = dict.fromkeys((*many.SAMPLES, "endless"), tmp_path / "sample.blend")
    samples["endless"] = tmp_path / "endless.blend"
    samples["05_deadlock"].write_bytes(SCENE)
    samples["endless"].write_bytes(b"endless" + SCENE)

    def result(wrong: str, kind) -> Result:
        program = Program((sys.executable, "-S", file, wrong))
        number = many.KINDS.index(kind)
        return many.run(Case("many", 1, number, tmp_path / "case", samples, program, NoBlender(program)))

    return result


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "kind", "complaint"),
    [
        ("deaf", many._interrupts, " s"),
        ("outlived", many._killed_parents, "of its processes outlive it"),
        ("elsewhere", many._names, "b'stray' is written, outside of its folder"),
        ("tracebacks", many._names, "printed a traceback"),
        ("tracebacks", many._timeouts, "has no line"),
        ("tracebacks", many._killed_children, "ended with exit code 1"),
    ],
)
def test_a_program_that_does_wrong_with_many_files_fails(many_files, wrong, kind, complaint):
    result = many_files(wrong, kind)
    assert result.outcome == Outcome.FAILED
    assert any(complaint in found for found in result.complaints), result.complaints


@pytest.mark.slow
def test_one_that_does_well_with_many_files_passes(many_files):
    assert many_files("does well", many._killed_children).complaints == []


def in_surroundings(name: str):
    """Return a function that runs a stand-in in the surroundings of a name."""
    return lambda case, kind: environments.run(case(kind, "environments", surroundings(name)))


def killed(case, kind: str) -> Result:
    return kills.run(case(kind, "kills", 2))


def twice(case, kind: str) -> Result:
    return two_at_once.run(case(kind, "two_at_once", 3))


@pytest.mark.slow
@pytest.mark.parametrize(
    "run", [in_surroundings("_hard_link"), in_surroundings("_strangers_files"), killed, twice]
)
def test_a_program_that_does_well_passes(case, run):
    result = run(case, "does well")
    assert result.complaints == []
    assert result.outcome != Outcome.FAILED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "run", "complaint"),
    [
        ("tracebacks", in_surroundings("_hard_link"), "printed a traceback: ValueError"),
        ("refuses", in_surroundings("_hard_link"), "ended with exit code 1"),
        ("refuses at length", in_surroundings("_hard_link"), "exit code 2 with 0 sentences"),
        ("refuses and writes", in_surroundings("_hard_link"), "scene.blend is changed"),
        ("halves", in_surroundings("_hard_link"), "scene.blend is not the baked scene"),
        ("forgets", in_surroundings("_hard_link"), "scene.blend is not the baked scene"),
        ("litters", in_surroundings("_hard_link"), "leaves in the temporary directory: blender_"),
        ("litters", in_surroundings("_strangers_files"), ".ik2d-0 is written"),
        ("halves", killed, "does not open"),
        ("tracebacks", killed, "the run after it: printed a traceback"),
        ("litters", killed, "the run after it: leaves .ik2d-"),
        ("litters", killed, "leaves in the temporary directory: blender_"),
        ("ruins the backup", killed, "scene.blend1 does not open"),
        ("halves", twice, "scene.blend does not open or is gone"),
        ("forgets", twice, "scene.blend has no keys"),
        ("refuses in order", twice, "neither of them baked"),
        ("refuses in order", twice, "the first: is refused for another reason than the lock"),
        ("ruins the backup", twice, "scene.blend1 does not open"),
        ("litters", twice, "leaves .ik2d-0"),
    ],
)
def test_a_program_that_does_wrong_fails(case, kind, run, complaint):
    result = run(case, kind)
    assert result.outcome == Outcome.FAILED
    assert any(complaint in found for found in result.complaints), result.complaints


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tracebacks", "refuses", "refuses at length", "refuses and writes"])
def test_random_options_find_a_program_without_manners(case, kind):
    outcomes = [options.run(case(kind, "options", number)).outcome for number in range(4)]
    assert Outcome.FAILED in outcomes


def test_the_end_of_a_killed_bake_is_judged():
    for number in kills.SIGNALS:
        assert kills._of_the_end(Ended(-number), number, True) == []
        assert kills._of_the_end(Ended(0), number, False) == []
        assert kills._of_the_end(Ended(0), number, True) != []
        assert kills._of_the_end(Ended(-11), number, True) != []


def test_hanging_and_crashing_are_no_manners():
    assert judge.manners(Ended(0)) == []
    assert judge.manners(Ended(2, err="ik2d: error: 'a' is not there; name another\n")) == []
    assert judge.manners(Ended(-9, hung=True)) == ["ended with hung"]
    assert judge.manners(Ended(-11)) == ["ended with signal SIGSEGV"]
    assert judge.manners(Ended(3)) == ["ended with exit code 3"]
    assert judge.manners(Ended(2, err="ik2d: error: a\nik2d: error: b\n")) != []
    assert judge.manners(Ended(0, err="ik2d: error: a\n")) != []


def test_one_that_hangs_is_ended(case):
    hanging = Program((sys.executable, "-S", "-c", "import time; time.sleep(600)"))
    assert hanging.run([], limit=0.1).hung


def test_a_seed_and_a_number_draw_the_same_case_again(case):
    def words(number: int) -> list:
        return options._words(case("does well", "options", number))

    assert [words(number) for number in range(30)] == [words(number) for number in range(30)]
    assert len({str(words(number)) for number in range(30)}) > 25


def test_a_failure_names_the_command_that_repeats_it():
    result = Result("kills", 7, 12, "SIGINT", Outcome.FAILED, ["the report is not whole"], "ik2d: saved\n")
    text = results.failure(result)
    assert "python -m tools.fuzz --seed 7 --case kills:12" in text
    assert "the report is not whole" in text and "ik2d: saved" in text


def test_the_table_counts_each_part_and_goes_between_its_marks(tmp_path):
    found = [
        Result("kills", 1, 0, "", Outcome.OLD),
        Result("kills", 1, 1, "", Outcome.FAILED, ["!"]),
        Result("two_at_once", 2, 0, "", Outcome.DONE),
    ]
    heading, *rows = results.rows(found)
    counts = [dict(zip(heading, row, strict=True)) for row in rows]
    assert [row["part"] for row in counts] == ["kills", "two at once", "all"]
    assert [row["cases"] for row in counts] == ["2", "1", "3"]
    assert [row["failed"] for row in counts] == ["1", "", "1"]
    document = tmp_path / "reliability.md"
    document.write_text("before\n<!-- fuzz -->\nold\n<!-- /fuzz -->\nafter\n")
    results.write(found, document)
    results.write(found, document)
    text = document.read_text()
    assert text.count("| kills | 1 | 2 |") == 1 and "old" not in text.split("<!-- fuzz -->")[1].split("|")[0]
    assert text.startswith("before\n") and text.endswith("after\n")
