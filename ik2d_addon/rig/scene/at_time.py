# SPDX-License-Identifier: GPL-3.0-or-later
"""Matrices of objects and bones at one time after another, computed from their F-Curves.

The results are those of `by_curves`, in Blender's own matrices: numpy is slow for a single time.
"""

from collections.abc import Callable, Iterable, Sequence

import bpy
from mathutils import Euler, Matrix, Quaternion, Vector

from ..animation.bone_channels import rotation_property
from ..animation.versions import existing_fcurves
from ..chain.dependencies import Node, parents
from .by_curves import bones_by_object, is_placing

# F-Curves of an object, and those of them that set values of a channel: (index, number in the list).
Curves = Sequence[bpy.types.FCurve]
Animated = dict[str, list[tuple[int, int]]]


class PlacesAtTime:
    """Objects and bones with all their parents: go to a time, then ask."""

    def __init__(self, nodes: Sequence[Node], depsgraph: bpy.types.Depsgraph) -> None:
        """Keep nodes and all their parents, without a `hindrance`. depsgraph: shows those at rest."""
        self._time = 0.0
        self._found: dict[Node, Matrix] = {}
        self._known: dict[bpy.types.Object, list[bpy.types.FCurve]] = {}
        self._curves: dict[bpy.types.Object, list[bpy.types.FCurve]] = {}
        self._moving: dict[Node, Callable[[Curves, float], Matrix]] = {}
        for ob, bones in bones_by_object(nodes).items():
            self._known[ob] = list(existing_fcurves(ob))
            animated = _animated(ob, bones, self._known[ob])
            for owner in (ob, *(ob.pose.bones[name] for name in bones)):
                self._add(ob, owner, animated)
        self._still: dict[Node, Matrix] = {}
        for node in nodes:
            if not self._moves(node):
                shown = node[0].evaluated_get(depsgraph)
                matrix = shown.pose.bones[node[1]].matrix if node[1] else shown.matrix_world
                self._still[node] = matrix.copy()

    def _add(
        self, ob: bpy.types.Object, owner: bpy.types.Object | bpy.types.PoseBone, animated: Animated
    ) -> None:
        """Keep the F-Curves of an object, or of one of its bones, if there are any."""
        is_bone = owner != ob
        prefix = f"{owner.path_from_id()}." if is_bone else ""
        its = {path[len(prefix) :]: rows for path, rows in animated.items() if path.startswith(prefix)}
        if not is_bone:
            its = {path: rows for path, rows in its.items() if not path.startswith("pose.")}
        if its:
            self._moving[ob, owner.name if is_bone else ""] = local_matrix(owner, its)

    def _moves(self, node: Node) -> bool:
        """Return whether F-Curves move a node; of a bone, in the space of its armature."""
        ob, bone = node
        if node in self._moving:
            return True
        if bone:
            above = ob.pose.bones[bone].parent
            return above is not None and self._moves((ob, above.name))
        return any(self._moves(parent) or self._moves((parent[0], "")) for parent in parents(node))

    def go_to(self, time: float) -> bool:
        """Go to a time of the actions; return False where an object has other F-Curves than it had."""
        self._time = time
        self._found.clear()
        for ob, known in self._known.items():
            curves = self._curves[ob] = list(existing_fcurves(ob))
            if curves != known:  # compared as pointers: what was removed is not read
                return False
        return True

    def world(self, ob: bpy.types.Object) -> Matrix:
        """Return an object's matrix in the world."""
        node = ob, ""
        world = self._still.get(node) or self._found.get(node)
        if world is None:
            move = self._moving.get(node)
            world = move(self._curves[ob], self._time) if move else ob.matrix_basis
            if ob.parent is not None:
                world = self._parent(ob) @ ob.matrix_parent_inverse @ world
            self._found[node] = world
        return world

    def _parent(self, ob: bpy.types.Object) -> Matrix:
        """Return the matrix of an object's parent: another object, or the tail of a bone."""
        world = self.world(ob.parent)
        if ob.parent_type != 'BONE':
            return world
        tail = Vector((0.0, ob.parent.data.bones[ob.parent_bone].length, 0.0))
        return world @ self.pose(ob.parent, ob.parent_bone) @ Matrix.Translation(tail)

    def pose(self, ob: bpy.types.Object, name: str) -> Matrix:
        """Return a bone's matrix in the space of its armature."""
        node = ob, name
        pose = self._still.get(node) or self._found.get(node)
        if pose is None:
            bone = ob.pose.bones[name]
            move = self._moving.get(node)
            basis = move(self._curves[ob], self._time) if move else bone.matrix_basis
            rest, above = bone.bone.matrix_local, bone.parent
            if above is not None:
                rest = self.pose(ob, above.name) @ above.bone.matrix_local.inverted_safe() @ rest
            pose = self._found[node] = rest @ basis
        return pose

    def place(self, ob: bpy.types.Object, bone: str) -> Vector:
        """Return the place of an object, or of the head of its bone, in the world."""
        world = self.world(ob)
        return world @ self.pose(ob, bone).translation if bone else world.translation

    def value(self, ob: bpy.types.Object, number: int) -> float:
        """Return the value of an object's F-Curve, by its number among `existing_fcurves`."""
        return float(self._curves[ob][number].evaluate(self._time))

    def axes(self, ob: bpy.types.Object, bone: str) -> Matrix:
        """Return the axes (3x3) of an object, or of its bone, in the world."""
        world = self.world(ob)
        return (world @ self.pose(ob, bone) if bone else world).to_3x3()


