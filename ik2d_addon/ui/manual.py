# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways to the manual and to the page on troubles: Help in panels, and Online Manual by right-click.

The website of blender_manifest.toml, where it names one, is the site that `make docs` builds. Without one the
page that the zip holds is opened, and in a checkout that of docs/ itself.

A setting or an operator is under the heading that is its label. `HEADINGS` of a module are the others:
"chain.pole" is a property of IK2D_PG_chain, "pole_fit" an operator, * any part of a name.
"""

import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path

import bpy
from bpy.types import UILayout

from .languages import CONTEXT
from .parts import named

_EXTENSION = Path(str(files(__package__))).parents[1]
MANUAL, TROUBLES = "manual", "troubleshooting"


@cache
def address(page: str = MANUAL, extension: Path = _EXTENSION) -> str:
    """Return a page's address: on the website, or the file that the extension's folder has."""
    manifest = tomllib.loads((extension / "blender_manifest.toml").read_text(encoding="utf-8"))
    if website := manifest.get("website"):
        return f"{website.rstrip('/')}/docs/{page}.html"
    in_zip = extension / f"{page}.html"
    return (in_zip if in_zip.is_file() else extension / "docs" / f"{page}.md").as_uri()


def draw_help(layout: UILayout, heading: str = "") -> None:
    """Draw the button that opens the page on troubles at a heading; without one, the manual."""
    button = layout.operator("wm.url_open", text="", icon='HELP', emboss=False)
    button.url = f"{address(TROUBLES)}#{heading}" if heading else address()


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the manual's address, and a heading for the name of each setting and operator."""
    patterns = [
        (pattern, heading)
        for headings in named("HEADINGS")
        for heading, names in headings.items()
        for pattern in names.split()
    ]
    found = []
    for name, short, label in _names():
        heading = next((heading for pattern, heading in patterns if fnmatchcase(short, pattern)), slug(label))
        if heading:
            found.append((f"bpy.{name}", f"#{heading}"))
    return address(), tuple(found)


def _names() -> Iterator[tuple[str, str, str]]:
    """Yield the RNA name of each setting and operator, its name in `HEADINGS`, and its label if it shows."""
    for name in dir(bpy.ops.ik2d):
        yield f"ops.ik2d.{name}", name, getattr(bpy.ops.ik2d, name).get_rna_type().name
    for kind in (bpy.types.PropertyGroup, bpy.types.AddonPreferences):
        for cls in (cls for cls in kind.__subclasses__() if cls.__name__.startswith("IK2D_")):
            for found in cls.bl_rna.properties:
                if found.translation_context == CONTEXT and found.identifier != "name":
                    name = f"{cls.__name__.lower()}.{found.identifier}"
                    yield f"types.{name}", name[len("ik2d_pg_") :], "" if found.is_hidden else found.name


def slug(label: str) -> str:
    """Return a heading's anchor."""
    return re.sub(r"\W+", "-", label.lower().replace("'", "")).strip("-")


def register() -> None:
    """Add our headings to those that Online Manual knows."""
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    """Take them away."""
    bpy.utils.unregister_manual_map(manual_map)
