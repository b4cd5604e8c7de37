# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rig stores: `Object.ik2d`, its chains and their settings."""

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

OVERRIDABLE = {'LIBRARY_OVERRIDABLE'}


def _keep_name_unique(chain, _context):
    """Give the chain the next free name, as Blender does for objects.

    Library overrides find a chain by its name, so two of one name cannot be told apart.
    """
    taken = {other.name for other in chain.id_data.ik2d.chains if other != chain}
    name = unique_name(chain.name or "Chain", taken)
    if name != chain.name:
        chain.name = name


def unique_name(name: str, taken: set[str]) -> str:
    """Return `name`, or `name.001` and so on where it is taken."""
    stem, dot, digits = name.rpartition(".")
    if not (dot and digits.isdigit()):
        stem = name
    number = 0
    while name in taken:
        number += 1
        name = f"{stem}.{number:03d}"
    return name


class IK2D_PG_chain(PropertyGroup):
    """One planar bone chain and the target that its tip follows."""

    name: StringProperty(
        name="Name",
        description="Name of the chain, unique within the armature",
        default="Chain",
        override=OVERRIDABLE,
        update=_keep_name_unique,
    )
    enabled: BoolProperty(
        name="Enabled",
        description="Solve and bake this chain",
        default=True,
        override=OVERRIDABLE,
    )
    tip: StringProperty(
        name="Tip",
        description="Last bone of the chain: its tail follows the target",
        override=OVERRIDABLE,
    )
    bone_count: IntProperty(
        name="Bones",
        description="Bones in the chain, counted from the tip up; 0 takes all up to the root",
        default=0,
        min=0,
        soft_max=20,
        max=1000,
        override=OVERRIDABLE,
    )
    target: PointerProperty(
        name="Target",
        description="Object that the tip follows",
        type=bpy.types.Object,
        override=OVERRIDABLE,
    )
    subtarget: StringProperty(
        name="Bone",
        description="Bone of the target armature whose head the tip follows",
        override=OVERRIDABLE,
    )
    solver: EnumProperty(
        name="Solver",
        description="How the chain is solved",
        items=(
            ('AUTO', "Automatic", "Two-Bone for chains of two bones, CCD for all others"),
            ('TWO_BONE', "Two-Bone", "Exact closed-form solution, for chains of two bones"),
            ('CCD', 'CCD', "Cyclic coordinate descent, for chains of any number of bones"),
        ),
        default='AUTO',
        override=OVERRIDABLE,
    )
    bend: EnumProperty(
        name="Bend",
        description="Side that the chain bends to",
        items=(
            ('POSITIVE', "Positive", "The side that the rest pose bends to"),
            ('NEGATIVE', "Negative", "The other side"),
        ),
        default='POSITIVE',
        override=OVERRIDABLE,
    )
    plane: EnumProperty(
        name="Plane",
        description="Plane that the chain bends in, given by its normal",
        items=(
            (
                'AUTO',
                "Automatic",
                "The bend of the rest pose; a straight chain bends about its first bone's X axis",
            ),
            ('X', 'X', "Normal along the armature's X axis"),
            ('Y', 'Y', "Normal along the armature's Y axis"),
            ('Z', 'Z', "Normal along the armature's Z axis"),
        ),
        default='AUTO',
        override=OVERRIDABLE,
    )
    iterations: IntProperty(
        name="Iterations",
        description="Most iterations that CCD spends on one frame",
        default=500,
        min=1,
        soft_max=1000,
        max=100000,
        override=OVERRIDABLE,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Distance from the target that counts as reached; 0 is a millionth of the chain's reach",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        subtype='DISTANCE',
        precision=5,
        override=OVERRIDABLE,
    )
    last_result: StringProperty(
        name="Last Result",
        description="What came of the last solve or bake of this chain",
        override=OVERRIDABLE,
    )


class IK2D_PG_settings(PropertyGroup):
    """All that IK 2D stores on an armature object."""

    chains: CollectionProperty(
        name="Chains",
        type=IK2D_PG_chain,
        override={'LIBRARY_OVERRIDABLE', 'USE_INSERTION'},
    )
    active_index: IntProperty(
        name="Active Chain",
        description="Chain whose settings are shown",
        min=0,
        override=OVERRIDABLE,
    )
    use_custom_range: BoolProperty(
        name="Custom Range",
        description="Bake a range of its own instead of the scene's",
        default=False,
        override=OVERRIDABLE,
    )
    frame_start: IntProperty(name="Start", description="First frame to bake", default=1, override=OVERRIDABLE)
    frame_end: IntProperty(name="End", description="Last frame to bake", default=250, override=OVERRIDABLE)
    frame_step: IntProperty(
        name="Step",
        description="Frames from one key to the next",
        default=1,
        min=1,
        soft_max=10,
        override=OVERRIDABLE,
    )
    last_bake: StringProperty(
        name="Last Bake",
        description="What came of the last bake",
        override=OVERRIDABLE,
    )


classes = (IK2D_PG_chain, IK2D_PG_settings)


def register() -> None:
    for cls in classes:
        bpy.utils.register_class(cls)
    bpy.types.Object.ik2d = PointerProperty(name="IK 2D", type=IK2D_PG_settings, override=OVERRIDABLE)


def unregister() -> None:
    del bpy.types.Object.ik2d
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
