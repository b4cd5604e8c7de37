# SPDX-License-Identifier: GPL-3.0-or-later
"""Who depends on whom: each kind of edge, and what is none."""

import bpy
import pytest
from rigs import add_armature, add_chain, add_leg

from ik2d_addon.bake import check
from ik2d_addon.rig.chain.dependencies import Movers, acts_now, influences, parents, walk


def add_empty(name):
    ob = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def add_mesh(name, vertices=3):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(i, i * i, 0) for i in range(vertices)], [], [])
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def movers(node):
    """Return the nodes that move one, looked up anew."""
    return Movers()(node)


def named(nodes):
    """Return nodes by their names, without those that are nothing."""
    return {(block.name, bone) for block, bone in nodes if block is not None}


def add_driver(owner, path, *sources, index=-1):
    """Drive a property by variables: each (type, object, {field of its target: value})."""
    curve = owner.driver_add(path, index) if index >= 0 else owner.driver_add(path)
    for kind, ob, fields in sources:
        variable = curve.driver.variables.new()
        variable.type = kind
        variable.targets[0].id = ob
        for name, value in fields.items():
            setattr(variable.targets[0], name, value)
    return curve


# --- The walk -------------------------------------------------------------------------------------


def test_a_walk_finds_all_that_is_led_to_once_the_roots_first():
    edges = {"a": "bc", "b": "d", "c": "da", "d": "e", "e": "", "x": "y", "y": ""}

    def sources(node):
        asked.append(node[0])
        return [(name, "") for name in edges[node[0]]]

    asked = []
    found = [name for name, _ in walk([("a", "")], sources)]
    assert found[0] == "a" and sorted(found) == ["a", "b", "c", "d", "e"]
    assert sorted(asked) == sorted(found)


def test_a_walk_passes_over_nothing_and_tells_bones_apart():
    assert walk([(None, ""), ("a", "")], lambda node: [(None, "x")]) == [("a", "")]
    found = walk([("a", "x"), ("a", "")], lambda node: [("a", "y")] if node[1] == "x" else [])
    assert set(found) == {("a", "x"), ("a", ""), ("a", "y")}
    assert walk([], lambda node: [node]) == []


# --- Parents --------------------------------------------------------------------------------------


def test_a_bone_hangs_on_its_parent_and_a_root_on_its_object():
    leg = add_leg()
    assert list(parents((leg, "shin"))) == [(leg, "thigh")]
    assert list(parents((leg, "body"))) == [(leg, "")]
    assert list(parents((leg, "unknown"))) == [(leg, "")]
    assert list(parents((add_empty("Empty"), "bone"))) == [(bpy.data.objects["Empty"], "")]


def test_an_object_hangs_on_its_parent_or_its_parents_bone():
    leg, child = add_leg(), add_empty("Child")
    assert list(parents((child, ""))) == []
    child.parent = leg
    assert list(parents((child, ""))) == [(leg, "")]
    child.parent_bone = "shin"  # left over from another type
    assert list(parents((child, ""))) == [(leg, "")]
    child.parent_type = 'BONE'
    assert list(parents((child, ""))) == [(leg, "shin")]


# --- What moves -----------------------------------------------------------------------------------


def test_other_data_is_moved_by_nothing():
    assert list(movers((bpy.context.scene, ""))) == []
    assert list(movers((add_mesh("Mesh").data, ""))) == []


def test_constraints_move_and_muted_or_faulty_ones_do_not():
    leg, child = add_leg(), add_empty("Child")
    constraint = child.constraints.new('COPY_LOCATION')
    constraint.target, constraint.subtarget = leg, "shin"
    assert named(movers((child, ""))) == {("Rig", "shin")}
    constraint.mute = True
    assert named(movers((child, ""))) == set()
    constraint.mute, constraint.enabled = False, False
    assert named(movers((child, ""))) == set()


def test_a_bones_constraints_move_that_bone_alone():
    leg, holder = add_leg(), add_empty("Holder")
    leg.pose.bones["shin"].constraints.new('COPY_LOCATION').target = holder
    assert named(movers((leg, "shin"))) == {("Rig", "thigh"), ("Holder", "")}
    assert named(movers((leg, "thigh"))) == {("Rig", "body")}
    assert named(movers((leg, ""))) == set()
    leg.constraints.new('COPY_LOCATION').target = add_empty("Other")
    assert named(movers((leg, ""))) == {("Other", "")}
    assert named(movers((leg, "thigh"))) == {("Rig", "body")}


