# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets of every kind, several chains at once, and which scene the samples come from."""

import bpy
import pytest
from mathutils import Matrix
from rigs import (
    add_armature,
    add_chain,
    add_leg,
    add_target,
    evaluated_place,
    evaluated_tip,
    played_back_errors,
)

from ik2d_addon.bake import bake
from ik2d_addon.core import IK2DError

PLAYED_BACK = 1e-5  # of reach
LAST = 12
EVERY_FRAME = range(1, LAST + 1)
SWING = {1: (0, 0.2, 0.5), 6: (0, -0.7, 0.8), LAST: (0, 0.6, 0.6)}


def add_empty(name, location=(0, 0, 0)):
    ob = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(ob)
    ob.location = location
    return ob


def assert_follows(armature, *chains, report=None, full_scene=False):
    """Bake, and hold each tip that Blender evaluates to its target; say where the samples came from."""
    report = report or bake(armature, frame_start=1, frame_end=LAST)
    assert report.all_reached, report.sentence()
    assert bool(report.full_scene) == full_scene, report.full_scene
    for chain in chains:
        result = next(result for result in report.chains if result.name == chain.name)
        moved = set()
        for frame, error in played_back_errors(armature, chain, EVERY_FRAME):
            assert error <= PLAYED_BACK * result.standard.reach, (chain.name, frame, error)
            moved.add(tuple(round(x, 4) for x in evaluated_tip(armature, chain.tip)))
        assert len(moved) > 5, "the target should move in this test"
    return report


# --- What may be a target -------------------------------------------------------------------------


def plain(armature):
    return add_target(SWING), ""


def parented(armature):
    holder, middle = add_target({1: (0, 0, 0), LAST: (0, 0.2, 0.3)}, "Holder"), add_empty("Middle")
    for frame, turn in ((1, 0.0), (LAST, 0.6)):
        middle.rotation_euler.x = turn
        middle.keyframe_insert("rotation_euler", frame=frame)
    target = add_empty("Target", (0, -0.4, 0.6))
    middle.parent, target.parent = holder, middle
    return target, ""


def copying_location(armature):
    target = add_empty("Target")
    target.constraints.new('COPY_LOCATION').target = add_target(SWING, "Guide")
    return target, ""


def following_a_path(armature):
    data = bpy.data.curves.new("Path", 'CURVE')
    data.dimensions, data.path_duration = '3D', LAST
    spline = data.splines.new('POLY')
    spline.points.add(2)
    for point, place in zip(spline.points, SWING.values(), strict=True):
        point.co = (*place, 1.0)
    path = bpy.data.objects.new("Path", data)
    bpy.context.scene.collection.objects.link(path)
    data.use_path = True
    data.eval_time = 0.0
    data.keyframe_insert("eval_time", frame=1)
    data.eval_time = LAST
    data.keyframe_insert("eval_time", frame=LAST)
    target = add_empty("Target")
    target.constraints.new('FOLLOW_PATH').target = path
    return target, ""


def driven_by_an_object(armature):
    guide, target = add_target(SWING, "Guide"), add_empty("Target")
    for index, channel in ((1, 'LOC_Y'), (2, 'LOC_Z')):
        driver = target.driver_add("location", index).driver
        variable = driver.variables.new()
        variable.name, variable.type = "place", 'TRANSFORMS'
        variable.targets[0].id, variable.targets[0].transform_type = guide, channel
        driver.expression = "place"
    return target, ""


def driven_by_the_frame(armature):
    target = add_empty("Target", (0, 0, 0.6))
    target.driver_add("location", 1).driver.expression = "0.5 * sin(frame / 3)"
    return target, ""


def animated_by_strips(armature):
    target = add_target(SWING)
    animation = target.animation_data
    action = animation.action
    slot = getattr(animation, "action_slot", None)
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("Swing", 1, action)
    if slot is not None:
        strip.action_slot = slot
    strip.scale = 1.2
    return target, ""


def a_bone_of_the_same_armature(armature):
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    bone = armature.data.edit_bones.new("control")
    bone.head, bone.tail, bone.roll = (0, 0, 0.5), (0, 0.4, 0.6), 0.0
    bpy.ops.object.mode_set(mode='OBJECT')
    control = armature.pose.bones["control"]
    for frame, (_, y, z) in SWING.items():
        control.location = control.bone.matrix_local.to_3x3().transposed() @ vector((0, y, z - 0.5))
        control.keyframe_insert("location", frame=frame)
    return armature, "control"


