# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that match the bones' own keys (FK) and a chain (IK), and switch between both."""

from collections.abc import Iterator

from bpy.types import Context, Object, Operator, UILayout

from ...bake.reporting.report import BakeReport
from ...bake.request import chosen_range
from ...core import IK2DError
from ...core.words import noted, say
from ...rig.animation.bone_channels import locked_channels, rotation_property
from ...rig.chain.stretch import ALONG
from ...ui.auto_keying import Moved, auto_key
from ...ui.context import active_armature, shown_chain, why_not_edit, why_not_solve
from ...ui.kept import kept
from ...ui.operator import ChainOperator, chain_name, frame_number, tick
from ...ui.parts import entry
from ...ui.registration import registration

# Labels of the operators with the option to switch.
_SWITCHES = (noted("Switch to IK"), noted("Switch to FK"))


class _Match(ChainOperator):
    """Base of both operators: the chains, the frames, and whether they switch."""

    over_range: tick(
        "Over Range", "Key all frames from Start to End; else it is the current frame, keyed by Auto Keying"
    )
    frame_start: frame_number(
        "Start", "First frame to key; without it, the first of the rig's or the scene's range", 1
    )
    frame_end: frame_number(
        "End", "Last frame to key; without it, the last of the rig's or the scene's range", 250
    )
    chain: chain_name("Chain to take; empty for the active one")
    all: tick("All Enabled", "Take all enabled chains of the armature, not the active one alone")

    @staticmethod
    def why_not(context):
        reason = why_not_edit(context)
        if not reason and shown_chain(context) is None:
            reason = why_not_solve(context) or say("Choose a chain first")
        return reason

    @classmethod
    def description(cls, _context, properties):
        """Return the tooltip, another one if the button switches."""
        return say(cls.switching if properties.switch else cls.__doc__)

    def draw(self, _context):
        """Draw the options in the redo panel."""
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "over_range")
        if self.over_range:
            column = layout.column(align=True)
            column.prop(self, "frame_start")
            column.prop(self, "frame_end")
        layout.prop(self, "switch")
        layout.prop(self, "all")

    def chosen(self, context: Context) -> dict:
        """Return the arguments for the function; a range's frames are filled in for the redo panel."""
        armature = active_armature(context)
        names = ("frame_start", "frame_end")
        if not self.properties.is_property_set("over_range"):
            self.over_range = any(self.properties.is_property_set(name) for name in names)
        frames = {}
        if self.over_range:
            self.fill_in(zip(names, chosen_range(armature, context.scene)[:2], strict=True))
            frames = {name: getattr(self, name) for name in names}
        chains = None if self.all else [self.chain or shown_chain(context).name]
        return {"armature": armature, "chains": chains, "switch": self.switch, **frames}


class IK2D_OT_target_to_tip(_Match, Operator):
    """Move the target to where the bones' own keys have the tip, so that the chain takes on that pose"""

    bl_idname = "ik2d.target_to_tip"
    bl_label = "Snap Target to Bones"

    switching = noted(
        "Let the chain take over from FK at this frame: key target, pole and foot control, and IK Blend"
    )

    switch: tick(
        "Switch to IK", "Key IK Blend from 0 to 1 at the first frame, and the target on the frame before too"
    )

    def work(self, context):
        from .match import target_to_tip  # here, as few sessions need it

        report = target_to_tip(**self.chosen(context))
        try:
            auto_key(context, report.moved)
        except IK2DError as error:  # the target has moved all the same
            self.report({'WARNING'}, say("Not keyed: {error}", error=error))
        self.tell(report.sentence(), report.warnings, report.matches)


class IK2D_OT_snap_fk(_Match, Operator):
    """Key the chain's pose on the rig's FK controls, else on the bones as own keys, which Clear Bake keeps"""

    bl_idname = "ik2d.snap_fk"
    bl_label = "Key Bones (FK)"

    switching = noted(
        "Let FK take over from the chain at this frame: key the rig's own FK controls, or where it "
        "has none the bones and IK Blend"
    )

    switch: tick(
        "Switch to FK", "Key IK Blend from 1 to 0 at the first frame, and the bones on the frame before too"
    )

    def work(self, context):
        from .match import snap_fk

        options = self.chosen(context)
        report = snap_fk(**options)
        if not (self.over_range or self.switch):
            auto_key(context, list(_snapped(options["armature"], report)))
        self.tell(report.sentence(), report.warnings, report.all_reached)


