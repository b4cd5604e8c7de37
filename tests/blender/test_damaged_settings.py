# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged settings and results end in a sentence: in a bake, a solve, the sidebar and its buttons."""

import math
import random

import bpy
import pytest
from rigs import add_chain, animation_of, leg_with_target, press, stored_settings

from ik2d_addon.bake import bake, check, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.features.baking import missed_frames, results
from ik2d_addon.features.baking import panels as baking_panels
from ik2d_addon.features.baking.staleness import changed_since
from ik2d_addon.features.setup import lists, panels
from ik2d_addon.ui.context import active_chain

PANELS = [cls for cls in (*panels.classes, *baking_panels.classes) if issubclass(cls, bpy.types.Panel)]
NUMBERS = [-(2**31), 2**31 - 1, -1, 0, 5, 1001]
FLOATS = [math.nan, math.inf, -math.inf, 1e38, -1.0, 1.5, 1e-45]
TEXTS = ["", "x", "a..b", "..", "5..", "1..2..3", "99999999999", "9..1", "é", '{"a":1}', "1e5"]
WRONG = ["text", 3, 2.5, [1, 2, 3], [1.5, 2.5]]


class Layout:
    """Takes whatever is drawn."""

    def __getattr__(self, name):
        return lambda *_, **__: Layout()

    def panel(self, *_, **__):
        """Return the header and the body of a panel that is not folded."""
        return Layout(), Layout()


def rig():
    """Return a baked leg with all that is stored of it, and chains of two kinds."""
    armature, target = leg_with_target(solver='CCD')
    add_chain(armature, "body", target, bone_count=1)
    bpy.context.view_layer.objects.active = armature
    for group in (armature.ik2d, *armature.ik2d.chains, *armature.ik2d.chains[0].joints):
        for found in group.bl_rna.properties:
            if (
                found.type not in ('POINTER', 'COLLECTION')
                and not found.is_readonly
                and found.identifier != "name"
            ):
                value = getattr(group, found.identifier)
                setattr(group, found.identifier, tuple(value) if getattr(found, "is_array", False) else value)
    results.store_bake(armature, bake(armature, frame_start=1, frame_end=3))
    return armature


def damage(armature, rng):
    """Write one random value past Blender's checks; return what was written."""
    stored = stored_settings(armature)
    chain = stored["chains"][rng.randrange(2)]
    group = rng.choice([stored, chain, chain, chain["joints"][0], chain["joints"][0]["place"]])
    name = rng.choice([name for name in group.keys() if name not in ("chains", "joints", "place", "target")])
    old = group[name]
    choices = NUMBERS if isinstance(old, int) else FLOATS if isinstance(old, float) else TEXTS
    if hasattr(old, "typecode"):
        choices = [[value] * len(old) for value in FLOATS]
    value = rng.choice(WRONG if rng.random() < 0.15 else choices)
    try:
        group[name] = value
    except TypeError:  # Blender keeps the kind of some
        return ""
    return f"{name}={value}"


def draw(armature):
    """Draw all panels and lists."""
    context = bpy.context
    for chain in armature.ik2d.chains:
        lists.IK2D_UL_chains.draw_item(None, context, Layout(), None, chain, 0, None, "")
        for joint in chain.joints:
            lists.IK2D_UL_joints.draw_item(None, context, Layout(), None, joint, 0, None, "")
    for panel in PANELS:
        drawn = _without_blender(panel)
        if not hasattr(drawn, "poll") or drawn.poll(context):
            drawn.draw(context)


def _without_blender(panel):
    """Return a panel that is none to Blender, which lets nobody make one."""
    bases = [base for base in reversed(panel.__mro__) if base.__module__.startswith("ik2d_addon.")]
    own = {name: value for base in bases for name, value in vars(base).items() if not name.startswith("__")}
    return type(panel.__name__, (), {**own, "layout": Layout()})()


@pytest.mark.slow
def test_whatever_is_damaged_there_is_a_sentence_and_never_a_traceback(some):
    rng, refusals = random.Random(7), []
    for _ in range(some(40, 2)):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        armature = rig()
        done = [damage(armature, rng) for _ in range(rng.choice([1, 1, 3]))]
        draw(armature)
        for name in ("mark_frames", "flip", "limits_from_bones"):
            press(name)
        before = animation_of(armature)
        names = [chain.name for chain in armature.ik2d.chains]
        for work in (solve, bake):
            try:
                work(armature, names, *([1, 3] if work is bake else []))
            except IK2DError as error:
                assert "'" in str(error), (done, str(error))  # it names the thing
                assert animation_of(armature) == before
                refusals.append(str(error))
        assert isinstance(check(armature), list)
    assert len(refusals) > some(5, 4)


@pytest.mark.parametrize("text", [text for text in TEXTS if text])
def test_damaged_missed_frames_are_no_markers(text):
    armature = rig()
    chain = armature.ik2d.chains[0]
    chain.missed_frames = text
    words = "The missed frames that are noted on chain 'shin' are damaged; bake again"
    with pytest.raises(IK2DError, match=f"^{words}$"):
        missed_frames.mark_frames(chain, bpy.context.scene)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.ik2d.mark_frames(chain="shin")
    assert not len(bpy.context.scene.timeline_markers)


def test_a_mark_that_is_none_only_says_that_something_changed():
    assert changed_since("x", "settings:1") == "something"
    assert changed_since("{:}", "settings:1") == "something"


def test_no_chain_and_no_joint_is_active_below_zero():
    armature = rig()
    stored_settings(armature)["active_index"] = -(2**31)
    assert active_chain(armature) is None
    armature.ik2d.active_index = 0
    stored_settings(armature)["chains"][0]["active_joint"] = -1
    draw(armature)


def test_a_place_beyond_all_bones_is_none():
    armature = rig()
    stored_settings(armature)["chains"][0]["joints"][0]["place"]["index"] = 1001
    armature.data.bones["thigh"].name = "upper"
    assert armature.ik2d.chains[0].joints[0].name in ("thigh", "upper")
    assert check(armature) == []


def test_damaged_options_name_the_rig():
    armature = rig()
    for chain in armature.ik2d.chains:
        chain.solver = 'CCD'  # which Solve follows through the frames of a bake
    stored_settings(armature)["verify"] = 99
    with pytest.raises(IK2DError, match="^The bake options of 'Rig' are not valid: verify must be 'SAMPLE'"):
        solve(armature)
