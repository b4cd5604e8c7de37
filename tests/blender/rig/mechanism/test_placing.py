# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane of a mechanism's bones: of their directions, whatever their depths."""

import numpy as np
import pytest
from machine_rigs import TILT
from rigs import add_armature

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.mechanism.placing import RestBone, common_plane


def read(bones):
    """Return the bones of a new armature: {name: (head, tail)}."""
    armature = add_armature({name: (*ends, "", 0.0) for name, ends in bones.items()})
    return [RestBone.of(bone, "") for bone in armature.data.bones]


def test_two_bones_span_it_and_depths_do_not_tilt_it():
    for away in (0.0, 0.5):
        bones = read({"a": ((0, 0, 0), (1, 0, 0)), "b": ((0, away, 1), (1, away, 2))})
        assert common_plane("m", bones).normal == pytest.approx((0, -1, 0), abs=1e-6)


def test_parallel_bones_have_that_of_an_axis_they_share():
    bones = read({"a": ((0, 0, 0), (0, 0, 1)), "b": ((2, 0.1, 0), (2, 0.1, 1))})
    assert common_plane("m", bones).normal == pytest.approx((0, -1, 0), abs=1e-6)


def test_parallel_bones_that_share_no_axis_have_that_of_their_places():
    armature = add_armature({"a": ((0, 0, 0), (0, 0, 1), "", 0.3), "b": ((2, 0, 0), (2, 0, 1), "", 0.9)})
    bones = [RestBone.of(bone, "") for bone in armature.data.bones]
    assert np.abs(common_plane("m", bones).normal) == pytest.approx((0, 1, 0), abs=1e-6)


def test_a_tenth_of_a_degree_is_the_bound_and_the_bone_off_it_is_named():
    ends = {"a": ((0, 0, 0), (1, 0, 0)), "b": ((0, 0, 0), (0, 0, 1)), "c": ((0, 0, 0), (1, 0, 1))}
    common_plane("m", read({**ends, "d": ((0, 0, 0), (1, 0.001, -1))}))
    with pytest.raises(IK2DError, match="Mechanism 'm': 'd' is 2.02"):
        common_plane("m", read({**ends, "d": ((0, 0, 0), (1, 0.05, -1))}))


def test_an_end_is_its_head_or_its_tail():
    (bone,) = read({"a": (tuple(TILT.translation), (1, 0, 0))})
    assert bone.end('HEAD') == pytest.approx((0, 0, 0)) and bone.end('TAIL') == pytest.approx((1, 0, 0))