def vector(values):
    from mathutils import Vector

    return Vector(values)


def a_bone_of_another_armature(armature):
    other = add_armature(
        {"base": ((0, 0, 0), (0, 0, 0.5), "", 0), "end": ((0, 0, 0.5), (0, 0.4, 0.5), "base", 0)}, "Other"
    )
    for frame, (_, y, z) in SWING.items():
        other.location = (0, y, z - 0.5)
        other.keyframe_insert("location", frame=frame)
    base = other.pose.bones["base"]
    base.rotation_mode = 'XYZ'
    for frame, turn in ((1, 0.0), (LAST, 0.3)):
        base.rotation_euler.x = turn
        base.keyframe_insert("rotation_euler", frame=frame)
    return other, "end"


def held_by_a_bone(armature):
    other, _ = a_bone_of_another_armature(armature)
    target = add_empty("Target", (0, -0.4, 0))
    target.parent, target.parent_type, target.parent_bone = other, 'BONE', "end"
    return target, ""


def held_by_a_vertex(armature):
    mesh = bpy.data.meshes.new("Blob")
    mesh.from_pydata([(0, 0, 0), (0, 0.1, 0), (0, 0, 0.1)], [], [(0, 1, 2)])
    blob = bpy.data.objects.new("Blob", mesh)
    bpy.context.scene.collection.objects.link(blob)
    other, bone = a_bone_of_another_armature(armature)
    blob.vertex_groups.new(name=bone).add([0, 1, 2], 1.0, 'REPLACE')
    blob.modifiers.new("Armature", 'ARMATURE').object = other
    target = add_empty("Target", (0, 0, 0.6))
    target.parent, target.parent_type = blob, 'VERTEX'
    target.parent_vertices = (1, 1, 1)
    return target, ""


def held_by_points_of(kind, parent_type):
    """Return a kind of target: held by control points of a curve, surface or lattice that moves."""

    def held(armature):
        if kind == 'LATTICE':
            data = bpy.data.lattices.new("Carrier")
            data.points_u = 1  # in the plane of the leg
        else:
            data = bpy.data.curves.new("Carrier", kind)
            spline = data.splines.new('BEZIER' if kind == 'CURVE' else 'NURBS')
            points = spline.bezier_points if kind == 'CURVE' else spline.points
            points.add(3)
            for i, point in enumerate(points):
                point.co = (0.0, 0.1 * i, 0.01 * i * i, 1.0)[: len(point.co)]
        carrier = bpy.data.objects.new("Carrier", data)
        bpy.context.scene.collection.objects.link(carrier)
        carrier.scale = (0.01, 0.01, 0.01)
        for frame, place in SWING.items():
            carrier.location = place
            carrier.keyframe_insert("location", frame=frame)
        target = add_empty("Target", (0, 0, 0))
        target.parent, target.parent_type = carrier, parent_type
        target.parent_vertices = (0, 1, 2)
        return target, ""

    held.__name__ = f"held_by_{parent_type}_of_{kind}"
    return held


def hidden(armature):
    target, _ = parented(armature)
    target.hide_viewport = True
    return target, ""


def hidden_in_the_view_layer(armature):
    target, _ = parented(armature)
    target.hide_set(True)
    return target, ""


def in_an_excluded_collection(armature):
    target, _ = parented(armature)
    collection = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(target)
    bpy.context.scene.collection.objects.unlink(target)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    return target, ""


def in_no_scene(armature):
    target, _ = parented(armature)
    bpy.data.collections.new("Elsewhere").objects.link(target)
    bpy.context.scene.collection.objects.unlink(target)
    return target, ""


