# SPDX-License-Identifier: GPL-3.0-or-later
"""Results that are stored on the rig, and whether they are out of date."""

from collections.abc import Callable, Iterator, Sequence

import bpy
from bpy.types import Object, PropertyGroup, Scene

from ...bake import BakeReport, ChainReport, MechanismReport
from ...bake.keys.clearing import forget_bakes
from ...core.contacts.runs import runs
from ...core.words import listed, once_for_all, say
from ...rig.chain.chain import problem_of
from ...rig.chain.post import bending_bones_of
from ...ui.kept import kept
from .clips import BAKED_TOO, clips_as_json, other_action, shown_clip
from .staleness import (
    AnimatedPaths,
    bake_fingerprint,
    changed_since,
    mechanism_fingerprint,
    options_fingerprint,
    solve_fingerprint,
)

# --- Keeping the report ------------------------------------------------------


def store_solve(armature: Object, report: BakeReport, scene: Scene | None = None) -> None:
    """Store the results of a solve on the rig and its chains, for the sidebar."""
    settings, scene = _owned(armature), scene or bpy.context.scene
    settings.last_solve = _text(report)
    settings.last_solve_lines = "\n".join(report.lines())
    settings.last_solve_alert = bool(report.warnings) or not report.all_reached
    for chain in settings.chains:
        chain.last_solve = chain.solve_mark = ""
    animated = AnimatedPaths.of(armature)
    for result, chain in _chains_of(armature, report):
        chain.last_solve = _text(result)
        _store_plane(chain, result)
        chain.solve_mark = solve_fingerprint(chain, scene, animated)


def _text(report: BakeReport | ChainReport | MechanismReport) -> str:
    return "\n".join([report.sentence(), *report.warnings])


def _store_plane(chain: PropertyGroup, result: ChainReport) -> None:
    chain.plane_taken = result.circumstances.plane if chain.plane == 'AUTO' else ""


def store_bake(armature: Object, report: BakeReport, scene: Scene | None = None) -> None:
    """Store the results of a bake, with the missed frames, on the rig and its chains."""
    settings, scene = _owned(armature), scene or bpy.context.scene
    if report.left_out:  # their earlier results no longer hold
        forget_bakes(
            armature,
            [chain for chain in settings.chains if chain.enabled and problem_of(armature, chain)],
        )
    settings.last_bake = _text(report)
    settings.last_bake_lines = "\n".join(report.lines())
    settings.last_bake_alert = bool(report.warnings) or not report.is_good
    settings.bake_mark = options_fingerprint(settings, scene)
    shown, is_played = shown_clip(armature, report)
    settings.last_bake_clips = clips_as_json(armature, report)
    for machine in report.mechanisms:
        if machine.name in settings.mechanisms:
            settings.mechanisms[machine.name].last_bake = _text(machine)
    animated = AnimatedPaths.of(armature)
    for result, chain in _chains_of(armature, shown):
        chain.last_bake = _text(result)
        chain.bake_reached = result.reached and not result.circumstances.unmoved
        _store_plane(chain, result)
        runs = missed_runs(result)
        chain.missed_frames = " ".join(f"{a}..{b}" if b > a else f"{a}" for a, b in runs)
        chain.worst_frame = int(result.frames[result.worst_missed]) if runs else -1
        chain.bake_mark = bake_fingerprint(chain, animated) if is_played else ""
    names = {result.name for result in shown.mechanisms} if is_played else set()
    for mechanism in settings.mechanisms:
        if mechanism.name in names:
            mechanism.bake_mark = mechanism_fingerprint(mechanism, animated)


