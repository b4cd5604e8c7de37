# SPDX-License-Identifier: GPL-3.0-or-later
"""Grounds whose mesh may deform, and their surfaces on each frame."""

from collections.abc import Iterable, Iterator, Sequence

import bpy
import numpy as np
from numpy.typing import NDArray

from ....core.inputs import Floats
from ...animation import versions
from ...chain.chain import RigChain
from ...chain.dependencies import Node, influences
from ..own_scene import handlers
from ..rounding import rounding
from .goals import shown_sole
from .surface import MeshReader, Surface

# Modifiers whose result depends on their mesh and settings alone, if these name no other data.
_STILL = {
    *('ARRAY', 'BEVEL', 'BOOLEAN', 'CAST', 'CORRECTIVE_SMOOTH', 'CURVE', 'DATA_TRANSFER', 'DECIMATE'),
    *('EDGE_SPLIT', 'LAPLACIANSMOOTH', 'LATTICE', 'MASK', 'MIRROR', 'MULTIRES', 'NORMAL_EDIT', 'REMESH'),
    *('SCREW', 'SHRINKWRAP', 'SIMPLE_DEFORM', 'SKIN', 'SMOOTH', 'SOLIDIFY', 'SUBSURF', 'TRIANGULATE'),
    *('UV_PROJECT', 'UV_WARP', 'VERTEX_WEIGHT_EDIT', 'VERTEX_WEIGHT_MIX', 'VERTEX_WEIGHT_PROXIMITY'),
    *('VOLUME_TO_MESH', 'WARP', 'WELD', 'WEIGHTED_NORMAL', 'WIREFRAME'),
}
# Beginnings of an object's channels that change its mesh.
_SHAPING = ("modifiers[", "active_shape_key", "show_only_shape_key", "use_shape_key")
# Parents that move an object as a whole.
_RIGID_PARENTS = {'OBJECT', 'BONE', 'VERTEX', 'VERTEX_3'}
# The part of a sole's extent that is read around it.
_AROUND = 0.1


def grounds_of(chains: Iterable[RigChain]) -> list[bpy.types.Object]:
    """Return the meshes that are grounds of chains, each once."""
    feet = (chain.foot for chain in chains)
    return list(dict.fromkeys(foot.ground for foot in feet if foot is not None and foot.has_surface))


def may_deform(ground: bpy.types.Object) -> bool:
    """Return whether a mesh object may have another shape on another frame."""
    if any(handlers()) or ground.parent is not None and ground.parent_type not in _RIGID_PARENTS:
        return True
    if any(path.startswith(_SHAPING) for path in _animated_paths(ground)):
        return True
    if any(_animated_paths(ground.data)) or any(_animated_paths(ground.data.shape_keys)):
        return True
    shown = (modifier for modifier in ground.modifiers if modifier.show_viewport)
    return any(modifier.type not in _STILL or any(_named(modifier)) for modifier in shown)


def shaped_by(node: Node) -> Iterator[Node]:
    """Yield all data that an object and its shape may depend on; no bones."""
    yield from influences(node)
    ob = node[0]
    if not isinstance(ob, bpy.types.Object):
        return
    yield getattr(ob.data, "shape_keys", None), ""
    for modifier in ob.modifiers:
        for block in _named(modifier):
            yield block, ""


def _animated_paths(block: bpy.types.ID | None) -> Iterator[str]:
    """Yield the paths of a data block's F-Curves and drivers; "modifiers[" for strips, which may hold any."""
    animation = getattr(block, "animation_data", None)
    if animation is None:
        return
    if len(animation.nla_tracks):
        yield "modifiers["
    for curve in (*versions.existing_fcurves(block), *animation.drivers):
        yield curve.data_path


def _named(modifier: bpy.types.Modifier) -> Iterator[bpy.types.ID]:
    """Yield the data that a modifier's settings name, and the objects of a collection among them."""
    for setting in modifier.bl_rna.properties:
        block = getattr(modifier, setting.identifier) if setting.type == 'POINTER' else None
        if isinstance(block, bpy.types.Collection):
            yield from block.all_objects
        elif isinstance(block, bpy.types.ID):
            yield block


class Surfaces:
    """The surfaces of chains' grounds on some frames: one for all of a ground that does not deform.

    Of one that may deform, the part below the foot alone is kept.
    """

    def __init__(self, chains: Sequence[RigChain], frames: int) -> None:
        self._chains = chains
        self._readers = {ground: MeshReader(ground) for ground in grounds_of(chains)}
        self._still: dict[bpy.types.Object, Surface | None] = {
            ground: None for ground in self._readers if not may_deform(ground)
        }
        self.found: list[NDArray[np.object_]] = [np.full(frames, None, object) for _ in chains]

    @property
    def are_any(self) -> bool:
        """Whether any chain has a ground."""
        return bool(self._readers)

    def read(self, row: int, depsgraph: bpy.types.Depsgraph, settings: Sequence[Floats]) -> None:
        """Read the surfaces of a frame as a depsgraph shows them. settings: as in a Record."""
        for chain, surfaces, values in zip(self._chains, self.found, settings, strict=True):
            ground = chain.foot.ground if chain.foot is not None else None
            if ground not in self._readers:
                continue
            reader = self._readers[ground]
            if ground not in self._still:
                sole = shown_sole(chain, depsgraph, values[row, 4:7])
                low, high = sole.min(axis=0), sole.max(axis=0)
                around = _AROUND * (high - low).max() + rounding(np.abs(sole).max())
                surfaces[row] = reader.near(depsgraph, low[:2] - around, high[:2] + around)
                continue
            if self._still[ground] is None:
                self._still[ground] = reader.whole(depsgraph)
            surfaces[row] = self._still[ground]
