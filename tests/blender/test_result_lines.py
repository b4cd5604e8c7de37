# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a bake in one line, its details, and Bake Again and Live once it is out of date."""

from types import SimpleNamespace

import bpy
import pytest
from rigs import add_armature, add_chain, add_target, leg_with_target

from ik2d_addon.features.baking import panels
from ik2d_addon.features.baking.live import can_be_live
from ik2d_addon.features.baking.results import warnings_once


class Layout:
    """A layout that keeps what is drawn; folded panels are open where `is_open`."""

    def __init__(self, drawn, is_open=False):
        self.drawn, self.is_open, self.buttons = drawn, is_open, []

    def row(self, **_looks):
        row = Layout(self.drawn, self.is_open)
        row.buttons = self.buttons
        return row

    column = box = split = row

    def separator(self):
        pass

    def panel(self, name, **_looks):
        self.drawn.append(("panel", name))
        return self.row(), self.row() if self.is_open else None

    def label(self, text="", icon='NONE', **_looks):
        self.drawn.append(("label", text, icon))

    def operator(self, name, text="", **_looks):
        button = SimpleNamespace()
        self.drawn.append((name, text))
        self.buttons.append((name, button))
        return button

    def prop(self, _owner, name, **_looks):
        self.drawn.append(("prop", name))


class Context:
    """The context of a wide sidebar."""

    region = None

    def __getattr__(self, name):
        return getattr(bpy.context, name)


def drawn(is_open=False):
    """Return the rows of the panel Bake, as it draws them."""
    return layout_of_bake(is_open).drawn


def layout_of_bake(is_open):
    """Return the layout of the panel Bake, as it is drawn."""
    layout = Layout([], is_open)
    panels.IK2D_PT_bake.draw(
        SimpleNamespace(
            layout=layout,
            _draw_range=panels.IK2D_PT_bake._draw_range,
            _draw_buttons=panels.IK2D_PT_bake._draw_buttons,
        ),
        Context(),
    )
    return layout


def two_legs(*places):
    """Return an armature of two legs, each with a chain to a target that moves along its places."""
    bones = {"body": ((0, 0, 2), (0, 0, 2.6), "", 0.0)}
    for side, x in (("L", 0.2), ("R", -0.2)):
        bones[f"thigh.{side}"] = ((x, 0, 2), (x, -0.1, 1), "body", 0.0)
        bones[f"shin.{side}"] = ((x, -0.1, 1), (x, 0, 0.1), f"thigh.{side}", 0.0)
    armature = add_armature(bones)
    for side, x in (("L", 0.2), ("R", -0.2)):
        path = {frame: (x, y, z) for frame, (y, z) in places}
        add_chain(armature, f"shin.{side}", add_target(path, f"Target.{side}"))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 10
    return armature


NEAR = (1, (-0.3, 0.5)), (10, (-0.2, 0.4))
FAR = (1, (-0.3, 0.5)), (10, (-3.0, -2.0))


def test_a_line_is_there_before_the_first_bake_so_that_nothing_moves():
    two_legs(*NEAR)
    before = drawn()
    assert ("label", "Not baked yet", 'BLANK1') in before
    bpy.ops.ik2d.bake()
    after = drawn()
    place = before.index(("label", "Not baked yet", 'BLANK1'))
    assert after[:place] == before[:place]
    assert after[place:][:2] == [
        ("panel", "ik2d_last_bake"),
        ("label", "Baked 10 frames, 2 chains: all on target", 'CHECKMARK'),
    ]
    assert len(after) == len(before) + 1  # the folded details have no line


def test_one_chain_is_not_counted():
    leg_with_target()
    bpy.ops.ik2d.bake(frame_start=1, frame_end=10)
    assert ("label", "Baked 10 frames: all on target", 'CHECKMARK') in drawn()


