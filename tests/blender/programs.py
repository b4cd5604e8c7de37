# SPDX-License-Identifier: GPL-3.0-or-later
"""The program, run in this process or as pipelines run it, on a scene of its own."""

import subprocess
import sys
from pathlib import Path

import bpy
from rigs import leg_with_target

from ik2d_addon.cli.program import run

ROOT = Path(__file__).resolve().parents[2]


def leg_file(folder: Path, name: str = "leg.blend", rig: str = "Rig", frames: int = 12) -> Path:
    """Save a scene with the leg and its target, with nothing baked; return its path."""
    armature, _ = leg_with_target()
    armature.name = rig
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    path = folder / name
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    (folder / f"{name}1").unlink(missing_ok=True)
    return path


def bake_here(*arguments) -> int:
    """Run `bake` in this process; return the exit code."""
    return run(["bake", *map(str, arguments)], opens_scene=True)


def command(*arguments) -> list[str]:
    """Return what starts the program as a process of its own."""
    return [sys.executable, "-m", "ik2d_addon", *map(str, arguments)]


def python_in_blender(code: str) -> list[str]:
    """Return the command that runs Python code in another Blender of this version, with factory settings."""
    code = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{code}"
    if "blender" in bpy.app.binary_path:
        safe = ("--background", "--factory-startup", "--disable-autoexec", "--python-exit-code", "3")
        return [bpy.app.binary_path, *safe, "--python-expr", code]
    return [sys.executable, "-c", code]


def in_shell(line: str, *arguments, **options) -> subprocess.CompletedProcess:
    """Run a line of the shell in which "$@" is the program with its arguments."""
    words = ["bash", "-c", line, "bash", *command(*arguments)]
    return subprocess.run(words, cwd=ROOT, capture_output=True, timeout=120, check=False, **options)


def is_baked(path: Path) -> bool:
    """Return whether the file opens and its armature has keys."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return any(
        ob.animation_data and ob.animation_data.action for ob in bpy.data.objects if ob.type == 'ARMATURE'
    )


def is_there(pid: int) -> bool:
    """Return whether a process runs; one that nobody waits for has ended too."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False
