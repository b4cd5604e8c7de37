# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a control from bringing its bone where it is wanted, in words: locks, limits, others."""

from collections.abc import Iterator, Sequence

import bpy
import numpy as np
from mathutils import Matrix

from ...bake.lengths import Units, length_text
from ...core.inputs import Floats
from ...core.words import listed, noted, quoted, say
from ...rig.animation.bone_channels import ROTATIONS, locked_channels
from ...rig.chain.dependencies import acts_now
from ...rig.pose.channels import is_locked
from ...rig.pose.measures import rest_reach
from .control_keys import Reached, Wish
from .own_limbs import OwnLimb
from .report import SAME_HANDS, SAME_TIPS

# Values that a lock or limit changes by less are as wanted: radians, or a part of the length.
_SAME = 1e-5
# The properties with limits: the constraint's kind, and the word for it.
_LIMITS = {
    "rotation": ('LIMIT_ROTATION', noted("Rotation")),
    "location": ('LIMIT_LOCATION', noted("Location")),
    "scale": ('LIMIT_SCALE', noted("Scale")),
}


def hindrances(limb: OwnLimb, reached: Reached, times: Sequence[float]) -> Iterator[str]:
    """Yield a sentence for each control that leaves its bone off, with the channels that are the cause."""
    armature, told = limb.rig.armature, set()
    length = rest_reach(limb.rig)
    for k, wish in enumerate(reached.wishes):
        turned, placed = reached.turns[:, k], reached.places[:, k]
        if turned.max() <= SAME_HANDS and placed.max() <= SAME_TIPS * length or wish.control in told:
            continue
        told.add(wish.control)
        yield _sentence(armature, wish, reached.wanted.get(wish.control, {}), turned, placed, times)


def _sentence(
    armature: bpy.types.Object,
    wish: Wish,
    wanted: dict[str, Floats],
    turned: Floats,
    placed: Floats,
    times: Sequence[float],
) -> str:
    """Return the sentence on a control: its locks and limits, else that something else moves its bone."""
    control = armature.pose.bones[wish.control]
    is_turned = turned.max() > SAME_HANDS
    worst = int(np.argmax(turned if is_turned else placed))
    scale = float(np.cbrt(abs(armature.matrix_world.determinant())))
    off = (
        say("{angle:.2g} degrees", angle=float(np.degrees(turned[worst])))
        if is_turned
        else length_text(placed[worst] * scale, Units.of(bpy.context.scene))
    )
    said = {"control": control.name, "bone": wish.bone, "off": off, "frame": times[worst]}
    if locked := list(_locked(control, wanted)):
        return say(
            "Control '{control}': locks on {channels} leave '{bone}' up to {off} off (frame {frame:g}); "
            "unlock them to match it",
            channels=listed(locked),
            **said,
        )
    limits = [(each, channels) for each, channels in _limited(control, wanted) if channels]
    if limits:
        return say(
            "Control '{control}': {limits} limits its {channels}, which leaves '{bone}' up to {off} off "
            "(frame {frame:g})",
            limits=quoted(each.name for each, _ in limits),
            channels=listed(dict.fromkeys(one for _, channels in limits for one in channels)),
            **said,
        )
    return say(
        "Control '{control}': something else moves '{bone}', which is up to {off} off (frame {frame:g})",
        **said,
    )


def _locked(control: bpy.types.PoseBone, wanted: dict[str, Floats]) -> Iterator[str]:
    """Yield the locked channels that would have to change."""
    for name, values in wanted.items():
        if name in ROTATIONS:
            four = len(getattr(control, name)) == 4
            locks = [True] * (4 if four else 3) if is_locked(control) else locked_channels(control)
            letters, word, now = "WXYZ" if four else "XYZ", noted("Rotation"), None
        else:
            locks = list(getattr(control, f"lock_{name}"))
            letters, word = "XYZ", _LIMITS[name][1]
            now = np.array(getattr(control, name))
        for index, letter in enumerate(letters):
            off = now is None or np.abs(values[:, index] - now[index]).max() > _SAME
            if locks[index] and off:
                yield say("{property} {axis}", property=word, axis=letter)


def _limited(
    control: bpy.types.PoseBone, wanted: dict[str, Floats]
) -> Iterator[tuple[bpy.types.Constraint, list[str]]]:
    """Yield the limits that act on a control, with the channels that would leave them."""
    for name, (kind, word) in _LIMITS.items():
        values = _wanted_values(control, name, wanted)
        for each in control.constraints:
            if each.type != kind or not acts_now(each) or values is None:
                continue
            channels = [
                say("{property} {axis}", property=word, axis=letter)
                for index, letter in enumerate("XYZ")
                if _leaves(each, kind, letter.lower(), values[:, index])
            ]
            yield each, channels


def _wanted_values(control: bpy.types.PoseBone, name: str, wanted: dict[str, Floats]) -> Floats | None:
    if name != "rotation":
        return wanted.get(name)
    turned = next((values for key, values in wanted.items() if key in ROTATIONS), None)
    if turned is None:
        return None
    return np.array([Matrix(each).to_euler() for each in turned.tolist()], np.float64)


def _leaves(each: bpy.types.Constraint, kind: str, axis: str, values: Floats) -> bool:
    """Return whether values (frames,) about or along an axis leave a limit."""
    if kind == 'LIMIT_ROTATION':
        least, most = getattr(each, f"use_limit_{axis}"), getattr(each, f"use_limit_{axis}")
    else:
        least, most = getattr(each, f"use_min_{axis}"), getattr(each, f"use_max_{axis}")
    below = least and values.min() < getattr(each, f"min_{axis}") - _SAME
    above = most and values.max() > getattr(each, f"max_{axis}") + _SAME
    return bool(below or above)
