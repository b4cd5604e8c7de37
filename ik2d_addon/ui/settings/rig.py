# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored settings of an armature: `Object.ik2d`."""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import PropertyGroup

from ..registration import registration
from . import action, mechanism
from .chain import IK2D_PG_chain
from .joint import GROWING, NOTE, STORED, IK2D_PG_joint, IK2D_PG_place


def _reduce_changed(settings, _context):
    if settings.use_reduce and settings.on_target_keys:  # it is either the one or the other
        settings.on_target_keys = False


def _on_target_keys_changed(settings, _context):
    if settings.on_target_keys and settings.use_reduce:
        settings.use_reduce = False


def _own_range_changed(settings, context):
    """Start from the scene's range, unless a range was set."""
    scene, names = context.scene, ("frame_start", "frame_end")
    if settings.use_custom_range:
        if not any(settings.is_property_set(name) for name in names):
            for name in names:
                setattr(settings, name, getattr(scene, name))
    elif all(getattr(settings, name) == getattr(scene, name) for name in names):
        for name in names:
            settings.property_unset(name)


# The choices of a bake's actions, in the sidebar and in the operators.
ACTIONS = (
    ('ASSIGNED', "This One", "The action that is assigned, on the frames of the range"),
    (
        'ALL',
        "All Actions",
        "Each action of the armature, on its own frames, together with the actions of its targets",
    ),
)
INTO = (
    ('THIS', "This Action", "The action itself; keys that are replaced are kept"),
    ('NEW', "New Action", 'A copy of the action, "Walk baked"; the action itself stays as it is'),
)


class IK2D_PG_settings(PropertyGroup):
    """All that IK 2D stores on an armature object."""

    __slots__ = ()

    chains: CollectionProperty(name="Chains", type=IK2D_PG_chain, override=GROWING, options=set())
    mechanisms: CollectionProperty(
        name="Mechanisms", type=mechanism.IK2D_PG_mechanism, override=GROWING, options=set()
    )
    active_mechanism: IntProperty(
        name="Active Mechanism",
        description="Mechanism whose settings are shown",
        min=0,
        **NOTE,
    )
    chain_order: StringProperty(
        description="List of chains to which the data paths of keys and drivers belong, as JSON", **NOTE
    )
    paths_left: StringProperty(
        description="Keys that could not follow their chains when the list last changed, in words", **NOTE
    )
    active_index: IntProperty(
        name="Active Chain",
        description="Chain whose settings are shown",
        min=0,
        **NOTE,
    )
    use_custom_range: BoolProperty(
        name="Custom Range",
        description="Bake these frames instead of the scene's range",
        update=_own_range_changed,
        **STORED,
    )
    frame_start: IntProperty(name="Start", description="First frame to bake", default=1, **STORED)
    frame_end: IntProperty(name="End", description="Last frame to bake", default=250, **STORED)
    frame_step: IntProperty(
        name="Step",
        description="Frames from one key to the next",
        default=1,
        min=1,
        soft_max=10,
        **STORED,
    )
    chains_to_bake: EnumProperty(
        name="Chains to Bake",
        description="Chains that the Bake button in the sidebar bakes",
        items=(
            ('ALL', "All", "All enabled chains"),
            ('ACTIVE', "Active", "The active chain alone"),
        ),
        default='ALL',
        **NOTE,
    )
    actions_to_bake: EnumProperty(
        name="Actions",
        description="Actions that the Bake button bakes",
        items=ACTIONS,
        default='ASSIGNED',
        **NOTE,
    )
    bake_into: EnumProperty(
        name="Bake Into", description="Actions that get the keys", items=INTO, default='THIS', **NOTE
    )
    assign_baked: BoolProperty(
        name="Assign New Action",
        description="Have the armature play the new action afterwards, in the place of the one baked",
        default=True,
        **NOTE,
    )
    bake_selected: BoolProperty(
        name="All Selected Armatures",
        description="Bake the other selected armatures too, with the range and options shown here",
        **STORED,
    )
    use_reduce: BoolProperty(
        name="Reduce Keys",
        description="Leave out keys as long as the tip stays within Max Error",
        update=_reduce_changed,
        **STORED,
    )
    reduce_error: FloatProperty(
        name="Max Error",
        description=(
            "Largest distance of the tip from where all keys have it, on frames and between them; of the knee"
            " too where the plane follows the target. Hands and feet turn by no more than moves their far end"
            " as far"
        ),
        default=0.001,
        min=1e-6,
        soft_max=0.1,
        subtype='DISTANCE',
        precision=4,
        **STORED,
    )
    on_target_keys: BoolProperty(
        name="Only on Target's Keys",
        description="Key only the first and last frame, and those on which the target or the pole has keys",
        update=_on_target_keys_changed,
        **STORED,
    )
    single_axis: BoolProperty(
        name="One Curve per Bone",
        description="Give each bone a single rotation curve to edit; changes its rotation mode to Euler",
        **STORED,
    )
    ease_flips: BoolProperty(
        name="Ease Flips",
        description=(
            "Turn a plane that follows its target smoothly where it would flip: the tip stays on its target,"
            " but on some frames the knee is off its pole. Live chains flip"
        ),
        **STORED,
    )
    verify: EnumProperty(
        name="Verify",
        description="Play the finished bake back and measure how far the tips are off their targets",
        items=(
            (
                'SAMPLE',
                "Sample",
                "Measure every frame, and half-way to the next: from the keys where these alone turn bones,"
                " and by Blender elsewhere",
            ),
            ('ALL', "All Frames", "Have Blender show every frame, and the time half-way to the next"),
            ('NONE', "Off", "Measure nothing; the result is as solved"),
        ),
        default='SAMPLE',
        **STORED,
    )
    last_bake: StringProperty(description="Result of the last bake", **NOTE)
    last_bake_lines: StringProperty(
        description="That result in one line, in fewer and fewer words",
        **NOTE,
    )
    last_bake_clips: StringProperty(
        description="The action of the chains' results, and the result of each action baked, as JSON",
        **NOTE,
    )
    last_bake_alert: BoolProperty(
        description="Whether the last bake missed a target or gave a warning", default=False, **NOTE
    )
    bake_mark: StringProperty(
        description="Range and options of the last bake, to see whether it still holds", **NOTE
    )
    last_solve: StringProperty(name="Last Pose", description="Result of the last Pose This Frame", **NOTE)
    last_solve_lines: StringProperty(
        description="That result in one line, in fewer and fewer words",
        **NOTE,
    )
    last_solve_alert: BoolProperty(
        description="Whether the last Pose This Frame missed a target or gave a warning",
        **NOTE,
    )
    owner: StringProperty(description="Object that the results are about: a copy of it has none", **NOTE)


OF_OBJECT = {"ik2d": PointerProperty(name="IK 2D", type=IK2D_PG_settings, **STORED)}
OF_ACTION = {"ik2d": PointerProperty(name="IK 2D", type=action.IK2D_PG_action, options=set())}
classes = (
    IK2D_PG_place,
    *action.classes,
    IK2D_PG_joint,
    IK2D_PG_chain,
    *mechanism.classes,
    IK2D_PG_settings,
)
register, unregister = registration(classes, (bpy.types.Object, OF_OBJECT), (bpy.types.Action, OF_ACTION))
