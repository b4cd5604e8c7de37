# SPDX-License-Identifier: GPL-3.0-or-later
"""README's three steps by mouse and keys: a puppet's leg and arm, posed, baked, corrected, baked again."""

import os
import sys
from functools import partial

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import take_theme
from puppet_steps import (
    LAST,
    REACH,
    begin,
    click_bone,
    frames_of,
    go_to,
    key,
    pose,
    press,
    presses,
    puppet,
    tip,
    ui,
)

SHOTS = os.environ["IK2D_SHOTS"]
MOST = 25
CLOSE = 1e-4 * REACH
POSES = {
    1: {"shin": (-0.25, 0.1), "forearm": (-0.1, 0.3)},
    20: {"shin": (0.35, 0.05), "forearm": (0.1, -0.5)},
    LAST: {"shin": (-0.2, 0.1), "forearm": (-0.2, 0.4)},
}


def open_tab():
    """N, then the tab IK 2D: two presses."""
    yield from key('N')
    presses.append("tab")
    yield from ui.sidebar("IK 2D")


def has_chains(count):
    """Whether the puppet has so many chains."""
    return len(puppet().ik2d.chains) == count


def add_chains():
    """Step 1: click the last bone of each limb, and Add Chain."""
    for count, bone in enumerate(("shin", "forearm"), start=1):
        yield from click_bone(bone)
        yield from press("ik2d.chain_add")
        yield from ui.wait_until(partial(has_chains, count), f"the chain of {bone}")
        chain = puppet().ik2d.chains[bone]
        assert chain.live and chain.target.select_get() and chain.bone_count == 2, (bone, chain.target)
        yield from ui.shot(f"{SHOTS}/1_added_{bone}.png")


def pose_all():
    """Step 2: J over each tip and I, on three frames; return where the tips were put."""
    places = {}
    for frame, moves in POSES.items():
        if frame != 1:
            yield from go_to(frame)
        for bone, move in moves.items():
            places[frame, bone] = yield from pose(bone, *move)
            chains = puppet().ik2d.chains
            assert chains[puppet().ik2d.active_index].name == bone, "its chain is the active one"
        yield from ui.shot(f"{SHOTS}/2_posed_{frame}.png")
    for bone in ("shin", "forearm"):
        assert frames_of(puppet().ik2d.chains[bone].target) == [*POSES], bone
    return places


def is_baked():
    """Whether a bake is done."""
    return puppet().ik2d.last_bake and not ui.window().modal_operators


def bake():
    """Step 3: the button."""
    yield from press("ik2d.bake")
    yield from ui.wait_until(
        lambda: puppet().ik2d.last_bake and not ui.window().modal_operators, "the bake", 30
    )
    yield 0.5
    assert not puppet().ik2d.last_bake_alert, puppet().ik2d.last_bake


def assert_posed(places):
    """On each frame the tips are where they were put, by the baked keys alone, and they have moved."""
    scene, shown = bpy.context.scene, bpy.context.scene.frame_current
    assert not any(chain.live for chain in puppet().ik2d.chains)
    for (frame, bone), place in places.items():
        scene.frame_set(frame)
        assert (tip(bone) - place).length < CLOSE, (frame, bone, tip(bone), place)
    for bone in ("shin", "forearm"):
        assert (places[1, bone] - places[20, bone]).length > 0.2 * REACH
    scene.frame_set(shown)


def test():
    """All of it, counted from Object Mode with the drawn puppet selected."""
    yield from begin()
    yield from key('TAB', 'ctrl')
    yield from ui.wait_until(lambda: puppet().mode == 'POSE', "Pose Mode")
    yield from open_tab()
    yield from add_chains()
    places = yield from pose_all()
    yield from bake()
    assert_posed(places)
    yield from ui.shot(f"{SHOTS}/3_baked.png")
    places[LAST, "shin"] = yield from pose("shin", 0.1, 0.15)
    yield from bake()
    assert_posed(places)
    print("presses:", len(presses), presses, flush=True)
    assert len(presses) <= MOST, presses
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.shot(f"{SHOTS}/4_baked_again.png")
    take_theme("Blender_Light.xml")
    yield 0.5
    yield from ui.shot(f"{SHOTS}/5_light.png")


ui.run(test)