KINDS = [
    plain,
    parented,
    copying_location,
    following_a_path,
    driven_by_an_object,
    driven_by_the_frame,
    animated_by_strips,
    a_bone_of_the_same_armature,
    a_bone_of_another_armature,
    held_by_a_bone,
    held_by_a_vertex,
    *(held_by_points_of(kind, 'VERTEX') for kind in ('CURVE', 'SURFACE', 'LATTICE')),
    *(held_by_points_of(kind, 'VERTEX_3') for kind in ('CURVE', 'SURFACE', 'LATTICE')),
    hidden,
    hidden_in_the_view_layer,
    in_an_excluded_collection,
    in_no_scene,
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_target(kind):
    armature = add_leg()
    target, subtarget = kind(armature)
    chain = add_chain(armature, "shin", target, subtarget=subtarget)
    report = bake(armature, frame_start=1, frame_end=LAST)
    # Blender evaluates hidden targets only where something needs them: have something need it.
    probe = add_empty("Probe")
    constraint = probe.constraints.new('COPY_TRANSFORMS')
    constraint.target, constraint.subtarget = target, subtarget
    assert report.all_reached and not report.full_scene, (report.sentence(), report.full_scene)
    places = set()
    for frame in EVERY_FRAME:
        bpy.context.scene.frame_set(frame)
        place = evaluated_place(probe)
        places.add(tuple(round(x, 4) for x in place))
        assert (evaluated_tip(armature, "shin") - place).length <= PLAYED_BACK * report.chains[
            0
        ].standard.reach
    assert len(places) > 5, "the target should move in this test"
    assert chain.target == target


@pytest.mark.slow
def test_a_target_that_another_file_links(tmp_path):
    guide = add_target(SWING, "Guide")
    target = add_empty("Target")
    target.parent = guide
    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {target, guide})
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.objects = ["Target"]
    (target,) = into.objects
    bpy.context.scene.collection.objects.link(target)
    assert target.library
    armature = add_leg()
    assert_follows(armature, add_chain(armature, "shin", target))


@pytest.mark.slow
def test_a_bone_of_a_linked_armature_as_the_target(tmp_path):
    other, bone = a_bone_of_another_armature(None)
    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {other})
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.objects = ["Other"]
    bpy.context.scene.collection.objects.link(into.objects[0])
    armature = add_leg()
    assert_follows(armature, add_chain(armature, "shin", into.objects[0], subtarget=bone))


# --- Several chains -------------------------------------------------------------------------------


def add_two_legs():
    return add_armature(
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            **{
                f"{name}.{side}": ((x, *head), (x, *tail), f"{parent}.{side}" if parent else "body", roll)
                for side, x in (("L", 0.3), ("R", -0.3))
                for name, head, tail, parent, roll in (
                    ("thigh", (0, 2.0), (-0.1, 1.0), "", 0.3),
                    ("shin", (-0.1, 1.0), (0, 0.1), "thigh", 0.2),
                    ("toe", (0, 0.1), (-0.3, 0.1), "shin", 0.0),
                )
            },
        }
    )


def test_chains_that_share_a_parent_and_a_target_bone_above_them():
    armature = add_two_legs()
    chains = []
    for side, x in (("L", 0.3), ("R", -0.3)):
        keys = {frame: (x, y * (1 if side == "L" else -1), z) for frame, (_, y, z) in SWING.items()}
        chains.append(add_chain(armature, f"shin.{side}", add_target(keys, f"Foot.{side}")))
    body = armature.pose.bones["body"]
    for frame, y in ((1, 0.0), (LAST, 0.2)):
        body.location = (0, y, 0)
        body.keyframe_insert("location", frame=frame)
    report = assert_follows(armature, *chains)
    assert [chain.name for chain in report.chains] == ["shin.L", "shin.R"]


def add_arm_on_a_crane():
    """Add a crane of two bones, and on its tip an arm of two: a chain that hangs on another's bone."""
    return add_armature(
        {
            "boom": ((0, 0, 0), (0, 1, 1), "", 0.4),
            "jib": ((0, 1, 1), (0, 2.2, 0.8), "boom", 0.0),
            "upper": ((0, 2.2, 0.8), (0, 2.4, 0.2), "jib", 0.2),
            "lower": ((0, 2.4, 0.2), (0, 2.2, -0.4), "upper", -0.3),
        }
    )


def crane_chains(armature, order):
    targets = {
        "jib": add_target({1: (0, 2.0, 0.8), LAST: (0, 1.2, 1.8)}, "Crane's target"),
        "lower": add_target({1: (0, 2.2, -0.2), LAST: (0, 1.4, 0.9)}, "Arm's target"),
    }
    return [add_chain(armature, name, targets[name]) for name in order]


@pytest.mark.parametrize("order", [("jib", "lower"), ("lower", "jib")], ids=str)
def test_a_chain_that_hangs_on_another_chains_bone(order):
    armature = add_arm_on_a_crane()
    report = assert_follows(armature, *crane_chains(armature, order))
    assert tuple(chain.name for chain in report.chains) == order


