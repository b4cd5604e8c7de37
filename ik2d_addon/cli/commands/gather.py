# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d gather`: the reports of many bakes as one, and whether all of them are near enough."""

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any, TextIO

from ...core import IK2DError
from ..console import complain, say
from ..exit_codes import BAD_INPUT, DONE, NOT_HELD
from ..files import files, reports


def gather(options: argparse.Namespace) -> int:
    """Print what the reports say, write them as one if asked for, and return the exit code."""
    with reports.stdout_of(options.report) as stdout:
        read = [_read(path) for path in options.reports]
        for entry in read:
            _tell(entry)
        if options.report is not None:
            _write(options, read, stdout)
    broken = [entry for entry in read if "problem" in entry]
    if broken:
        complain(f"ik2d: error: {len(broken)} of {len(read)} reports missing or broken")
        return BAD_INPUT
    return _verdict(read, options)


def _read(path: str) -> dict[str, Any]:
    """Return the summary of a report, ready for JSON, or the problem that keeps it from being read."""
    try:
        with open(files.absolute(path), encoding="utf-8") as file:
            content = json.load(file)
    except OSError as error:
        return {"report": path, "problem": f"it cannot be read ({error.strerror})"}
    except (ValueError, RecursionError):
        return {"report": path, "problem": "it is no JSON report; bake this file anew"}
    try:
        return {"report": path, **_summary(content)}
    except (LookupError, TypeError, ValueError, AttributeError):
        return {"report": path, "problem": "it is no report of `ik2d bake --report`; bake this file anew"}


def _summary(content: dict[str, Any]) -> dict[str, Any]:
    """Return the summary of a report; raise LookupError, TypeError or ValueError for anything else."""
    armatures = content["armatures"]
    if not armatures or not all(clip["chains"] or clip.get("mechanisms") for clip in _clips(armatures)):
        raise ValueError
    return {
        "file": str(content["file"]),
        "all_reached": all(bool(armature["all_reached"]) for armature in armatures),
        "max_error": max(_distance(armature["max_error"]) for armature in armatures),
        "summaries": [f"{armature['armature']}: {armature['summary']}" for armature in armatures],
        "left_out": [str(fault) for armature in armatures for fault in armature["left_out"]],
        "forced": [str(doubt) for chain in _chains(armatures) for doubt in chain.get("forced", ())],
        "chains": [
            {
                "armature": str(chain["armature"]),
                **({"action": str(chain["action"])} if "action" in chain else {}),
                "name": str(chain["name"]),
                "frames": len(chain["frames"]),
                "first_frame": chain["frames"][0],
                "last_frame": chain["frames"][-1],
                "keys": int(chain["keys"]),
                "max_error": _distance(chain["max_error"]),
                "fk_frames": int(chain.get("fk_frames", 0)),  # not in reports of 1.0
                "summary": str(chain["summary"]),
            }
            for chain in _chains(armatures)
        ],
        "mechanisms": list(dict.fromkeys(_mechanisms(armatures))),
    }


def _clips(armatures: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the reports of the armatures' actions; of the armatures where no actions were asked for."""
    return [clip for armature in armatures for clip in armature.get("by_action", [armature])]


def _chains(armatures: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the chains, each with the name of the action that holds its keys where that is known."""
    known = [({"action": clip["action"]} if "action" in clip else {}, clip) for clip in _clips(armatures)]
    return [{**chain, **action} for action, clip in known for chain in clip["chains"]]


def _mechanisms(armatures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the names of mechanisms."""
    for clip in _clips(armatures):
        yield from (str(one["name"]) for one in clip.get("mechanisms", ()))  # not in reports of 1.0


def _distance(number: object) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise TypeError
    if not 0.0 <= number < math.inf:
        raise ValueError
    return float(number)


def _tell(entry: dict[str, Any]) -> None:
    if "problem" in entry:
        complain(f"ik2d: error: the report '{entry['report']}': {entry['problem']}")
        return
    for summary in entry["summaries"]:
        say(f"ik2d: {entry['file']}: {summary}")
    for fault in (*entry["left_out"], *entry["forced"]):
        complain(f"ik2d: warning: {entry['file']}: {fault}")


def _write(options: argparse.Namespace, found: Sequence[dict[str, Any]], stdout: TextIO | None) -> None:
    """Write all of it as one report."""
    path = options.report
    if not path:
        raise IK2DError("--report is given without a name; name a file, or leave --report out")
    report = reports.file_of(path, "")
    if report in [files.target_of(one) for one in options.reports]:
        raise IK2DError(
            f"--report '{path}' would overwrite a report that is to be gathered; name another file"
        )
    read = [entry for entry in found if "problem" not in entry]
    content = {
        "complete": len(read) == len(found),
        "all_reached": all(entry["all_reached"] for entry in read),
        "max_error": max((entry["max_error"] for entry in read), default=None),
        "files": list(found),
    }
    with files.locked(report) if report else nullcontext():
        with reports.report_written(path, report, json.dumps(content, indent=1) + "\n", path, stdout):
            pass


def _verdict(found: Sequence[dict[str, Any]], options: argparse.Namespace) -> int:
    """Print the summary of all reports; return the exit code."""
    worst = max(found, key=lambda entry: entry["max_error"])
    joints = ", or opening of a joint," if any(entry["mechanisms"] for entry in found) else ""
    say(
        f"ik2d: {len(found)} reports; the largest distance from a tip to its target{joints}"
        f" is {worst['max_error']:.6g} units, in {worst['file']}"
    )
    allowed, broken = options.max_error, {}
    if allowed is not None:
        broken[f"over --max-error {allowed:g}"] = [entry for entry in found if entry["max_error"] > allowed]
        broken["chains left out or baked by force, so --max-error does not hold"] = [
            entry for entry in found if entry["left_out"] or entry["forced"]
        ]
        broken["chains FK on all frames, so --max-error does not hold"] = [
            entry
            for entry in found
            if any(chain["fk_frames"] >= chain["frames"] for chain in entry["chains"])
        ]
    if options.strict:
        broken["--strict does not hold"] = [entry for entry in found if not entry["all_reached"]]
    for words, entries in broken.items():
        if entries:
            complain(f"ik2d: {words}: {', '.join(entry['file'] for entry in entries)}")
    return NOT_HELD if any(broken.values()) else DONE
