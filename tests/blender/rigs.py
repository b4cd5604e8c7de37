# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs for the tests, and Blender's own word on where a tip is."""

import sys
from collections.abc import Callable, Iterator, Sequence
from math import cos, sin

import bpy
import numpy as np
from mathutils import Vector

Point = Sequence[float]


def add_armature(bones: dict[str, tuple], name: str = "Rig") -> bpy.types.Object:
    """Add an armature; `bones` are name: (head, tail, parent or "", roll), parents first."""
    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    armature.select_set(True)
    bpy.ops.object.mode_set(mode='EDIT')
    for bone_name, (head, tail, parent, roll) in bones.items():
        bone = data.edit_bones.new(bone_name)
        bone.head, bone.tail, bone.roll = head, tail, roll
        bone.parent = data.edit_bones[parent] if parent else None
        bone.use_connect = bool(parent) and (bone.parent.tail - bone.head).length < 1e-6
    bpy.ops.object.mode_set(mode='OBJECT')
    return armature


def add_leg(name: str = "Rig") -> bpy.types.Object:
    """Add a body with a leg of two bones in the plane x = 0, bent forward (-Y) at the knee."""
    return add_armature(
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "body", 0.4),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", -0.2),
        },
        name,
    )


def add_crane(
    slides: dict[str, tuple[float, float]], roll: float = 0.0, drop: float = 0.0, beside: float = 0.0
) -> tuple[bpy.types.Object, bpy.types.PropertyGroup]:
    """Add a boom of three bones that nothing connects, with a chain; return both.

    slides: {bone: (least, greatest added length)}. It points along Y, straight unless a `drop` lets it bend
    downwards; `beside` puts the heads of the last two bones that far above the tails before.
    """
    armature = add_armature(
        {
            "boom": ((0, 0, 1.0), (0, 2.0, 1.0), "", roll),
            "inner": ((0, 2.0, 1.0 + beside), (0, 3.5, 1.0 + beside - drop), "boom", roll),
            "outer": (
                (0, 3.5, 1.0 + 2 * beside - drop),
                (0, 4.5, 1.0 + 2 * beside - 2 * drop),
                "inner",
                roll,
            ),
        }
    )
    disconnect(armature)
    chain = add_chain(armature, "outer", None, bone_count=3, name="crane")
    for bone, (least, most) in slides.items():
        set_slide(chain, bone, least, most)
    return armature, chain


TELESCOPE = {"boom": (-0.5, 1.0), "inner": (0.0, 0.75)}
SLIDES = {**TELESCOPE, "outer": (0.0, 0.5)}
# Near and far: between them the crane, 4.5 long, slides in and out.
CRANE_PATH = {1: (0, 3.4, 2.0), 8: (0, 4.6, 2.6), 16: (0, 3.6, 4.2), 24: (0, 3.0, 1.2)}


def crane_with_target(
    slides: dict[str, tuple[float, float]] = TELESCOPE,
    solver: str = 'EVEN',
    path: dict[int, Point] = CRANE_PATH,
    **shape: float,
) -> tuple[bpy.types.Object, bpy.types.PropertyGroup]:
    """Add the crane, and a target that moves from frame 1 to 24; return the armature and its chain."""
    armature, chain = add_crane(slides, **shape)
    chain.target, chain.solver = add_target(path), solver
    return armature, chain


def edit(armature: bpy.types.Object, change: Callable) -> None:
    """Change an armature in Edit Mode; `change` gets its edit bones."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    change(armature.data.edit_bones)
    bpy.ops.object.mode_set(mode='OBJECT')


def disconnect(armature: bpy.types.Object) -> None:
    """Give all bones locations of their own."""
    edit(armature, lambda bones: bones.foreach_set("use_connect", [False] * len(bones)))


def connect(armature: bpy.types.Object, bone: str) -> None:
    """Connect a bone to its parent, which leaves it no location."""
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones[bone].use_connect = True
    bpy.ops.object.mode_set(mode='OBJECT')


def override_from(library: str, *names: str) -> bpy.types.Object:
    """Link objects of a file into an empty scene; return the override of the first, which takes its place."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(library, link=True) as (_there, wanted):
        wanted.objects = list(names)
    override = wanted.objects[0].override_create()
    override.override_library.is_system_override = False
    for ob in (override, *wanted.objects[1:]):
        bpy.context.scene.collection.objects.link(ob)
    return override


