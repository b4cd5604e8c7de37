# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of sentences: numbers of things, and lists of names."""

from collections.abc import Iterable


def number_of(number: int, noun: str) -> str:
    """Return a number of things: "1 frame", "2 frames"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def quoted(names: Iterable[str]) -> str:
    """Return a list of names in quotes: "'a', 'b'"."""
    return ", ".join(f"'{name}'" for name in names)


def listed(names: Iterable[str], most: int | None = None) -> str:
    """Return a list of names in quotes, as it is spoken: "'a', 'b' and 'c'".

    most: how many are named of more, "'a', 'b', 'c' and 2 more"; a single one in place of "1 more".
    """
    words = [f"'{name}'" for name in names]
    if most is not None and len(words) > most + 1:
        words[most:] = [f"{len(words) - most} more"]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
