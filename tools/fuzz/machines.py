# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of random mechanisms, ten in a fork: what each says of its joints, against Blender's evaluated pose.

On every frame, half-way and at quarters between two, by looks of its own; and Clear gives back all keys.
"""

import traceback
from math import pi
from random import Random

from .bakes import BAKES, LIMIT
from .case import Case, Outcome, Result

# Parts of the size: what numbers of 32 bits leave open in a pose, and by how much two measures may differ.
FINE, ALIKE = 1e-5, 1e-5
# At quarters a joint may be so many times as far open as the bound for half-way.
QUARTERS = 4.0
# A driver that is used by more off its keys (radians, parts of a stroke) was held, or is eased by less.
EASED = 0.03
# What a warning has where joints are open although their loops close.
REASONS = ("F-Curve modifiers", "is muted", "locked rotation", "short on")


def run(case: Case) -> Result:
    """Bake some random mechanisms in a fork, and compare what was said."""
    draw = f"{case.seed} {case.number}"
    ended, told = case.blender.call(bake_some, draw, limit=LIMIT)
    if told is None:
        return case.result("random mechanisms", Outcome.FAILED, [f"the fork ended with {ended.code}"], ended)
    complaints = [f"bake {row['number']} ({row['what']}): {one}" for row in told for one in row["false"]]
    counts = {said: sum(row["said"] == said for row in told) for said in ("closed", "open", "refused")}
    what = f"{len(told)} bakes, {', '.join(f'{count} {said}' for said, count in counts.items())}"
    return case.result(what, Outcome.DONE, complaints, ended)


def bake_some(draw: str, count: int = BAKES) -> list[dict]:
    """Make, bake and look at some mechanisms; return what each was, what was said, and what is false."""
    import ik2d_addon

    ik2d_addon.register()
    return [bake_one(f"{draw} {number}", number) for number in range(count)]


def bake_one(draw: str, number: int = 0) -> dict:
    """Make, bake, look at and clear one mechanism."""
    import bpy

    from ik2d_addon.bake import BakeOptions, bake, clear
    from ik2d_addon.core import IK2DError

    from . import linkage

    random = Random(draw)
    last = random.choice((12, 24, 24, 40))
    one, done = linkage.random_linkage(random, last)
    scene = bpy.context.scene
    scene.frame_set(random.randint(1, last))
    given = random.choice(
        ({}, {}, {}, {}, {"verify": 'ALL'}, {"reduce": 1e-3}, {"on_target_keys": True}, {"single_axis": True})
    )
    if "reduce" in given:
        given = {"reduce": 1e-3 * one.size * abs(one.armature.scale.y)}
    step = random.choice((1, 1, 1, 1, 1, 4))
    what = ", ".join((*done, str(last), *map(str, given.items()), f"step {step}"))
    row = {"number": number, "what": what, "said": "refused", "false": []}
    before, turns = snapshot(one.armature), _driven(one, last)
    try:
        report = bake(one.armature, None, 1, last, step, options=BakeOptions(**given))
    except IK2DError as problem:
        return row | {"why": str(problem), "false": list(_changed(before, one.armature, "a refused bake"))}
    except Exception:
        return row | {"said": "error", "false": [traceback.format_exc()[-1500:]]}
    (told,) = report.mechanisms
    false = [
        *_false(one, told, last, report.warnings),
        *_false_held(one, told, turns, _driven(one, last), report.warnings),
    ]
    clear(one.armature)
    false += _changed(before, one.armature, "Clear")
    return row | {"said": "closed" if told.is_closed else "open", "false": false}


def _false(one: object, told: object, last: int, warnings: tuple[str, ...]):
    """Yield what was said of joints and is not so, and joints that are open for no reason."""
    frames = [float(frame) for frame in range(1, last + 1)]
    said = dict(zip(frames, map(float, told.open), strict=True))
    said |= {frame + 0.5: float(gap) for frame, gap in zip(frames, told.open_between, strict=False)}
    true = {time: opening(one, time) for time in sorted({*said, *(frame + 0.25 for frame in frames[:-1])})}
    # Between frames what is said is the largest opening that was looked at, half-way at least.
    off = {
        time: abs(said[time] - true[time]) if time % 1 == 0 else max(true[time] - said[time], 0.0)
        for time in said
    }
    worst = max(off, key=off.get)
    if not off[worst] <= ALIKE * told.size:
        yield f"at {worst:g} it said {said[worst]:.3g}, and {true[worst]:.3g} is true (size {told.size:.3g})"
    keyed = dict(zip(frames, told.keyed.tolist(), strict=True))
    between = QUARTERS * told.bound + FINE
    wide = {
        time: gap / told.size
        for time, gap in true.items()
        if gap > (2.0 * FINE if keyed.get(time) else between) * told.size
    }
    time = max(wide, key=wide.get, default=0.0)
    if wide and told.is_closed and not _swings(one) and not any(REASONS[0] in each for each in warnings):
        yield f"closed, and open by {wide[time]:.3g} of the size at {time:g}"
    elif told.open_frames and not any(word in each for each in warnings for word in REASONS):
        yield f"open for no reason: {warnings}"


def _swings(one: object) -> bool:
    """Return whether a wave is at rest on all frames and half-way, where a bake looks, and not between."""
    from . import moves

    waves = (m for curve in moves.curves_of(one.armature) for m in curve.modifiers if m.type == 'FNGENERATOR')
    return any(wave.phase_multiplier > 6.0 for wave in waves)


def _false_held(one: object, told: object, before: list, after: list, warnings: tuple[str, ...]):
    """Yield whether drivers were used otherwise than their keys say where they are not told as held."""
    if any(word in each for each in warnings for word in REASONS):
        return
    held = set(told.held_frames)
    for frame, (given, used) in enumerate(zip(before, after, strict=True), 1):
        apart = max((_apart(a, b) for a, b in zip(given, used, strict=True)), default=0.0)
        if frame not in held and bool(told.keyed[frame - 1]) and apart > EASED and not one.locked:
            yield f"a driver is {apart:.3g} off its keys on frame {frame}, and not told as held"
            return


def _apart(a: float, b: float) -> float:
    return abs((a - b + pi) % (2.0 * pi) - pi)


def _driven(one: object, last: int) -> list[list[float]]:
    """Return the turns of the bones that drive in the evaluated pose of each frame."""
    import bpy

    names = [each.bone for each in one.mechanism.drivers if each.kind == 'TURN']
    found = []
    for frame in range(1, last + 1):
        bpy.context.scene.frame_set(frame)
        found.append([_turn(one, _motions(one), name) for name in names])
    return found


def _motions(one: object) -> dict:
    """Return the motion of each bone from rest, in the armature's space, as Blender shows it now."""
    import bpy

    bones = one.armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return {bone.name: bone.matrix @ bone.bone.matrix_local.inverted() for bone in bones}


