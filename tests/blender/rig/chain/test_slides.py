# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading slides: how far bones slide, which locations carry that, and what cannot."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from rigs import (
    add_armature,
    add_chain,
    add_crane,
    add_target,
    connect,
    disconnect,
    set_slide,
    stored_settings,
)

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.chain import problem_of, read_chain

TELESCOPE = {"boom": (-0.5, 1.0), "inner": (0.0, 0.75)}


def crane(slides=TELESCOPE, **shape):
    """Add a crane with a target; return the armature and its chain."""
    armature, chain = add_crane(slides, **shape)
    chain.target = add_target({1: (0, 3.0, 2.0)})
    return armature, chain


def slides_of(armature, chain):
    return read_chain(armature, chain).slides


def refused(armature, chain, words):
    """Hold the sentence of a chain that is refused, to whoever bakes it and on the panel, to its words."""
    with pytest.raises(IK2DError) as caught:
        read_chain(armature, chain)
    assert str(caught.value) == words == problem_of(armature, chain)


def edit(armature, bone):
    return armature.data.bones[bone]


# --- What slides ----------------------------------------------------------------------------------


def test_without_slides_there_is_nothing_to_read():
    assert slides_of(*crane({})) is None


def test_a_slide_from_nothing_to_nothing_is_none():
    assert slides_of(*crane({"boom": (0.0, 0.0)})) is None


def test_a_range_counts_only_where_slide_is_on():
    armature, chain = crane()
    chain.joints["boom"].use_slide = False
    assert slides_of(armature, chain).ranges.tolist() == [[0, 0], [0, 0.75], [0, 0]]


@pytest.mark.parametrize("solver, taken", [('AUTO', 'EVEN'), ('EVEN', 'EVEN'), ('CCD', 'CCD')])
def test_two_bones_that_slide_are_none_for_the_two_bone_solver(solver, taken):
    armature, chain = crane({"inner": (0.0, 1.0)})
    chain.bone_count, chain.solver = 2, solver
    set_slide(chain, "inner", 0.0, 1.0)
    assert read_chain(armature, chain).settings.solver == taken
    chain.joints["inner"].use_slide = False
    assert read_chain(armature, chain).settings.solver == ('TWO_BONE' if solver == 'AUTO' else taken)


def test_the_two_bone_solver_refuses_bones_that_slide():
    armature, chain = crane()
    chain.bone_count, chain.solver = 2, 'TWO_BONE'
    words = (
        "Chain 'crane' has bones that slide, but the Two-Bone solver takes rigid ones; turn Slide off or set"
        " the solver to Automatic"
    )
    refused(armature, chain, words)


# --- Which location carries it --------------------------------------------------------------------


def test_a_straight_bone_slides_by_one_channel_of_the_next():
    slides = slides_of(*crane())
    assert dict(slides.channels) == {1: (1,), 2: (1,)}
    assert slides.directions[:2].tolist() == [[0, 1, 0], [0, 1, 0]]


def test_where_the_next_bone_is_bent_two_channels_carry_the_slide():
    armature, chain = crane({"boom": (0.0, 1.0)}, drop=0.5)
    (carrier,) = slides_of(armature, chain).channels.items()
    assert carrier == (1, (1, 2))


@pytest.mark.parametrize("weight, channels", [(1.0, (1, 2)), (0.0, (1,))])
def test_the_last_bones_own_slide_turns_with_it_where_it_turns(weight, channels):
    armature, chain = crane({"outer": (0.0, 1.0)})
    chain.joints["outer"].weight = weight
    slides = slides_of(armature, chain)
    assert dict(slides.channels) == {2: channels}
    turns, one = np.array([[0.0, 0.0, 0.5 * weight]]), np.array([[0.0, 0.0, 1.0]])
    axis = read_chain(armature, chain).joints.axes[-1]
    expected = Matrix.Rotation(0.5 * weight, 3, Vector(axis)) @ Vector((0.0, 1.0, 0.0))
    assert slides.offsets(turns, one)[2][0] == pytest.approx(np.array(expected), abs=1e-6)


def test_the_last_bone_carries_two_slides():
    armature, chain = crane({"inner": (0.0, 1.0), "outer": (0.0, 1.0)})
    slides = slides_of(armature, chain)
    turns, lengths = np.array([[0.0, 0.2, 0.7]]), np.array([[0.0, 0.4, 0.3]])
    offsets = slides.offsets(turns, lengths)
    assert list(offsets) == [2]
    found = slides.slides_of(turns[0], {2: offsets[2][0]})
    assert found == pytest.approx(lengths[0])


@pytest.mark.parametrize("drop, roll", [(0.0, 0.0), (0.3, 0.0), (0.3, 0.7)])
def test_offsets_move_the_next_head_along_the_bone(drop, roll):
    armature, chain = crane(drop=drop, roll=roll)
    rig = read_chain(armature, chain)
    offsets = rig.slides.offsets(np.zeros((1, 3)), np.array([[0.25, 0.5, 0.0]]))
    before = [bone.matrix.translation.copy() for bone in rig.pose_bones]
    for i, offset in offsets.items():
        rig.pose_bones[i].location = offset[0]
    bpy.context.view_layer.update()
    moved = [bone.matrix.translation - old for bone, old in zip(rig.pose_bones, before, strict=True)]
    boom, inner = (bone.bone.matrix_local.to_3x3().col[1] for bone in rig.pose_bones[:2])
    assert (moved[1] - 0.25 * boom).length < 1e-6
    assert (moved[2] - 0.25 * boom - 0.5 * inner).length < 1e-6


