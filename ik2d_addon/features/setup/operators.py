# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators on a rig's list of chains, and the functions that they call."""

from math import degrees

from bpy.props import EnumProperty, IntProperty
from bpy.types import Context, Object, Operator, PropertyGroup
from mathutils import Vector

from ...bake.keys.left import leave_keys
from ...core.words import noted, refusal, say
from ...rig.chain.chain import problem_of
from ...rig.chain.native_state import acts, is_flipped
from ...rig.chain.post import POST, turned_bones_of
from ...rig.chain.renames import bones_of
from ...ui.context import (
    active_armature,
    active_chain,
    named_chain,
    select_with_posed,
    shown_chain,
    to_see,
    why_no_chain,
    why_not_edit,
)
from ...ui.operator import ChainOperator, chain_name, tick
from ...ui.parts import entry
from ...ui.preferences import is_live_at_once
from ...ui.registration import registration
from ...ui.settings.chain_list import (
    add_chain,
    add_target,
    drop_chain,
    flip,
    flip_post,
    move_in_list,
    refuse_drop,
)
from ...ui.settings.joint_list import joints_wanted
from ..adopt.keep import give_back
from ..adopt.settings import is_adopted
from ..native import remove_native
from ..posed.before import Before, note_before, pose_of, read_before
from ..posed.before import give_back as give_pose_back
from ..posed.live import live_on_pose
from ..posed.plane import hold_pose
from ..posed.targets import remove_target
from ..post.proposal import keep_post
from ..two_targets.second import remove_blends
from .flips import key_flip
from .limits import take_limits
from .selection import choose_target, chosen_bones, plan_in_words, target_candidates, why_not_add
from .straight_limb import view_of


def remove_chain(armature: Object, chain: PropertyGroup | None = None) -> str:
    """Remove a chain, without one the active one, and return its name; a neighbour becomes active.

    Keys and drivers of its settings go too, and a native chain's drivers; IK constraints that the chain was
    adopted from act again. Keys of other chains follow them; raises IK2DError where some could not. A blend
    of targets goes, and a target that was made with the chain if nothing else uses it. If nothing has moved
    the limb since the chain was added, it is posed as it was then.
    """
    settings, chain = armature.ik2d, chain or active_chain(armature)
    if chain is None:
        raise refusal("Armature '{armature}' has no chain to remove", armature=armature.name)
    index = list(settings.chains).index(chain)
    refuse_drop(armature, index)
    remove_native(armature, chain)
    if is_adopted(settings.chains[index]):
        give_back(settings.chains[index], for_good=True)
    chain = settings.chains[index]
    remove_blends(chain)
    before, target = read_before(chain), chain.target if chain.owns_target else None
    bones = turned_bones_of(chain)
    leave_keys(chain)
    name = drop_chain(armature, index)
    last = len(settings.chains) - 1
    settings.active_index = max(0, min(settings.active_index - (index < settings.active_index), last))
    if target is not None:
        remove_target(target)
    if before is not None:
        give_pose_back(armature, bones, before)
    return name


def move_chain(armature: Object, step: int) -> None:
    """Move the active chain down by `step` places in the list, up where negative, as far as the list goes.

    Its keys and drivers follow; raises IK2DError where some could not.
    """
    settings = armature.ik2d
    if active_chain(armature) is None:
        raise refusal("Armature '{armature}' has no chain to move", armature=armature.name)
    index = max(0, min(settings.active_index + step, len(settings.chains) - 1))
    move_in_list(armature, settings.active_index, index)
    settings.active_index = index


