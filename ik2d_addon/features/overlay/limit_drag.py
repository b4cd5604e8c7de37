# SPDX-License-Identifier: GPL-3.0-or-later
"""Setting one end of a joint's range: by a number, or by dragging it in the chain's plane."""

import math

import numpy as np
from bpy.props import EnumProperty, FloatProperty, StringProperty
from bpy.types import Context, Event, Operator, PropertyGroup
from bpy_extras.view3d_utils import region_2d_to_origin_3d, region_2d_to_vector_3d

from ...core import IK2DError
from ...core.words import refusal, say
from ...rig.chain.chain import read_chain
from ...ui.context import active_armature, named_chain, why_not_edit
from ...ui.operator import ChainOperator, chain_name
from ...ui.registration import registration
from .chain_view import ChainView, view_chain

ENDS = ('MIN', 'MAX')
# What Ctrl snaps to, and what Shift makes of a move of the mouse.
_SNAP, _PRECISE = math.radians(5.0), 0.1
# In a plane seen nearer to its edge than this sine, the mouse gives no direction.
_EDGE_ON = 0.02
_TURN = 2.0 * math.pi


def set_limit(joint: PropertyGroup, end: str, angle: float) -> None:
    """Limit a joint at one end; the other end is neither passed nor more than a turn away."""
    if end == 'MIN':
        joint.limit_min = min(max(angle, joint.limit_max - _TURN), joint.limit_max)
    else:
        joint.limit_max = max(min(angle, joint.limit_min + _TURN), joint.limit_min)
    joint.use_limit = True


def direction_at(chain_view: ChainView, joint: int, origin, way) -> float | None:
    """Return the direction (radians) from a joint to where a line of sight meets the chain's plane.

    origin, way: (3,) a point of the line and its direction, in the world. None if the line nearly
    lies in the plane, or meets the joint itself.
    """
    normal = np.cross(chain_view.to_world[:3, 0], chain_view.to_world[:3, 1])
    normal /= np.linalg.norm(normal)
    origin, way = np.array(origin, np.float64), np.array(way, np.float64)
    slope = float(way @ normal)
    if abs(slope) < _EDGE_ON * float(np.linalg.norm(way)):
        return None
    along = float((chain_view.to_world[:3, 3] - origin) @ normal) / slope
    x, y, _ = chain_view.flat(origin + along * way)
    aside = np.array((x, y)) - chain_view.joints[joint]
    return math.atan2(aside[1], aside[0]) if aside.any() else None


class IK2D_OT_limit_set(ChainOperator, Operator):
    """Set an end of a joint's range by dragging it in the chain's plane"""

    bl_idname = "ik2d.limit_set"
    bl_label = "Set Joint Limit"
    bl_options = {'REGISTER', 'UNDO', 'BLOCKING'}

    chain: chain_name("Chain of the joint; empty for the active one")
    joint: StringProperty(name="Bone", description="Bone that turns about the joint", options={'SKIP_SAVE'})
    end: EnumProperty(
        name="End",
        description="End of the range to set",
        items=(('MIN', "Min", "The smallest angle"), ('MAX', "Max", "The largest angle")),
        options={'SKIP_SAVE'},
    )
    angle: FloatProperty(
        name="Angle",
        description="Angle of that end, relative to the rest pose",
        subtype='ANGLE',
        options={'SKIP_SAVE'},
    )

    why_not = staticmethod(why_not_edit)

    def work(self, context):
        set_limit(self._joint(context), self.end, self.angle)

    def invoke(self, context, event):
        try:
            chain, joint = named_chain(context, self.chain), self._joint(context)
            self._chain_view = view_chain(read_chain(active_armature(context), chain), chain)
        except IK2DError as error:
            return self.refuse(error)
        self._place = self._chain_view.bones.index(joint.name)
        self._before = joint.limit_min, joint.limit_max, joint.use_limit
        self.angle = joint.limit_min if self.end == 'MIN' else joint.limit_max
        self._turned = self.angle  # without snapping
        self._last = self._pointing(context, event)
        if self._last is None:
            return self.refuse(say("The chain's plane is seen from its edge; turn the view, then drag"))
        self._tell(context)
        context.window_manager.modal_handler_add(self)
        return {'RUNNING_MODAL'}

    def modal(self, context, event):
        if event.type in {'RIGHTMOUSE', 'ESC'} and event.value == 'PRESS':
            joint = self._joint(context)
            joint.limit_min, joint.limit_max, joint.use_limit = self._before
            return self._ended(context, {'CANCELLED'})
        if event.type == 'MOUSEMOVE':
            self._follow(context, event)
        elif event.type in {'RET', 'NUMPAD_ENTER'} or (event.type, event.value) == ('LEFTMOUSE', 'RELEASE'):
            joint = self._joint(context)
            is_as_before = (joint.limit_min, joint.limit_max, joint.use_limit) == self._before
            return self._ended(context, {'CANCELLED' if is_as_before else 'FINISHED'})
        return {'RUNNING_MODAL'}

    def _joint(self, context: Context) -> PropertyGroup:
        chain = named_chain(context, self.chain)
        joint = chain.joints.get(self.joint)
        if joint is None:
            raise refusal(
                "Chain '{chain}' has no joint '{joint}'; press Update Joints first",
                chain=chain.name,
                joint=self.joint,
            )
        return joint

    def _pointing(self, context: Context, event: Event) -> float | None:
        at = event.mouse_region_x, event.mouse_region_y
        view = context.region, context.region_data, at
        return direction_at(
            self._chain_view, self._place, region_2d_to_origin_3d(*view), region_2d_to_vector_3d(*view)
        )

    def _follow(self, context: Context, event: Event) -> None:
        """Turn the end by the angle that the mouse has turned about the joint since the last move."""
        now = self._pointing(context, event)
        if now is None:
            return
        turn = math.remainder(now - self._last, _TURN)
        self._turned += turn * (_PRECISE if event.shift else 1.0)
        self._last = now
        self.angle = round(self._turned / _SNAP) * _SNAP if event.ctrl else self._turned
        set_limit(self._joint(context), self.end, self.angle)
        self._tell(context)

    def _tell(self, context: Context) -> None:
        joint = self._joint(context)
        low, high = math.degrees(joint.limit_min), math.degrees(joint.limit_max)
        context.area.header_text_set(
            say("{joint}: {low:.1f}° to {high:.1f}°", joint=joint.name, low=low, high=high)
        )
        context.workspace.status_text_set(
            say("Release: confirm   Esc, right click: cancel   Ctrl: 5° steps   Shift: precise")
        )

    @staticmethod
    def _ended(context: Context, result: set[str]) -> set[str]:
        context.area.header_text_set(None)
        context.workspace.status_text_set(None)
        return result


HEADINGS = {"handles": "limit_set"}
classes = (IK2D_OT_limit_set,)
register, unregister = registration(classes)