def test_every_target_of_an_armature_constraint_moves():
    leg, child = add_leg(), add_empty("Child")
    constraint = child.constraints.new('ARMATURE')
    for target, bone in ((leg, "shin"), (leg, "body")):
        entry = constraint.targets.new()
        entry.target, entry.subtarget = target, bone
    assert named(movers((child, ""))) == {("Rig", "shin"), ("Rig", "body")}


def test_a_group_of_a_mesh_brings_the_bones_that_deform_it():
    leg, skin, child = add_leg(), add_mesh("Skin"), add_empty("Child")
    skin.vertex_groups.new(name="shin").add([0], 1.0, 'REPLACE')
    skin.vertex_groups.new(name="thigh").add([1], 1.0, 'REPLACE')
    skin.vertex_groups.new(name="spot").add([1], 1.0, 'REPLACE')
    skin.modifiers.new("Armature", 'ARMATURE').object = leg
    constraint = child.constraints.new('COPY_LOCATION')
    constraint.target, constraint.subtarget = skin, "spot"
    assert named(movers((child, ""))) == {("Skin", "spot"), ("Rig", "thigh")}
    constraint.subtarget = "nothing"
    assert named(movers((child, ""))) == {("Skin", "nothing")}


@pytest.mark.parametrize("kind", ['VERTEX', 'VERTEX_3'])
def test_a_vertex_parent_brings_the_bones_that_deform_its_vertices(kind):
    leg, skin, child = add_leg(), add_mesh("Skin", 4), add_empty("Child")
    skin.vertex_groups.new(name="shin").add([2], 1.0, 'REPLACE')
    skin.vertex_groups.new(name="thigh").add([3], 1.0, 'REPLACE')
    skin.vertex_groups.new(name="no bone").add([2], 1.0, 'REPLACE')
    child.parent, child.parent_type = skin, kind
    child.parent_vertices = (2, 2, 2)
    assert named(movers((child, ""))) == {("Skin", "")}
    skin.modifiers.new("Subdivision", 'SUBSURF')
    modifier = skin.modifiers.new("Armature", 'ARMATURE')
    assert named(movers((child, ""))) == {("Skin", "")}
    modifier.object = leg
    assert named(movers((child, ""))) == {("Skin", ""), ("Rig", "shin")}
    child.parent_vertices = (4, 400, 3)  # beyond the mesh, as after it was edited
    expected = {("Rig", "thigh")} if kind == 'VERTEX_3' else set()
    assert named(movers((child, ""))) == {("Skin", "")} | expected
    child.parent_type, child.parent_vertices = 'OBJECT', (2, 2, 2)  # left over from another type
    assert named(movers((child, ""))) == {("Skin", "")}


def test_a_point_of_a_lattice_brings_the_bones_that_deform_it():
    leg, child = add_leg(), add_empty("Child")
    lattice = bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
    bpy.context.scene.collection.objects.link(lattice)
    lattice.vertex_groups.new(name="shin").add([1], 1.0, 'REPLACE')
    lattice.modifiers.new("Armature", 'ARMATURE').object = leg
    child.parent, child.parent_type, child.parent_vertices = lattice, 'VERTEX', (1, 0, 0)
    assert named(movers((child, ""))) == {("Lattice", ""), ("Rig", "shin")}
    child.parent_vertices = (0, 1, 1)
    assert named(movers((child, ""))) == {("Lattice", "")}


@pytest.mark.parametrize("kind", ['CURVE', 'SURFACE', 'MESH'])
def test_a_vertex_parent_brings_what_its_vertices_are_hooked_to(kind):
    leg, child = add_leg(), add_empty("Child")
    carrier = add_mesh("Carrier")
    if kind != 'MESH':
        carrier = bpy.data.objects.new("Curve", bpy.data.curves.new("Carrier", kind))
        bpy.context.scene.collection.objects.link(carrier)
    child.parent, child.parent_type, child.parent_vertices = carrier, 'VERTEX', (2, 0, 0)
    hook = carrier.modifiers.new("Hook", 'HOOK')
    assert named(movers((child, ""))) == {(carrier.name, "")}
    hook.object, hook.subtarget = leg, "shin"
    if kind == 'MESH':
        hook.vertex_indices_set([0])
        assert named(movers((child, ""))) == {(carrier.name, "")}
        hook.vertex_indices_set([1, 2])
    assert named(movers((child, ""))) == {(carrier.name, ""), ("Rig", "shin")}


