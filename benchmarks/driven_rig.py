# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig as large as a film's: 2,424 bones and 869 drivers, a few of its limbs baked.

`python -m benchmarks.driven_rig [FRAMES]` says how long a bake of them takes, and how much of that goes into
looking at drivers.
"""

import random
import sys

import bpy

from . import scenes

BONES, DRIVERS, CHAINS, SEED = 2424, 869, 6, 25


def driven_rig(frames: int) -> bpy.types.Object:
    """Empty the file, and add an armature of BONES bones, of which CHAINS chains of two hang on driven ones.

    A driver reads where another bone is, or one of the armature's own numbers. Seeded: always the same.
    """
    chosen = random.Random(SEED)
    armature = scenes.chains(CHAINS, 2, frames)
    names = _add_bones(armature, BONES - len(armature.data.bones), chosen)
    for number in range(20):
        armature[f"own {number}"] = 0.5
    for bone in chosen.sample(names[1:], DRIVERS):
        # Of bones before it alone: no circles.
        _drive(armature, bone, names[: names.index(bone)], chosen)
    bpy.context.view_layer.update()
    return armature


def _add_bones(armature: bpy.types.Object, count: int, chosen: random.Random) -> list[str]:
    """Add bones in a tree, below whose last ones the chains hang; return their names, parents first."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    bones, names = armature.data.edit_bones, [f"body {number}" for number in range(count)]
    for number, name in enumerate(names):
        bone = bones.new(name)
        bone.head, bone.tail = (-1.0, 0.01 * number, 0.0), (-1.0, 0.01 * number, 0.1)
        if number:
            bone.parent = bones[names[chosen.randrange(max(0, number - 40), number)]]
    for chain in range(CHAINS):
        bones[f"{chain}.0"].parent = bones[names[-1 - chain]]
    bpy.ops.object.mode_set(mode='OBJECT')
    return names


def _drive(armature: bpy.types.Object, bone: str, others: list[str], chosen: random.Random) -> None:
    """Add a driver to a bone's scale, so that it is 1 however the others are."""
    driver = armature.driver_add(armature.pose.bones[bone].path_from_id("scale"), chosen.randrange(3)).driver
    driver.expression = "1 + 0 * var"
    variable = driver.variables.new()
    variable.type = chosen.choice(('TRANSFORMS', 'SINGLE_PROP'))
    variable.targets[0].id = armature
    if variable.type == 'TRANSFORMS':
        variable.targets[0].bone_target = chosen.choice(others)
    else:
        variable.targets[0].data_path = f'["own {chosen.randrange(20)}"]'


def main() -> int:
    """Bake it, and print the processor's time."""
    from ik2d_addon.bake import bake
    from ik2d_addon.bake.request import read_rigs

    from .registration import registered
    from .timing import processor_time_of

    frames = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    with registered():
        armature = driven_rig(frames)
        bake(armature)
        reading = min(processor_time_of(lambda: read_rigs(armature, None, [1, frames])) for _ in range(3))
        whole = min(processor_time_of(lambda: bake(armature)) for _ in range(3))
    print(f"{CHAINS} chains of {BONES:,} bones and {DRIVERS} drivers, {frames} frames: {whole:.2f} s,")
    print(f"of which {reading:.3f} s go into reading the chains and what moves them")
    return 0


if __name__ == "__main__":
    import os

    code = main()
    sys.stdout.flush()
    os._exit(code)
