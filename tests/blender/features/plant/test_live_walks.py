# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet on live chains takes the FK walk that Live hides, and says so, unless the targets move."""

import bpy
import numpy as np
import pytest
from walkers import FRAMES, HALVES, slides, walker

from ik2d_addon.chains import find_contacts, plant_feet, unplant_feet

ON_FRAMES, HALF_WAY = 1e-5, 2e-4


def live_walker(feet, hold="world"):
    """Return a walker whose chains are live on targets that stand, in the world or on the armature."""
    made = walker(feet)
    for name in made.chains:
        chain = made.armature.ik2d.chains[name]
        chain.target.animation_data_clear()
        if hold == "armature":
            chain.target.parent = made.armature
        chain.live = True
    if hold == "armature":
        for frame, y in ((FRAMES[0], 0.0), (FRAMES[-1], -0.05)):
            made.armature.location.y = y
            made.armature.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(FRAMES[0])
    return made


@pytest.mark.slow
@pytest.mark.parametrize("hold", ["world", "armature"])
@pytest.mark.parametrize("feet", [True, False])
def test_the_walk_that_live_hides_is_planted_and_told(feet, hold):
    made = live_walker(feet, hold)
    report = plant_feet(made.armature)
    (told,) = [warning for warning in report.warnings if "FK walk" in warning]
    assert told == (
        "Live hides the FK walk of 'shin.L' and 'shin.R': "
        "Plant Feet took that walk, as the targets stand still"
    )
    assert all(len(spans) >= 3 for chain in report.chains for spans in chain.contacts.values())
    assert slides(made, report) < 2 * ON_FRAMES and slides(made, report, HALVES) < HALF_WAY
    assert not any(made.armature.ik2d.chains[name].live for name in made.chains)


@pytest.mark.slow
def test_clear_gives_back_the_walk_and_live():
    made = live_walker(True)
    chains = [made.armature.ik2d.chains[name] for name in made.chains]
    for chain in chains:
        chain.live = False
    before = made.pose()
    for chain in chains:
        chain.live = True
    plant_feet(made.armature)
    unplant_feet(made.armature)
    for name in made.chains:
        made.armature.ik2d.chains[name].live = False
    assert np.abs(made.pose() - before).max() < 1e-5


@pytest.mark.slow
def test_targets_that_move_are_taken_as_live_shows_them():
    made = walker(True, slide=1.0)
    for name in made.chains:
        made.armature.ik2d.chains[name].live = True
    shown = made.pose()
    report = plant_feet(made.armature)
    assert not any("FK walk" in warning for warning in report.warnings)
    assert np.abs(made.pose() - shown).max() < 0.05 * made.reach


@pytest.mark.slow
def test_contacts_of_the_hidden_walk_are_those_of_the_same_walk_without_live():
    made = live_walker(True)
    hidden = find_contacts(made.armature)
    for name in made.chains:
        made.armature.ik2d.chains[name].live = False
    assert find_contacts(made.armature) == hidden