@pytest.mark.parametrize("held", ['FOLLOW_PATH', 'CLAMP_TO', 'SHRINKWRAP', "parent"])
def test_a_target_held_to_a_shape_that_is_hooked_to_its_chain_is_a_loop(held):
    leg, target = add_leg(), add_empty("Target")
    shape = add_mesh("Shape")
    if held != 'SHRINKWRAP':
        data = bpy.data.curves.new("Shape", 'CURVE')
        data.splines.new('POLY').points.add(2)
        data.use_path = True
        shape = bpy.data.objects.new("Shape", data)
        bpy.context.scene.collection.objects.link(shape)
    if held == "parent":
        target.parent = shape
    else:
        target.constraints.new(held).target = shape
    add_chain(leg, "shin", target)
    hook = shape.modifiers.new("Hook", 'HOOK')
    hook.object, hook.subtarget = leg, "body"
    assert check(leg) == []
    hook.subtarget = "shin"
    assert "is moved by the chain itself: it depends on bone 'shin'" in check(leg)[0]


def test_an_armature_that_has_no_pose_yet_deforms_nothing():
    skin, child = add_mesh("Skin"), add_empty("Child")
    skin.vertex_groups.new(name="bone").add([0], 1.0, 'REPLACE')
    new = bpy.data.objects.new("New", bpy.data.armatures.new("New"))
    skin.modifiers.new("Armature", 'ARMATURE').object = new
    child.parent, child.parent_type, child.parent_vertices = skin, 'VERTEX', (0, 0, 0)
    assert new.pose is None and named(movers((child, ""))) == {("Skin", "")}


def test_a_vertex_parent_that_is_no_mesh_has_no_skin():
    curve = bpy.data.objects.new("Curve", bpy.data.curves.new("Curve", 'CURVE'))
    bpy.context.scene.collection.objects.link(curve)
    child = add_empty("Child")
    constraint = child.constraints.new('COPY_LOCATION')
    constraint.target = curve
    assert named(movers((child, ""))) == {("Curve", "")}


# --- Drivers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, fields, expected",
    [
        ('TRANSFORMS', {"bone_target": "shin"}, ("Rig", "shin")),
        ('TRANSFORMS', {}, ("Rig", "")),
        ('SINGLE_PROP', {"data_path": "location.x"}, ("Rig", "")),
        ('SINGLE_PROP', {"data_path": 'pose.bones["shin"].location[0]'}, ("Rig", "shin")),
        ('SINGLE_PROP', {"data_path": 'pose.bones["shin"].rotation_euler[0]'}, ("Rig", "shin")),
        ('SINGLE_PROP', {"data_path": 'pose.bones["shin"].scale[1]'}, ("Rig", "shin")),
        ('SINGLE_PROP', {"data_path": 'pose.bones["shin"].matrix[0]'}, ("Rig", "shin")),
        ('SINGLE_PROP', {"data_path": 'pose.bones["shin"].head[0]'}, ("Rig", "shin")),
        ('SINGLE_PROP', {"data_path": 'pose.bones["shin"].tail[0]'}, ("Rig", "shin")),
        ('SINGLE_PROP', {"data_path": 'pose.bones["shin"]["custom"]'}, None),
        ('SINGLE_PROP', {"data_path": '["custom"]'}, None),
    ],
    ids=str,
)
def test_a_driver_brings_what_its_variables_read_places_from(kind, fields, expected):
    leg, child = add_leg(), add_empty("Child")
    curve = add_driver(child, "location", (kind, leg, fields), index=0)
    assert named(movers((child, ""))) == ({expected} if expected else set())
    curve.mute = True
    assert named(movers((child, ""))) == set()


def test_a_variable_of_two_objects_brings_both_and_other_data_none():
    leg, child, other = add_leg(), add_empty("Child"), add_empty("Other")
    curve = add_driver(child, "location", ('LOC_DIFF', leg, {"bone_target": "shin"}), index=0)
    curve.driver.variables[0].targets[1].id = other
    assert named(movers((child, ""))) == {("Rig", "shin"), ("Other", "")}
    variable = curve.driver.variables.new()
    variable.targets[0].id_type = 'SCENE'
    variable.targets[0].id = bpy.context.scene
    variable.targets[0].data_path = "frame_current"
    assert named(movers((child, ""))) == {("Rig", "shin"), ("Other", "")}


