# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that drags a tip, or a point of a mechanism, with the mouse."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatVectorProperty, IntProperty, StringProperty
from bpy.types import Context, Event, Operator
from bpy_extras import view3d_utils
from mathutils import Vector

from ...core import IK2DError
from ...core.inputs import Floats
from ...core.words import number_of, say
from ...ui.keymaps import shown_items
from ...ui.operator import ChainOperator, chain_name, tick
from ...ui.parts import MenuEntry
from ...ui.registration import registration
from .drag import chain_to_hold, take_hold, visible_tips, why_not_drag
from .held import HeldPoint
from .mechanism import visible_bones
from .pointing import Pointer, distance_to, nearest_between, with_axis
from .typed import Typed

# How near to a tip, in pixels, the tool takes hold of its chain.
NEAR = 40.0
# An orthographic view has no eye: lines of sight begin so many view distances before what it looks at.
_FAR = 1e4
_UNITS = {
    'KILOMETERS': "km",
    'METERS': "m",
    'CENTIMETERS': "cm",
    'MILLIMETERS': "mm",
    'MICROMETERS': "um",
    'MILES': "mi",
    'FEET': "ft",
    'INCHES': "in",
    'THOU': "thou",
}
_MORE, _LESS = ('WHEELUPMOUSE', 'PAGE_UP'), ('WHEELDOWNMOUSE', 'PAGE_DOWN')
_CONFIRM, _CANCEL = ('RET', 'NUMPAD_ENTER', 'SPACE'), ('ESC', 'RIGHTMOUSE')
_KEY = 'I'
_HELD = ('LEFT_CTRL', 'RIGHT_CTRL', 'LEFT_SHIFT', 'RIGHT_SHIFT')


class RegionView:
    """View through a region of a 3D View, for `Pointer`."""

    def __init__(self, region: bpy.types.Region, data: bpy.types.RegionView3D) -> None:
        self.region, self.data = region, data

    def line_of_sight(self, pixel: Sequence[float]) -> tuple[Floats, Floats]:
        """Return the line of sight through a pixel: its start (3,) and its direction (3,)."""
        start = view3d_utils.region_2d_to_origin_3d(self.region, self.data, pixel)
        direction = np.array(view3d_utils.region_2d_to_vector_3d(self.region, self.data, pixel), np.float64)
        begin = np.array(start, np.float64)
        if not self.data.is_perspective:
            begin = begin - _FAR * max(self.data.view_distance, 1.0) * direction
        return begin, direction

    def pixel(self, point: Floats) -> tuple[float, float] | None:
        """Return the pixel that shows a point; None behind the view."""
        seen = view3d_utils.location_3d_to_region_2d(self.region, self.data, Vector(point))
        return None if seen is None else (seen.x, seen.y)


def view_of(context: Context) -> RegionView | None:
    """Return the 3D View under the mouse; None elsewhere."""
    area = context.area
    if area is None or area.type != 'VIEW_3D':
        return None
    region = context.region
    if region is not None and region.type == 'WINDOW' and context.region_data is not None:
        return RegionView(region, context.region_data)
    windows = [region for region in area.regions if region.type == 'WINDOW']
    return RegionView(windows[0], area.spaces.active.region_3d)


def length_typed(scene: bpy.types.Scene, text: str) -> float:
    """Return the length in the world of a number typed in the scene's units."""
    units = scene.unit_settings
    if units.system == 'NONE':
        return float(text)
    value: float = bpy.utils.units.to_value(
        units.system, 'LENGTH', text, str_ref_unit=_UNITS.get(units.length_unit)
    )
    return value / units.scale_length


