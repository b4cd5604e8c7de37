# SPDX-License-Identifier: GPL-3.0-or-later
"""Start the demo of the solvers from a checkout, where `ik2d_core` is not installed.

    python tools/core_demo.py [--bones N] [--save PICTURE]

Installed, it is `python -m ik2d_core.demo`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import ik2d_addon.core

sys.modules["ik2d_core"] = ik2d_addon.core

from core_demo.__main__ import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
