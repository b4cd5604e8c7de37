# SPDX-License-Identifier: GPL-3.0-or-later
"""The warnings of a bake on one chain."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...core import Status
from ...core.contacts.runs import runs
from ...core.inputs import Floats, wrapped
from ...core.pops import POP
from ...core.swing import POST
from ...core.words import noted, number_of, quoted, say
from ...rig.chain.chain import FAR_OFF_PLANE
from ...rig.chain.dependencies import copies_of
from ...rig.chain.planes import HINGES
from ...rig.pose.hand_rotations import angles_between
from ...rig.pose.measures import askew_words, off_plane_words, uneven_words
from ..keys.keying import KeyedChain, KeyPlan
from ..lengths import Units, length_text
from ..playback import Played
from ..solving.frames import SolvedChain
from .chain_result import HAND_OFF
from .swing_notes import flip_notes, stray_note

# A joint that turns by more than this many degrees in a frame is worth a warning; or by more than the second
# number, where it is so many times what the target moves, in radians of the reach.
JUMP, FAR_TURN, TURNS_A_WAY = 90.0, 20.0, 3.0
# Targets so near to the root, as in `pop_bands`, and to full reach, turn joints fast (in reaches).
NEAR_ROOT, NEAR_FULL_REACH = 0.01 / math.radians(POP), 0.98
# An angle of the last bone that changes by more than this part of a joint's turn is its cause.
PART_OF_TURN = 0.5


def chain_warnings(
    keyed: KeyedChain,
    chain: SolvedChain,
    steps: Floats,
    plan: KeyPlan,
    played: Played,
    worst_excess: tuple[float, float],
    units: Units,
    advice: str,
) -> Iterator[str]:
    """Yield a chain's warnings. chain: as it is reported, and its steps. worst_excess: in `verdict`."""
    chain, frames, rig, reach = _without_fk(chain), plan.frames, chain.rig, chain.reach
    yield from rig.warnings
    missed = bool((chain.miss.distance > chain.tolerance).any())
    if missed and chain.noticed.joints_off_plane > FAR_OFF_PLANE * reach and rig.remarks.plane != HINGES:
        ending = advice if (chain.miss.off_plane <= FAR_OFF_PLANE * reach).all() else ""
        yield off_plane_words(rig.name, length_text(chain.noticed.joints_off_plane, units)) + ending
    worst = int(np.argmax(chain.miss.off_plane))
    # A post brings the plane to the target, and its own notes say where it cannot.
    if chain.miss.off_plane[worst] > FAR_OFF_PLANE * reach and (rig.post is None or rig.joints.askew):
        far = length_text(chain.miss.off_plane[worst], units)
        yield (
            say(
                "Chain '{chain}': its tip leaves its target by up to {far} across the chain's plane "
                "(frame {frame}): {cause}",
                chain=rig.name,
                far=far,
                frame=frames[worst],
                cause=askew_words(rig),
            )
            if rig.joints.askew
            else say(
                "Chain '{chain}': its target is up to {far} off the chain's plane (frame {frame}); "
                "the tip follows it within the plane{advice}",
                chain=rig.name,
                far=far,
                frame=frames[worst],
                advice=advice,
            )
        )
    if chain.noticed.uneven_scale:
        yield uneven_words(rig.name, chain.noticed.uneven_scale)
    yield from _used_up(chain, frames)
    yield from _turnings(chain, frames, units)
    yield from _off_angle(chain, frames)
    yield from _jumps(chain, steps, frames)
    yield from flip_notes(chain, frames)
    yield from stray_note(keyed, plan.times, units)
    yield from _missing_hands(keyed, played)
    yield from _turned_over(keyed)
    excess, time = worst_excess
    if excess > chain.tolerance:
        if rig.remarks.other_controls:
            way_out = say("mute constraints, drivers or other animation on its bones")
        else:
            way_out = say("look for constraints, drivers or other animation on its bones")
        yield say(
            "Chain '{chain}': Blender plays it back up to {length} worse than {promised} (frame {time:g}); "
            "{way_out}",
            chain=rig.name,
            length=length_text(excess, units),
            promised=noted("promised") if plan.bound else noted("solved"),
            time=time,
            way_out=way_out,
        )


def _without_fk(chain: SolvedChain) -> SolvedChain:
    """Return a chain with numbers that give no warning on FK frames, on which its IK Blend is 0."""
    fk = chain.shown <= 0.0
    if not fk.any():
        return chain
    within = fk & np.roll(fk, 1)  # FK as the frame before
    within[0] = fk[0]
    noticed, turns = chain.noticed, chain.noticed.plane_turns
    return replace(
        chain,
        miss=replace(
            chain.miss,
            distance=np.where(fk, 0.0, chain.miss.distance),
            off_plane=np.where(fk, 0.0, chain.miss.off_plane),
        ),
        noticed=replace(
            noticed,
            turning=None if noticed.turning is None else noticed.turning & ~fk,
            angle_errors=None if noticed.angle_errors is None else np.where(fk, -1.0, noticed.angle_errors),
            plane_turns=turns
            and replace(
                turns, openness=np.where(fk, np.inf, turns.openness), steps=np.where(within, 0.0, turns.steps)
            ),
        ),
    )


