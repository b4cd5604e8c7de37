# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators on a rig's list of chains, each a thin layer over one function, and these functions."""

import bpy
import numpy as np
from bpy.props import EnumProperty, IntProperty, StringProperty
from bpy.types import Context, Object, Operator, PoseBone, PropertyGroup

from ...core import IK2DError
from ...rig.chain.bone_limits import limits_elsewhere, limits_of_bones, slides_of_bones
from ...rig.chain.chain import bend_plane, chain_bones, problem_of, refuse_own_target, rest_joints
from ...rig.chain.dependencies import parents, walk
from ...rig.chain.native_state import acts, is_flipped, stand_of
from ...rig.chain.renames import (
    bone_names,
    bones_of,
    likeliest_bone,
    likeliest_subtarget,
    straighten,
    unique_name,
)
from ...rig.chain.slides import slide_directions
from ...rig.scene.slide_locations import base_of
from ...ui.registration import registration
from ...ui.settings.chain import joints_wanted, sync_joints
from ..adopt.keep import give_back, is_adopted
from ..native import remove_native
from .flips import key_flip

# The radius of a target made for a chain, as a part of its last bone's length.
TARGET_SIZE = 0.15
# The armature that was found last by one of its targets: a place to look first, no more.
_last_found = ""

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
    taken = {other.name for other in settings.chains}
    name = unique_name(tip, taken, bone_names(armature) - {tip})
    chain = settings.chains.add()
    chain.name, chain.tip, chain.bone_count = name, tip, bone_count
    chain.target, chain.subtarget = target, subtarget
    settings.active_index = len(settings.chains) - 1
    return chain


def remove_chain(armature: Object) -> str:
    """Remove the active chain and return its name; its neighbour becomes the active one.

    What makes it native goes with it, and IK constraints that it was adopted from are given back.
    """
    settings, chain = armature.ik2d, active_chain(armature)
    if chain is None:
        raise IK2DError(f"Armature '{armature.name}' has no chain to remove")
    remove_native(armature, chain)
    chain = active_chain(armature)
    if is_adopted(chain):
        give_back(chain)
    name = drop_chain(armature, settings.active_index)
    settings.active_index = max(0, min(settings.active_index, len(settings.chains) - 1))
    return name


def drop_chain(armature: Object, index: int) -> str:
    """Remove the chain at a place of the list, and nothing else; return its name."""
    chains = armature.ik2d.chains
    name = str(chains[index].name)
    try:
        chains.remove(index)
    except TypeError as error:  # how Blender refuses it for an override
        raise IK2DError(f"Chain '{name}' comes from the linked library: disable it instead") from error
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
    return chains[index] if 0 <= index < len(chains) else None


def flip(chain: PropertyGroup) -> None:
    """Have a chain bend to its other side: a native one by its control, at once."""
    stand = stand_of(chain)
    if stand is not None:
        stand["bend"] = 1.0 if stand.get("bend", 1.0) < 0.0 else -1.0
        stand.update_tag()
        return
    chain.bend = 'NEGATIVE' if chain.bend == 'POSITIVE' else 'POSITIVE'
    chain.id_data.update_tag()  # the viewport may show it


def add_target(armature: Object, tip: str, collection: bpy.types.Collection) -> Object:
    """Add an empty at the tail of a bone, as the bone is posed now, for a chain to follow."""
    bone = armature.pose.bones[tip]
    target = bpy.data.objects.new(f"{tip} Target", None)
    collection.objects.link(target)
    target.location = armature.matrix_world @ bone.tail
    target.empty_display_type = 'SPHERE'
    scale = sum(abs(value) for value in armature.matrix_world.to_scale()) / 3.0
    target.empty_display_size = max(TARGET_SIZE * bone.length * scale, 1e-6)
    return target


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
    open_ended = take_slides(chain, bones)
    chain.left_out = left_out_in_words(slanted, limits_elsewhere(bones), open_ended)
    return len(ranges), slanted


