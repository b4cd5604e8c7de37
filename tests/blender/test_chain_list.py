# SPDX-License-Identifier: GPL-3.0-or-later
"""The lists of chains and of joints, of mechanisms too: what each row draws, and the steps to add many."""

import sys
from math import radians
from types import SimpleNamespace

import bpy
import pytest
from rigs import add_armature, leg_with_target

from ik2d_addon.chains import add_chain, add_mechanism, add_pin
from ik2d_addon.features.mechanism import panel
from ik2d_addon.features.mechanism.panel import IK2D_UL_mechanism_joints
from ik2d_addon.features.setup import lists
from ik2d_addon.features.setup.lists import IK2D_UL_chains, IK2D_UL_joints


class Layout:
    """Notes what is drawn into it and into the layouts that it makes."""

    def __init__(self, drawn=None):
        self.drawn = [] if drawn is None else drawn

    def row(self, **_):
        return Layout(self.drawn)

    split = column = row

    def prop(self, owner, name, **settings):
        assert name in owner.bl_rna.properties
        self.drawn.append(SimpleNamespace(prop=name, owner=owner, layout=self, **settings))

    def label(self, *, text="", icon='NONE', translate=True):
        self.drawn.append(SimpleNamespace(prop=None, text=text, icon=icon, layout=self))

    def operator(self, name, **_):
        return SimpleNamespace()


def draw(cls, data, item):
    layout = Layout()
    cls.draw_item(None, bpy.context, layout, data, item, 0, None, "")
    return layout.drawn


def icons(armature):
    """Return the icons in the rows of the list of chains."""
    return [
        [part.icon for part in draw(IK2D_UL_chains, armature.ik2d, chain) if part.prop is None]
        for chain in armature.ik2d.chains
    ]


def test_a_chain_with_a_problem_has_a_sign_and_a_good_one_has_none():
    armature, target = leg_with_target()
    bad = armature.ik2d.chains.add()
    bad.name, bad.tip = "bad", "body"
    assert icons(armature) == [[], ['ERROR']]
    bad.target = target
    assert icons(armature) == [[], []]
    armature.ik2d.chains[0].tip = "foot"
    assert icons(armature) == [['ERROR'], []]


def test_a_row_of_a_chain_is_its_switch_its_name_greyed_out_where_it_is_off_and_live():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    for enabled in (True, False):
        chain.enabled = enabled
        switch, name, live = draw(IK2D_UL_chains, armature.ik2d, chain)
        assert (switch.prop, name.prop, live.prop) == ("enabled", "name", "live")
        assert switch.owner == name.owner == chain
        assert name.layout.active == enabled and not name.emboss


def test_a_row_of_a_joint_is_its_switch_its_bone_and_its_limits_where_there_is_room(monkeypatch):
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    joint = chain.joints["shin"]
    joint.limit_min, joint.limit_max = radians(-30.4), radians(90.6)
    room = {"letters": 20}
    monkeypatch.setattr(lists, "fits_as_name", lambda context, text: len(text) <= room["letters"])
    switch, name = draw(IK2D_UL_joints, chain, joint)
    assert (switch.prop, switch.owner, switch.text, name.text) == ("use_limit", joint, "", "shin")
    joint.use_limit = True
    switch, name, limits = draw(IK2D_UL_joints, chain, joint)
    assert (switch.prop, name.text, limits.text) == ("use_limit", "shin", "-30° to 91°")
    assert limits.layout.alignment == 'RIGHT' and limits.layout is not name.layout
    for room["letters"] in (10, 3):  # not for the limits, and not for the name
        assert [part.text for part in draw(IK2D_UL_joints, chain, joint)] == ["", "shin"]


def steps_to_add_chains(legs):
    """Return how many steps of Python it takes to give each leg of one rig a chain."""
    bones = {}
    for leg in range(legs):
        bones[f"thigh{leg}"] = ((leg, 0, 2.0), (leg, -0.1, 1.0), "", 0.0)
        bones[f"shin{leg}"] = ((leg, -0.1, 1.0), (leg, 0, 0.0), f"thigh{leg}", 0.0)
    armature, steps = add_armature(bones), 0

    def count(frame, event, _):
        nonlocal steps
        frame.f_trace_opcodes = True
        steps += event == "opcode"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        for leg in range(legs):
            add_chain(armature, f"shin{leg}")
    finally:
        sys.settrace(before)
    assert [chain.tip for chain in armature.ik2d.chains] == [f"shin{leg}" for leg in range(legs)]
    assert {len(chain.joints) for chain in armature.ik2d.chains} == {2}
    return steps


@pytest.mark.slow
def test_each_of_many_chains_takes_as_many_steps_to_add_as_the_first_ones():
    few, many = steps_to_add_chains(10), steps_to_add_chains(100)
    assert many < 10.5 * few


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("a", "b"), ["a, tail, on b"]),
        (("the first leg's rocker", "its long coupler"), ["the first leg's rocker", "its long coupler"]),
    ],
)
def test_a_joint_of_a_mechanism_names_its_bones_apart_where_all_of_it_does_not_fit(names, told, monkeypatch):
    monkeypatch.setattr(panel, "fitting", lambda context, texts, left: next(t for t in texts if len(t) < 25))
    one, other = names
    armature = add_armature({one: ((0, 0, 0), (0, 0, 1), "", 0.0), other: ((1, 0, 0), (0, 0, 1), "", 0.0)})
    mechanism = add_mechanism(armature, names)
    joint = add_pin(mechanism, one, 'TAIL', other)
    assert [part.text for part in draw(IK2D_UL_mechanism_joints, mechanism, joint)] == told
