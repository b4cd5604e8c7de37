# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs that no pose has both: never of one that there is, and of nearly all that are not found."""

import numpy as np
from posed_chains import known_poses, limited_chain

from ik2d_addon.core.tip_angle.arm import Arm
from ik2d_addon.core.tip_angle.sheet import PoseSheet
from ik2d_addon.core.tip_angle.springs import Goal


def sheets():
    for n in (4, 6, 8):
        rng = np.random.default_rng(n)
        arm = Arm.of(limited_chain(rng, n, free_root=False), np.zeros(n))
        yield PoseSheet(arm), *known_poses(rng, arm.chain, 40)[1:], rng


def test_no_pose_that_exists_is_proven_not_to() -> None:
    for sheet, tips, headings, _ in sheets():
        assert not sheet.proofs.forbidden(tips, headings).any()
        assert not any(sheet.proofs.forbidden_by_arc(*goal) for goal in zip(tips, headings, strict=True))


def test_nearly_all_that_is_not_found_is_proven() -> None:
    found = proven = left = 0
    for sheet, tips, _, rng in sheets():
        headings = rng.uniform(-np.pi, np.pi, len(tips))
        forbidden = sheet.proofs.forbidden(tips, headings)
        for tip, heading, is_forbidden in zip(tips, headings.tolist(), forbidden, strict=True):
            if is_forbidden or sheet.proofs.forbidden_by_arc(tip, heading):
                proven += 1
            elif sheet.least(Goal(*tip.tolist(), heading)) is not None:
                found += 1
            else:
                left += 1
    assert found >= 20 and proven >= 40 and left <= 2
