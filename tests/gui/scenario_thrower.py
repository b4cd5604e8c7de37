# SPDX-License-Identifier: GPL-3.0-or-later
"""Open the sample of limbs with poles, play it and drag an elbow's pole: the tips stay on their targets."""

import os
import sys
from pathlib import Path

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import at, ui

SHOTS = os.environ["IK2D_SHOTS"]
SCENE = Path(__file__).resolve().parents[2] / "sample_scenes" / "09_thrower.blend"
PICTURED = (12, 26, 36, 42, 46, 50, 60)


def chain_of(name):
    """Return a chain of the robot."""
    return bpy.data.objects["Robot"].ik2d.chains[name]


def shown(name):
    """Return root, middle joint and tip of a chain, and its target and pole, as Blender has them now."""
    graph, chain = bpy.context.view_layer.depsgraph, chain_of(name)
    rig = chain.id_data.evaluated_get(graph)
    last = rig.pose.bones[chain.tip]
    places = [rig.matrix_world @ place for place in (last.parent.head, last.head, last.tail)]
    ends = (ob.evaluated_get(graph).matrix_world.translation for ob in (chain.target, chain.pole))
    return *places, *ends


def off(name):
    """Return how far a chain's tip is from its target, in parts of its length."""
    root, middle, tip, target, _ = shown(name)
    return (tip - target).length / ((middle - root).length + (tip - middle).length)


def aside(name):
    """Return the cosine of the angle between middle joint and pole, seen along the line to the target."""
    root, middle, tip, _, pole = shown(name)
    line = (tip - root).normalized()
    sides = [place - root - (place - root).dot(line) * line for place in (middle, pole)]
    return sides[0].normalized().dot(sides[1].normalized())


def test():
    """As one who has just found the sample."""
    bpy.ops.wm.open_mainfile(filepath=str(SCENE))
    yield 2.0
    yield from ui.shot(f"{SHOTS}/thrower_1_opened.png")
    names = [chain.name for chain in bpy.data.objects["Robot"].ik2d.chains]
    assert names == ["Arm.R", "Arm.L", "Leg.R", "Leg.L"], names
    worst = dict.fromkeys(names, (0.0, 1.0))
    frames = set()

    def look():
        frames.add(bpy.context.scene.frame_current)
        for name, (far, near) in worst.items():
            worst[name] = max(far, off(name)), min(near, aside(name))

    def is_there(frame):
        return bpy.context.scene.frame_current >= frame

    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('SPACE')
    for frame in PICTURED:
        while not is_there(frame):
            yield 0.02
            look()
        yield from ui.shot(f"{SHOTS}/thrower_2_frame_{frame:02d}.png")
    yield from ui.key('SPACE')
    yield from ui.wait_until(lambda: not bpy.context.screen.is_animation_playing, "the end of playing")
    assert len(frames) > 10, frames
    assert all(far < 1e-5 and near > 0.9999 for far, near in worst.values()), worst

    bpy.context.scene.frame_set(12)
    yield 0.5
    pole = bpy.data.objects["Elbow Pole R"]
    before = shown("Arm.R")
    x, y = at(before[-1])
    yield from ui.click(x, y)
    yield from ui.wait_until(lambda: bpy.context.object == pole, "the pole to be selected")
    yield from ui.move(x, y)
    yield from ui.key('G')
    for i in range(1, 9):
        yield from ui.move(x - 6 * i, y + 22 * i)
        yield 0.1
        assert off("Arm.R") < 1e-5 and aside("Arm.R") > 0.9999, (i, off("Arm.R"), aside("Arm.R"))
    yield from ui.shot(f"{SHOTS}/thrower_3_pole.png")
    yield from ui.button('PRESS')
    yield from ui.button('RELEASE')
    yield 0.3
    after = shown("Arm.R")
    assert (after[1] - before[1]).length > 0.05  # the elbow
    assert (after[3] - before[3]).length < 1e-6 and off("Arm.R") < 1e-5


ui.run(test)
