# SPDX-License-Identifier: GPL-3.0-or-later
"""What a mechanism is, or what is wrong with it and what cures it, in words; its reading is kept."""

from typing import Any

from ...core import IK2DError
from ...core.words import listed, noted, number_of, say
from ...rig.chain.checks.found_post import chains_turning
from ...rig.mechanism.read import GEAR, PIN, RAM, SLIDE, TARGET, RigMechanism, read_mechanism
from .proposals import free_bones
from .rest_pose import apart_at_rest

# Of bones that may drive, this many are named.
NAMED = 3

# Readings of mechanisms, each with what it was read from.
_readings: dict[tuple[int, str], tuple[Any, RigMechanism | str]] = {}


def read(mechanism: Any) -> RigMechanism | str:
    """Return the reading of a mechanism, or the error that keeps it from being read; kept until an edit."""
    key, seen = (mechanism.id_data.session_uid, mechanism.name), _fingerprint(mechanism)
    known = _readings.get(key)
    if known is None or known[0] != seen:
        if len(_readings) > 64:  # of files that were open before
            _readings.clear()
        _readings[key] = known = seen, _reading(mechanism)
    return known[1]


def _reading(mechanism: Any) -> RigMechanism | str:
    armature = mechanism.id_data
    try:
        rig = read_mechanism(armature, mechanism, moves=False)
        if not rig.core.mobility().fault:
            rig = rig.with_chains(chains_turning(armature) if mechanism.enabled else ())
        return rig
    except IK2DError as error:
        words = str(error).removeprefix(say("Mechanism '{name}': ", name=mechanism.name))
        return words[:1].upper() + words[1:]


def _fingerprint(mechanism: Any) -> tuple[Any, ...]:
    """Return a fingerprint of the settings and bones that a mechanism is read from."""
    armature = mechanism.id_data
    bones, posed = armature.data.bones, armature.pose.bones
    there = [name for one in mechanism.bones if (name := one.name) in bones and name in posed]
    chained = chains_turning(armature)
    return (
        armature.as_pointer(),
        mechanism.enabled,
        [(one.name, one.other_side, one.name in chained) for one in mechanism.bones],
        [_values(one, "kind", "bone", "end", "other", "ratio", "stroke") for one in mechanism.joints],
        [_values(one, "kind", "bone", "target", "subtarget") for one in mechanism.drivers],
        [_rest_of(bones[name]) for name in there],
        [(tuple(posed[name].location), tuple(posed[name].scale)) for name in there],
    )


def _values(item: Any, *names: str) -> list[Any]:
    values = [getattr(item, name) for name in names]
    return [tuple(value) if hasattr(value, "foreach_get") else value for value in values]


def _rest_of(bone: Any) -> tuple[Any, ...]:
    parent = bone.parent.name if bone.parent else ""
    place = [tuple(row) for row in bone.matrix_local]
    return parent, bone.use_connect, bone.use_inherit_rotation, bone.length, place


def problem(mechanism: Any) -> str:
    """Return the fault that keeps a mechanism from moving, and its cure, in words; "" without one."""
    rig = read(mechanism)
    if isinstance(rig, str):
        return rig
    mobility = rig.core.mobility()
    if not mobility.fault:
        return ""
    if mobility.left and (names := free_bones(rig)):
        return say(
            "{fault}, or add joints. To drive, select {bones} and press a button of Driven By",
            fault=mobility.fault,
            bones=one_of(names),
        )
    return mobility.fault


def one_of(names: list[str]) -> str:
    """Return some names of which one is to be chosen: "'a', 'b' or 'c'"."""
    *first, last = [f"'{name}'" for name in names[:NAMED]]
    return say(" or ").join(filter(None, (", ".join(first), last)))


def description(mechanism: Any) -> str:
    """Describe a mechanism: "11 bones, 3 loops, 1 freedom, driven by 'crank'"; "" for a faulty one."""
    rig = read(mechanism)
    if isinstance(rig, str):
        return ""
    counts = [number_of(len(rig.bones), "bone")]
    loops = sum(joint.kind not in (RAM, GEAR) for joint in mechanism.joints)
    counts += [number_of(loops, "loop")] if loops else []
    counts += [number_of(len(rig.rams), "ram")] if rig.rams else []
    counts.append(number_of(rig.core.mobility().freedoms, "freedom"))
    told = ", ".join(counts)
    if not mechanism.drivers:
        return told
    return say("{what}, driven by {drivers}", what=told, drivers=listed(driving(mechanism), most=NAMED))


def driving(mechanism: Any) -> list[str]:
    """Return the names of what drives a mechanism: of bones, of rams, and of targets."""
    return [
        one.subtarget or (one.target.name if one.target else "") if one.kind == TARGET else one.bone
        for one in mechanism.drivers
    ]


def joint_words(joint: Any) -> str:
    """Return which bones a joint is between, in a line."""
    if joint.kind == RAM:
        return say("{bone} and {other}", bone=joint.bone, other=joint.other)
    if joint.kind == GEAR:
        return say("{bone} to {other}, {ratio:g}", bone=joint.bone, other=joint.other, ratio=joint.ratio)
    template = {
        (PIN, 'HEAD'): noted("{bone}, head, on {other}"),
        (PIN, 'TAIL'): noted("{bone}, tail, on {other}"),
        (SLIDE, 'HEAD'): noted("{bone}, head, along {other}"),
        (SLIDE, 'TAIL'): noted("{bone}, tail, along {other}"),
    }.get((joint.kind, joint.end), noted("{bone} along {other}, keeps angle"))
    return say(template, bone=joint.bone, other=joint.other or say("the frame"))


def gap_words(mechanism: Any) -> str:
    """Return by how much loops are open at rest, in words; "" where they are closed."""
    rig = read(mechanism)
    if isinstance(rig, str) or not (apart := apart_at_rest(rig)):
        return ""
    bone, other, gap = max(apart, key=lambda one: one[2])
    is_ram = any({bone, other} == {ram.bone, ram.other} for ram in rig.rams)
    template = noted("At rest, '{bone}' points past '{other}', by {part:.2g} % of the mechanism's size")
    if not is_ram:
        template = noted("At rest, '{bone}' and '{other}' are {part:.2g} % of the mechanism's size apart")
    return say(template, bone=bone, other=other, part=100.0 * gap / rig.size)


def forget() -> None:
    """Forget the readings."""
    _readings.clear()
