# SPDX-License-Identifier: GPL-3.0-or-later
"""Which scene is sampled in: each reason to doubt our own, and what our own takes from the user's."""

import bpy
import pytest
from rigs import add_leg, add_target

from ik2d_addon.rig.scene.own_scene import copied, doubt, isolated


def add_empty(name):
    ob = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def add_mesh(name):
    ob = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    bpy.context.scene.collection.objects.link(ob)
    return ob


def doubts(armature, *others):
    return doubt(armature, others)


def test_nothing_is_doubted_of_a_plain_rig():
    assert doubts(add_leg(), add_target({1: (0, 0, 0), 9: (0, 1, 0)})) == ""


# --- Code on frame changes ------------------------------------------------------------------------


@pytest.fixture
def handler():
    """A function on frame changes whose module a test names; and where to put it."""
    added = []

    def add(handlers, module):
        def follow(scene, depsgraph=None):
            pass

        follow.__module__ = module
        handlers.append(follow)
        added.append((handlers, follow))

    yield add
    for handlers, follow in added:
        handlers.remove(follow)


@pytest.mark.parametrize("when", ["frame_change_pre", "frame_change_post"])
@pytest.mark.parametrize("module", ["__main__", "some.addon", None, "my_rigify", "ik2d", "ik2d_addon_x.keys"])
def test_code_that_runs_on_frame_changes_is_doubted(handler, when, module):
    handler(getattr(bpy.app.handlers, when), module)
    assert doubts(add_leg()) == "the file or an add-on runs code on frame changes"


@pytest.mark.parametrize("module", ["rigify.rig_ui", "cycles.operators", "ik2d_addon.live.handlers"])
def test_code_that_is_known_to_do_no_harm_is_not(handler, module):
    handler(bpy.app.handlers.frame_change_post, module)
    assert doubts(add_leg()) == ""


def test_the_handlers_of_live_are_the_add_ons_own():
    armature = add_leg()
    armature.ik2d.chains.add().live = True
    handlers = (*bpy.app.handlers.frame_change_pre, *bpy.app.handlers.frame_change_post)
    assert {function.__module__.partition(".")[0] for function in handlers} >= {"ik2d_addon"}
    assert doubts(armature) == ""


def test_code_on_other_events_is_not_doubted(handler):
    handler(bpy.app.handlers.depsgraph_update_post, "__main__")
    assert doubts(add_leg()) == ""


# --- Simulations ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, simulated",
    [
        ('CLOTH', True),
        ('SOFT_BODY', True),
        ('DYNAMIC_PAINT', True),
        ('FLUID', True),
        ('NODES', True),
        ('SUBSURF', False),
        ('ARMATURE', False),
    ],
)
def test_what_is_simulated_is_named(kind, simulated):
    target, mesh = add_empty("Target"), add_mesh("Cloak")
    target.parent = mesh
    mesh.modifiers.new("Modifier", kind)
    assert doubts(add_leg(), target) == ("'Cloak' is simulated" if simulated else "")


def test_particles_and_rigid_bodies_are_simulated():
    one, two = add_mesh("Dust"), add_mesh("Stone")
    assert doubts(add_leg(), one, two) == ""
    one.modifiers.new("Particles", 'PARTICLE_SYSTEM')
    assert doubts(add_leg(), one) == "'Dust' is simulated"
    bpy.context.view_layer.objects.active = two
    bpy.ops.rigidbody.object_add()
    assert doubts(add_leg(), two) == "'Stone' is simulated"
    assert doubts(two) == "'Stone' is simulated"


# --- Drivers --------------------------------------------------------------------------------------


def drive(owner, expression=None, kind='SCRIPTED', **sources):
    driver = owner.driver_add("location", 0).driver
    driver.type = kind
    for name, (variable_kind, id_type, block, path) in sources.items():
        variable = driver.variables.new()
        variable.name, variable.type = name, variable_kind
        source = variable.targets[0]
        if variable_kind == 'CONTEXT_PROP':
            source.context_property = 'ACTIVE_SCENE'
        elif variable_kind == 'SINGLE_PROP':
            source.id_type = id_type
            source.id = block
        else:
            source.id = block
        source.data_path = path
    if expression:
        driver.expression = expression
    return driver


def test_simple_drivers_are_not_doubted():
    target, other = add_empty("Target"), add_empty("Other")
    drive(target, "x + frame", x=('TRANSFORMS', 'OBJECT', other, ""))
    drive(other, kind='SUM', x=('SINGLE_PROP', 'OBJECT', target, "scale.x"))
    assert doubts(add_leg(), target) == ""


