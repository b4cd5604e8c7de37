# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators on whole chains: copy their settings, mirror and enable them."""

from collections.abc import Iterable, Sequence

from bpy.props import BoolProperty, EnumProperty
from bpy.types import Context, Object, Operator, PropertyGroup

from ...core import IK2DError
from ...core.words import noted, number_of, quoted, say
from ...rig.chain.fingerprint import led_by
from ...rig.chain.post import turned_bones_of
from ...rig.chain.renames import chain_named
from ...ui.context import active_armature, active_chain, named_chain, shown_chain, why_no_chain
from ...ui.operator import ChainOperator, chain_name
from ...ui.parts import entry
from ...ui.registration import registration
from .copying import copy_settings, mirror_chain


def chains_of_bones(chains: Sequence[PropertyGroup], names: Iterable[str]) -> list[PropertyGroup]:
    """Return the chains that contain any of some bones, also as their post."""
    wanted = set(names)
    return [chain for chain in chains if wanted & set(turned_bones_of(chain))]


def chains_at(armature: Object, bone: str) -> list[PropertyGroup]:
    """Return the chains that a bone is in, or, if it is in none, is the target or the pole of."""
    chains = armature.ik2d.chains
    return chains_of_bones(chains, [bone]) or [chain for chain in chains if (armature, bone) in led_by(chain)]


def _chosen(context: Context, which: str) -> list[PropertyGroup]:
    """Return the chains to copy the shown chain's settings to."""
    chain, chains = shown_chain(context), active_armature(context).ik2d.chains
    if which == 'SELECTED':
        selected = [bone.name for bone in context.selected_pose_bones or () if bone.id_data == chain.id_data]
        here = chains_of_bones(chains, selected)
    else:
        here = [other for other in chains if other.enabled]
    return [other for other in here if other != chain]


def _planes_kept(names: Iterable[str]) -> str:
    """Return in words that some chains did not take a plane with the other settings; "" for none."""
    if not (told := quoted(names)):
        return ""
    return say("; Bends In stays on those without a pole or post of their own: {names}", names=told)


def _why_no_others(context: Context) -> str:
    reason = why_no_chain(context)
    return reason or ("" if len(active_armature(context).ik2d.chains) > 1 else say("There is only one chain"))


class IK2D_OT_copy_settings(ChainOperator, Operator):
    """Copy how the active chain is solved to other chains of the armature"""

    bl_idname = "ik2d.copy_settings"
    bl_label = "Copy Settings"

    why_not = staticmethod(_why_no_others)

    to: EnumProperty(
        name="To",
        description="Chains that get the settings",
        items=(
            ('ENABLED', "Enabled", "All other chains that are enabled"),
            ('SELECTED', "Selected", "The other chains of the selected bones"),
        ),
        default='ENABLED',
    )
    joints: BoolProperty(
        name="Joints",
        description="Copy limits, slides and flexibility too, from the root on, to chains with as many bones",
    )

    def execute(self, context):
        self.begin_work(context)
        others = _chosen(context, self.to)
        if not others:
            words = say("is enabled") if self.to == 'ENABLED' else say("has a selected bone")
            return self.refuse(say("No other chain {words}", words=words), 'WARNING')
        chain = shown_chain(context)
        count = copy_settings(chain, others, self.joints)
        told = say("Copied settings to {chains}", chains=number_of(count, "chain"))
        self.report(
            {'INFO'}, told + _planes_kept(other.name for other in others if other.plane != chain.plane)
        )
        return {'FINISHED'}


class IK2D_OT_mirror(ChainOperator, Operator):
    """Make the chain's counterpart on the other side: the bones and the target with .L and .R exchanged"""

    bl_idname = "ik2d.mirror"
    bl_label = "Mirror Chain"

    all: BoolProperty(
        name="All Enabled",
        description="Mirror every enabled chain of the armature, not the active one alone",
    )
    chain: chain_name("Chain to mirror; empty for the active one")

    def execute(self, context):
        self.begin_work(context)
        armature = active_armature(context)
        try:
            chosen = [named_chain(context, self.chain).name]
        except IK2DError as error:
            return self.refuse(error)
        if self.all:
            chosen = [chain.name for chain in armature.ik2d.chains if chain.enabled]
        made: dict[str, str] = {}  # names by last bones: a list that grows moves its chains in memory
        kept: list[str] = []
        for name in chosen:
            chain = chain_named(armature, name)
            if chain.tip in made:
                continue  # itself the result of a mirrored chain before it
            try:
                other = mirror_chain(armature, chain)
                made[other.tip] = other.name
                kept += [other.name] * (other.plane != chain_named(armature, name).plane)
            except IK2DError as error:
                self.report({'WARNING' if self.all else 'ERROR'}, str(error))
        if not made:
            return {'CANCELLED'}
        self.report({'INFO'}, say("Mirrored to ") + quoted(made.values()) + _planes_kept(kept))
        return {'FINISHED'}


class IK2D_OT_enable_chains(ChainOperator, Operator):
    """Choose which chains are posed and baked"""

    bl_idname = "ik2d.enable_chains"
    bl_label = "Enable Chains"

    why_not = staticmethod(_why_no_others)

    which: EnumProperty(
        name="Which",
        description="Chains to enable; all others are disabled",
        items=(
            ('ALL', "All", "All chains of the armature"),
            ('ACTIVE', "Only the Active One", "The active chain alone"),
        ),
        default='ALL',
    )

    def work(self, context):
        chain = shown_chain(context)
        for other in active_armature(context).ik2d.chains:
            other.enabled = self.which == 'ALL' or other == chain


def chain_here(context: Context) -> PropertyGroup | None:
    """Return the chain of the active bone, of several the active chain or the first; None without any."""
    armature = active_armature(context)
    bone = armature.data.bones.active if armature is not None else None
    if bone is None or not armature.is_property_set("ik2d"):
        return None
    here = chains_of_bones(armature.ik2d.chains, [bone.name])
    chosen = active_chain(armature)
    return chosen if chosen in here else next(iter(here), None)


HEADINGS = {"chains": "enable_chains"}
MENU = {
    "bone": [entry("ik2d.mirror", 'MOD_MIRROR')],
    "chain": [
        entry("ik2d.mirror", 'MOD_MIRROR'),
        entry("ik2d.copy_settings", 'COPYDOWN', noted("Copy Settings to Enabled"), to='ENABLED'),
        entry("ik2d.copy_settings", text=noted("Copy Settings to Selected Bones' Chains"), to='SELECTED'),
        entry("ik2d.enable_chains", 'CHECKBOX_HLT', noted("Enable All"), which='ALL'),
        entry("ik2d.enable_chains", text=noted("Enable Only the Active One"), which='ACTIVE'),
    ],
}
classes = (IK2D_OT_copy_settings, IK2D_OT_mirror, IK2D_OT_enable_chains)
register, unregister = registration(classes)
