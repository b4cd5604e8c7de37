# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths that are held in their contacts and eased between."""

import numpy as np
import pytest
from contact_measures import slide
from recorded_motion import CLIPS, clip, marks
from synthetic_walks import FPS, walk

from ik2d_addon.core import IK2DError
from ik2d_addon.core.contacts import find_contacts, held
from ik2d_addon.core.contacts.runs import runs


def sliding_walk(seed, **kind):
    """Return a walk whose feet slide by 3 cm, and its contacts."""
    made = walk(np.random.default_rng(seed), slip=0.03, **kind)
    return made, find_contacts(*made.all)


@pytest.mark.parametrize("name", CLIPS)
def test_no_recorded_foot_slides_in_a_contact(name):
    places, times = clip(name)
    contacts = find_contacts(places, times)
    assert slide(places, contacts) > 0.02
    assert slide(held(places, contacts, times), contacts) < 1e-12


@pytest.mark.parametrize("name", CLIPS)
def test_contacts_that_a_person_marked_are_held_as_well(name):
    places, times = clip(name)
    assert slide(held(places, marks(name), times), marks(name)) < 1e-12


@pytest.mark.parametrize("name", CLIPS)
def test_no_point_moves_farther_than_it_slid(name):
    places, times = clip(name)
    contacts = find_contacts(places, times)
    moved = np.linalg.norm(held(places, contacts, times) - places, axis=2)
    assert 0.0 < moved.max() <= slide(places, contacts)


def test_offsets_between_contacts_stay_on_the_line_between_them_and_are_level_at_its_ends():
    made, contacts = sliding_walk(40)
    offsets = held(made.places, contacts, made.times) - made.places
    for point in range(2):
        found = runs(contacts[:, point])
        for (_, last), (first, _) in zip(found, found[1:], strict=False):
            a, b = offsets[last - 1, point], offsets[first, point]
            swing = offsets[last - 1 : first + 1, point]
            share = (swing - a) @ (b - a) / ((b - a) @ (b - a))
            assert np.allclose(swing, a + np.outer(share, b - a), rtol=0.0, atol=1e-12)
            assert (np.diff(share) > 0.0).all() and share.min() > -1e-12 and share.max() < 1.0 + 1e-12
            assert max(share[1], 1.0 - share[-2]) < 3.0 / (len(share) - 1) ** 2


def test_eases_are_c1_where_frames_are_dense():
    """The speed of the offset comes from zero and goes to it, however finely one looks."""
    for fine in (1, 8, 64):
        times = np.linspace(0.0, 1.0, 40 * fine + 1)
        contacts = (times <= 0.25) | (times >= 0.75)
        path = np.stack((times, 0.1 * np.sin(9.0 * times), np.zeros(len(times))), axis=1)
        offsets = held(path, contacts, times) - path
        swing = offsets[(times >= 0.25) & (times <= 0.75)]
        speeds = np.diff(swing, axis=0) / np.diff(times)[0]
        size = np.linalg.norm(swing[-1] - swing[0])
        assert np.linalg.norm(speeds[[0, -1]], axis=1).max() <= 12.0 * size / (20 * fine) * 1.01


def test_ends_keep_the_offset_of_the_contact_next_to_them():
    places = np.zeros((9, 3))
    places[:, 0] = [0, 1, 2, 3, 3.2, 3.4, 4, 5, 6]
    contacts = np.array([0, 0, 0, 1, 1, 1, 0, 0, 0], bool)
    offsets = held(places, contacts, np.arange(9.0)) - places
    assert np.allclose(offsets[:4], [0.2, 0, 0]) and np.allclose(offsets[5:], [-0.2, 0, 0])


def test_a_contact_of_one_frame_at_the_start_eases_as_any_other():
    places = np.zeros((6, 3))
    places[:, 0] = [0, 1, 2, 3, 4, 5]
    contacts = np.array([1, 0, 0, 0, 1, 1], bool)
    offsets = held(places, contacts, np.arange(6.0))[:, 0] - places[:, 0]
    assert offsets[0] == 0.0 and 0.0 < offsets[1] < offsets[2] < offsets[3] < offsets[4] == 0.5


