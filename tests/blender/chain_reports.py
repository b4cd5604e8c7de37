# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports on chains, made without a bake."""

from dataclasses import fields, replace

import numpy as np

from ik2d_addon.bake import BakeReport, ChainReport
from ik2d_addon.bake.lengths import Units
from ik2d_addon.bake.reporting.chain_result import Circumstances, JointsSolved, KeysPlayed, Standard
from ik2d_addon.bake.solving.frames import Noticed, TipMiss
from ik2d_addon.core import Status

# What a report, and a solved chain, hold of their numbers.
RECORDS = (Standard, KeysPlayed, JointsSolved, Circumstances, TipMiss, Noticed)
REACHED, TOO_FAR, TOO_CLOSE, LIMITED, STALLED, EASED, ANGLE = Status


def chain(count=4, /, **changes) -> ChainReport:
    """Return the report of a chain of two bones that reached its target on all frames from 11 on.

    changes: fields of the report, or of one of its records.
    """
    numbers = {
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
    }
    records = {
        "standard": Standard(2.0, 1e-3, Units('METRIC'), verified='SAMPLE'),
        "played": KeysPlayed(np.ones(count, bool), np.full(count, np.nan), np.empty(0), np.empty(0), count),
        "joints": JointsSolved(
            np.arange(count, dtype=np.int32), np.zeros((count, 2), bool), 2.5 * np.arange(count)
        ),
        "circumstances": Circumstances(),
    }
    return with_changes(ChainReport(**numbers, **records), **changes)


def with_changes(value, **changes):
    """Return a report, or another value, with other fields of its own or of one of the records in it."""
    own = {field.name for field in fields(value)}
    for name in own - changes.keys():
        record = getattr(value, name)
        if isinstance(record, RECORDS) and (inner := changes.keys() & {f.name for f in fields(record)} - own):
            changes[name] = replace(record, **{key: changes.pop(key) for key in inner})
    return replace(value, **changes)


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
        on_frames=np.array([np.nan, 0.75]),
        between_times=np.array([11.5]),
        between=np.array([0.125]),
        warnings=("look",),
        keys=2,
        worse_by=0.5,
        plane="the plane of its bend",
    )