def take_slides(chain: PropertyGroup, bones: list[PoseBone]) -> list[str]:
    """Make what Limit Location constraints leave to bones their slides; others stay as they are.

    Returns the bones that are limited on one side alone.
    """
    joints = [chain.joints[bone.name] for bone in bones]
    bases = np.array(
        [
            np.where(joint.slid, base_of(joint), bone.location)
            for joint, bone in zip(joints, bones, strict=True)
        ]
    )
    own = joints[-1].use_slide and not (len(joints) > 1 and joints[-2].use_slide)
    ranges, open_ended = slides_of_bones(bones, slide_directions(bones), bases, own)
    for joint in joints:
        if joint.name in ranges:
            joint.slide_min, joint.slide_max = ranges[joint.name]
            joint.use_slide = joint.slide_min < joint.slide_max
    return open_ended


def left_out_in_words(slanted: list[str], elsewhere: list[str], open_ended: list[str]) -> str:
    """Return a sentence for each kind of limit that could not be taken; "" where all were."""
    sentences = []
    if open_ended:
        sentences.append(
            f"Left out the slides of {_quoted(open_ended)}: their Limit Location has no minimum or no maximum"
        )
    if slanted:
        sentences.append(
            f"Left out {_quoted(slanted)}: in the chain's plane they turn about none of their own axes,"
            " which Blender's limits are about"
        )
    if elsewhere:
        sentences.append(
            f"Left out {_quoted(elsewhere)}: their Limit Rotation is not in Local Space, so it is no limit on"
            " a joint"
        )
    return "\n".join(sentences)


