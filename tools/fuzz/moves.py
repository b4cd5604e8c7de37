# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of random limbs: keys of all kinds, and constraints, drivers and strips that come and go."""

from collections.abc import Callable, Iterable, Sequence
from math import cos, pi, sin
from random import Random

import bpy
from mathutils import Vector

from .limbs import Limb, empty

KINDS = ('BEZIER', 'LINEAR', 'CONSTANT', 'BOUNCE', 'ELASTIC', 'BACK', 'SINE', 'EXPO', 'CIRC')
HANDLES = ('AUTO_CLAMPED', 'AUTO', 'VECTOR', 'FREE')
PATHS = {'QUATERNION': "rotation_quaternion", 'AXIS_ANGLE': "rotation_axis_angle"}


def move(random: Random, limb: Limb, last: int) -> list[str]:
    """Move a limb's target, and what else may move it; return what was done."""
    done = [move_target(random, limb, last)]
    if limb.chain.pole is not None and random.random() < 0.5:
        key(random, limb.chain.pole, "location", last, _near(random, limb.chain.pole.location, limb))
    some = random.choice((0, 0, 1, 1, 2, 3))
    for act in random.sample(ACTS, some):
        act(random, limb, last)
        done.append(act.__name__.strip("_"))
    _settle(limb)
    for action in bpy.data.actions:  # what a script changes in F-Curves Blender does not notice by itself
        action.update_tag()
    bpy.context.view_layer.update()
    return done


def _settle(limb: Limb) -> None:
    """Give constraints what Blender else takes from the first frame that it happens to evaluate."""
    for holder in (*bpy.data.objects, *limb.armature.pose.bones):
        for constraint in holder.constraints:
            if constraint.type == 'CHILD_OF':
                constraint.set_inverse_pending = False
            elif constraint.type == 'LIMIT_DISTANCE':
                constraint.distance = 0.1 * limb.size


def move_target(random: Random, limb: Limb, last: int) -> str:
    """Key the target's way, mostly within reach and in the plane."""
    turn, speed, far = random.uniform(0.0, 2 * pi), random.uniform(-0.12, 0.12), random.uniform(0.4, 0.95)
    off = random.uniform(-0.2, 0.2) if limb.chain.plane in ('SWING', 'ARC', 'POLE') else 0.0
    sway = random.uniform(0.0, min(0.3, 0.97 - far))
    if limb.target.parent is not None:  # which holds it in the plane, whatever its keys do between frames
        off = 0.0

    def place(frame: int) -> Vector:
        angle = turn + speed * frame
        length = far - sway + sway * sin(0.31 * frame)
        flat = length * cos(angle), length * sin(angle), off * sin(0.2 * frame)
        return limb.size * Vector(flat) if limb.target.parent is not None else limb.in_world(*flat)

    return key(random, limb.target, "location", last, place)


def _near(random: Random, start: Sequence[float], limb: Limb, part: float = 0.2) -> Callable[[int], Vector]:
    """Return places near one, in parts of the limb's length."""
    middle, size = Vector(start), part * limb.size
    phases = [random.uniform(0.0, 6.0) for _ in range(3)]
    return lambda frame: middle + size * Vector([sin(0.4 * frame + phase) for phase in phases])


def key(
    random: Random, owner: bpy.types.bpy_struct, path: str, last: int, value: Callable[[int], object]
) -> str:
    """Key a property on every frame or on a few, in any kind of curves; return the kind."""
    every = random.choice((1, 1, 3, 7, 10, 17))
    frames = list(range(1, last + every, every))
    if random.random() < 0.2:
        frames = sorted(random.sample(range(-3, last + 4), 6))
    for frame in frames:
        setattr(owner, path, value(frame))
        owner.keyframe_insert(path, frame=frame)
    ends = owner.path_from_id(path) if isinstance(owner, bpy.types.PoseBone) else path
    kind = random.choice((*KINDS, "default", "default", "default", "mixed"))
    for curve in curves_of(owner.id_data):
        if curve.data_path == ends:
            _shape(random, curve, kind)
    return f"{kind} keys every {every} on {path}"


