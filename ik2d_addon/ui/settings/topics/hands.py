# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored settings of what hangs on the end of a chain."""

import bpy
from bpy.props import EnumProperty, FloatVectorProperty, PointerProperty, StringProperty

from ....live.registry import RIGS
from ....rig.chain.hands import note_offset, posed_hands, put_hands_back
from ....rig.pose.hand_rotations import note_kept_turn
from ..joint import NOTE, SETTING, STORED


def _rotation_changed(chain, _context) -> None:
    RIGS.mark_edited(chain)
    if chain.hand_rotation == 'NONE' and chain.hands_posed:
        put_hands_back(chain, posed_hands(chain))
    note_offset(chain)
    note_kept_turn(chain)


class HandSettings:
    """The settings of a chain that turn a foot or a hand on its end."""

    __slots__ = ()

    hand_rotation: EnumProperty(
        name="Foot or Hand",
        description="How the bones on the end of the chain turn, such as a foot or a hand",
        items=(
            ('NONE', "With the Limb", "They turn with the last bone, and by their own keys"),
            (
                'WORLD',
                "Keep in World",
                (
                    "They keep the direction of the rest pose, so that a foot stays flat, or the one to which"
                    " you turned them; the armature object and their own keys turn them"
                ),
            ),
            (
                'TARGET',
                "Follow Target",
                (
                    "They turn as the target does: a bone from its rest pose on, an object from the moment"
                    " this is chosen"
                ),
            ),
        ),
        default='NONE',
        update=_rotation_changed,
        **STORED,
    )
    hand_offset: FloatVectorProperty(
        name="Hand Offset",
        description="Axes of the armature as the target object saw them when Follow Target was chosen",
        size=9,
        default=(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        precision=6,
        **SETTING,
    )
    offset_target: PointerProperty(
        description="Target that Hand Offset is from", type=bpy.types.Object, **NOTE
    )
    offset_bone: StringProperty(description="Bone of that target", **NOTE)
    hand_turn: FloatVectorProperty(
        name="Hand Turn",
        description="How far the foot or hand was turned from its rest pose when Keep in World was chosen",
        size=9,
        default=(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        precision=6,
        **SETTING,
    )
    hands_posed: StringProperty(description="Bones on the tip that a solve or a bake has turned", **NOTE)
