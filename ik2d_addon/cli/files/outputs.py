# SPDX-License-Identifier: GPL-3.0-or-later
"""Which file each scene is baked to, and each report written to. Needs no Blender."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...core import IK2DError
from . import files

PLACE_OF_NAME = "{name}"
_BLEND = re.compile(r"\.blend$", re.IGNORECASE)


@dataclass(frozen=True)
class Job:
    """One scene, and the paths of its bake and its report as given; None: over itself, no report."""

    scene: str
    output: str | None
    report: str | None

    def written(self) -> Iterator[str]:
        """Yield the files that are written, links followed."""
        yield files.target_of(self.output or self.scene)
        if self.report:
            yield files.target_of(self.report)


def named_after(scene: str, pattern: str | None) -> str | None:
    """Return a path with {name} replaced by the scene's name, without its folder and .blend.

    Raises IK2DError for a name of dots alone, which would lead to another folder.
    """
    if pattern is None or PLACE_OF_NAME not in pattern or not scene:  # that none is open is said later
        return pattern
    name = _BLEND.sub("", os.path.basename(scene))
    if not name.strip(". "):
        raise IK2DError(
            f"{{name}} in '{pattern}' would be '{name}', of dots alone, for '{scene}'; rename that file"
        )
    path = pattern.replace(PLACE_OF_NAME, name)
    return os.path.join(os.curdir, path) if path.startswith("-") else path  # "-" is stdout


def jobs_for(scenes: Sequence[str], output: str | None, report: str | None) -> list[Job]:
    """Return a job for each scene. output, report: places with {name} in them, or None.

    Raises IK2DError, before anything is done, for scenes that are not there, for two that would be
    written to one place, and for places that cannot be written.
    """
    _refuse_missing(scenes)
    for option, pattern, folder, ending in (
        ("--output", output, "baked", ".blend"),
        ("--report", report, "reports", ".json"),
    ):
        if pattern is not None and PLACE_OF_NAME not in pattern and len(scenes) > 1:
            raise IK2DError(
                f"{option} '{pattern}' is one place for {len(scenes)} files; put {{name}} in it, as in"
                f" {folder}/{{name}}{os.path.splitext(pattern)[1] or ending}"
            )
    jobs = [Job(scene, named_after(scene, output), named_after(scene, report)) for scene in scenes]
    _refuse_shared(jobs)
    for job in jobs:
        for place in job.written():
            files.check_can_write(place)
    return jobs


def _refuse_missing(scenes: Sequence[str]) -> None:
    missing = [f"'{scene}'" for scene in scenes if not os.path.isfile(files.absolute(scene))]
    if missing:
        them = "them" if missing[1:] else "it"
        raise IK2DError(f"there is no file {', '.join(missing)}; mend the names, or leave {them} out")


def _refuse_shared(jobs: Sequence[Job]) -> None:
    """Raise IK2DError where a file would be written twice, or while another job reads it."""
    scenes: dict[object, str] = {}
    for job in jobs:
        there = _identity(files.target_of(job.scene))
        if there in scenes:
            raise IK2DError(f"'{scenes[there]}' and '{job.scene}' are the same file; name it once")
        scenes[there] = job.scene
    writers: dict[object, str] = {}
    for job in jobs:
        for place in job.written():
            there = _identity(place)
            if writers.get(there, job.scene) != job.scene:
                raise IK2DError(
                    f"'{writers[there]}' and '{job.scene}' would both be written to '{place}'; bake them in"
                    " two runs, to two folders"
                )
            if scenes.get(there, job.scene) != job.scene:
                raise IK2DError(
                    f"the bake of '{job.scene}' would be written over '{scenes[there]}', which is to be baked"
                    " too; choose another place for it"
                )
            writers[there] = job.scene


def _identity(path: str) -> object:
    """Return the identity of a file, the same for all its paths."""
    try:
        status = os.stat(path)
    except OSError:
        path = os.path.normcase(path)
        return path.casefold() if sys.platform == "darwin" else path  # whose folders know no case, as a rule
    return status.st_dev, status.st_ino
