# SPDX-License-Identifier: GPL-3.0-or-later
"""The two bakes that are compared: ours, and Blender's own of an IK constraint."""

import bpy


def bake_ours(armature: bpy.types.Object, frames: int, all_selected: bool = False) -> None:
    """Bake as the sidebar's button does; raise AssertionError where anything is to be said of it."""
    bpy.ops.ik2d.bake(frame_start=1, frame_end=frames, all_selected=all_selected)
    settings = armature.ik2d
    assert settings.last_bake and not settings.last_bake_alert, settings.last_bake


def nla_bake(end: int, channels: set[str]) -> None:
    bpy.ops.nla.bake(
        frame_start=1,
        frame_end=end,
        step=1,
        only_selected=True,
        visual_keying=True,
        clear_constraints=False,
        clear_parents=False,
        use_current_action=False,
        bake_types={'POSE'},
        channel_types=channels,
    )