class IK2D_OT_drag(ChainOperator, Operator):
    """Drag the tip of a chain, of the active bone and its parents, or an end of a mechanism's bone"""

    bl_idname = "ik2d.drag"
    bl_label = "Drag Tip"
    bl_options = {'REGISTER', 'UNDO', 'GRAB_CURSOR', 'BLOCKING'}

    offset: FloatVectorProperty(
        name="Move",
        description="How far the tip moves along the two axes of the chain's plane",
        size=2,
        subtype='NONE',
        unit='LENGTH',
        options={'SKIP_SAVE'},
    )
    facing: FloatVectorProperty(
        name="Facing",
        description=(
            "Direction across the plane that the tip of a chain on a post moves in, as its own plane turns;"
            " zero for that of the chain"
        ),
        size=3,
        subtype='NONE',
        options={'HIDDEN', 'SKIP_SAVE'},
    )
    flipped: tick("Flip", "Bend the chain to its other side")
    bone_count: IntProperty(
        name="Bones",
        description="Number of bones that move where they are no chain; 0 takes those that join end to end",
        min=0,
        soft_max=20,
        max=1000,
        options={'SKIP_SAVE'},
    )
    chain: chain_name("Chain to take hold of; empty for that of the active bone, or the active one")
    bone: StringProperty(
        name="Bone",
        description="Bone of a mechanism whose end is dragged; empty for the active one",
        options={'HIDDEN', 'SKIP_SAVE'},
    )
    end: StringProperty(
        name="End",
        description="End of the bone that is dragged, 'HEAD' or 'TAIL'; empty for one that can move",
        options={'HIDDEN', 'SKIP_SAVE'},
    )
    insert_keys: tick("Key", "Key the target at this frame, also where Auto Keying is off")
    at_mouse: BoolProperty(
        name="At Mouse",
        description="Take hold of the chain whose tip is under the mouse, if there is one",
        options={'HIDDEN', 'SKIP_SAVE'},
    )
    release_confirm: BoolProperty(
        name="Confirm on Release",
        description="Confirm when the mouse button is released",
        options={'HIDDEN', 'SKIP_SAVE'},
    )

    why_not = staticmethod(why_not_drag)

    def work(self, context):
        drag = self._hold(context)
        drag.face(self.facing)
        try:
            if self.flipped:
                drag.flip()
            drag.to(self.offset)
        except IK2DError:
            drag.put_back()
            raise
        self._finish(context, drag)

    def _hold(self, context: Context) -> Any:
        """Take hold of a chain or a mechanism; raise IK2DError for one that cannot be held."""
        return take_hold(
            context.scene,
            context.object,
            self.chain,
            bone_count=self.bone_count,
            bone=self.bone,
            end=self.end,
        )

    def invoke(self, context, event):
        view = view_of(context)
        if view is None:
            return self.refuse(say("There is no view to drag in; point at a 3D View"))
        # A drag begins where the button was pressed, some pixels before it counts as one.
        begin = event.mouse_x, event.mouse_y
        if self.release_confirm:
            begin = event.mouse_prev_press_x, event.mouse_prev_press_y
        if self.at_mouse and not (self.chain or self.bone):
            self.chain, self.bone, self.end = _point_at(context, view, begin)
        try:
            self._drag = self._hold(context)
        except IK2DError as error:
            return self.refuse(error)
        self._view, self._area = view, context.area
        if self._drag.turns_with_view and (pixel := view.pixel(self._drag.plane.point)) is not None:
            self.facing = view.line_of_sight(pixel)[1]
        self._drag.face(self.facing)
        self._pointer, self._typed = Pointer(self._drag.plane), Typed()
        self._mouse = begin
        context.window_manager.modal_handler_add(self)
        self._tell(context)
        return {'RUNNING_MODAL'}

    def modal(self, context, event):
        # A script may remove what is held: a drag keeps all that a person does waiting.
        if not self._drag.is_there():
            return self._end_without(context)
        try:
            return self._answer(context, event)
        except IK2DError as error:
            self.cancel(context)
            return self.refuse(error)
        except (ReferenceError, LookupError):
            if self._drag.is_there():
                raise
            return self._end_without(context)

    def _end_without(self, context: Context) -> set[str]:
        """End where what was held is no longer there; the rest is put back."""
        self.cancel(context)
        return self.refuse(say("What was dragged is no longer there"), 'WARNING')

    def cancel(self, context):
        """Put all back as it was, as far as it is still there."""
        self._drag.put_back()
        self._stop(context)

    def _answer(self, context: Context, event: Event) -> set[str]:
        """Handle an event; return an operator's result."""
        if event.type == 'MOUSEMOVE':
            pixels = event.mouse_x - self._mouse[0], event.mouse_y - self._mouse[1]
            self._mouse = event.mouse_x, event.mouse_y
            self._pointer.move(pixels, event.shift)
            self._go(context, event)
        elif event.type in _HELD:
            self._go(context, event)
        elif event.type == 'LEFTMOUSE' and event.value == ('RELEASE' if self.release_confirm else 'PRESS'):
            return self._confirm(context)
        elif event.value == 'PRESS':
            if event.type in _CONFIRM:
                return self._confirm(context)
            if event.type == _KEY:
                self.insert_keys = True
                return self._confirm(context)
            if event.type in _CANCEL:
                self.cancel(context)
                return {'CANCELLED'}
            if self._key(event.type):
                self._go(context, event)
        return {'RUNNING_MODAL'}

    def _key(self, key: str) -> bool:
        """Handle a key; return whether it was one of ours."""
        if key in ('X', 'Y'):
            self._pointer.keep_to('XY'.index(key))
            self._typed.active = 0
        elif key == 'F':
            self._drag.flip()
        elif key in _MORE or key in _LESS:
            self._drag.take_bones(self._drag.bone_count + (1 if key in _MORE else -1))
            self._pointer.plane = self._drag.plane
        else:
            return self._typed.take(key, self._pointer.axis is None)
        return True

    def _go(self, context: Context, event: Event) -> None:
        """Bring the tip to the mouse, or to the typed place."""
        axis = self._pointer.axis
        if self._typed.is_empty:
            offset = self._pointer.look(self._view, event.ctrl, event.shift)
        else:
            first, second = self._typed.values(lambda text: length_typed(context.scene, text))
            offset = (first, second) if axis is None else first * np.eye(2)[axis]
        self._drag.to(with_axis(offset, axis))
        self._tell(context)

    def _tell(self, context: Context) -> None:
        """Show the outcome and the keys in the header and the status bar."""
        drag, axis = self._drag, self._pointer.axis
        names = ("dX", "dY") if axis is None else ("XY"[axis],)
        moved = drag.moved_in_words() if self._typed.is_empty else self._typed.in_words(names)
        along = "" if axis is None else say(" along the plane's {part}", part='XY'[axis])
        count = number_of(drag.bone_count, "bone")
        bones = say("   Wheel, Page: {count}", count=count) if drag.bone_count and drag.chain is None else ""
        text = say(
            "{what}: {moved}{along}, {outcome}",
            what=drag.what,
            moved=moved,
            along=along,
            outcome=drag.outcome(),
        )
        self._area.header_text_set(text)
        context.workspace.status_text_set(
            say(
                "{text}   |   LMB, Enter: Confirm   I: Confirm and Key   RMB, Esc: Cancel   X, Y: Axis   "
                "Ctrl: Snap   Shift: Precise   {flip}0-9: Length   Tab: Next{bones}",
                text=text,
                flip=say("F: Flip Bend   ") if drag.bone_count else "",
                bones=bones,
            )
        )

    def _confirm(self, context: Context) -> set[str]:
        self.offset, self.bone_count = self._drag.offset, 0
        if self._drag.chain is not None:
            self.chain = self._drag.chain.name
        elif self._drag.bone_count:
            self.bone_count = self._drag.bone_count
        else:
            self.bone, self.end = self._drag.bone, self._drag.end
        self.flipped = self._drag.is_flipped
        self._stop(context)
        self._finish(context, self._drag)
        return {'FINISHED'}

    def _finish(self, context: Context, drag: HeldPoint) -> None:
        """Key what was moved, if Auto Keying is on or keys are asked for, and report."""
        drag.make_active()
        warnings = list(drag.warnings)
        try:
            keyed = drag.key(context, self.insert_keys)
        except IK2DError as error:  # the drag itself is done
            keyed = 0
            warnings.append(say("Not keyed: {error}", error=error))
        if drag.why_fixed and (self.insert_keys or context.scene.tool_settings.use_keyframe_insert_auto):
            warnings.append(say("The target is not keyed: {why}", why=drag.why_fixed))
        keys = say("; {keyed} channels keyed", keyed=keyed) if keyed else ""
        sentence = say(
            "{what} moved by {length}: {outcome}{keys}",
            what=drag.what,
            length=drag.moved_in_words(),
            outcome=drag.outcome(),
            keys=keys,
        )
        self.tell(sentence, warnings, drag.has_reached)
        # Blender redraws no sidebar and no timeline for what Python keys and chooses.
        for area in context.screen.areas if context.screen is not None else ():
            area.tag_redraw()

    def _stop(self, context: Context) -> None:
        """Clear the header and the status bar."""
        with suppress(ReferenceError):
            self._area.header_text_set(None)
        if context.workspace is not None:
            context.workspace.status_text_set(None)


