# SPDX-License-Identifier: GPL-3.0-or-later
"""Save a scene with every setting, for the tests of later versions: python tools/save_settings.py FILE.blend

FILE.json gets what each setting was. To be run once a version, with bpy 4.2 so that every Blender opens it:
tests/blender/test_saved_files.py keeps one such file of each version in tests/data/saved.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parent.parent
LEGS = ("Plain", "Native", "Adopted", "Footed", "Stored")
# What other settings, or Blender, make of themselves; and what makes the chain a chain.
NOT_STORED = {"rna_type", "name"}
KEPT = {("tip", "IK2D_PG_chain"), ("bone_count", "IK2D_PG_chain")}


def main(file: str) -> int:
    """Build the scene, save it and write what its settings are; return the exit code."""
    sys.path.insert(0, os.environ.get("IK2D_SOURCE", str(ROOT)))
    import ik2d_addon

    ik2d_addon.register()
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.frame_end = 12
    legs = {name: add_leg(name, place) for place, name in enumerate(LEGS)}
    for name in ("Plain", "Native", "Footed", "Stored"):
        chain = legs[name].ik2d.chains.add()
        chain.name, chain.tip, chain.bone_count = f"{name} leg", "shin", 2
        chain.target = bpy.data.objects[f"{name} target"]
        legs[name].ik2d.active_index = 0
    scene.frame_set(1)
    bpy.context.view_layer.update()
    features(legs)
    machines(legs)
    for group in groups(legs["Stored"]):
        choose_every(group)
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(file).resolve()), compress=True)
    settings = {name: dict(stored(leg.ik2d, "")) for name, leg in legs.items()}
    settings["enums"] = {
        f"{type(owner).__name__}.{rule.identifier}": {item.identifier: item.value for item in rule.enum_items}
        for group in groups(legs["Stored"])
        for owner, rule in settings_of(group)
        if rule.type == 'ENUM'
    }
    Path(file).with_suffix(".json").write_text(json.dumps(settings, indent=1, sort_keys=True) + "\n")
    return 0


def add_leg(name: str, place: int) -> bpy.types.Object:
    """Add an armature of two bones beside the others, with an empty that moves; return the armature."""
    data = bpy.data.armatures.new(name)
    leg, target = bpy.data.objects.new(name, data), bpy.data.objects.new(f"{name} target", None)
    for one in (leg, target):
        bpy.context.scene.collection.objects.link(one)
        one.location.x = place
    bpy.context.view_layer.objects.active = leg
    bpy.ops.object.mode_set(mode='EDIT')
    thigh, shin, foot = (data.edit_bones.new(bone) for bone in ("thigh", "shin", "foot"))
    thigh.head, thigh.tail = (0, 0, 2), (0, -0.1, 1)
    shin.head, shin.tail, shin.parent = (0, -0.1, 1), (0, 0, 0.1), thigh
    foot.head, foot.tail, foot.parent = (0, 0, 0.1), (0, -0.25, 0), shin
    bpy.ops.object.mode_set(mode='OBJECT')
    for frame, place_y, height in ((1, -0.3, 0.3), (12, 0.4, 0.6)):
        target.location = (place, place_y, height)
        target.keyframe_insert("location", frame=frame)
    return leg


def features(legs: dict[str, bpy.types.Object]) -> None:
    """Bake, convert, adopt and add a foot, as far as the version has these."""
    constraint = legs["Adopted"].pose.bones["shin"].constraints.new('IK')
    constraint.target, constraint.chain_count = bpy.data.objects["Adopted target"], 2
    try:
        from ik2d_addon.chains import add_foot, adopt, make_native
    except ImportError:
        adopt = make_native = add_foot = None
    if adopt:
        adopt(legs["Adopted"])
        make_native(legs["Native"], legs["Native"].ik2d.chains[0])
        add_foot(legs["Footed"], legs["Footed"].ik2d.chains[0])
    from ik2d_addon.bake import bake

    bake(legs["Plain"], frame_start=1, frame_end=12)


def machines(legs: dict[str, bpy.types.Object]) -> None:
    """Add a baked mechanism, and one whose settings are all to be chosen, if the version has mechanisms."""
    try:
        from ik2d_addon.chains import add_mechanism, add_pin, drive
    except ImportError:
        return
    from ik2d_addon.bake import bake

    data = bpy.data.armatures.new("Machine")
    machine = legs["Machine"] = bpy.data.objects.new("Machine", data)
    bpy.context.scene.collection.objects.link(machine)
    bpy.context.view_layer.objects.active = machine
    bpy.ops.object.mode_set(mode='EDIT')
    crank, coupler, rocker = (data.edit_bones.new(bone) for bone in ("crank", "coupler", "rocker"))
    crank.head, crank.tail = (0, 0, 0), (0, 0, 0.4)
    coupler.head, coupler.tail, coupler.parent = (0, 0, 0.4), (1, 0, 0.9), crank
    rocker.head, rocker.tail = (1, 0, 0), (1, 0, 0.9)
    bpy.ops.object.mode_set(mode='OBJECT')
    turning = machine.pose.bones["crank"]
    turning.rotation_mode = 'XYZ'
    for frame, turn in ((1, 0.0), (12, 0.8)):
        turning.rotation_euler.z = turn
        turning.keyframe_insert("rotation_euler", frame=frame)
    mechanism = add_mechanism(machine, ["crank", "coupler", "rocker"], "Machine")
    add_pin(mechanism, "coupler", 'TAIL', "rocker")
    drive(mechanism, "crank")
    bake(machine, frame_start=1, frame_end=12)
    stored_one = legs["Stored"].ik2d.mechanisms.add()
    for parts in (stored_one.bones, stored_one.joints, stored_one.drivers):
        parts.add()


def groups(armature: bpy.types.Object) -> Iterator[bpy.types.PropertyGroup]:
    """Yield the first chain of an armature, and its first mechanism, if the version has these."""
    yield armature.ik2d.chains[0]
    yield from list(getattr(armature.ik2d, "mechanisms", ()))[:1]


def choose_every(group: bpy.types.PropertyGroup) -> None:
    """Give each setting of a group, its joints and what it points to another value than the default.

    Each owner is looked up by its path: some settings make the list of joints anew.
    """
    found = [(owner.path_from_id(), rule.identifier) for owner, rule in settings_of(group)]
    for number, (path, name) in enumerate(found):
        owner = group.id_data.path_resolve(path)
        rule, current = owner.bl_rna.properties[name], getattr(owner, name)
        if rule.type == 'BOOLEAN':
            value = [not one for one in current] if rule.is_array else not current
        elif rule.type == 'ENUM':
            others = [item.identifier for item in rule.enum_items if item.identifier != current]
            value = others[-1] if others else current
        elif rule.type in ('INT', 'FLOAT'):
            low, high = max(rule.hard_min, 0.0), min(rule.hard_max, 1.0)
            value = low + (high - low) * (0.3 + 0.01 * (number % 40))
            value = max(int(rule.hard_min), 3) if rule.type == 'INT' else value
            value = [value] * rule.array_length if rule.is_array else value
        elif rule.type == 'STRING':
            value = current or f"text {number}"
        elif rule.type == 'POINTER' and rule.fixed_type.identifier == "Object":
            value = bpy.data.objects["Stored target"]
        else:
            continue
        if (rule.identifier, type(owner).__name__) not in KEPT:
            setattr(owner, rule.identifier, value)


def settings_of(
    group: bpy.types.PropertyGroup,
) -> Iterator[tuple[bpy.types.PropertyGroup, bpy.types.Property]]:
    """Yield each property that is stored, with its owner, joints' and nested groups' too."""
    for rule in group.bl_rna.properties:
        if rule.identifier in NOT_STORED or rule.is_readonly and rule.type not in ('POINTER', 'COLLECTION'):
            continue
        value = getattr(group, rule.identifier)
        if rule.type == 'COLLECTION':
            for one in value:
                yield from settings_of(one)
        elif rule.type == 'POINTER' and isinstance(value, bpy.types.PropertyGroup):
            yield from settings_of(value)
        else:
            yield group, rule


def stored(group: bpy.types.PropertyGroup, path: str) -> Iterator[tuple[str, object]]:
    """Yield the path and the value, as JSON has it, of each setting."""
    for rule in group.bl_rna.properties:
        if rule.identifier == "rna_type":
            continue
        here, value = f"{path}.{rule.identifier}".strip("."), getattr(group, rule.identifier)
        if rule.type == 'COLLECTION':
            for i, one in enumerate(value):
                yield from stored(one, f"{here}[{i}]")
        elif isinstance(value, bpy.types.PropertyGroup):
            yield from stored(value, here)
        elif rule.type == 'POINTER':
            yield here, value.name if value else None
        else:
            yield here, list(value) if getattr(rule, "is_array", False) else value


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)