def _missing_hands(keyed: KeyedChain, played: Played) -> Iterator[str]:
    """Yield a sentence for each hand held by locks, and for hands turned by something else than keys."""
    hands, rig = keyed.hands, keyed.solved.rig
    if hands is None or rig.hands is None:
        return
    off, times = hands.turned.off[hands.keyed], hands.times[hands.keyed]
    for k, bone in enumerate(rig.hands.bones):
        worst = int(np.argmax(off[:, k]))
        if off[worst, k] > HAND_OFF:
            yield say(
                "Chain '{chain}': '{bone}' is up to {angle:.2g} degrees off the rotation that it "
                "must have (frame {time:g}), as its locks hold it; unlock its rotation",
                chain=rig.name,
                bone=bone,
                angle=np.degrees(off[worst, k]),
                time=times[worst],
            )
    if played.hands_moved is not None and not np.isnan(played.hands_moved).all():
        worst = int(np.nanargmax(played.hands_moved))
        moved = float(played.hands_moved[worst])
        if moved > HAND_OFF + hands.bound:
            yield say(
                "Chain '{chain}': Blender plays {names} back up to {angle:.2g} degrees off what was "
                "keyed (frame {time:g}); look for constraints, drivers or other animation there",
                chain=rig.name,
                names=quoted(rig.hands.bones),
                angle=np.degrees(moved),
                time=played.times[worst],
            )


def _turned_over(keyed: KeyedChain) -> Iterator[str]:
    """Yield a sentence where a blend of targets turns over, as it does where they are half a round apart."""
    hands, rig = keyed.hands, keyed.solved.rig
    if hands is None or rig.hands is None or not copies_of((rig.target, rig.subtarget)):
        return
    turns = np.degrees(angles_between(hands.turned.wanted[1:], hands.turned.wanted[:-1]))
    if turns.size and turns.max() > JUMP:
        worst, k = np.unravel_index(int(np.argmax(turns)), turns.shape)
        yield say(
            "Chain '{chain}': '{bone}' turns by {angle:.0f} degrees from frame {frame:g} to {frame_2:g}: a "
            "blend of targets turns over where they are 180 degrees apart; turn one of them, or keep Blend "
            "at 0 or 1 there",
            chain=rig.name,
            bone=rig.hands.bones[k],
            angle=turns[worst, k],
            frame=hands.times[worst],
            frame_2=hands.times[worst + 1],
        )


def _off_angle(chain: SolvedChain, frames: Sequence[float]) -> Iterator[str]:
    """Yield a sentence where the last bone cannot have its angle while its tip is on its target."""
    if chain.noticed.angle_errors is None:
        return
    off = (chain.solution.status == Status.ANGLE) & (chain.noticed.angle_errors >= 0.0)
    if not off.any():
        return
    worst = int(np.argmax(np.where(off, chain.noticed.angle_errors, -1.0)))
    degrees, unproven = np.degrees(chain.noticed.angle_errors[worst]), chain.solution.unproven
    words = noted(
        "Chain '{chain}': its last bone, '{bone}', is up to {angle:.3g} degrees off its "
        "angle (frame {frame:g}), which it cannot have with its tip on the target, on "
        "{frames}; Angle First keeps the angle instead"
    )
    if unproven is not None and (off & unproven).any():
        words = noted(
            "Chain '{chain}': its last bone, '{bone}', is up to {angle:.3g} degrees off its "
            "angle (frame {frame:g}), on {frames}; no pose was found that has it with its tip on the "
            "target, but there may be one; Angle First keeps the angle instead"
        )
    yield say(
        words,
        chain=chain.rig.name,
        bone=chain.rig.bones[-1],
        angle=degrees,
        frame=frames[worst],
        frames=number_of(int(off.sum()), "frame"),
    )


def _turnings(chain: SolvedChain, frames: Sequence[float], units: Units) -> Iterator[str]:
    """Yield a sentence for each time that a chain turns over to its other side."""
    if chain.noticed.turning is None:
        return
    for first, end in runs(chain.noticed.turning):
        worst = first + int(np.argmax(chain.miss.distance[first:end]))
        last = say(" to {frame:g}", frame=frames[end - 1]) if end - first > 1 else ""
        yield say(
            "Chain '{chain}': it turns over to its other side on frame {frame:g}{last}; its tip "
            "leaves its target there by up to {length} (frame {frame_2:g})",
            chain=chain.rig.name,
            frame=frames[first],
            last=last,
            length=length_text(chain.miss.distance[worst], units),
            frame_2=frames[worst],
        )


