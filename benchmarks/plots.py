# SPDX-License-Identifier: GPL-3.0-or-later
"""The plots that the README and docs/benchmarks.md show."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from .accuracy import Accuracy
from .bakes import Speedup
from .problems import Floats
from .speed import Growth

# One colour and marker a contestant in all plots, told apart without colours too.
STYLES = {
    "IK 2D": ("#d95f02", "o", "-"),
    "plain CCD, 20 iterations": ("#7570b3", "v", ":"),
    "plain CCD, 100 iterations": ("#7570b3", "^", "--"),
    "IK constraint, locked to the plane": ("#1b9e77", "s", "-."),
}
_LABELS = {"IK constraint, locked to the plane": "Blender's IK constraint"}


def solved(results: Sequence[Accuracy], bones: Sequence[int], tolerance: float, path: Path) -> None:
    """Plot the share of targets that each contestant reached to a tolerance, over the number of bones."""
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True)
    titles = {"free": "joints that turn freely", "limited": "joints limited to ±60°"}
    for ax, accuracy in zip(axes, results, strict=True):
        for name, (colour, marker, line) in STYLES.items():
            shares = [100.0 * accuracy.share(name, n, tolerance) for n in bones]
            ax.plot(
                bones, shares, line, color=colour, marker=marker, label=_LABELS.get(name, name), clip_on=False
            )
        _log_bones(ax, bones)
        ax.set(title=titles[accuracy.kind], xlabel="bones", ylim=(0.0, 104.0))
    axes[0].set_ylabel(f"targets reached to {_power(tolerance)} of the reach, %")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncols=4, fontsize=9)
    _save(figure, path, bottom=0.09)


def shapes(rows: dict[str, Floats], targets: Floats, path: Path) -> None:
    """Plot poses beside one another, a row for each solver.

    rows: by the row's label, joints (m + 1, n + 1, 2): the rest pose, then one for each of targets (m, 2).
    """
    figure, axes = plt.subplots(
        len(rows), len(targets), figsize=(9.0, 1.35 * len(rows)), sharex=True, sharey=True
    )
    for row, (label, poses) in zip(axes, rows.items(), strict=True):
        for ax, joints, target in zip(row, poses[1:], targets, strict=True):
            ax.plot(*poses[0].T, "-", color="#bbbbbb", lw=1.5)
            ax.plot(*joints.T, "o-", color=STYLES["IK 2D"][0], ms=2.5, lw=1.8)
            ax.plot(*target, "+", color="black", ms=9.0, mew=1.5)
            ax.set_aspect("equal")
            ax.set_axis_off()
        row[0].set_title(label, loc="left", fontsize=10)
    _save(figure, path)


def smooth(curves: dict[str, Floats], path: Path) -> None:
    """Plot how far the joints of two bones turn from frame to frame on the first circle."""
    figure, ax = plt.subplots(figsize=(9.0, 2.8))
    for name, style in (
        ("IK constraint, locked to the plane", "IK constraint, locked to the plane"),
        ("IK 2D, CCD path", "IK 2D"),
    ):
        colour, _, _ = STYLES[style]
        label = _LABELS.get(style, style)
        ax.plot(np.arange(1, len(curves[name]) + 1), curves[name], "-", color=colour, lw=1.2, label=label)
    ax.set(
        xlabel="frame",
        ylabel="largest turn of a joint\nin one frame, degrees",
        yscale="symlog",
        ylim=(0.0, 250.0),
    )
    ax.set_title("two bones follow a target once round a circle")
    ax.set_yticks([0, 1, 10, 100], ["0", "1", "10", "100"])
    ax.legend(loc="upper left", fontsize=8)
    ax.grid(alpha=0.3)
    _save(figure, path)


def growth(growth: Growth, path: Path) -> None:
    """Plot the solvers' times over bones and frames."""
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6))
    styles = {
        "path": ("along a path", "#d95f02", "o"),
        "batch": ("all at once", "#7570b3", "s"),
        "single": ("one call a target", "#1b9e77", "^"),
    }
    panels = (
        (axes[0], growth.by_bones, "bones", "time a frame"),
        (axes[1], growth.by_frames, "frames", "time, 10 bones"),
    )
    for ax, curves, axis, what in panels:
        for name, (sizes, seconds) in curves.items():
            label, colour, marker = styles[name]
            ax.loglog(sizes, np.array(seconds) / growth.unit, color=colour, marker=marker, label=label)
        sizes, seconds = curves["path"]
        middle = len(sizes) // 2
        line = seconds[middle] / growth.unit / sizes[middle] * np.array(sizes)
        ax.loglog(sizes, line, color="grey", lw=0.8, ls="--", label="linear")
        ax.set(xlabel=axis, title=f"{what}, in frames of plain CCD with 10 bones")
        ax.title.set_fontsize(9)
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    _save(figure, path)


def bakes(speedups: Sequence[Speedup], curves: dict[str, tuple[list[int], list[float]]], path: Path) -> None:
    """Plot how many times faster than nla.bake we are, and how a bake grows."""
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.0), width_ratios=(3, 2))
    names = [
        speedup.name.replace(" of ", "\nof ", 1).replace(" next to", ",\nnext to") for speedup in speedups
    ]
    factors = [speedup.factor for speedup in speedups]
    bars = axes[0].barh(names[::-1], factors[::-1], color="#d95f02", log=True)
    axes[0].bar_label(
        bars,
        [f" {factor:,.2g}×" if factor < 100 else f" {round(factor, -2):,.0f}×" for factor in factors[::-1]],
    )
    axes[0].axvline(1.0, color="grey", lw=0.8)
    axes[0].set(xlim=(0.5, 10.0 * max(factors)), xlabel="times faster than an IK constraint with nla.bake")
    axes[0].tick_params(axis="y", labelsize=8)
    sizes, seconds = curves["frames"]
    axes[1].loglog(sizes, np.array(seconds) / seconds[0], color="#d95f02", marker="o", label="one chain")
    axes[1].loglog(sizes, np.array(sizes) / sizes[0], color="grey", lw=0.8, ls="--", label="linear")
    axes[1].set(xlabel="frames", ylabel=f"time of a bake\n({sizes[0]:,} frames: 1)")
    axes[1].legend(fontsize=8)
    axes[1].grid(alpha=0.3)
    _save(figure, path)


def _log_bones(ax: Axes, bones: Sequence[int]) -> None:
    ax.set_xscale("log")
    ax.set_xticks(bones, [str(n) for n in bones])
    ax.minorticks_off()
    ax.grid(alpha=0.3)


def _power(tolerance: float) -> str:
    return f"$10^{{{round(np.log10(tolerance))}}}$"


def _save(figure: plt.Figure, path: Path, bottom: float = 0.0) -> None:
    """Write a figure, with a part of its height left free at the bottom for a legend."""
    figure.tight_layout(rect=(0.0, bottom, 1.0, 1.0))
    # Without the version and date, the same numbers give the same file.
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
