# SPDX-License-Identifier: GPL-3.0-or-later
"""The request of a bake: its options, its frames, and the chains that it takes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index

import bpy
import numpy as np

from ..core import IK2DError
from ..core.words import refusal, say
from ..rig.animation import versions
from ..rig.chain.chain import RigChain, read_chain
from ..rig.chain.dependencies import Movers
from ..rig.chain.order import refuse_moved_target, refuse_shared
from ..rig.chain.readable import in_words
from ..rig.chain.renames import needed_chain, straighten
from ..rig.pose.posts import with_all_controls
from ..rig.scene.bone_constraints import reaching_of
from ..rig.scene.missing_inputs import with_inputs_checked
from ..rig.scene.own_scene import scene_showing
from .actions.arguments import INTO_NEW, INTO_THIS
from .playback import VERIFY_ALL, VERIFY_NOTHING, VERIFY_SAMPLE

# Blender has no frames further from 0 than this.
FRAMES = 1048574


@dataclass(frozen=True)
class BakeOptions:
    """Options of a bake beyond keying every frame.

    verify: 'SAMPLE' measures all frames and half-way times: from the keys where these alone turn the bones,
    and plays all of them back where constraints, drivers or strips may turn them too; 'ALL' always plays
    all of them back, 'NONE' none.
    reduce: over 0, key as few frames as keep the tip this near (a length in the world) to where it
    would be with all keyed, between the keys too; hands and feet turn by no more than what moves the
    furthest end of what hangs on them so far. on_target_keys: key only where the target has keys
    itself, and the first and the last frame. single_axis: give each bone that turns about its own X
    or Z one Euler angle curve; sets its rotation mode. force: bake chains too that depend on a driver
    that does not run, or on a missing library; such a chain never counts as reached. ease_flips: turn
    planes that follow a target or a pole smoothly where they might flip; the tips stay where they are.
    into: 'THIS' keys the actions themselves, 'NEW' copies of them, "Walk baked". assign_baked: whether the
    copy takes the place of the action that is assigned; None: only where no actions are asked for.
    """

    verify: str = VERIFY_SAMPLE
    reduce: float = 0.0
    on_target_keys: bool = False
    single_axis: bool = False
    force: bool = False
    ease_flips: bool = False
    into: str = INTO_THIS
    assign_baked: bool | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.verify, str) or self.verify not in (VERIFY_SAMPLE, VERIFY_ALL, VERIFY_NOTHING):
            raise IK2DError(f"verify must be 'SAMPLE', 'ALL' or 'NONE', not {self.verify!r}")
        if not isinstance(self.reduce, (int, float, np.integer, np.floating)) or isinstance(
            self.reduce, bool
        ):
            raise IK2DError(f"reduce must be a length of 0 or more, not {self.reduce!r}")
        if not 0.0 <= self.reduce < np.inf:
            raise IK2DError(f"reduce must be a length of 0 or more, not {self.reduce}")
        for name in ("on_target_keys", "single_axis", "force", "ease_flips"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise IK2DError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if not isinstance(self.into, str) or self.into not in (INTO_THIS, INTO_NEW):
            raise IK2DError(f"into must be 'THIS' or 'NEW', not {self.into!r}")
        if not isinstance(self.assign_baked, (bool, np.bool_, type(None))):
            raise IK2DError(f"assign_baked must be True, False or None, not {self.assign_baked!r}")
        if self.reduce and self.on_target_keys:
            raise refusal("Keys are either reduced or on the target's own key frames; turn off one of them")


def chosen_range(armature: bpy.types.Object, scene: bpy.types.Scene) -> tuple[int, int, int]:
    """Return the first frame, last frame and step in the sidebar: the rig's own, else the scene's."""
    settings = armature.ik2d
    if settings.use_custom_range:
        return settings.frame_start, settings.frame_end, settings.frame_step
    return scene.frame_start, scene.frame_end, 1


def chosen_options(settings: bpy.types.PropertyGroup) -> BakeOptions:
    """Return the options of a bake that the sidebar shows; raise IK2DError where they are damaged."""
    try:
        return BakeOptions(
            verify=settings.verify,
            reduce=settings.reduce_error if settings.use_reduce else 0.0,
            on_target_keys=settings.on_target_keys,
            single_axis=settings.single_axis,
            ease_flips=settings.ease_flips,
        )
    except IK2DError as error:
        raise refusal(
            "The bake options of '{armature}' are not valid: {error}",
            armature=settings.id_data.name,
            error=error,
        ) from None


def checked_options(options: BakeOptions | None) -> BakeOptions:
    """Return the options, `BakeOptions()` for None; raise IK2DError for anything else."""
    if options is not None and not isinstance(options, BakeOptions):
        raise IK2DError(f"options takes BakeOptions, not {options!r}")
    return options or BakeOptions()


def frame_range(scene: bpy.types.Scene, start: int | None, end: int | None, step: int) -> list[int]:
    """Return the frames from `start` to `end`, which is always the last; None takes the scene's.

    Raises IK2DError for frames that are not whole numbers or beyond Blender's, a reversed range, and a
    step below one.
    """
    start = scene.frame_start if start is None else start
    end = scene.frame_end if end is None else end
    try:
        if bool in map(type, (start, end, step)):
            raise TypeError
        start, end, step = index(start), index(end), index(step)
    except TypeError:
        raise IK2DError(f"Frames are whole numbers, not {start!r}, {end!r} and {step!r}") from None
    for frame in (start, end):
        if abs(frame) > FRAMES:
            raise refusal(
                "Blender has no frame {frame}, only {frames} to {frames_2}; choose one of these",
                frame=frame,
                frames=-FRAMES,
                frames_2=FRAMES,
            )
    if end < start:
        raise refusal(
            "The frame range {start} to {end} is reversed; give the first frame before the last",
            start=start,
            end=end,
        )
    if step < 1:
        raise refusal("The step from frame to frame must be 1 or more, not {step}", step=step)
    frames = list(range(start, end + 1, step))
    return frames if frames[-1] == end else [*frames, end]


def armatures_to_bake(given: bpy.types.Object | Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Return the one armature given, or the several; raise IK2DError for none."""
    single = isinstance(given, (bpy.types.Object, str)) or not isinstance(given, Iterable)
    armatures = [given] if single else list(given)
    if not armatures:
        raise IK2DError("No armature is given; give one or more armature objects")
    return armatures


