# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose This Frame, Bake and Clear Bake."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from bpy.props import BoolProperty, EnumProperty, IntProperty
from bpy.types import Context, Object, Operator, Scene

from ...bake import BakeReport, bake_steps, solve
from ...bake.actions.arguments import ALL, INTO_NEW
from ...bake.keys.baked import baked_keys, locked_channels
from ...bake.keys.clearing import (
    all_bones,
    bones_of_all,
    bones_to_clear,
    clear_bakes,
    hand_made_keys,
)
from ...bake.motionless import may_move
from ...bake.reporting.causes import unmoved_words
from ...bake.request import chosen_options, chosen_range
from ...core import IK2DError
from ...core.words import listed, noted, say
from ...rig.animation.kept.keeping import Replaced
from ...rig.animation.key_faults import notes_before
from ...rig.animation.times import animation_times
from ...rig.animation.versions import select_bone
from ...rig.chain.paths.owners import with_settings
from ...ui.context import active_armature, why_not_edit, why_not_solve
from ...ui.kept import kept
from ...ui.operator import ChainOperator, chain_name, frame_number, tick
from ...ui.parts import entry
from ...ui.registration import registration
from ...ui.settings.rig import ACTIONS, INTO
from ...ui.sliced import SlicedOperator
from ...ui.text import for_settings
from .all_actions import actions_to_bake, has_baked_actions
from .results import store_bake, store_solve


def chosen_bake(
    armature: Object,
    start: int | None,
    end: int | None,
    step: int,
    chain: str = "",
    others: Sequence[Object] = (),
    actions: str | None = None,
    **into: Any,
) -> Generator[tuple[int, int], None, BakeReport]:
    """Bake a chain, or all enabled ones, with the options of the sidebar; otherwise as `bake_steps`.

    others: armatures to bake with this one and its options. into: options on where the keys go.
    """
    names, options = [chain] if chain else None, replace(chosen_options(armature.ik2d), **into)
    steps = bake_steps([armature, *others], names, start, end, step, options=options, actions=actions)
    return (yield from steps)


def other_selected(context: Context) -> list[Object]:
    """Return the selected armatures with enabled chains or mechanisms, without the active armature."""
    active = active_armature(context)
    return [
        armature
        for armature in with_settings(context.selected_objects)
        if armature != active
        and any(one.enabled for one in (*armature.ik2d.chains, *armature.ik2d.mechanisms))
    ]


def select_baked(armature: Object, report: BakeReport) -> None:
    """Select only the baked bones in Pose Mode, so that the timeline shows their keys."""
    if armature.mode != 'POSE':
        return
    baked = {bone for chain in report.chains for bone in chain.bones}
    baked |= {bone for machine in report.mechanisms for bone in machine.bones}
    baked |= {bone for chain in report.chains if chain.played.hands for bone in chain.played.hands.bones}
    for bone in armature.pose.bones:
        select_bone(bone, bone.name in baked)


def frozen_motion_notes(armature: Object, scene: Scene) -> list[str]:
    """Return sentences about motion that a bake of all enabled chains will freeze outside its frames."""
    if armature.animation_data is None or not len(armature.animation_data.nla_tracks):
        return []
    if armature.ik2d.actions_to_bake == ALL:  # strips are off then
        return []
    bones = all_bones(chain for chain in armature.ik2d.chains if chain.enabled)
    start, end, _ = chosen_range(armature, scene)
    return notes_before(armature, bones, animation_times(scene, [start, end])) if bones else []


def replaced_by_bake(armature: Object, scene: Scene, chain: str = "") -> str:
    """Return which keys made by hand a bake of a chain, or of all enabled ones, replaces; "" for none."""
    settings = armature.ik2d
    if settings.bake_into == INTO_NEW:
        return ""
    if settings.actions_to_bake == ALL:
        return _replaced_in_words(actions_to_bake(armature, scene, chain).replaced)
    start, end, _ = chosen_range(armature, scene)
    version = [
        (each.name, each.enabled, each.tip, each.bone_count, each.hand_rotation, each.foot.is_added)
        for each in settings.chains
    ]

    def answer() -> str:
        chains = [one for one in settings.chains if (one.name == chain if chain else one.enabled)]
        return _replaced_in_words(hand_made_keys(armature, scene, chains, start, end, settings.single_axis))

    asked = (version, start, end, chain, settings.single_axis, scene.session_uid)
    return str(kept(armature, "replaced_by_bake", asked, answer, with_targets=False))


