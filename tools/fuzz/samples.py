# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes that cases start from: the sample scenes, as Blender 4.2 and this one save them."""

import shutil
import subprocess
from pathlib import Path

from . import inside
from .forked import Forks
from .program import ROOT, surroundings
from .values import ARMATURE_NAMES

NAMES = (
    "01_walking_leg",
    "02_excavator",
    "03_tentacle",
    "04_out_of_reach",
    "05_deadlock",
    "06_crane",
    "07_native",
    "09_thrower",
    "10_robot_arm",
)
RENAMED = "06_crane"
OLD = (
    ROOT / ".venv-4.2" / "bin" / "python"
)  # where it is there, files of 4.2 that are not compressed are tried
UNPACK = "import sys, bpy; bpy.ops.wm.open_mainfile(filepath=sys.argv[1])\n" + (
    "bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2], compress=False); import os; os._exit(0)"
)


def made(folder: Path, forks: Forks) -> dict[str, Path]:
    """Make all samples in a folder; return them by name, such as '02_excavator 5.0 plain'."""
    folder.mkdir(parents=True, exist_ok=True)
    samples = {}
    for name in NAMES:
        source = ROOT / "sample_scenes" / f"{name}.blend"
        samples[name] = Path(shutil.copy(source, folder))
        new = {kind: folder / f"{name}_{kind}.blend" for kind in ("packed", "plain")}
        if not all(path.exists() for path in new.values()):
            forks.call(inside.save_copies, source, new["packed"], new["plain"])
        samples |= {f"{name} {kind}": path for kind, path in new.items()}
        if OLD.exists():
            samples[f"{name} 4.2 plain"] = _unpacked(source, folder / f"{name}_42.blend")
    for i, name in enumerate(ARMATURE_NAMES):
        path = folder / f"named_{i}.blend"
        if not path.exists():
            forks.call(inside.save_renamed, samples[RENAMED], path, name)
        samples[f"armature {i}"] = path
    samples["endless"] = folder / "endless.blend"
    if not samples["endless"].exists():
        forks.call(inside.save_endless, samples["05_deadlock"], samples["endless"])
    return samples


def _unpacked(source: Path, path: Path) -> Path:
    if not path.exists():
        command = [OLD, "-c", UNPACK, source, path]
        subprocess.run(command, env=surroundings(), check=True, capture_output=True, timeout=120)
    return path