def test_a_driver_that_calls_functions_may_read_the_scene():
    target = add_empty("Target")
    drive(target, "__import__('math').sin(frame)")
    assert doubts(add_leg(), target) == "a driver of 'Target' may read the scene"
    target.animation_data.drivers[0].driver.type = 'AVERAGE'  # then its expression is not asked
    assert doubts(add_leg(), target) == ""


@pytest.mark.parametrize("kind", ['SCRIPTED', 'AVERAGE'])
def test_a_driver_that_reads_a_scene_is_told(kind):
    armature, other = add_leg(), add_empty("Other")
    scene = bpy.context.scene
    driver = drive(
        armature,
        "x + y" if kind == 'SCRIPTED' else None,
        kind,
        x=('TRANSFORMS', 'OBJECT', other, ""),
        y=('SINGLE_PROP', 'SCENE', scene, "frame_end"),
    )
    assert doubts(armature) == "a driver of 'Rig' may read the scene"
    driver.variables.remove(driver.variables[1])
    driver.expression = "x"
    assert doubts(armature) == ""


def test_a_driver_that_reads_the_context_is_told():
    target = add_empty("Target")
    drive(target, "x", x=('CONTEXT_PROP', None, None, "frame_end"))
    assert doubts(add_leg(), target) == "a driver of 'Target' may read the scene"


def test_drivers_of_data_below_and_of_what_is_led_to_count():
    armature, holder = add_leg(), add_empty("Holder")
    armature.parent = holder
    drive(holder, "__import__('math').sin(frame)")
    assert doubts(armature) == "a driver of 'Holder' may read the scene"
    holder.driver_remove("location")
    curve = armature.data.driver_add("axes_position")
    curve.driver.expression = "__import__('math').sin(frame)"
    assert doubts(armature) == f"a driver of '{armature.data.name}' may read the scene"


# --- The scenes themselves ------------------------------------------------------------------------


def test_our_own_scene_keeps_the_time_and_holds_the_armature_alone():
    armature, scene = add_leg(), bpy.context.scene
    add_target({})
    scene.render.fps, scene.render.fps_base = 30, 1.25
    scene.render.frame_map_old, scene.render.frame_map_new = 90, 120
    scene.frame_start, scene.frame_end = 7, 77
    with isolated(scene, armature) as own:
        assert own != scene and list(own.collection.all_objects) == [armature]
        render = own.render
        assert (render.fps, render.fps_base, render.frame_map_old, render.frame_map_new) == (
            30,
            1.25,
            90,
            120,
        )
        assert (own.frame_start, own.frame_end) == (7, 77)
    assert list(bpy.data.scenes) == [scene]


def test_a_copy_of_the_scene_shows_the_same_moment():
    scene = bpy.context.scene
    scene.frame_set(7, subframe=0.25)
    with copied(scene, []) as copy:
        assert copy != scene
        assert (copy.frame_current, copy.frame_subframe) == (7, 0.25)
    assert list(bpy.data.scenes) == [scene]
    assert (scene.frame_current, scene.frame_subframe) == (7, 0.25)


def test_a_copy_of_the_scene_holds_what_is_kept_alone_and_the_scene_all():
    scene, armature = bpy.context.scene, add_leg()
    deep, loose = add_empty("Deep"), add_empty("Loose")
    collection = bpy.data.collections.new("Below")
    scene.collection.children.link(collection)
    collection.objects.link(deep)
    scene.collection.objects.unlink(deep)
    bpy.ops.rigidbody.world_add()
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    bpy.ops.rigidbody.object_add()
    before = set(scene.objects), set(scene.collection.objects), set(collection.objects)
    with copied(scene, [armature, deep]) as copy:
        assert set(copy.objects) == {armature, deep}
        layer = copy.view_layers[0]
        assert armature.visible_get(view_layer=layer) and deep.visible_get(view_layer=layer)
    assert before == (set(scene.objects), set(scene.collection.objects), set(collection.objects))
    assert {armature, deep, loose, cube} <= before[0]
    assert cube.rigid_body is not None and list(scene.rigidbody_world.collection.objects) == [cube]


def test_scenes_of_ours_go_when_something_fails():
    scene, armature = bpy.context.scene, add_leg()
    for made in (copied(scene, []), isolated(scene, armature)):
        with pytest.raises(KeyboardInterrupt), made:
            assert len(bpy.data.scenes) == 2
            raise KeyboardInterrupt
        assert list(bpy.data.scenes) == [scene]
