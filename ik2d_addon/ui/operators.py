# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators, each a thin layer over one function, and the functions that edit a rig's list of chains."""

import bpy
from bpy.props import EnumProperty, IntProperty
from bpy.types import Context, Object, Operator, PropertyGroup, Scene

from ..bake import BakeReport, bake, solve
from ..core import IK2DError
from ..rig.armature import chain_bones, problem_of
from .properties import unique_name

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


def chosen_range(armature: Object, scene: Scene) -> tuple[int, int, int]:
    """Return the first frame, last frame and step that the sidebar shows: the rig's own, else the scene's."""
    settings = armature.ik2d
    if settings.use_custom_range:
        return settings.frame_start, settings.frame_end, settings.frame_step
    return scene.frame_start, scene.frame_end, 1


def store_results(armature: Object, report: BakeReport) -> None:
    """Note on each chain what came of it, for the sidebar to show."""
    for result in report.chains:
        armature.ik2d.chains[result.name].last_result = "\n".join([result.sentence(), *result.warnings])


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


def _allowed(operator: type[Operator], reason: str) -> bool:
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
        return _allowed(cls, reason)

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
        return _allowed(cls, reason)

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
        return _allowed(cls, reason)

    def execute(self, context):
        try:
            move_chain(active_armature(context), 1 if self.direction == 'DOWN' else -1)
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        return {'FINISHED'}


class IK2D_OT_solve(Operator):
    """Pose all enabled chains at the current frame, without keys"""

    bl_idname = "ik2d.solve"
    bl_label = "Solve"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context):
        return _allowed(cls, why_not_solve(context))

    def execute(self, context):
        armature = active_armature(context)
        try:
            report = solve(armature)
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        store_results(armature, report)
        _tell(self, report)
        return {'FINISHED'}


class IK2D_OT_bake(Operator):
    """Key the rotations of all enabled chains over a range of frames"""

    bl_idname = "ik2d.bake"
    bl_label = "Bake"
    bl_options = {'REGISTER', 'UNDO'}

    # Kept from one run to the next, a range would win over the panel's: hence SKIP_SAVE.
    frame_start: IntProperty(
        name="Start", description="First frame to bake", default=1, options={'SKIP_SAVE'}
    )
    frame_end: IntProperty(name="End", description="Last frame to bake", default=250, options={'SKIP_SAVE'})
    step: IntProperty(
        name="Step",
        description="Frames from one key to the next",
        default=1,
        min=1,
        soft_max=10,
        options={'SKIP_SAVE'},
    )

    @classmethod
    def poll(cls, context):
        return _allowed(cls, why_not_solve(context))

    def execute(self, context):
        armature = active_armature(context)
        self._fill_in_range(armature, context.scene)
        wm = context.window_manager
        wm.progress_begin(0, 100)
        try:
            report = bake(
                armature,
                None,
                self.frame_start,
                self.frame_end,
                self.step,
                progress=lambda done, total: wm.progress_update(100 * done / max(total, 1)),
            )
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        finally:
            wm.progress_end()
        store_results(armature, report)
        armature.ik2d.last_bake = "\n".join([report.sentence(), *report.warnings])
        _tell(self, report)
        return {'FINISHED'}

    def _fill_in_range(self, armature: Object, scene: Scene) -> None:
        """Take what the caller left out from the rig's or the scene's range; the redo panel then shows it."""
        names = ("frame_start", "frame_end", "step")
        for name, value in zip(names, chosen_range(armature, scene), strict=True):
            if not self.properties.is_property_set(name):
                setattr(self, name, value)


def _tell(operator: Operator, report: BakeReport) -> None:
    """Report what came of it: every warning for itself, the sentence last, where the status bar shows it."""
    for warning in report.warnings:
        operator.report({'WARNING'}, warning)
    level = 'INFO' if report.all_reached and not report.warnings else 'WARNING'
    operator.report({level}, report.sentence())


classes = (IK2D_OT_chain_add, IK2D_OT_chain_remove, IK2D_OT_chain_move, IK2D_OT_solve, IK2D_OT_bake)


def register() -> None:
    """Register the operators."""
    for cls in classes:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Unregister the operators."""
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
