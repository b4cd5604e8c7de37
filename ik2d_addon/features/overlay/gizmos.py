# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles in Pose Mode: on the ends of the active bone's limits, and on the arrow to the side of the bend."""

import numpy as np
from bpy.types import Context, Gizmo, GizmoGroup
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Matrix, Vector

from ...ui.context import shown_chain, why_not_edit
from ...ui.registration import registration
from . import shapes
from .chain_view import ChainView
from .chains_seen import background_of
from .colors import backdrop, readable
from .draw import chain_view_shown
from .figure import fan_radius, lifted
from .limit_drag import ENDS
from .settings import overlay_settings

# Sizes as parts of a gizmo's, which the preferences say.
_HANDLE, _BUTTON = 0.1, 0.24
# Blender's own gizmo is drawn about the same joint; the button keeps so many of its radii away from that.
_CLEAR = 1.5
# A handle stays at its bone, however short that is, but so many of these radii off the joint itself.
_NEAR = 0.35
# So much nearer to the viewer a handle counts than Blender's own gizmo, which takes the clicks inside it.
_BIAS = 1000.0
# The second handle of an empty range, or of a whole turn, is further out than the first.
_ASIDE = 1.3


def gizmo_radius(context: Context, place: Vector) -> float:
    """Return the radius, in world units, of Blender's own gizmo at a place.

    Infinite for a place behind the viewer.
    """
    region, view = context.region, context.region_data
    right = view.view_matrix.to_3x3().row[0].normalized()
    ends = [location_3d_to_region_2d(region, view, at) for at in (place, place + right * view.view_distance)]
    if None in ends or ends[0] == ends[1]:
        return float("inf")
    preferences = context.preferences
    pixels = preferences.view.gizmo_size * preferences.system.ui_scale
    return pixels * view.view_distance / (ends[1] - ends[0]).length


def handle_places(chain_view: ChainView, joint: int, gizmo: float) -> list[np.ndarray] | None:
    """Return the places (3,) in the world of a joint's two handles; None for a joint without limits.

    They are on the ends of the fan, or further out if it is smaller than `_NEAR` of a gizmo's radius, in the
    world's units.
    """
    low, high, _ = chain_view.fan(joint)
    if not np.isfinite((low, high)).all():
        return None
    radius = max(fan_radius(chain_view, joint), _NEAR * gizmo / chain_view.scale)
    turns = (high - low) / (2.0 * np.pi)
    meets = min(turns, abs(1.0 - turns)) < 0.01
    radii = radius, radius * (_ASIDE if meets else 1.0)
    ends = [
        chain_view.joints[joint] + shapes.around(np.array(direction), far)
        for direction, far in zip((low, high), radii, strict=True)
    ]
    return [lifted(chain_view, end) for end in ends]


def button_place(chain_view: ChainView, gizmo: float) -> np.ndarray | None:
    """Return the place (3,) of the button on the arrow to the side of the bend; None without an arrow."""
    ends = shapes.bend_arrow(chain_view.joints, chain_view.settings.bend, chain_view.reach[1])
    if ends is None:
        return None
    joint = chain_view.joints[len(chain_view.joints) // 2]
    way = ends[1] - joint
    size = float(np.linalg.norm(way))
    return lifted(chain_view, joint + way * max(1.2, _CLEAR * gizmo / (chain_view.scale * size)))


class IK2D_GGT_chain(GizmoGroup):
    """Handles of the active chain"""

    bl_label = "IK 2D Handles"
    bl_space_type = 'VIEW_3D'
    bl_region_type = 'WINDOW'
    bl_options = {'3D', 'PERSISTENT', 'SHOW_MODAL_ALL'}

    @classmethod
    def poll(cls, context):
        if context.mode != 'POSE':
            return False
        settings = overlay_settings()
        if not (settings.show and settings.handles) or why_not_edit(context):
            return False
        return shown_chain(context) is not None

    def setup(self, _context):
        self.handles, self.moves = [], []
        for end in ENDS:
            handle = self.gizmos.new("GIZMO_GT_move_3d")
            handle.draw_style, handle.draw_options = 'RING_2D', {'FILL', 'ALIGN_VIEW'}
            handle.scale_basis = _HANDLE
            handle.use_draw_modal = True
            handle.select_bias = _BIAS
            move = handle.target_set_operator("ik2d.limit_set")
            move.end = end
            self.handles.append(handle)
            self.moves.append(move)
        self.button = self.gizmos.new("GIZMO_GT_button_2d")
        self.button.icon = 'MOD_MIRROR'
        self.button.draw_options = {'BACKDROP', 'OUTLINE'}
        self.button.scale_basis = _BUTTON
        self.button.target_set_operator("ik2d.flip")

    def draw_prepare(self, context):
        chain_view, settings = chain_view_shown(context), overlay_settings()
        for gizmo in self.gizmos:
            gizmo.hide = True
        if chain_view is None:
            return
        background = background_of(context)
        if settings.limits:
            self._place_handles(context, chain_view, readable(settings.limit_color, background))
        if settings.bend:
            middle = lifted(chain_view, chain_view.joints[len(chain_view.joints) // 2])
            place = button_place(chain_view, gizmo_radius(context, Vector(middle)))
            _place(self.button, place, backdrop(context.preferences.themes[0].view_3d.space.text))

    def _place_handles(self, context: Context, chain_view: ChainView, color: tuple) -> None:
        active = context.active_pose_bone
        if active is None or active.name not in chain_view.bones:
            return
        joint = chain_view.bones.index(active.name)
        gizmo = gizmo_radius(context, Vector(lifted(chain_view, chain_view.joints[joint])))
        places = handle_places(chain_view, joint, gizmo)
        for handle, move, place in zip(self.handles, self.moves, places or (), strict=False):
            move.chain, move.joint = chain_view.name, active.name
            _place(handle, place, color)


def _place(gizmo: Gizmo, place: np.ndarray | None, color: tuple) -> None:
    """Show a gizmo at a place in the world, if it has a finite one."""
    if place is None or not np.isfinite(place).all():
        return
    gizmo.hide = False
    gizmo.matrix_basis = Matrix.Translation(place)
    gizmo.color = gizmo.color_highlight = color
    gizmo.alpha, gizmo.alpha_highlight = 0.85, 1.0


classes = (IK2D_GGT_chain,)
register, unregister = registration(classes)
