# SPDX-License-Identifier: GPL-3.0-or-later
"""Times that can be compared on a machine that does other things too."""

from collections.abc import Callable, Mapping
from time import perf_counter, process_time

Task = Callable[[], object]


def best_times(tasks: Mapping[str, Task], rounds: int) -> dict[str, float]:
    """Return each task's shortest time in seconds. They take turns, so that all meet the same noise."""
    times = {name: float("inf") for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            times[name] = min(times[name], time_of(task))
    return times


def time_of(task: Task) -> float:
    """Return how long a task takes once, in seconds."""
    start = perf_counter()
    task()
    return perf_counter() - start


def processor_time_of(task: Task) -> float:
    """Return the processors' time that a task takes once, in seconds: other processes' does not count."""
    start = process_time()
    task()
    return process_time() - start


def say(text: str) -> None:
    """Print a line of progress."""
    print(f"  {text} ...", flush=True)
