# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples of a chain over frames, as arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.affine import Frames, are_finite, at_all, changed, product, unrepeated
from ...core.inputs import Floats
from ...core.words import noted, refusal, say
from ..chain.chain import RigChain


@dataclass(frozen=True, eq=False)
class ChainSamples(Frames):
    """The samples of one chain in the scene, over the frames."""

    targets: Floats  # (frames, 3) in the world
    world: Floats  # (frames, 4, 4) the armature object's matrix
    parent: Floats | None  # (frames, 4, 4) pose matrix of the bone above the chain, if there is one
    bases: Floats  # (frames, n, 4, 4) the bones' own location, rotation and scale
    tips: Floats  # (frames, 3) the tip's place in the world
    # (frames, 4) the chain's softness, bend (-1..+1), influence and the turn of its plane (radians);
    # (frames, 8) with those of its foot: roll, toe and break angle (radians), and whether it heeds the ground
    settings: Floats
    # (frames, 3, 3) the target's axes in the world, where the chain follows its rotation; and, of a chain
    # with hands, (frames, k, 3, 3) those of the hands in the armature's pose space, as posed
    aims: Floats | None = None
    hands: Floats | None = None
    # (frames, 4, 4) what constraints that carry the chain do to its first bone: it is posed as by its
    # channels and parent, then moved by this, in pose space
    carried: Floats | None = None
    poses: NDArray[np.float32] | None = None  # (frames, n, 4, 4) the bones' matrices in pose space
    poles: Floats | None = None  # (frames, 3) in the world, of a chain with a pole
    # (frames, 3, 3) how the plane is turned about the root, in rest space; None where it is not, or not yet
    swings: Floats | None = None
    # Of a chain with a foot, whose targets are then its ankle's goals: (frames, 2) radians that foot and toes
    # turn about the foot's axis, and (frames,) how far the ground lifts the ankle in the world
    foot: Floats | None = None
    lifts: Floats | None = None
    copied: Floats | None = None  # (frames,) 0..1 how much its FK copies act; None without any

    @property
    def softness(self) -> Floats:
        """(frames,) 0..1."""
        return self.settings[:, 0]

    @property
    def bend(self) -> Floats:
        """(frames,) +1 or -1."""
        return self.settings[:, 1]

    @property
    def influence(self) -> Floats:
        """(frames,) 0..1."""
        return self.settings[:, 2]

    @property
    def plane_turn(self) -> Floats:
        """(frames,) radians about the line to the target, that a plane which follows it is turned on."""
        return self.settings[:, 3]

    @property
    def roll(self) -> Floats:
        """(frames,) radians, of a chain with a foot."""
        return self.settings[:, 4]

    @property
    def toes_up(self) -> Floats:
        """(frames,) radians, of a chain with a foot."""
        return self.settings[:, 5]

    @property
    def break_angle(self) -> Floats:
        """(frames,) radians of roll at which the heel stops lifting the toes, of a chain with a foot."""
        return self.settings[:, 6]

    @property
    def heeds_ground(self) -> NDArray[np.bool_]:
        """(frames,) whether the ground lifts the foot, of a chain with one."""
        return self.settings[:, 7] > 0.0

    def with_settings(
        self,
        softness: Floats | float | None = None,
        bend: Floats | float | None = None,
        influence: Floats | float | None = None,
        plane_turn: Floats | float | None = None,
    ) -> "ChainSamples":
        """Return the samples with other settings, one for all frames or (frames,); None: as they are."""
        settings = self.settings.copy()
        for column, values in enumerate((softness, bend, influence, plane_turn)):
            if values is not None:
                settings[:, column] = values
        return changed(self, settings=settings)


def solvable(chain: RigChain, samples: ChainSamples) -> NDArray[np.bool_]:
    """Return a mask of the frames on which a chain has finite inputs and a size."""
    masks = [good for good, _, _ in _conditions(chain, samples)]
    good_frames: NDArray[np.bool_] = np.logical_and.reduce(masks)
    return good_frames


_SETTINGS = ("Softness", "Bend", "IK Blend", "Plane Turn", "Roll", "Toes Up", "Break Angle", "Above Ground")
# A mask (frames,), and the message where it is False: its text and the values in it.
_Condition = tuple[NDArray[np.bool_], str, dict[str, str]]


def _conditions(chain: RigChain, samples: ChainSamples) -> Iterator[_Condition]:
    """Yield each condition of a solve that may fail."""
    yield (
        are_finite(samples.targets),
        noted("target '{target}' has no finite position"),
        {"target": chain.target.name},
    )
    if samples.poles is not None and chain.pole is not None:
        pole = chain.pole[0].name
        yield are_finite(samples.poles), noted("pole '{pole}' has no finite position"), {"pole": pole}
    if samples.lifts is not None and chain.foot is not None and chain.foot.ground is not None:
        yield are_finite(samples.lifts), _ABOVE_HIP, {"ground": chain.foot.ground.name}
    held = samples.world if samples.parent is None else product(samples.world, samples.parent)
    armature = {"armature": chain.armature.name}
    yield (
        are_finite(held),
        noted("armature '{armature}', or a bone above the chain, has no finite place"),
        armature,
    )
    linear = unrepeated(held)[:, :3, :3]
    sized = np.abs(np.linalg.det(np.where(np.isfinite(linear), linear, 0.0))) > 0.0
    yield (
        at_all(sized, len(held)),
        noted("armature '{armature}', or a bone above the chain, is scaled to nothing"),
        armature,
    )
    if samples.carried is not None:
        linear = np.nan_to_num(samples.carried[:, :3, :3])
        placed = are_finite(samples.carried) & (np.abs(np.linalg.det(linear)) > 0.0)
        yield (
            placed,
            noted("bone '{root}' has no finite place, or no size, by its constraints"),
            {"root": chain.bones[0]},
        )
    finite = np.isfinite(unrepeated(samples.bases)[:, :, :3])
    for i, bone in enumerate(() if finite.all() else chain.pose_bones):
        is_finite = finite[:, i, :, : 3 if bone.bone.use_connect else 4].all(axis=(1, 2))
        yield (
            at_all(is_finite, len(held)),
            noted("bone '{bone}' has no finite location or scale"),
            {"bone": bone.name},
        )
    known = np.isfinite(samples.settings)
    for name, good in () if known.all() else zip(_SETTINGS, known.T, strict=False):
        yield good, noted("its setting {name} has no value that it may have"), {"name": name}


_ABOVE_HIP = noted("ground '{ground}' is above the chain's root")


def above_hip(ground: str) -> str:
    """Return the fault of a ground, in words."""
    return say(_ABOVE_HIP, ground=ground)


def refuse_unsolvable(chain: RigChain, samples: ChainSamples, times: Sequence[float]) -> None:
    """Raise IK2DError where a chain cannot be solved: see `_conditions`."""
    for good, text, places in _conditions(chain, samples):
        if not good.all():
            time = times[int(np.argmin(good))]
            raise refusal(
                "Chain '{chain}': {problem} at frame {time:g}; mend its animation there",
                chain=chain.name,
                problem=say(text, **places),
                time=time,
            )
