# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging a tip: it is taken hold of, moved, then keyed or put back exactly as it was."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import bpy
import numpy as np
from bpy.types import Context, Object, PoseBone, PropertyGroup, Scene

from ...bake.lengths import Units, length_text
from ...bake.solving.frames import SolvedChain
from ...core import IK2DError, Status
from ...core.words import noted, refusal, say
from ...rig.animation.bone_channels import rotation_property
from ...rig.animation.remembered import Remembered, remembered
from ...rig.animation.versions import is_hidden, is_selected
from ...rig.chain.chain import RigChain, read_chain
from ...rig.chain.checks.bones import chain_bones, pose_bones_of
from ...rig.chain.dependencies import acting
from ...rig.chain.fingerprint import led_by
from ...rig.chain.native_state import acts, controls_of
from ...rig.chain.post import turned_bones_of
from ...rig.chain.renames import needed_chain, why_linked
from ...rig.mechanism.now import pose_now
from ...rig.pose.target_moves import why_fixed
from ...rig.scene.bone_constraints import with_other_controls
from ...rig.scene.missing_inputs import with_inputs_checked
from ...rig.scene.record import settings_animated
from ...ui.auto_keying import Moved
from ...ui.context import active_chain
from ...ui.settings.chain_list import flip
from .bones_without_chain import loose_chain, usual_count
from .held import HeldPoint
from .held_chain import HeldChain
from .mechanism import MechanismDrag, evaluated_of, machines_behind, mechanism_of, visible_bones
from .pointing import DragPlane
from .target_move import TargetMove

# What a joint remembers of its bone while this slides or stretches.
_NOTES = ("slid", "slide_base", "is_scaled", "scale_base", "scale_posed")
_OUT_OF_REACH = noted("out of reach by {length}")
_STOPPED = {
    Status.LIMITED: noted("stopped by limits, off by {length}"),
    Status.STALLED: noted("stalled, off by {length}"),
}


def chain_to_hold(armature: Object) -> PropertyGroup | None:
    """Return the chain whose tip a drag takes hold of; None where it takes bones without a chain.

    It is the chain that the active bone is in, or is the target of; the active chain, if the active bone
    is not selected.
    """
    active, bone = active_chain(armature), armature.data.bones.active
    enabled = [chain for chain in armature.ik2d.chains if chain.enabled]
    enabled.sort(key=lambda chain: chain != active)
    if bone is not None:
        for chain in enabled:
            if (armature, bone.name) in led_by(chain) or bone.name in turned_bones_of(chain):
                return chain
        if is_selected(armature.pose.bones[bone.name]):
            return None
    return active if active in enabled else None


def why_not_drag(context: Context) -> str:
    """Say why no tip can be dragged now; "" where one can."""
    armature = context.object
    if armature is None or armature.type != 'ARMATURE':
        return say("Make an armature the active object and switch to Pose Mode")
    if reason := why_linked(armature):
        return reason
    if armature.mode != 'POSE':
        return say("Switch to Pose Mode")
    if armature.data.pose_position == 'REST':
        return say(
            "'{armature}' shows its rest position; set it to Pose Position first", armature=armature.name
        )
    reason = _why_not_hold(armature)
    return "" if any(True for _ in (*visible_tips(armature), *visible_bones(armature))) else reason


def _why_not_hold(armature: Object) -> str:
    """Say why nothing can be taken hold of away from the mouse; "" where it can."""
    chain, bone = chain_to_hold(armature), armature.data.bones.active
    if chain is None and bone is None:
        return say("Select the bone whose tip to drag")
    tip = armature.pose.bones.get(chain.tip if chain is not None else bone.name)
    if tip is not None and is_hidden(tip):
        return say(
            "Bone '{tip}' is hidden; show it (Alt H), or its bone collection, to drag it", tip=tip.name
        )
    return ""


def visible_tips(armature: Object) -> Iterator[tuple[PropertyGroup, PoseBone]]:
    """Yield the enabled chains whose last bones are shown, each with that bone."""
    for chain in armature.ik2d.chains:
        bone = pose_bones_of(armature).get(chain.tip) if chain.enabled else None
        if bone is not None and not is_hidden(bone):
            yield chain, bone


