# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences in the user's language: templates, numbers of things, and lists of names."""

from collections.abc import Callable, Iterable

# From a template in English to the one in the user's language. The window sets it (`ui.languages`): without
# one, as on the command line, sentences are English.
_translated: Callable[[str], str] = str
# What `number_of` counts: one, and more.
NOUNS = {
    "bone": ("{number} bone", "{number} bones"),
    "chain": ("{number} chain", "{number} chains"),
    "channel": ("{number} channel", "{number} channels"),
    "constraint": ("{number} constraint", "{number} constraints"),
    "contact": ("{number} contact", "{number} contacts"),
    "driver": ("{number} driver", "{number} drivers"),
    "faulty chain": ("{number} faulty chain", "{number} faulty chains"),
    "frame": ("{number} frame", "{number} frames"),
    "IK constraint": ("{number} IK constraint", "{number} IK constraints"),
    "key": ("{number} key", "{number} keys"),
    "modifier": ("{number} modifier", "{number} modifiers"),
    "other run": ("{number} other run", "{number} other runs"),
    "run": ("{number} run", "{number} runs"),
    "time": ("{number} time", "{number} times"),
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


def number_of(number: int, noun: str) -> str:
    """Return a number of things: "1 frame", "2 frames"."""
    one, more = NOUNS[noun]
    return say(one if number == 1 else more, number=number)


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
