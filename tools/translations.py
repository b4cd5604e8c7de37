# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring the translations up to date: each language's .po, and the .json that the extension reads.

    python tools/translations.py

Labels and tooltips come from Blender's RNA, where it looks them up itself; sentences from the calls of `say`.
A text that is new is left empty in each .po, and shows in English until it is translated; one that is gone is
taken out. An empty .po makes a new language. The exit code is 1 while a text is not translated, which no
release may have.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "ik2d_addon"
FOLDER = PACKAGE / "ui" / "languages"
CONTEXT = "IK2D"
# Calls whose first argument is shown, or the second.
KEYWORDS = {"say": None, "refusal": None, "noted": None, "fix": None, "Fix": (2,)}
Message = tuple[str, str | None, str]  # the text, its context, and where it is from


def messages() -> Iterator[Message]:
    """Yield all that the window may show; the add-on has to be registered."""
    yield from labels()
    # The command line speaks English.
    for path in sorted(path for path in PACKAGE.rglob("*.py") if "cli" not in path.parts):
        with path.open("rb") as file:
            for _line, text, _comments, _context in extract("python", file, KEYWORDS):
                yield str(text), CONTEXT, path.relative_to(ROOT).as_posix()
    from ik2d_addon.core.words import NOUNS
    from ik2d_addon.features.doctor.fixes import FIXES

    for text in (text for texts in NOUNS.values() for text in texts):
        yield text, CONTEXT, "ik2d_addon/core/words.py"
    for one in FIXES.values():
        yield one.tooltip, None, "ik2d_addon/features/doctor/fixes.py"


def labels() -> Iterator[Message]:
    """Yield the labels, tooltips and choices of our classes and their properties, as Blender has them."""
    import bpy

    for kind in (bpy.types.Panel, bpy.types.Menu):
        for cls in sorted(ours(kind), key=lambda cls: cls.__name__):
            yield cls.bl_label, CONTEXT, cls.__name__
            yield cls.__doc__ or "", None, cls.__name__
    structs = [getattr(bpy.ops.ik2d, name).get_rna_type() for name in sorted(dir(bpy.ops.ik2d))]
    for rna in structs:
        yield rna.name, CONTEXT, rna.identifier
        yield rna.description, None, rna.identifier
    structs += [
        cls.bl_rna for kind in (bpy.types.PropertyGroup, bpy.types.AddonPreferences) for cls in ours(kind)
    ]
    files = (path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    drawn = {name for text in files for name in re.findall(r'(?:\.prop\w*|\bfield)\([^()]*?"(\w+)"', text)}
    for rna in sorted(structs, key=lambda rna: rna.identifier):
        for found in rna.properties:
            is_shown = not found.is_hidden or found.identifier in drawn  # a panel may show what F3 hides
            if found.translation_context != CONTEXT or not is_shown:
                continue
            yield found.name, CONTEXT, rna.identifier
            yield found.description, None, rna.identifier
            for item in found.enum_items_static if found.type == 'ENUM' else ():
                yield item.name, CONTEXT, rna.identifier
                yield item.description, None, rna.identifier


def ours(kind: type) -> list[type]:
    """Return our classes of one of Blender's kinds."""
    return [cls for cls in kind.__subclasses__() if cls.__name__.startswith("IK2D_")]


def template() -> Catalog:
    """Return the catalogue of all texts, in the order of their first place."""
    catalogue = Catalog(project="IK 2D", copyright_holder="IK 2D contributors", charset="utf-8")
    for text, context, place in messages():
        if any(letter.isalpha() for letter in text) and not text.startswith("IK2D_"):
            catalogue.add(text, context=context, locations=[(place, 1)])
    return catalogue


def in_po(catalogue: Catalog) -> str:
    """Return a catalogue as a .po file's text, without dates: it changes only when its texts do."""
    file = BytesIO()
    write_po(file, catalogue, width=110, omit_header=True, include_lineno=False)
    return file.getvalue().decode("utf-8")


def read(path: Path) -> Catalog:
    """Return a language's catalogue as it is in its .po file."""
    with path.open("rb") as file:
        return read_po(file, locale=path.stem)


def updated(catalogue: Catalog, path: Path) -> Catalog:
    """Return a language's catalogue with the texts of the template, and no others."""
    language = read(path)
    language.update(catalogue, no_fuzzy_matching=True)
    language.obsolete.clear()
    return language


def compiled(language: Catalog) -> str:
    """Return what the extension reads: the texts that are translated, as JSON."""
    entries = {message.id: message.string for message in language if message.id and message.string}
    return json.dumps(entries, ensure_ascii=False, indent=0, sort_keys=True) + "\n"


def main() -> int:
    """Write the files; return 1 if a text is not translated."""
    import ik2d_addon

    ik2d_addon.register()
    catalogue, code = template(), 0
    for path in sorted(FOLDER.glob("*.po")):
        language = updated(catalogue, path)
        path.write_text(in_po(language), encoding="utf-8")
        path.with_suffix(".json").write_text(compiled(language), encoding="utf-8")
        missing = [message.id for message in language if message.id and not message.string]
        print(f"{path.stem}: {len(catalogue) - len(missing)} of {len(catalogue)} texts are translated")
        code |= bool(missing)
    return code


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    result = main()
    sys.stdout.flush()
    os._exit(result)  # the bpy module may crash at exit
