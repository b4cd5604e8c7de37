# SPDX-License-Identifier: GPL-3.0-or-later
"""The side to which a chain bends, and the place of its pole, with which it solves to a pose."""

from collections.abc import Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...bake.now import poses_around, solve_samples
from ...bake.solving.frames import SolvedChain
from ...core import IK2DError
from ...core.inputs import Floats, wrapped
from ...core.swing import POST
from ...core.words import say
from ...rig.animation.bone_channels import matrices
from ...rig.animation.value_keys import acting_driver
from ...rig.chain.chain import RigChain
from ...rig.chain.dependencies import acting
from ...rig.pose.bone_matrices import first_rotations
from ...rig.pose.swings import turned_planes, turned_poles
from ...rig.pose.target_moves import why_fixed
from ...rig.scene.samples import ChainSamples
from .targets import MatchView, locations_on_tips

# A chain changes its bend side only if the joints come nearer on the other side by so much, in radians.
# With two bones only one side is right; with more, both may be off, and each change of sides is a jump.
_NEARER, _MUCH_NEARER = 1e-4, np.radians(5.0)
_SIDES = (1.0, -1.0)
# A plane that is off by no more (radians) stays as it is turned.
_SAME_TURN = 1e-5


def as_target(rig: RigChain) -> RigChain:
    """Return a chain with its pole in place of its target, for what moves targets."""
    assert rig.pole is not None
    return replace(rig, target=rig.pole[0], subtarget=rig.pole[1], pole=None, swing=None)


def pole_locations(
    view: MatchView, rig: RigChain, posed: ChainSamples, solved: SolvedChain, others: Sequence[RigChain]
) -> Floats:
    """Return the locations (frames, 3) of a pole that turn the first bone as it is posed.

    posed: as the bones' own keys have them, with the target on the tip. solved: the chain there, with the
    pole where it is now. others: all chains that are matched. Raises IK2DError where the pole cannot be
    moved, or others follow it.
    """
    assert rig.pole is not None and solved.swings is not None
    sharing = [other.name for other in others if other.name != rig.name and rig.pole in other.followed]
    reason = why_fixed(*acting(rig.pole)[0], constrained=True)
    if reason or sharing:
        raise IK2DError(reason or say("chain '{sharing}' follows it too", sharing=sharing[0]))
    (locations,), _ = locations_on_tips(view, [as_target(rig)], [pole_places(rig, posed, solved)])
    return locations


def pole_places(rig: RigChain, posed: ChainSamples, solved: SolvedChain) -> Floats:
    """Return the places (frames, 3), in the world, of a pole that turn the first bone as it is posed.

    It goes round the line from root to target. Arguments as above.
    """
    assert solved.swings is not None
    now = first_rotations(rig, solved.turns[:, 0], solved.swings)
    return turned_poles(rig, posed, own_rotations(rig, posed, 0) @ now.swapaxes(1, 2))


def turns_on(rig: RigChain) -> bool:
    """Return whether Plane Turn can turn a chain's first bone about the line to its target."""
    follows = rig.swing is not None and rig.swing.rule != POST and rig.pole is None
    if not follows or rig.settings.native is not None:
        return False
    return acting_driver(rig.armature, f"{rig.settings.path}.plane_turn") is None


def plane_turns(
    scene: bpy.types.Scene, rig: RigChain, posed: ChainSamples, times: Sequence[float]
) -> Floats | None:
    """Return the turns of the plane (frames,), radians, with which the first bone is as it is posed.

    posed: with the settings that the chain will have. None for those that it has.
    """
    if not turns_on(rig):
        return None
    solved = solved_at(scene, rig, posed, times)
    assert solved.swings is not None
    now = first_rotations(rig, solved.turns[:, 0], solved.swings)
    turns = turned_planes(rig, posed, own_rotations(rig, posed, 0) @ now.swapaxes(1, 2))
    if np.abs(wrapped(turns - posed.plane_turn)).max() <= _SAME_TURN:
        return None
    return np.unwrap(turns)


