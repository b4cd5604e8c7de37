# SPDX-License-Identifier: GPL-3.0-or-later
"""The headings that a chain's last bone is to have, in the chain's plane, at each frame."""

from collections.abc import Iterable

import numpy as np

from ...core.affine import inverse, orientations
from ...core.inputs import Floats
from ..chain.chain import RigChain
from ..scene.samples import ChainSamples
from .joint_angles import rest_directions


def wanted_headings(rig: RigChain, samples: ChainSamples, to_pose: Floats) -> Floats | None:
    """Return the headings (frames,), radians from the plane's x axis; None where the last bone is free.

    That is its direction in rest, turned as the target has turned in the plane (see `orientations`: from its
    rest pose a bone, from the armature's axes an object), and by the offset. What is above the chain does
    not turn it; the armature object does. to_pose: (frames, 4, 4) from rest space to pose space.
    """
    if rig.settings.tip_angle is None:
        return None
    axes = orientations(samples.world[:, :3, :3])
    turned = np.broadcast_to(np.eye(3), axes.shape)
    if rig.settings.tip_angle.follow and samples.aims is not None:
        turned = np.swapaxes(axes, 1, 2) @ orientations(samples.aims) @ rig.settings.tip_angle.rest.T
        mirrors = (np.linalg.det(turned) < 0.0)[:, None, None]  # the armature's axes, and not the target's
        turned = np.where(mirrors, turned * _flipped(rig.armature.scale), turned)
    into = inverse(to_pose)[:, :3, :3] @ turned
    x, y = rig.plane.x, rig.plane.y
    across, along = into @ x, into @ y
    turns = np.arctan2(across @ y - along @ x, across @ x + along @ y)
    wanted: Floats = float(rest_directions(rig)[-1]) + turns + rig.settings.tip_angle.offset
    return wanted


def _flipped(scale: Iterable[float]) -> Floats:
    """Return the signs (3,) that an object's scale mirrors its axes by; where it does not, Z alone."""
    signs = np.where(np.array([*scale]) < 0.0, -1.0, 1.0)
    return signs if signs.prod() < 0.0 else np.array((1.0, 1.0, -1.0))
