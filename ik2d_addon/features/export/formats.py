# SPDX-License-Identifier: GPL-3.0-or-later
"""The formats, each with Blender's own exporter and importer and the settings that lose least."""

import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import bpy

from ...bake.lengths import Units
from ...core import IK2DError
from ...core.words import listed, refusal, say

# The settings of a call by their names; those that an older Blender does not have are left out.
Settings = Mapping[str, Any]
_GLTF = {
    "export_animation_mode": 'ACTIONS',
    "export_force_sampling": False,  # keys as cubics: 25 times nearer half-way than sampled
    "export_merge_animation": 'NLA_TRACK',  # clips of one name on several rigs are one
    "export_optimize_animation_size": False,
    "export_frame_range": False,
    "export_negative_frame": 'SLIDE',
}


@dataclass(frozen=True)
class Format:
    """A format that an exporter of Blender writes."""

    name: str
    exporter: str
    importer: str
    export: Settings = field(default_factory=dict)
    load: Settings = field(default_factory=dict)
    add_on: str = ""  # Blender's own add-on that has both
    clip_each: bool = False  # whether a file has one timeline, so that each clip gets a file

    def why_missing(self) -> str:
        """Say why this Blender cannot write the format; "" where it can."""
        if all(map(_there, (self.exporter, self.importer))):
            return ""
        if self.add_on:
            return say(
                "Blender's add-on for {format} is off: enable '{add_on}' in Preferences > Add-ons",
                format=self.name,
                add_on=self.add_on,
            )
        return say(
            "This Blender was built without {format}: export to another format, or use a Blender from"
            " blender.org",
            format=self.name,
        )

    @property
    def is_gltf(self) -> bool:
        """Whether it is glTF, whose keys are replaced by exact ones."""
        return self.exporter.endswith(".gltf")

    def warnings(self, units: Units) -> list[str]:
        """Return a sentence where the file is not to the scale of a scene with these units."""
        if not self.is_gltf or units.system == 'NONE' or math.isclose(units.scale, 1.0, rel_tol=1e-4):
            return []
        return [
            say(
                "glTF takes a Blender unit for a meter, and the scene's Unit Scale is {scale}: scale the rig"
                " in the engine, or export FBX",
                scale=f"{units.scale:g}",
            )
        ]

    def write(self, path: str) -> None:
        """Write the open scene to a file. Raises IK2DError where the exporter fails."""
        with _measures_of_gltf(self.exporter):
            _call(self.exporter, self.name, {**self.export, "filepath": path})

    def read(self, path: str) -> float:
        """Import a file into the open scene; return how many of its frames a frame of the file takes.

        Raises IK2DError where the importer fails.
        """
        with _measures_of_gltf(self.importer):
            _call(self.importer, self.name, {**self.load, "filepath": path})
        # The importer of FBX leaves out the base of the rate that it has given the scene.
        return float(bpy.context.scene.render.fps_base) if self.importer.endswith(".fbx") else 1.0


_GLTF_LOAD = {"bone_heuristic": 'BLENDER', "import_pack_images": False}
FORMATS = {
    ".glb": Format(
        "glTF",
        "export_scene.gltf",
        "import_scene.gltf",
        {**_GLTF, "export_format": 'GLB'},
        _GLTF_LOAD,
        "glTF 2.0 format",
    ),
    ".gltf": Format(
        "glTF",
        "export_scene.gltf",
        "import_scene.gltf",
        {**_GLTF, "export_format": 'GLTF_SEPARATE'},
        _GLTF_LOAD,
        "glTF 2.0 format",
    ),
    ".fbx": Format(
        "FBX",
        "export_scene.fbx",
        "import_scene.fbx",
        {
            "bake_anim_use_all_actions": False,
            "bake_anim_use_nla_strips": True,
            "bake_anim_simplify_factor": 0.0,
            "add_leaf_bones": False,
            "path_mode": 'COPY',
            "embed_textures": True,
        },
        {"anim_offset": 0.0, "ignore_leaf_bones": False, "automatic_bone_orientation": False},
        "FBX format",
    ),
    ".usdc": Format(
        "USD",
        "wm.usd_export",
        "wm.usd_import",
        {"export_animation": True, "export_armatures": True},
        {"set_frame_range": False},
        clip_each=True,
    ),
}


def format_of(path: str) -> Format:
    """Return the format that a file's name asks for; raise IK2DError for none, or one that is missing."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in FORMATS:
        raise refusal(
            "'{name}' has the ending of no known format: the endings are {endings}",
            name=os.path.basename(path),
            endings=listed(FORMATS),
        )
    if reason := FORMATS[ending].why_missing():
        raise IK2DError(reason)
    return FORMATS[ending]


def _operator(name: str) -> Callable[..., set[str]]:
    group, _, own = name.partition(".")
    return getattr(getattr(bpy.ops, group), own)  # type: ignore[no-any-return]


def _there(name: str) -> bool:
    group, _, own = name.partition(".")
    return hasattr(bpy.types, f"{group.upper()}_OT_{own}") or own in dir(getattr(bpy.ops, group))


def _call(name: str, noun: str, settings: Settings) -> None:
    operator = _operator(name)
    known = operator.get_rna_type().properties  # type: ignore[attr-defined]
    try:
        operator(**{key: value for key, value in settings.items() if key in known})
    except RuntimeError as error:
        words = " ".join(str(error).removeprefix("Error: ").split())
        raise refusal("Blender could not write or read {format}: {words}", format=noun, words=words) from None


@contextmanager
def _measures_of_gltf(operator: str) -> Iterator[None]:
    """Give Blender's glTF add-on the frame rate and the units as it takes them.

    It multiplies by the base of the rate. Its exporter takes a unit for a meter, and its importer does not.
    """
    if not operator.endswith(".gltf"):
        yield
        return
    render, units = bpy.context.scene.render, bpy.context.scene.unit_settings
    base, meters = render.fps_base, units.scale_length
    render.fps_base, units.scale_length = 1.0 / base, 1.0
    try:
        yield
    finally:
        render.fps_base, units.scale_length = base, meters
