# SPDX-License-Identifier: GPL-3.0-or-later
"""The way to the manual: from Help in the sidebar, and from Online Manual in the right-click menu.

The website of blender_manifest.toml, where it names one, is the site that `make docs` builds. Without one the
manual that the zip holds is opened, and in a checkout docs/manual.md itself.

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

from .languages import CONTEXT
from .parts import named

_EXTENSION = Path(str(files(__package__))).parents[1]
# The manual below the website, in the zip, and in a checkout.
ON_SITE = "docs/manual.html"
IN_ZIP = "manual.html"
_IN_CHECKOUT = "docs/manual.md"


@cache
def address(extension: Path = _EXTENSION) -> str:
    """Return the manual's address: on the website, or the file that the extension's folder has."""
    manifest = tomllib.loads((extension / "blender_manifest.toml").read_text(encoding="utf-8"))
    if website := manifest.get("website"):
        return f"{website.rstrip('/')}/{ON_SITE}"
    page = extension / IN_ZIP
    return (page if page.is_file() else extension / _IN_CHECKOUT).as_uri()


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
