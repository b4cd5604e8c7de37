# SPDX-License-Identifier: GPL-3.0-or-later
"""A live chain by CCD: its frames are solved in idle time, one from the other, as a bake keys them."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import ui
from drag_steps import arm, places, with_chain

SHOTS = os.environ["IK2D_SHOTS"]
FRAMES = range(8, 40, 4)


def next_frame(key='RIGHT_ARROW'):
    """Go to the next frame by its key, or back."""
    before = bpy.context.scene.frame_current
    yield from ui.key(key)
    yield from ui.wait_until(lambda: bpy.context.scene.frame_current != before, "the next frame")


def shown():
    """Return elbow and tip on the frames."""
    found = {}
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found[frame] = places()[:2]
    return found


def far(one, other):
    """Return how far two of those are apart at most."""
    return max((a - b).length for frame in one for a, b in zip(one[frame], other[frame], strict=True))


def test():
    """Step through some frames, wait, look, edit, and bake."""
    yield from with_chain()
    chain = arm().ik2d.chains[0]
    chain.solver, chain.live = 'CCD', True
    bpy.context.scene.frame_set(20)
    yield from ui.move(*ui.center(ui.region()[1]))
    for _ in range(3):
        yield from next_frame()
    on_target = lambda: arm().ik2d.chains[0].live_status == "On its target"  # noqa: E731
    for _ in range(12):  # back to where the target is within reach, once all frames are solved
        yield 0.2
        yield from next_frame('LEFT_ARROW')
        if on_target():
            break
    assert on_target(), arm().ik2d.chains[0].live_status
    yield from ui.shot(f"{SHOTS}/kept_1_solved.png")
    kept = shown()
    # An edit drops them: the pose is by its frame alone until all are solved again.
    joint = arm().ik2d.chains[0].joints["fore"]
    joint.use_limit, joint.limit_min, joint.limit_max = True, -0.2, 0.2
    yield 0.3
    assert far(kept, shown()) > 0.1
    joint.use_limit = False
    yield 0.3
    # A bone that is turned by hand is turned back, also between two moves of the target.
    x, y = ui.center(ui.region()[1])
    bpy.context.scene.frame_set(20)
    arm().data.bones.active = arm().data.bones["upper"]
    for turn in range(3):
        if turn:
            bpy.data.objects["Target"].location.x += 0.05
        yield from ui.move(x, y)
        yield from ui.key('R')
        for step in range(1, 5):
            yield from ui.move(x + 30 * step, y + 40 * step)
            yield 0.1
        yield from ui.button('PRESS')
        yield from ui.button('RELEASE')
        yield 0.3
        tip, _, target = places()
        assert (tip - target).length < 1e-4, (turn, (tip - target).length)
    bpy.context.scene.frame_set(21)
    yield 0.2
    bpy.ops.ik2d.bake()
    yield from ui.wait_until(lambda: not arm().ik2d.chains[0].live, "the bake")
    assert far(kept, shown()) < 1e-4, far(kept, shown())


ui.run(test)
