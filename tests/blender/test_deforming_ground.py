# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet above a ground whose mesh deforms: baked soles stay above the shape of each frame, as live ones do."""

import bpy
import numpy as np
import pytest
from foot_rigs import lift_control, plain_leg, random_leg
from mathutils import Vector
from rigs import add_armature

from ik2d_addon.bake import bake
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene import sampler
from ik2d_addon.rig.scene.feet import surface
from ik2d_addon.rig.scene.feet.surface import MeshReader

FRAMES = range(1, 25)
UP = 0.08


def leg_over(ground):
    """Return a leg whose keyed control moves along a ground."""
    leg = plain_leg()
    start = leg.control.location.y
    for frame, by in ((1, -0.15), (24, 0.15)):
        leg.control.location.y = start + by
        leg.control.keyframe_insert("location", frame=frame)
    leg.chain.foot.ground, leg.chain.foot.use_ground = ground, True
    return leg


def add_ground(subdivisions=1):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=subdivisions, y_subdivisions=subdivisions, size=4.0)
    return bpy.context.object


def by_shape_key(ground):
    ground.shape_key_add(name="Basis")
    key = ground.shape_key_add(name="Up")
    for point in key.data:
        point.co.z = UP
    for frame, value in ((1, 0.0), (12, 1.0), (24, 0.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    key.value = 0.0


def by_modifier(ground):
    displace = ground.modifiers.new("Up", 'DISPLACE')
    displace.mid_level = 0.0
    for frame, value in ((1, 0.0), (12, UP), (24, 0.0)):
        displace.strength = value
        displace.keyframe_insert("strength", frame=frame)


def by_hook(ground):
    empty = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(empty)
    hook = ground.modifiers.new("Hook", 'HOOK')
    hook.object, hook.strength = empty, 1.0
    hook.vertex_indices_set(range(len(ground.data.vertices)))
    for frame, value in ((1, 0.0), (12, UP), (24, 0.0)):
        empty.location.z = value
        empty.keyframe_insert("location", frame=frame)


def by_armature_parent(ground):
    rig = add_armature({"up": ((0, 0, 0), (0, 0, 1), "", 0.0)}, "Lift")
    ground.vertex_groups.new(name="up").add(range(len(ground.data.vertices)), 1.0, 'ADD')
    ground.parent, ground.parent_type = rig, 'ARMATURE'
    for frame, value in ((1, 0.0), (12, UP), (24, 0.0)):
        rig.pose.bones["up"].location.y = value
        rig.pose.bones["up"].keyframe_insert("location", frame=frame)


def below(leg, ground, frame):
    """Return how far the lowest pivot of a foot is below a level ground on a frame, by Blender's meshes."""
    scene = bpy.context.scene
    scene.frame_set(frame)
    shown = ground.evaluated_get(bpy.context.evaluated_depsgraph_get())
    height = (shown.matrix_world @ Vector(shown.data.vertices[0].co)).z
    return height - min(place[2] for place in leg.pivots().values())


@pytest.mark.slow
@pytest.mark.parametrize("shown", [1, 12])
@pytest.mark.parametrize("deform", [by_shape_key, by_modifier, by_hook, by_armature_parent])
def test_a_baked_foot_stays_above_the_shape_of_each_frame(deform, shown):
    ground = add_ground()
    deform(ground)
    leg = leg_over(ground)
    leg.chain.live = True
    live = [below(leg, ground, frame) for frame in FRAMES]
    assert max(live) <= 1e-5 * leg.reach
    leg.chain.live = False
    bpy.context.scene.frame_set(shown)
    report = bake(leg.armature, frame_start=1, frame_end=24)
    assert report.chains[0].circumstances.lifted.max() == pytest.approx(0.06, abs=0.01)
    assert [below(leg, ground, frame) for frame in FRAMES] == pytest.approx(live, abs=1e-5 * leg.reach)


@pytest.mark.slow
def test_half_way_between_frames_the_shape_of_that_time_counts():
    ground = add_ground()
    by_shape_key(ground)
    leg = leg_over(ground)
    report = bake(leg.armature, frame_start=1, frame_end=24)
    scene, worst = bpy.context.scene, 0.0
    for frame in range(1, 24):
        scene.frame_set(frame, subframe=0.5)
        height = ground.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices[0].co.z
        worst = max(worst, height - min(place[2] for place in leg.pivots().values()))
    assert worst <= report.chains[0].max_between + 1e-4 * leg.reach


@pytest.mark.slow
@pytest.mark.parametrize("hide", ["hide_viewport", "hide_set"])
def test_the_shape_of_a_hidden_ground_counts_too(hide):
    ground = add_ground()
    by_shape_key(ground)
    leg = leg_over(ground)
    if hide == "hide_set":
        ground.hide_set(True)
    else:
        ground.hide_viewport = True
    bake(leg.armature, frame_start=1, frame_end=24)
    ground.hide_viewport = False
    ground.hide_set(False)
    assert max(below(leg, ground, frame) for frame in FRAMES) <= 1e-5 * leg.reach


@pytest.mark.slow
def test_a_still_ground_has_its_modifiers_in_another_scene_too():
    ground = add_ground()
    displace = ground.modifiers.new("Up", 'DISPLACE')
    displace.mid_level, displace.strength = 0.0, UP
    leg = leg_over(ground)
    scene = bpy.context.scene
    bpy.context.window.scene = bpy.data.scenes.new("Other")
    bake(leg.armature, frame_start=1, frame_end=24)
    bpy.context.window.scene = scene
    assert max(below(leg, ground, frame) for frame in FRAMES) <= 1e-5 * leg.reach


def test_a_ground_that_does_not_deform_is_read_once(monkeypatch):
    ground = add_ground()
    ground.modifiers.new("Subsurf", 'SUBSURF')
    for frame, height in ((1, 0.0), (12, UP)):
        ground.location.z = height
        ground.keyframe_insert("location", frame=frame)
    leg, read = leg_over(ground), []
    whole = MeshReader.whole
    monkeypatch.setattr(MeshReader, "near", lambda *_: pytest.fail("read by frame"))
    monkeypatch.setattr(MeshReader, "whole", lambda *given: read.append(given) or whole(*given))
    samplings = []
    recording = sampler.record_stepping
    monkeypatch.setattr(
        sampler, "record_stepping", lambda *given: samplings.append(given) or recording(*given)
    )
    bake(leg.armature, frame_start=1, frame_end=24)
    assert len(read) <= len(samplings)
    assert max(below(leg, ground, frame) for frame in FRAMES) <= 1e-5 * leg.reach


def test_a_simulated_cage_of_the_ground_is_evaluated_in_the_users_scene():
    ground, cage = add_ground(), add_ground()
    cage.modifiers.new("Cloth", 'CLOTH')
    ground.modifiers.new("Boolean", 'BOOLEAN').object = cage
    leg = leg_over(ground)
    sampling = sampler.drained(
        sampler.sample_steps(bpy.context.scene, [read_chain(leg.armature, leg.chain)], [1.0, 2.0])
    )
    assert sampling.full_scene == f"'{cage.name}' is simulated"


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 6, 7])
def test_the_part_that_is_read_lifts_a_foot_as_the_whole_ground_does(seed, monkeypatch):
    leg, rng = random_leg(seed), np.random.default_rng(seed)
    ground = add_ground(40)
    ground.shape_key_add(name="Basis")
    key = ground.shape_key_add(name="Bumps")
    for point in key.data:
        point.co.z += rng.normal(0.0, 0.05)
    key.value = 1.0
    key.keyframe_insert("value", frame=1)
    ground.scale = (leg.reach,) * 3
    ground.rotation_euler = rng.normal(0.0, 0.3, 3)
    bpy.context.view_layer.update()
    lift_control(leg, 0.3)
    ground.location = max(leg.pivots().values(), key=lambda place: place[2])
    for frame, roll in ((1, -0.6), (5, 0.3), (9, 1.2)):
        leg.chain.foot.roll = roll
        leg.armature.keyframe_insert(f"{leg.chain.path_from_id()}.foot.roll", frame=frame)
    leg.chain.foot.ground, leg.chain.foot.use_ground = ground, True
    rig, times = read_chain(leg.armature, leg.chain), [float(frame) for frame in range(1, 10)]

    def lifts():
        sampling = sampler.drained(sampler.sample_steps(bpy.context.scene, [rig], times, checked=False))
        return sampling.chains[0].lifts

    lift = surface._lift  # whatever the leg's direction, the ground counts
    monkeypatch.setattr(surface, "_lift", lambda triangles, sole, _root: lift(triangles, sole, np.inf))
    found = lifts()
    monkeypatch.setattr(MeshReader, "near", lambda self, depsgraph, *_: self.whole(depsgraph))
    assert np.array_equal(found, lifts()) and found.max() > 0.0


def test_many_triangles_take_little_memory():
    ground = add_ground(60)
    by_shape_key(ground)
    leg = leg_over(ground)
    rig = read_chain(leg.armature, leg.chain)
    with sampler.Sampler(bpy.context.scene, [rig]) as opened:
        ((_, record),) = sampler.drained(opened.records([rig], [1.0, 5.0, 9.0], sampler.STEP))
    (shapes,) = record.surfaces
    triangles = len(ground.data.loop_triangles)
    assert all(0 < len(shape.corners) < triangles / 10 for shape in shapes)
    assert np.ptp([shape.vertices[:, 2].max() for shape in shapes]) > UP / 4
