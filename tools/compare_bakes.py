# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake the same scenes with two versions of the add-on; compare all keys, reports and messages.

    python tools/compare_bakes.py COMMIT [--other COMMIT] [--chains N] [--crowds N] [--seed N] [...]

Without --other the second version is the checkout as it is. The scenes are the samples, so many random
armatures of one chain, and so many of unlike chains, of all solvers, with limits, slides, stretch, hands,
influence and all ways to key. Each version runs in a process of its own. Bit by bit, but where --tolerance is
given: then numbers may differ by it, and iterations by any. Exit code 1 where anything differs.
"""

import argparse
import io
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
from math import cos, pi, sin
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEY = ("co", "handle_left", "handle_right", "handle_left_type", "handle_right_type", "interpolation", "type")


def main() -> int:
    """Compare; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commit")
    parser.add_argument("--other", default="", help="the second version (default: the checkout)")
    parser.add_argument("--chains", type=int, default=200, help="how many random chains (200)")
    parser.add_argument("--crowds", type=int, default=40, help="how many armatures of many chains (40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tolerance", type=float, default=0.0, help="by how much numbers may differ (0)")
    parser.add_argument("--dump", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.dump:
        dump(Path(options.commit), options)
    with tempfile.TemporaryDirectory() as folder:
        places = [extracted(options.commit, Path(folder, "before"))]
        places.append(extracted(options.other, Path(folder, "after")) if options.other else ROOT)
        before, after = (results_of(place, options) for place in places)
    differences = {
        name: first_difference(before.get(name), after.get(name), options.tolerance)
        for name in before | after
    }
    different = {name: words for name, words in differences.items() if words}
    for name, words in different.items():
        print(f"{name}: {words}")
    baked = sum("curves" in result for result in before.values())
    curves = sum(len(result.get("curves", ())) for result in before.values())
    for name, result in after.items():
        if "crash" in result:
            print(f"{name} ends with {result['crash']}")
    print(f"{len(before)} scenes, {baked} of them baked, {curves} F-Curves: {len(different)} differ")
    return int(bool(different))


def extracted(commit: str, folder: Path) -> Path:
    """Extract a commit's files into a folder and return it."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder


def results_of(place: Path, options: argparse.Namespace) -> dict:
    """Return the results of the version in a folder, by scene."""
    words = [
        sys.executable,
        __file__,
        str(place),
        "--dump",
        f"--chains={options.chains}",
        f"--crowds={options.crowds}",
        f"--seed={options.seed}",
    ]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        sys.exit(f"{place} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return {name: result for line in lines for name, result in json.loads(line).items()}


def first_difference(one: object, other: object, tolerance: float, path: str = "") -> str:
    """Return where two results first differ by more than a tolerance, and how; "" where they do not."""
    if one == other or tolerance and path.endswith("/iterations"):
        return ""
    pairs = []
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = [(one.get(key), other.get(key), f"{path}/{key}") for key in one | other]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [(*pair, f"{path}[{i}]") for i, pair in enumerate(zip(one, other, strict=True))]
    elif tolerance and are_close(one, other, tolerance):
        return ""
    else:
        return f"{path}: {str(one)[:200]} -> {str(other)[:200]}"
    return next(filter(None, (first_difference(a, b, tolerance, where) for a, b, where in pairs)), "")


def are_close(one: object, other: object, tolerance: float) -> bool:
    """Return whether two texts are numbers, as `plain` and `curves_of` write them, that are as near."""
    import numpy as np

    try:
        numbers = np.array([float.fromhex(str(text)) for text in (one, other)])
    except (ValueError, OverflowError):  # a column of keys
        try:
            numbers = np.array([np.frombuffer(bytes.fromhex(str(text)), np.float32) for text in (one, other)])
        except ValueError:
            return False
    return bool(np.abs(numbers[0].astype(float) - numbers[1]).max(initial=0.0) <= tolerance)


# --- In the process of one version ------------------------------------------------------------------


def dump(place: Path, options: argparse.Namespace) -> None:
    """Bake all scenes with the version in a folder, print a line of JSON for each, and end the process."""
    sys.path.insert(0, str(place))
    import bpy

    import ik2d_addon

    ik2d_addon.register()
    for file in sorted((ROOT / "sample_scenes").glob("*.blend")):
        bpy.ops.wm.open_mainfile(filepath=str(file))
        for armature in [ob for ob in bpy.data.objects if ob.type == 'ARMATURE' and len(ob.ik2d.chains)]:
            tell(f"{file.name} {armature.name}", armature, {})
    for number in range(options.chains):
        rng = random.Random(f"{options.seed} {number}")
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        tell(f"random {number}", random_rig(rng), random_options(rng))
    from crowds import random_crowd

    for number in range(options.crowds):
        rng = random.Random(f"{options.seed} crowd {number}")
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        crowd = random_crowd(rng, random_target, random_settings)
        tell(f"crowd {number}", crowd, random_options(rng), fewer=True)
    sys.stdout.flush()
    os._exit(0)  # Python's own exit crashes or hangs in some bpy once property groups were registered


def tell(name: str, armature: object, options: dict, fewer: bool = False) -> None:
    """Solve, then bake an armature; print the results. fewer: without the chains that are refused."""
    from ik2d_addon.bake import BakeOptions, bake, solve
    from ik2d_addon.core import IK2DError

    found: dict = {"options": options}
    while True:
        try:
            found["solve"] = plain(solve(armature).to_dict())
            found["pose"] = [
                list(map(float.hex, row)) for bone in armature.pose.bones for row in bone.matrix_basis
            ]
            report = bake(armature, options=BakeOptions(**options))
            found |= {
                "sentence": report.sentence(),
                "warnings": report.warnings,
                "report": plain(report.to_dict()),
            }
            found["curves"] = curves_of(armature)
        except IK2DError as error:
            found.setdefault("errors", []).append(str(error))
            enabled = [chain for chain in armature.ik2d.chains if chain.enabled]
            for chain in [each for each in enabled if f"'{each.name}'" in str(error)] or enabled[:1]:
                chain.enabled = False
            if fewer and any(chain.enabled for chain in armature.ik2d.chains):
                continue
        except Exception as error:  # a fault of that version: compared, too
            found["crash"] = f"{type(error).__name__}: {error}"
        break
    print(json.dumps({name: found}))


def plain(value: object) -> object:
    """Return a report with its floats written exactly."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.hex() if isinstance(value, float) else value


def curves_of(armature: object) -> dict:
    """Return each F-Curve of an armature as text, bit by bit."""
    import numpy as np

    action = armature.animation_data.action
    if hasattr(action, "layers"):
        holders = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
    else:
        holders = [action]
    found = {}
    for curve in (curve for holder in holders for curve in holder.fcurves):
        columns = []
        for name in KEY:
            count = len(curve.keyframe_points) * (2 if name in KEY[:3] else 1)
            column = np.empty(count, np.float32 if name in KEY[:3] else np.int32)
            curve.keyframe_points.foreach_get(name, column)
            columns.append(column.tobytes().hex())
        found[f"{curve.data_path}[{curve.array_index}] {curve.group.name if curve.group else ''}"] = columns
    return found


def random_options(rng: random.Random) -> dict:
    """Return options of a bake."""
    way = rng.choice(({}, {}, {"reduce": 1e-3}, {"on_target_keys": True}, {"single_axis": True}))
    return way | {"verify": rng.choice(("SAMPLE", "ALL", "NONE"))}


def random_rig(rng: random.Random) -> object:
    """Add a rig with a chain in some plane, and a target that moves; return the armature."""
    import bpy
    from mathutils import Euler, Vector

    count = rng.choice((1, 2, 2, 2, 3, 4, 5, 8, 12))
    space = Euler([rng.uniform(-pi, pi) for _ in range(3)]).to_matrix() if rng.random() < 0.7 else None
    size = 10.0 ** rng.uniform(-2.0, 1.5)
    slides = rng.random() < 0.2
    joints, heading = [Vector((0.2 * size, 0.0, 0.4 * size))], rng.uniform(-pi, pi)
    for _ in range(count):
        heading += rng.choice((0.0, 0.3, -0.3)) + rng.uniform(-0.6, 0.6)
        step = Vector((cos(heading), 0.0, sin(heading)))
        joints.append(joints[-1] + step * size * rng.uniform(0.5, 1.5))
    if space is not None:
        joints = [space @ joint for joint in joints]
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    ends = {"body": (joints[0] * 0.2, joints[0] * 0.7)}
    ends |= {f"b{i}": (joints[i], joints[i + 1]) for i in range(count)}
    ends["foot"] = (joints[-1], joints[-1] + (joints[-1] - joints[-2]).orthogonal() * 0.3)
    before = None
    for name, (head, tail) in ends.items():
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail, bone.roll, bone.parent = head, tail, rng.uniform(-pi, pi), before
        bone.use_connect = before is not None and name != "b0" and not slides and rng.random() < 0.7
        before = bone
    bpy.ops.object.mode_set(mode='OBJECT')
    for bone in armature.pose.bones:
        bone.rotation_mode = rng.choice(('QUATERNION', 'QUATERNION', 'XYZ', 'ZXY', 'AXIS_ANGLE'))
    if rng.random() < 0.4:
        body = armature.pose.bones["body"]
        body.rotation_mode = 'XYZ'
        for frame in (1, 20):
            body.rotation_euler = [rng.uniform(-0.3, 0.3) for _ in range(3)]
            body.keyframe_insert("rotation_euler", frame=frame)
    chain = armature.ik2d.chains.add()
    chain.name, chain.tip, chain.bone_count = "Chain", f"b{count - 1}", count
    chain.target = random_target(rng, joints)
    random_settings(rng, chain, slides)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, rng.choice((12, 24, 40))
    bpy.context.view_layer.update()
    return armature


def random_target(rng: random.Random, joints: list) -> object:
    """Add an empty that moves about where the tip is at rest, mostly in the chain's plane."""
    import bpy

    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    reach = sum((b - a).length for a, b in zip(joints, joints[1:], strict=False))
    along = (joints[-1] - joints[0]).normalized()
    middle = joints[len(joints) // 2] - joints[0]
    aside = (middle - along * middle.dot(along)) if len(joints) > 2 else along.orthogonal()
    aside = aside.normalized() if aside.length > 1e-4 * reach else along.orthogonal()
    for frame in sorted(rng.sample(range(1, 40), rng.choice((1, 2, 4)))):
        distance, angle = reach * rng.uniform(0.05, 1.15), rng.uniform(-pi, pi)
        target.location = joints[0] + (along * cos(angle) + aside * sin(angle)) * distance
        target.rotation_euler = [rng.uniform(-1.0, 1.0) for _ in range(3)]
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_euler", frame=frame)
    return target


def random_settings(rng: random.Random, chain: object, slides: bool) -> None:
    """Set a chain at random."""
    count = chain.bone_count
    solvers = (
        ('AUTO', 'AUTO', 'CCD', 'EVEN', 'ARC', 'TWO_BONE') if count == 2 else ('AUTO', 'CCD', 'EVEN', 'ARC')
    )
    chain.solver = rng.choice(solvers)
    chain.bend = rng.choice(('POSITIVE', 'NEGATIVE'))
    chain.start_from = rng.choice(('REST', 'PREVIOUS'))
    chain.root_turns_freely = rng.random() < 0.7
    if rng.random() < 0.3:
        chain.softness = rng.choice((0.05, 0.3))
    if rng.random() < 0.2:
        chain.influence = rng.choice((0.0, 0.5))
        chain.keyframe_insert("influence", frame=1)
        chain.influence = 1.0
        chain.keyframe_insert("influence", frame=20)
    if rng.random() < 0.2:
        chain.bend = 'POSITIVE'
        chain.keyframe_insert("bend", frame=1)
        chain.bend = 'NEGATIVE'
        chain.keyframe_insert("bend", frame=15)
    if rng.random() < 0.15 and not slides:
        chain.stretch, chain.compress = 1.5, 0.7
        chain.stretch_bones = rng.choice(('ALL', 'LAST'))
    if rng.random() < 0.3:
        chain.hand_rotation = rng.choice(('WORLD', 'TARGET'))
    for joint in chain.joints:
        if rng.random() < 0.25:
            joint.use_limit = True
            joint.limit_min, joint.limit_max = -rng.uniform(0.1, 1.5), rng.uniform(0.1, 1.5)
        if rng.random() < 0.2:
            joint.weight = rng.choice((0.0, 0.3, 0.7))
        if slides and rng.random() < 0.5:
            joint.use_slide = True
            joint.slide_min, joint.slide_max = 0.0, rng.uniform(0.1, 1.0)


if __name__ == "__main__":
    sys.exit(main())