@pytest.mark.parametrize("cut", [0, 7, 15, 24])
def test_loops_stay_loops(cut):
    made = walk(cycles=3, slip=0.03)
    own = slice(cut, cut + 31)
    places, times = made.places[own], made.times[own]
    contacts = find_contacts(places, times, loop=True)
    found = held(places, contacts, times, loop=True)
    assert np.allclose(found[-1] - found[0], places[-1] - places[0], rtol=0.0, atol=1e-12)
    twice = np.concatenate((found[:-1], found + places[-1] - places[0]))
    both = np.concatenate((contacts[:-1], contacts))
    assert slide(twice, both) < 1e-12 < 0.01 < slide(places, contacts)


@pytest.mark.parametrize("end", [0, -1])
def test_a_contact_at_one_end_of_a_loop_is_one_at_the_other_end_too(end):
    made = walk(cycles=1, slip=0.03)
    contacts = made.stands.copy()
    contacts[[0, -1]] = False
    contacts[end, 0] = True
    both = contacts.copy()
    both[[0, -1], 0] = True
    one, other = (held(made.places, mask, made.times, loop=True) for mask in (contacts, both))
    assert np.array_equal(one, other)


def test_walk_in_place_is_held_on_the_ground_that_moves():
    made, contacts = sliding_walk(41)
    velocity = np.array([-1.3, 0.2, 0.0])
    in_place = made.places + made.times[:, None, None] * velocity
    found = held(in_place, contacts, made.times, ground_velocity=velocity)
    on_the_ground = found - made.times[:, None, None] * velocity
    assert slide(on_the_ground, contacts) < 1e-12
    assert np.allclose(on_the_ground, held(made.places, contacts, made.times), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("kind", [{"climb": 0.4}, {"climb": 0.36, "lift": 0.25}, {"stance": (0.75, 0.5)}])
def test_feet_on_slopes_and_stairs_and_with_a_limp_are_held(kind):
    made, contacts = sliding_walk(42, **kind)
    assert (
        slide(held(made.places, contacts, made.times), contacts) < 1e-12 < 0.02 < slide(made.places, contacts)
    )


def test_feet_below_the_ground_are_lifted_to_it_and_still_held():
    made, contacts = sliding_walk(43)
    ground = 0.05 + 0.1 * made.places[:, :, 0]
    found = held(made.places, contacts, made.times, ground=ground)
    assert (found[:, :, 2] - ground).min() > -1e-12
    assert slide(found, contacts) < 1e-12


def test_feet_in_a_lift_are_held_on_its_floor():
    made, contacts = sliding_walk(45)
    rise = 0.5 * made.times
    places = made.places + rise[:, None, None] * [0.0, 0.0, 1.0] - [0.0, 0.0, 0.02]
    found = held(places, contacts, made.times, ground=rise, ground_velocity=(0.0, 0.0, 0.5))
    assert (found[:, :, 2] - rise[:, None]).min() > -1e-12
    assert slide(found - rise[:, None, None] * [0.0, 0.0, 1.0], contacts) < 1e-12
    assert np.abs(found - places).max() < 0.05


def test_a_point_without_contacts_is_only_lifted():
    places = np.array([[0.0, 0, -1], [1, 0, 0.5], [2, 0, -3]])
    assert np.array_equal(held(places, [False] * 3, np.arange(3.0)), places)
    lifted = held(places, [False] * 3, np.arange(3.0), ground=0.0)
    assert np.array_equal(lifted, [[0, 0, 0], [1, 0, 0.5], [2, 0, 0]])


def test_up_may_be_any_direction_and_input_is_kept():
    made, contacts = sliding_walk(44)
    before, mask = made.places.copy(), contacts.copy()
    found = held(np.roll(made.places, 1, axis=2), contacts, made.times, up=(1.0, 0.0, 0.0), ground=0.0)
    straight = held(made.places, contacts, made.times, ground=0.0)
    assert np.allclose(np.roll(straight, 1, axis=2), found, rtol=0.0, atol=1e-12)
    assert np.array_equal(made.places, before) and np.array_equal(contacts, mask)


@pytest.mark.parametrize("contacts", [[True], [1, 0, 1], "x", None, [[True], [True, False]]])
def test_contacts_must_be_a_mask_of_the_frames(contacts):
    with pytest.raises(IK2DError, match="contacts must be True or False"):
        held(np.zeros((3, 3)), contacts, np.arange(3) / FPS)
