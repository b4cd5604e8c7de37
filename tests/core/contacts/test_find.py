# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts found in recorded motion, against a person's marks, and in motion that is made from a rule."""

import numpy as np
import pytest
from contact_measures import agreement
from recorded_motion import CLIPS, clip, marks
from synthetic_walks import FPS, walk

from ik2d_addon.core import IK2DError
from ik2d_addon.core.contacts import find_contacts
from ik2d_addon.core.contacts.runs import runs

# In `kick` the supporting foot skids while the other one kicks: the person sees no contact, and the detector
# sees some.
LEAST = dict.fromkeys(CLIPS, 0.9) | {"kick": 0.8}
WALKS = {
    "walk": {},
    "slope up": {"climb": 0.4},
    "slope down": {"climb": -0.4},
    "stairs": {"climb": 0.36, "lift": 0.25},
    "run": {"stance": (0.3, 0.3), "cycle": 22, "stride": 2.4, "lift": 0.3},
    "limp": {"stance": (0.75, 0.5)},
    "slow": {"cycle": 60, "stride": 0.5},
}


@pytest.mark.parametrize("name", CLIPS)
def test_contacts_of_a_recorded_clip_are_those_that_a_person_marked(name):
    assert agreement(find_contacts(*clip(name)), marks(name)) >= LEAST[name]


def test_contacts_of_all_recorded_clips_together_are_those_that_a_person_marked():
    found = np.concatenate([find_contacts(*clip(name)) for name in CLIPS])
    assert agreement(found, np.concatenate([marks(name) for name in CLIPS])) >= 0.94


@pytest.mark.parametrize("name", WALKS)
def test_contacts_of_a_walk_that_slides_are_its_stances(name):
    rng = np.random.default_rng([29, list(WALKS).index(name)])
    made = walk(rng, slip=0.03, **WALKS[name])
    assert agreement(find_contacts(*made.all), made.stands) >= 0.9


@pytest.mark.parametrize("scale", [1e-3, 1e3])
@pytest.mark.parametrize("axis", range(3))
def test_size_place_and_up_change_nothing(scale, axis):
    made = walk(np.random.default_rng(30), slip=0.03)
    up = np.roll([0.0, 0.0, 1.0], axis + 1)
    turned = scale * (np.roll(made.places, axis + 1, axis=2) + [3.0, -4.0, 5.0])
    found = find_contacts(turned, made.times, up=up, size=scale)
    assert np.array_equal(found, find_contacts(*made.all, size=1.0))


def test_walk_in_place_over_a_ground_that_moves_has_the_contacts_of_the_walk():
    made = walk(np.random.default_rng(31), slip=0.03)
    velocity = np.array([-1.3 * FPS / 30.0, 0.0, 0.0])
    in_place = made.places + made.times[:, None, None] * velocity
    found = find_contacts(in_place, made.times, ground_velocity=velocity)
    assert np.array_equal(found, find_contacts(*made.all))


@pytest.mark.parametrize("cut", [0, 7, 15, 24])
def test_contacts_of_a_loop_go_on_over_its_seam(cut):
    made = walk(cycles=3)
    own = slice(cut, cut + 31)
    found = find_contacts(made.places[own], made.times[own], loop=True)
    assert np.array_equal(found[0], found[-1])
    assert agreement(found, made.stands[own]) >= 0.9
    longer = find_contacts(*made.all)[30:61]
    assert np.array_equal(np.roll(found[:-1], cut, axis=0), longer[:-1])


def test_feet_that_only_tremble_stand_where_the_size_of_the_leg_is_known():
    rng = np.random.default_rng(32)
    places = [[[0.0, 0.1, 0.0], [0.0, -0.1, 0.0]]] + rng.normal(0.0, 5e-4, (60, 2, 3))
    assert find_contacts(places, np.arange(60) / FPS, size=1.0).all()


def test_a_foot_that_stands_while_the_other_one_steps_is_down_throughout():
    made = walk(np.random.default_rng(33), slip=0.01)
    places = made.places.copy()
    places[:, 1] = [0.3, 0.1, 0.0]
    assert find_contacts(places, made.times)[:, 1].all()


def test_feet_without_motion_are_down():
    assert find_contacts(np.ones((5, 3)), np.arange(5.0)).all()


@pytest.mark.parametrize("ground", [None, 0.0])
def test_slow_top_of_a_swing_is_no_contact(ground):
    times = np.arange(61) / FPS
    height = np.interp(times, [0.0, 0.5, 0.8, 1.2, 1.5, 2.0], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    places = np.stack((np.zeros(61), np.zeros(61), height), axis=1)
    found = find_contacts(places, times, ground=ground)
    assert found[:15].all() and found[46:].all() and not found[17:44].any()


def test_known_ground_tells_a_foot_that_hovers_from_one_that_stands():
    """Where it slides off a box, height alone says nothing; the ground below the foot does."""
    times = np.arange(41) / FPS
    along = np.interp(times, [0.0, 0.4, 0.8, 1.4], [0.0, 0.0, 1.0, 1.0])
    places = np.stack((along, np.zeros(41), np.full(41, 0.5)), axis=1)
    hovering = find_contacts(places, times, ground=np.where(along < 0.5, 0.5, 0.0))
    assert hovering[:12].all() and not hovering[13:].any()
    assert find_contacts(places, times)[25:].all()


def stop_and_go(step):
    """Return a drift with a step at frame 10, a swing and a stand: places (60, 3) and times, 100 a second."""
    times = np.arange(60) / 100.0
    places = np.zeros((60, 3))
    places[:, 0] = np.cumsum(np.where((times > 0.2) & (times < 0.4), 0.05, 0.0))
    places[:, 1] = 0.15 * np.minimum(times, 0.2)
    places[10:, 1] += step
    return places, times


def test_short_contacts_are_dropped():
    places, times = stop_and_go(0.0)
    places[30:33] = places[30]  # for 0.02 s
    found = find_contacts(places, times)
    assert found[:20].all() and found[42:].all() and not found[24:38].any()


def test_short_contacts_at_the_ends_are_kept():
    """They may be long ones, cut."""
    places, times = stop_and_go(0.0)
    found = find_contacts(places[18:42], times[18:42])
    assert found[[0, 1, 22, 23]].all() and not found[5:19].any()


@pytest.mark.parametrize("step, closed", [(0.04, True), (0.07, False)])
def test_short_gaps_are_closed_where_the_point_gets_nowhere(step, closed):
    first, *others = runs(find_contacts(*stop_and_go(step)))
    assert first == ((0, 21) if closed else (0, 10)) and len(others) == 1 + (not closed)


def test_slow_tops_of_hops_up_a_long_slope_are_no_contacts():
    """Their heights range over far more than a hop; what counts is that less its trend."""
    frames = np.arange(20 * 30)
    turn, part = np.divmod(frames, 30)
    along = turn + np.interp(part, [12, 17, 25, 30], [0.0, 0.5, 0.5, 1.0])
    hop = np.interp(part, [12, 17, 25, 30], [0.0, 0.5, 0.5, 0.0])
    places = np.stack((along, np.zeros(600), 0.4 * along + hop), axis=1)
    found = find_contacts(places, frames / FPS)
    assert not found[(part > 17) & (part < 25)].any() and found[(part > 0) & (part < 12)].all()


@pytest.mark.parametrize("size", [-1.0, np.nan, "x", [1.0]])
def test_size_must_be_a_length(size):
    with pytest.raises(IK2DError, match="size must be"):
        find_contacts(np.ones((5, 3)), np.arange(5.0), size=size)
