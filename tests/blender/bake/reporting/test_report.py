# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a bake: each number, each sentence."""

import numpy as np
import pytest
from chain_reports import LIMITED, REACHED, TOO_FAR, chain, full, missed, report, strayed

from ik2d_addon.bake.reporting.chain_result import HandErrors


def test_a_chain_that_was_left_out_is_not_reached():
    told = report(left_out=("no target",))
    assert not told.all_reached and told.warnings == ("no target",)


def test_a_bake_that_reached_everything():
    assert report().sentence() == "Baked 4 frames on 1 chain; every target reached"
    assert report(chain(), chain()).sentence() == "Baked 4 frames on 2 chains; every target reached"
    assert report(chain(1), verb="Posed").sentence() == "Posed 1 frame on 1 chain; every target reached"


def test_the_chain_that_missed_most_is_named_among_several():
    little, most = missed(TOO_FAR, REACHED), missed(LIMITED, REACHED, name="arm", distance=[0.2, 0.0])
    assert report(little).sentence() == (
        "Baked 2 frames on 1 chain; 1 of 2 frames out of reach, worst by 10 cm at frame 11"
    )
    for chains in ((little, most, chain(2)), (most, chain(2), little)):
        assert report(*chains).sentence() == (
            "Baked 2 frames on 3 chains; 1 of 2 frames stopped by limits, worst by 20 cm at frame 11 of 'arm'"
        )


def test_a_chain_that_missed_goes_before_one_that_strays_between_the_frames():
    far = strayed(0.5, name="arm")
    for chains in ((missed(TOO_FAR, REACHED), far), (far, missed(TOO_FAR, REACHED))):
        assert report(*chains).sentence().endswith("worst by 10 cm at frame 11 of 'leg'")
    assert (
        report(strayed(0.3), far, chain())
        .sentence()
        .endswith("; target reached on the frames, but up to 50 cm off between them (frame 11.5) of 'arm'")
    )
    assert report(far).sentence().endswith(" off between them (frame 11.5)")


def test_the_hands_that_are_furthest_off_are_told():
    hands = (
        chain(hands=HandErrors(("paw",), np.full(4, 0.1))),
        chain(hands=HandErrors(("foot",), np.full(4, 0.3))),
    )
    for chains in ((*hands, chain()), (chain(), *hands[::-1])):
        assert report(*chains).sentence() == (
            "Baked 4 frames on 3 chains; every target reached; 'foot' up to 0.3 degrees off"
        )


def test_what_is_not_certain_is_said_of_all():
    unknown = [chain(verified='NONE'), chain(verified='NONE')]
    assert report(*unknown).sentence().endswith("; every target reached as solved, not verified")
    for chains in ((strayed(2e-3), strayed(1.5e-3)), (strayed(1.5e-3), strayed(2e-3))):
        assert report(*chains).sentence() == (
            "Baked 4 frames on 2 chains; every target reached, up to 2 mm off between frames"
        )


def test_chains_that_were_left_out_are_counted():
    assert report(left_out=("a",)).sentence() == (
        "Baked 4 frames on 1 chain; all others reached their targets; 1 left out as faulty"
    )
    assert (
        report(missed(TOO_FAR), left_out=("a", "b"))
        .sentence()
        .endswith("worst by 10 cm at frame 11; 2 left out as faulty")
    )


@pytest.mark.parametrize(
    "keys, words",
    [
        ((4,), ""),
        ((4, 4), ""),
        ((5,), ""),
        ((2,), " with 2 keys each"),
        ((1,), " with 1 key each"),
        ((2, 2), " with 2 keys each"),
        ((2, 3), " with 2 to 3 keys each"),
        ((4, 3), " with 3 to 4 keys each"),
        ((0,), ""),
        ((0, 2), " with 0 to 2 keys each"),
    ],
)
def test_keys_are_told_where_there_are_fewer_than_frames(keys, words):
    chains = [chain(keys=count) for count in keys]
    noun = f"{len(keys)} chain" + "s" * (len(keys) > 1)
    assert report(*chains).sentence() == f"Baked 4 frames on {noun}{words}; every target reached"


