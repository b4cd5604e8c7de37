# SPDX-License-Identifier: GPL-3.0-or-later
"""Use the package as a newcomer would: every module, without Blender, and the examples of docs/python.md.

python use_package.py docs/python.md                     where it is installed, for test_package.py
blender --python use_package.py -- docs/python.md WHEEL  in that Blender's Python
"""

import doctest
import importlib
import pkgutil
import sys
from pathlib import Path


def main(page: str, wheel: str = "") -> None:
    """Use what is installed, or a wheel as it is; an AssertionError says what is wrong."""
    before = set(sys.modules)
    if wheel:
        sys.path.insert(0, wheel)
    import numpy

    core = importlib.import_module("ik2d_core")
    print("ik2d_core", core.__version__, "numpy", numpy.__version__, "Python", sys.version.split()[0])
    assert (wheel or "site-packages") in str(core.__file__), core.__file__
    names = [found.name for found in pkgutil.walk_packages(core.__path__, "ik2d_core.")]
    for name in names:
        if not name.startswith("ik2d_core.demo"):
            importlib.import_module(name)
    assert len(names) > 60, names
    others = {"bpy", "mathutils", "matplotlib", "ik2d_addon"} & (sys.modules.keys() - before)
    assert not others, others
    text = arm_examples(Path(page).read_text(encoding="utf-8"))
    test = doctest.DocTestParser().get_doctest(text, {}, page, None, 0)
    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert results.attempted > 10 and not results.failed, results


def arm_examples(page: str) -> str:
    """Return the part of docs/python.md that needs the package alone, as a doctest."""
    part = page.partition("\n## A robot arm\n")[2].partition("\n## Reference\n")[0]
    return part.replace("```pycon\n", "\n").replace("\n```", "\n")


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 if "--" in sys.argv else 1 :])