def set_slide(chain: bpy.types.PropertyGroup, bone: str, least: float, most: float) -> None:
    """Let a bone of a chain slide."""
    joint = chain.joints[bone]
    joint.use_slide, joint.slide_max, joint.slide_min = True, most, least


def add_target(keys: dict[int, Point], name: str = "Target") -> bpy.types.Object:
    """Add an empty that is at the given places at the given frames."""
    target = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(target)
    for frame, place in keys.items():
        target.location = place
        target.keyframe_insert("location", frame=frame)
    return target


def add_chain(
    armature: bpy.types.Object, tip: str, target: bpy.types.Object | None, bone_count: int = 2, **settings
):
    """Add a chain to `armature.ik2d`, named after its tip unless the settings name it."""
    chain = armature.ik2d.chains.add()
    for key, value in {
        "name": tip,
        "tip": tip,
        "target": target,
        "bone_count": bone_count,
        **settings,
    }.items():
        setattr(chain, key, value)
    return chain


def stored_settings(armature: bpy.types.Object):
    """Return what Blender keeps of an armature's settings, to write past its checks."""
    if hasattr(armature, "bl_system_properties_get"):  # 5.0
        return armature.bl_system_properties_get()["ik2d"]
    return armature["ik2d"]


def leg_with_target(**settings) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Add the leg, and a foot target that swings within reach from frame 1 to 40."""
    armature = add_leg()
    target = add_target({1: (0, 0.2, 0.3), 20: (0, -0.9, 0.8), 40: (0, 0.8, 0.6)})
    add_chain(armature, "shin", target, **settings)
    return armature, target


def stretching_arm(
    inherit: str = 'NONE',
    lengths: Sequence[float] = (1.0, 1.0),
    keys: dict[int, Point] | None = None,
    **settings,
):
    """Add an arm of bones "bone0", "bone1" .. that bends up from +Y, with a chain that may stretch to double.

    inherit: how all bones but the first inherit scale. keys: of its target, else from within reach to
    beyond and back, frames 1 to 40, which are the scene's. Returns armature and chain.
    """
    bones, place, parent = {}, Vector((0.0, 0.0, 0.0)), ""
    for i, length in enumerate(lengths):
        tail = place + length * Vector((0.0, cos(0.4 * i), sin(0.4 * i)))
        bones[f"bone{i}"] = (tuple(place), tuple(tail), parent, 0.3 * i)
        place, parent = tail, f"bone{i}"
    armature = add_armature(bones, "Arm")
    for bone in armature.data.bones[1:]:
        bone.inherit_scale = inherit
    target = add_target(keys or {1: (0, 0.5, 1.0), 20: (0, 2.5, 2.0), 40: (0, -0.5, 0.8)})
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 40
    chain = add_chain(armature, parent, target, len(lengths), **{"stretch": 2.0, **settings})
    return armature, chain


def evaluated_tip(armature: bpy.types.Object, tip: str) -> Vector:
    """Return where Blender has the tail of a bone now, in the world."""
    evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return evaluated.matrix_world @ evaluated.pose.bones[tip].tail


def evaluated_place(target: bpy.types.Object, subtarget: str = "") -> Vector:
    """Return where Blender has a target now, in the world."""
    evaluated = target.evaluated_get(bpy.context.evaluated_depsgraph_get())
    if subtarget:
        return evaluated.matrix_world @ evaluated.pose.bones[subtarget].head
    return evaluated.matrix_world.translation.copy()


def played_back_errors(
    armature: bpy.types.Object, chain, frames: Sequence[int]
) -> Iterator[tuple[int, float]]:
    """Yield (frame, distance from the evaluated tip to the evaluated target)."""
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        tip = evaluated_tip(armature, chain.tip)
        yield frame, (tip - evaluated_place(chain.target, chain.subtarget)).length


def errors_on(frames: Sequence[int], armature: bpy.types.Object, chain) -> np.ndarray:
    """Return how far Blender has the tip from its target on some frames."""
    return np.array([error for _, error in played_back_errors(armature, chain, frames)])


def animation_of(armature: bpy.types.Object) -> dict:
    """Return every F-Curve of an object with all that its keys hold, to compare before and after."""
    from ik2d_addon.rig.animation.versions import existing_fcurves

    return {
        (curve.data_path, curve.array_index): [
            (
                *k.co,
                *k.handle_left,
                *k.handle_right,
                k.handle_left_type,
                k.handle_right_type,
                k.interpolation,
                k.type,
            )
            for k in curve.keyframe_points
        ]
        for curve in existing_fcurves(armature)
    }


KEY_COLUMNS = {
    "co": 2,
    "handle_left": 2,
    "handle_right": 2,
    "handle_left_type": 0,
    "handle_right_type": 0,
    "interpolation": 0,
    "easing": 0,
    "type": 0,
    "amplitude": 1,
    "period": 1,
    "back": 1,
    "select_control_point": 0,
    "select_left_handle": 0,
    "select_right_handle": 0,
}


def every_bit_of(curve: bpy.types.FCurve) -> list[tuple]:
    """Return all that each key of an F-Curve holds, to the last bit of its 32-bit floats."""
    return [
        tuple(
            tuple(x.hex() for x in getattr(key, name)) if width == 2 else getattr(key, name)
            for name, width in KEY_COLUMNS.items()
        )
        for key in curve.keyframe_points
    ]


def settings_of(struct: bpy.types.bpy_struct) -> dict:
    """Return all plain settings of something in Blender, floats to the last bit; other data by name."""
    found = {}
    for prop in struct.bl_rna.properties:
        if prop.type in ('COLLECTION', 'STRUCT') or prop.identifier in _NOT_SETTINGS:
            continue
        value = getattr(struct, prop.identifier)
        if prop.type == 'POINTER':
            value = getattr(value, "name_full", None) or getattr(value, "identifier", None)
        elif prop.type == 'FLOAT':
            value = [x.hex() for x in np.ravel(value).tolist()] if prop.is_array else value.hex()
        elif getattr(prop, "is_array", False):
            value = list(value)
        found[prop.identifier] = value
    return found


# Who uses a data block counts apart; where a thing is in memory, or what others made of it, says nothing.
_NOT_SETTINGS = {"rna_type", "users", "session_uid", "tag", "is_evaluated", "original", "preview", "driver"}


def every_bit_of_animation(ob: bpy.types.ID) -> dict:
    """Return the whole animation of a data block, to compare before and after."""
    animation = ob.animation_data
    if animation is None:
        return {}
    action = animation.action
    return {
        "action": action and action.name_full,
        "slot": action and getattr(animation.action_slot, "identifier", None)
        if hasattr(animation, "action_slot")
        else None,
        "settings": settings_of(animation),
        "drivers": [_curve_settings(curve) for curve in animation.drivers],
        "tracks": [
            (settings_of(track), [_strip(strip) for strip in track.strips]) for track in animation.nla_tracks
        ],
        **(contents_of(action) if action else {}),
    }


def _strip(strip: bpy.types.NlaStrip) -> tuple:
    curves = [(_curve_settings(curve), every_bit_of(curve)) for curve in strip.fcurves]
    modifiers = [settings_of(modifier) for modifier in strip.modifiers]
    return settings_of(strip), curves, modifiers, [_strip(inner) for inner in strip.strips]


def _curve_settings(curve: bpy.types.FCurve) -> dict:
    """Return all of an F-Curve but its keys."""
    found = {
        **settings_of(curve),
        "modifiers": [settings_of(modifier) for modifier in curve.modifiers],
        "samples": [tuple(x.hex() for x in point.co) for point in curve.sampled_points],
    }
    if curve.driver:
        found["driver"] = settings_of(curve.driver)
    return found


def contents_of(action: bpy.types.Action) -> dict:
    """Return all curves, groups, slots, layers, markers and settings of an action."""
    if hasattr(action, "layers"):  # 4.4 and later
        bags = {
            bag.slot.identifier: bag
            for layer in action.layers
            for strip in layer.strips
            for bag in strip.channelbags
        }
        layers = [(layer.name, [strip.type for strip in layer.strips]) for layer in action.layers]
        shape = [settings_of(slot) for slot in action.slots], layers, list(bags)
    else:
        bags, shape = {"": action}, None
    return {
        "shape": shape,
        "curves": {
            (owner, curve.data_path, curve.array_index): (
                curve.group and curve.group.name,
                tuple(sorted((name, repr(value)) for name, value in _curve_settings(curve).items())),
                every_bit_of(curve),
            )
            for owner, bag in bags.items()
            for curve in bag.fcurves
        },
        "order": [(owner, c.data_path, c.array_index) for owner, bag in bags.items() for c in bag.fcurves],
        "groups": {owner: [_group(group) for group in bag.groups] for owner, bag in bags.items()},
        "of the action": {**settings_of(action), "markers": [(m.name, m.frame) for m in action.pose_markers]},
    }


def _group(group: bpy.types.ActionGroup) -> tuple:
    channels = [(curve.data_path, curve.array_index) for curve in group.channels]
    return settings_of(group), settings_of(group.colors), channels


def but_jumps(warnings: Sequence[str]) -> list[str]:
    """Return the warnings without those of joints that turn far in a frame, as wild targets make them."""
    return [warning for warning in warnings if " turns by " not in warning]


def add_modifiers(curve: bpy.types.FCurve) -> None:
    """Add an additive Built-in Function, an additive Generator and an Envelope with a point to an F-Curve."""
    function, generator = (curve.modifiers.new(kind) for kind in ('FNGENERATOR', 'GENERATOR'))
    function.use_additive, function.amplitude = True, 0.25
    generator.use_additive, generator.coefficients = True, (0.125, 0.01)
    points = curve.modifiers.new('ENVELOPE').control_points
    points.add(5.0)
    points.foreach_set("min", [-0.5])  # not point.min = -0.5: Blender may crash (copy_curve)
    points.foreach_set("max", [0.75])


def is_selected(pose_bone: bpy.types.PoseBone) -> bool:
    """Return whether a pose bone is selected."""
    if hasattr(pose_bone, "select"):  # 5.0 moved it here; the other branch goes with 4.5
        return pose_bone.select
    return pose_bone.bone.select


def plays_back_worse(report) -> bool:
    """Return whether Blender leaves a tip further from its target than was promised, beyond its rounding."""
    return report.played.worse_by > report.standard.tolerance


def press(name: str) -> None:
    """Press a button, where it can be; an error of ours is what a button may end with."""
    button = getattr(bpy.ops.ik2d, name)
    if button.poll():
        try:
            button()
        except RuntimeError as error:
            assert "Traceback" not in str(error), (name, str(error))


def calls_of(task: Callable[[], object]) -> int:
    """Return how many functions a task calls, Python's own among them; of Blender's, none."""
    calls = []

    def count(_frame, event, _argument):
        if event in ("call", "c_call"):
            calls.append(event)

    sys.setprofile(count)
    try:
        task()
    finally:
        sys.setprofile(None)
    return len(calls)


def as_baked(key: bpy.types.Keyframe) -> None:
    """Make a key one that a bake has made: as those of 1.0.0, which have no marks."""
    key.type = 'GENERATED'
    key.amplitude = key.period = key.back = 0.0
