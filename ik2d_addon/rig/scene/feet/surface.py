# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground under a foot: the height of an object, or the surface of a mesh."""

from dataclasses import dataclass

import bpy
import numpy as np

from ....core.foot import lifts, section
from ....core.inputs import Floats

_UP = np.array((0.0, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Ground:
    """A ground over the frames: its matrices, and its triangles in its own space."""

    places: Floats  # (frames, 3) in the world
    axes: Floats  # (frames, 3, 3) of the object, with its scale
    triangles: Floats | None  # (m, 3, 3); None: its height counts alone
    roots: Floats  # (frames,) heights in the world of the chain's root as posed: it counts below them

    def lifts(self, soles: Floats) -> Floats:
        """Return how far (frames,) soles (frames, p, 3) in the world have to be lifted.

        Of several surfaces over one another the highest below the chain's root counts. NaN where an object's
        height is above the root.
        """
        if self.triangles is None:
            heights = self.places[:, 2]
            return np.where(heights > self.roots, np.nan, (heights - soles[..., 2].min(axis=1)).clip(min=0.0))
        found, before = np.zeros(len(soles)), b""
        for i, (place, axes) in enumerate(zip(self.places, self.axes, strict=True)):
            stands = np.append(axes, place).tobytes()
            if stands != before:  # else it is where it was
                before, there = stands, self.triangles @ axes.T + place
                least, most = there[..., :2].min(axis=1), there[..., :2].max(axis=1)
            low, high = soles[i, :, :2].min(axis=0), soles[i, :, :2].max(axis=0)
            near = ((least <= high) & (most >= low)).all(axis=1)  # as seen from above
            found[i] = _lift(there[near], soles[i], self.roots[i])
        return found


def _lift(triangles: Floats, sole: Floats, root: float) -> float:
    """Return how far a sole (p, 3) has to be lifted over triangles (m, 3, 3), all in the world."""
    ahead = sole[-1] - sole[0]
    ahead[2] = 0.0
    size = float(np.linalg.norm(ahead))
    ahead = ahead / size if size > 0.0 else np.array((1.0, 0.0, 0.0))
    offsets = sole - sole[0]
    flat = np.stack((offsets @ ahead, offsets[:, 2]), axis=1)
    near = triangles[..., 2].min(axis=1) < root
    segments = section(triangles[near], sole[0], ahead, _UP)
    return lifts(flat, segments[(segments[..., 1] + sole[0, 2] < root).all(axis=1)])


def triangles_of(ground: bpy.types.Object, depsgraph: bpy.types.Depsgraph | None) -> Floats | None:
    """Return the triangles (m, 3, 3) of a mesh object; None for any other object.

    As a depsgraph shows it, which is not evaluated here: inside a handler Blender would crash. Without one,
    or where that does not show it, without its modifiers.
    """
    if ground.type != 'MESH':
        return None
    shown = ground if depsgraph is None else ground.evaluated_get(depsgraph)
    mesh = shown.data if isinstance(shown.data, bpy.types.Mesh) else ground.data
    mesh.calc_loop_triangles()
    corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    places = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", places)
    found: Floats = places.reshape(-1, 3).astype(np.float64)[corners].reshape(-1, 3, 3)
    return found
