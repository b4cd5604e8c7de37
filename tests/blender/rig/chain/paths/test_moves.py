# SPDX-License-Identifier: GPL-3.0-or-later
"""Data paths of chains and joints after moves in their lists."""

import pytest

from ik2d_addon.rig.chain.paths.moves import Entry, ListMoves, PathMoves, escaped, unescaped


def moves(before, now, joints=None):
    """Return the moves between two lists of (number, name)."""
    return PathMoves(
        PathMoves.between([Entry(*one) for one in before], [Entry(*one) for one in now]).chains, joints or {}
    )


SWAPPED = moves([(1, "L"), (2, "R"), (3, "Tail")], [(3, "Tail"), (1, "L")])


@pytest.mark.parametrize(
    "path, new",
    [
        ("ik2d.chains[0].influence", "ik2d.chains[1].influence"),
        ("ik2d.chains[2].foot.contact", "ik2d.chains[0].foot.contact"),
        ("ik2d.chains[1].influence", None),
        ('ik2d.chains["L"].influence', 'ik2d.chains["L"].influence'),
        ('ik2d.chains["R"].influence', None),
        ("ik2d.chains[7].influence", "ik2d.chains[7].influence"),
        ('ik2d.chains["Arm"].influence', 'ik2d.chains["Arm"].influence'),
        ("ik2d_kept[12].ik2d.chains[0].bend", "ik2d_kept[12].ik2d.chains[1].bend"),
        ("ik2d_kept[12].ik2d.chains[1].bend", None),
        ("ik2d.chains[0].joints[1].weight", "ik2d.chains[1].joints[1].weight"),
        ('pose.bones["ik2d.chains[0]"].location', 'pose.bones["ik2d.chains[0]"].location'),
        ('["ik2d.chains[0]"]', '["ik2d.chains[0]"]'),
        ("location", "location"),
    ],
)
def test_a_path_leads_to_the_same_setting_or_none(path, new):
    assert SWAPPED.path(path) == new
    if new is not None:
        assert SWAPPED.path_to_read(path) == new


def test_what_reads_a_removed_chain_keeps_its_name():
    assert SWAPPED.path_to_read("ik2d.chains[1].influence") == 'ik2d.chains["R"].influence'
    assert SWAPPED.path_to_read('ik2d.chains["R"].influence') == 'ik2d.chains["R"].influence'


def test_a_renamed_chain_is_followed_by_its_number_and_its_name_is_escaped():
    renamed = moves([(1, "L"), (2, 'a"b')], [(2, 'c\\"d'), (1, "L")])
    assert renamed.any
    assert renamed.path('ik2d.chains["a\\"b"].bend') == 'ik2d.chains["c\\\\\\"d"].bend'
    for name in ('c\\"d', "plain", '"', "\\"):
        assert unescaped(escaped(name)) == name


def test_without_numbers_a_chain_goes_by_its_name_and_a_new_name_in_its_place_is_a_new_name():
    by_name = moves([(0, "L"), (0, "R")], [(0, "R"), (0, "L")])
    assert by_name.chains.places == [1, 0]
    assert moves([(0, "L"), (0, "R")], [(0, "L"), (0, "Arm")]).chains.places == [0, 1]
    assert moves([(0, "L"), (0, "R")], [(0, "R")]).chains.places == [None, 0]
    assert moves([(0, "L"), (0, "R")], [(0, "R"), (0, "L"), (0, "Arm")]).chains.places == [1, 0]
    assert moves([(0, "L"), (0, "R")], [(5, "R"), (6, "L")]).chains.places == [1, 0]


def test_nothing_moved_where_chains_were_only_added():
    assert not moves([(1, "L")], [(1, "L"), (2, "R")]).any
    assert not moves([], [(1, "L")]).any


def test_joints_go_with_their_chain_and_by_their_own_moves():
    joints = {0: ListMoves([1, None], ["thigh", "shin"], ["hip", "thigh"])}
    both = moves([(1, "L"), (2, "R")], [(2, "R"), (1, "L")], joints)
    assert both.any
    assert both.path("ik2d.chains[0].joints[0].weight") == "ik2d.chains[1].joints[1].weight"
    assert both.path("ik2d.chains[0].joints[1].weight") is None
    assert both.path_to_read("ik2d.chains[0].joints[1].weight") == 'ik2d.chains[1].joints["shin"].weight'
    assert both.path("ik2d.chains[1].joints[1].weight") == "ik2d.chains[0].joints[1].weight"
    assert both.path("ik2d.chains[0].joints[8].weight") == "ik2d.chains[1].joints[8].weight"
