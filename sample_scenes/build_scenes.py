# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the sample scenes: python sample_scenes/build_scenes.py [NAME ...]

Run it with the bpy module of Blender 4.2, so that every later Blender opens the files.
"""

import os
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scenes import (
    crane,
    cutout,
    deadlock,
    excavator,
    insect,
    out_of_reach,
    robot_arm,
    stage,
    tentacle,
    thrower,
    walker,
    walking_leg,
)

import ik2d_addon

HERE = Path(__file__).resolve().parent
SCENES = {
    "01_walking_leg": walking_leg.build,
    "02_excavator": excavator.build,
    "03_tentacle": tentacle.build,
    "04_out_of_reach": out_of_reach.build,
    "05_deadlock": deadlock.build,
    "06_crane": crane.build,
    "07_native": insect.build,
    "08_cutout": cutout.build,
    "09_thrower": thrower.build,
    "10_robot_arm": robot_arm.build,
    "11_walker": walker.build,
}


def main(names: list[str]) -> int:
    """Build the named scenes, or all; return the exit code."""
    unknown = [name for name in names if name not in SCENES]
    if unknown:
        print(f"No scene is called {', '.join(unknown)}. There are: {', '.join(SCENES)}", file=sys.stderr)
        return 2
    for name in names or SCENES:
        stage.start()
        ik2d_addon.register(ik2d_addon.SETTINGS)
        armature = SCENES[name]()
        stage.save(armature, HERE / f"{name}.blend")
        ik2d_addon.unregister()
        print(f"Built {name}.blend, {(HERE / f'{name}.blend').stat().st_size / 1024:.0f} KB")
    return 0


if __name__ == "__main__":
    if bpy.app.version[:2] != (4, 2):
        print(f"Warning: built with Blender {bpy.app.version_string}; older ones may not open the files.")
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # Python's own exit crashes in the 4.2 module once properties were registered.
