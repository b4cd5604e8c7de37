# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a chain that may change their length by scale, and their own scale."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import Stretch
from ...core.inputs import Floats
from ...core.stretch import MOST
from ...core.words import refusal, say
from ..animation import keys
from ..animation.fcurves import column
from ..animation.value_keys import acting_driver, curve_of
from .native_state import controls_of

# The channel of a bone's scale that lengthens it.
ALONG = 1
# Values of Inherit Scale: a bone takes none of its parent's scale, or the same along itself.
_TAKES_NONE, _TAKES_ALIGNED = ('NONE', 'NONE_LEGACY'), 'ALIGNED'
# The limits of chains that do not stretch, by whether their last bones alone would.
_OFF = {last_only: Stretch(last_only=last_only) for last_only in (False, True)}
# Keys whose values differ by less than this part hold still.
_STILL = 1e-6


@dataclass(frozen=True, eq=False)
class Stretching:
    """The limits of a stretching chain of n bones, and the bones' own scale."""

    limits: Stretch  # off: its bones only go back to their own scale
    bases: Floats  # (n,) scale along each bone without the chain
    aligned: NDArray[np.bool_]  # (n,) bones that get the factor of the one before them without a key

    def own_factors(self, factors: Floats) -> Floats:
        """Return the factors (frames, n) of the bones' own scale, for those of their lengths (frames, n)."""
        scaled = factors.copy()
        scaled[:, 1:] /= np.where(self.aligned[1:], factors[:, :-1], 1.0)
        return scaled

    @property
    def scaled(self) -> NDArray[np.bool_]:
        """(n,) bones whose own scale changes at all."""
        if self.limits.is_off:
            return np.zeros(len(self.bases), np.bool_)
        if self.limits.last_only:
            return np.array([*[False] * (len(self.bases) - 1), True])
        return np.logical_not(self.aligned)

    def scaled_bases(self, bases: Floats, factors: Floats | None = None) -> Floats:
        """Return the bones' own matrices (frames, n, 4, 4) with their own scale, times factors (frames, n).

        A scale that an earlier bake has keyed does not count.
        """
        lengths = np.linalg.norm(bases[:, :, :3, ALONG], axis=2)
        wanted = np.abs(self.bases) * (1.0 if factors is None else self.own_factors(factors))
        changed = bases.copy()
        changed[:, :, :3, ALONG] *= (wanted / np.where(lengths > 0.0, lengths, 1.0))[..., None]
        return changed


def read_stretching(settings: bpy.types.PropertyGroup, bones: list[bpy.types.PoseBone]) -> Stretching | None:
    """Return the stretching of a chain of pose bones; None where it does not, and never did.

    Raises IK2DError where scale keys would shear or thicken a bone, or cannot lengthen it.
    """
    limits = _limits(settings)
    if limits.is_off and not any(_was_scaled(settings, bone) for bone in bones):
        return None
    refuse_unstretchable(settings, bones)
    return Stretching(
        limits,
        np.array([_base(settings, bone, limits) for bone in bones]),
        np.array([i > 0 and bone.bone.inherit_scale == _TAKES_ALIGNED for i, bone in enumerate(bones)]),
    )