@pytest.mark.parametrize("first", ["leader", "follower"])
@pytest.mark.parametrize("how", ["bone", "child", "constraint", "driver", "vertex"])
def test_a_target_that_another_chain_moves(how, first):
    armature = add_armature(
        {
            "a": ((0, 0, 2), (0, 0.3, 1), "", 0.1),
            "b": ((0, 0.3, 1), (0, 0, 0.2), "a", 0.2),
            "b_end": ((0, 0, 0.2), (0, 0.2, 0.2), "b", 0.0),
            "c": ((0, 1.5, 2), (0, 1.3, 1), "", 0.3),
            "d": ((0, 1.3, 1), (0, 1.5, 0.1), "c", 0.4),
        }
    )
    leader = {"tip": "b", "target": add_target({1: (0, 0.4, 0.5), LAST: (0, 0.9, 1.0)}), "name": "leader"}
    target, subtarget = add_target_on(armature, "b_end", how)
    follower = {"tip": "d", "target": target, "subtarget": subtarget, "name": "follower"}
    both = [leader, follower] if first == "leader" else [follower, leader]
    chains = [add_chain(armature, **settings) for settings in both]
    assert_follows(armature, *chains)


def add_target_on(armature, bone, how):
    """Return a target (object, bone) that moves with a bone, in one way or another."""
    if how == "bone":
        return armature, bone
    target = add_empty("Follower's target")
    if how == "child":
        target.parent, target.parent_type, target.parent_bone = armature, 'BONE', bone
    elif how == "constraint":
        constraint = target.constraints.new('COPY_LOCATION')
        constraint.target, constraint.subtarget = armature, bone
    elif how == "driver":
        for index, channel in ((1, 'LOC_Y'), (2, 'LOC_Z')):
            driver = target.driver_add("location", index).driver
            variable = driver.variables.new()
            variable.name, variable.type = "place", 'TRANSFORMS'
            source = variable.targets[0]
            source.id, source.bone_target, source.transform_type = armature, bone, channel
            source.transform_space = 'WORLD_SPACE'
            driver.expression = "place"
    else:
        mesh = bpy.data.meshes.new("Skin")
        mesh.from_pydata([(0, 0, 0.2), (0, 0.1, 0.2), (0, 0.1, 0.3)], [], [(0, 1, 2)])
        skin = bpy.data.objects.new("Skin", mesh)
        bpy.context.scene.collection.objects.link(skin)
        skin.vertex_groups.new(name=bone).add([0, 1, 2], 1.0, 'REPLACE')
        skin.modifiers.new("Armature", 'ARMATURE').object = armature
        target.parent, target.parent_type, target.parent_vertices = skin, 'VERTEX', (0, 0, 0)
    return target, ""


def test_three_chains_in_a_row():
    bones = {}
    for letter, y in (("a", 0.0), ("b", 0.5), ("c", 1.0)):
        bones[f"{letter}0"] = ((0, y, 2.0), (0, y + 0.2, 1.2), "", 0.0)
        bones[f"{letter}1"] = ((0, y + 0.2, 1.2), (0, y, 0.4), f"{letter}0", 0.0)
        bones[f"{letter}2"] = ((0, y, 0.4), (0, y + 0.2, 0.4), f"{letter}1", 0.0)
    armature = add_armature(bones)
    target = add_target({1: (0, 0.2, 0.8), LAST: (0, 0.7, 1.0)})
    chains = [
        add_chain(armature, "c1", armature, subtarget="b2"),
        add_chain(armature, "a1", target),
        add_chain(armature, "b1", armature, subtarget="a2"),
    ]
    assert_follows(armature, *chains)


def test_a_circle_of_chains_is_refused_by_name():
    armature = add_two_legs()
    add_chain(armature, "shin.L", armature, subtarget="toe.R")
    add_chain(armature, "shin.R", armature, subtarget="toe.L")
    with pytest.raises(IK2DError, match="'shin.L', 'shin.R' depend on one another in a circle"):
        bake(armature, frame_start=1, frame_end=3)


@pytest.mark.parametrize("how", ["constraint", "driver", "vertex", "child of a child"])
def test_a_target_that_the_chain_itself_moves_is_refused(how):
    armature = add_two_legs()
    if how == "child of a child":
        holder, _ = add_target_on(armature, "toe.L", "constraint")
        target = add_empty("Grandchild")
        target.parent = holder
    else:
        target, _ = add_target_on(armature, "toe.L", how)
    add_chain(armature, "shin.L", target)
    with pytest.raises(IK2DError, match="is moved by the chain itself"):
        bake(armature, frame_start=1, frame_end=3)