def test_a_chain_of_one_bone_slides_by_its_own_location():
    armature = add_armature({"pole": ((0, 0, 0), (0, 1.0, 0.0), "", 0.0)})
    chain = add_chain(armature, "pole", add_target({1: (0, 1.0, 1.0)}), bone_count=1)
    set_slide(chain, "pole", 0.0, 1.0)
    assert list(slides_of(armature, chain).channels) == [0]


def test_the_span_of_a_location_holds_every_slide():
    armature, chain = crane({"boom": (-0.5, 1.0), "inner": (0.0, 0.75), "outer": (0.0, 0.5)}, drop=0.2)
    slides = slides_of(armature, chain)
    random = np.random.default_rng(2)
    lengths = slides.ranges[:, 0] + random.random((50, 3)) * np.ptp(slides.ranges, axis=1)
    for bone, offsets in slides.offsets(random.uniform(-3.0, 3.0, (50, 3)), lengths).items():
        low, high = slides.span(bone)
        assert (offsets >= low - 1e-9).all() and (offsets <= high + 1e-9).all()


# --- What cannot slide ----------------------------------------------------------------------------


def test_a_connected_bone_carries_no_slide():
    armature, chain = crane()
    connect(armature, "inner")
    words = (
        "Chain 'crane': bone 'boom' cannot slide: bone 'inner', which it carries, is connected to its parent"
        " and has no location; disconnect it in Edit Mode (Alt P)"
    )
    refused(armature, chain, words)
    disconnect(armature)
    assert problem_of(armature, chain) == ""


def test_a_location_that_is_not_local_carries_no_slide():
    armature, chain = crane()
    edit(armature, "outer").use_local_location = False
    words = (
        "Chain 'crane': bone 'inner' cannot slide: the location of 'outer' is not local; turn on Local"
        " Location in its Relations"
    )
    refused(armature, chain, words)


def test_a_last_bone_that_does_not_turn_with_its_parent_does_not_slide():
    armature, chain = crane({"outer": (0.0, 1.0)})
    edit(armature, "outer").use_inherit_rotation = False
    words = (
        "Chain 'crane': bone 'outer' cannot slide: it does not turn with its parent; turn on Inherit"
        " Rotation in its Relations"
    )
    refused(armature, chain, words)


def test_only_locks_on_the_channels_that_the_slide_needs_stand_against_it():
    armature, chain = crane()
    inner = armature.pose.bones["inner"]
    inner.lock_location = (True, False, True)
    assert problem_of(armature, chain) == ""
    inner.lock_location = (False, True, False)
    words = "Chain 'crane': bone 'boom' cannot slide: Y Location of 'inner' is locked; unlock it"
    refused(armature, chain, words)


def test_only_drivers_on_the_channels_that_the_slide_needs_stand_against_it():
    armature, chain = crane()
    inner = armature.pose.bones["inner"]
    inner.driver_add("location", 0)
    assert problem_of(armature, chain) == ""
    driver = inner.driver_add("location", 1)
    words = (
        "Chain 'crane': bone 'boom' cannot slide: Y Location of 'inner' is driven; remove the driver, or"
        " turn Slide off"
    )
    refused(armature, chain, words)
    driver.mute = True
    assert problem_of(armature, chain) == ""


@pytest.mark.parametrize("name, value", [("stretch", 1.5), ("compress", 0.5)])
def test_a_chain_that_stretches_does_not_slide(name, value):
    armature, chain = crane()
    for bone in ("inner", "outer"):
        edit(armature, bone).inherit_scale = 'ALIGNED'
    setattr(chain, name, value)
    words = (
        "Chain 'crane' has bones that slide, and bones that slide do not stretch; set Stretch and Shortest"
        " Length to 1, or turn Slide off"
    )
    refused(armature, chain, words)
    for joint in chain.joints:
        joint.use_slide = False
    assert problem_of(armature, chain) == ""


def test_a_bone_cannot_slide_to_less_than_nothing():
    armature, chain = crane({"inner": (-1.6, 0.0)})
    words = (
        "Chain 'crane': the slide of bone 'inner' would give it a negative length: it is 1.5 units long;"
        " set Min to -1.5 or more"
    )
    refused(armature, chain, words)
    chain.joints["inner"].slide_min = -1.5
    assert problem_of(armature, chain) == ""


def test_a_slide_runs_from_min_to_max():
    armature, chain = crane()
    stored_settings(armature)["chains"][0]["joints"][0]["slide_min"] = 2.0
    words = "Chain 'crane': the slide of bone 'boom' runs backwards; set Min below Max"
    refused(armature, chain, words)


def test_a_slide_is_a_number():
    armature, chain = crane()
    stored_settings(armature)["chains"][0]["joints"][0]["slide_max"] = math.nan
    with pytest.raises(IK2DError, match="bone 'boom': its setting Max holds nan"):
        read_chain(armature, chain)


def test_a_bone_that_carries_a_slide_has_a_joint():
    armature, chain = crane()
    chain.joints.remove(1)
    words = "Chain 'crane' has no joint for bone 'inner', which carries a slide; press Update Joints"
    refused(armature, chain, words)


def test_min_and_max_move_each_other():
    joint = crane()[1].joints["boom"]
    joint.slide_min = 2.0
    assert joint.slide_max == 2.0
    joint.slide_max = -0.25
    assert joint.slide_min == -0.25