class IK2D_OT_chain_add(ChainOperator, Operator):
    """Add a chain of the selected bones, which follows the other selected bone or object"""

    bl_idname = "ik2d.chain_add"
    bl_label = "Add Chain"

    why_not = staticmethod(why_not_add)

    bone_count: IntProperty(
        name="Chain Length",
        description="Number of bones in the chain, counted up from the last bone; 0 takes all up to the root",
        default=2,
        min=0,
        soft_max=20,
        max=1000,
        options={'SKIP_SAVE'},
    )
    whole_branch: tick(
        "Whole Limb", "Take all bones from where they branch off, down to where they branch again"
    )

    @classmethod
    def description(cls, context, properties):
        """Return the tooltip, with the bones and the target if a chain can be added."""
        if why_not_add(context):
            return cls.__doc__
        return say("Add a chain: {chain}", chain=plan_in_words(context, properties.whole_branch))

    def work(self, context):
        context.view_layer.update()  # poses that a script has set
        armature = active_armature(context)
        bones = chosen_bones(context, self.whole_branch)
        selected, before = [ob.name for ob in context.selected_objects], active_chain(armature)
        active = before.name if before is not None else ""
        if self.whole_branch or not self.properties.is_property_set("bone_count"):
            self.bone_count = len(bones)
        chain = add_chain(armature, bones[-1], self.bone_count, view=view_of(context))
        bones = bones_of(armature.data, chain.tip, chain.bone_count)
        chosen = choose_target(armature, bones, target_candidates(context))
        post = keep_post(chain, chosen, view_of(context))
        bones = turned_bones_of(chain)
        pose, hold = pose_of(armature, bones), hold_pose(armature, chain)
        if chosen:
            chain.target, chain.subtarget = chosen
        else:
            chain.target = self._new_target(context, armature, chain, hold.place)
            chain.owns_target = True
        problem = problem_of(armature, chain)
        reason = ""
        if not problem and is_live_at_once():
            reason = live_on_pose(armature, chain, hold, is_new=not chosen)
        note_before(chain, Before(active, selected, pose, pose_of(armature, bones)))
        if problem:
            self.warn([say("Added chain '{chain}'. {problem}", chain=chain.name, problem=problem)])
            return ""
        added = say(
            "Added chain '{chain}', which follows {new}{bone}'{target}'",
            chain=chain.name,
            new="" if chosen else say("the new "),
            bone=say("bone '{bone}' of ", bone=chain.subtarget) if chain.subtarget else "",
            target=chain.target.name,
        )
        if not reason:
            return added + post
        self.report(
            {'WARNING'},
            say(
                "{added}. Live stays off, to keep the pose: {reason}; turn Live on to have it follow",
                added=added + post,
                reason=reason,
            ),
        )
        return ""

    @staticmethod
    def _new_target(context: Context, armature: Object, chain: PropertyGroup, place: Vector) -> Object:
        """Add a target at a place and select it."""
        target = add_target(armature, chain.tip, bone_count=chain.bone_count)
        target.location = place
        select_with_posed(context, target)
        return target


class IK2D_OT_chain_remove(ChainOperator, Operator):
    """Remove the active chain with keys and drivers of its settings; the keys of earlier bakes stay"""

    bl_idname = "ik2d.chain_remove"
    bl_label = "Remove Chain"

    @staticmethod
    def why_not(context):
        reason = why_not_edit(context)
        return reason or (
            "" if active_chain(active_armature(context)) else say("There is no chain to remove")
        )

    def work(self, context):
        armature = active_armature(context)
        name = remove_chain(armature)
        self.tell_left(armature)
        return say("Removed chain '{chain}'", chain=name)


class IK2D_OT_flip(ChainOperator, Operator):
    """Bend the chain to its other side, at once or over some frames"""

    bl_idname = "ik2d.flip"
    bl_label = "Flip Bend"

    chain: chain_name("Chain to flip; empty for the active one")
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

    def work(self, context):
        chain = named_chain(context, self.chain)
        if self.frames > 1:
            first, last = key_flip(active_armature(context), chain, context.scene, self.frames)
            shows = "" if chain.live or acts(chain) else say("; bake it")
            return say(
                "Chain '{chain}' turns over from frame {first:g} to {last:g}{shows}",
                chain=chain.name,
                first=first,
                last=last,
                shows=shows,
            )
        flip(chain)
        side = say("the other side") if is_flipped(chain) else say("the side of the rest pose")
        shows = to_see(chain)
        return say("Chain '{chain}' bends to {side}{shows}", chain=chain.name, side=side, shows=shows)