def test_a_target_on_the_skin_of_the_whole_rig_is_no_circle():
    """A child of the mesh object moves with that object, not with its deformed vertices."""
    armature = add_leg()
    mesh = bpy.data.objects.new("Skin", bpy.data.meshes.new("Skin"))
    bpy.context.scene.collection.objects.link(mesh)
    mesh.parent = armature
    mesh.modifiers.new("Armature", 'ARMATURE').object = armature
    target = add_target(SWING)
    target.parent = mesh
    assert_follows(armature, add_chain(armature, "shin", target))


def test_chains_that_share_a_bone_are_refused():
    armature = add_leg()
    target = add_target(SWING)
    add_chain(armature, "shin", target)
    add_chain(armature, "thigh", target, bone_count=1)
    with pytest.raises(IK2DError, match="'shin' and 'thigh' share the bone 'thigh'"):
        bake(armature, ["shin", "thigh"], frame_start=1, frame_end=3)


# --- Which scene the samples come from ------------------------------------------------------------


def set_up_fallback(name):
    """Add a target that only the user's own scene evaluates right; return it and a clean-up."""
    scene = bpy.context.scene
    scene["height"] = 0.3
    scene.keyframe_insert('["height"]', frame=1)
    scene["height"] = 1.0
    scene.keyframe_insert('["height"]', frame=LAST)
    target = add_target({frame: (0, y, 0) for frame, (_, y, _) in SWING.items()})
    if name == "handler":

        def follow(scene, depsgraph=None):
            target.delta_location.z = 0.3 + 0.05 * scene.frame_current

        bpy.app.handlers.frame_change_pre.append(follow)
        return target, lambda: bpy.app.handlers.frame_change_pre.remove(follow)
    driver = target.driver_add("delta_location", 2).driver
    driver.expression = "height"
    if name == "function":
        bpy.app.driver_namespace["ik2d_height"] = lambda: 0.3 + 0.06 * bpy.context.scene.frame_current
        driver.expression = "ik2d_height()"
        return target, lambda: bpy.app.driver_namespace.pop("ik2d_height")
    variable = driver.variables.new()
    variable.name = "height"
    if name == "context":
        variable.type = 'CONTEXT_PROP'
        variable.targets[0].context_property = 'ACTIVE_SCENE'
    else:
        variable.targets[0].id_type, variable.targets[0].id = 'SCENE', scene
    variable.targets[0].data_path = '["height"]'
    return target, lambda: None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("scene property", "a driver of 'Target' may read the scene"),
        ("context", "a driver of 'Target' may read the scene"),
        ("function", "a driver of 'Target' may read the scene"),
        ("handler", "runs code on frame changes"),
    ],
)
def test_what_only_the_full_scene_knows_is_sampled_there_and_said(name, reason):
    armature = add_leg()
    target, clean_up = set_up_fallback(name)
    chain = add_chain(armature, "shin", target)
    try:
        report = assert_follows(armature, chain, full_scene=True)
    finally:
        clean_up()
    assert reason in report.full_scene
    assert report.to_dict()["sampled"] == f"the full scene: {report.full_scene}"


def test_a_driver_deep_among_what_the_target_depends_on_is_found():
    armature = add_leg()
    guide, _ = set_up_fallback("scene property")
    target = add_empty("Follower")
    target.constraints.new('COPY_LOCATION').target = guide
    report = assert_follows(armature, add_chain(armature, "shin", target), full_scene=True)
    assert "'Target'" in report.full_scene


def test_a_driver_on_the_bone_above_the_chain_that_reads_the_scene():
    armature = add_leg()
    scene = bpy.context.scene
    scene["lift"] = 0.0
    scene.keyframe_insert('["lift"]', frame=1)
    scene["lift"] = 0.3
    scene.keyframe_insert('["lift"]', frame=LAST)
    driver = armature.pose.bones["body"].driver_add("location", 1).driver
    variable = driver.variables.new()
    variable.name = "lift"
    variable.targets[0].id_type, variable.targets[0].id = 'SCENE', scene
    variable.targets[0].data_path = '["lift"]'
    driver.expression = "lift"
    report = assert_follows(armature, add_chain(armature, "shin", add_target(SWING)), full_scene=True)
    assert "'Rig'" in report.full_scene