def _point_at(context: Context, view: RegionView, mouse: Sequence[float]) -> tuple[str, str, str]:
    """Return the name of the chain whose tip is nearest to the mouse in a window, "" and "".

    Where a bone of a mechanism is nearer: "", its name and its end that is nearer. Three "" if nothing is
    near, or the tip of the active bone is nearer, where that is in no chain.
    """
    armature = context.object
    pixel = mouse[0] - view.region.x, mouse[1] - view.region.y

    def seen(place: Vector) -> tuple[float, float] | None:
        return view.pixel(np.array(armature.matrix_world @ place))

    near, found = NEAR * context.preferences.system.ui_scale, ("", "", "")
    active = context.active_pose_bone
    if chain_to_hold(armature) is None and active is not None:
        near = min(near, distance_to(seen(active.tail), pixel))
    for chain, bone in visible_tips(armature):
        if (distance := distance_to(seen(bone.tail), pixel)) < near:
            near, found = distance, (chain.name, "", "")
    for bone in visible_bones(armature):
        head, tail = seen(bone.head), seen(bone.tail)
        if (distance := distance_to(nearest_between(head, tail, pixel), pixel)) < near:
            end = 'HEAD' if distance_to(head, pixel) < distance_to(tail, pixel) else 'TAIL'
            near, found = distance, ("", bone.name, end)
    return found


def _draw_entry(layout: Any) -> None:
    """Draw the menu's entry with the shortcut, which Blender leaves out as it sets an option."""
    label = say(IK2D_OT_drag.bl_label)
    keys = [item.to_string() for _, item in shown_items() if item.idname == "ik2d.drag" and item.active]
    text = f"{label} ({keys[0]})" if keys else label
    layout.operator("ik2d.drag", icon='VIEW_PAN', text=text, translate=False)


MENU = {"main": [MenuEntry(_draw_entry, 2)]}
classes = (IK2D_OT_drag,)
register, unregister = registration(classes)
