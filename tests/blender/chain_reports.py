# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports on chains, made without a bake."""

import numpy as np

from ik2d_addon.bake import BakeReport, ChainReport
from ik2d_addon.bake.lengths import Units
from ik2d_addon.core import Status

REACHED, TOO_FAR, TOO_CLOSE, LIMITED, STALLED, EASED, ANGLE = Status


def chain(count=4, /, **changes) -> ChainReport:
    """Return the report of a chain of two bones that reached its target on all frames from 11 on."""
    fields = {
        "name": "leg",
        "armature": "Rig",
        "bones": ("thigh", "shin"),
        "solver": 'TWO_BONE',
        "target": "Target/hand",
        "frames": np.arange(11, 11 + count),
        "status": np.zeros(count, np.int8),
        "residual": np.zeros(count),
        "off_plane": np.zeros(count),
        "distance": np.zeros(count),
        "keyed": np.ones(count, bool),
        "iterations": np.arange(count, dtype=np.int32),
        "limited": np.zeros((count, 2), bool),
        "joint_speed": 2.5 * np.arange(count),
        "played_back": np.full(count, np.nan),
        "between_times": np.empty(0),
        "between": np.empty(0),
        "reach": 2.0,
        "tolerance": 1e-3,
        "units": Units('METRIC'),
        "verified": 'SAMPLE',
        "keys": count,
    }
    return ChainReport(**{**fields, **changes})


def missed(*statuses, distance=(), **changes) -> ChainReport:
    """Return a chain with these statuses, frame by frame, and how far off its tip was solved."""
    sizes = np.array(distance or [0.1 * (status != REACHED) for status in statuses])
    fields = {"residual": sizes, "distance": sizes, **changes}
    return chain(len(statuses), status=np.array(statuses, np.int8), **fields)


def strayed(far, time=11.5, /, **changes) -> ChainReport:
    """Return a chain whose tip was this far off between two frames, and nearer between others."""
    times, between = np.array([10.5, time, 99.5]), far * np.array([0.5, 1.0, 0.25])
    return chain(between_times=times, between=between, **changes)


def report(*chains, **changes) -> BakeReport:
    return BakeReport("Rig", chains or (chain(),), **changes)


def full() -> ChainReport:
    """Return a chain with a number in every field of a missed frame."""
    return missed(
        REACHED,
        LIMITED,
        distance=[0.5, 0.25],
        residual=np.array([0.0, 0.25]),
        keyed=np.array([True, False]),
        off_plane=np.array([0.5, 0.0]),
        limited=np.array([[False, False], [True, True]]),
        played_back=np.array([np.nan, 0.75]),
        between_times=np.array([11.5]),
        between=np.array([0.125]),
        warnings=("look",),
        keys=2,
        plays_back_worse_by=0.5,
        plane="the plane of its bend",
    )
