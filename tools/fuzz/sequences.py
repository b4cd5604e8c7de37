# SPDX-License-Identifier: GPL-3.0-or-later
"""Random sequences of making and removing: the user's objects, constraints and F-Curves are all still there.

Bake, Adopt, Release, Make Native, Remove Native, undo, saving and opening again; with hostile names, files
whose pointers are exchanged, whose notes are damaged and whose names are not UTF-8.
"""

import os
from contextlib import suppress
from pathlib import Path
from random import Random

import bpy

from . import users_rig
from .case import Case, Outcome, Result
from .values import HOSTILE_NAMES, NOTES

LIMIT = 60.0
STEPS = 8


def run(case: Case) -> Result:
    """Do a random sequence in a fork."""
    ended, told = case.blender.call(play, f"{case.seed} {case.number}", os.fspath(case.place), limit=LIMIT)
    if told is None:
        return case.result("a sequence", Outcome.FAILED, [f"ended with {ended.words()}"], ended)
    complaints = told["complaints"]
    if "Traceback" in ended.text:
        complaints.append("printed a traceback")
    return case.result(" > ".join(told["steps"]), Outcome.DONE, complaints, ended)


def play(draw: str, folder: str) -> dict:
    """Do the sequence of a draw; return its steps and the complaints."""
    if not hasattr(bpy.types.Object, "ik2d"):
        import ik2d_addon

        ik2d_addon.register()
    random = Random(draw)
    users_rig.build(random)
    _push()
    told: dict = {"steps": [], "complaints": []}
    lied, before = False, users_rig.users_things()
    for _ in range(random.randint(2, STEPS)):
        step = random.choice([*PLAIN, *PLAIN, *LIES])
        lied |= step in LIES
        told["steps"].append(step.__name__.strip("_"))
        told["complaints"] += _done(step, random, folder)
        missing = before - users_rig.users_things()
        if missing:
            told["complaints"].append(f"gone after {told['steps'][-1]}: {', '.join(sorted(missing))}")
            break
    if not lied and not told["complaints"]:
        for step in (_remove_native, _release):  # of what acts on the user's IK, nothing may be left
            told["complaints"] += _done(step, random, folder)
        told["complaints"] += [f"left over: {what}" for what in users_rig.others_things()]
    return told


def _done(step, random: Random, folder: str) -> list[str]:
    """Do a step; return a complaint where it ends in anything but a sentence."""
    try:
        step(random, folder)
    except RuntimeError as error:  # an operator's own report
        return [f"{step.__name__}: {str(error)[-300:]}"] if "Traceback" in str(error) else []
    return []


# --- Steps: each gets what draws, and a folder --------------------------------


def _press(name: str, **options: object) -> None:
    button = getattr(bpy.ops.ik2d, name)
    if button.poll():
        button(**options)
    _push()


def _push() -> None:
    bpy.ops.ed.undo_push(message="step")


def _adopt(_random: Random, _folder: str) -> None:
    _press("adopt", all=True)


def _release(_random: Random, _folder: str) -> None:
    _press("release", all=True)


def _make_native(_random: Random, _folder: str) -> None:
    _press("make_native", all=True)


def _remove_native(_random: Random, _folder: str) -> None:
    _press("remove_native", all=True)


def _bake(_random: Random, _folder: str) -> None:
    _press("bake")


def _undo(_random: Random, _folder: str) -> None:
    with suppress(RuntimeError):  # nothing to undo
        bpy.ops.ed.undo()


def _reopen(_random: Random, folder: str) -> None:
    _saved(folder, lambda content: content)


def _rename(random: Random, _folder: str) -> None:
    """Rename something by another hostile name."""
    armature = users_rig.armature_now()
    constraints = [one for bone in armature.pose.bones for one in bone.constraints]
    named = [*armature.data.bones, *constraints, *bpy.data.actions, *armature.ik2d.chains]
    with suppress(UnicodeError):
        random.choice(named).name = random.choice(HOSTILE_NAMES)
    _push()


def _other_bytes(_random: Random, folder: str) -> None:
    """Open a file whose names hold bytes that are not UTF-8."""
    marker = users_rig.MARKER.encode()
    _saved(folder, lambda content: content.replace(marker, b"\xff" + marker[1:]))


def _other_pointers(random: Random, _folder: str) -> None:
    """Have a chain name other objects and constraints as its own."""
    armature = users_rig.armature_now()
    chain = random.choice(list(armature.ik2d.chains) or [None])
    if chain is None:
        return
    objects = [None, *bpy.data.objects]
    with suppress(UnicodeError):
        names = [one.name for bone in armature.pose.bones for one in bone.constraints] + ["", "IK 2D"]
        chain.native_constraint = random.choice(names)
        for taken in chain.adopted.constraints:
            taken.constraint = random.choice(names)
    chain.native_stand, chain.native_probe = random.choice(objects), random.choice(objects)


def _other_notes(random: Random, _folder: str) -> None:
    """Damage what a chain has noted to put back."""
    for chain in users_rig.armature_now().ik2d.chains:
        chain.native_before, chain.native_print = random.choice(NOTES), random.choice(NOTES)
        adopted = chain.adopted
        for kind in adopted.bl_rna.properties:
            if kind.type == "STRING" and not kind.is_readonly and random.random() < 0.5:
                setattr(adopted, kind.identifier, random.choice(NOTES))
        for taken in adopted.constraints:
            taken.note = random.choice(NOTES)
        for kept in adopted.bones:
            kept.rotation_mode = random.choice(NOTES)


PLAIN = (_adopt, _release, _make_native, _remove_native, _bake, _undo, _reopen, _rename)
LIES = (_other_bytes, _other_pointers, _other_notes)


def _saved(folder: str, changed) -> None:
    """Save the file, change its bytes, and open it."""
    path = Path(folder) / "scene.blend"
    bpy.context.preferences.filepaths.save_version = 0
    bpy.ops.wm.save_as_mainfile(filepath=os.fspath(path), compress=False)
    path.write_bytes(changed(path.read_bytes()))
    bpy.ops.wm.open_mainfile(filepath=os.fspath(path))
    bpy.context.view_layer.objects.active = users_rig.armature_now()
    _push()
