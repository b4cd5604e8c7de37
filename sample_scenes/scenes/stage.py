# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage: an empty file, light, camera, ground, and saving."""

import math
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import bpy
from mathutils import Vector

from ik2d_addon.bake import solve

from . import shapes, tab

SUN = (-300.0, -100.0, 50.0)  # where no camera sees the line that the viewport draws below it
DEEP = 30.0  # how far down the ground goes: a view from the front sees no end of it
SIDEBAR = 240  # pixels wide at scale 1, with the tabs
# Where there are no chains: the panel that is open, and one in it that is closed, so that Bake is in sight.
MECHANISM = "IK2D_PT_mechanism", "IK2D_PT_mechanism_joints"
# What a window of 1280 x 800 leaves of the view between toolbar and sidebar, and below the headers, as parts
# of the view's width: so much the picture may fill, its middle so far to the left of the view's.
ROOM, SHIFT = (0.70, 0.52), 0.095


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
    world.color = [strength * part for part in sky]  # as the picture shows it
    background = world.node_tree.nodes["Background"]
    background.inputs["Color"].default_value = (*sky, 1.0)
    background.inputs["Strength"].default_value = strength
    bpy.context.scene.world = world
    lamp = bpy.data.lights.new("Sun", 'SUN')
    lamp.energy, lamp.angle = sun, 0.12
    ob = shapes.link(bpy.data.objects.new("Sun", lamp), "Stage")
    ob.location = SUN


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
    """Put the live chains on their targets, and close the mechanisms, as they are once the file is opened."""
    live = [chain for chain in armature.ik2d.chains if chain.live]
    machines = [mechanism.name for mechanism in armature.ik2d.mechanisms if mechanism.live]
    if live or machines:
        solve(armature, [chain.name for chain in live], mechanisms=machines)
    for chain in live:
        for name in ("last_solve", "solve_mark", "plane_taken"):
            chain.property_unset(name)


def _is_machine(armature: bpy.types.Object) -> bool:
    """Return whether mechanisms are all that an armature has."""
    return len(armature.ik2d.mechanisms) > 0 and not armature.ik2d.chains


def _show(space: bpy.types.SpaceView3D) -> None:
    """Show the camera's whole picture and its sky, left of the sidebar, with nothing written over it."""
    render = bpy.context.scene.render
    share = min(ROOM[0], ROOM[1] * render.resolution_x / render.resolution_y)
    space.show_region_ui = True
    view = space.region_3d
    view.view_perspective = 'CAMERA'
    view.view_camera_zoom = 50.0 * (2.0 * math.sqrt(share) - math.sqrt(2.0))  # Blender's own measure
    view.view_camera_offset = (SHIFT / (2.0 * share), 0.0)
    space.shading.background_type = 'WORLD'
    overlay = space.overlay
    overlay.show_relationship_lines = overlay.show_text = False
    overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = False


def save(armature: bpy.types.Object, path: Path) -> None:
    """Save with `armature` active, seen through the camera with the sidebar open at our tab.

    Nothing is selected: a selected armature's bones are bright lines over the picture.
    """
    for ob in bpy.context.view_layer.objects:
        ob.select_set(False)
    bpy.context.view_layer.objects.active = armature
    for name in ("Shapes", "Stage"):  # so that clicks find the armature and the targets
        bpy.data.collections[name].hide_select = True
    for area in bpy.data.screens["Layout"].areas:
        if area.type == 'VIEW_3D':
            _show(area.spaces.active)
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
                if _is_machine(armature):
                    tabs.enter_context(tab.opened(sidebar, *MECHANISM))
                tab.set_width(sidebar, SIDEBAR)
        bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)
