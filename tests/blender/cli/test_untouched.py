# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake in place changes the keys of the chains' bones and their results, and nothing else in the file."""

import re
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import bpy
import pytest
from file_contents import Contents, changes, contents_of_file
from rigs import add_leg, leg_with_target

from ik2d_addon.cli.program import run

# What a bake of the leg is there to change, and what Blender works out from it.
BAKED = re.compile(
    r"ACTION:RigAction"
    r"|OBJECT:Rig\.(animation_data|bound_box|dimensions|ik2d)\b"
    r"|OBJECT:Rig\.pose\.bones\['(thigh|shin)'\]\.(rotation_\w+|matrix\w*|head|tail|length)$"
)


def save(path: Path, **options) -> Path:
    bpy.ops.wm.save_as_mainfile(filepath=str(path), **options)
    return path


def saved_again(path: Path) -> Contents:
    """Return what is in the file after Blender has opened and saved it, with nothing done in between."""
    again = path.with_name(f"again_{path.name}")
    bpy.ops.wm.read_factory_settings(
        use_empty=True
    )  # as before a bake: libraries that are open stay as they are
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=True)
    compressed = path.read_bytes()[:7] != b"BLENDER"
    bpy.ops.wm.save_as_mainfile(filepath=str(again), copy=True, compress=compressed, relative_remap=False)
    return contents_of_file(again)


def bake_in_place(path: Path, *options: str) -> None:
    """Bake a file as the command line does, in this process, which has another file open before."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert run(["bake", str(path), "--frames", "1:40", *options], opens_scene=True) == 0


def changed_by_baking(path: Path) -> dict[str, tuple[object, object]]:
    """Bake a file in place; return what is not as it was, apart from what is baked and what saving alone does."""
    before = contents_of_file(path)
    by_saving = changes(before, saved_again(path))
    bake_in_place(path)
    found = changes(before, contents_of_file(path))
    assert any(BAKED.match(way) for way in found)
    return {way: values for way, values in found.items() if not BAKED.match(way) and way not in by_saving}


# --- Scenes, each with a leg to bake and something of the user's ------------------------------------


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
        bpy.data.images.new(path, 1, 1).source = 'FILE'
        bpy.data.images[path].filepath = path
        bpy.data.images[path].use_fake_user = True
    for image in (packed, picture):
        image.use_fake_user = True


def a_library(folder: Path) -> None:
    here = save(folder / "before_library.blend")
    bpy.ops.wm.read_factory_settings(use_empty=True)
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


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("add", SCENES, ids=lambda add: add.__name__)
def test_only_the_keys_and_the_results_change(add: Callable[[Path], None], compress: bool, tmp_path: Path):
    leg_with_target()
    add(tmp_path)
    assert changed_by_baking(save(tmp_path / "scene.blend", compress=compress)) == {}


def test_one_file_with_all_of_it(tmp_path: Path):
    leg_with_target()
    for add in (add for add in SCENES if add is not a_library):
        add(tmp_path)
    assert changed_by_baking(save(tmp_path / "scene.blend")) == {}
