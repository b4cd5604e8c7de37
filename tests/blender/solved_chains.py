# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains as they were solved and keyed, made without a bake, and the reports on them."""

import dataclasses
from types import SimpleNamespace

import bpy
import numpy as np
from chain_reports import with_changes
from mathutils import Matrix

from ik2d_addon.bake.keys.keying import KeyedChain, KeyPlan
from ik2d_addon.bake.playback import NOT_PLAYED, Played
from ik2d_addon.bake.reporting.verdict import report_of
from ik2d_addon.bake.solving.frames import Noticed, SolvedChain, TipMiss
from ik2d_addon.core import Plane, Solution, Status
from ik2d_addon.rig.chain.chain import Remarks, SolverSettings

REACH = 2.0
FRAMES = [10, 12, 13, 17]
# Of two bones, along the plane's x, and a quarter turn from it.
RESTS = [Matrix(), Matrix.Rotation(np.pi / 2.0, 4, 'X')]


def rig(**changes):
    fields = {
        "name": "leg",
        "armature": SimpleNamespace(name="Rig"),
        "bones": ("thigh", "shin"),
        "target": SimpleNamespace(name="Target"),
        "foot": None,
        "subtarget": "",
        "warnings": (),
        "hands": None,
        "swing": None,
        "post": None,
        "post_above": None,
        "turned_bones": ("thigh", "shin"),
        "joints": SimpleNamespace(askew=False, slants=np.zeros(2), fixed=np.zeros(2, bool)),
        "plane": Plane((0, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)),
        "pose_bones": [SimpleNamespace(bone=SimpleNamespace(matrix_local=rest)) for rest in RESTS],
    }
    records = {
        "settings": SolverSettings('CCD'),
        "remarks": Remarks("the plane of its bend", 0.0),
    }
    for name, record in records.items():
        own = {key: changes.pop(key) for key in [*changes] if hasattr(record, key) and key != "plane"}
        records[name] = dataclasses.replace(record, **own)
    return SimpleNamespace(**{**fields, **records, **changes})


def keyed(frames=4, chain=None, rotations=(), **changes):
    """Return a chain that reached its target on all frames."""
    solution = Solution(
        angles=np.zeros((frames, 2)),
        status=np.full(frames, Status.REACHED, np.int8),
        residual=np.zeros(frames),
        iterations=np.arange(frames, dtype=np.int32),
        limited=np.zeros((frames, 2), bool),
        slides=np.zeros((frames, 2)),
    )
    numbers = {
        "rig": chain or rig(),
        "turns": np.zeros((frames, 2)),
        "angles": np.zeros((frames, 2)),
        "solution": solution,
        "softness": np.zeros(frames),
        "influence": np.ones(frames),
        "reach": REACH,
        "tolerance": 1e-4,
    }
    records = {
        "miss": TipMiss(np.zeros(frames), np.zeros(frames), np.zeros(frames)),
        "noticed": Noticed(np.tile([0.5, 0.0], (frames, 1)), 0.0, ""),
    }
    return KeyedChain(with_changes(SolvedChain(**numbers, **records), **changes), list(rotations))


def told(*chains, plan=None, played=None, verified='SAMPLE', **settings):
    """Return the report, its only chain where it has one alone, and that one's warnings."""
    scene = bpy.context.scene
    scene.unit_settings.system = 'METRIC'
    report = report_of(
        SimpleNamespace(name="Rig"),
        scene,
        chains,
        plan or KeyPlan.every(FRAMES),
        [NOT_PLAYED] * len(chains) if played is None else played,
        verb="Baked",
        verified=verified,
        **settings,
    )
    return report, report.chains[0], list(report.chains[0].warnings)


def played(times=(), in_plane=(), off_plane=None):
    """Return where a tip was at some times, in the plane and off it."""
    in_plane = np.array(in_plane, float)
    off_plane = np.zeros(len(in_plane)) if off_plane is None else np.array(off_plane, float)
    return [Played(np.array(times, float), np.hypot(in_plane, off_plane), in_plane, off_plane)]