def _shape(random: Random, curve: bpy.types.FCurve, kind: str) -> None:
    """Give an F-Curve's keys a kind, and the curve what F-Curves may have."""
    handles = random.choice(HANDLES)
    for point in curve.keyframe_points if kind != "default" else ():
        point.interpolation = random.choice(KINDS) if kind == "mixed" else kind
        point.easing = random.choice(('AUTO', 'EASE_IN', 'EASE_OUT', 'EASE_IN_OUT'))
        point.handle_left_type = point.handle_right_type = handles
        if handles == 'FREE':
            point.handle_left.x, point.handle_right.x = point.co.x - 0.4, point.co.x + 0.4
    if random.random() < 0.2:
        add_modifier(random, curve, 0.02)
    curve.update()


def add_modifier(random: Random, curve: bpy.types.FCurve, strength: float) -> None:
    """Add a modifier to an F-Curve, on some frames or on all."""
    kind = random.choice(('NOISE', 'STEPPED', 'CYCLES', 'FNGENERATOR', 'LIMITS'))
    modifier = curve.modifiers.new(kind)
    if kind == 'NOISE':
        modifier.strength, modifier.scale = strength, random.uniform(0.7, 4.0)
    elif kind == 'STEPPED':
        modifier.frame_step = random.choice((1.5, 2.0, 3.0))
    elif kind == 'FNGENERATOR':
        modifier.use_additive, modifier.amplitude = True, strength
        modifier.phase_multiplier = random.choice((1.0, pi, 2.0 * pi))
    if random.random() < 0.5:
        start = random.randint(1, 30)
        modifier.use_restricted_range = True
        modifier.frame_start, modifier.frame_end = start, start + random.randint(1, 6)


def curves_of(owner: bpy.types.ID) -> list[bpy.types.FCurve]:
    """Return the F-Curves that a data block's own action has for it."""
    animation = owner.animation_data
    action = animation.action if animation else None
    if action is None:
        return []
    if hasattr(action, "fcurves"):
        return list(action.fcurves)
    slot = animation.action_slot
    bags = (bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags)
    return [curve for bag in bags if bag.slot_handle == slot.handle for curve in bag.fcurves]


def come_and_go(
    random: Random, owner: bpy.types.bpy_struct, path: str, values: Sequence[object], last: int
) -> None:
    """Key a property so that it has the second of two values on some frames only, or between two only."""
    off, on = values
    start, length = random.randint(2, last - 3), random.choice((0.6, 1, 1, 2, 7))
    if path == "pose_position":  # Blender shows it one evaluation late: between frames there is no truth
        length = max(1, length)
    elif random.random() < 0.3:
        start += 0.3
    for frame, value in ((1, off), (start, on), (start + length, off)):
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)
    for curve in curves_of(owner.id_data):
        if curve.data_path.endswith(f".{path}") or curve.data_path == path:
            for point in curve.keyframe_points:
                point.interpolation = 'CONSTANT' if isinstance(on, (bool, str)) else random.choice(KINDS)


# --- What may turn the bones, or move what is above them or the target ------------------------------


def _bone(random: Random, limb: Limb, names: Iterable[str] = ()) -> bpy.types.PoseBone:
    return limb.armature.pose.bones[random.choice(tuple(names) or limb.bones)]


