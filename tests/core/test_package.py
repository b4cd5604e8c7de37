# SPDX-License-Identifier: GPL-3.0-or-later
"""The solvers as a package for Python, `ik2d_core`, built as `make package` does and installed on its own.

Each installation is an environment of its own, with numpy from the package index and nothing of Blender.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from use_package import arm_examples

pytest.importorskip("build")  # in the environment of `make test`

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "sample_scenes", "docs", "tests")
# Pythons, as far as they are to be had, and numpy.
CASES = [("3.11", ">=1.26,<2"), ("3.11", ">=2,<3"), ("3.13", ">=2,<3"), ("3.14", ">=2,<3")]
pytestmark = pytest.mark.slow


def run(*command, cwd):
    """Run a command away from the checkout; return what it printed, or fail with it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    words = [str(part) for part in command]
    result = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def found_python(version):
    """Return a Python of a version that can make environments, or skip."""
    name = f"python{version}"
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for path in (shutil.which(name), *versions.glob(f"{version}.*/bin/{name}")):
        if (
            path
            and not subprocess.run([path, "-c", "import ensurepip, venv"], capture_output=True).returncode
        ):
            return path
    pytest.skip(f"{name} with venv is not installed here")


def installed(folder, python, *packages):
    """Make an environment with packages in it; return its Python."""
    run(python, "-m", "venv", folder / "environment", cwd=folder)
    own = folder / "environment" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(own, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages, cwd=folder)
    return own


def used(own, folder):
    """Use an installed package as a newcomer would; return what it says of itself."""
    page = ROOT / "docs" / "python.md"
    said = run(own, Path(__file__).with_name("use_package.py"), page, cwd=folder)
    result = subprocess.run(
        [own, "-m", "ik2d_core.demo"], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 1 and "pip install matplotlib" in result.stderr
    return said


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the checkout without .git."""
    folder = tmp_path_factory.mktemp("copy") / "ik2d"
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    return folder


@pytest.fixture(scope="module")
def built(copy, tmp_path_factory):
    """The folder with wheel and source, built from the copy as `make package` does."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, copy, cwd=folder)
    return folder


@pytest.mark.parametrize("python, numpy", CASES)
def test_the_wheel_works_alone(python, numpy, built, tmp_path):
    (wheel,) = built.glob("*.whl")
    own = installed(tmp_path, found_python(python), wheel, f"numpy{numpy}")
    said = used(own, tmp_path)
    assert f"ik2d_core {VERSION}" in said and f"Python {python}" in said
    assert f"numpy {numpy.removeprefix('>=').partition('.')[0].partition(',')[0]}." in said


def test_pip_installs_a_copy_without_git(copy, tmp_path):
    own = installed(tmp_path, sys.executable, copy)
    assert f"ik2d_core {VERSION}" in used(own, tmp_path)


def test_the_source_builds_the_same_wheel(built, tmp_path):
    (source,), (wheel,) = built.glob("*.tar.gz"), built.glob("*.whl")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", source, cwd=tmp_path)
    (other,) = tmp_path.glob("*.whl")
    assert other.read_bytes() == wheel.read_bytes()
    held = {name.partition("/")[2] for name in tarfile.open(source).getnames()}
    assert {"LICENSE", "pyproject.toml", "ik2d_addon/core/chain.py"} <= held
    assert not any("__pycache__" in name or name.startswith(("tests", "docs")) for name in held)


def test_the_wheel_holds_the_solvers_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    core = ROOT / "ik2d_addon" / "core"
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    sources = [path.relative_to(core).as_posix() for path in [*core.rglob("*.py"), core / "py.typed"]]
    sources += [f"demo/{path.name}" for path in (ROOT / "core_demo").glob("*.py")]
    assert names == {f"ik2d_core/{name}" for name in sources}
    metadata = zipfile.ZipFile(wheel).read(f"ik2d_core-{VERSION}.dist-info/METADATA").decode()
    assert "Requires-Dist: numpy>=1.26\n" in metadata and "License-Expression: GPL-3.0-or-later" in metadata


def test_types_reach_its_users(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path)
    page = arm_examples((ROOT / "docs" / "python.md").read_text(encoding="utf-8"))
    code = "".join(example.source for example in doctest.DocTestParser().get_examples(page))
    code += "reveal_type(solve_even(Chain([1.0], weights=[1]), [1.0, 0.0]))\nsolve_even([1.0], [1.0, 0.0])\n"
    (tmp_path / "user.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "user.py"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert "ik2d_core.solution.Solution" in result.stdout
    (error,) = re.findall(r"user.py:(\d+): error: (.*)", result.stdout)  # the last line, which is wrong
    assert error[0] == str(code.count("\n")) and 'expected "Chain"' in error[1]


def test_the_readme_of_the_package_runs(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    code = "\n".join(line[4:] for line in PROJECT["readme"]["text"].split("\n") if line.startswith("    "))
    alone = {"bpy": None, "ik2d_addon": None}
    lines = f"import sys\nsys.path.insert(0, {str(wheel)!r})\nsys.modules.update({alone!r})\n"
    said = run(sys.executable, "-c", lines + code, cwd=tmp_path)
    assert "True" in said and "False" in said  # two targets reached, one point out of the region
