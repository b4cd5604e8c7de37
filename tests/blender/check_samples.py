# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake sample scenes and hold Blender's evaluated pose against their targets.

    blender --background --python-exit-code 3 --python tests/blender/check_samples.py
    blender ... --python tests/blender/check_samples.py -- --baked SCENE.blend REPORT.json

The first bakes every sample in the Blender that runs it; the second checks what the command line baked. The
tests call the same functions. Nothing here asks the solvers: joints, targets and reach are Blender's own.
"""

import argparse
import importlib
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import bpy
from mathutils import Matrix, Vector

sys.path.append(str(Path(__file__).resolve().parent))
from openings import evaluated_openings

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLES = sorted((ROOT / "sample_scenes").glob("[0-9]*.blend"))
INSTALLED = "bl_ext.user_default.ik2d"
# How far an evaluated tip may be from a target that is said to be reached, in parts of the chain's reach.
CLOSE = 1e-5
# How far a joint of a mechanism may be open, in parts of the mechanism's size.
CLOSED, CLOSED_BETWEEN = 2e-6, 1e-4


def bake_sample(scene: Path) -> list[dict]:
    """Open a sample, bake every armature that has chains, and return the reports."""
    bake = importlib.import_module(f"{package()}.bake").bake
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    rigs = [ob for ob in bpy.context.scene.objects if ob.type == 'ARMATURE']
    return [bake(rig).to_dict() for rig in rigs if rig.ik2d.chains or rig.ik2d.mechanisms]


def package() -> str:
    """Return the name of the add-on's package: the installed extension's where there is one."""
    return f"{INSTALLED}.ik2d_addon" if INSTALLED in sys.modules else "ik2d_addon"


def failures(reports: list[dict]) -> list[str]:
    """Return a sentence for each frame of the open scene where the pose and the report disagree."""
    chains = [chain for report in reports for chain in report["chains"]]
    frames = sorted({frame for chain in chains for frame in chain["frames"]})
    machines = [text for report in reports for text in open_joints(report)]
    found = [] if frames or any(report.get("mechanisms") for report in reports) else ["nothing was baked"]
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        for chain in chains:
            place = f"{chain['armature']}, {chain['name']}, frame {frame}"
            found += [f"{place}: {text}" for text in frame_failures(chain, frame)]
    return found + machines


def open_joints(report: dict) -> Iterator[str]:
    """Yield the mechanisms of an armature whose joints are open, on a frame or between frames."""
    settings = getattr(bpy.data.objects[report["armature"]], "ik2d", None)
    scene, told = bpy.context.scene, [machine["name"] for machine in report.get("mechanisms", ())]
    if settings is None or not told:
        return
    whole = range(scene.frame_start, scene.frame_end + 1)
    between = [frame + part for frame in whole[:-1] for part in (0.25, 0.5, 0.75)]
    for mechanism in (settings.mechanisms[name] for name in told):
        for times, most in ((whole, CLOSED), (between, CLOSED_BETWEEN)):
            apart = evaluated_openings(mechanism, times)
            for time, gap in zip(times, apart, strict=True):
                if not gap <= most:
                    yield f"{report['armature']}, {mechanism.name}, frame {time}: open by {gap:.3g}"


def frame_failures(chain: dict, frame: int) -> Iterator[str]:
    """Yield what is wrong with one chain on the current frame."""
    index = chain["frames"].index(frame)
    status, residual = chain["status"][index], chain["residual"][index]
    points = joints(chain["armature"], chain["bones"])
    lengths = [(b - a).length for a, b in itertools.pairwise(points)]
    settings = settings_of(chain)
    # A foot's settings say where the ankle is. There is no promise for bones that keys turn too.
    if settings is None and ("lifted" in chain or status == "REACHED" and residual > close_to(points)):
        return
    if settings is not None and settings.influence < 1.0:
        return
    goal = goal_position(chain, points)
    if settings is not None and settings.foot.is_added:
        goal = ankle_of(chain, settings, goal) + Vector((0.0, 0.0, chain["lifted"][index]))
    from_root, from_tip = (goal - points[0]).length, (goal - points[-1]).length
    close = close_to(points)
    if status not in possible_statuses(lengths, from_root):
        yield f"status {status}, with the target {from_root:.6g} from the root"
    if status == "REACHED" and from_tip > close:
        yield f"status REACHED, but the tip is {from_tip:.3g} from its target"
    if abs(from_tip - residual) > close:
        yield f"residual {residual:.6g} reported, but the tip is {from_tip:.6g} from its target"


def close_to(points: list[Vector]) -> float:
    """Return how far a chain's tip may be from a target that is said to be reached."""
    return CLOSE * sum((b - a).length for a, b in itertools.pairwise(points))