def _switched(random: Random, limb: Limb, constraint: bpy.types.Constraint, last: int) -> None:
    """Let a constraint act always, never, or on some frames, by keys or by a driver."""
    way = random.choice(("mute", "influence", "driver", "property", "always", "zero", "muted"))
    if (
        way == "mute"
        and isinstance(constraint.id_data, bpy.types.Object)
        and constraint.path_from_id()[0] == "c"
    ):
        way = "influence"  # of objects Blender leaves out what is muted when it builds its graph
    if way == "mute":
        come_and_go(random, constraint, "mute", (True, False), last)
    elif way == "influence":
        come_and_go(random, constraint, "influence", (0.0, random.choice((1.0, 0.3))), last)
    elif way == "driver":
        start = random.randint(2, last - 2)
        curve = constraint.driver_add("influence")
        curve.driver.expression = f"1.0 if {start} <= frame < {start + 2} else 0.0"
    elif way == "property":
        _keyed_switch(random, limb, last)
        curve = constraint.driver_add("influence")
        variable = curve.driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = limb.target, '["switch"]'
        curve.driver.type = 'AVERAGE'
    elif way == "zero":
        constraint.influence = 0.0
        if random.random() < 0.5:
            constraint.keyframe_insert("influence", frame=3)
    elif way == "muted":
        constraint.mute = True


def _keyed_switch(random: Random, limb: Limb, last: int) -> None:
    start = random.randint(2, last - 2)
    for frame, value in ((1, 0.0), (start, random.uniform(0.2, 1.0)), (start + 1.5, 0.0)):
        limb.target["switch"] = value
        limb.target.keyframe_insert('["switch"]', frame=frame)


def _constraint(random: Random, limb: Limb, last: int) -> None:
    bone = _bone(random, limb)
    kind = random.choice(('COPY_ROTATION', 'DAMPED_TRACK', 'LIMIT_ROTATION', 'TRANSFORM', 'COPY_TRANSFORMS'))
    constraint = bone.constraints.new(kind)
    if hasattr(constraint, "target"):
        constraint.target = empty("held", limb.in_world(0.4, 0.3, 0.5))
        if random.random() < 0.5:
            key(random, constraint.target, "location", last, _near(random, constraint.target.location, limb))
    if kind == 'LIMIT_ROTATION':
        constraint.use_limit_x, constraint.max_x, constraint.owner_space = True, 0.2, 'LOCAL'
    elif kind == 'TRANSFORM':
        constraint.map_to, constraint.from_max_x, constraint.to_max_z_rot = 'ROTATION', 1.0, 1.0
    _switched(random, limb, constraint, last)


def _ik(random: Random, limb: Limb, last: int) -> None:
    names = [name for name in (limb.bones[-1], "hand", "foot") if name in limb.armature.pose.bones]
    constraint = limb.armature.pose.bones[random.choice(names)].constraints.new('IK')
    constraint.target = empty("pulls", limb.in_world(0.5, -0.3))
    constraint.chain_count = random.choice((2, 3, 0))
    _switched(random, limb, constraint, last)


def _carried(random: Random, limb: Limb, last: int) -> None:
    bone = _bone(random, limb, (limb.bones[0], "body", "body"))
    kind = random.choice(('COPY_LOCATION', 'CHILD_OF', 'COPY_TRANSFORMS'))
    constraint = bone.constraints.new(kind)
    constraint.target = empty("carries", limb.armature.matrix_world @ bone.head)
    key(random, constraint.target, "location", last, _near(random, constraint.target.location, limb, 0.05))
    _switched(random, limb, constraint, last)


def _driven(random: Random, limb: Limb, last: int) -> None:
    bone = _bone(random, limb, (*limb.bones, "body"))
    curve = bone.driver_add(PATHS.get(bone.rotation_mode, "rotation_euler"), 1)
    start = random.randint(2, last - 2)
    curve.driver.expression = random.choice(
        ("0.3", f"0.4 if {start} < frame < {start + 2} else 0.0", "0.2 * sin(frame)", "0.01 * frame")
    )


def _scaled(random: Random, limb: Limb, last: int) -> None:
    if limb.kind == "foot":  # whose size the looks take from the armature
        return
    bone = _bone(random, limb, (*limb.bones, "body"))
    curve = bone.driver_add("scale", 1)
    start = random.randint(2, last - 2)
    curve.driver.expression = random.choice(("1.1", f"1.2 if {start} < frame < {start + 2} else 1.0"))