def test_a_forced_chain_is_never_reached_and_says_so():
    one = chain(forced=("blocked",))
    assert not one.reached
    assert one.sentence().endswith("target reached, if it is where it should be, baked by force")
    both = report(one, chain(forced=("blocked",)))
    assert both.forced == ("blocked",) and not both.all_reached
    assert both.sentence().endswith("; 2 chains by force, see the warnings")
    assert report(chain()).forced == ()


def test_warnings_are_the_rigs_and_then_the_chains():
    one, two = chain(warnings=("c",)), chain(warnings=("d", "e"))
    assert report(one, two, rig_warnings=("a", "b")).warnings == ("a", "b", "c", "d", "e")
    assert report(one, rig_warnings=("a",), left_out=("z",)).warnings == ("z", "a", "c")


def test_the_bakes_dictionary_holds_its_chains():
    one = full()
    told = report(one, rig_warnings=("rig",))
    assert told.to_dict() == {
        "armature": "Rig",
        "summary": told.sentence(),
        "all_reached": False,
        "max_residual": 0.25,
        "max_error": 0.75,
        "sampled": "only what the chains need",
        "warnings": ["rig"],
        "left_out": [],
        "replaced_keys": 0,
        "chains": [one.to_dict()],
    }
    assert report(left_out=("a",)).to_dict()["left_out"] == ["a"]
    assert report().to_dict()["all_reached"] is True
    assert report(one, full_scene="because").to_dict()["sampled"] == "the full scene: because"
    sampled = report(one, stepped="'Target'").to_dict()["sampled"]
    assert sampled == "by stepping: 'Target' was elsewhere than its F-Curves say"


def test_fk_frames_are_told_after_the_outcome():
    part, other = chain(influence=np.array([1.0, 1.0, 1.0, 0.0])), chain(name="arm")
    fk = chain(name="arm", influence=np.array([0.0, 0.0, 1.0, 1.0]), distance=np.array([0.9, 0.9, 0.0, 0.0]))
    assert report(part).is_good and report(part, fk).is_good
    assert report(part).sentence() == "Baked 4 frames on 1 chain; every target reached; 1 of 4 frames is FK"
    assert report(fk, chain()).sentence() == (
        "Baked 4 frames on 2 chains; every target reached; 2 of 4 frames of 'arm' are FK"
    )
    assert report(fk, part).sentence().endswith("; every target reached; 2 chains FK on up to 2 frames")
    assert report(other, fk).max_error == 0.0
    off = missed(TOO_FAR, REACHED, REACHED, REACHED, name="leg")
    assert report(off, fk).sentence().endswith("at frame 11 of 'leg'; 2 of 4 frames of 'arm' are FK")


def test_a_chain_that_is_fk_on_all_frames_is_no_good_result():
    off = chain(name="arm", influence=np.zeros(4), distance=np.full(4, 0.9), residual=np.full(4, 0.9))
    told = report(chain(), off)
    assert not told.all_reached and not told.is_good and told.max_error == told.max_residual == 0.0
    assert told.sentence() == (
        "Baked 4 frames on 2 chains; 4 frames of 'arm' FK, as IK Blend is 0: raise it, or disable the chain"
    )
    assert told.lines()[0] == "Baked 4 frames, 2 chains: 1 chain FK on all frames"


def test_the_line_of_the_panel_tells_fk_frames_where_they_fit():
    part = chain(influence=np.array([0.0, 1.0, 1.0, 0.0]))
    assert report(part).lines()[:2] == (
        "Baked 4 frames: all on target; FK on 2 frames",
        "Baked 4 frames: all on target",
    )
    warned = report(chain(influence=np.array([0.0, 1.0, 1.0, 1.0]), warnings=("look",)), part)
    assert warned.lines()[:2] == (
        "Baked 4 frames, 2 chains: all on target; 1 warning; FK on 2 frames",
        "Baked 4 frames, 2 chains: all on target; 1 warning",
    )
