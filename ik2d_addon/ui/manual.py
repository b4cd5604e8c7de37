# SPDX-License-Identifier: GPL-3.0-or-later
"""The way to the manual: from Help in the sidebar, and from Online Manual in the right-click menu.

The website of blender_manifest.toml, where it names one, is the site that `make docs` builds. Without one the
manual that the zip holds is opened, and in a checkout docs/manual.md itself.
"""

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path

import bpy

_EXTENSION = Path(str(files(__package__))).parents[1]
# The manual below the website, in the zip, and in a checkout.
ON_SITE = "docs/manual.html"
IN_ZIP = "manual.html"
_IN_CHECKOUT = "docs/manual.md"

# What each heading of the manual tells about: RNA names as Blender looks them up, in lower case.
_HEADINGS = {
    "chains": (
        *("types.ik2d_pg_settings.chains", "types.ik2d_pg_chain.enabled"),
        *(
            "ops.ik2d.chain_remove",
            "ops.ik2d.chain_move",
            "ops.ik2d.enable_chains",
        ),
    ),
    "add-chain": ("ops.ik2d.chain_add",),
    "turn-plane": ("ops.ik2d.turn_plane",),
    "live": (
        *("types.ik2d_pg_chain.live", "types.ik2d_ap_preferences.live_at_once"),
        "ops.ik2d.live_again",
    ),
    "copy-settings": ("ops.ik2d.copy_settings",),
    "mirror-chain": ("ops.ik2d.mirror",),
    "presets": ("ops.ik2d.preset_*",),
    "last-bone": ("types.ik2d_pg_chain.tip",),
    "chain-length": ("types.ik2d_pg_chain.bone_count",),
    "target-and-bone": ("types.ik2d_pg_chain.target", "types.ik2d_pg_chain.subtarget"),
    "ik-blend": ("types.ik2d_pg_chain.influence",),
    "bends-in": (
        "types.ik2d_pg_chain.plane",
        "types.ik2d_pg_chain.plane_normal",
        "types.ik2d_pg_chain.swing_normal",
    ),
    "pole": (
        *("types.ik2d_pg_chain.pole", "types.ik2d_pg_chain.pole_subtarget", "types.ik2d_pg_chain.pole_angle"),
        "ops.ik2d.pole_*",
    ),
    "reach-the-target": ("types.ik2d_pg_chain.aim_distance",),
    "bend": ("types.ik2d_pg_chain.bend", "types.ik2d_pg_chain.shown_bend", "ops.ik2d.flip"),
    "bend-to-other-side": ("types.ik2d_pg_chain.turn_over",),
    "problems": ("ops.ik2d.mend",),
    "softness": ("types.ik2d_pg_chain.softness",),
    "stretch": ("types.ik2d_pg_chain.stretch*", "types.ik2d_pg_chain.compress"),
    "joints": ("types.ik2d_pg_chain.joints",),
    "limit": ("types.ik2d_pg_joint.use_limit", "types.ik2d_pg_joint.limit_*"),
    "flexibility": ("types.ik2d_pg_joint.weight",),
    "slide": ("types.ik2d_pg_joint.use_slide", "types.ik2d_pg_joint.slide_m*"),
    "copy-limits-from-bones": ("ops.ik2d.limits_from_bones",),
    "foot-or-hand": ("types.ik2d_pg_chain.hand_*",),
    "add-foot": (
        *("types.ik2d_pg_chain.foot", "types.ik2d_pg_foot.is_added"),
        *("ops.ik2d.foot_add", "ops.ik2d.foot_remove"),
    ),
    "roll-and-toes": (
        *("types.ik2d_pg_foot.roll", "types.ik2d_pg_foot.toe", "types.ik2d_pg_foot.break_angle"),
    ),
    "above-ground": ("types.ik2d_pg_foot.use_ground", "types.ik2d_pg_foot.ground"),
    "pivots": ("types.ik2d_pg_foot.heel", "types.ik2d_pg_foot.ball", "types.ik2d_pg_foot.toe_tip"),
    "contacts": ("types.ik2d_pg_foot.contact*", "ops.ik2d.find_contacts", "ops.ik2d.plant_*"),
    "last-bones-angle": ("types.ik2d_pg_chain.tip_rotation", "types.ik2d_pg_chain.tip_angle_*"),
    "solver": ("types.ik2d_pg_chain.solver",),
    "first-bone-turns-freely": ("types.ik2d_pg_chain.root_turns_freely",),
    "slide-vs-turn": ("types.ik2d_pg_chain.slide_weight",),
    "start-each-frame-from": ("types.ik2d_pg_chain.start_from",),
    "iterations-and-reached-within": ("types.ik2d_pg_chain.iterations", "types.ik2d_pg_chain.tolerance"),
    "bake": (
        *("types.ik2d_pg_settings.bake_selected", "types.ik2d_pg_settings.chains_to_bake"),
        "ops.ik2d.bake",
    ),
    "custom-range": ("types.ik2d_pg_settings.use_custom_range", "types.ik2d_pg_settings.frame_*"),
    "clear-bake": ("ops.ik2d.clear_bake",),
    "show-motion-before-bakes": ("ops.ik2d.show_before",),
    "missed-frames": ("ops.ik2d.mark_frames",),
    "pose-this-frame": ("ops.ik2d.solve",),
    "only-on-targets-keys": ("types.ik2d_pg_settings.on_target_keys",),
    "one-curve-per-bone": ("types.ik2d_pg_settings.single_axis",),
    "reduce-keys": ("types.ik2d_pg_settings.use_reduce", "types.ik2d_pg_settings.reduce_error"),
    "ease-flips": ("types.ik2d_pg_settings.ease_flips",),
    "verify": ("types.ik2d_pg_settings.verify",),
    "colors": ("types.ik2d_pg_overlay.*_color",),
    "targets-path": ("types.ik2d_pg_overlay.path", "ops.ik2d.target_path"),
    "handles": ("types.ik2d_pg_overlay.handles", "ops.ik2d.limit_set"),
    "overlay": ("types.ik2d_pg_overlay.show", "types.ik2d_ap_preferences.overlay"),
    "what-it-draws": ("types.ik2d_pg_overlay.*",),  # all others
    "adopt-ik": ("types.ik2d_pg_adopted_limb.take", "ops.ik2d.adopt", "ops.ik2d.release"),
    "fk-and-ik": ("ops.ik2d.target_to_tip", "ops.ik2d.snap_fk", "ops.ik2d.clear_snaps"),
    "convert-to-drivers": ("ops.ik2d.make_native", "ops.ik2d.remove_native"),
    "drag-tip": ("ops.ik2d.drag",),
    "key-target": ("ops.ik2d.key_target",),
    "ccd-step": ("ops.ik2d.ccd_step",),
}


@cache
def address(extension: Path = _EXTENSION) -> str:
    """Return the manual's address: on the website, or the file that the extension's folder has."""
    manifest = tomllib.loads((extension / "blender_manifest.toml").read_text(encoding="utf-8"))
    if website := manifest.get("website"):
        return f"{website.rstrip('/')}/{ON_SITE}"
    page = extension / IN_ZIP
    return (page if page.is_file() else extension / _IN_CHECKOUT).as_uri()


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the manual's address, and a heading for each name: the first that fits is taken."""
    return address(), tuple(
        (f"bpy.{name}", f"#{heading}") for heading, names in _HEADINGS.items() for name in names
    )


def register() -> None:
    """Add our headings to those that Online Manual knows."""
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    """Take them away."""
    bpy.utils.unregister_manual_map(manual_map)
