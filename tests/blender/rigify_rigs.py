# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigify's metarigs, and the rigs that it generates from them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy


@contextmanager
def rigify() -> Iterator[None]:
    """Enable Blender's own add-on, which goes again, since it stays registered otherwise."""
    import addon_utils  # found once bpy is there

    addon_utils.enable("rigify", default_set=True)
    try:
        yield
    finally:
        addon_utils.disable("rigify", default_set=True)


def add_metarig(name: str) -> bpy.types.Object:
    """Add a metarig by its name, such as "human" or "cat", while Rigify is enabled; return it."""
    getattr(bpy.ops.object, f"armature_{name}_metarig_add")()
    return bpy.context.object


def save_generated(name: str, path: Path) -> None:
    """Save a file with the rig that Rigify generates from a metarig, and nothing else."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with rigify():
        metarig = add_metarig(name)
        bpy.ops.object.mode_set(mode='POSE')
        bpy.ops.pose.rigify_generate()
        bpy.ops.object.mode_set(mode='OBJECT')
        bpy.data.objects.remove(metarig)
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
