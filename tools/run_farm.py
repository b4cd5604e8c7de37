# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the farm's job template on the sample scenes, with openjd on this machine, and check the results.

    python tools/run_farm.py FOLDER [BLENDER [EXTENSION]]

FOLDER is made anew for the baked scenes and the reports. BLENDER is a Blender that has the extension, or gets
the zip EXTENSION from the queue environment; without it the tasks run the bpy module of this Python. openjd
(openjd-cli) is the one beside this Python.
"""

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "farm" / "ik2d_bake.job.yaml"
ENVIRONMENT = ROOT / "farm" / "deadline_queue_environment.yaml"
CHECK = ROOT / "tests" / "blender" / "check_samples.py"
SAMPLES = sorted((ROOT / "sample_scenes").glob("[0-9]*.blend"))
# Sample 04 is out of reach by 0.56 m, on purpose.
ENOUGH, NOT_ENOUGH = "0.6", "0.5"


def main(folder: str, blender: str = "", extension: str = "") -> int:
    """Run the job, then its last step with a limit that must fail; return the exit code."""
    output = Path(folder).resolve()
    shutil.rmtree(output, ignore_errors=True)
    if run_job(output, blender, extension, ENOUGH):
        return fail("the job has failed: see the lines above")
    problems = [*wrong_in_summary(output / "ik2d_summary.json"), *wrong_poses(output)]
    if not run_job(output, blender, extension, NOT_ENOUGH, "--step", "Gather", "--no-run-dependencies"):
        problems.append(f"the job does not fail where a distance is over {NOT_ENOUGH}")
    if problems:
        return fail("\n".join(problems))
    print(f"\nmake farm: {len(SAMPLES)} scenes baked by a job of openjd, each pose as its report says, and")
    print(f"  the job fails where it should: {output / 'ik2d_summary.json'}")
    return 0


def run_job(output: Path, blender: str, extension: str, max_error: str, *arguments: str) -> int:
    """Run the template; return openjd's exit code."""
    if blender:
        command = [blender, "--background", "--command", "ik2d"]
    else:
        command = ["env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "ik2d_addon"]
    parameters = {
        "SceneFolder": str(ROOT / "sample_scenes"),
        "Scenes": "[0-9]*.blend",
        "SceneCount": str(len(SAMPLES)),
        "OutputFolder": str(output),
        "MaxError": max_error,
        "Command": shlex.join(command),
    }
    if extension:
        parameters |= {"IK2DExtension": str(Path(extension).resolve()), "Blender": blender}
        arguments = ("--environment", str(ENVIRONMENT), *arguments)
    openjd = Path(sys.executable).with_name("openjd")
    given = [f"{name}={value}" for name, value in parameters.items()]
    pairs = [word for pair in given for word in ("--job-param", pair)]
    return subprocess.run([openjd, "run", TEMPLATE, *pairs, *arguments], check=False).returncode


def wrong_in_summary(path: Path) -> Iterator[str]:
    """Yield a sentence for each thing in the gathered report that is not as it must be."""
    summary = json.loads(path.read_text(encoding="utf-8"))
    names = [entry["file"] for entry in summary["files"]]
    if names != [sample.name for sample in SAMPLES] or not summary["complete"]:
        yield f"the gathered report has the files {names}, complete: {summary['complete']}"
    if not float(NOT_ENOUGH) < summary["max_error"] < float(ENOUGH):
        yield f"the largest distance is {summary['max_error']}"
    for entry in summary["files"]:
        for chain in entry["chains"]:
            frames = chain["last_frame"] - chain["first_frame"] + 1
            if not chain["keys"] == chain["frames"] == frames > 1:
                yield f"{entry['file']}, {chain['name']}: {chain['keys']} keys on {chain['frames']} frames"


def wrong_poses(output: Path) -> Iterator[str]:
    """Yield a sentence for each baked scene whose evaluated pose is not as its report says."""
    for sample in SAMPLES:
        report = output / f"{sample.stem}.json"
        check = [sys.executable, CHECK, "--", "--baked", output / sample.name, report]
        if subprocess.run(check, check=False).returncode:
            yield f"{sample.name}: the pose is not as its report says"


def fail(words: str) -> int:
    """Say what is wrong and return the exit code."""
    print(f"\nmake farm: FAILED: {words}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