def scene_of_all(armatures: Sequence[bpy.types.Object], play_others: bool = False) -> bpy.types.Scene:
    """Return the scene to bake all armatures in; raise IK2DError for one that cannot be baked with others.

    play_others: whether they get other actions than they play now, which two of them may share.
    """
    scenes = [scene_of(armature) for armature in armatures]
    for place, (armature, scene) in enumerate(zip(armatures, scenes, strict=True)):
        if armature in armatures[:place]:
            raise refusal("'{armature}' is given twice; give each armature once", armature=armature.name)
        if scene != scenes[0]:
            raise refusal(
                "'{armature}' is in the scene '{scene}' and '{armature_2}' in '{scene_2}'; bake the "
                "armatures of one scene at a time",
                armature=armatures[0].name,
                scene=scenes[0].name,
                armature_2=armature.name,
                scene_2=scene.name,
            )
        sharing = versions.sharing_channels(armature) if place and not play_others else ()
        for other in armatures[:place]:
            if other in sharing:
                raise refusal(
                    "'{other}' and '{armature}' play the same action, so each would get the keys of the "
                    "other; give one of them a copy of it",
                    other=other.name,
                    armature=armature.name,
                )
    return scenes[0]


def read_rigs(
    armature: bpy.types.Object, names: Sequence[str] | None, frames: Sequence[float], force: bool = False
) -> tuple[list[RigChain], list[str]]:
    """Read the chains named, or all enabled ones; return them, and the faults of those left out.

    Each has a warning for other controls of its bones on the frames. Of all enabled ones, those that are
    faulty, or share a bone with one before them, are left out. force: as in `BakeOptions`. Raises
    IK2DError where there are none, where a named one is faulty, and where all are.
    """
    rigs, faults = read_solvable(armature, names, force)
    if faults and (names is not None or not rigs):
        raise IK2DError(faults[0])
    reaching = reaching_of(armature)
    noted = [with_all_controls(rig, frames[0], frames[-1], reaching) for rig in rigs]
    return noted, [say("Left out: {fault}", fault=fault) for fault in faults]


