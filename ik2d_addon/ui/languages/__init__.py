# SPDX-License-Identifier: GPL-3.0-or-later
"""The window's languages: labels and tooltips that Blender translates, and the sentences that we say.

`make translations` writes the catalogues beside this file: `<language>.json` from `<language>.po`.
"""

import json
from importlib.resources import files

import bpy

from ...core.words import translate_by

# The context of labels and sentences: in Blender's own, "Compress" is what happens to files.
CONTEXT = "IK2D"


def catalogue(language: str) -> dict[tuple[str, str], str]:
    """Return a language's catalogue, as Blender takes it: from contexts and texts in English to texts.

    Tooltips, which Blender looks up without a context, are there twice: sentences may quote them.
    """
    entries = json.loads(files(__name__).joinpath(f"{language}.json").read_text(encoding="utf-8"))
    return {(context, text): words for text, words in entries.items() for context in (CONTEXT, "*")}


def languages() -> list[str]:
    """Return the languages that there are catalogues of, by Blender's names: "de_DE"."""
    names = (path.name for path in files(__name__).iterdir())
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))


def register() -> None:
    """Register the catalogues; in the background, where pipelines read them, sentences stay English."""
    bpy.app.translations.register(__name__, {name: catalogue(name) for name in languages()})
    if not bpy.app.background:
        translate_by(in_users_language)


def in_users_language(template: str) -> str:
    """Return a template in the language of Blender's preferences, or as it is."""
    return bpy.app.translations.pgettext_iface(template, CONTEXT)


def unregister() -> None:
    """Take the catalogues out of Blender again."""
    translate_by()
    bpy.app.translations.unregister(__name__)
