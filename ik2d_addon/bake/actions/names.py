# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of actions: what is left of one without the name of its object tells which belong together."""

import re
from collections.abc import Iterable

# Words that people put next to a clip's name for the action of what the limbs follow.
WORDS = ("target", "targets")
_BETWEEN = " ._-|:"


def without(name: str, words: Iterable[str]) -> list[str]:
    """Return a name without one of some words at its start or its end, in lower case, for each that is there.

    Only whole words: those that a space, a dot, a line or an end of the name bounds.
    """
    folded, found = name.casefold(), []
    for word in {word.casefold() for word in words if word}:
        if folded.startswith(word) and folded[len(word) : len(word) + 1] in tuple(_BETWEEN):
            found.append(folded[len(word) :].strip(_BETWEEN))
        if folded.endswith(word) and folded[: -len(word)][-1:] in tuple(_BETWEEN):
            found.append(folded[: -len(word)].strip(_BETWEEN))
    return [left for left in found if left]


def cores(name: str, owner: str) -> set[str]:
    """Return the names of the clip that an action's name may stand for: itself, and without its object's."""
    return {name.casefold(), *without(name, [owner])}


def target_cores(name: str, owner: str) -> set[str]:
    """Return the names of the clip that an action's name stands for where it holds that of its object too."""
    return {core for left in without(name, [owner]) for core in (left, *without(left, WORDS))}


def common_cores(name: str) -> set[str]:
    """Return the names of the clip that the name of an action, such as "Walk targets", stands for."""
    return set(without(name, WORDS))


def numberless(name: str) -> str:
    """Return a name in lower case without the number that Blender gives the second of a name: "Walk.001"."""
    return re.sub(r"\.\d{3,}$", "", name.casefold())


def clip_name(name: str, owner: str) -> str:
    """Return the name of a clip of which the target's action alone is there; "" for a name of Blender's."""
    if numberless(name) == f"{owner}action".casefold():
        return ""
    for words in ((owner,), WORDS):
        for left in without(name, words):
            start = name.casefold().index(left)
            name = name[start : start + len(left)]
    return name


def has_word(name: str, word: str) -> bool:
    """Return whether a word is a whole one in a name."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", name, re.IGNORECASE) is not None