def _snapped(armature: Object, report: BakeReport) -> Iterator[Moved]:
    """Yield the properties of controls, or the chains' bones, that Key Bones (FK) has posed."""
    from .own_fk import FkReport

    bare: BakeReport | None = report
    if isinstance(report, FkReport):
        yield from report.moved
        bare = report.others
    for chain in bare.chains if bare is not None else ():
        for bone in map(armature.pose.bones.get, chain.bones):
            name, locks = rotation_property(bone.rotation_mode), locked_channels(bone)
            indices = [index for index in range(len(getattr(bone, name))) if not locks[index]]
            yield Moved(bone, name, indices)
            if chain.joints.slides is not None:
                yield Moved(bone, "location", range(3), generated=True)
            if chain.joints.stretch is not None:
                yield Moved(bone, "scale", [ALONG], generated=True)


class IK2D_OT_clear_snaps(ChainOperator, Operator):
    """Remove the keys that snaps and switches made of the chain, and give back those that they replaced"""

    bl_idname = "ik2d.clear_snaps"
    bl_label = "Clear Snapped Keys"

    chain: chain_name("Chain to clear; empty for the active one")
    all: tick("All Chains", "All chains of the armature, not the active one alone")

    @staticmethod
    def why_not(context):
        if reason := why_not_edit(context):
            return reason
        return "" if _has_snaps(active_armature(context)) else say("There are no snapped keys to clear")

    def work(self, context):
        from .clearing import clear_snaps

        armature = active_armature(context)
        name = "" if self.all else self.chain or shown_chain(context).name
        given = clear_snaps(armature, name)
        self.warn(given.lost)
        return given.sentence(noted("snapped"))


def _has_snaps(armature: Object) -> bool:
    from .clearing import has_snaps

    version = [(chain.tip, chain.bone_count) for chain in armature.ik2d.chains]
    return bool(kept(armature, "has_snaps", version, lambda: has_snaps(armature), with_targets=True))


def draw_match(layout: UILayout, context: Context) -> None:
    """Draw the buttons of both operators, and those that switch."""
    column = layout.column(align=True)
    for operator in _MATCHES:
        column.operator(operator.bl_idname)
    row = layout.row(align=True)
    for operator, label in zip(_MATCHES, _SWITCHES, strict=True):
        row.operator(operator.bl_idname, text=say(label), translate=False).switch = True
    if _has_snaps(active_armature(context)):
        layout.operator("ik2d.clear_snaps", icon='X')


_MATCHES = (IK2D_OT_target_to_tip, IK2D_OT_snap_fk)
HEADINGS = {"fk-and-ik": "target_to_tip snap_fk clear_snaps"}
BOX = noted("FK/IK"), draw_match
_HERE = [entry("ik2d.target_to_tip", 'SNAP_ON'), entry("ik2d.snap_fk", 'BONE_DATA')]
_OVER_RANGE = [
    entry("ik2d.target_to_tip", text=noted("Snap Target to Bones over Range"), over_range=True),
    entry("ik2d.snap_fk", text=noted("Key Bones (FK) over Range"), over_range=True),
]
_SWITCHING = [
    entry("ik2d.target_to_tip", 'CON_KINEMATIC', _SWITCHES[0], switch=True),
    entry("ik2d.snap_fk", text=_SWITCHES[1], switch=True),
    entry("ik2d.clear_snaps", 'X'),
]
MENU = {"pose": [*_HERE, *_OVER_RANGE, *_SWITCHING], "bone": [*_HERE, *_SWITCHING]}
classes = (*_MATCHES, IK2D_OT_clear_snaps)
register, unregister = registration(classes)