def _used_up(chain: SolvedChain, frames: Sequence[float]) -> Iterator[str]:
    """Yield a sentence where a chain is as long, or as short, as its bones may get."""
    if chain.factors is None or chain.rig.stretching is None:
        return
    limits, factors = chain.rig.stretching.limits, chain.factors[:, -1]
    for factor, there, word in (
        (limits.most, factors >= limits.most, say("stretched to its most")),
        (limits.least, factors <= limits.least, say("compressed to its least")),
    ):
        if factor != 1.0 and there.any():
            count, first = int(there.sum()), frames[int(np.argmax(there))]
            at = say("at frame {frame:g}", frame=first)
            if count > 1:
                at = say("on {frames}, first {at}", frames=number_of(count, "frame"), at=at)
            yield say(
                "Chain '{chain}': {word}, {factor:.3g} times, {at}",
                chain=chain.rig.name,
                word=word,
                factor=factor,
                at=at,
            )


def _jumps(chain: SolvedChain, steps: Floats, frames: Sequence[float]) -> Iterator[str]:
    """Yield a sentence for each kind of place where a joint turns suspiciously far in a frame."""
    turns, fk = np.degrees(steps[1:]), chain.shown <= 0.0
    if (
        chain.rig.swing is not None and chain.rig.swing.rule == POST
    ):  # its turn as the post is told on its own
        turns[:, 0] = np.degrees(np.abs(np.diff(chain.turns[:, 0])))
    turns[fk[:-1] & fk[1:]] = 0.0
    furthest = turns.max(axis=1, initial=0.0)
    if not (furthest > FAR_TURN).any():
        return
    ways = np.degrees(np.hypot(*np.diff(chain.noticed.aims, axis=0).T))
    jumps = np.flatnonzero((furthest > JUMP) | (furthest > np.maximum(FAR_TURN, TURNS_A_WAY * ways)))
    by_cure: dict[str, list[int]] = {}
    for jump in jumps.tolist():
        by_cure.setdefault(_cure(chain, jump), []).append(jump)
    for cure, places in by_cure.items():
        worst = max(places, key=furthest.__getitem__)
        bone = chain.rig.bones[int(np.argmax(turns[worst]))]
        others = (
            say(
                ", the furthest of {count} such turns from frame {frame:g} to {frame_2:g}",
                count=len(places),
                frame=frames[places[0]],
                frame_2=frames[places[-1] + 1],
            )
            if len(places) > 1
            else ""
        )
        yield say(
            "Chain '{chain}': bone '{bone}' turns by {angle:.0f} degrees from frame {frame:g} to "
            "{frame_2:g}{others}; {cure}",
            chain=chain.rig.name,
            bone=bone,
            angle=furthest[worst],
            frame=frames[worst],
            frame_2=frames[worst + 1],
            others=others,
            cure=cure,
        )


def _cure(chain: SolvedChain, frame: int) -> str:
    """Return in words what helps against a joint that turns far from a frame to the next one."""
    start, end = chain.noticed.aims[frame : frame + 2]
    if (chain.shown[frame : frame + 2] <= 0.0).any():
        return say("IK Blend switches there: Switch to IK and Switch to FK key it so that nothing jumps")
    far, way = max(np.hypot(*start), np.hypot(*end)), end - start
    passed = start + way * np.clip(-(start @ way) / max(way @ way, 1e-300), 0.0, 1.0)
    settings, has_angle = chain.rig.settings, chain.rig.settings.tip_angle is not None
    if np.hypot(*passed) < NEAR_ROOT:
        other = "" if settings.solver == 'CCD' or has_angle else say(", or let CCD follow it")
        return say("its target passes close to the chain's root: move it around the root{other}", other=other)
    if far > NEAR_FULL_REACH and not chain.softness[frame]:
        return say("its target comes to full reach: Softness turns the joints more slowly there")
    if has_angle:
        return _cure_of_angle(chain, frame)
    if settings.solver == 'EVEN' and np.isfinite(chain.rig.joints.limits).any():
        return say(
            "two poses bend alike there: move the target another way, widen the limits, or let CCD go on"
        )
    return say("look there, and move the target another way if it should not")


def _cure_of_angle(chain: SolvedChain, frame: int) -> str:
    """Return in words what helps where the last bone has an angle."""
    headings = chain.angles[frame : frame + 2].sum(axis=1)
    turn, most = abs(float(wrapped(headings[1:] - headings[:1])[0])), float(chain.steps[frame + 1].max())
    if turn > PART_OF_TURN * most:
        return say("the angle of its last bone changes as fast there")
    if len(chain.rig.bones) == 2:
        return say("its other side comes nearer to its angle there: move or turn the target another way")
    if chain.rig.settings.starts_from_rest:
        return say("each frame is solved by itself: set Start Each Frame From to Frame Before")
    return say(
        "no way without such a turn was found: move or turn the target another way, or widen the limits"
    )