def warnings_once(warnings: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return warnings on chains, with one line for those that say the same of several. names: the chains'."""
    starts = {say("Chain '{chain}': ", chain=name): name for name in names}
    told = []
    for warning in warnings:
        start = next((start for start in starts if warning.startswith(start)), "")
        told.append((start, warning[len(start) :]))
    return [
        say("Chains {names}: {warning}", names=listed(map(starts.__getitem__, there), most=3), warning=rest)
        if len(there := list(filter(None, whose))) > 1
        else f"{whose[0]}{rest}"
        for whose, rest in once_for_all(told)
    ]


# --- Whose results they are --------------------------------------------------


def has_results(armature: Object) -> bool:
    """Return whether the results on a rig are its own; those on a duplicate are the original's."""
    return armature.ik2d.owner == _identity(armature)


def _owned(armature: Object) -> PropertyGroup:
    """Return the settings of a rig, ready for its own results: a duplicate's are dropped."""
    if not has_results(armature):
        forget_all(armature)
    armature.ik2d.owner = _identity(armature)
    return armature.ik2d


def forget_all(armature: Object) -> None:
    """Remove all results from a rig."""
    forget_bakes(armature, armature.ik2d.chains, armature.ik2d.mechanisms)
    for chain in armature.ik2d.chains:
        chain.property_unset("last_solve")
        chain.property_unset("solve_mark")
    for name in ("last_solve", "last_solve_lines", "last_solve_alert", "owner"):
        armature.ik2d.property_unset(name)


def keep_results(armature: Object) -> None:
    """Make the results on a rig that was read from a file its own: objects get a new identity each session.

    A library override with its library's results still has none of its own.
    """
    settings = armature.ik2d
    if settings.owner and not _inherited(armature):
        settings.owner = _identity(armature)


def drop_copied(armature: Object) -> None:
    """Remove the results that a duplicate has from its original, before they are saved."""
    if armature.ik2d.owner and not has_results(armature) and not _inherited(armature):
        forget_all(armature)


def _inherited(armature: Object) -> bool:
    """Return whether the results on a rig come from its library."""
    reference = armature.override_library.reference if armature.override_library else None
    return reference is not None and reference.ik2d.owner == armature.ik2d.owner


def _identity(armature: Object) -> str:
    return str(armature.session_uid)


# --- Whether they still hold -------------------------------------------------


def bake_is_stale(armature: Object, scene: Scene) -> str:
    """Return the first change since the last bake, in words; "" without any."""
    settings = armature.ik2d
    changed = _first_change(armature, "bake_mark", bake_fingerprint, machine_mark=mechanism_fingerprint)
    if changed and (other := other_action(armature)):
        changed = "" if other == BAKED_TOO else say(other)
    return changed or changed_since(settings.bake_mark, options_fingerprint(settings, scene))


def solve_is_stale(armature: Object, scene: Scene) -> str:
    """Return the first change since the last solve, in words; "" without any."""
    return _first_change(
        armature, "solve_mark", lambda chain, animated: solve_fingerprint(chain, scene, animated), scene
    )


def _first_change(
    armature: Object,
    mark: str,
    fingerprint: Callable[[PropertyGroup, AnimatedPaths], str],
    scene: Scene | None = None,
    machine_mark: Callable[[PropertyGroup, AnimatedPaths], str] | None = None,
) -> str:
    """Return the first change since a mark, in words. scene: whose frame counts, if any does.

    machine_mark: that of mechanisms; None where these have none.
    """
    parts = [(chain, fingerprint) for chain in armature.ik2d.chains]
    if machine_mark is not None:
        parts += [(mechanism, machine_mark) for mechanism in armature.ik2d.mechanisms]

    def found() -> str:
        animated = AnimatedPaths.of(armature)
        for part, now in parts:
            before = getattr(part, mark)
            if before and (what := changed_since(before, now(part, animated))):
                return say("{what} of '{chain}'", what=what, chain=part.name) if len(parts) > 1 else what
        return ""

    frame = (scene.session_uid, scene.frame_current_final) if scene is not None else None
    version = frame, [getattr(part, mark) for part, _ in parts]
    return kept(armature, mark, version, found, with_targets=True, of_the_frame=scene is not None)


def _chains_of(armature: Object, report: BakeReport) -> Iterator[tuple[ChainReport, PropertyGroup]]:
    """Yield each result with its chain, unless that was removed.

    Chains may be renamed while a bake runs in the window: then bones and target tell whose it is.
    """
    results, chains = list(report.chains), list(armature.ik2d.chains)
    for renamed in (False, True):
        for result in list(results):
            for chain in chains:
                if _is_about(result, chain) and (chain.enabled if renamed else chain.name == result.name):
                    yield result, chain
                    results.remove(result)
                    chains.remove(chain)
                    break


def _is_about(result: ChainReport, chain: PropertyGroup) -> bool:
    """Return whether a chain has a result's bones and target."""
    return (tuple(bending_bones_of(chain)), _target_name(chain)) == (result.bones, result.target)


def _target_name(chain: PropertyGroup) -> str:
    """Return the name of a chain's target in reports."""
    if chain.target is None:
        return ""
    return f"{chain.target.name}/{chain.subtarget}" if chain.subtarget else chain.target.name


def missed_runs(result: ChainReport) -> list[tuple[int, int]]:
    """Return the first and last frame of each run of baked frames that missed the target."""
    frames = result.frames
    return [(int(frames[first]), int(frames[end - 1])) for first, end in runs(result.missed)]