def _replaced_in_words(replaced: Replaced) -> str:
    return (
        say("Bake replaces {keys}; Clear Bake gives them back", keys=replaced.words) if replaced.keys else ""
    )


def unmoved_by_bake(armature: Object, chain: str = "") -> str:
    """Return which of the chains that a bake takes have targets that do not move; "" for none."""
    settings = armature.ik2d
    if settings.actions_to_bake == ALL:  # what is assigned now does not tell
        return ""
    version = [(each.name, each.enabled, each.foot.is_added, each.plane) for each in settings.chains]

    def answer() -> str:
        chains = [one for one in settings.chains if (one.name == chain if chain else one.enabled)]
        still = [one.name for one in chains if one.target is not None and not may_move(one)]
        return unmoved_words(still) if still else ""

    return str(kept(armature, "unmoved_by_bake", (version, chain), answer, with_targets=True))


def has_baked_keys(armature: Object) -> bool:
    """Return whether bakes have left keys on the bones of an armature's chains, where Clear Bake looks."""
    chains = armature.ik2d.chains
    if armature.ik2d.actions_to_bake == ALL and has_baked_actions(armature):
        return True
    version = [
        (chain.tip, chain.bone_count, chain.post, chain.hands_posed, chain.bake_mark) for chain in chains
    ]
    version += [tuple(one.bones.keys()) for one in armature.ik2d.mechanisms]

    def found() -> bool:
        return baked_keys(armature, bones_of_all(armature, chains, armature.ik2d.mechanisms))

    return bool(kept(armature, "has_baked_keys", version, found, with_targets=False))


# Kept from the last run, they would win over the panel's.
_AS_GIVEN = {"options": {'SKIP_SAVE'}}


def chosen_actions(description: str) -> EnumProperty:
    """Return a property for the assigned action or all of them."""
    return EnumProperty(name="Actions", description=description, items=ACTIONS, **_AS_GIVEN)


class _OfChain(ChainOperator):
    """An operator on one chain or on all."""

    why_not = staticmethod(why_not_solve)

    chain: chain_name("Chain to work on; empty for all that are enabled")

    @classmethod
    def description(cls, _context, properties):
        """Return the tooltip, with the chain's name in it if it is for one alone."""
        return say(cls.of_one, chain=properties.chain) if properties.chain else say(cls.__doc__)


class IK2D_OT_solve(_OfChain, Operator):
    """Pose all enabled chains at the current frame, without keys"""

    of_one = noted("Pose the chain '{chain}' alone at the current frame, without keys")

    bl_idname = "ik2d.solve"
    bl_label = "Pose This Frame"

    def work(self, context):
        armature = active_armature(context)
        report = solve(armature, [self.chain] if self.chain else None)
        store_solve(armature, report, context.scene)
        self.tell(report.sentence(), report.warnings, report.all_reached)


