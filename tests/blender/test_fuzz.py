# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make fuzz` does in Blender: it damages files as it says, and tells Blender's failures from ours."""

import os
import signal
import time
from random import Random

import bpy
import pytest
import rigs

from tools.fuzz import damaged, inside, machines, sequences
from tools.fuzz.case import Case, Outcome
from tools.fuzz.forked import Forks
from tools.fuzz.program import Ended, Program


@pytest.fixture
def plain(tmp_path):
    """Return a file with a chain, not compressed."""
    rigs.leg_with_target()
    path = tmp_path / "plain.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    return path


class Answers:
    """Runs nothing: the program ends as it is told, and so does Blender with the same file."""

    def __init__(self, ran: Ended, own: Ended, played: bool) -> None:
        self.ran, self.own, self.played = ran, own, played

    def run(self, words: list, cwd, limit: float) -> Ended:
        return self.ran

    def look(self, path) -> dict | None:
        return None

    def call(self, task, *arguments: object, limit: float) -> tuple[Ended, object]:
        return self.own, self.played

    def checked(self, path, limit: float) -> Ended:
        return self.own


def outcome(tmp_path, plain, ran: Ended, own: Ended, played: bool) -> Outcome:
    samples = {"01 plain": plain, "01": plain}
    blender = Answers(ran, own, played)
    return damaged.run(Case("damaged", 1, 3, tmp_path / "case", samples, Program(), blender)).outcome


def test_a_crash_is_blenders_own_only_where_it_crashes_without_the_add_on(tmp_path, plain):
    crashed, well = Ended(-signal.SIGSEGV), Ended(0)
    assert outcome(tmp_path, plain, crashed, crashed, False) == Outcome.BLENDER
    assert outcome(tmp_path, plain, crashed, well, True) == Outcome.FAILED
    assert outcome(tmp_path, plain, crashed, well, False) == Outcome.FAILED


def test_a_file_that_does_not_open_is_blenders_own_only_where_its_copy_opens_neither(tmp_path, plain):
    assert outcome(tmp_path, plain, Ended(0), Ended(0), False) == Outcome.BLENDER
    assert outcome(tmp_path, plain, Ended(0), Ended(0), True) == Outcome.FAILED


def test_an_unexpected_error_is_never_blenders_own(tmp_path, plain):
    assert outcome(tmp_path, plain, Ended(3), Ended(-11), False) == Outcome.FAILED


def test_blocks_lie_end_to_end_up_to_the_last(plain):
    content = plain.read_bytes()
    blocks = damaged.blocks(content)
    assert all(end == start for (_, end, _), (start, _, _) in zip(blocks, blocks[1:], strict=False))
    assert content[blocks[-1][1] :].startswith(b"ENDB")
    codes = {content[start : start + 4].rstrip(b"\0") for start, _, _ in blocks}
    assert {b"OB", b"AR", b"DATA", b"DNA1"} <= codes


@pytest.mark.parametrize("damage", damaged.WAYS, ids=lambda damage: damage.__name__)
def test_each_way_damages_a_file_and_does_so_again(plain, damage):
    content = plain.read_bytes()
    results = [damage(content, Random(seed)) for seed in (1, 2, 3, 1)]
    assert results[0] == results[3]
    assert any(result != content for result in results)


def test_settings_are_damaged_as_the_draw_says(tmp_path, plain):
    done = [inside.save_damaged_settings(plain, tmp_path / "d.blend", f"1 {i}") for i in (1, 2, 3, 4, 1)]
    assert done[0] == done[-1]
    assert any(done)


def test_keys_of_bakes_are_counted_and_what_is_no_scene_is_not_opened(tmp_path, plain):
    assert inside.look(plain) == {"baked": 0}
    (tmp_path / "text.blend").write_text("no scene")
    assert inside.look(tmp_path / "text.blend") is None


@pytest.mark.slow
def test_whole_files_pass_all_that_tells_blenders_own_failures(tmp_path, plain):
    forks = Forks(tmp_path / "spool")
    ended, played = forks.call(inside.play, plain, tmp_path / "copy.blend")
    assert ended.code == 0 and played
    ended, read = forks.call(inside.read_alike, plain)
    assert ended.code == 0 and read == 4  # a chain, its two joints and its settings
    assert forks.checked(plain).code == 0


@pytest.mark.slow
def test_a_fork_that_crashes_or_hangs_is_told(tmp_path):
    forks = Forks(tmp_path)
    assert forks.call(lambda: {"a": 1}) == (Ended(0), {"a": 1})
    crashed, answer = forks.call(lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert crashed.crashed and not crashed.hung and answer is None
    hung, answer = forks.call(time.sleep, 600, limit=0.2)
    assert hung.hung and answer is None


@pytest.mark.slow
def test_a_sequence_tells_what_of_the_users_is_gone_and_what_is_left_over(monkeypatch, tmp_path):
    def remove_mesh(_random, _folder):
        if "Mesh" in bpy.data.objects:
            bpy.data.objects.remove(bpy.data.objects["Mesh"])

    def add_empty(_random, _folder):
        bpy.data.objects.new("stray", None)

    def fail(_random, _folder):
        raise RuntimeError("Traceback: fail")

    monkeypatch.setattr(sequences, "LIES", ())
    for step, words in (
        (remove_mesh, "gone after remove_mesh: object 2"),
        (add_empty, "left over: an empty"),
        (fail, "fail: Traceback: fail"),
    ):
        monkeypatch.setattr(sequences, "PLAIN", (step,))
        assert words in sequences.play("1 1", str(tmp_path))["complaints"]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
def test_sequences_leave_all_of_the_users(tmp_path, number):
    told = sequences.play(f"1 {number}", str(tmp_path))
    assert told["steps"] and told["complaints"] == []


def test_random_mechanisms_are_as_their_reports_say():
    rows = [machines.bake_one(f"1 {number // 10} {number % 10}", number) for number in range(12)]
    assert not [false for row in rows for false in row["false"]]
    assert {"closed", "open"} <= {row["said"] for row in rows}