def test_bone_names_in_paths_are_unescaped():
    leg, child = add_armature({'say "a"': ((0, 0, 0), (0, 0, 1), "", 0.0)}), add_empty("Child")
    path = leg.pose.bones[0].path_from_id("location")
    add_driver(child, "location", ('SINGLE_PROP', leg, {"data_path": f"{path}[0]"}), index=0)
    (found,) = [node for node in movers((child, "")) if node[1]]
    assert found == (leg, 'say "a"')


def test_a_bones_drivers_are_its_own_and_the_objects_are_its():
    leg, one, two = add_leg(), add_empty("One"), add_empty("Two")
    add_driver(leg.pose.bones["shin"], "location", ('TRANSFORMS', one, {}), index=0)
    add_driver(leg, "location", ('TRANSFORMS', two, {}), index=0)
    assert named(movers((leg, "shin"))) == {("Rig", "thigh"), ("One", "")}
    assert named(movers((leg, "thigh"))) == {("Rig", "body")}
    assert named(movers((leg, ""))) == {("Two", "")}


# --- Influences -----------------------------------------------------------------------------------


def test_an_object_may_depend_on_its_parent_its_data_and_all_constraints():
    leg, child, pole = add_leg(), add_mesh("Child"), add_empty("Pole")
    child.parent = leg
    assert named(influences((child, ""))) == {("Rig", ""), ("Child", "")}
    constraint = leg.pose.bones["shin"].constraints.new('IK')
    constraint.target, constraint.pole_target = child, pole
    constraint.mute = True  # what it may depend on, whatever is keyed
    entry = leg.constraints.new('ARMATURE').targets.new()
    entry.target = add_leg("Held")
    found = named(influences((leg, "")))
    assert found == {("Rig", ""), ("Child", ""), ("Pole", ""), ("Held", "")}
    assert child.data in {block for block, _ in influences((child, ""))}
    assert all(bone == "" for _, bone in influences((leg, "")))


def test_drivers_of_any_block_influence_but_for_the_scene():
    leg, one = add_leg(), add_empty("One")
    curve = add_driver(leg.data, '["x"]' if "x" in leg.data else "display_type", ('TRANSFORMS', one, {}))
    variable = curve.driver.variables.new()
    variable.targets[0].id_type = 'SCENE'
    variable.targets[0].id = bpy.context.scene
    assert named(influences((leg.data, ""))) == {("One", "")}
    assert named(influences((bpy.context.scene, ""))) == set()
    child = add_empty("Child")
    add_driver(child, "location", ('TRANSFORMS', leg, {"bone_target": "shin"}), index=0).mute = True
    assert named(influences((child, ""))) == {("Rig", "")}


# --- Drivers --------------------------------------------------------------------------------------


def test_drivers_are_found_by_their_bone_and_by_their_property():
    leg = add_leg()
    name = 'odd"]. \\ name'
    leg.data.bones["shin"].name = name
    bone = leg.pose.bones[name]
    bone["own"] = 1.0
    path = bone.path_from_id("location")
    parts = [leg.driver_add(path, index) for index in (0, 1)]
    custom, whole = leg.driver_add(f'{bone.path_from_id()}["own"]'), leg.driver_add("location", 2)
    found = Movers()
    assert found.drivers_on(leg, name) == parts and found.drivers_on(leg, "thigh") == []
    assert found.drivers_on(leg, "") == [whole]
    assert found.drivers_of(leg, f"{path}[1]") == found.drivers_of(leg, path) == parts
    assert found.drivers_of(leg, f'{bone.path_from_id()}["own"]') == [custom]
    assert found.drivers_of(leg, "scale") == [] and found.drivers_of(leg.data, "location") == []


def test_movers_that_are_known_are_not_looked_up_again():
    leg = add_leg()
    found = Movers()
    assert named(found((leg, "shin"))) == {("Rig", "thigh")}
    add_driver(
        leg, leg.pose.bones["shin"].path_from_id("location"), ('TRANSFORMS', add_empty("New"), {}), index=0
    )
    assert named(found((leg, "shin"))) == {("Rig", "thigh")}
    assert named(movers((leg, "shin"))) == {("Rig", "thigh"), ("New", "")}


def test_a_constraint_acts_unless_it_is_muted_or_has_no_influence():
    constraint = add_empty("held").constraints.new('COPY_LOCATION')
    assert acts_now(constraint)
    constraint.mute = True
    assert not acts_now(constraint)
    constraint.mute, constraint.influence = False, 0.0
    assert not acts_now(constraint)
