# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames that the last bake missed: as stored, and as markers in the timeline."""

import re
from collections.abc import Iterator

from bpy.types import Context, Operator, PropertyGroup, Scene

from ...bake.request import FRAMES
from ...core import IK2DError
from ...core.words import number_of, refusal, say
from ...ui.context import active_armature, named_chain, shown_chain
from ...ui.operator import ChainOperator, chain_name
from ...ui.parts import entry
from ...ui.registration import registration
from .results import has_results

# Blender keeps 63 bytes of a marker's name; the chain's name gets these.
_NAME_BYTES = 50
# A run of missed frames as text.
_RUN = re.compile(r"(-?\d{1,9})(?:\.\.(-?\d{1,9}))?")


def stored_runs(chain: PropertyGroup) -> Iterator[tuple[int, int]]:
    """Yield the first and last frame of each run that the last bake missed; raise IK2DError if damaged."""
    for run in chain.missed_frames.split():
        if not (ends := _RUN.fullmatch(run)):
            raise _damaged(chain)
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if not -FRAMES <= first <= last <= FRAMES:
            raise _damaged(chain)
        yield first, last


def _damaged(chain: PropertyGroup) -> IK2DError:
    return IK2DError(
        say("The missed frames that are noted on chain '{chain}' are damaged; bake again", chain=chain.name)
    )


# --- Markers -----------------------------------------------------------------


def mark_frames(chain: PropertyGroup, scene: Scene) -> int:
    """Put markers on the first and last frame of each run that the chain's last bake missed.

    They replace the chain's earlier ones. Returns the number of runs. Raises IK2DError if these are damaged.
    """
    runs = list(stored_runs(chain))
    stem = chain.name.encode()[:_NAME_BYTES].decode(errors="ignore")
    first_name, last_name = f"{stem} missed", f"{stem} missed, end"
    for marker in list(scene.timeline_markers):
        if marker.name in (first_name, last_name):
            scene.timeline_markers.remove(marker)
    for first, last in runs:
        scene.timeline_markers.new(first_name, frame=first)
        if last > first:
            scene.timeline_markers.new(last_name, frame=last)
    return len(runs)


# --- The operator ------------------------------------------------------------


def _why_nothing_missed(context: Context) -> str:
    """Return why there is no missed frame to mark; "" if there is one."""
    armature = active_armature(context)
    if armature is None:
        return say("Make an armature the active object")
    if not (has_results(armature) and armature.ik2d.last_bake):
        return say("Bake first")
    missed = any(chain.missed_frames for chain in armature.ik2d.chains)
    return "" if missed else say("The last bake missed no frame")


def _missed_chain(context: Context, name: str) -> PropertyGroup:
    """Return the named chain, else the active one or the first that missed; raise IK2DError if none did."""
    chains = active_armature(context).ik2d.chains
    wanted = [named_chain(context, name)] if name else [shown_chain(context), *chains]
    for chain in wanted:
        if chain is not None and chain.missed_frames:
            return chain
    raise refusal("The last bake of chain '{name}' missed no frame", name=name)


class IK2D_OT_mark_frames(ChainOperator, Operator):
    """Put timeline markers where the frames that the last bake missed begin and end"""

    bl_idname = "ik2d.mark_frames"
    bl_label = "Mark Missed Frames"

    chain: chain_name("Chain to look at; empty for the active one")

    why_not = staticmethod(_why_nothing_missed)

    def work(self, context):
        chain = _missed_chain(context, self.chain)
        runs = number_of(mark_frames(chain, context.scene), "run")
        return say("Marked {runs} of frames that chain '{chain}' missed", runs=runs, chain=chain.name)


HEADINGS = {"missed-frames": "mark_frames"}
MENU = {"bake": [entry("ik2d.mark_frames", 'MARKER_HLT')]}
classes = (IK2D_OT_mark_frames,)
register, unregister = registration(classes)