def read_solvable(
    armature: bpy.types.Object, names: Sequence[str] | None, force: bool
) -> tuple[list[RigChain], list[str]]:
    """Return the chains that can be solved, and a sentence for each other one that was asked for."""
    straighten(armature)
    chosen = _chosen(armature, names)
    bpy.context.view_layer.update()  # so that Blender has tried all drivers
    in_scenes, movers = {ob for scene in bpy.data.scenes for ob in scene.objects}, Movers()
    rigs: list[RigChain] = []
    faults: list[str] = []
    owners: dict[str, str] = {}
    for settings in chosen:
        try:
            rig = read_chain(armature, settings, lost_target=force)
            rig = with_inputs_checked(rig, force, in_scenes, movers)
            if names is None:
                refuse_shared([rig], owners)
                refuse_moved_target(rig, movers)
        except IK2DError as error:
            faults.append(str(error))
        else:
            rigs.append(rig)
            owners.update(dict.fromkeys(rig.turned_bones, rig.name))
    return rigs, faults


def scene_of(armature: bpy.types.Object) -> bpy.types.Scene:
    """Return the scene to bake in; raise IK2DError for an object that cannot be baked."""
    if isinstance(armature, bpy.types.Object) and not _is_there(armature):
        raise IK2DError("The armature to bake was deleted; get it anew from bpy.data.objects")
    if not isinstance(armature, bpy.types.Object) or armature.type != 'ARMATURE':
        name = getattr(armature, "name", armature)
        raise refusal("'{name}' is not an armature; choose an armature object", name=name)
    if not armature.is_editable:
        raise refusal(
            "'{armature}' is linked from another file and cannot be keyed; make a library "
            "override of it (Object > Library Override > Make)",
            armature=armature.name,
        )
    if armature.data.is_editmode:
        raise refusal(
            "'{armature}' is in Edit Mode, here or as another object; leave it (Tab)",
            armature=armature.name,
        )
    if armature.data.pose_position == 'REST':
        raise refusal(
            "'{armature}' shows its rest position; set it to Pose Position first", armature=armature.name
        )
    scene = scene_showing(armature)
    if scene is None:
        raise refusal("'{armature}' is in no scene; link it to one first", armature=armature.name)
    return scene


def _is_there(ob: bpy.types.Object) -> bool:
    """Return whether an object was not deleted meanwhile."""
    try:
        return bool(ob.name is not None)
    except ReferenceError:
        return False
    except UnicodeDecodeError as error:
        raise IK2DError(in_words(error)) from None


def _chosen(armature: bpy.types.Object, names: Sequence[str] | None) -> list[bpy.types.PropertyGroup]:
    """Return the settings of the chains named, or of all enabled ones."""
    stored = armature.ik2d.chains
    if isinstance(names, str):
        raise IK2DError(f"chains takes a list of names; write ['{names}']")
    if names is not None and not isinstance(names, Iterable):
        raise IK2DError(f"chains takes a list of names, not {names!r}")
    if names is None:
        chosen = [chain for chain in stored if chain.enabled]
        if not chosen:
            raise refusal(
                "'{armature}' has no enabled chain; add one in the IK 2D tab of the sidebar",
                armature=armature.name,
            )
        return chosen
    chosen = []
    for name in list(names):
        if not isinstance(name, str):
            raise IK2DError(f"chains takes a list of names, and {name!r} is none")
        chain = needed_chain(armature, name)
        if chain not in chosen:
            chosen.append(chain)
    if not chosen:
        raise IK2DError("No chain is named; name one or more")
    return chosen