def turned_on(rig: RigChain, turns: Floats | None) -> RigChain:
    """Return a chain whose plane is turned as on the first of some frames; None: as it is."""
    if turns is None or rig.swing is None:
        return rig
    return replace(rig, swing=replace(rig.swing, turn=float(turns[0])))


def own_rotations(rig: RigChain, posed: ChainSamples, bone: int) -> Floats:
    """Return the local rotations (frames, 3, 3) that a bone's own channels give it, without scale."""
    axes = posed.bases[:, bone, :3, :3]
    signs = np.where(np.array(rig.pose_bones[bone].scale) < 0.0, -1.0, 1.0)
    rotations: Floats = axes / np.linalg.norm(axes, axis=1, keepdims=True) * signs
    return rotations


def stays(rig: RigChain, why: IK2DError) -> str:
    """Return the sentence that a pole stays where it is."""
    assert rig.pole is not None
    name = rig.pole[1] or rig.pole[0].name
    return say(
        "Chain '{chain}': its pole '{name}' stays where it is ({why}), so that the bones may turn",
        chain=rig.name,
        name=name,
        why=why,
    )


# --- Bend sides --------------------------------------------------------------


def solved_at(
    scene: bpy.types.Scene, rig: RigChain, samples: ChainSamples, times: Sequence[float]
) -> SolvedChain:
    """Return the chain solved as in a bake of these frames, at full influence."""
    return solve_samples(scene, rig, samples, times, poses_around(scene, rig, times), fully=True)


def joint_errors(solved: SolvedChain, posed: ChainSamples) -> Floats:
    """Return the angles (frames, n) between each bone's own rotation and the solved one, in radians."""
    rig = solved.rig
    errors = np.zeros_like(solved.turns)
    for i in range(len(rig.bones)):
        if rig.joints.fixed[i]:
            continue
        unled = own_rotations(rig, posed, i)
        if i == 0 and solved.swings is not None:
            turned = first_rotations(rig, solved.turns[:, 0], solved.swings)
        else:
            axes = np.tile(rig.joints.axes[i], (len(unled), 1))
            turned = matrices('AXIS_ANGLE', np.column_stack((solved.turns[:, i], axes)))
        half = np.linalg.norm(unled - turned, axis=(1, 2)) / np.sqrt(8.0)  # the sine of half the angle
        errors[:, i] = 2.0 * np.arcsin(np.clip(half, 0.0, 1.0))
    return errors


def nearest_sides(
    scene: bpy.types.Scene,
    rig: RigChain,
    posed: ChainSamples,
    times: Sequence[float],
    *,
    poled: bool = False,
) -> Floats:
    """Return the bend sides (frames,), +1 or -1, whose solved joints are nearest to the posed ones.

    A chain with a pole keeps its side: the pole goes to where the joints are. poled: it has the side of the
    joints after the first, which the pole turns. So has a plane that can be turned on.
    """
    first = int(poled and rig.pole is not None or turns_on(rig))
    if rig.pole is not None and not poled or len(rig.bones) == first:
        return np.full(len(times), np.sign(rig.settings.bend) or 1.0)
    errors = {}
    for side in _SIDES:
        samples = posed.with_settings(softness=0.0, bend=side)
        errors[side] = joint_errors(solved_at(scene, rig, samples, times), posed)[:, first:].max(axis=1)
    nearer = _NEARER if len(rig.bones) == 2 else _MUCH_NEARER
    better = errors[-1.0] - errors[1.0]  # over 0 where the positive side is nearer
    clear = np.abs(better) > nearer
    if not clear.any():
        return np.full(len(times), np.sign(rig.settings.bend) or 1.0)
    last = np.maximum.accumulate(np.where(clear, np.arange(len(times)), np.argmax(clear)))
    sides: Floats = np.sign(better[last])
    return sides
