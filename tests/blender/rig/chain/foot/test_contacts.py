# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that are keyed, as masks."""

import bpy
import pytest
from foot_rigs import plain_leg

from ik2d_addon.rig.chain.foot.contacts import keyed, names_of

FRAMES = range(1, 11)


@pytest.mark.parametrize("is_foot", [True, False])
def test_a_mask_has_a_column_for_each_contact(is_foot):
    chain = plain_leg().chain
    chain.foot.is_added = is_foot
    names = names_of(chain)
    assert names == (("contact_heel", "contact_toe") if is_foot else ("contact",))
    assert keyed(chain, bpy.context.scene, FRAMES) is None
    for frame, on in ((3, True), (7, False)):
        setattr(chain.foot, names[-1], on)
        chain.foot.keyframe_insert(names[-1], frame=frame)
    mask, count = keyed(chain, bpy.context.scene, FRAMES)
    assert count.all()  # somebody has keyed them
    assert mask.shape == (10, len(names)) and not mask[:, :-1].any()
    assert [frame for frame, on in zip(FRAMES, mask[:, -1], strict=True) if on] == [1, 2, 3, 4, 5, 6]