class Drag(HeldPoint):
    """A tip held in its chain's plane."""

    def __init__(
        self, scene: Scene, armature: Object, chain: PropertyGroup | None, tip: str = "", bone_count: int = 0
    ) -> None:
        """Take hold of a chain's tip, else of the tip of so many bones, 0 for as many as go on end to end.

        Raises IK2DError for what cannot be held.
        """
        super().__init__(scene, armature)
        # By its place and name: Blender does not say of a reference that the chain has been removed.
        self._named = None if chain is None else (list(armature.ik2d.chains).index(chain), chain.name)
        self.tip = chain.tip if chain is not None else tip
        self._kept: dict[tuple[str, str], tuple[float, ...]] = {}
        self._bend = chain.bend if chain is not None else ""
        self._control = self._control_now()
        self._noted = self._noted_now()
        self.solved: SolvedChain | None = None
        self._take(bone_count or (0 if chain is not None else usual_count(armature, tip)))
        self._side = self.bend
        objects = armature, self.held_chain.rig.target
        self._in_scene = [ob for ob in objects if scene in ob.users_scene]
        point = self.held_chain.held_point() if self.target is not None else self.held_chain.tip
        self.plane = DragPlane.of(point, self.held_chain.normal)

    @property
    def chain(self) -> PropertyGroup | None:
        """The settings of the chain that is held; None where the bones are no chain, or it was removed."""
        if self._named is None:
            return None
        place, name = self._named
        chains = self.armature.ik2d.chains
        return chains[place] if place < len(chains) and chains[place].name == name else None

    @property
    def what(self) -> str:
        """What is held, in words."""
        return say("Tip of '{tip}'", tip=self.tip)

    def is_there(self) -> bool:
        """Return whether all that is held is still there: the armature, its bones, the chain, the target."""
        try:
            bones = all(bone in self.armature.pose.bones for bone, _ in self._kept)
            in_scene = all(self.scene in ob.users_scene for ob in self._in_scene)
            chain = self._named is None or self.chain is not None
            return bones and in_scene and chain and self._has_target()
        except ReferenceError:
            return False

    def _has_target(self) -> bool:
        """Return whether the bones of target and pole are there; raise ReferenceError for a lost object."""
        followed = self.held_chain.rig.followed
        return all(ob.name and (not bone or bone in ob.pose.bones) for ob, bone in followed)

    def _take(self, bone_count: int) -> None:
        """Read the chain, or so many bones, in the current pose."""
        if self.chain is None:
            rig = loose_chain(self.scene, self.armature, self.tip, bone_count)
        else:
            rig = self._chain_with_target()
        now = self.scene.frame_float
        rig = with_other_controls(rig, now, now)
        self.held_chain = HeldChain.of(self.scene, rig, settled=self.chain is not None)
        self.bend = self.held_chain.bend
        self.target = None
        if (rig.target, rig.subtarget) != (self.armature, self.tip):
            self.target = TargetMove.of(rig.target, rig.subtarget, self.held_chain.target)
        hands = rig.hands.bones if rig.hands is not None else ()
        self._machines, faults = machines_behind(self.armature, rig.turned_bones)
        self.warnings = [*rig.warnings, *faults]
        behind = [bone for machine in self._machines for bone in machine.turned_bones]
        for bone in map(self.armature.pose.bones.get, (*rig.turned_bones, *hands, *behind)):
            for name in (rotation_property(bone.rotation_mode), "location", "scale"):
                self._kept.setdefault((bone.name, name), tuple(getattr(bone, name)))

    def _chain_with_target(self) -> RigChain:
        """Return the chain; without a target that can be moved, its target is its own tip."""
        chain, target = self.chain, self.chain.target
        if target and (not chain.subtarget or chain.subtarget in getattr(target.pose, "bones", ())):
            rig = with_inputs_checked(read_chain(self.armature, chain), False)
            self.why_fixed = why_fixed(*acting((rig.target, rig.subtarget))[0])
            if not self.why_fixed:
                return rig
        return read_chain(self.armature, chain, own_tip=True)

    @property
    def is_flipped(self) -> bool:
        """Whether it bends to the other side than before."""
        return self.bend != self._side

    @property
    def bone_count(self) -> int:
        """Number of bones that are held."""
        return len(self.held_chain.rig.bones)

    def to(self, offset: Sequence[float]) -> None:
        """Bring the tip to an offset, or as near to it as it gets."""
        self.offset = np.array(offset, np.float64)
        point = self.plane.at(self.offset)
        for attempt in (0, 1):
            self.solved = self.held_chain.solved(point, self.bend)
            self.held_chain.show(self.solved)
            if self.target is not None:
                self.target.to(point)
            bpy.context.view_layer.update()
            # An armature that hangs on the target has moved with it: solve again from its new place.
            if attempt or not self.held_chain.is_held_elsewhere():
                break
            self.held_chain.read_again()
        for machine in self._machines:
            pose_now(self.scene, machine, evaluated_of(self.armature))
            bpy.context.view_layer.update()

    @property
    def turns_with_view(self) -> bool:
        """Whether its post turns to wherever the tip goes, so that it may be dragged in any plane."""
        return self.held_chain.post is not None

    def face(self, normal: Sequence[float]) -> None:
        """Move the tip in the plane of a normal (3,) of the world, where its post lets its own plane turn."""
        size = float(np.linalg.norm(normal))
        if self.turns_with_view and size > 0.0:
            self.plane = DragPlane.of(self.plane.point, np.array(normal, np.float64) / size)

    def flip(self) -> None:
        """Bend the chain to its other side; the tip stays where it is held."""
        self.bend = -self.bend
        if self.chain is not None:
            flip(self.chain)
        self.to(self.offset)

    def take_bones(self, bone_count: int) -> None:
        """Hold so many bones instead, unless a chain is held; bones that are let go return to their pose."""
        count = max(1, min(bone_count, len(chain_bones(self.armature, self.tip, 0))))
        if self.chain is None and count != self.bone_count:
            self._put_bones_back()
            bpy.context.view_layer.update()
            self._take(count)
            self.plane = DragPlane.of(self.plane.point, self.held_chain.normal)
            self.to(self.offset)

    def put_back(self) -> None:
        """Put all back exactly as it was, as far as it is still there."""
        with suppress(ReferenceError):
            self._put_bones_back()
            self._put_settings_back()
        with suppress(ReferenceError):
            if self.target is not None and self._has_target():
                self.target.put_back()
        bpy.context.view_layer.update()

    def _put_settings_back(self) -> None:
        chain = self.chain
        if chain is None:
            return
        if chain.bend != self._bend:
            chain.bend = self._bend
        controls = controls_of(chain)
        if controls is not None and self._control_now() != self._control:
            controls["bend"] = self._control
            controls.update_tag()

    def _control_now(self) -> float:
        """Return the bend control of a native chain; 0 without one."""
        controls = controls_of(self.chain) if self.chain is not None else None
        return float(controls["bend"]) if controls is not None else 0.0

    def _noted_now(self) -> Remembered:
        """Return the chain's notes of its bones, as they were before they slid, stretched or turned."""
        if self.chain is None:
            return []
        noted = [(joint, name) for joint in self.chain.joints for name in _NOTES]
        return remembered([*noted, (self.chain, "hands_posed")])

    def _put_bones_back(self) -> None:
        bones = self.armature.pose.bones
        for (bone, name), values in self._kept.items():
            if bone in bones:
                setattr(bones[bone], name, values)  # not [:] = values: Blender 5.2 then sets XYZ as the mode
        noted = self._noted_now()  # none once the chain is removed
        for (owner, name, now), (*_, before) in zip(noted, self._noted[: len(noted)], strict=True):
            if now != before:
                setattr(owner, name, before)

    def make_active(self) -> None:
        """Make the chain that is held the active one."""
        if self._named is not None:
            self.armature.ik2d.active_index = self._named[0]

    def moved(self) -> Iterator[Moved]:
        """Yield the properties that it has moved, the target's first."""
        if self.target is not None:
            yield Moved(self.target.holder, "location", range(3), is_target=True)
        # A live or native chain has its pose from the target alone.
        follows = self.chain is not None and (self.chain.live or acts(self.chain))
        if not (self.target is not None and follows):
            for written in self.held_chain.written:
                bone = self.armature.pose.bones[written.bone]
                indices = written.unlocked(self.armature)
                yield Moved(bone, written.property, indices, generated=self.target is not None)
        if self.chain is not None and self.chain.bend != self._bend and settings_animated(self.armature):
            yield Moved(self.chain, "bend")

    @property
    def has_reached(self) -> bool:
        """Whether the tip was moved, and is where it is held."""
        solved = self.solved
        if solved is None or not solved.solution.reached[0]:
            return False
        return float(solved.miss.distance[0]) <= solved.tolerance

    def outcome(self) -> str:
        """Return the outcome in words: "reached", or how far the tip is off, and why."""
        if self.solved is None:
            return say("where it was")
        if self.has_reached:
            return say("reached")
        length = length_text(float(self.solved.miss.distance[0]), Units.of(self.scene))
        if self.solved.solution.reached[0]:
            return say("off by {length}", length=length)
        status = Status(self.solved.solution.status[0])
        return say(_STOPPED.get(status, _OUT_OF_REACH), length=length)


def take_hold(
    scene: Scene,
    armature: Object,
    chain_name: str = "",
    tip: str = "",
    bone_count: int = 0,
    bone: str = "",
    end: str = "",
) -> Drag | MechanismDrag:
    """Take hold of the chain of a name, of the tip of some bones, of an end of a bone of a mechanism, or of
    what `chain_to_hold` says: where that is a bone of a mechanism, of its end.

    Raises IK2DError for what is not there, or cannot be held.
    """
    if armature.pose is None or armature.mode == 'EDIT':
        raise refusal("'{armature}' is in a mode without posing; switch to Pose Mode", armature=armature.name)
    if chain_name:
        return Drag(scene, armature, needed_chain(armature, chain_name))
    chain = None if tip or bone else chain_to_hold(armature)
    if not (tip or bone) and (reason := _why_not_hold(armature)):
        raise IK2DError(reason)
    if chain is None and not tip:
        bone = bone or armature.data.bones.active.name
        if (mechanism := mechanism_of(armature, bone)) is not None:
            return MechanismDrag(scene, armature, mechanism, bone, end)
        tip = bone
    return Drag(scene, armature, chain, tip, bone_count)
