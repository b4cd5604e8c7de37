# SPDX-License-Identifier: GPL-3.0-or-later
"""When a target or a pole has keys of its own."""

from ...core import IK2DError
from ...core.words import say
from ...rig.animation import versions
from ...rig.animation.fcurves import column
from ...rig.chain.chain import RigChain
from ...rig.chain.dependencies import Node, parents, walk

# A target is a point: of its own channels only these move it. All of what it hangs on do.
_PLACE = ("location", "delta_location")
_TRANSFORM = (*_PLACE, "rotation_", "delta_rotation_", "scale", "delta_scale")


def target_key_frames(rig: RigChain, first: float, last: float, pace: float = 1.0) -> list[float]:
    """Return the frames from `first` to `last` on which a chain's target or pole has keys, and these two.

    One without keys takes those of its parents. pace: how fast time goes in actions, where the
    scene's is remapped. Raises IK2DError where there are no keys at all.
    """
    found = {frame for node in rig.followed for frame in _moving_frames(node)}
    if not found:
        name = f"{rig.target.name}/{rig.subtarget}" if rig.subtarget else rig.target.name
        raise IK2DError(
            say(
                "Chain '{chain}': its target '{name}' has no keys in its action, nor has what it is "
                "parented to; key the target, or turn off Only on Target's Keys",
                chain=rig.name,
                name=name,
            )
        )
    shown = {round(frame / pace, 3) for frame in found}  # 32 bits: nearer than this, two keys are one
    return sorted({first, last} | {frame for frame in shown if first <= frame <= last})


def _moving_frames(holder: Node) -> set[float]:
    """Return the frames of the keys that move an object or bone: its own, else those of its parents."""
    own = _key_frames(holder, _PLACE)
    if own:
        return own
    return {frame for above in walk([holder], parents)[1:] for frame in _key_frames(above, _TRANSFORM)}


def _key_frames(holder: Node, properties: tuple[str, ...]) -> set[float]:
    """Return the frames of all keys of an object's or bone's channels whose names begin so."""
    ob, bone = holder
    prefix = f"{ob.pose.bones[bone].path_from_id()}." if bone else ""
    paths = tuple(prefix + name for name in properties)
    frames: set[float] = set()
    for curve in versions.existing_fcurves(ob):
        if curve.data_path.startswith(paths) and not curve.mute:
            frames |= set(column(curve, "co")[:, 0].tolist())
    return frames