def test_what_has_nothing_to_do_with_the_chain_is_no_reason_for_the_full_scene():
    armature = add_leg()
    set_up_fallback("scene property")
    report = assert_follows(armature, add_chain(armature, "shin", add_target(SWING, "Other")))
    assert report.to_dict()["sampled"] == "only what the chains need"


def test_a_difference_that_nothing_explains_leads_to_the_full_scene(monkeypatch):
    """The comparison on the shown frame catches what the search for reasons overlooks."""
    from ik2d_addon.rig.scene import own_scene

    armature = add_leg()
    target, _ = set_up_fallback("context")
    bpy.context.scene.frame_set(8)
    monkeypatch.setattr(own_scene, "doubt", lambda *_: "")
    report = assert_follows(armature, add_chain(armature, "shin", target), full_scene=True)
    assert "'Target' stands elsewhere in a scene of its own" in report.full_scene


def test_what_was_moved_by_hand_and_not_keyed_is_no_reason_for_the_full_scene():
    armature = add_leg()
    target = add_target(SWING)
    chain = add_chain(armature, "shin", target)
    bpy.context.scene.frame_set(3)
    target.location = (0, 0.9, 0.9)
    armature.pose.bones["thigh"].rotation_quaternion = (0.9, 0.3, 0.2, 0.1)
    assert_follows(armature, chain)
    bpy.context.scene.frame_set(3)
    armature.pose.bones["thigh"].rotation_quaternion = (0.9, 0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    assert_follows(armature, chain)


def test_what_was_moved_by_hand_has_nothing_else_of_the_scene_evaluated():
    armature, evaluated = add_leg(), []
    target = add_target(SWING)
    chain = add_chain(armature, "shin", target)
    bpy.app.driver_namespace["ik2d_counted"] = lambda: float(len(evaluated.append(0) or evaluated))
    add_empty("Heavy").driver_add("location", 0).driver.expression = "ik2d_counted()"
    try:
        bpy.context.scene.frame_set(3)
        target.location = (0, 0.9, 0.9)
        bpy.context.view_layer.update()
        assert evaluated
        evaluated.clear()
        report = bake(armature, [chain.name], frame_start=1, frame_end=LAST)
        assert report.all_reached and not report.full_scene and not evaluated
    finally:
        bpy.app.driver_namespace.pop("ik2d_counted")


def test_time_remapping_is_followed():
    armature = add_leg()
    scene = bpy.context.scene
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 250
    scene.frame_set(5)
    assert_follows(
        armature, add_chain(armature, "shin", add_target({1: SWING[1], 3: SWING[6], 5: SWING[LAST]}))
    )


def test_a_scene_that_is_not_shown():
    armature = add_leg()
    target = add_target(SWING)
    chain = add_chain(armature, "shin", target)
    shown = bpy.data.scenes.new("Shown")
    bpy.context.window.scene = shown
    report = bake(armature, frame_start=1, frame_end=LAST)
    bpy.context.window.scene = armature.users_scene[0]
    assert_follows(armature, chain, report=report)


@pytest.mark.slow
def test_full_scene_and_own_scene_give_the_same_keys(monkeypatch):
    from rigs import animation_of

    from ik2d_addon.rig.scene import own_scene, sampler

    monkeypatch.setattr(sampler, "WAY", sampler.STEP)
    keys = []
    for reason in ("", "because the test says so"):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        armature = add_leg()
        target, _ = parented(armature)
        add_chain(armature, "shin", target)
        with monkeypatch.context() as patch:
            if reason:
                patch.setattr(own_scene, "doubt", lambda *_, reason=reason: reason)
            report = bake(armature, frame_start=1, frame_end=LAST)
        assert report.full_scene == reason
        curves = animation_of(armature).items()
        # Times and values alone: where F-Curves place all, curves between go through more solutions.
        keys.append({channel: [key[:2] for key in own] for channel, own in curves})
    assert keys[0] == keys[1]


def test_parenting_with_an_inverse_matrix():
    armature = add_leg()
    holder = add_target({1: (0, 1, 1), LAST: (0, 1.3, 1.4)}, "Holder")
    target = add_empty("Target", (0, 0.3, 0.5))
    target.parent = holder
    target.matrix_parent_inverse = Matrix.Translation((0, -1, -1))
    assert_follows(armature, add_chain(armature, "shin", target))
