# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators on a rig's list of chains, each a thin layer over one function, and these functions."""

from bpy.props import EnumProperty, IntProperty
from bpy.types import Context, Object, Operator, PropertyGroup

from ..core import IK2DError
from ..rig.armature import bend_plane, chain_bones, problem_of, rest_joints
from ..rig.limits import limits_of_bones
from .properties import joints_wanted, sync_joints, unique_name
from .registration import register_classes, unregister_classes

# --- The list of chains: functions that scripts can call ---------------------


def add_chain(
    armature: Object,
    tip: str,
    bone_count: int | None = None,
    target: Object | None = None,
    subtarget: str = "",
):
    """Add a chain that ends in the bone `tip`, make it the active one and return it.

    Without `bone_count` it has two bones, or one where the tip has no parent. Raises IK2DError, with
    nothing changed, where there is no such bone or the hierarchy has fewer bones.
    """
    if bone_count is None:
        bone_count = 2 if chain_bones(armature, tip, 1)[0].parent else 1
    chain_bones(armature, tip, bone_count)
    settings = armature.ik2d
    name = unique_name(tip, {other.name for other in settings.chains})
    chain = settings.chains.add()
    chain.name, chain.tip, chain.bone_count = name, tip, bone_count
    chain.target, chain.subtarget = target, subtarget
    settings.active_index = len(settings.chains) - 1
    return chain


def remove_chain(armature: Object) -> str:
    """Remove the active chain and return its name; its neighbour becomes the active one."""
    settings, chain = armature.ik2d, active_chain(armature)
    if chain is None:
        raise IK2DError(f"Armature '{armature.name}' has no chain to remove")
    name = chain.name
    try:
        settings.chains.remove(settings.active_index)
    except TypeError as error:  # how Blender refuses it for an override
        raise IK2DError(f"Chain '{name}' comes from the linked library: disable it instead") from error
    settings.active_index = max(0, min(settings.active_index, len(settings.chains) - 1))
    return name


def move_chain(armature: Object, step: int) -> None:
    """Move the active chain down by `step` places in the list, up where negative, as far as the list goes."""
    settings = armature.ik2d
    if active_chain(armature) is None:
        raise IK2DError(f"Armature '{armature.name}' has no chain to move")
    index = max(0, min(settings.active_index + step, len(settings.chains) - 1))
    settings.chains.move(settings.active_index, index)
    settings.active_index = index


def active_chain(armature: Object) -> PropertyGroup | None:
    """Return the chain whose settings are shown, or None."""
    chains, index = armature.ik2d.chains, armature.ik2d.active_index
    return chains[index] if index < len(chains) else None


def take_limits(armature: Object, chain: PropertyGroup) -> tuple[int, list[str]]:
    """Make Blender's own limits on the bones the chain's: all others become free.

    Returns how many joints are limited, and the bones whose limits say nothing of turns in the plane.
    Raises IK2DError for a chain without bones or without a plane.
    """
    bones = chain_bones(armature, chain.tip, chain.bone_count, chain.name)
    plane = bend_plane(chain, bones, rest_joints(bones))
    ranges, slanted = limits_of_bones(bones, plane)
    sync_joints(chain)
    for joint in chain.joints:
        joint.use_limit = joint.name in ranges
        if joint.use_limit:
            joint.limit_min, joint.limit_max = ranges[joint.name]
    return len(ranges), slanted


# --- Reading the context -----------------------------------------------------


def active_armature(context: Context) -> Object | None:
    """Return the active object if it is an armature."""
    active = context.object
    return active if active is not None and active.type == 'ARMATURE' else None


def why_not_edit(context: Context) -> str:
    """Say why the chains of the active armature cannot be edited now; "" where they can."""
    armature = active_armature(context)
    if armature is None:
        return "Make an armature the active object"
    if not armature.is_editable:
        return f"Armature '{armature.name}' is linked: make a library override of it first"
    if armature.mode not in {'OBJECT', 'POSE'}:
        return "Switch to Object Mode or Pose Mode"
    return ""


def why_not_solve(context: Context) -> str:
    """Say why nothing can be solved now; "" where something can."""
    reason = why_not_edit(context)
    if reason:
        return reason
    chains = active_armature(context).ik2d.chains
    if not chains:
        return "Add a chain first"
    return "" if any(chain.enabled for chain in chains) else "Enable a chain first"


def target_candidates(context: Context, tip: str) -> list[tuple[Object, str]]:
    """Return what else is selected, as (object, bone name): bones first, as in Blender's own Add IK."""
    armature = active_armature(context)
    bones = context.selected_pose_bones or []  # empty or None outside Pose Mode
    found = [(bone.id_data, bone.name) for bone in bones if (bone.id_data, bone.name) != (armature, tip)]
    posed = {armature, *(bone.id_data for bone in bones)}
    return found + [(other, "") for other in context.selected_objects if other not in posed]


def choose_target(armature: Object, chain: PropertyGroup, candidates: list[tuple[Object, str]]) -> None:
    """Give the chain the first target that it can follow, or the last: then the panel says what is wrong."""
    for target, subtarget in candidates:
        chain.target, chain.subtarget = target, subtarget
        if not problem_of(armature, chain):
            return


# --- Operators ---------------------------------------------------------------