def refuse_unstretchable(settings: bpy.types.PropertyGroup, bones: Sequence[bpy.types.PoseBone]) -> None:
    """Raise IK2DError for a bone that would shear or thicken, or whose scale is not free; looks at no key."""
    limits = _limits(settings)
    if limits.is_off:
        return
    name = settings.name
    for bone in () if limits.last_only else bones[1:]:
        how = bone.bone.inherit_scale
        if how not in (*_TAKES_NONE, _TAKES_ALIGNED):
            label = bone.bone.bl_rna.properties["inherit_scale"].enum_items[how].name
            does = say("grow thicker") if how == 'AVERAGE' else say("shear")
            raise refusal(
                "Chain '{name}': stretched, the bone '{bone}' would {effect}, since it inherits "
                "scale by '{label}'; set its Inherit Scale to Aligned or None, or stretch the last "
                "bone only",
                name=name,
                bone=bone.name,
                effect=does,
                label=label,
            )
    for bone in bones[-1:] if limits.last_only else bones:
        what = say("Chain '{name}' stretches, but the Y Scale of bone '{bone}'", name=name, bone=bone.name)
        if bone.lock_scale[ALONG]:
            raise refusal("{what} is locked; unlock it, or set Stretch and Shortest Length to 1", what=what)
        if acting_driver(bone.id_data, bone.path_from_id("scale"), ALONG):
            raise refusal(
                "{what} is driven; remove the driver, or set Stretch and Shortest Length to 1", what=what
            )
        if settings.joints.get(bone.name) is None:
            raise refusal("Chain '{name}': its joints do not match its bones; press Update Joints", name=name)


def carried_note(chain: str, bones: Sequence[bpy.types.PoseBone], stretching: Stretching) -> tuple[str, ...]:
    """Return a sentence for the first bone outside the chain that is scaled with it; () for none."""
    names = {bone.name for bone in bones}
    long = bones[-1:] if stretching.limits.last_only else bones
    carried = [
        child
        for bone in ([] if stretching.limits.is_off else long)
        for child in bone.children
        if child.name not in names and child.bone.inherit_scale not in _TAKES_NONE
    ]
    if not carried:
        return ()
    more = say(", and {count} more", count=len(carried) - 1) if carried[1:] else ""
    return (
        say(
            "Chain '{chain}': bone '{carried}'{more}, which hangs on it, is scaled as it "
            "stretches; set Inherit Scale to None to keep its size",
            chain=chain,
            carried=carried[0].name,
            more=more,
        ),
    )


def scale_curve(bone: bpy.types.PoseBone) -> bpy.types.FCurve | None:
    """Return the F-Curve of a bone's scale along itself, if it has one."""
    return curve_of(bone.id_data, bone.path_from_id("scale"), ALONG)


def _limits(settings: bpy.types.PropertyGroup) -> Stretch:
    stand = controls_of(settings)
    stretch, compress = settings.stretch, settings.compress
    if stand is not None:
        stretch, compress = float(stand.get("stretch", 1.0)), float(stand.get("compress", 1.0))
    if stretch == compress == 1.0:
        return _OFF[settings.stretch_bones == 'LAST']
    compress = max(compress, 1.0 / MOST)  # its least is a little less in 32 bits
    return Stretch(min(max(stretch, 1.0), MOST), compress, settings.stretch_bones == 'LAST')


def _was_scaled(settings: bpy.types.PropertyGroup, bone: bpy.types.PoseBone) -> bool:
    joint = settings.joints.get(bone.name)
    return joint is not None and bool(joint.is_scaled)


def _base(settings: bpy.types.PropertyGroup, bone: bpy.types.PoseBone, limits: Stretch) -> float:
    """Return the scale along a bone without solves and bakes; raise IK2DError where keys change it."""
    joint, now = settings.joints.get(bone.name), float(bone.scale[ALONG])
    curve = scale_curve(bone)
    count = len(curve.keyframe_points) if curve is not None else 0
    ours = joint is not None and bool(joint.is_scaled)
    by_hand = np.empty(0)
    if curve is not None and count:
        values = column(curve, "co")[:, 1]
        by_hand = values[keys.made_by_hand(curve)] if ours else values
    if len(by_hand):
        if np.ptp(by_hand) > _STILL * np.abs(by_hand).max() and not limits.is_off:
            raise refusal(
                "Chain '{chain}' stretches, but keys change the Y Scale of bone '{bone}'; delete "
                "them, or set Stretch and Shortest Length to 1",
                chain=settings.name,
                bone=bone.name,
            )
        return float(by_hand[0])
    if not ours or (not count and now != joint.scale_posed):  # set by hand since
        return now
    return float(joint.scale_base)
