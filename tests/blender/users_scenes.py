# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes with a leg to bake and something of the user's, and what of it all is not as it was after a bake.

Each scene's function adds to what is open, which has the leg of rigs.py, and may write into a folder.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import bpy
from file_contents import Contents, changes, contents_of_file
from rigs import add_leg

# What a bake of the leg is there to change, and what Blender works out from it.
_BAKED = re.compile(
    r"ACTION:RigAction"
    r"|OBJECT:Rig\.(animation_data|bound_box|dimensions|ik2d)\b"
    r"|OBJECT:Rig\.pose\.bones\['(thigh|shin)'\]\.(rotation_\w+|matrix\w*|head|tail|length)$"
)


Deed = Callable[[Path], object]  # what is done to a file


def changed_by_baking(path: Path, bake: Deed, save_again: Deed) -> dict[str, tuple[object, object]]:
    """Bake a file in place; return what differs apart from what is baked and what saving alone does.

    save_again: lets Blender open and save the file, as it does in a bake, with nothing done in between.
    """
    again = copy_of(path, "again")
    save_again(again)
    before = contents_of_file(path)
    bake(path)
    return changed(before, contents_of_file(again), contents_of_file(path))


def copy_of(path: Path, name: str) -> Path:
    """Copy a file beside it, where its libraries are found too."""
    return Path(shutil.copy(path, path.with_name(f"{name}_{path.name}")))


def changed(before: Contents, again: Contents, baked: Contents) -> dict[str, tuple[object, object]]:
    """Return what differs of a baked file, apart from what is baked and what saving alone does."""
    by_saving, found = changes(before, again), changes(before, baked)
    assert any(_BAKED.match(way) for way in found), "nothing was baked"
    return {way: pair for way, pair in found.items() if not _BAKED.match(way) and way not in by_saving}


