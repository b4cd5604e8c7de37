# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground under a foot: the height of an object, or the surface of a mesh."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....core.foot import lifts, section
from ....core.inputs import Floats

_UP = np.array((0.0, 0.0, 1.0))
# The part of the triangles up to which they are read one by one.
_FEW = 0.1


@dataclass(frozen=True, eq=False)
class Surface:
    """The triangles of a mesh, in its object's space."""

    vertices: NDArray[np.float32]  # (v, 3)
    corners: NDArray[np.int32]  # (m, 3) vertices of the triangles

    def over(self, flat: Floats, low: Floats, high: Floats) -> NDArray[np.intp]:
        """Return the triangles (k,) whose extents meet a rectangle, both as seen from above.

        flat: x and y (v, 2) of the vertices in the world. low, high: (2,).
        """
        return np.flatnonzero(_beyond(_sides(flat, low, high)[self.corners]) == 0)

    def triangles(self, rows: NDArray[np.intp], axes: Floats, place: Floats) -> Floats:
        """Return some triangles (k, 3, 3) in the world, by the object's axes (3, 3) and place (3,)."""
        corners: Floats = self.vertices[self.corners[rows]].astype(np.float64) @ axes.T + place
        return corners


def _flat(vertices: NDArray[np.float32], axes: Floats, place: Floats) -> Floats:
    """Return x and y (v, 2) in the world of vertices (v, 3)."""
    flat: Floats = vertices @ axes[:2].T + place[:2]
    return flat


def _sides(flat: Floats, low: Floats, high: Floats) -> NDArray[np.uint8]:
    """Return the sides of a rectangle that places (v, 2) are beyond, as bits (v,)."""
    sides = np.zeros(len(flat), np.uint8)
    for axis in range(2):
        sides |= (flat[:, axis] < low[axis]).view(np.uint8) << (2 * axis)
        sides |= (flat[:, axis] > high[axis]).view(np.uint8) << (2 * axis + 1)
    return sides