def _turn(one: object, motions: dict, name: str) -> float:
    """Return the turn of a bone against its parent about the normal."""
    from mathutils import Matrix

    bone = one.armature.data.bones[name]
    above = motions[bone.parent.name] if bone.parent else Matrix.Identity(4)
    return _angle(one.normal, (above.inverted() @ motions[name]).to_3x3())


def _angle(normal: object, turned: object) -> float:
    from math import atan2

    x = normal.orthogonal().normalized()
    y = normal.cross(x)
    moved = turned @ x, turned @ y
    return atan2(moved[0].dot(y) - moved[1].dot(x), moved[0].dot(x) + moved[1].dot(y))


def opening(one: object, time: float) -> float:
    """Return the largest opening of a joint at a time, in the armature's space."""
    import bpy
    from mathutils import Matrix

    bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
    rest, motions = one.armature.data.bones, _motions(one)
    frame = rest[one.mechanism.bones[0].name]
    while frame is not None and frame.name in one.mechanism.bones:
        frame = frame.parent
    motions[""] = motions[frame.name] if frame else Matrix.Identity(4)
    normal = motions[""].to_3x3() @ one.normal
    worst = 0.0
    for joint in one.mechanism.joints:
        bone, other = joint.bone, joint.other
        if joint.kind == 'GEAR':
            turns = [
                _angle(one.normal, (motions[""].inverted() @ motions[name]).to_3x3())
                for name in (bone, other)
            ]
            worst = max(worst, _apart(joint.ratio * turns[0], turns[1]) * rest[other].length)
            continue
        at = rest[bone].head_local if joint.end == 'HEAD' else rest[bone].tail_local
        if joint.kind == 'RAM':
            way = motions[other] @ rest[other].head_local - motions[bone] @ rest[bone].head_local
            way -= way.dot(normal) * normal
            line = rest[other].head_local - rest[bone].head_local
            line -= line.dot(one.normal) * one.normal
            for end in (bone, other):
                aimed = (motions[end].to_3x3() @ line).normalized() * way.length
                worst = max(worst, (aimed - way).length)
            continue
        apart = motions[bone] @ at - motions[other] @ at
        if joint.kind != 'PIN':
            along = rest[other or bone].matrix_local.to_3x3().col[1]
            line = (motions[other].to_3x3() @ along).normalized()
            apart -= apart.dot(line) * line
        if joint.kind == 'GUIDE':
            arm = rest[bone].tail_local - rest[bone].head_local
            worst = max(worst, (motions[bone].to_3x3() @ arm - motions[other].to_3x3() @ arm).length)
        worst = max(worst, apart.length)
    return worst


def snapshot(armature: object) -> dict:
    """Return all keys of an armature, its bones' modes, and the rotations that no keys turn."""
    from . import moves

    curves = {}
    for curve in moves.curves_of(armature):
        keys = [
            (*key.co, *key.handle_left, *key.handle_right, key.interpolation, key.handle_left_type, key.type)
            for key in curve.keyframe_points
        ]
        curves[curve.data_path, curve.array_index] = curve.mute, len(curve.modifiers), keys
    keyed = {path for path, _ in curves}
    poses = {}
    for bone in armature.pose.bones:
        for name in ("rotation_quaternion", "rotation_euler", "rotation_axis_angle", "location", "scale"):
            if bone.path_from_id(name) not in keyed:
                poses[bone.name, name] = tuple(getattr(bone, name))
    return {"curves": curves, "modes": {b.name: b.rotation_mode for b in armature.pose.bones}, "poses": poses}


def _changed(before: dict, armature: object, by: str):
    """Yield what is not as it was."""
    after = snapshot(armature)
    for kind, values in before.items():
        for name in [*values, *(name for name in after[kind] if name not in values)]:
            if values.get(name) != after[kind].get(name):
                yield f"{by} left {kind} {name} as {after[kind].get(name)}, and it was {values.get(name)}"[
                    :600
                ]
                return