class IK2D_OT_bake(_OfChain, SlicedOperator, Operator):
    """Key the rotations of all enabled chains over a range of frames"""

    of_one = noted("Key the rotations of the chain '{chain}' alone over a range of frames")

    bl_idname = "ik2d.bake"
    bl_label = "Bake"

    # A range kept from the last run would win over the panel's: hence SKIP_SAVE.
    frame_start: frame_number("Start", "First frame to bake", 1)
    frame_end: frame_number("End", "Last frame to bake", 250)
    step: IntProperty(
        name="Step",
        description="Frames from one key to the next",
        default=1,
        min=1,
        soft_max=10,
        options={'SKIP_SAVE'},
    )
    all_selected: tick(
        "All Selected Armatures",
        "Bake the other selected armatures too, with the range and options of the active one",
    )

    actions: chosen_actions("Actions to bake")
    into: EnumProperty(name="Bake Into", description="Actions that get the keys", items=INTO, **_AS_GIVEN)
    assign_baked: tick(
        "Assign New Action",
        "Have the armature play the new action afterwards, in the place of the one baked",
    )
    own_frames: BoolProperty(
        name="Own Frames",
        description="Whether all actions have their own frames",
        options={'HIDDEN', 'SKIP_SAVE'},
    )

    doing, done_noun = noted("Baking"), noted("Bake")

    def begin(self, context):
        active = active_armature(context)
        settings, given = active.ik2d, self.properties.is_property_set
        own = not (settings.use_custom_range or given("frame_start") or given("frame_end"))
        self.fill_in([("own_frames", own)])
        chosen = chosen_range(active, context.scene)
        self.fill_in(zip(("frame_start", "frame_end", "step"), chosen, strict=True))
        self.fill_in([("actions", settings.actions_to_bake), ("into", settings.bake_into)])
        self.fill_in([("assign_baked", settings.assign_baked)])
        if not self.chain:
            self.fill_in([("all_selected", active.ik2d.bake_selected)])
        others = other_selected(context) if self.all_selected else []
        self._armatures = [active, *others]
        actions = ALL if self.actions == ALL else None
        cut = not (actions and self.own_frames)
        frames = (self.frame_start if cut else None, self.frame_end if cut else None, self.step)
        into = {"into": self.into, "assign_baked": self.assign_baked}
        steps = chosen_bake(active, *frames, self.chain, others, actions, **into)
        return steps, listed([armature.name for armature in self._armatures], most=2)

    def draw(self, _context):
        """Draw the settings in the redo panel, without the frames that actions have of their own."""
        layout = for_settings(self.layout)
        own = ("frame_start", "frame_end") if self.actions == ALL and self.own_frames else ()
        unused = own if self.into == INTO_NEW else (*own, "assign_baked")
        for setting in self.properties.bl_rna.properties:
            name = setting.identifier
            if name not in (*unused, "rna_type") and not setting.is_hidden:
                layout.prop(self, name)

    def finish(self, context, result):
        for armature, its in zip(self._armatures, result.by_armature, strict=True):
            store_bake(armature, its, context.scene)
            select_baked(armature, its)
        self.tell(result.sentence(), result.warnings, result.is_good)


class IK2D_OT_clear_bake(_OfChain, Operator):
    """Remove the keys that bakes made of all enabled chains, and give back the keys that they replaced"""

    of_one = noted("Remove the keys that bakes made of the chain '{chain}' alone, and give back the others")

    bl_idname = "ik2d.clear_bake"
    bl_label = "Clear Bake"

    frame_start: frame_number(
        "Start", "First frame to clear; without it, the first of the rig's own range, or all before", 1
    )
    frame_end: frame_number(
        "End", "Last frame to clear; without it, the last of the rig's own range, or all after", 250
    )

    actions: chosen_actions("Actions to clear")

    @staticmethod
    def why_not(context):
        if reason := why_not_edit(context):
            return reason
        armature = active_armature(context)
        if not armature.ik2d.chains and not armature.ik2d.mechanisms:
            return say("Add a chain first")
        return "" if has_baked_keys(armature) else say("There are no baked keys to clear")

    def work(self, context):
        armature = active_armature(context)
        self.fill_in([("actions", armature.ik2d.actions_to_bake)])
        actions = ALL if self.actions == ALL else None
        frames = self._frames(armature)
        bones = bones_to_clear(armature, self.chain)
        locked = locked_channels(armature, bones)
        given = clear_bakes(armature, self.chain, *frames, actions=actions)
        if not given.any:
            raise IK2DError(say("There are no baked keys to clear") + say(" in this range") * any(frames))
        if locked:
            words = noted("{count} locked channels keep their keys, such as {locked}")
            self.warn([say(words, count=len(locked), locked=locked[0])])
        start = "" if frames[0] is None else say(" from frame {frame}", frame=frames[0])
        end = "" if frames[1] is None else say(" to frame {frame}", frame=frames[1])
        self.warn(given.lost)
        return given.sentence(noted("baked"), start + end + (say(" in all actions") if actions else ""))

    def _frames(self, armature: Object) -> list[int | None]:
        """Return the first and last frame to clear: the caller's, the rig's Custom Range, or None twice."""
        settings, given = armature.ik2d, self.properties.is_property_set
        names = ("frame_start", "frame_end")
        if any(map(given, names)):
            return [getattr(self, name) if given(name) else None for name in names]
        return [getattr(settings, name) for name in names] if settings.use_custom_range else [None, None]


_BOTH = [entry("ik2d.solve", 'POSE_HLT', order=5), entry("ik2d.bake", 'KEY_HLT', order=6)]
MENU = {"main": [*_BOTH, entry("ik2d.clear_bake", 'X', order=7)], "bone": _BOTH}
classes = (IK2D_OT_solve, IK2D_OT_bake, IK2D_OT_clear_bake)
register, unregister = registration(classes)
