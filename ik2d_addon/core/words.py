# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences in the user's language: templates, numbers of things, and lists of names."""

import re
from collections.abc import Callable, Iterable

from .errors import IK2DError

# From a template in English to the one in the user's language. The window sets it (`ui.languages`): without
# one, as on the command line, sentences are English.
_translated: Callable[[str], str] = str
# What `number_of` counts: one, and more.
NOUNS = {
    "action": ("{number} action", "{number} actions"),
    "bone": ("{number} bone", "{number} bones"),
    "chain": ("{number} chain", "{number} chains"),
    "channel": ("{number} channel", "{number} channels"),
    "clip": ("{number} clip", "{number} clips"),
    "constraint": ("{number} constraint", "{number} constraints"),
    "contact": ("{number} contact", "{number} contacts"),
    "driver": ("{number} driver", "{number} drivers"),
    "equation": ("{number} equation", "{number} equations"),
    "FK control": ("{number} FK control", "{number} FK controls"),
    "frame": ("{number} frame", "{number} frames"),
    "freedom": ("{number} freedom", "{number} freedoms"),
    "IK constraint": ("{number} IK constraint", "{number} IK constraints"),
    "key": ("{number} key", "{number} keys"),
    "loop": ("{number} loop", "{number} loops"),
    "mechanism": ("{number} mechanism", "{number} mechanisms"),
    "modifier": ("{number} modifier", "{number} modifiers"),
    "other run": ("{number} other run", "{number} other runs"),
    "pin": ("{number} pin", "{number} pins"),
    "ram": ("{number} ram", "{number} rams"),
    "run": ("{number} run", "{number} runs"),
    "time": ("{number} time", "{number} times"),
    "warning": ("{number} warning", "{number} warnings"),
}


def translate_by(translated: Callable[[str], str] = str) -> None:
    """Have sentences translated, each template by a function; without one they are English."""
    global _translated
    _translated = translated


class noted(str):
    """A constant in English, noted for translators: `say` translates it, also as the value of a place."""


def say(template: str, /, **places: object) -> str:
    """Return a sentence in the user's language, from a template with named places as in `str.format`."""
    if not places:
        return _translated(template)
    values = {name: _translated(value) if type(value) is noted else value for name, value in places.items()}
    return _translated(template).format(**values)


def refusal(template: str, /, **places: object) -> IK2DError:
    """Return the error for a user's input, its message in the user's language as `say` has it."""
    return IK2DError(say(template, **places))


def number_of(number: int, noun: str) -> str:
    """Return a number of things: "1 frame", "2 frames"."""
    single, more = NOUNS[noun]
    return say(single if number == 1 else more, number=number)


def quoted(names: Iterable[str]) -> str:
    """Return a list of names in quotes: "'a', 'b'"."""
    return ", ".join(f"'{name}'" for name in names)


def listed(names: Iterable[str], most: int | None = None) -> str:
    """Return a list of names in quotes, as it is spoken: "'a', 'b' and 'c'".

    most: how many are named of more, "'a', 'b', 'c' and 2 more"; a single one in place of "1 more".
    """
    words = [f"'{name}'" for name in names]
    if most is not None and len(words) > most + 1:
        words[most:] = [say("{number} more", number=len(words) - most)]
    return say(" and ").join(filter(None, (", ".join(words[:-1]), *words[-1:])))


# The side in a name, as Blender writes it at the end: "thigh.L", "thigh_r".
_SIDE = re.compile(r"(?<=[._-])[LRlr](?![A-Za-z0-9])")


def once_for_all(told: Iterable[tuple[str, str]]) -> list[tuple[list[str], str]]:
    """Return each text once, after the names that it is told of. told: pairs of a name and a text.

    Texts that differ by the sides in their names alone are one: "limits of 'shin.L/R'".
    """
    sorted_lines: dict[str, dict[str, list[str]]] = {}
    for name, text in told:
        names = sorted_lines.setdefault(_SIDE.sub("*", text), {}).setdefault(text, [])
        if name not in names:
            names.append(name)
    lines = []
    for texts in sorted_lines.values():
        names = list(dict.fromkeys(name for names in texts.values() for name in names))
        text = next(iter(texts))
        lines.append((names, _SIDE.sub("L/R", text) if len(texts) > 1 else text))
    return lines
