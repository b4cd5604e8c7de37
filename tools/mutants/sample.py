# SPDX-License-Identifier: GPL-3.0-or-later
"""Which mutants to run: a seeded sample of each area."""

from collections.abc import Iterable
from pathlib import Path
from random import Random

from .mutant import ROOT, Mutant, mutants_of

# The folders that are sampled together, by the name of their option, and how many mutants of each are taken.
AREAS = {
    "core": ("ik2d_addon/core/",),
    "rest": ("ik2d_addon/rig/", "ik2d_addon/bake/"),
    "interface": ("ik2d_addon/features/", "ik2d_addon/ui/", "ik2d_addon/cli/"),
}
NUMBERS = {"core": 150, "rest": 60, "interface": 60}


def all_mutants(within: Path = ROOT) -> list[Mutant]:
    """Return all mutants of all areas, or those in one file or folder."""
    folders = [ROOT / folder for own in AREAS.values() for folder in own]
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    return [
        mutant
        for file in files
        if file.is_relative_to(within)
        for mutant in mutants_of(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8"))
    ]


def sample(mutants: Iterable[Mutant], area: str, number: int, seed: int) -> list[Mutant]:
    """Return so many mutants of an area, the same for the same seed."""
    own = [mutant for mutant in mutants if mutant.path.startswith(AREAS[area])]
    return Random(f"{seed} {area}").sample(own, min(number, len(own)))
