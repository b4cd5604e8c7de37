# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d list`: what there is to bake in each file, as a table or as JSON."""

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any, TextIO

import bpy

from ...bake import check
from ...bake.actions.listing import listed_clips
from ...bake.request import frame_range, read_rigs, scene_of
from ...core import IK2DError
from ...core.swing import POLE
from ...rig.chain.chain import reading
from ...rig.chain.native_state import acts
from ...rig.chain.post import POST
from ...rig.mechanism.read import read_mechanism
from ...rig.scene.bone_constraints import other_controls, sentences
from ..console import complain, say, stdout_to_stderr
from ..exit_codes import BAD_INPUT, DONE
from ..files import scene

_COLUMNS = ("chain", "enabled", "tip", "bones", "solver", "target")
_ACTION_COLUMNS = ("action", "frames", "with")


def list_files(options: argparse.Namespace) -> int:
    """List each file; return 2 where one could not be read, else 0. Raises IK2DError for a full disk."""
    lost = ""
    with stdout_to_stderr() if options.json else nullcontext() as stdout:
        listed = [_file(path, options) for path in options.scenes or [None]]
        if stdout is not None:
            lost = _written(stdout, json.dumps({"files": listed}, indent=1) + "\n")
        else:
            for entry in listed:
                _print(entry)
    if lost:
        raise IK2DError(f"the list could not be written ({lost}); choose another place")
    return BAD_INPUT if any(not entry["read"] for entry in listed) else DONE


def _written(stdout: TextIO, text: str) -> str:
    """Write the text; return the error in words, "" without one or if nobody reads the stream."""
    try:
        stdout.write(text)
        stdout.flush()
    except BrokenPipeError:
        pass
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _file(path: str | None, options: argparse.Namespace) -> dict[str, Any]:
    """Return the contents of a file, ready for JSON. path: None for the open file."""
    entry: dict[str, Any] = {
        "file": path or bpy.data.filepath,
        "read": False,
        "problems": [],
        "armatures": [],
    }
    try:
        scene.open_scene(path, trusted=options.enable_autoexec, forced=options.force)
    except IK2DError as error:
        entry["problems"].append(str(error))
        return entry
    armatures = _armatures()
    scene.leave_edit_mode(armatures)
    return {
        **entry,
        "read": True,
        "scene": bpy.context.scene.name,
        "frames": _frames(bpy.context.scene),
        "armatures": [_armature(armature) for armature in armatures],
    }


def _armatures() -> list[bpy.types.Object]:
    """Return the scene's armatures, and those elsewhere in the file that have chains."""
    here = [ob for ob in bpy.context.scene.objects if ob.type == 'ARMATURE']
    return here + [
        ob
        for ob in bpy.data.objects
        if ob.type == 'ARMATURE' and (ob.ik2d.chains or ob.ik2d.mechanisms) and ob not in here
    ]


def _armature(armature: bpy.types.Object) -> dict[str, Any]:
    """Return an armature, its chains, and the frames that a bake without --frames takes."""
    enabled = any(one.enabled for one in (*armature.ik2d.chains, *armature.ik2d.mechanisms))
    problems = check(armature) if enabled else []  # first: chains follow bones that were renamed
    try:
        frames = _frames(scene_of(armature))
    except IK2DError:
        frames = None
    first, last = frames or (bpy.context.scene.frame_current,) * 2
    return {
        "name": armature.name,
        "frames": frames,
        "chains": [_chain(armature, chain, first, last) for chain in armature.ik2d.chains],
        "mechanisms": [_mechanism(armature, one) for one in armature.ik2d.mechanisms],
        "problems": problems,
        **_actions(armature),
    }


def _actions(armature: bpy.types.Object) -> dict[str, Any]:
    """Return the actions that a bake of all takes, with frames and targets' actions; {} without chains."""
    if not any(chain.enabled for chain in armature.ik2d.chains):
        return {}
    try:
        in_scene = scene_of(armature)
        rigs, _ = read_rigs(armature, None, [in_scene.frame_current])
    except IK2DError:  # told among the problems
        return {}
    found = listed_clips(in_scene, armature, rigs)
    return {
        "actions": [
            {
                "name": clip.label,
                "frames": list(clip.frames),
                "cyclic": clip.is_cyclic,
                "with": {
                    play.owner.name: play.action.name for play in clip.others if play.action is not None
                },
            }
            for clip in found.clips
        ],
        "action_problems": list(found.problems),
    }