class IK2D_OT_flip_post(ChainOperator, Operator):
    """Turn the chain's post half round, so that the chain reaches to the other side of the post's axis"""

    bl_idname = "ik2d.flip_post"
    bl_label = "Flip Post"

    chain: chain_name("Chain whose post to flip; empty for the active one")

    def work(self, context):
        chain = named_chain(context, self.chain)
        if chain.plane != POST:
            raise refusal(
                "Chain '{chain}' turns about no post; set Bends In to Turns About Bone", chain=chain.name
            )
        flip_post(chain)
        is_other = chain.post_side == 'NEGATIVE'
        side = say("the other side") if is_other else say("the side of the rest pose")
        shows = to_see(chain)
        return say(
            "Chain '{chain}' reaches to {side} of its post{shows}", chain=chain.name, side=side, shows=shows
        )


class IK2D_OT_chain_move(ChainOperator, Operator):
    """Move the active chain up or down in the list"""

    bl_idname = "ik2d.chain_move"
    bl_label = "Move Chain"

    direction: EnumProperty(
        name="Direction",
        description="Way to move the chain",
        items=(('UP', "Up", "Towards the top of the list"), ('DOWN', "Down", "Towards the end of the list")),
        default='UP',
    )

    @staticmethod
    def why_not(context):
        if reason := why_not_edit(context):
            return reason
        chains = active_armature(context).ik2d.chains
        return (
            "" if len(chains) > 1 else say("There is only one chain") if chains else say("Add a chain first")
        )

    def work(self, context):
        armature = active_armature(context)
        move_chain(armature, 1 if self.direction == 'DOWN' else -1)
        self.tell_left(armature)


def _why_no_bones(context: Context) -> str:
    """Return why the active chain has no joints to set; "" if it has some."""
    if reason := why_no_chain(context):
        return reason
    return "" if joints_wanted(shown_chain(context)) else say("Choose the chain's last bone and length first")


class IK2D_OT_limits_from_bones(ChainOperator, Operator):
    """Copy the bones' IK limits, IK locks and Limit constraints to the chain's limits and slides"""

    bl_idname = "ik2d.limits_from_bones"
    bl_label = "Copy Limits from Bones"

    why_not = staticmethod(_why_no_bones)

    def work(self, context):
        armature, chain = active_armature(context), shown_chain(context)
        limited = take_limits(armature, chain)
        self.warn(chain.left_out.splitlines())
        sliding = sum(joint.use_slide for joint in chain.joints)
        places = {"limited": limited, "count": len(chain.joints), "chain": chain.name, "sliding": sliding}
        if sliding == 1:
            told = say("{limited} of {count} joints of '{chain}' are limited, {sliding} slides", **places)
        elif sliding:
            told = say("{limited} of {count} joints of '{chain}' are limited, {sliding} slide", **places)
        else:
            told = say("{limited} of {count} joints of '{chain}' are limited", **places)
        if chain.plane == POST and chain.use_post_limit:
            low, high = degrees(chain.post_limit_min), degrees(chain.post_limit_max)
            told += say("; its post turns from {low:.0f} to {high:.0f} degrees", low=low, high=high)
        return told


HEADINGS = {"chains": "chain_remove chain_move", "bend": "flip"}
_FLIP = entry("ik2d.flip", 'MOD_MIRROR', order=4)
MENU = {
    "main": [entry("ik2d.chain_add", 'ADD', order=1), _FLIP],
    "bone": [_FLIP],
    "pose": [_FLIP, entry("ik2d.flip", text=noted("Flip Over 10 Frames"), order=4, frames=10)],
    "chain": [
        entry("ik2d.flip_post"),
        entry("ik2d.chain_remove", 'REMOVE'),
        entry("ik2d.chain_move", 'TRIA_UP', noted("Move Chain Up"), direction='UP'),
        entry("ik2d.chain_move", 'TRIA_DOWN', noted("Move Chain Down"), direction='DOWN'),
        entry("ik2d.limits_from_bones", 'CON_ROTLIMIT'),
    ],
}
classes = (
    IK2D_OT_chain_add,
    IK2D_OT_chain_remove,
    IK2D_OT_chain_move,
    IK2D_OT_flip,
    IK2D_OT_flip_post,
    IK2D_OT_limits_from_bones,
)
register, unregister = registration(classes)