def allowed(operator: type[Operator], reason: str) -> bool:
    """Show the reason on the greyed-out button."""
    if reason:
        operator.poll_message_set(reason)
    return not reason


class IK2D_OT_chain_add(Operator):
    """Add a chain that ends in the active bone and follows the other selected object or bone"""

    bl_idname = "ik2d.chain_add"
    bl_label = "Add Chain"
    bl_options = {'REGISTER', 'UNDO'}

    bone_count: IntProperty(
        name="Bones",
        description="Number of bones in the chain, counted from the tip up; 0 takes all the way to the root",
        default=2,
        min=0,
        soft_max=20,
        max=1000,
        options={'SKIP_SAVE'},
    )

    @classmethod
    def poll(cls, context):
        reason = why_not_edit(context)
        if not reason and active_armature(context).data.bones.active is None:
            reason = "Select the last bone of the chain in Pose Mode"
        return allowed(cls, reason)

    def execute(self, context):
        armature = active_armature(context)
        tip = armature.data.bones.active.name
        count = self.bone_count if self.properties.is_property_set("bone_count") else None
        try:
            chain = add_chain(armature, tip, count)
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        self.bone_count = chain.bone_count
        choose_target(armature, chain, target_candidates(context, tip))
        problem = problem_of(armature, chain)
        if problem:
            self.report({'WARNING'}, f"Added chain '{chain.name}'. {problem}")
        else:
            self.report({'INFO'}, f"Added chain '{chain.name}', which follows {target_name(chain)}")
        return {'FINISHED'}


def target_name(chain: PropertyGroup) -> str:
    """Name the chain's target in words."""
    if chain.subtarget:
        return f"bone '{chain.subtarget}' of '{chain.target.name}'"
    return f"'{chain.target.name}'"


class IK2D_OT_chain_remove(Operator):
    """Remove the active chain; the keys of earlier bakes stay"""

    bl_idname = "ik2d.chain_remove"
    bl_label = "Remove Chain"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context):
        reason = why_not_edit(context)
        if not reason and active_chain(active_armature(context)) is None:
            reason = "There is no chain to remove"
        return allowed(cls, reason)

    def execute(self, context):
        try:
            name = remove_chain(active_armature(context))
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        self.report({'INFO'}, f"Removed chain '{name}'")
        return {'FINISHED'}


class IK2D_OT_chain_move(Operator):
    """Move the active chain up or down in the list"""

    bl_idname = "ik2d.chain_move"
    bl_label = "Move Chain"
    bl_options = {'REGISTER', 'UNDO'}

    direction: EnumProperty(
        name="Direction",
        description="Way to move the chain",
        items=(('UP', "Up", "Towards the top of the list"), ('DOWN', "Down", "Towards the end of the list")),
        default='UP',
    )

    @classmethod
    def poll(cls, context):
        reason = why_not_edit(context)
        if not reason and len(active_armature(context).ik2d.chains) < 2:
            reason = (
                "There is only one chain" if active_armature(context).ik2d.chains else "Add a chain first"
            )
        return allowed(cls, reason)

    def execute(self, context):
        try:
            move_chain(active_armature(context), 1 if self.direction == 'DOWN' else -1)
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        return {'FINISHED'}


class IK2D_OT_joints_update(Operator):
    """Give the active chain one joint for each of its bones, after these were renamed or edited"""

    bl_idname = "ik2d.joints_update"
    bl_label = "Update Joints"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context):
        return allowed(cls, why_not_edit(context) or _why_no_bones(context))

    def execute(self, context):
        chain = active_chain(active_armature(context))
        sync_joints(chain)
        self.report({'INFO'}, f"Chain '{chain.name}' has {len(chain.joints)} joints")
        return {'FINISHED'}


class IK2D_OT_limits_from_bones(Operator):
    """Take the bones' IK limits, IK locks and Limit Rotation constraints as the limits of the active chain"""

    bl_idname = "ik2d.limits_from_bones"
    bl_label = "Limits from Bones"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context):
        return allowed(cls, why_not_edit(context) or _why_no_bones(context))

    def execute(self, context):
        armature = active_armature(context)
        chain = active_chain(armature)
        try:
            limited, slanted = take_limits(armature, chain)
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        if slanted:
            names = ", ".join(f"'{name}'" for name in slanted)
            self.report(
                {'WARNING'},
                f"Left out {names}: in the chain's plane they turn about none of their own axes,"
                " which Blender's limits are about",
            )
        self.report({'INFO'}, f"{limited} of {len(chain.joints)} joints of '{chain.name}' are limited")
        return {'FINISHED'}


def _why_no_bones(context: Context) -> str:
    """Say why the active chain has no joints to set; "" where it has."""
    chain = active_chain(active_armature(context))
    if chain is None:
        return "Add a chain first"
    return "" if joints_wanted(chain) else "Choose the chain's tip and number of bones first"


classes = (
    IK2D_OT_chain_add,
    IK2D_OT_chain_remove,
    IK2D_OT_chain_move,
    IK2D_OT_joints_update,
    IK2D_OT_limits_from_bones,
)


def register() -> None:
    """Register the operators."""
    register_classes(classes)


def unregister() -> None:
    """Unregister the operators."""
    unregister_classes(classes)
