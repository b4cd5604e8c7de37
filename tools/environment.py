# SPDX-License-Identifier: GPL-3.0-or-later
"""Make, mend or leave alone the virtual environment that the Makefile's targets run in.

    python3.11 tools/environment.py FOLDER BPY [GROUP ...]

FOLDER gets Blender's module bpy in version BPY (such as 5.0.1 or 4.2.*) and the packages of each GROUP of
[dependency-groups] in pyproject.toml. An environment that is found whole and as asked for is left as it is.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = "ik2d-environment.json"
# Runs in the environment. Importing bpy is the only sure sign that it and the system's libraries are whole.
PROBE = """
import importlib.metadata, json, sys
assert sys.version_info[:2] == (3, 11), sys.version
import bpy, numpy
assert bpy.app.version >= (4, 2, 0)  # a folder without the module itself can be imported too
print(json.dumps({d.name.lower(): d.version for d in importlib.metadata.distributions()}))
"""


def main(folder: str, bpy_version: str, *groups: str) -> int:
    """Bring the environment in `folder` to what is asked for; return the exit code."""
    environment = Path(folder)
    wanted = [f"bpy=={bpy_version}", *requirements("blender", *groups)]
    record = read_record(environment)
    whole = record["wanted"][:1] == wanted[:1] and is_as_recorded(environment, record["installed"])
    if whole and set(wanted) <= set(record["wanted"]):
        return 0
    task = "Completing" if whole else "Making"
    print(f"{task} {folder} with bpy {bpy_version}: a minute or two ...", flush=True)
    (environment / RECORD).unlink(missing_ok=True)
    if not whole:
        make_empty(environment)
    pip = [python_of(environment), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    run([*pip, *wanted], "pip could not install the packages: see the lines above. It needs the network")
    installed, error = probe(environment)
    if installed is None:
        return fail_to_start(error)
    (environment / RECORD).write_text(json.dumps({"wanted": wanted, "installed": installed}, indent=1))
    return 0


def make_empty(environment: Path) -> None:
    """Make a virtual environment with pip alone, in place of one that is there."""
    if environment.exists() and any(environment.iterdir()) and not (environment / "pyvenv.cfg").exists():
        sys.exit(f"{environment} holds something else and would be emptied; name another folder as VENV")
    run(
        [sys.executable, "-m", "venv", "--clear", str(environment)],
        f"{environment} could not be made: see the lines above. Debian's package for it is python3.11-venv",
    )


def requirements(*groups: str) -> list[str]:
    """Return the requirements of the dependency groups in pyproject.toml."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    return [requirement for group in groups for requirement in table[group]]


def read_record(environment: Path) -> dict:
    """Return what was asked for and installed when the environment was last completed."""
    try:
        return json.loads((environment / RECORD).read_text())
    except (OSError, ValueError):
        return {"wanted": [], "installed": {}}


def is_as_recorded(environment: Path, installed: dict[str, str]) -> bool:
    """Whether the environment starts and still holds every package in the recorded version."""
    found, _ = probe(environment)
    return found is not None and installed.items() <= found.items()


def probe(environment: Path) -> tuple[dict[str, str] | None, str]:
    """Return the packages in the environment, or None and the error when it does not start."""
    try:
        result = subprocess.run(
            [python_of(environment), "-c", PROBE], capture_output=True, text=True, timeout=120, check=True
        )
        return json.loads(result.stdout.splitlines()[-1]), ""
    except subprocess.CalledProcessError as error:
        return None, error.stderr.strip().rpartition("\n")[2]
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError) as error:
        return None, str(error)


def python_of(environment: Path) -> str:
    """Return the path of the environment's Python."""
    windows = sys.platform == "win32"
    return str(environment / ("Scripts/python.exe" if windows else "bin/python"))


def run(command: list[str], failure: str) -> None:
    """Run a command; where it fails, end with a sentence that says what to do."""
    if subprocess.run(command).returncode:
        sys.exit(failure)


def fail_to_start(error: str) -> int:
    """Say why bpy does not start and what to do; return the exit code."""
    print(f"Blender's module bpy does not start: {error}", file=sys.stderr)
    if ".so" in error:
        lines = (ROOT / "tools" / "debian-packages.txt").read_text().splitlines()
        packages = " ".join(line for line in lines if not line.startswith("#"))
        print(f"On Debian or Ubuntu: apt-get install {packages}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
