# SPDX-License-Identifier: GPL-3.0-or-later
"""Adopt IK: what its dialog and its OK take, in frames of the rig as Blender evaluates it with its IK."""

from dataclasses import dataclass

import bpy
import numpy as np

from ik2d_addon.features.adopt.adopt import carry_out, plan_adoption, release
from ik2d_addon.features.adopt.difference import compare_adopted, differences
from ik2d_addon.features.adopt.poses import FEW_FRAMES

from . import scenes
from .table import Table, ratio
from .timing import processor_time_of, say

# Frames from one key of a target to the next.
_KEY_EVERY = 20


@dataclass(frozen=True)
class Sizes:
    """How much to adopt."""

    limbs: int = 30
    driven: int = 12  # bones that a driver moves with each limb
    frames: int = 500
    rounds: int = 3
    human: bool = True


TOY = Sizes(limbs=2, driven=1, frames=8, rounds=1, human=False)


def measure(sizes: Sizes) -> Table:
    """Adopt a rig of many limbs with drivers, and Rigify's human."""
    say(f"adopting: {sizes.limbs} limbs with drivers")
    rows = [_row(f"{sizes.limbs} limbs, each with {sizes.driven} driven bones", driven_limbs(sizes), sizes)]
    if sizes.human:
        say("adopting: Rigify's human")
        _, human = scenes.humans(sizes.frames)
        with scenes.alone(human):
            rows.append(_row("Rigify's human", human, sizes))
    header = ["rig", "dialog, in frames", "OK, in frames", "here: a frame", "dialog", "OK"]
    return Table("Adopt IK: the dialog, and all frames", _NOTE.format(s=sizes), header, rows)


def driven_limbs(sizes: Sizes, seed: int = 5) -> bpy.types.Object:
    """Empty the file, and add an armature of limbs with IK, limits and locks, and driven bones on each."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene, data, rng = bpy.context.scene, bpy.data.armatures.new("Rig"), np.random.default_rng(seed)
    armature = bpy.data.objects.new("Rig", data)
    scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    _bone(data, "root", (0.0, 0.0, 0.0), (0.0, 0.0, 0.5))
    for k in range(sizes.limbs):
        x = 0.5 * k
        _bone(data, f"hand {k}", (x, 0.0, 1.0), (x, 0.0, 1.2), "root")
        _bone(data, f"upper {k}", (x, 0.0, 2.0), (x, -0.1, 1.5), "root")
        _bone(data, f"fore {k}", (x, -0.1, 1.5), (x, 0.0, 1.0), f"upper {k}")
        for i in range(sizes.driven):
            _bone(data, f"part {k} {i}", (x, 0.05 * i, 1.0), (x, 0.05 * i, 0.9), f"fore {k}")
    bpy.ops.object.mode_set(mode='OBJECT')
    for k in range(sizes.limbs):
        _set_up(armature, k, sizes, rng)
    scene.frame_start, scene.frame_end = 1, sizes.frames
    scene.frame_set(1)
    return armature


def _bone(
    data: bpy.types.Armature,
    name: str,
    head: tuple[float, float, float],
    tail: tuple[float, float, float],
    parent: str = "",
) -> None:
    bone = data.edit_bones.new(name)
    bone.head, bone.tail = head, tail
    if parent:
        bone.parent = data.edit_bones[parent]


def _set_up(armature: bpy.types.Object, k: int, sizes: Sizes, rng: np.random.Generator) -> None:
    """Give a limb its IK and limits, keys on its target, and the drivers that follow this."""
    hand, fore = armature.pose.bones[f"hand {k}"], armature.pose.bones[f"fore {k}"]
    constraint = fore.constraints.new('IK')
    constraint.target, constraint.subtarget, constraint.chain_count = armature, hand.name, 2
    fore.use_ik_limit_x = fore.lock_ik_y = fore.lock_ik_z = True
    fore.ik_min_x, fore.ik_max_x = -2.8, 0.1
    for frame in range(1, sizes.frames + _KEY_EVERY, _KEY_EVERY):
        hand.location = (0.0, *rng.uniform(0.0, 0.2, 2))
        hand.keyframe_insert("location", frame=frame)
    for i in range(sizes.driven):
        driver = armature.pose.bones[f"part {k} {i}"].driver_add("location", 0).driver
        variable = driver.variables.new()
        variable.name, variable.type = "z", 'TRANSFORMS'
        source = variable.targets[0]
        source.id, source.bone_target = armature, hand.name
        source.transform_type, source.transform_space = 'LOC_Z', 'LOCAL_SPACE'
        driver.expression = "z * 0.1"


def _row(name: str, armature: bpy.types.Object, sizes: Sizes) -> list[str]:
    """Measure one rig: frames, dialog and OK take turns; the least of each counts."""
    scene = bpy.context.scene
    some = np.linspace(1, sizes.frames, FEW_FRAMES).astype(int).tolist()

    def frames() -> None:
        for frame in some:
            scene.frame_set(frame)

    def dialog() -> None:
        differences(plan_adoption(armature, scene, None, FEW_FRAMES), scene)

    def accept() -> None:
        adoption = plan_adoption(armature, scene, None)
        names.extend(carry_out(adoption, scene))
        compare_adopted(adoption, names, scene)

    names: list[str] = []
    times: dict[str, list[float]] = {"frames": [], "dialog": [], "accept": []}
    for _ in range(sizes.rounds):
        times["frames"].append(processor_time_of(frames) / len(some))
        times["dialog"].append(processor_time_of(dialog))
        times["accept"].append(processor_time_of(accept))
        while names:
            release(armature, names.pop())
    frame, asked, accepted = (min(each) for each in times.values())
    return [
        name,
        ratio(asked / frame),
        ratio(accepted / frame),
        *(f"{1e3 * seconds:,.0f} ms" for seconds in (frame, asked, accepted)),
    ]


_NOTE = (
    "*dialog*: all that happens before Adopt's dialog is shown; *OK*: all of adopting, with the comparison"
    " of poses, of an action of {s.frames} frames. Both as so many frames of the same rig take, changed with"
    " `scene.frame_set` while its IK acts. Each of the limbs has IK locks and a limit on its second bone."
    " Processor time, the least of {s.rounds} rounds in which all take turns."
)
