# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of rigs with many chains, and moves of a drag: live and native chains next to IK constraints."""

import bpy
import numpy as np
from mathutils import Vector

from ik2d_addon.chains import add_foot
from ik2d_addon.features.drag.drag import take_hold
from ik2d_addon.features.native import make_native
from ik2d_addon.live.registry import RIGS
from ik2d_addon.rig.chain.checks.bones import chain_bones, rest_joints
from ik2d_addon.rig.chain.planes import bend_plane
from ik2d_addon.ui.settings.joint_list import sync_joints

from . import scenes
from .live import IK, LIVE, Contestant, contestants, live_handlers, updates_followed
from .native import constrain, walk
from .native_rigs import Drive, Rig, alike, build
from .problems import LIMIT
from .timing import Task

FRAMES = 60
# How often a target is moved.
_MOVES = 10
# How far a drag goes from where it took hold, as a part of the reach.
_DRAGGED = 0.1


def live(
    count: int, bones: int, limited: bool = False, poles: bool = False, first: bool = False
) -> tuple[Task, Task]:
    """Return frames of so many live chains, and of as many IK constraints. poles: each has a moving one.

    first: whether no frame is kept when they begin.
    """

    def drive(armature: bpy.types.Object) -> None:
        _set(armature, limited)
        for chain in armature.ik2d.chains:
            chain.live = True

    mine, theirs = _rigs(count, bones, limited, drive)
    if poles:
        for rig in (mine, theirs):
            _add_poles(rig)

    def frames() -> None:
        if first:
            RIGS.kept, RIGS.frames = None, 0
        with live_handlers():
            _play(mine)

    return frames, lambda: _play(theirs)


def live_straight(first: bool = False) -> tuple[Task, Task]:
    """Return frames of a live straight chain of ten bones on a moving armature, and of an IK constraint."""
    rivals = contestants(10, FRAMES, moving=True)

    def played(rival: Contestant) -> Task:
        def frames() -> None:
            if first and rival is rivals[LIVE]:
                RIGS.kept, RIGS.frames = None, 0
            with rival.handlers():
                for frame in range(FRAMES):
                    rival.scene.frame_set(frame)

        return frames

    return played(rivals[LIVE]), played(rivals[IK])


def live_moved(count: int) -> tuple[Task, Task]:
    """Return moves of one target among so many live chains, and among as many IK constraints."""

    def drive(armature: bpy.types.Object) -> None:
        for chain in armature.ik2d.chains:
            chain.live = True

    mine, theirs = _rigs(count, 2, False, drive)

    def moved(rig: Rig) -> Task:
        def moves() -> None:
            bpy.context.window.scene = rig.scene
            for number in range(_MOVES):
                rig.targets[0].location.x += 1e-3 * (-1) ** number
                rig.update()

        return moves

    ours = moved(mine)

    def live_moves() -> None:
        with updates_followed():
            ours()

    return live_moves, moved(theirs)


def live_feet(count: int, ground: bool = False) -> tuple[Task, Task]:
    """Return frames of so many live chains of two bones with rolling feet, and of the same without.

    ground: whether an object's height keeps the feet above it.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    shapes = alike(count, 2)
    theirs, mine = build(shapes, _with_foot_bones), build(shapes, _with_foot_bones)
    for rig in (theirs, mine):
        walk(rig, FRAMES)
    floor = bpy.data.objects.new("Floor", None)
    mine.scene.collection.objects.link(floor)
    floor.location.z = -10.0
    bpy.context.window.scene = mine.scene
    for chain in mine.armature.ik2d.chains:
        add_foot(mine.armature, chain)
        chain.foot.ground, chain.foot.use_ground = (floor, True) if ground else (None, False)
        for frame, roll in ((0, -0.3), (FRAMES // 2, 1.0), (FRAMES, -0.3)):
            chain.foot.roll = roll
            chain.foot.keyframe_insert("roll", frame=frame)

    def played(rig: Rig) -> Task:
        for chain in rig.armature.ik2d.chains:
            chain.live = True

        def frames() -> None:
            bpy.context.window.scene = rig.scene
            with live_handlers():
                _play(rig)

        return frames

    return played(mine), played(theirs)


def _with_foot_bones(armature: bpy.types.Object) -> None:
    """Add a foot and its toes to the end of each chain, across its last bone."""
    across = {}
    for chain in armature.ik2d.chains:
        sync_joints(chain)
        bones = chain_bones(armature, chain.tip, chain.bone_count)
        joints = rest_joints(bones)
        last = joints[-1] - joints[-2]
        across[chain.tip] = Vector(np.cross(bend_plane(chain, bones, joints).normal, last)), Vector(last)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    bones = armature.data.edit_bones
    for tip, (ahead, down) in across.items():
        above, end = bones[tip], bones[tip].tail.copy()
        for name, far in (
            ("foot", end + 0.3 * ahead + 0.15 * down),
            ("toes", end + 0.45 * ahead + 0.17 * down),
        ):
            bone = bones.new(f"{name} {tip}")
            bone.head, bone.tail, bone.parent = end, far, above
            above, end = bone, far
    bpy.ops.object.mode_set(mode='OBJECT')


def live_human() -> tuple[Task, Task]:
    """Return frames of Rigify's human with four live adopted limbs, and of one with its own constraints."""
    ours, theirs = scenes.humans(FRAMES)
    for chain in ours.ik2d.chains:
        chain.live = True

    def played(armature: bpy.types.Object) -> Task:
        def frames() -> None:
            with scenes.alone(armature):
                for frame in range(1, FRAMES + 1):
                    bpy.context.scene.frame_set(frame)

        return frames

    mine = played(ours)

    def frames() -> None:
        with live_handlers():
            mine()

    return frames, played(theirs)


