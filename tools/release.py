# SPDX-License-Identifier: GPL-3.0-or-later
"""Build a release: python tools/release.py FOLDER [--tested]

FOLDER gets the extension's zip, the Python package, the platform's pictures, the pages, this version's notes
and checksums. Refused are a checkout with changes that are not committed, and one whose checks fail. --tested
leaves out the tests, which have just run elsewhere. At the end it says what a person has to do.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STYLE, TESTS = ("lint", "translations"), ("test",)
BUILDS = ("build", "package", "docs")


class Refused(Exception):
    """No release, and why."""


def release(folder: Path, is_tested: bool = False, root: Path = ROOT) -> str:
    """Build a release of the checkout `root` into `folder`; return what a person has to do.

    Raises Refused, with nothing new in `folder`, for changes that are not committed, a version without notes,
    a check that fails, and files that the builds change.
    """
    manifest = tomllib.loads((root / "blender_manifest.toml").read_text(encoding="utf-8"))
    version = manifest["version"]
    refuse_changes(root, "commit or remove")
    notes = notes_of(version, (root / "CHANGELOG.md").read_text(encoding="utf-8"))
    for target in (*STYLE, *(() if is_tested else TESTS)):
        make(target, root)
    shutil.rmtree(root / "dist", ignore_errors=True)  # of other versions
    for target in BUILDS:
        make(target, root)
    pictures = root / "build" / "platform_pictures"
    shutil.rmtree(pictures, ignore_errors=True)
    if subprocess.run([sys.executable, "tools/platform_pictures.py", str(pictures)], cwd=root).returncode:
        raise Refused("the pictures could not be made: see above")
    refuse_changes(root, "a build changed")
    built = sorted((root / "dist").iterdir())
    wanted = {f"ik2d-{version}.zip", f"ik2d_core-{version}.tar.gz", f"ik2d_core-{version}-py3-none-any.whl"}
    if {path.name for path in built} != wanted:
        names = ", ".join(path.name for path in built)
        raise Refused(f"the builds left {names} in dist, not those of version {version}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in built:
        shutil.move(path, folder / path.name)
    shutil.copytree(pictures, folder / "pictures")
    shutil.copytree(root / "build" / "site", folder / "pages")
    (folder / "notes.md").write_text(notes, encoding="utf-8")
    sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}" for name in sorted(wanted)]
    (folder / "SHA256SUMS").write_text("\n".join(sums) + "\n", encoding="utf-8")
    return to_do(manifest, folder)


def refuse_changes(root: Path, words: str) -> None:
    """Raise Refused for files that differ from the last commit, or are not in it."""
    command = ["git", "status", "--porcelain"]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if result.returncode:
        raise Refused(f"git does not know this folder: {result.stderr.strip()}")
    if result.stdout:
        raise Refused(f"{words} these files first, then make the release again:\n{result.stdout.rstrip()}")


def notes_of(version: str, changelog: str) -> str:
    """Return the part of the changelog for a version; raise Refused where there is none."""
    head, found, rest = changelog.partition(f"\n## [{version}]")
    if not found:
        raise Refused(f"CHANGELOG.md has no part '## [{version}]': write what changes for whom")
    return rest.partition("\n## ")[0].partition("\n")[2].strip() + "\n"


def make(target: str, root: Path) -> None:
    """Run a target of the Makefile in this environment; raise Refused where it fails."""
    result = subprocess.run(["make", target, f"VENV={sys.prefix}", "ARGS="], cwd=root)
    if result.returncode:
        raise Refused(f"make {target} failed: see above")


def to_do(manifest: dict, folder: Path) -> str:
    """Return what a person has to do with a release, step by step."""
    version, name = manifest["version"], os.path.relpath(folder)
    first = []
    if not manifest.get("website"):
        first.append('write website = "https://..." into blender_manifest.toml: where pages and issues are')
    if "@" not in manifest["maintainer"]:
        first.append('write maintainer = "Name <name@example.org>" into blender_manifest.toml')
    if first:
        first = [f"Before it is published: {'; '.join(first)}; commit, and make the release again."]
    steps = [
        *first,
        f"Tag the commit: git tag -a v{version} --cleanup=whitespace -F {name}/notes.md"
        f" && git push origin v{version}",  # else git drops the headings, which begin with #
        f"Upload {name}/ik2d-{version}.zip to Blender's extensions platform, with what is in {name}/pictures"
        f" and {name}/notes.md as its notes; docs/publishing.md has its rules.",
        f"Upload the package: python -m twine upload {name}/ik2d_core-{version}*",
        f"Copy {name}/pages to the website.",
    ]
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def main() -> int:
    """Build into the folder that the command line names; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tested", action="store_true", help="leave out the tests, which ran elsewhere")
    arguments = parser.parse_args()
    try:
        steps = release(arguments.folder.resolve(), arguments.tested)
    except Refused as why:
        print(f"No release: {why}", file=sys.stderr)
        return 1
    print(f"\nThe release is in {os.path.relpath(arguments.folder)}. What is left is for a person:\n{steps}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