def _animated(ob: bpy.types.Object, bones: set[str], curves: Iterable[bpy.types.FCurve]) -> Animated:
    """Return the channels of an object and some of its bones that F-Curves animate, by path."""
    animated: Animated = {}
    for number, curve in enumerate(curves):
        if is_placing(ob, curve, bones):
            animated.setdefault(curve.data_path, []).append((curve.array_index, number))
    return animated


def local_matrix(
    owner: bpy.types.Object | bpy.types.PoseBone, animated: Animated
) -> Callable[[Curves, float], Matrix]:
    """Return a function of F-Curves and a time: the matrix of an object's, or a bone's, own channels.

    animated: the channels that the F-Curves set, the others are kept.
    """
    turn, mode = rotation_property(owner.rotation_mode), owner.rotation_mode
    names = ("location", turn, "scale")
    deltas = [f"delta_{name}" for name in names if hasattr(owner, f"delta_{name}")]
    values = {name: list(getattr(owner, name)) for name in (*names, *deltas)}
    moving = [(values[name], *row) for name in values for row in animated.get(name, ())]
    stays_connected = isinstance(owner, bpy.types.PoseBone) and owner.bone.use_connect

    def location() -> Vector:
        place = Vector((0.0, 0.0, 0.0) if stays_connected else values["location"])
        return place + Vector(values["delta_location"]) if deltas else place

    def matrix() -> Matrix:
        linear = _turned(mode, values[turn])
        scale = values["scale"]
        if f"delta_{turn}" in values:
            linear = _turned(mode, values[f"delta_{turn}"]) @ linear
        if deltas:
            scale = [size * delta for size, delta in zip(scale, values["delta_scale"], strict=True)]
        return Matrix.LocRotScale(location(), None, None) @ (linear @ Matrix.Diagonal(scale)).to_4x4()

    slides_only = not any(animated.get(name) for name in values if "location" not in name)
    kept = matrix()

    def at(curves: Curves, time: float) -> Matrix:
        for channel, index, number in moving:
            channel[index] = curves[number].evaluate(time)
        if not slides_only:
            return matrix()
        values = kept.copy()
        values.translation = location()
        return values

    return at


def _turned(mode: str, values: Sequence[float]) -> Matrix:
    """Return the rotation (3x3) of a mode's channels."""
    if mode == 'QUATERNION':
        return Quaternion(values).normalized().to_matrix()
    if mode == 'AXIS_ANGLE':
        return Matrix.Rotation(values[0], 3, values[1:])
    return Euler(values, mode).to_matrix()