def _quoted(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


# --- Reading the context -----------------------------------------------------


def active_armature(context: Context) -> Object | None:
    """Return the active object if it is an armature, else the armature with a chain that follows it.

    Of several, it is one whose active chain does, else the first.
    """
    active = context.object
    if active is None or active.type == 'ARMATURE':
        return active
    global _last_found
    # Each button asks this anew whenever it is drawn: look where it was before, then at all objects.
    known = context.scene.objects.get(_last_found)
    if known is not None and follows(active_chain(known), active):
        return known
    found = followers(context.scene, active)
    chosen = [armature for armature in found if follows(active_chain(armature), active)]
    armature = next(iter(chosen or found), None)
    _last_found = armature.name if armature is not None else ""
    return armature


def follows(chain: PropertyGroup | None, target: Object) -> bool:
    """Return whether there is a chain, and this is its target."""
    return chain is not None and chain.target == target


def followers(scene: bpy.types.Scene, target: Object) -> list[Object]:
    """Return the armatures of a scene that have a chain to a target."""
    if target.users < 2:  # its collection alone: a chain would be another user
        return []
    return [
        ob
        for ob in scene.objects
        if ob.type == 'ARMATURE'
        and ob.is_property_set("ik2d")  # reading the settings of one that has none makes some
        and any(chain.target == target for chain in ob.ik2d.chains)
    ]


def shown_chain(context: Context) -> PropertyGroup | None:
    """Return the chain that the sidebar shows: the active one, or one that follows the active object."""
    armature = active_armature(context)
    if armature is None:
        return None
    chain, target = active_chain(armature), context.object
    if target == armature or follows(chain, target):
        return chain
    return next(other for other in armature.ik2d.chains if other.target == target)


def named_chain(context: Context, name: str) -> PropertyGroup:
    """Return the active armature's chain of that name, for "" the one shown.

    Raises IK2DError where there is none.
    """
    armature = active_armature(context)
    chain = armature.ik2d.chains.get(name) if name else shown_chain(context)
    if chain is None:
        missing = f"'{name}'" if name else "to take"
        raise IK2DError(f"Armature '{armature.name}' has no chain {missing}")
    return chain


def why_not_edit(context: Context) -> str:
    """Say why the chains of the active armature cannot be edited now; "" where they can."""
    armature = active_armature(context)
    if armature is None:
        return "Make an armature the active object, or the target of one of its chains"
    if not armature.is_editable:
        return f"Armature '{armature.name}' is linked: make a library override of it first"
    if armature.mode not in {'OBJECT', 'POSE'}:
        return "Switch to Object Mode or Pose Mode"
    return ""


def why_no_chain(context: Context) -> str:
    """Say why there is no chain to work on now; "" where the sidebar shows one that can be edited."""
    return why_not_edit(context) or ("" if shown_chain(context) else "Add a chain first")


def why_not_add(context: Context) -> str:
    """Say why no chain can be added now; "" where one can."""
    reason = why_not_edit(context)
    if reason:
        return reason
    armature = active_armature(context)
    if context.object != armature:
        return f"Make '{armature.name}' the active object to add a chain to it"
    if armature.data.bones.active is None:
        return "Select the last bone of the chain in Pose Mode"
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


def choose_target(
    armature: Object, bones: list[str], candidates: list[tuple[Object, str]]
) -> tuple[Object, str] | None:
    """Return the first target that a chain of these bones can follow; None where there is none.

    Where all are moved by the chain, but not all are its own bones, it is the last: somebody meant one of
    them, and the panel says what is wrong.
    """
    for target, subtarget in candidates:
        try:
            refuse_own_target("", armature, bones, walk([(target, subtarget)], parents))
        except IK2DError:
            continue
        return target, subtarget
    meant = [(ob, bone) for ob, bone in candidates if not (ob == armature and bone in bones)]
    return meant[-1] if meant else None


def planned_chain(context: Context) -> tuple[list[str], str]:
    """Return what Add Chain would make: the bones, root to tip, and the name of what they would follow."""
    armature = active_armature(context)
    tip = armature.data.bones.active
    bones = bones_of(armature.data, tip.name, 2 if tip.parent else 1)
    chosen = choose_target(armature, bones, target_candidates(context, tip.name))
    if chosen is None:
        return bones, "a new target"
    return bones, chosen[1] or chosen[0].name


def plan_in_words(context: Context) -> str:
    """Return what Add Chain would make: "thigh, shin to Foot Target"."""
    bones, target = planned_chain(context)
    return f"{', '.join(bones)} to {target}"


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
        return allowed(cls, why_not_add(context))

    @classmethod
    def description(cls, context, _properties):
        """Say what the click would make, where it can."""
        return cls.__doc__ if why_not_add(context) else f"Add a chain: {plan_in_words(context)}"

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
        bones = bones_of(armature.data, tip, chain.bone_count)
        chosen = choose_target(armature, bones, target_candidates(context, tip))
        new = "" if chosen else "the new "
        chain.target, chain.subtarget = chosen or (self._new_target(context, armature, tip), "")
        problem = problem_of(armature, chain)
        if problem:
            self.report({'WARNING'}, f"Added chain '{chain.name}'. {problem}")
        else:
            self.report({'INFO'}, f"Added chain '{chain.name}', which follows {new}{target_name(chain)}")
        return {'FINISHED'}

    @staticmethod
    def _new_target(context: Context, armature: Object, tip: str) -> Object:
        """Add a target; in Object Mode select it alone, to be moved at once: the armature stays active."""
        collections = [one for one in armature.users_collection if one.is_editable]
        target = add_target(armature, tip, (collections or [context.scene.collection])[0])
        context.view_layer.update()
        if armature.mode == 'OBJECT' and target.visible_get():
            for ob in context.selected_objects:
                ob.select_set(False)
            target.select_set(True)
        return target


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


class IK2D_OT_flip(Operator):
    """Have the chain bend to its other side, at once or over some frames; Solve or Bake shows it"""

    bl_idname = "ik2d.flip"
    bl_label = "Flip Bend"
    bl_options = {'REGISTER', 'UNDO'}

    chain: StringProperty(
        name="Chain",
        description="Chain to flip; empty for the active one",
        options={'SKIP_SAVE'},
    )
    frames: IntProperty(
        name="Frames",
        description=(
            "Frames from the current one on over which keys turn the chain over, through the stretched chain;"
            " 1 flips it at once, without keys"
        ),
        default=1,
        min=1,
        soft_max=50,
        max=100000,
        options={'SKIP_SAVE'},
    )

    @classmethod
    def poll(cls, context):
        return allowed(cls, why_no_chain(context))

    def execute(self, context):
        try:
            chain = named_chain(context, self.chain)
            if self.frames > 1:
                first, last = key_flip(active_armature(context), chain, context.scene, self.frames)
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        if self.frames > 1:
            shows = "" if acts(chain) else "; bake it"
            self.report({'INFO'}, f"Chain '{chain.name}' turns over from frame {first:g} to {last:g}{shows}")
            return {'FINISHED'}
        flip(chain)
        side = "the other side" if is_flipped(chain) else "the side of the rest pose"
        shows = "" if acts(chain) else "; Solve or Bake to see it"
        self.report({'INFO'}, f"Chain '{chain.name}' bends to {side}{shows}")
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
        return allowed(cls, _why_no_bones(context))

    def execute(self, context):
        chain = shown_chain(context)
        straighten(chain.id_data)
        sync_joints(chain)
        self.report({'INFO'}, f"Chain '{chain.name}' has {len(chain.joints)} joints")
        return {'FINISHED'}


class IK2D_OT_use_bone(Operator):
    """Take the bone that a lost one most likely is, after it was renamed and moved"""

    bl_idname = "ik2d.use_bone"
    bl_label = "Use Likeliest Bone"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context):
        return allowed(cls, _why_no_bone_to_use(context))

    def execute(self, context):
        armature, chain = active_armature(context), shown_chain(context)
        found = use_likeliest(armature, chain)
        self.report({'INFO'}, f"Chain '{chain.name}' takes bone {' and '.join(map(repr, found))}")
        return {'FINISHED'}


