# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of options: each from the word that is given. Needs neither Blender nor numpy."""

import argparse
import re

_FRAMES = re.compile(r"([+-]?[0-9]+):([+-]?[0-9]+)(?::([+-]?[0-9]+))?", re.ASCII)
_MOST_JOBS = 1024
_DIGITS = 12  # a number with more of them is no frame


def name(text: str) -> str:
    """Return a name of Blender's data; raise ArgumentTypeError for anything else."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(f"'{text}' is not UTF-8, as all names in Blender are") from None
    return text


def frames(text: str) -> tuple[int, int, int]:
    """Return first frame, last and step of A:B or A:B:STEP; raise ArgumentTypeError for anything else."""
    numbers = _FRAMES.fullmatch(text)
    if not numbers or any(len(number) > _DIGITS for number in numbers.groups("")):
        raise argparse.ArgumentTypeError(f"'{text}' is not A:B or A:B:STEP, such as 1:250 or 1:250:2")
    first, last, step = numbers.groups("1")
    return int(first), int(last), int(step)


def length(text: str) -> float:
    """Return a length of zero or more; raise ArgumentTypeError for anything else."""
    try:
        length = float(text)
    except ValueError:
        length = -1.0
    if not 0.0 <= length < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a length of zero or more")
    return length


def vector(text: str) -> tuple[float, ...]:
    """Return the three numbers of X,Y,Z; raise ArgumentTypeError for anything else."""
    try:
        numbers = tuple(map(float, text.split(",")))
    except ValueError:
        numbers = ()
    if len(numbers) != 3 or not all(abs(number) < float("inf") for number in numbers):
        raise argparse.ArgumentTypeError(f"'{text}' is not X,Y,Z, such as 0,-1.2,0")
    return numbers


def seconds(text: str) -> float:
    """Return a number of seconds; raise ArgumentTypeError for anything else."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above zero")
    return seconds


def jobs(text: str) -> int:
    """Return a number of processes; raise ArgumentTypeError for anything else."""
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS and 0 < int(text) <= _MOST_JOBS):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of processes from 1 to {_MOST_JOBS}")
    return int(text)
