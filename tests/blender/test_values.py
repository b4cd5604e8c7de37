# SPDX-License-Identifier: GPL-3.0-or-later
"""What is handed from room to room: values that nobody changes on the way."""

import dataclasses
import importlib
import pkgutil

import pytest

import ik2d_addon.bake
import ik2d_addon.rig
from ik2d_addon.bake import BakeOptions, ChainReport
from ik2d_addon.bake.keys.keying import KeyPlan
from ik2d_addon.bake.reporting.chain_result import (
    Circumstances,
    HandErrors,
    JointsSolved,
    KeysPlayed,
    PlaneAngles,
    Standard,
)
from ik2d_addon.bake.reporting.report import BakeReport
from ik2d_addon.features.adopt.compare import Apart
from ik2d_addon.features.doctor.findings import Finding
from ik2d_addon.features.doctor.fixes import Fix
from ik2d_addon.rig.animation.bone_channels import BoneRotation
from ik2d_addon.rig.animation.kept.keeping import Replaced
from ik2d_addon.rig.animation.key_faults import Fault
from ik2d_addon.rig.chain.chain import Remarks, RigChain, SolverSettings
from ik2d_addon.rig.pose.keyed_pose import NeighborPoses

# Those that hold words and numbers alone.
PLAIN = BakeOptions, Apart, Fault, Finding, Fix


def values():
    """Yield every dataclass of the two rooms."""
    for package in (ik2d_addon.rig, ik2d_addon.bake):
        for found in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"{package.__name__}.{found.name}")
            for thing in vars(module).values():
                own = isinstance(thing, type) and thing.__module__ == module.__name__
                if own and dataclasses.is_dataclass(thing):
                    yield thing


@pytest.mark.parametrize("cls", sorted(values(), key=lambda cls: cls.__name__), ids=lambda cls: cls.__name__)
def test_values_are_frozen_and_those_with_arrays_are_themselves_alone(cls):
    value = object.__new__(cls)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, dataclasses.fields(cls)[0].name, None)
    if cls not in PLAIN:  # arrays have no plain equality
        assert value == value and value != object.__new__(cls) and hash(value)


def test_options_are_equal_where_they_ask_for_the_same():
    assert BakeOptions() == BakeOptions(verify='SAMPLE') != BakeOptions(single_axis=True)


def defaults(cls):
    """Return what a value holds where nothing else is said."""
    return {
        field.name: field.default
        for field in dataclasses.fields(cls)
        if field.default is not dataclasses.MISSING
    }


def test_defaults_say_that_nothing_special_is_known():
    assert defaults(ChainReport).keys() == {"warnings", "circumstances"}
    assert defaults(Standard) == {"bound": 0.0, "verified": 'ALL', "other_controls": False, "forced": ()}
    assert defaults(KeysPlayed) == {"keys": 0, "worse_by": 0.0, "hands": None}
    assert defaults(HandErrors) == {"between": None}
    assert defaults(PlaneAngles) == {"from_rest": None}
    assert defaults(JointsSolved) == {
        "stretch": None,
        "slides": None,
        "locked": None,
        "angle_error": None,
        "angles": None,
        "post": None,
    }
    assert defaults(Circumstances) == {
        "plane": "",
        "influence": None,
        "turning": None,
        "parted": None,
        "lifted": None,
        "ground": "",
        "uneven": False,
        "unmoved": False,
    }
    assert defaults(BakeReport) == {
        "verb": "Baked",
        "full_scene": "",
        "replaced": Replaced(),
        "rig_warnings": (),
        "left_out": (),
        "stepped": "",
        "parts": (),
        "action": "",
        "source_action": "",
        "actions": (),
        "mechanisms": (),
    }
    assert defaults(KeyPlan) == {"bound": 0.0, "candidates": (), "pace": 1.0}
    assert defaults(BoneRotation) == {
        "mode": "",
        "turning": None,
        "frames": None,
        "handles": None,
        "held": None,
        "generated": True,
    }
    assert defaults(RigChain) == {
        "swing": None,
        "pole": None,
        "stretching": None,
        "slides": None,
        "hands": None,
        "foot": None,
    }
    assert defaults(SolverSettings) == {
        "path": "",
        "bend": 1.0,
        "side": 1.0,
        "softness": 0.0,
        "influence": 1.0,
        "iterations": 1,
        "tolerance": None,
        "starts_from_rest": False,
        "root_turns_freely": True,
        "slide_weight": 1.0,
        "aims": False,
        "tip_angle": None,
        "native": None,
        "post": None,
    }
    assert defaults(Remarks) == {"notes": (), "other_controls": False, "forced": (), "copies": ()}
    assert defaults(NeighborPoses) == {"before": None, "after": None, "lost": ()}