def possible_statuses(lengths: list[float], distance: float) -> set[str]:
    """Return what may be said of a target at this distance from the root; on a border, either side's."""
    outer = sum(lengths)
    inner = max(0.0, 2.0 * max(lengths) - outer)
    possible = set()
    if distance > outer * (1.0 - CLOSE):
        possible.add("TOO_FAR")
    if distance < inner + outer * CLOSE:
        possible.add("TOO_CLOSE")
    if inner - outer * CLOSE < distance < outer * (1.0 + CLOSE):
        possible.add("REACHED")
    return possible


def joints(armature: str, bones: list[str]) -> list[Vector]:
    """Return the world positions of the chain's joints, root to tip, as Blender evaluates them."""
    evaluated = evaluated_object(armature)
    pose = [evaluated.pose.bones[name] for name in bones]
    return [evaluated.matrix_world @ point for point in (*(bone.head for bone in pose), pose[-1].tail)]


def target_position(target: str) -> Vector:
    """Return the world position of a target, given as OBJECT or ARMATURE/BONE."""
    name, _, bone = target.partition("/")
    evaluated = evaluated_object(name)
    return evaluated.matrix_world @ (evaluated.pose.bones[bone].head if bone else Vector())


def goal_position(chain: dict, points: list[Vector]) -> Vector:
    """Return where a chain's tip is to be: its target, or for a single bone that aims the way to it."""
    goal = target_position(chain["target"])
    settings = settings_of(chain)
    if len(points) > 2 or settings and settings.aim_distance:
        return goal
    return points[0] + (points[1] - points[0]).length * (goal - points[0]).normalized()


def settings_of(chain: dict):
    """Return a chain's settings on the current frame; None where only Blender looks."""
    settings = getattr(evaluated_object(chain["armature"]), "ik2d", None)
    return None if settings is None else settings.chains[chain["name"]]


def ankle_of(chain: dict, settings, control: Vector) -> Vector:
    """Return where a foot's roll has the ankle, for a control that is not turned, in the XZ plane."""
    foot, place = settings.foot, Vector()
    forward = foot.toe_tip[0] > foot.heel[0]
    for pivot, angle in (
        (foot.heel, min(foot.roll, 0.0)),
        (foot.ball, min(max(foot.roll, 0.0), foot.break_angle)),
        (foot.toe_tip, max(foot.roll - foot.break_angle, 0.0)),
    ):
        pivot = Vector(pivot)
        place = pivot + Matrix.Rotation(angle if forward else -angle, 3, 'Y') @ (place - pivot)
    return control + place


def evaluated_object(name: str) -> bpy.types.Object:
    """Return an object as it is on the current frame."""
    return bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())


def main(arguments: list[str]) -> None:
    """Check what the command line names, or every sample; raise SystemExit(1) where something is wrong."""
    parser = argparse.ArgumentParser(prog="check_samples.py")
    parser.add_argument("--baked", nargs=2, action="append", metavar=("SCENE.blend", "REPORT.json"))
    options = parser.parse_args(arguments)
    baked = [tuple(map(Path, pair)) for pair in options.baked or ()]
    wrong = sum(check_baked(*pair) for pair in baked) if baked else check_all()
    sys.stdout.flush()
    if wrong:
        raise SystemExit(1)


def check_baked(scene: Path, report: Path) -> int:
    """Check a baked scene against its report; return the number of failures."""
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    return tell(scene.stem, json.loads(report.read_text(encoding="utf-8"))["armatures"])


def check_all() -> int:
    """Bake and check every sample; return the number of failures."""
    if INSTALLED not in sys.modules:
        sys.path.insert(0, str(ROOT))
        importlib.import_module("ik2d_addon").register()
    return sum(tell(scene.stem, bake_sample(scene)) for scene in SAMPLES) if SAMPLES else 1


def tell(name: str, reports: list[dict]) -> int:
    """Print what came of one scene; return the number of failures."""
    found = failures(reports)
    print(f"Blender {bpy.app.version_string}, {package()}")
    print(f"  {name}: {'; '.join(report['summary'] for report in reports)}")
    print("\n".join(f"  FAILED {text}" for text in found) or "  the evaluated pose agrees on every frame")
    return len(found)


if __name__ == "__main__":
    main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else [])
