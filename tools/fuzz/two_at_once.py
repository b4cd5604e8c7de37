# SPDX-License-Identifier: GPL-3.0-or-later
"""Two bakes of one file at once: one bakes, the other does so too or is told that the file is in use."""

import re
import subprocess
from pathlib import Path

from . import judge
from .case import Case, Outcome, Result
from .program import Ended, ended, pause

LOCKED = re.compile("by another ik2d process")
DELAYS = (0.0, 0.0, 0.0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.7)  # seconds


def run(case: Case) -> Result:
    """Start two bakes and judge both, the file and what is left."""
    random = case.random
    scene = case.scene(random.choice(("05_deadlock", "02_excavator", "04_out_of_reach packed")))
    names, written, what = _names(case, scene)
    delay = random.choice(DELAYS)
    # A report each: two of one name would be told from a half one by nobody.
    reports = [case.place / f"r{i}.json" for i in range(2)] if random.random() < 0.5 else []
    started: list[subprocess.Popen] = []
    for i, own in enumerate(names):
        words = ["bake", *own, *(["--report", reports[i]] if reports else [])]
        started.append(case.program.start(words, env={"TMPDIR": str(case.temporary)}))
        pause(delay * (1 - i))
    both = [ended(process) for process in started]
    complaints = [
        f"the {nth}: {c}" for nth, one in zip(("first", "second"), both, strict=True) for c in of(one)
    ]
    if all(one.code != 0 for one in both):
        complaints.append("neither of them baked")
    found = case.blender.look(written) if written.is_file() else None
    if not found or not found["baked"]:
        complaints.append(f"{written.name} " + ("has no keys" if found else "does not open or is gone"))
    complaints += judge.whole(case.place.glob("*.blend1"), lambda path: case.blender.look(path))
    complaints += [*judge.litter(case.place), *judge.empty(case.temporary)]
    outcome = Outcome.DONE if all(one.code == 0 for one in both) else Outcome.REFUSED
    printed = Ended(max(one.code for one in both), "\n".join(one.text for one in both))
    return case.result(f"{what}, {delay} s apart", outcome, complaints, printed)


def of(one: Ended) -> list[str]:
    """Judge one of the two."""
    complaints = judge.manners(one, (0, 2))
    if one.code == 2 and not any(LOCKED.search(line) for line in one.err.splitlines() if judge.ERROR in line):
        complaints.append("is refused for another reason than the lock")
    return complaints


def _names(case: Case, scene: Path) -> tuple[list[list[str | Path]], Path, str]:
    """Return the files that each is given, the file that both write, and words for it."""
    kind = case.random.randrange(3)
    if kind == 0:
        return [[scene], [scene]], scene, "in place"
    if kind == 1:
        link = case.place / "link.blend"
        link.symlink_to("scene.blend")
        return [[scene], [link]], scene, "in place, one by a link"
    output = case.place / "out.blend"
    return [[scene, "--output", output]] * 2, output, "to one output"
