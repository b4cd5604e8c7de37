# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples of a chain over frames."""

import dataclasses

from sampled_legs import moving_leg, steps

from ik2d_addon.rig.scene.samples import ChainSamples


def test_parts_are_joined_in_order():
    rig = moving_leg()
    (samples,) = steps([rig])[1].chains
    joined = ChainSamples.joined([samples.at([2, 0]), samples.at(slice(1, 2))])
    for name in ("targets", "world", "parent", "bases", "tips", "settings"):
        assert (getattr(joined, name) == getattr(samples, name)[[2, 0, 1]]).all(), name
    rootless = dataclasses.replace(samples, parent=None)
    assert ChainSamples.joined([rootless, rootless.at([0])]).parent is None
    assert rootless.at([0]).parent is None
