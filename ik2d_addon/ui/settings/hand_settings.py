# SPDX-License-Identifier: GPL-3.0-or-later
"""What a chain stores on the hand or foot at its tip."""

from bpy.props import EnumProperty, FloatVectorProperty, StringProperty

from ...live.registry import RIGS
from ...rig.chain.hands import note_offset, posed_hands, put_hands_back

OVERRIDABLE = {'LIBRARY_OVERRIDABLE'}


def _rotation_changed(chain, _context) -> None:
    RIGS.mark()
    if chain.hand_rotation == 'NONE' and chain.hands_posed:
        put_hands_back(chain, posed_hands(chain))
    note_offset(chain)


def _offset_changed(_chain, _context) -> None:
    RIGS.mark()


HAND_ROTATION = EnumProperty(
    name="Hand or Foot",
    description="How the bones turn that hang on the tip, such as a hand or a foot",
    items=(
        ('NONE', "As It Is", "They turn with the tip, as their own channels have it"),
        (
            'WORLD',
            "Keep in World",
            (
                "They stay as in the rest pose, however the chain and what is above it turn, so that a foot"
                " stays flat. The armature object turns them, and their own keys made by hand"
            ),
        ),
        (
            'TARGET',
            "Follow Target",
            (
                "They turn as the target does: a bone from its rest pose on, an object from where it stands"
                " when this is chosen"
            ),
        ),
    ),
    default='NONE',
    override=OVERRIDABLE,
    update=_rotation_changed,
    options=set(),
)
HAND_OFFSET = FloatVectorProperty(
    name="Hand Offset",
    description="Axes of the armature as the target object saw them when Follow Target was chosen",
    size=9,
    default=(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
    precision=6,
    override=OVERRIDABLE,
    update=_offset_changed,
    options={'HIDDEN'},
)
HANDS_POSED = StringProperty(
    name="Hands Posed",
    description="Bones on the tip that a solve or a bake has turned",
    override=OVERRIDABLE,
    options={'HIDDEN'},
)
