# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make release` refuses, and what it leaves, in a checkout whose targets are small ones."""

import shutil
import subprocess

import pytest

from tools.release import Refused, notes_of, release

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (shutil.which("git") and shutil.which("make")), reason="needs git and make"),
]
MAKEFILE = """
.PHONY: lint translations test build package docs
lint:
\t@echo lint >> build/ran
translations:
\t@echo translations >> build/ran
test:
\t@echo test >> build/ran
build:
\t@mkdir -p dist; echo zip > dist/ik2d-3.1.0.zip
package:
\t@echo wheel > dist/ik2d_core-3.1.0-py3-none-any.whl; echo source > dist/ik2d_core-3.1.0.tar.gz
docs:
\t@mkdir -p build/site; echo page > build/site/index.html
"""
PICTURES = (
    "import sys, pathlib; p = pathlib.Path(sys.argv[1]); p.mkdir(); (p / 'icon.png').write_text('icon')"
)
CHANGES = "# Changelog\n\n## [3.1.0]\n\n### For all\n\n- More.\n\n## [3.0.0]\n\nLess.\n"
MANIFEST = 'version = "3.1.0"\nmaintainer = "IK 2D contributors"\n'


@pytest.fixture
def checkout(tmp_path):
    """A small project under git, whose targets only leave traces."""
    root = tmp_path / "project"
    (root / "tools").mkdir(parents=True)
    (root / "build").mkdir()
    for name, text in {
        "Makefile": MAKEFILE,
        "CHANGELOG.md": CHANGES,
        "blender_manifest.toml": MANIFEST,
        "tools/platform_pictures.py": PICTURES,
        ".gitignore": "/build/\n/dist/\n",
    }.items():
        (root / name).write_text(text, encoding="utf-8")
    git(root, "init", "-q")
    commit(root)
    return root


def git(root, *arguments):
    """Run git with a name of its own."""
    who = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def commit(root):
    """Commit everything."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "All")


def change(root, name, old, new):
    """Replace a text in a file and commit."""
    path = root / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    commit(root)


def refused(root, folder, words):
    """Assert that there is no release, for a reason, and nothing of one."""
    with pytest.raises(Refused, match=words):
        release(folder, root=root)
    assert not folder.exists()


def test_a_release_has_all_that_is_published_and_says_what_is_left(checkout, tmp_path):
    folder = tmp_path / "release"
    steps = release(folder, root=checkout)
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert names == {
        *("ik2d-3.1.0.zip", "ik2d_core-3.1.0-py3-none-any.whl", "ik2d_core-3.1.0.tar.gz"),
        *("pictures/icon.png", "pages/index.html", "notes.md", "SHA256SUMS"),
    }
    assert (folder / "notes.md").read_text(encoding="utf-8") == "### For all\n\n- More.\n"
    assert (checkout / "build" / "ran").read_text(encoding="utf-8") == "lint\ntranslations\ntest\n"
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    for words in ("website", "maintainer", "v3.1.0", "extensions platform", "twine upload", "pages"):
        assert words in steps
    git(checkout, "tag", "-a", "v3.1.0", "--cleanup=whitespace", "-F", str(folder / "notes.md"))
    message = ["git", "tag", "-l", "--format=%(contents)", "v3.1.0"]
    said = subprocess.run(message, cwd=checkout, check=True, capture_output=True, text=True).stdout
    assert "git tag -a v3.1.0 --cleanup=whitespace" in steps and said.startswith("### For all\n\n- More.\n")
    change(
        checkout,
        "blender_manifest.toml",
        "contributors",
        'A <a@example.org>"\nwebsite = "https://example.org',
    )
    assert "maintainer" not in release(folder, is_tested=True, root=checkout)  # a second one takes its place
    ran = ("lint", "translations", "test", "lint", "translations")
    assert (checkout / "build" / "ran").read_text(encoding="utf-8") == "".join(f"{name}\n" for name in ran)


def test_a_dirty_tree_is_refused_before_anything_runs(checkout, tmp_path):
    (checkout / "new.txt").write_text("new", encoding="utf-8")
    refused(checkout, tmp_path / "release", "commit or remove these files first(.|\n)*new.txt")
    (checkout / "new.txt").unlink()
    (checkout / "CHANGELOG.md").write_text(CHANGES + "more\n", encoding="utf-8")
    refused(checkout, tmp_path / "release", "CHANGELOG.md")
    assert not (checkout / "build" / "ran").exists()


@pytest.mark.parametrize("target", ["lint", "translations", "test", "build", "package", "docs"])
def test_a_check_or_a_build_that_fails_is_refused(checkout, tmp_path, target):
    change(checkout, "Makefile", f"{target}:\n\t@", f"{target}:\n\t@false; exit 1; ")
    refused(checkout, tmp_path / "release", f"make {target} failed")


def test_a_version_without_notes_is_refused(checkout, tmp_path):
    change(checkout, "CHANGELOG.md", "[3.1.0]", "[Unreleased]")
    refused(checkout, tmp_path / "release", r"no part '## \[3.1.0\]'")
    assert notes_of("3.0.0", CHANGES) == "Less.\n"


def test_a_build_of_another_version_is_refused(checkout, tmp_path):
    change(checkout, "Makefile", "dist/ik2d-3.1.0.zip", "dist/ik2d-3.0.0.zip")
    refused(checkout, tmp_path / "release", "ik2d-3.0.0.zip")


def test_a_build_that_changes_files_is_refused(checkout, tmp_path):
    change(checkout, "Makefile", "docs:\n\t@", "docs:\n\t@echo >> CHANGELOG.md; ")
    refused(checkout, tmp_path / "release", "a build changed(.|\n)*CHANGELOG.md")


def test_a_folder_that_git_does_not_know_is_refused(checkout, tmp_path):
    shutil.rmtree(checkout / ".git")
    refused(checkout, tmp_path / "release", "git does not know")
