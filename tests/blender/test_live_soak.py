# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains through random actions: none fails, none says what is not so. `make soak` does thousands."""

import bpy
import pytest
from soak import soak


@pytest.mark.slow
def test_nothing_that_one_does_makes_live_chains_say_what_is_not_so(tmp_path):
    animator = soak(500, 3, str(tmp_path / "soak.blend"))
    assert animator.checked > 300
    animator.leave_modes()
    for armature in animator.armatures:
        bpy.data.objects.remove(armature)
    bpy.context.scene.frame_set(7)
    chains = animator.armature.ik2d.chains  # of a new rig
    bpy.context.view_layer.update()
    assert all("arget" in chain.live_status for chain in chains), [chain.live_status for chain in chains]
