# SPDX-License-Identifier: GPL-3.0-or-later
"""From the names of generated bones to the one that carries their limb."""

import pytest
from rigs import add_armature

from ik2d_addon.features.adopt.limbs import original_of, originals, stem_of

BONES = {
    "ORG-thigh.L": ((0, 0, 2), (0, -0.1, 1), "", 0),
    "ORG-foot.L": ((0, 0, 0.1), (0, -0.2, 0), "ORG-thigh.L", 0),
    "ORG-toe.L": ((0, -0.2, 0), (0, -0.3, 0), "ORG-foot.L", 0),
    "ORG-hand.L": ((1, 0, 2), (1.2, 0, 2), "", 0),
    "ORG-f_index.01.L": ((1.25, 0.1, 2), (1.3, 0.1, 2), "ORG-hand.L", 0),
    "root": ((0, 0, 0), (0, 1, 0), "", 0),
}


@pytest.mark.parametrize(
    "name, expected",
    [
        ("ORG-thigh.L", ["ORG-thigh.L"]),
        ("DEF-thigh.L.001", ["ORG-thigh.L"]),
        ("thigh_ik_target.L", ["ORG-thigh.L"]),
        ("MCH-thigh_ik2_target.L", ["ORG-thigh.L"]),
        ("MCH-thigh_ik_target.parent.L", ["ORG-thigh.L"]),
        ("VIS_thigh_ik_pole.L", ["ORG-thigh.L"]),
        ("foot_heel_ik.L", ["ORG-foot.L"]),
        ("toe_fk.L", ["ORG-toe.L", "ORG-foot.L"]),
        ("f_index.01_master.L", ["ORG-f_index.01.L"]),
        ("thigh_ik.R", []),
        ("root", []),
    ],
)
def test_the_names_lead_to_the_bone_and_those_joined_above(name, expected):
    assert original_of(add_armature(BONES), name) == expected


def test_originals_and_stems():
    assert len(originals(add_armature(BONES))) == 5
    assert stem_of("MCH-shin_ik.L") == "shin_ik.L" and stem_of("hand") == "hand"
