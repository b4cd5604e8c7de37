# SPDX-License-Identifier: GPL-3.0-or-later
"""Empties on targets while a scene is sampled, and what its view layer shows."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import bpy

from ..animation import versions
from ..chain.chain import RigChain
from .feet.deforming import grounds_of
from .record import Target


@contextmanager
def probes_on(
    scene: bpy.types.Scene, targets: Sequence[Target], chains: Sequence[RigChain] = (), own: bool = False
) -> Iterator[list[bpy.types.Object]]:
    """Put an empty on each target for a while, so that Blender evaluates hidden ones too.

    chains: those whose grounds are evaluated with their shapes too, which no other constraint asks for.
    In a scene of our own, a target that is an always visible empty needs none, which is faster.
    """
    made, probes, grounds = [], [], grounds_of(chains)
    try:
        for target, subtarget in targets:
            if own and _is_shown_empty(target):
                scene.collection.objects.link(target)
                probes.append(target)
                continue
            probe = bpy.data.objects.new("ik2d probe", None)
            made.append(probe)
            constraint = probe.constraints.new('COPY_TRANSFORMS')
            constraint.target, constraint.subtarget = target, subtarget
            if target in grounds:
                shape = probe.constraints.new('SHRINKWRAP')
                shape.target, shape.influence = target, 0.0
            scene.collection.objects.link(probe)
            probes.append(probe)
        yield probes
    finally:
        bpy.data.batch_remove(made)


def _is_shown_empty(ob: bpy.types.Object) -> bool:
    """Return whether an object is an empty without instances that no animation can hide."""
    return ob.type == 'EMPTY' and ob.instance_type == 'NONE' and not (ob.hide_viewport or _hides(ob))


def may_be_hidden(ob: bpy.types.Object, layer: bpy.types.ViewLayer) -> bool:
    """Return whether an object is hidden, or an animation may hide it at some time."""
    return not is_shown(ob, layer) or _hides(ob)


def _hides(ob: bpy.types.Object) -> bool:
    """Return whether an object's own animation may hide it."""
    animation = ob.animation_data
    if animation is None:
        return False
    driven = {curve.data_path for curve in animation.drivers}
    keyed = {curve.data_path for curve in versions.existing_fcurves(ob)}
    return "hide_viewport" in driven | keyed or bool(len(animation.nla_tracks))


def is_shown(ob: bpy.types.Object, layer: bpy.types.ViewLayer) -> bool:
    return bool(layer.objects.get(ob.name) == ob and ob.visible_get(view_layer=layer))


def view_layer_of(scene: bpy.types.Scene) -> bpy.types.ViewLayer:
    """Return the active view layer of the current scene, or the first one of another scene."""
    return bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]