def use_likeliest(armature: Object, chain: PropertyGroup) -> list[str]:
    """Put the likeliest bones in the place of a chain's lost tip and its target's lost bone; return them."""
    tip, subtarget = likeliest_bone(armature, chain), likeliest_subtarget(chain)
    if tip:
        joint = chain.joints.get(chain.tip)
        if joint is not None:
            joint.name = tip  # the settings go with it
        chain.tip = tip
    if subtarget:
        chain.subtarget = subtarget
    return [name for name in (tip, subtarget) if name]


def _why_no_bone_to_use(context: Context) -> str:
    """Say why there is no lost bone to find again; "" where there is one."""
    reason = why_no_chain(context)
    if reason:
        return reason
    armature, chain = active_armature(context), shown_chain(context)
    return "" if likeliest_bone(armature, chain) or likeliest_subtarget(chain) else "No bone is missing"


class IK2D_OT_limits_from_bones(Operator):
    """Take the bones' IK limits, IK locks and Limit constraints as limits and slides of the active chain"""

    bl_idname = "ik2d.limits_from_bones"
    bl_label = "Limits from Bones"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context):
        return allowed(cls, _why_no_bones(context))

    def execute(self, context):
        armature, chain = active_armature(context), shown_chain(context)
        try:
            limited, _slanted = take_limits(armature, chain)
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        for sentence in chain.left_out.splitlines():
            self.report({'WARNING'}, sentence)
        sliding = sum(joint.use_slide for joint in chain.joints)
        slide = f", {sliding} slide{'s' if sliding == 1 else ''}" if sliding else ""
        self.report({'INFO'}, f"{limited} of {len(chain.joints)} joints of '{chain.name}' are limited{slide}")
        return {'FINISHED'}


def _why_no_bones(context: Context) -> str:
    """Say why the active chain has no joints to set; "" where it has."""
    reason = why_no_chain(context)
    if reason:
        return reason
    return "" if joints_wanted(shown_chain(context)) else "Choose the chain's tip and number of bones first"


classes = (
    IK2D_OT_chain_add,
    IK2D_OT_chain_remove,
    IK2D_OT_chain_move,
    IK2D_OT_flip,
    IK2D_OT_joints_update,
    IK2D_OT_use_bone,
    IK2D_OT_limits_from_bones,
)
register, unregister = registration(classes)