def _mechanism(armature: bpy.types.Object, mechanism: bpy.types.PropertyGroup) -> dict[str, Any]:
    """Return a mechanism, with its freedoms and drivers in words, or what is wrong with it."""
    told = {"name": mechanism.name, "enabled": mechanism.enabled, "bones": mechanism.bones.keys()}
    told |= {"drivers": [one.bone for one in mechanism.drivers], "freedoms": None, "problem": None}
    try:
        told["freedoms"] = read_mechanism(armature, mechanism).core.mobility().words()
    except IK2DError as error:
        told["problem"] = str(error)
    return told


def _chain(
    armature: bpy.types.Object, chain: bpy.types.PropertyGroup, first: float, last: float
) -> dict[str, Any]:
    """Return a chain, with the other controls of its bones on the frames from `first` to `last`."""
    rig, problem, controls = reading(armature, chain), None, list[str]()
    if isinstance(rig, str):
        rig, problem = None, rig
    else:
        controls = sentences(rig.name, other_controls(rig, first, last, carrying=acts(chain)))
    pole = _named(chain.pole, chain.pole_subtarget) if chain.plane == POLE else None
    return {
        "name": chain.name,
        "enabled": chain.enabled,
        "tip": chain.tip,
        "bones": list(rig.bones) if rig else [],
        "solver": rig.settings.solver if rig else chain.solver,
        "target": _named(chain.target, chain.subtarget),
        "plane": chain.plane,
        "pole": pole,
        "post": chain.post if chain.plane == POST else None,
        "other_controls": controls,
        "problem": problem,
    }


def _named(target: bpy.types.Object | None, bone: str) -> str | None:
    """Return an object's name, with its bone's where it has one; None without an object."""
    name = target.name if target else None
    return f"{name}/{bone}" if name and bone else name


def _frames(in_scene: bpy.types.Scene) -> list[int] | None:
    """Return the first and the last frame of the scene; None where they are no range."""
    try:
        frames = frame_range(in_scene, None, None, 1)
    except IK2DError:
        return None
    return [frames[0], frames[-1]]


def _print(entry: dict[str, Any]) -> None:
    frames = f": frames {entry['frames'][0]} to {entry['frames'][1]}" if entry.get("frames") else ""
    say(f"{entry['file']}{frames}")
    for problem in entry["problems"]:
        complain(f"ik2d: error: {problem}")
    with_any = [armature for armature in entry["armatures"] if armature["chains"] or armature["mechanisms"]]
    if entry["read"] and not with_any:
        say("  no armature has chains")
    for armature in entry["armatures"]:
        if armature in with_any:
            say(f"  {armature['name']}")
        if armature["chains"]:
            for line in _table([_COLUMNS, *map(_cells, armature["chains"])]):
                say(f"    {line}")
        for chain in armature["chains"]:
            for control in chain["other_controls"]:
                say(f"    other control: {control}")
        for one in armature["mechanisms"]:
            off = "" if one["enabled"] else ", disabled"
            words = one["freedoms"] and f"{one['freedoms']}, ok" or "not ok, see the problem"
            say(f"    MECHANISM {one['name']} ({len(one['bones'])} bones{off}): {words}")
        for problem in armature["problems"]:
            say(f"    problem: {problem}")
        if armature.get("actions"):
            for line in _table([_ACTION_COLUMNS, *map(_action_cells, armature["actions"])]):
                say(f"    {line}")
        for problem in armature.get("action_problems", ()):
            say(f"    --actions all: {problem}")


def _cells(chain: dict[str, Any]) -> Sequence[str]:
    return (
        chain["name"],
        "yes" if chain["enabled"] else "no",
        chain["tip"],
        _bones(chain),
        chain["solver"],
        chain["target"] or "-",
    )


def _action_cells(action: dict[str, Any]) -> Sequence[str]:
    first, last = action["frames"]
    told = [f"{ob}: {name}" for ob, name in action["with"].items() if name != action["name"]]
    loop = ", a loop" if action["cyclic"] else ""
    return action["name"], f"{first} to {last}{loop}", ", ".join(told) or "-"


def _bones(chain: dict[str, Any]) -> str:
    bones, post = chain["bones"], chain["post"]
    told = f"{len(bones)} from {bones[0]}" if bones else "-"
    return f"{told}, about {post}" if post else told


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows with their columns below one another."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
