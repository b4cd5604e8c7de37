# SPDX-License-Identifier: GPL-3.0-or-later
"""Run tests in a real Blender, whose Python has no pytest of its own.

    blender --background --factory-startup --python tests/blender/run_in_blender.py -- FOLDER TEST ...

FOLDER holds pytest, as `pip install --target FOLDER pytest` puts it there.
"""

import os
import sys
from pathlib import Path

folder, *tests = sys.argv[sys.argv.index("--") + 1 :]
sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(folder).resolve()))
os.chdir(Path(__file__).resolve().parents[2])

import pytest  # noqa: E402

code = pytest.main([*tests, "-p", "no:cacheprovider"])
sys.stdout.flush()
os._exit(int(code))