def _beyond(sides: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the sides (m,) that whole triangles are beyond, of those of their corners (m, 3)."""
    beyond: NDArray[np.uint8] = sides[:, 0] & sides[:, 1] & sides[:, 2]
    return beyond


@dataclass(frozen=True, eq=False)
class Ground:
    """A ground over the frames: its matrices, and its surfaces in its own space."""

    places: Floats  # (frames, 3) in the world
    axes: Floats  # (frames, 3, 3) of the object, with its scale
    surfaces: Sequence[Surface] | None  # (frames,); None: the object's height alone counts
    roots: Floats  # (frames,) heights in the world of the chain's root as posed: it counts below them

    def lifts(self, soles: Floats) -> Floats:
        """Return how far (frames,) soles (frames, p, 3) in the world have to be lifted.

        Of several surfaces over one another the highest below the chain's root counts. NaN where an object's
        height is above the root.
        """
        if self.surfaces is None:
            heights = self.places[:, 2]
            return np.where(heights > self.roots, np.nan, (heights - soles[..., 2].min(axis=1)).clip(min=0.0))
        lifts = np.zeros(len(soles))
        before: tuple[Surface, bytes] | None = None
        for i, (surface, place, axes) in enumerate(zip(self.surfaces, self.places, self.axes, strict=True)):
            now = surface, np.append(axes, place).tobytes()
            if now != before:  # else it is where it was
                before, flat = now, _flat(surface.vertices, axes, place)
            low, high = soles[i, :, :2].min(axis=0), soles[i, :, :2].max(axis=0)
            triangles = surface.triangles(surface.over(flat, low, high), axes, place)
            lifts[i] = _lift(triangles, soles[i], self.roots[i])
        return lifts


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


class MeshReader:
    """Reads a mesh object's surface, on one frame after the other.

    As a depsgraph shows it, which is not evaluated here: inside a handler Blender would crash. Without one,
    or where that does not show it, without its modifiers.
    """

    def __init__(self, ground: bpy.types.Object) -> None:
        self._ground = ground
        self._faces: bytes | None = None  # the corners of the faces of the mesh read before
        self._corners = np.zeros((0, 3), np.int32)  # (m, 3) of its triangles
        self._firsts = np.zeros(0, np.intp)  # (f,) the first triangle of each face

    def whole(self, depsgraph: bpy.types.Depsgraph | None) -> Surface:
        """Return the whole surface."""
        mesh = self._mesh(depsgraph)
        mesh.calc_loop_triangles()
        return Surface(_vertices(mesh), _corners(mesh))

    def near(self, depsgraph: bpy.types.Depsgraph, low: Floats, high: Floats) -> Surface:
        """Return the part of the surface that meets a rectangle in the world, as seen from above.

        To read all triangles takes most of the time: that is done where the faces are not those read before.
        """
        mesh = self._mesh(depsgraph)
        mesh.calc_loop_triangles()
        vertices = _vertices(mesh)
        known = self._knows(mesh)
        matrix = np.array(self._ground.evaluated_get(depsgraph).matrix_world, np.float64)
        flat = _flat(vertices, matrix[:3, :3], matrix[:3, 3])
        rows = self._rows(_sides(flat, low, high))
        if known and len(rows) < _FEW * len(self._corners):
            triangles = mesh.loop_triangles  # anew: a face that bends may be divided otherwise
            corners = np.array([triangles[row].vertices[:] for row in rows.tolist()], np.int32).reshape(-1, 3)
        else:
            corners = (_corners(mesh) if known else self._corners)[rows]
        used, numbers = np.unique(corners, return_inverse=True)
        return Surface(vertices[used], numbers.reshape(-1, 3).astype(np.int32))

    def _mesh(self, depsgraph: bpy.types.Depsgraph | None) -> bpy.types.Mesh:
        shown = self._ground if depsgraph is None else self._ground.evaluated_get(depsgraph)
        return shown.data if isinstance(shown.data, bpy.types.Mesh) else self._ground.data

    def _knows(self, mesh: bpy.types.Mesh) -> bool:
        """Return whether a mesh has the faces of that before; read its triangles where it has not."""
        faces = _read(mesh.loops, "vertex_index", mesh.attributes.get(".corner_vert"), "value", np.int32)
        count = len(mesh.loop_triangles)
        held = faces.tobytes()
        if held == self._faces and count == len(self._corners) and len(mesh.polygons) == len(self._firsts):
            return True
        owners = np.empty(count, np.int32)
        mesh.loop_triangles.foreach_get("polygon_index", owners)
        self._faces, self._corners = held, _corners(mesh)
        self._firsts = np.flatnonzero(np.diff(owners, prepend=-1))
        return False

    def _rows(self, sides: NDArray[np.uint8]) -> NDArray[np.intp]:
        """Return the triangles (k,) of all faces whose corners are not all beyond one side."""
        if not len(self._corners):
            return np.zeros(0, np.intp)
        faces = np.bitwise_and.reduceat(_beyond(sides[self._corners]), self._firsts) == 0
        counts = np.diff(self._firsts, append=len(self._corners))
        return np.flatnonzero(np.repeat(faces, counts))


def _vertices(mesh: bpy.types.Mesh) -> NDArray[np.float32]:
    """Return the places (v, 3) of a mesh's vertices."""
    places = _read(mesh.vertices, "co", mesh.attributes.get("position"), "vector", np.float32, 3)
    return places.reshape(-1, 3)


def _corners(mesh: bpy.types.Mesh) -> NDArray[np.int32]:
    """Return the vertices (m, 3) of a mesh's triangles."""
    corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    return corners.reshape(-1, 3)


def _read(
    elements: bpy.types.bpy_prop_collection,
    name: str,
    attribute: bpy.types.Attribute | None,
    field: str,
    kind: type[np.generic],
    width: int = 1,
) -> NDArray[Any]:
    """Return the numbers of a mesh's elements, by their attribute where it has them: 20 times as fast."""
    values = np.empty(width * len(elements), kind)
    if attribute is not None and len(attribute.data) == len(elements):
        attribute.data.foreach_get(field, values)
    else:
        elements.foreach_get(name, values)
    return values
