# SPDX-License-Identifier: GPL-3.0-or-later
"""Give the rig's own FK controls the solved pose, hands and feet along: its switch then changes nothing."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...bake.keys.keying import KeyedChain, KeyPlan
from ...bake.now import posed_chain, poses_around, solve, solve_samples
from ...bake.playback import VERIFY_ALL, Played, played
from ...bake.reporting.chain_report import ChainReport
from ...bake.reporting.report import BakeReport
from ...bake.reporting.verdict import report_of
from ...core.inputs import Floats
from ...core.words import noted, number_of, quoted, say
from ...rig.animation.bone_channels import ROTATIONS, BoneChannels
from ...rig.animation.kept.held import held, hold
from ...rig.animation.kept.marks import SNAP
from ...rig.animation.remembered import put_back, remembered
from ...rig.animation.value_keys import (
    ValueKeys,
    check_values,
    values_keyed,
    values_previewed,
)
from ...rig.chain.chain import RigChain
from ...rig.chain.order import in_order
from ...rig.pose.target_plane import facing_target
from ...ui.auto_keying import Moved, refuse_uneditable
from .control_keys import Reached, Wish, moved_by, reach, straight, switch_keys, tails_of
from .hindrances import hindrances
from .own_limbs import OwnLimb, Part, acting, switches_of
from .report import SAME_HANDS, SHOWN
from .targets import MatchView, current_pose, on_frames


@dataclass(frozen=True, eq=False)
class FkReport(BakeReport):
    """The report of chains whose rig has FK controls of its own."""

    controls: tuple[str, ...] = ()
    turned: float = 0.0  # radians that a bone of a limb is off its solved pose in FK
    moved: tuple[Moved, ...] = ()  # without keys
    switches: tuple[str, ...] = ()  # the properties that are the rigs' own switches
    others: BakeReport | None = None  # of chains without FK controls, which `chains` has too

    @property
    def all_reached(self) -> bool:
        """Whether FK has the solved pose."""
        return self.turned <= SAME_HANDS and (self.others is None or self.others.all_reached)

    def sentence(self) -> str:
        """Return the report on the keys made, and on how far limbs in FK are off the solved pose."""
        frames = len(self.chains[0].frames)
        verb = noted("Posed") if self.moved else noted("Keyed")
        done = say(
            "{verb} {controls} of {chains} on {frames}",
            verb=verb,
            controls=number_of(len(self.controls), "FK control"),
            chains=quoted(chain.name for chain in self._own),
            frames=number_of(frames, "frame"),
        )
        turn = say("{angle:.2g} degrees", angle=max(float(np.degrees(self.turned)), SHOWN))
        then = say("; now set {switches}", switches=', '.join(self.switches)) if self.switches else ""
        told = say("{done}; in FK the pose is the same within {turn}{then}", done=done, turn=turn, then=then)
        return f"{told}. {self.others.sentence()}" if self.others is not None else told

    @property
    def _own(self) -> tuple[ChainReport, ...]:
        """The chains whose rig has FK controls."""
        return self.chains[: len(self.chains) - (len(self.others.chains) if self.others else 0)]

    def with_others(self, others: BakeReport) -> "FkReport":
        """Return the report with chains whose own bones were posed."""
        return replace(
            self,
            chains=(*self.chains, *others.chains),
            rig_warnings=(*self.rig_warnings, *others.rig_warnings),
            others=others,
        )


def key_controls(
    scene: bpy.types.Scene,
    limbs: Sequence[OwnLimb],
    frames: Sequence[int],
    keyed: ExitStack,
    undo: ExitStack,
    *,
    switch: bool,
) -> FkReport:
    """Key the FK controls of limbs in their solved pose on frames; none: pose them now, without keys.

    switch: on the first of the frames they keep their values, up to the next one. keyed, undo: get what
    restores keys, and values without keys, if a later step fails. Raises IK2DError, with nothing changed,
    where a control cannot take keys.
    """
    armature = limbs[0].rig.armature
    rows = list(frames[1:] if switch else frames)
    with acting(limbs, fk=False):
        if rows:
            view = on_frames(scene, rows)
            with solved_shown(scene, [limb.rig for limb in limbs], rows) as report:
                shown = [_shown(view, limb) for limb in limbs]
        else:
            undo.callback(put_back, remembered(_bones_posed(limbs)))
            report = solve(armature, [limb.rig.name for limb in limbs], fully=True)
            view = current_pose(scene)
            shown = [_shown(view, limb) for limb in limbs]
    reached = []
    with acting(limbs, fk=True):
        for limb, poses in zip(limbs, shown, strict=True):
            wishes = [_wish(limb, part, poses[part.bone]) for part in limb.parts]
            reached.append(reach(view, limb.rig, wishes))
    keys = [one for each in reached for one in each.keys]
    moved: tuple[Moved, ...] = ()
    warnings: list[str] = []
    if rows:
        refuse_uneditable([armature])
        keys = switch_keys(scene, keys, frames[0]) if switch else keys
        warnings = check_values(keys)
        before = held(scene, [one.channel for one in keys], frames)
        keyed.enter_context(values_keyed(scene, keys, SNAP))
        for curve in before:
            hold(curve, SNAP)
    else:
        moved = moved_by(keys, undo)
    for limb, each in zip(limbs, reached, strict=True):
        warnings += hindrances(limb, each, view.times)
    return _told(report, limbs, reached, moved, warnings)


def _bones_posed(limbs: Sequence[OwnLimb]) -> Iterator[tuple[bpy.types.PoseBone, str]]:
    """Yield the properties of chains' bones that a solve poses."""
    for limb in limbs:
        for bone in limb.rig.pose_bones:
            yield from ((bone, name) for name in (*ROTATIONS, "location", "scale"))


