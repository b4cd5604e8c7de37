# SPDX-License-Identifier: GPL-3.0-or-later
"""The file read back: where its joints are, against where the bake had them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...bake.lengths import Units
from ...core import IK2DError
from ...core.inputs import Floats
from ...core.words import listed, number_of, refusal, say
from ...rig.animation.versions import HAS_SLOTS
from .bare import disconnect
from .motion import RigMotion, Skeleton, pose_matrices

_STILL = 1e-6  # of a rig's size: joints that move by less do not


@dataclass(frozen=True, eq=False)
class JointsExpected:
    """A rig's joints in its clips, on frames and half-way: heads, then tails of its bones, in the world."""

    rig: str
    bones: tuple[str, ...]
    size: float
    clips: Mapping[str, Floats]  # (2 f - 1, 2 bones, 3)

    @classmethod
    def of(cls, armature: bpy.types.Object, motions: Mapping[str, RigMotion]) -> "JointsExpected":
        """Return the joints of an armature that is bare."""
        skeleton = Skeleton.of(armature)
        clips = {name: _joints(skeleton, motion) for name, motion in motions.items()}
        scale = float(np.abs(armature.matrix_world.to_scale()).max())
        return cls(armature.name, skeleton.bones, skeleton.size * scale, clips)


def _joints(skeleton: Skeleton, motion: RigMotion) -> Floats:
    rows = [motion.bones.index(bone) for bone in skeleton.bones]
    shown = motion.world[:, None] @ motion.poses[:, rows]
    heads = shown[:, :, :3, 3]
    return np.concatenate([heads, heads + shown[:, :, :3, 1] * skeleton.lengths[:, None]], axis=1)


@dataclass(frozen=True)
class SceneTime:
    """What a scene has to have of another one for its clips to play alike: the frame rate, the units."""

    fps: int
    base: float
    units: Units

    @classmethod
    def of(cls, scene: bpy.types.Scene) -> "SceneTime":
        """Return that of a scene."""
        return cls(scene.render.fps, scene.render.fps_base, Units.of(scene))

    def give(self, scene: bpy.types.Scene) -> None:
        """Give it to a scene."""
        scene.render.fps, scene.render.fps_base = self.fps, self.base
        scene.unit_settings.system, scene.unit_settings.scale_length = self.units


def empty_file(time: SceneTime) -> None:
    """Open an empty file in place of the one that is open."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    time.give(bpy.context.scene)


def _lost(rig: str) -> IK2DError:
    return refusal(
        "The file came back without '{rig}', so nothing was written: a format may leave out armatures that"
        " deform no mesh",
        rig=rig,
    )


class ReadBack:
    """A rig that was imported, which plays one clip after another."""

    def __init__(self, expected: JointsExpected) -> None:
        """Find it; raise IK2DError where the file has come back without it."""
        self._expected = expected
        armatures = [ob for ob in bpy.data.objects if ob.type == 'ARMATURE']
        named = [ob for ob in armatures if ob.name == expected.rig]
        named = named or [ob for ob in armatures if ob.parent is not None and ob.parent.name == expected.rig]
        named = named or (armatures if len(armatures) == 1 else [])
        if not named:
            raise _lost(expected.rig)
        self._armature = named[0]
        names = set(self._armature.pose.bones.keys())
        self._rows = [row for row, bone in enumerate(expected.bones) if bone in names]
        if not self._rows:
            raise _lost(expected.rig)
        self._actions = self._found_actions()
        disconnect(self._armature)  # the importer of FBX ties bones that touch at rest

    def warnings(self) -> list[str]:
        """Return a sentence for bones that have not come back."""
        lost = [bone for row, bone in enumerate(self._expected.bones) if row not in self._rows]
        if not lost:
            return []
        return [
            say(
                "{rig}: {bones} did not come back, such as {names}: the format leaves out bones that deform"
                " no mesh",
                rig=self._expected.rig,
                bones=number_of(len(lost), "bone"),
                names=listed(lost, most=2),
            )
        ]

    def _found_actions(self) -> dict[str, tuple[bpy.types.Action, Any]]:
        """Return the clips' actions, each with its slot: those of NLA tracks, else of the clips' names."""
        animation = self._armature.animation_data
        if animation is None:
            return {}
        found: dict[str, tuple[bpy.types.Action, Any]] = {}
        for track in animation.nla_tracks:
            for strip in track.strips:
                if strip.action is not None:
                    found[track.name] = strip.action, strip.action_slot if HAS_SLOTS else None
        prefix = f"{self._armature.name}|"
        for action in bpy.data.actions:
            if action.name.startswith(prefix):
                slot = next(iter(action.slots), None) if HAS_SLOTS else None
                clip = action.name.removeprefix(prefix)
                found.setdefault(clip.removeprefix(prefix), (action, slot))
        if not found and animation.action is not None:
            slot = animation.action_slot if HAS_SLOTS else None
            found = dict.fromkeys(self._expected.clips, (animation.action, slot))
        return found

    def play(self, clip: str) -> Floats:
        """Play a clip; return the joints that it is to have. Raises IK2DError where it did not come back."""
        expected = self._expected.clips[clip]
        if clip not in self._actions and np.ptp(expected, axis=0).max() < _STILL * self._expected.size:
            return expected  # formats leave out what does not move
        if clip not in self._actions:
            raise refusal(
                "The file came back without the clip '{clip}' of '{rig}', so nothing was written",
                clip=clip,
                rig=self._expected.rig,
            )
        animation = self._armature.animation_data
        animation.use_nla = False
        action, slot = self._actions[clip]
        animation.action = action
        if HAS_SLOTS:
            animation.action_slot = slot
        return expected

    def off(self, joints: Floats) -> float:
        """Return the largest distance of the joints shown from `joints` (2 bones, 3)."""
        graph = bpy.context.evaluated_depsgraph_get()
        shown = self._armature.evaluated_get(graph)
        bones = self._expected.bones
        heads, tails = joints[: len(bones)][self._rows], joints[len(bones) :][self._rows]
        matrices = np.array(shown.matrix_world) @ pose_matrices(shown, [bones[row] for row in self._rows])
        along = matrices[:, :3, 1] / np.linalg.norm(matrices[:, :3, 1], axis=1)[:, None]
        ends = matrices[:, :3, 3] + along * np.linalg.norm(tails - heads, axis=1)[:, None]
        off = np.linalg.norm([matrices[:, :3, 3] - heads, ends - tails], axis=2)
        return float(off.max())
