# SPDX-License-Identifier: GPL-3.0-or-later
"""The kept frames of all live chains: filled where frames follow one another, dropped by an edit."""

from collections.abc import Sequence
from time import perf_counter

import bpy

from ...core import IK2DError
from ...core.solution import Steps, drained
from ...rig.animation.times import evaluated_times
from ..mechanism import Live
from .blocks import solved_rows
from .poses import KeptPoses
from .rows import BLOCK, Frame, RangeKey

# Bytes of memory for all kept frames, and frames of the longest block that is solved at once.
MOST = 64 << 20
_LONGEST = 4 * BLOCK
# Frames further apart than this do not follow one another.
_NEXT = 16.0
# Seconds of a turn in idle time, and frames that are solved in all turns at most.
_TURN, _IN_IDLE_TIME = 0.008, 1 << 16


class Kept:
    """The frames of all live chains that are kept, by armature."""

    def __init__(self, rounds: Sequence[Sequence[Live]]) -> None:
        """Take all live chains, in rounds: each after the chains that it hangs on."""
        by_armature: dict[bpy.types.Object, list[Live]] = {}
        for ready in rounds:
            for chain in ready:
                by_armature.setdefault(chain.armature, []).append(chain)
        most = MOST // max(1, len(by_armature))
        every = [KeptPoses(ob, chains, most) for ob, chains in by_armature.items()]
        self._poses = {poses.armature: poses for poses in every if not poses.are_keyed}
        self._all = len(self._poses) == len(by_armature)
        self._depend = len(rounds) > 1
        # Those whose frames are solved ahead, and how many frames the next block has.
        self._lengths = {
            poses: BLOCK
            for poses in self._poses.values()
            if not self._depend and all(chain.can_be_solved_ahead for chain in poses.chains)
        }
        self._before: Frame | None = None  # the frame before
        self._written: list[KeptPoses] = []
        self._noted: tuple[Frame, str] | None = None  # a frame that was followed, and its view layer
        self._filling: Steps[None] | None = None  # in idle time
        self._idle = _IN_IDLE_TIME  # frames that are left to be solved in it

    def pose(self, scene: bpy.types.Scene) -> None:
        """Pose the chains that are kept for the frame that a scene goes to."""
        frame, before = frame_of(scene), self._before
        if self._noted is not None:
            self._remember(scene)
        self._before, self._written = frame, []
        goes_on = before is not None and before[0] == frame[0] and abs(frame[1] - before[1]) <= _NEXT
        every = list(self._poses.values())
        for poses in every if goes_on else ():
            if (poses.goes_on or frame not in poses) and poses.is_useful:
                self._fill_now(scene, poses, -1 if frame[1] < before[1] else 1)
        if self._depend and not (self._all and all(frame in poses for poses in every)):
            return
        for poses in every:
            if poses.is_useful:
                poses.write(frame)
                self._written.append(poses)

    def shown(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> set[Live]:
        """Return the chains that a depsgraph shows as they were kept."""
        chains: set[Live] = set()
        frame = frame_of(scene)
        for poses in self._written:
            if poses.is_shown(depsgraph):
                as_baked = poses.is_as_baked(frame)
                for chain in poses.chains:
                    chain.kept_in(frame, as_baked)
                chains.update(poses.chains)
        self._written = []
        return chains

    def take_back(self) -> bool:
        """Take back what was written for this frame, as bones were edited before; return whether it was."""
        taken = [poses for poses in self._written if poses.take_back()]
        return bool(taken)

    def forget_edited(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Forget the frames of armatures whose bones were edited before a depsgraph's frame."""
        edited = {update.id.original for update in depsgraph.updates}
        for poses in self._poses.values():
            data = poses.armature.data
            if data in edited and data.animation_data is None:  # else Blender says so on each frame
                poses.miss()

    def forget_grounds(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Forget the frames of feet on surfaces that have another shape on a depsgraph's frame."""
        on_surfaces = [poses for poses in self._poses.values() if poses.looks.surfaces]
        if on_surfaces:
            shaped = {update.id.original for update in depsgraph.updates if update.is_updated_geometry}
            for poses in on_surfaces:
                if not shaped.isdisjoint(poses.looks.surfaces):
                    poses.forget()

    def note(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, chains: set[Live]) -> None:
        """Note how chains were followed, to remember the frame once Blender shows it."""
        self._noted = None
        if depsgraph.mode != 'VIEWPORT':
            return
        for poses in self._poses.values():
            unseen = any(chain.depends_on_unseen for chain in poses.chains)
            if poses.is_useful and not unseen and chains.issuperset(poses.chains):
                poses.note()
                self._noted = frame_of(scene), depsgraph.view_layer.name

    def fill(self, scene: bpy.types.Scene) -> bool:
        """Solve frames of a scene's range ahead for a short while; return whether there are more."""
        end = perf_counter() + _TURN
        while perf_counter() < end:
            if self._filling is None:
                waiting = [each for each in self._lengths if each.is_useful and _is_in(each, scene)]
                self._filling = next((found for each in waiting if (found := self._ahead(scene, each))), None)
                if self._filling is None:
                    return False
            if next(self._filling, self) is self:
                self._filling = None
        return True

    def show(self, scene: bpy.types.Scene) -> list[Live]:
        """Pose the chains whose frame was solved from those before it since it was shown; return them."""
        frame, chains = frame_of(scene), []
        for poses in self._lengths:
            if poses.goes_on and frame in poses and poses.is_as_baked(frame):
                if not all(chain.is_as_baked for chain in poses.chains):
                    poses.write(frame)
                    chains += poses.chains
        for chain in chains:
            chain.kept_in(frame, True)
        return chains

    def awaits_range(self, chain: Live) -> bool:
        """Return whether a chain's pose is to come from the frames before, and does not yet."""
        poses = self._poses.get(chain.armature)
        return poses in self._lengths and poses.is_useful and chain.goes_on and not chain.is_as_baked

    def _remember(self, scene: bpy.types.Scene) -> None:
        """Remember the frame that was followed, which the view layer shows until the new one is evaluated."""
        noted, self._noted = self._noted, None
        if noted is None or noted[0][0] != scene.session_uid:
            return
        layer = scene.view_layers.get(noted[1])
        depsgraph = layer and layer.depsgraph
        if depsgraph is not None:
            for poses in self._poses.values():
                poses.remember(noted[0], depsgraph)

    def _fill_now(self, scene: bpy.types.Scene, poses: KeptPoses, way: int) -> None:
        """Solve the frames where a scene goes on, or back; its range where poses go on from frame to frame.

        The range takes longer: in a window it waits for idle time. way: +1 or -1.
        """
        if poses not in self._lengths or not _is_in(poses, scene):
            return
        if poses.goes_on:
            if bpy.app.background and not poses.has_range(_range_key(scene)) and _has_frame(scene):
                drained(self._solve(scene, poses, _range_of(scene, poses.most)))
            return
        length = self._lengths[poses]
        self._lengths[poses] = min(2 * length, _LONGEST)
        times = sorted(scene.frame_float + way * number for number in range(length))
        drained(self._solve(scene, poses, times))

    def _ahead(self, scene: bpy.types.Scene, poses: KeptPoses) -> Steps[None] | None:
        """Return the steps that solve the next block of a scene's range; None if all of it is kept."""
        times = _range_of(scene, min(poses.most, self._idle))
        if poses.goes_on:
            return None if poses.has_range(_range_key(scene)) else self._solve(scene, poses, times)
        frames = zip(times, frames_of(scene, times), strict=True)
        left = [time for time, frame in frames if frame not in poses]
        to_come = [time for time in left if time >= scene.frame_float]
        block = (to_come or left)[:BLOCK]
        self._idle -= len(block)  # so that it ends where there is no room for all
        return self._solve(scene, poses, block) if block else None

    def _solve(self, scene: bpy.types.Scene, poses: KeptPoses, times: list[float]) -> Steps[None]:
        """Solve and keep frames at times, in steps; where that cannot be, do so no more."""
        frames, key = frames_of(scene, times), _range_key(scene)  # which may be changed meanwhile
        try:
            rows = yield from solved_rows(scene, poses, times)
        except IK2DError:  # the frame itself says so where it is shown
            rows = None
        if rows is None:
            self._lengths.pop(poses, None)
        else:
            poses.add_block(frames, rows, key)


def _is_in(poses: KeptPoses, scene: bpy.types.Scene) -> bool:
    """Return whether a scene has the armature."""
    return scene in poses.armature.users_scene


def _has_frame(scene: bpy.types.Scene) -> bool:
    """Return whether a scene's frame is in its range."""
    return bool(scene.frame_start <= scene.frame_float <= scene.frame_end)


def _range_key(scene: bpy.types.Scene) -> RangeKey:
    render = scene.render
    return scene.session_uid, scene.frame_start, scene.frame_end, render.frame_map_old, render.frame_map_new


def _range_of(scene: bpy.types.Scene, most: int) -> list[float]:
    """Return the frames of a scene's range, as many as there is room for."""
    frames = range(scene.frame_start, min(scene.frame_end, scene.frame_start + most - 1) + 1)
    return list(map(float, frames))


def frame_of(scene: bpy.types.Scene) -> Frame:
    """Return a scene's frame as its actions count it."""
    return scene.session_uid, scene.frame_current_final


def frames_of(scene: bpy.types.Scene, times: Sequence[float]) -> list[Frame]:
    """Return frames of a scene as its actions count them."""
    return [(scene.session_uid, time) for time in evaluated_times(scene, times).tolist()]
