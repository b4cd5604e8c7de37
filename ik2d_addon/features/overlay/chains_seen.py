# SPDX-License-Identifier: GPL-3.0-or-later
"""The chains and mechanisms that the overlay draws in a viewport, and their figure over its background."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from bpy.types import Context, Object, PropertyGroup

from ...bake.lengths import Units
from ...bake.reporting.causes import FK
from ...core import IK2DError
from ...core.words import say
from ...live.registry import problem_of_live
from ...live.status.chain import off_words
from ...rig.chain.chain import RigChain, read_chain
from ...rig.chain.fingerprint import settings_of
from ...rig.mechanism.read import read_mechanism
from ...ui.context import active_armature, active_chain, active_mechanism, shown_chain
from . import figure as figures
from .chain_view import NOT_SOLVED, ChainView, view_chain
from .colors import RGB, WORDS, readable
from .figure import Figure, Miss
from .mechanism_view import (
    FAINT,
    MechanismView,
    draw_dragged,
    draw_faulty,
    draw_joints,
    draw_ranges,
    view_mechanism,
)
from .settings import COLORS
from .target_path import path_of

# Animated settings that a rig is not read from: it is kept when the frame changes.
_OF_FRAMES = {"turn_over", "influence", "plane_turn", "length"}
# A mechanism's settings, and how it is drawn; None where it cannot be read.
MechanismSeen: TypeAlias = tuple[PropertyGroup, MechanismView | None]


def chains_seen(context: Context, all_chains: bool) -> tuple[Object | None, list[PropertyGroup]]:
    """Return the armature that the sidebar shows, and those of its chains that the overlay draws."""
    armature = active_armature(context)
    if armature is None or armature.pose is None or not armature.is_property_set("ik2d"):
        return armature, []
    if all_chains:
        return armature, [chain for chain in armature.ik2d.chains if chain.enabled]
    chain = shown_chain(context)
    return armature, [] if chain is None else [chain]


def mechanisms_seen(armature: Object | None, all_chains: bool) -> list[PropertyGroup]:
    """Return the mechanisms of an armature that the overlay draws."""
    if armature is None or armature.pose is None or not armature.is_property_set("ik2d"):
        return []
    if all_chains:
        return [mechanism for mechanism in armature.ik2d.mechanisms if mechanism.enabled]
    active = active_mechanism(armature)
    return [] if active is None else [active]


def settings_seen(chains: list[PropertyGroup], mechanisms: list[PropertyGroup]) -> list[tuple]:
    """Return the settings of chains and mechanisms: no handler of Blender tells when scripts change them."""
    of_chains = [
        (chain.name, chain.tip, settings_of(chain, _OF_FRAMES), *map(settings_of, chain.joints))
        for chain in chains
    ]
    return of_chains + [
        (
            (mechanism.name, mechanism == active_mechanism(mechanism.id_data)),
            settings_of(mechanism),
            [bone.name for bone in mechanism.bones],
            [driver.target for driver in mechanism.drivers],
            *(
                settings_of(part, _OF_FRAMES)
                for part in (*mechanism.bones, *mechanism.joints, *mechanism.drivers)
            ),
        )
        for mechanism in mechanisms
    ]


def mechanism_views(
    armature: Object, mechanisms: list[PropertyGroup], rigs: dict[tuple, Any]
) -> list[MechanismSeen]:
    """Return mechanisms in the current pose; None for one that cannot be read. rigs: as `chain_views`."""
    views: list[MechanismSeen] = []
    for mechanism in mechanisms:
        key = armature.session_uid, mechanism.path_from_id()
        try:
            if key not in rigs:
                rigs[key] = read_mechanism(armature, mechanism)
            views.append((mechanism, view_mechanism(rigs[key], mechanism)))
        except IK2DError:
            views.append((mechanism, None))
    return views


def draw_mechanisms(
    figure: Figure,
    views: Sequence[MechanismSeen],
    settings: PropertyGroup,
    colors: dict[str, RGB],
    units: Units,
) -> None:
    """Add mechanisms, the active one brighter."""
    for mechanism, view in views:
        alpha = 1.0 if mechanism == active_mechanism(mechanism.id_data) else FAINT
        if view is None:
            if settings.miss:
                draw_faulty(figure, mechanism, colors["miss"], alpha)
            continue
        if settings.limits:
            draw_ranges(figure, view, colors["limit"], colors["miss"], alpha)
        if settings.joints:
            draw_joints(figure, view, colors["joint"], colors["miss" if settings.miss else "joint"], alpha)
        if settings.miss:
            draw_dragged(figure, view, colors["miss"], colors["plane"], units)


def chain_views(
    armature: Object, chains: list[PropertyGroup], rigs: dict[tuple, RigChain]
) -> list[tuple[PropertyGroup, ChainView]]:
    """Return the chains in the current pose. rigs: those read before, by armature and name.

    Chains that cannot be read are left out: the sidebar tells about them.
    """
    views = []
    for chain in chains:
        try:
            key = armature.session_uid, chain.name
            if key not in rigs:
                rigs[key] = read_chain(armature, chain)
            views.append((chain, view_chain(rigs[key], chain)))
        except IK2DError:
            continue
    return views


def figure_of(
    armature: Object,
    views: list[tuple[PropertyGroup, ChainView]],
    settings: PropertyGroup,
    background: RGB,
    units: Units,
    mechanisms: Sequence[MechanismSeen] = (),
) -> Figure:
    """Return the figure of an armature's chains and mechanisms over a background."""
    figure = Figure()
    colors = {name.removesuffix("_color"): readable(getattr(settings, name), background) for name in COLORS}
    active = armature.data.bones.active
    posed = armature.mode == 'POSE'
    several, chosen_chain = len(views) > 1, active_chain(armature)
    for chain, chain_view in views:
        if settings.plane and (not several or chain == chosen_chain):  # of many, the patches hide all else
            figures.draw_plane(figure, chain_view, colors["plane"])
        if settings.pops:
            figures.draw_pops(figure, chain_view, colors["pop"])
        if settings.reach:
            figures.draw_reach(figure, chain_view, colors["reach"])
        if settings.limits:
            chosen = active.name if posed and active is not None else ""
            figures.draw_limits(figure, chain_view, colors["limit"], colors["miss"], chosen)
            figures.draw_post_limits(figure, chain_view, colors["limit"], colors["miss"])
        path = path_of(chain) if settings.path else None
        if path is not None:
            figures.draw_path(figure, chain_view, path, colors["path"], colors["miss"])
        if settings.bend:
            figures.draw_bend(figure, chain_view, colors["bend"])
            figures.draw_pole(figure, chain_view, colors["bend"])
            figures.draw_post(figure, chain_view, colors["bend"])
        if settings.foot:
            figures.draw_foot(figure, chain_view, colors["foot"])
        if settings.miss:
            miss = miss_of(chain, chain_view, units)
            if several:
                miss = miss._replace(words=miss.words and f"{chain.name}: {miss.words}")
            figures.draw_miss(figure, chain_view, colors["miss"], colors["plane"], miss)
            figures.draw_heading(figure, chain_view, colors["miss"])
    draw_mechanisms(figure, mechanisms, settings, colors, units)
    figure.labels = [
        (place, words, readable(color, background, WORDS)) for place, words, color in figure.labels
    ]
    return figure


def miss_of(chain: PropertyGroup, chain_view: ChainView, units: Units) -> Miss:
    """Return how far a chain's tip is off its target, and why: of a live chain as the sidebar says it."""
    if chain.live and chain.enabled and not problem_of_live(chain):
        status = chain.live_status
        return Miss("" if chain.live_reached else status, status != say(FK))
    if not (why := chain_view.why_missed):
        return Miss("")
    return Miss(f"{off_words(chain_view.distance, units)}: {say(why)}", why != NOT_SOLVED)


def background_of(context: Context) -> RGB:
    """Return the viewport's background colour, as the theme or the shading options set it."""
    shading = context.space_data.shading
    if shading.type in {'WIREFRAME', 'SOLID'} and shading.background_type == 'VIEWPORT':
        return tuple(shading.background_color)
    gradients = context.preferences.themes[0].view_3d.space.gradients
    if gradients.background_type == 'SINGLE_COLOR':
        return tuple(gradients.high_gradient)
    return tuple(0.5 * (a + b) for a, b in zip(gradients.high_gradient, gradients.gradient, strict=True))
