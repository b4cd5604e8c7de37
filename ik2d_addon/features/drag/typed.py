# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers typed while something is dragged, as in Blender's transforms."""

from collections.abc import Callable, Sequence

_DIGITS = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
_KEYS = {
    **{name: str(digit) for digit, name in enumerate(_DIGITS)},
    **{f"NUMPAD_{digit}": str(digit) for digit in range(10)},
    **dict.fromkeys(("PERIOD", "NUMPAD_PERIOD", "COMMA"), "."),
}
_MINUS = ("MINUS", "NUMPAD_MINUS")


class Typed:
    """The text of one or two numbers, of which one is being typed."""

    def __init__(self) -> None:
        self.texts, self.active = ["", ""], 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing is typed, so that the mouse counts."""
        return not any(self.texts)

    def take(self, key: str, several: bool) -> bool:
        """Handle a key by Blender's name of it; return whether it was one of ours.

        several: whether there are two numbers, between which Tab switches.
        """
        text = self.texts[self.active]
        if key in _KEYS:
            if _KEYS[key] != "." or "." not in text:
                self.texts[self.active] = text + _KEYS[key]
        elif key in _MINUS:
            self.texts[self.active] = text[1:] if text.startswith("-") else f"-{text}"
        elif key == "BACK_SPACE" and not self.is_empty:
            self.texts[self.active] = text[:-1]
            if self.is_empty:
                self.active = 0
        elif key == "TAB":
            self.active = (self.active + 1) % 2 if several else 0
        else:
            return False
        return True

    def values(self, to_number: Callable[[str], float]) -> list[float]:
        """Return both numbers; 0 for one that is not typed yet."""
        return [to_number(text) if text.strip("-.") else 0.0 for text in self.texts]

    def in_words(self, names: Sequence[str]) -> str:
        """Return the typed numbers in words, the one being typed in brackets: "X: [1.5|]  Y: 0"."""
        shown = []
        for i, name in enumerate(names):
            text = self.texts[i] or "0"
            shown.append(f"{name}: [{self.texts[i]}|]" if i == self.active else f"{name}: {text}")
        return "  ".join(shown)