def _told(
    report: BakeReport,
    limbs: Sequence[OwnLimb],
    reached: Sequence[Reached],
    moved: tuple[Moved, ...],
    warnings: Sequence[str],
) -> FkReport:
    controls = dict.fromkeys(part.control for limb in limbs for part in limb.parts)
    return FkReport(
        report.armature,
        report.chains,
        noted("Snapped"),
        report.full_scene,
        (*report.rig_warnings, *dict.fromkeys(warnings)),
        report.left_out,
        report.stepped,
        controls=tuple(controls),
        turned=max(float(each.turns.max(initial=0.0)) for each in reached),
        moved=moved,
        switches=tuple(dict.fromkeys(switch for limb in limbs for switch in switches_of(limb))),
    )


def _shown(view: MatchView, limb: OwnLimb) -> dict[str, Floats]:
    return view.poses(limb.rig, [part.bone for part in limb.parts])


def _wish(limb: OwnLimb, part: Part, pose: Floats) -> Wish:
    """Return the wish for a part of a limb in a pose (frames, 4, 4)."""
    axes, tails = straight(pose), tails_of(limb.rig, part.bone, pose)
    if not part.places:
        return Wish(part.control, part.bone, axes, tails=tails if part in limb.joints else None)
    return Wish(part.control, part.bone, axes, pose[:, :3, 3], pose[:, :3, :3])


# --- The solved pose ---------------------------------------------------------


@contextmanager
def solved_shown(
    scene: bpy.types.Scene, rigs: Sequence[RigChain], frames: Sequence[int]
) -> Iterator[BakeReport]:
    """Show chains as solved at full influence on frames for a while; yield the report of that."""
    view, done = on_frames(scene, frames), list[KeyedChain]()
    with ExitStack() as shows:
        for ready in in_order(rigs):
            chains = []
            for rig, samples in zip(ready, view.sample(ready), strict=True):
                if rig.settings.native is not None:
                    continue
                rig = facing_target(rig, samples)
                solved = solve_samples(
                    scene, rig, samples, frames, poses_around(scene, rig, frames), fully=True
                )
                whole = samples.with_settings(influence=1.0)
                chains.append(posed_chain(scene, solved, whole, frames))
            shows.enter_context(values_previewed(scene, list(_keys(chains, frames))))
            done += chains
        yield _report(scene, view, done, frames)


def _keys(chains: Sequence[KeyedChain], frames: Sequence[int]) -> Iterator[ValueKeys]:
    """Yield the keys of solved chains' bones, hands included."""
    for chain in chains:
        armature = chain.solved.rig.armature
        for one in chain.channels:
            bone = armature.pose.bones[one.bone]
            path = bone.path_from_id(one.property)
            for index in one.channels if isinstance(one, BoneChannels) else range(one.values.shape[1]):
                values = np.broadcast_to(one.values[:, index], len(frames))
                yield ValueKeys(armature, path, index, frames, values, one.bone)


def _report(
    scene: bpy.types.Scene, view: MatchView, chains: Sequence[KeyedChain], frames: Sequence[int]
) -> BakeReport:
    rigs, times = [chain.solved.rig for chain in chains], np.array(frames, np.float64)
    shown: list[Played] = [
        played(chain, samples, times, times) for chain, samples in zip(chains, view.sample(rigs), strict=True)
    ]
    plan = KeyPlan.every(frames)
    return report_of(rigs[0].armature, scene, chains, plan, shown, verb=noted("Snapped"), verified=VERIFY_ALL)
