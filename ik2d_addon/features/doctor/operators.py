# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings of the chain that is shown, as the sidebar draws them, each with a button that fixes it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import bpy
from bpy.props import EnumProperty
from bpy.types import Context, Object, Operator, PropertyGroup, UILayout

from ...bake.keys.baked import baked_paths
from ...bake.request import chosen_range
from ...core.words import say
from ...live.registry import Key, key_of
from ...rig.animation.value_keys import existing_drivers
from ...rig.animation.versions import existing_fcurves
from ...rig.chain.chain import RigChain, reading
from ...rig.chain.fingerprint import fingerprint, key_places
from ...rig.chain.native_state import controls_of
from ...ui.context import active_armature, named_chain
from ...ui.kept import kept
from ...ui.manual import draw_help
from ...ui.operator import ChainOperator, chain_name
from ...ui.registration import registration
from ...ui.settings.joint_list import joints_wanted
from ...ui.text import draw_text
from .findings import Finding, findings, target_off_plane
from .fixes import FIXES, mend
from .troubles import heading_of

# A chain with more findings than these gets a word instead of more rows.
_ROWS = 4

# --- What is asked whenever the sidebar is drawn -----------------------------

# Cached readings of chains, each with its fingerprint.
_readings: dict[Key, tuple[Any, RigChain | str]] = {}


def read(chain: PropertyGroup) -> RigChain | str:
    """Return the cached `reading` of a chain, read again only after its fingerprint has changed."""
    armature = chain.id_data
    key, seen = key_of(chain), _fingerprint(armature, chain)
    known = _readings.get(key)
    if known is None or known[0] != seen:
        if len(_readings) > 256:  # of files that were open before
            _readings.clear()
        _readings[key] = known = (seen, reading(armature, chain))
    rig = known[1]
    # After an undo the objects are others, though they are the same.
    if isinstance(rig, str):
        return rig
    pole, native = rig.pole and (chain.pole, chain.pole_subtarget), controls_of(chain)
    path = chain.path_from_id()  # another one after the chain was moved in its list
    if rig.settings.native is not native or rig.settings.path != path:
        rig = rig.solved_by(native=native, path=path)
    return replace(rig, armature=armature, target=chain.target, pole=pole)


def _fingerprint(armature: Object, chain: PropertyGroup) -> Any:
    """Return the fingerprint of a chain's reading: a chain's own, and its keys where these are read."""
    return (
        armature.as_pointer(),
        armature.data.as_pointer(),
        fingerprint(armature, chain),
        list(_animation(armature, chain)) if armature.animation_data else (),
    )


def _animation(armature: Object, chain: PropertyGroup) -> Iterator[Any]:
    """Yield the fingerprint of keys and drivers of bones that stretch, slide, or have locks."""
    bones = [armature.pose.bones[name] for name in joints_wanted(chain)]
    changing = chain.stretch != 1.0 or chain.compress != 1.0 or any(joint.is_scaled for joint in chain.joints)
    if not changing and not any(joint.use_slide for joint in chain.joints):
        bones = [bone for bone in bones if any(bone.lock_rotation)]
    if bones:
        yield len(existing_drivers(armature))
        paths = baked_paths(armature, [bone.name for bone in bones])
        paths |= {bone.path_from_id("scale") for bone in bones}
        curves = [curve for curve in existing_fcurves(armature) if curve.data_path in paths]
        yield [curve.data_path for curve in curves], key_places(curves)


def cached_problem(chain: PropertyGroup) -> str:
    """Return the cached error that keeps a chain from being solved, and its remedy; "" for a good chain."""
    rig = read(chain)
    return rig if isinstance(rig, str) else ""


def findings_of(context: Context, armature: Object, chain: PropertyGroup) -> list[Finding]:
    """Return the findings of a chain on the frames that the sidebar shows, the gravest first."""
    first, last, _step = chosen_range(armature, context.scene)
    rig = read(chain)
    off = kept(
        armature,
        f"off plane {chain.name}",
        (_readings[key_of(chain)][0], first, last),
        lambda: target_off_plane(context.scene, chain, rig, first, last),
        with_targets=True,
    )
    return findings(armature, chain, rig, first, last, off)


def draw_findings(layout: UILayout, context: Context, armature: Object, chain: PropertyGroup) -> None:
    """Draw a chain's findings and their fixes."""
    to_show = findings_of(context, armature, chain)
    for finding in to_show[:_ROWS]:
        column = layout.column(align=True)
        row = column.box().row(align=True)
        draw_text(row, context, shown(finding), 'INFO' if finding.note else 'ERROR', buttons=1)
        draw_help(row, heading_of(finding))
        _draw_fixes(column, chain, finding)
    if len(to_show) > _ROWS:
        layout.label(text=say("and {count} more", count=len(to_show) - _ROWS), translate=False)


def shown(finding: Finding) -> str:
    """Return a finding's sentences without the name of the chain, which the panel shows."""
    lines = [
        line.removeprefix(say("Chain '{chain}': ", chain=finding.chain))
        for line in finding.sentence.splitlines()
    ]
    return "\n".join(line[:1].upper() + line[1:] for line in lines)


def _draw_fixes(column: UILayout, chain: PropertyGroup, finding: Finding) -> None:
    for fix in finding.fixes:
        if not hasattr(bpy.types, fix.operator.replace("ik2d.", "IK2D_OT_")):
            continue
        button = column.operator(fix.operator, text=say(fix.label), translate=False, icon=fix.icon)
        if hasattr(button, "chain"):
            button.chain = chain.name
        if fix.work is not None:
            button.way = fix.way


# --- The operator ------------------------------------------------------------


class IK2D_OT_mend(ChainOperator, Operator):
    """Mend what is wrong with the chain, in one of the ways that the sidebar offers"""

    bl_idname = "ik2d.mend"
    bl_label = "Mend Chain"

    way: EnumProperty(
        name="Way",
        description="What to do",
        items=[(one.way, one.label, one.tooltip) for one in FIXES.values() if one.work is not None],
        options={'SKIP_SAVE'},
    )
    chain: chain_name("Chain to mend; empty for the active one")

    @classmethod
    def description(cls, _context, properties):
        """Say what the click does."""
        return FIXES[properties.way].tooltip

    def work(self, context):
        return mend(self.way, active_armature(context), named_chain(context, self.chain))


HEADINGS = {"problems": "mend"}
classes = (IK2D_OT_mend,)


register, _unregister_classes = registration(classes)


def unregister() -> None:
    """Unregister the operator and forget the readings."""
    _readings.clear()
    _unregister_classes()
