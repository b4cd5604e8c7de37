# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage: an empty file, light, camera, ground, and saving."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import bpy
from mathutils import Vector

from ik2d_addon.bake import solve

from . import shapes, tab

# The picture fills the view at the sidebar's left.
ZOOM, OFFSET = 16.0, (0.06, 0.0)
SIDEBAR = 240  # pixels wide at scale 1, with the tabs


def start() -> None:
    """Begin with an empty scene and one plain workspace."""
    bpy.ops.wm.read_factory_settings(use_empty=False)
    data = bpy.data
    data.batch_remove([item for item in (*data.workspaces, *data.screens) if item.name != "Layout"])
    leftovers = (data.objects, data.meshes, data.materials, data.collections, data.lights, data.cameras)
    unused = (data.worlds, data.brushes, data.linestyles, data.palettes, data.images)
    data.batch_remove([item for kind in leftovers + unused for item in kind])


def light(sky: Sequence[float], sun: float = 3.0, strength: float = 0.9) -> None:
    """Add a soft sun over the viewer's shoulder and a plain sky of the colour `sky`."""
    world = bpy.data.worlds.new("Sky")
    world.use_nodes = True
    world.color = sky
    background = world.node_tree.nodes["Background"]
    background.inputs["Color"].default_value = (*sky, 1.0)
    background.inputs["Strength"].default_value = strength
    bpy.context.scene.world = world
    lamp = bpy.data.lights.new("Sun", 'SUN')
    lamp.energy, lamp.angle = sun, 0.12
    shapes.link(bpy.data.objects.new("Sun", lamp), "Stage")


def aim_sun(direction: Sequence[float]) -> None:
    """Let the sun shine along `direction`."""
    bpy.data.objects["Sun"].rotation_euler = Vector(direction).to_track_quat('-Z', 'Y').to_euler()


def camera(position: Sequence[float], look_at: Sequence[float], *, lens: float = 50.0, width: float = 0.0):
    """Add the scene's camera; a `width` above 0 makes it orthographic, that many units wide."""
    data = bpy.data.cameras.new("Camera")
    data.lens, data.clip_end, data.show_passepartout = lens, 500.0, False
    if width:
        data.type, data.ortho_scale = 'ORTHO', width
    ob = shapes.link(bpy.data.objects.new("Camera", data), "Stage")
    ob.location = position
    ob.rotation_euler = (Vector(look_at) - Vector(position)).to_track_quat('-Z', 'Y').to_euler()
    bpy.context.scene.camera = ob
    return ob


def settings(last_frame: int, resolution: tuple[int, int]) -> None:
    """Set the frame range, the size of the picture and true colours."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, last_frame
    scene.render.fps = 24
    scene.render.engine = 'CYCLES'
    scene.cycles.samples, scene.cycles.seed = 32, 0
    scene.render.resolution_x, scene.render.resolution_y = resolution
    scene.render.filepath = "//"
    scene.view_settings.view_transform = 'Standard'


def marker(frame: int, name: str) -> None:
    """Name a moment of the motion: tools/render_strip.py pictures the timeline markers."""
    bpy.context.scene.timeline_markers.new(name, frame=frame)


def note(name: str, text: str) -> None:
    """Add a text that Blender's Text Editor shows: what to press."""
    bpy.data.texts.new(name).write(text)


def _pose(armature: bpy.types.Object) -> None:
    """Put the live chains on their targets, as they are once the file is opened."""
    live = [chain for chain in armature.ik2d.chains if chain.live]
    if live:
        solve(armature, [chain.name for chain in live])
    for chain in live:
        for name in ("last_solve", "solve_mark", "plane_taken"):
            chain.property_unset(name)


def save(armature: bpy.types.Object, path: Path) -> None:
    """Save with `armature` active, seen through the camera with the sidebar open at our tab."""
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob == armature)
    bpy.context.view_layer.objects.active = armature
    for name in ("Shapes", "Stage"):  # so that clicks find the armature and the targets
        bpy.data.collections[name].hide_select = True
    for area in bpy.data.screens["Layout"].areas:
        if area.type == 'VIEW_3D':
            space = area.spaces.active
            space.show_region_ui = True
            space.region_3d.view_perspective = 'CAMERA'
            space.region_3d.view_camera_zoom, space.region_3d.view_camera_offset = ZOOM, OFFSET
            space.overlay.show_relationship_lines = False
        elif area.type == 'OUTLINER':
            space = area.spaces.active
            space.use_filter_children = space.use_filter_object_content = False
            space.use_filter_object_mesh = space.use_filter_object_camera = False
            space.use_filter_object_light = space.use_filter_object_empty = False
    bpy.context.scene.frame_set(1)
    for rig in [ob for ob in bpy.context.view_layer.objects if ob.type == 'ARMATURE']:
        _pose(rig)
    bpy.context.preferences.filepaths.save_version = 0
    with ExitStack() as tabs:
        for area in bpy.data.screens["Layout"].areas:
            if area.type == 'VIEW_3D':
                (sidebar,) = (region for region in area.regions if region.type == 'UI')
                tabs.enter_context(tab.chosen(sidebar, "IK 2D"))
                tab.set_width(sidebar, SIDEBAR)
        bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)
