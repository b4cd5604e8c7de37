# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded clips of feet in tests/data/motion, with a person's marks of the contacts."""

import csv
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "data" / "motion"
CLIPS = ("walk", "run", "turn", "dance", "jump", "kick", "healthy", "stroke")
POINTS = ("heel.L", "toe.L", "heel.R", "toe.R")


def clip(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the places (frames, 4, 3) in metres and the times (frames,) in seconds of a clip."""
    rows = np.loadtxt(FOLDER / f"{name}.csv", delimiter=",", skiprows=1)
    return rows[:, 1:].reshape(len(rows), len(POINTS), 3), rows[:, 0]


def marks(name: str) -> np.ndarray:
    """Return the frames (frames, 4) in which a person sees each point of a clip down."""
    found = np.zeros(clip(name)[0].shape[:2], bool)
    with (FOLDER / "marks.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["clip"] == name:
                found[int(row["first"]) : int(row["last"]) + 1, POINTS.index(row["point"])] = True
    return found