def test_missed_frames_are_counted_once_for_all_chains():
    armature = two_legs(*FAR)
    bpy.ops.ik2d.bake()
    (line,) = [one for one in drawn() if one[0] == "label" and "off target" in one[1]]
    runs = {chain.missed_frames for chain in armature.ik2d.chains}
    (first, last) = runs.pop().split("..")
    assert not runs and line[1].startswith(
        f"Baked 10 frames, 2 chains: off target on {int(last) - int(first) + 1} frames"
    )
    assert line[2] == 'ERROR'
    assert [one[0] for one in drawn(is_open=True)].count("wm.context_set_int") == 2
    assert "wm.context_set_int" not in [one[0] for one in drawn()]


def test_the_button_of_a_missed_frame_goes_to_the_worst_one():
    (chain, _other) = two_legs(*FAR).ik2d.chains
    bpy.ops.ik2d.bake()
    bpy.context.scene.frame_set(1)
    go = next(button for name, button in layout_of_bake(True).buttons if name == "wm.context_set_int")
    chain.worst_frame = go.value = 7
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.wm.context_set_int('EXEC_DEFAULT', True, **vars(go)) == {'FINISHED'}
    assert bpy.context.scene.frame_current == 7
    bpy.ops.ed.undo()
    assert bpy.context.scene.frame_current == 1


def test_a_bake_that_is_out_of_date_has_bake_again_and_live_next_to_each_other():
    armature = two_legs(*NEAR)
    for chain in armature.ik2d.chains:
        chain.live = True
    bpy.ops.ik2d.bake()
    names = [one[0] for one in drawn()]
    assert "ik2d.live_again" not in names and ("ik2d.bake", "Bake 1 to 10") in drawn()
    armature.ik2d.chains[0].softness = 0.1
    shown = drawn()
    place = shown.index(("ik2d.bake", "Bake Again 1 to 10"))
    assert shown[place + 1] == ("ik2d.live_again", "Live")
    assert ("label", "Out of date: the settings of 'shin.L' changed", 'FILE_REFRESH') in shown
    bpy.ops.ik2d.live_again()
    assert all(chain.live for chain in armature.ik2d.chains)
    assert "ik2d.live_again" not in [one[0] for one in drawn()]


def test_chains_that_were_never_live_can_be():
    armature = two_legs(*NEAR)
    assert can_be_live(armature) == []
    bpy.ops.ik2d.bake(chain="shin.L")
    assert can_be_live(armature) == [armature.ik2d.chains[0]]
    armature.ik2d.chains[0].solver = 'CCD'  # which goes on from the frame before
    assert can_be_live(armature) == [armature.ik2d.chains[0]]


def test_results_of_earlier_versions_have_no_line_of_their_own_and_are_shown_all_the_same():
    armature = two_legs(*NEAR)
    bpy.ops.ik2d.bake()
    armature.ik2d.last_bake_lines = ""
    assert any(one[0] == "label" and one[1].startswith("Baked 10 frames on 2 chains") for one in drawn())


def test_clear_bake_takes_the_line_away():
    armature = two_legs(*NEAR)
    bpy.ops.ik2d.bake()
    bpy.ops.ik2d.clear_bake()
    assert armature.ik2d.last_bake_lines == ""
    assert ("label", "Not baked yet", 'BLANK1') in drawn()


def test_a_chain_that_is_left_out_and_warnings_are_in_the_line():
    armature = two_legs(*NEAR)
    armature.ik2d.chains[1].target = None
    bpy.ops.ik2d.bake()
    (line,) = [one for one in drawn() if one[0] == "label" and "left out" in one[1]]
    assert line == ("label", "Baked 10 frames: 1 left out; 1 warning", 'ERROR')


@pytest.mark.parametrize(
    "warnings, wanted",
    [
        (["Chain 'a': so", "Chain 'b': so", "other"], ["Chains 'a' and 'b': so", "other"]),
        (["Chain 'a': so", "Chain 'b': thus"], ["Chain 'a': so", "Chain 'b': thus"]),
        (["Chain 'a': by 'x.L'", "Chain 'b': by 'x.R'"], ["Chains 'a' and 'b': by 'x.L/R'"]),
        ([], []),
    ],
)
def test_a_cause_is_said_once_for_all_chains(warnings, wanted):
    assert warnings_once(warnings, ["a", "b"]) == wanted
