# SPDX-License-Identifier: GPL-3.0-or-later
"""Build and validate the extension's zip with Blender's own builder, as found in the bpy module.

    python tools/build_extension.py FOLDER

Writes FOLDER/ik2d-VERSION.zip, with the pages that the window opens, and prints its path.
"""

import os
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.manual_page import PAGES, zip_page  # noqa: E402


def build(folder: Path) -> Path:
    """Build the zip into `folder` and return its path; exit where the builder or the validator complains."""
    import bl_pkg

    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text())
    archive = folder.resolve() / f"{manifest['id']}-{manifest['version']}.zip"
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.unlink(missing_ok=True)
    run(bl_pkg, "build", "--source-dir", str(ROOT), "--output-filepath", str(archive))
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as held:
        for page in PAGES:  # ik2d_addon/ui/manual.py opens them
            held.writestr(f"{page}.html", zip_page(page))
    # The builder looks at the manifest alone; only the validator of the full command line checks tags.
    run(bl_pkg, "validate", str(archive))
    return archive


def run(bl_pkg: ModuleType, *arguments: str) -> None:
    """Run a command of Blender's extension tool; exit where it fails."""
    if code := bl_pkg.cli_extension(list(arguments)):
        raise SystemExit(code)


def main() -> int:
    """Build into the folder that the command line names."""
    try:
        print(f"Built {os.path.relpath(build(Path(sys.argv[1])))}")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    return 0


if __name__ == "__main__":
    import bpy  # noqa: F401  bl_pkg is there only once bpy is

    exit_code = main()
    sys.stdout.flush()
    os._exit(exit_code)  # bpy 4.2 and 4.5 may crash or hang in Python's own exit
