# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains through hundreds of random actions: no failure, and what says that it is on its target is."""

import random

import bpy
import pytest
from rigs import add_armature, add_chain, add_target, evaluated_place, evaluated_tip

from ik2d_addon.bake import bake
from ik2d_addon.live.rigs import RIGS

ACTIONS = 250


def build():
    """Add a rig of five bones with two chains, one on the other, and their targets."""
    joints = [
        (0.0, 0.0, 0.0),
        (0.2, 0.0, 1.0),
        (0.6, 0.0, 1.9),
        (1.2, 0.0, 2.6),
        (2.0, 0.0, 3.0),
        (2.8, 0, 3),
    ]
    armature = add_armature(
        {f"b{i}": (joints[i], joints[i + 1], f"b{i - 1}" if i else "", 0.2 * i) for i in range(5)}
    )
    first = add_target({1: (0.9, 0.0, 2.0), 20: (1.2, 0.0, 1.2)}, "First")
    second = add_target({1: (2.2, 0.0, 3.0), 20: (2.0, 0.0, 1.0)}, "Second")
    add_chain(armature, "b4", second, 2, live=True)
    add_chain(armature, "b2", first, 3, live=True)


class Animator:
    """Somebody who does one thing or another."""

    def __init__(self, seed: int, path: str) -> None:
        self.random, self.path = random.Random(seed), path
        self.done: list[str] = []

    def act(self) -> None:
        """Do something."""
        names = [name for name in dir(self) if name.startswith("do_")]
        name = self.random.choice(names + ["do_move", "do_scrub"] * 4)
        self.done.append(name)
        getattr(self, name)()

    @property
    def armature(self):
        return next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE')

    @property
    def chain(self):
        return self.random.choice(self.armature.ik2d.chains)

    def enter(self, mode: str) -> None:
        bpy.context.view_layer.objects.active = self.armature
        bpy.ops.object.mode_set(mode=mode)

    def do_move(self) -> None:
        for ob in bpy.data.objects:
            if ob.type == 'EMPTY' and self.random.random() < 0.6:
                ob.location.x += self.random.uniform(-0.4, 0.4)
                ob.location.z += self.random.uniform(-0.4, 0.4)
        bpy.context.view_layer.update()

    def do_scrub(self) -> None:
        bpy.context.scene.frame_set(self.random.randint(1, 20), subframe=self.random.choice((0.0, 0.5)))

    def do_undo(self) -> None:
        bpy.ops.ed.undo_push(message="Before")
        self.do_move()
        bpy.ops.ed.undo_push(message="After")
        bpy.ops.ed.undo()

    def do_redo(self) -> None:
        self.do_undo()
        bpy.ops.ed.redo()

    def do_rename(self) -> None:
        bone = self.random.choice(self.armature.data.bones)
        bone.name = f"n{self.random.randint(0, 99)}"
        self.armature.name = f"Rig {self.random.randint(0, 9)}"
        self.chain.name = f"Chain {self.random.randint(0, 9)}"

    def do_delete_target(self) -> None:
        target = self.chain.target
        if target is not None:
            bpy.data.objects.remove(target)
        bpy.context.view_layer.update()

    def do_new_target(self) -> None:
        for chain in self.armature.ik2d.chains:
            if chain.target is None:
                place = self.random.uniform(0.5, 2.0), 0.0, self.random.uniform(0.5, 2.5)
                chain.target = add_target({1: place}, "Again")

    def do_toggle(self) -> None:
        chain = self.chain
        chain.live = not chain.live
        chain.enabled = self.random.random() < 0.8

    def do_set(self) -> None:
        chain = self.chain
        chain.bend = self.random.choice(('POSITIVE', 'NEGATIVE'))
        chain.solver = self.random.choice(('AUTO', 'EVEN', 'CCD', 'TWO_BONE'))
        chain.start_from = self.random.choice(('REST', 'PREVIOUS'))
        for joint in chain.joints:
            joint.use_limit = self.random.random() < 0.2
            joint.limit_min, joint.limit_max = -1.0, 1.2

    def do_unset(self) -> None:
        for chain in self.armature.ik2d.chains:
            chain.solver, chain.live, chain.enabled = 'AUTO', True, True
            for joint in chain.joints:
                joint.use_limit = False

    def do_edit(self) -> None:
        self.enter('EDIT')
        bpy.context.scene.frame_set(self.random.randint(1, 20))
        self.armature.data.edit_bones[-1].tail.x += self.random.uniform(-0.1, 0.1)
        self.enter(self.random.choice(('OBJECT', 'POSE')))

    def do_pose(self) -> None:
        bone = self.random.choice(self.armature.pose.bones)
        bone.rotation_mode = self.random.choice(('QUATERNION', 'XYZ', 'AXIS_ANGLE'))
        bone.rotation_euler = (0.3, 0.1, 0.2)
        bpy.context.view_layer.update()

    def do_load(self) -> None:
        bpy.ops.wm.save_as_mainfile(filepath=self.path)
        bpy.ops.wm.open_mainfile(filepath=self.path)

    def do_bake(self) -> None:
        if self.random.random() < 0.3 and all(chain.target for chain in self.armature.ik2d.chains):
            self.do_unset()
            bake(self.armature, frame_start=1, frame_end=4)
            assert not any(chain.live for chain in self.armature.ik2d.chains)

    def check(self) -> None:
        """What is said is so."""
        bpy.context.view_layer.update()
        assert not RIGS.failures, (RIGS.failures, self.done)
        for chain in self.armature.ik2d.chains:
            if chain.live and chain.live_status == "On its target":
                tip, place = evaluated_tip(self.armature, chain.tip), evaluated_place(chain.target)
                assert (tip - place).length < 1e-4, (chain.name, (tip - place).length, self.done)


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_that_one_does_makes_live_chains_fail(tmp_path, seed):
    build()
    bpy.context.view_layer.update()
    animator = Animator(seed, str(tmp_path / "soak.blend"))
    for _ in range(ACTIONS):
        animator.act()
        animator.check()
    animator.do_new_target()
    animator.do_unset()
    bpy.context.scene.frame_set(7)
    statuses = [chain.live_status for chain in animator.armature.ik2d.chains]
    assert all("arget" in status for status in statuses), statuses