def native(count: int, bones: int, limited: bool = False, poles: bool = False) -> tuple[Task, Task]:
    """Return frames of so many native chains, and of as many IK constraints. poles: of each to its own."""

    def drive(armature: bpy.types.Object) -> None:
        _set(armature, limited)
        for chain in armature.ik2d.chains:
            if poles:
                chain.plane, chain.pole = 'POLE', _pole(armature, chain.name)
            make_native(armature, chain)

    mine, theirs = _rigs(count, bones, limited, drive, poles)
    return lambda: _play(mine), lambda: _play(theirs)


def drag(bones: int, solver: str, limited: bool = False) -> tuple[Task, Task]:
    """Return moves of a chain that is dragged, and of the target of one with an IK constraint."""

    def drive(armature: bpy.types.Object) -> None:
        _set(armature, limited, solver)

    mine, theirs = _rigs(1, bones, limited, drive)
    bpy.context.window.scene = mine.scene
    held = take_hold(mine.scene, mine.armature, mine.armature.ik2d.chains[0].name)
    turns = np.linspace(0.0, 2.0 * np.pi, FRAMES)
    offsets = _DRAGGED * np.stack((np.sin(turns), np.cos(turns)), axis=1)
    places = [theirs.targets[0].location + theirs.planes()[0].col[0].xyz * x for x in offsets[:, 0].tolist()]

    def drags() -> None:
        bpy.context.window.scene = mine.scene
        for offset in offsets:
            held.to(offset)

    def moves() -> None:
        bpy.context.window.scene = theirs.scene
        for place in places:
            theirs.targets[0].location = place
            theirs.update()

    return drags, moves


def _rigs(count: int, bones: int, limited: bool, drive: Drive, poles: bool = False) -> tuple[Rig, Rig]:
    """Return two rigs whose targets walk, in an empty file: one as driven, and one of IK constraints."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    shapes = alike(count, bones)

    def pulled(armature: bpy.types.Object) -> None:
        constrain(armature, limited)
        for chain in armature.ik2d.chains if poles else ():
            armature.pose.bones[chain.tip].constraints["IK"].pole_target = _pole(armature, chain.name)

    theirs = build(shapes, pulled)
    mine = build(shapes, drive)
    for rig in (theirs, mine):
        walk(rig, FRAMES)
        rig.scene.frame_start, rig.scene.frame_end = 0, FRAMES - 1
    return mine, theirs


def _pole(armature: bpy.types.Object, name: str) -> bpy.types.Object:
    """Return a new pole, aside of all chains of an armature."""
    pole = bpy.data.objects.new(f"Pole of {name}", None)
    armature.users_collection[0].objects.link(pole)
    pole.location = (0.0, -3.0, 2.0)
    return pole


def _add_poles(rig: Rig) -> None:
    """Give each chain, and each IK constraint, a pole before its knee that moves from side to side."""
    turns = np.linspace(0.0, 2.0 * np.pi, FRAMES)
    for k, (chain, plane) in enumerate(zip(rig.armature.ik2d.chains, rig.planes(), strict=True)):
        pole = bpy.data.objects.new(f"Pole {k}", None)
        rig.scene.collection.objects.link(pole)
        for frame, turn in enumerate(turns.tolist()):
            pole.location = plane @ Vector((0.5, -1.0, 0.5 * np.sin(turn)))
            pole.keyframe_insert("location", frame=frame)
        chain.plane, chain.pole = 'POLE', pole
        for constraint in rig.armature.pose.bones[chain.tip].constraints:
            constraint.pole_target = pole


def _set(armature: bpy.types.Object, limited: bool, solver: str = "") -> None:
    for chain in armature.ik2d.chains:
        sync_joints(chain)
        chain.solver = solver or ('EVEN' if chain.bone_count > 2 else 'AUTO')
        for joint in chain.joints if limited else ():
            joint.use_limit, joint.limit_min, joint.limit_max = True, -LIMIT, LIMIT


def _play(rig: Rig) -> None:
    for frame in range(FRAMES):
        rig.scene.frame_set(frame)