def _keyed_before(random: Random, limb: Limb, last: int) -> None:
    bone = _bone(random, limb)
    path = PATHS.get(bone.rotation_mode, "rotation_euler")
    for frame in (1, last // 2, last):
        setattr(bone, path, [random.uniform(0.1, 1.0) for _ in getattr(bone, path)])
        bone.keyframe_insert(path, frame=frame)
    curve = random.choice([one for one in curves_of(limb.armature) if one.data_path.endswith(path)])
    if random.random() < 0.7:
        add_modifier(random, curve, 0.5)
    elif random.random() < 0.5:
        curve.mute = True
    elif curve.group is not None:
        curve.group.mute = True


def _rest(random: Random, limb: Limb, last: int) -> None:
    come_and_go(random, limb.armature.data, "pose_position", ('POSE', 'REST'), last)


def _inherits(random: Random, limb: Limb, last: int) -> None:
    if limb.kind == "aim":  # whose plane the looks take from the body
        return
    body = limb.armature.pose.bones["body"]
    body.rotation_mode, body.rotation_euler = 'XYZ', (0.4, 0.2, -0.3)
    bone = limb.armature.data.bones[random.choice(limb.bones)]
    come_and_go(random, bone, "use_inherit_rotation", (True, False), last)


def _strip(random: Random, limb: Limb, last: int) -> None:
    """Add an NLA strip that turns a bone, or moves the target, on some frames."""
    owner = random.choice((limb.armature, limb.armature, limb.target))
    moved = _bone(random, limb, (*limb.bones, "body")) if owner == limb.armature else owner
    path = PATHS.get(moved.rotation_mode, "rotation_euler") if owner == limb.armature else "delta_location"
    animation = owner.animation_data_create()
    kept = animation.action
    slot = animation.action_slot if hasattr(animation, "action_slot") else None
    animation.action = bpy.data.actions.new("strip")
    values = [[random.uniform(0.05, 0.3) for _ in getattr(moved, path)] for _ in range(3)]
    for frame, value in zip((1, 3, 6), values, strict=True):
        setattr(moved, path, [limb.size * 0.3 * v for v in value] if owner == limb.target else value)
        moved.keyframe_insert(path, frame=frame)
    action, own = (
        animation.action,
        animation.action_slot if slot is not None or hasattr(animation, "action_slot") else None,
    )
    animation.action = kept
    if slot is not None and kept is not None:
        animation.action_slot = slot
    strip = animation.nla_tracks.new().strips.new("strip", random.randint(1, last - 6), action)
    if own is not None:
        strip.action_slot = own
    strip.blend_type = random.choice(('REPLACE', 'ADD', 'COMBINE'))
    strip.extrapolation = random.choice(('NOTHING', 'HOLD', 'HOLD_FORWARD'))
    strip.scale = random.choice((1.0, 0.3, 2.0))


def _hang(limb: Limb, parent: bpy.types.Object) -> None:
    """Hang the target, or what holds it in the plane, on an object where it is."""
    top = limb.target.parent or limb.target
    top.parent = parent
    top.matrix_parent_inverse = parent.matrix_world.inverted()


def _target_held(random: Random, limb: Limb, last: int) -> None:
    parent = empty("parent")
    parent.constraints.new('LIMIT_SCALE')
    _hang(limb, parent)
    if random.random() < 0.5:
        key(random, parent, "location", last, _near(random, (0.0, 0.0, 0.0), limb, 0.1))
    if random.random() < 0.3:
        key(random, parent, "rotation_euler", last, lambda frame: (0.0, 0.0, 0.02 * sin(frame)))


def _target_follows(random: Random, limb: Limb, last: int) -> None:
    constraint = limb.target.constraints.new(random.choice(('COPY_LOCATION', 'LIMIT_DISTANCE', 'CHILD_OF')))
    constraint.target = empty("leads", limb.in_world(0.5, 0.4))
    key(random, constraint.target, "location", last, _near(random, constraint.target.location, limb))
    _switched(random, limb, constraint, last)


def _spun(random: Random, limb: Limb, last: int) -> None:
    """Hang the target on something that turns fast: by a full turn a frame it stands still on all of them."""
    parent = empty("spinner", limb.target.matrix_world.translation + 0.1 * limb.size * Vector((1, 0, 0)))
    parent.constraints.new('LIMIT_SCALE')
    bpy.context.view_layer.update()
    _hang(limb, parent)
    rate = random.choice((0.1, 1.0, 2.0 * pi, pi))
    for frame in (1, last):
        parent.rotation_euler.z = rate * frame
        parent.keyframe_insert("rotation_euler", index=2, frame=frame)
    for curve in curves_of(parent):
        for point in curve.keyframe_points:
            point.interpolation = 'LINEAR'


def _target_driven(random: Random, limb: Limb, last: int) -> None:
    curve = limb.target.driver_add("delta_location", random.randint(0, 2))
    way, size = random.choice(("frame", "step", "reads")), 0.1 * limb.size
    if way == "frame":
        curve.driver.expression = random.choice((f"{size} * sin(frame)", f"{size} * sin(6.2831853 * frame)"))
    elif way == "step":
        curve.driver.expression = f"{size} * floor(frame / 3) / 10"
    else:
        source = empty("source")
        key(random, source, "location", last, _near(random, (0.0, 0.0, 0.0), limb))
        variable = curve.driver.variables.new()
        variable.type = random.choice(('TRANSFORMS', 'SINGLE_PROP'))
        variable.targets[0].id = source
        if variable.type == 'SINGLE_PROP':
            variable.targets[0].data_path = "location.x"
        curve.driver.expression = f"{random.choice((0.3, 1.0, 5.0))} * {variable.name}"


def _armature_moves(random: Random, limb: Limb, last: int) -> None:
    key(random, limb.armature, "location", last, _near(random, limb.armature.location, limb, 0.1))


def _body_moves(random: Random, limb: Limb, last: int) -> None:
    body = limb.armature.pose.bones["body"]
    key(random, body, "location", last, _near(random, (0.0, 0.0, 0.0), limb, 0.05))


def _action_plays(random: Random, limb: Limb, last: int) -> None:
    """Let an Action constraint move the body or the target, through keys of its own."""
    owner = limb.armature.pose.bones["body"]
    action = bpy.data.actions.new("acts")
    kept = limb.armature.animation_data_create().action
    slot = getattr(limb.armature.animation_data, "action_slot", None)
    limb.armature.animation_data.action = action
    owner.rotation_mode = 'XYZ'
    for frame, value in ((0, 0.0), (5, 0.3), (10, -0.2)):
        owner.rotation_euler = (value, 0.0, 0.0)
        owner.keyframe_insert("rotation_euler", frame=frame)
    own = getattr(limb.armature.animation_data, "action_slot", None)
    limb.armature.animation_data.action = kept
    if kept is not None and slot is not None:
        limb.armature.animation_data.action_slot = slot
    constraint = owner.constraints.new('ACTION')
    constraint.target, constraint.action = empty("dial"), action
    if own is not None:
        constraint.action_slot = own
    constraint.transform_channel, constraint.min, constraint.max = 'LOCATION_X', -1.0, 1.0
    constraint.frame_start, constraint.frame_end = 0, 10
    key(random, constraint.target, "location", last, lambda frame: (sin(0.3 * frame), 0.0, 0.0))


ACTS = (
    _constraint, _constraint, _constraint, _ik, _ik, _carried, _carried, _driven, _scaled, _keyed_before,
    _keyed_before, _rest, _inherits, _strip, _strip, _target_held, _target_held, _target_held,
    _target_follows, _target_follows, _spun, _target_driven, _target_driven, _armature_moves, _body_moves,
    _action_plays,
)  # fmt: skip
