# SPDX-License-Identifier: GPL-3.0-or-later
"""The outcomes of many files, and the line that counts them."""

import bpy
import pytest
from programs import bake_here, leg_file
from rigs import add_chain, add_leg, add_target, leg_with_target

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.cli.commands.outcomes import FileOutcome, outcome_line, parted, summary

REACHED, FAR = FileOutcome(True, False, 1e-9, "1 nm"), FileOutcome(False, True, 2.35, "2.35 m")
NEARER, IN_DOUBT = FileOutcome(False, True, 0.5, "50 cm"), FileOutcome(False, False, 9.0, "9 m")


def far_file(folder, name, place=(0, 0, 4.0), units='METRIC'):
    """Save the leg with a target that is out of its reach."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    add_chain(add_leg(), "shin", add_target({1: place}))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.unit_settings.system = 1, 2, units
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / name))
    return folder / name


@pytest.mark.parametrize(
    "outcomes, words",
    [
        ([(0, REACHED), (0, FAR), (0, NEARER)], "1 reached, 2 have chains that miss, worst 2.35 m in b"),
        ([(0, REACHED), (0, REACHED)], "2 reached"),
        ([(0, NEARER)], "1 has chains that miss, worst 50 cm in a"),
        (
            [(0, NEARER), (0, IN_DOUBT)],
            "1 has chains that miss, worst 50 cm in a, 1 has chains left out or in doubt",
        ),
        (
            [(0, REACHED), (1, FAR)],
            "1 reached, 1 has chains that miss, worst 2.35 m in b; 1 of them with exit code 1",
        ),
        ([(3, REACHED)], "1 with exit code 3"),  # its process died after the bake
        ([(1, REACHED), (1, None)], "1 reached; 1 of them with exit code 1; 1 with exit code 1"),
        ([(2, None), (0, REACHED), (3, None)], "1 reached; 1 with exit code 2, 1 with exit code 3"),
        ([(2, None), (0, None), (0, None)], "2 with exit code 0, 1 with exit code 2"),
    ],
)
def test_the_last_line_counts_those_that_miss_and_names_the_worst(outcomes, words):
    ended = [(name, code, outcome) for name, (code, outcome) in zip("abc", outcomes, strict=False)]
    assert summary(ended) == f"{len(outcomes)} file{'s' * (len(outcomes) > 1)}: {words}"


def test_an_outcome_is_what_the_report_says():
    armature, target = leg_with_target()
    reached = FileOutcome.of([bake(armature, frame_start=1, frame_end=3)])
    assert reached.reached and not reached.misses
    add_chain(armature, "toe", target, name="Lost")
    left_out = FileOutcome.of([bake(armature, frame_start=1, frame_end=3)])
    assert not left_out.reached and not left_out.misses
    sparse = bake(armature, ["shin"], 1, 9, 4, options=BakeOptions(verify='NONE'))
    assert not sparse.all_reached and not FileOutcome.of([sparse]).misses
    target.animation_data_clear()
    target.location = (0, 0, 4.0)
    missed = bake(armature, ["shin"], 1, 3)
    told = FileOutcome.of([bake(armature, ["shin"], 1, 3), missed])
    assert told.misses and not told.reached
    assert told.distance == missed.max_error
    assert f"worst by {told.in_words} at frame 1" in missed.sentence()


def test_the_line_of_a_process_is_taken_out_of_its_words():
    line = outcome_line("Rig: Baked", FAR)
    assert parted(f"ik2d: saved 'a'\n{line}\nBlender quit\n") == (
        "ik2d: saved 'a'\nBlender quit",
        "Rig: Baked",
        FAR,
    )
    assert parted(outcome_line("error: no")) == ("", "error: no", None)
    assert parted("ik2d: saved 'a'\n" + line[:-5]) == ("ik2d: saved 'a'", "", None)
    assert parted('ik2d: outcome: {"words": "a", "bake": {"x": 1}}')[2] is None
    assert parted("a\nb\n") == ("a\nb", "", None)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_many_files_of_which_some_miss_say_so_at_the_end(tmp_path, capsys, strict):
    files = [
        leg_file(tmp_path),
        far_file(tmp_path, "far.blend"),
        far_file(tmp_path, "hand.blend", (0, 0, 5.0)),
    ]
    assert bake_here(*files, *["--strict"] * strict) == strict
    told = capsys.readouterr()
    *_, last = told.out.splitlines()
    assert "outcome" not in told.out
    codes = "; 2 of them with exit code 1" * strict
    assert last == f"ik2d: 3 files: 1 reached, 2 have chains that miss, worst 1.09 m in {files[2]}{codes}"
    assert (f"ik2d: {files[1]}: --strict does not hold: Rig: Baked 2 frames" in told.out) == strict


def test_a_miss_of_one_file_is_exit_code_1_with_strict_alone(tmp_path, capsys):
    assert bake_here(leg_file(tmp_path), "--strict") == 0
    far = far_file(tmp_path, "far.blend", units='NONE')
    assert bake_here(far) == 0
    assert bake_here(far, "--strict") == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "--strict" in line]
    assert line.startswith(
        "ik2d: --strict does not hold: Rig: Baked 2 frames on 1 chain; 2 of 2 frames out of"
    )
    assert line.endswith("worst by 0.0895 units at frame 1")


def test_a_chain_left_out_or_in_doubt_does_not_pass_strict(tmp_path, capsys):
    armature, target = leg_with_target()
    add_chain(armature, "toe", target, name="Lost")
    path = tmp_path / "lost.blend"
    bpy.context.scene.frame_end = 9
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert bake_here(path) == 0
    assert bake_here(path, "--strict") == 1
    assert "1 left out as faulty" in capsys.readouterr().err
    assert bake_here(path, "--chain", "shin", "--frames", "1:9:4", "--verify", "NONE", "--strict") == 1
    assert bake_here(path, "--chain", "shin", "--verify", "NONE", "--strict") == 0