def start_anew() -> None:
    """Make a session with nothing open, for what is open already is not read anew from libraries."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def save(path: Path, **options) -> Path:
    bpy.ops.wm.save_as_mainfile(filepath=str(path), **options)
    return path


def add_mesh(name: str) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [], [(0, 1, 2), (0, 1, 3)])
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def make_active(ob: bpy.types.Object, mode: str = 'OBJECT') -> None:
    if bpy.context.mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    bpy.ops.object.select_all(action='DESELECT')
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    bpy.ops.object.mode_set(mode=mode)


def windows_of_ones_own(_: Path) -> None:
    window = bpy.context.window
    window.workspace.name = "My Own Workspace"
    for other in [space for space in bpy.data.workspaces if space != window.workspace][2:]:
        bpy.data.batch_remove([other])
    view = max(window.screen.areas, key=lambda area: area.width * area.height)
    with bpy.context.temp_override(window=window, area=view):
        bpy.ops.screen.area_split(direction='VERTICAL', factor=0.3)
    window.screen.areas[-1].type = 'TEXT_EDITOR'
    view.spaces.active.lens = 77.0
    view.spaces.active.shading.type = 'WIREFRAME'
    view.spaces.active.show_region_ui = True
    view.spaces.active.region_3d.view_distance = 3.5
    window.workspace["mine"] = 5


def second_view_layer(_: Path) -> None:
    scene = bpy.context.scene
    hidden = bpy.data.collections.new("Hidden")
    scene.collection.children.link(hidden)
    scene.view_layers.new("Second")
    scene.view_layers["Second"].layer_collection.children["Hidden"].exclude = True
    scene.view_layers["Second"].use_pass_z = True
    scene.view_layers[0].use = False
    bpy.context.window.view_layer = scene.view_layers["Second"]
    make_active(bpy.data.objects["Target"])


def several_scenes(_: Path) -> None:
    rig_scene = bpy.context.scene
    rig_scene.name = "Shot"
    for name in ("Another", "Zoo"):
        other = bpy.data.scenes.new(name)
        other.collection.objects.link(bpy.data.objects["Target"])
        other.frame_current = 7
        other.view_layers.new("More")
    rig_scene.background_set = bpy.data.scenes["Zoo"]
    bpy.context.window.scene = rig_scene


def a_pose_and_a_selection(_: Path) -> None:
    rig = bpy.data.objects["Rig"]
    make_active(rig, 'POSE')
    rig.data.bones.active = rig.data.bones["body"]
    rig.pose.bones["body"].rotation_mode = 'ZYX'
    rig.pose.bones["body"].rotation_euler.x = 0.1
    rig.pose.bones["body"].lock_scale = True, False, True
    rig.pose.bones["body"]["of the bone"] = 2.5


def a_frame_between_frames(_: Path) -> None:
    scene = bpy.context.scene
    scene.frame_set(17, subframe=0.25)
    scene.frame_start, scene.frame_end, scene.frame_step = 5, 33, 2
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 8, 9
    scene.cursor.location = 1, 2, 3
    scene.unit_settings.system = 'IMPERIAL'
    scene.render.fps = 30
    scene.tool_settings.use_keyframe_insert_auto = True
    scene.timeline_markers.new("Here", frame=12).camera = None


def moved_by_hand_and_not_keyed(_: Path) -> None:
    bpy.context.scene.frame_set(10)
    bpy.data.objects["Target"].location.x = 4.0
    other = add_mesh("Other")
    other.keyframe_insert("location", frame=1)
    other.location = 1, 2, 3


def an_edited_mesh(_: Path) -> None:
    make_active(add_mesh("Edited"), 'EDIT')


def painted_weights(_: Path) -> None:
    make_active(add_mesh("Painted"), 'WEIGHT_PAINT')


def notes_and_properties(_: Path) -> None:
    bpy.data.texts.new("Notes").write("do not forget\n" * 3)
    for owner in (bpy.context.scene, bpy.data.objects["Rig"], bpy.data.objects["Target"]):
        owner["number"], owner["list"], owner["words"] = 1.5, [1, 2, 3], {"a": "b", "c": {"d": 1}}
        owner["pointer"] = bpy.data.objects["Target"]


def nobody_uses_it(_: Path) -> None:
    for kind in UNUSED:
        for name in ("kept", "unused"):
            block = getattr(bpy.data, kind).new(name, *UNUSED[kind])
            block.use_fake_user = name == "kept"


UNUSED = {
    "actions": (),
    "armatures": (),
    "brushes": (),
    "cameras": (),
    "collections": (),
    "curves": ('CURVE',),
    "lattices": (),
    "lights": ('SUN',),
    "linestyles": (),
    "masks": (),
    "materials": (),
    "meshes": (),
    "metaballs": (),
    "node_groups": ('GeometryNodeTree',),
    "palettes": (),
    "particles": (),
    "speakers": (),
    "texts": (),
    "textures": ('CLOUDS',),
    "worlds": (),
}


def images(folder: Path) -> None:
    packed = bpy.data.images.new("packed", 8, 8)
    packed.generated_color = 0.2, 0.4, 0.6, 1.0
    packed.pack()
    (folder / "textures").mkdir()
    picture = bpy.data.images.new("drawn", 8, 8)
    picture.filepath_raw, picture.file_format = str(folder / "textures" / "a.png"), 'PNG'
    picture.save()
    for path in ("//textures/a.png", "//missing/b.png", str(folder / "textures" / "a.png")):
        image = bpy.data.images.new("from a file", 1, 1)
        image.source, image.filepath, image.use_fake_user = 'FILE', path, True
    for image in (packed, picture):
        image.use_fake_user = True


def a_library(folder: Path) -> None:
    here = save(folder / "before_library.blend")
    start_anew()
    add_mesh("Prop")["strong"] = True
    collection = bpy.data.collections.new("Props")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(bpy.data.objects["Prop"])
    add_leg("Linked rig")
    (folder / "lib").mkdir()
    save(folder / "lib" / "props.blend")
    bpy.ops.wm.open_mainfile(filepath=str(here), load_ui=True)
    with bpy.data.libraries.load("//lib/props.blend", link=True, relative=True) as (there, wanted):
        wanted.objects, wanted.collections = ["Prop", "Linked rig"], ["Props"]
    for ob in wanted.objects:
        bpy.context.scene.collection.objects.link(ob)
    override = bpy.data.objects["Prop"].override_create(remap_local_usages=True)
    override.location = 3, 2, 1


def a_library_that_is_missing(folder: Path) -> None:
    a_library(folder)
    (folder / "lib" / "props.blend").unlink()


def strips_and_assets(_: Path) -> None:
    target, mesh = bpy.data.objects["Target"], add_mesh("Asset")
    mesh.asset_mark()
    mesh.asset_data.description, mesh.asset_data.catalog_id = "mine", "0f0e1a5a-5e0b-4ec5-9a1c-000000000001"
    mesh.asset_data.tags.new("tag")
    action = bpy.data.actions.new("Pushed")
    track = target.animation_data.nla_tracks.new()
    track.name = "mine"
    track.strips.new("strip", 50, target.animation_data.action).scale = 1.5
    action.use_fake_user = True
    action.pose_markers.new("there").frame = 4


def physics(_: Path) -> None:
    """Simulations remember the frames that were played, also in the file."""
    cloth = add_mesh("Cloth")
    cloth.modifiers.new("Cloth", 'CLOTH')
    cloth.modifiers.new("Soft", 'SOFT_BODY')
    for frame in range(1, 9):
        bpy.context.scene.frame_set(frame)
    dust = add_mesh("Dust")
    dust.modifiers.new("Dust", 'PARTICLE_SYSTEM')
    bpy.context.scene.frame_set(3)


SCENES = [
    windows_of_ones_own,
    second_view_layer,
    several_scenes,
    a_pose_and_a_selection,
    a_frame_between_frames,
    moved_by_hand_and_not_keyed,
    an_edited_mesh,
    painted_weights,
    notes_and_properties,
    nobody_uses_it,
    images,
    a_library,
    a_library_that_is_missing,
    strips_and_assets,
    physics,
]


def reads_the_scene() -> None:
    """Let the target's height hang on the scene, so that all of it is stepped through."""
    scene = bpy.context.scene
    scene["height"] = 0.0
    scene.keyframe_insert('["height"]', frame=1)
    driver = bpy.data.objects["Target"].driver_add("delta_location", 2).driver
    driver.expression = "height"
    variable = driver.variables.new()
    variable.name = "height"
    variable.targets[0].id_type, variable.targets[0].id = 'SCENE', scene
    variable.targets[0].data_path = '["height"]'


# Where the full scene is stepped through, simulations are played anew, as with any change of the frame.
STEPPED_THROUGH = [add for add in SCENES if add not in (several_scenes, physics)]
