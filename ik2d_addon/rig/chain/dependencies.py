# SPDX-License-Identifier: GPL-3.0-or-later
"""Dependencies: one walk over objects, bones and other data, along what moves them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import bpy

from ..animation.value_keys import acting_driver, curve_of, existing_drivers

# A data block with "" for all of it, or an armature object with one of its bones.
Node = tuple[bpy.types.ID, str]
# Paths to what moves a bone; its custom properties move nothing by themselves.
_BONE_PATH = re.compile(r'pose\.bones\["(.+?)"\]\.(location|rotation|scale|matrix|head|tail)')
# The path of the bone that a property is of.
_BONE = re.compile(r'(pose\.bones\["(?:[^"\\]|\\.)*"\])\.')
# Constraints to the shape of their target, which its hooks change.
_TO_SHAPES = ('FOLLOW_PATH', 'CLAMP_TO', 'SHRINKWRAP', 'SPLINE_IK')
# Constraints that take over a whole place; a blend has two of them or more.
_COPYING = ('COPY_TRANSFORMS', 'COPY_LOCATION')
# The properties that switch a constraint, and all that say how much it acts.
SWITCHES = ("mute", "enabled")
_STRENGTH = (*SWITCHES, "influence")
# Constraints by which a bone copies the rotation of an FK bone.
COPIES = ('COPY_ROTATION', 'COPY_TRANSFORMS')


def walk(roots: Iterable[Node], sources: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """Return the roots, and all nodes reached from them by `sources`, each once."""
    nodes: dict[Node, None] = {}
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node[0] is None or node in nodes:
            continue
        nodes[node] = None
        waiting += sources(node)
    return list(nodes)


def parents(node: Node) -> Iterator[Node]:
    """Yield the parent of an object or a bone."""
    ob, bone = node
    if bone:
        parent = ob.pose.bones[bone].parent if ob.pose and bone in ob.pose.bones else None
        yield ob, parent.name if parent else ""
    elif ob.parent:
        yield ob.parent, ob.parent_bone if ob.parent_type == 'BONE' else ""


# --- Objects that are a blend of others ---------------------------------------


def copies_of(node: Node) -> list[bpy.types.Constraint]:
    """Return the constraints by which an object is a blend, the first copied in full; [] for no blend.

    By what they are now, whoever made them.
    """
    ob, bone = node
    if bone or not isinstance(ob, bpy.types.Object) or len(ob.constraints) < 2:
        return []
    copies = [each for each in ob.constraints if not each.mute and each.enabled]
    if len(copies) < 2 or copies[0].influence < 1.0 or not all(map(_takes_over, copies)):
        return []
    return copies


def _takes_over(constraint: bpy.types.Constraint) -> bool:
    """Return whether a constraint replaces an object's place by that of its target."""
    if constraint.type not in _COPYING or constraint.target is None:
        return False
    spaces = constraint.owner_space == constraint.target_space == 'WORLD'
    if constraint.type == 'COPY_TRANSFORMS':
        return bool(spaces and constraint.mix_mode == 'REPLACE' and constraint.head_tail == 0.0)
    along = constraint.use_x and constraint.use_y and constraint.use_z
    turned = constraint.invert_x or constraint.invert_y or constraint.invert_z or constraint.use_offset
    return bool(spaces and along and not turned and constraint.head_tail == 0.0)


def copied_by(node: Node) -> Iterator[Node]:
    """Yield what a blend copies, each an object with its bone or ""."""
    for constraint in copies_of(node):
        yield constraint.target, constraint.subtarget


def leading(nodes: Sequence[Node]) -> list[Node]:
    """Return nodes, and those that blends among them copy: a person moves these to move the nodes."""
    held = [ob for ob, bone in nodes if ob is not None and not bone and ob.constraints]
    return walk(nodes, copied_by) if held else [*nodes]


def leaders(node: Node) -> Iterator[Node]:
    """Yield the parent of an object or a bone, and what it is a blend of: `sources` of a walk."""
    yield from parents(node)
    yield from copied_by(node)


def acting(node: Node) -> tuple[Node, float]:
    """Return the object or bone that places another one most now, and its share; of no blend itself, and 1.

    The share, over 0, is the part of its moves by which the blend moves.
    """
    share, seen = 1.0, {node}
    while copies := copies_of(node):
        left, parts = 1.0, []
        for constraint in reversed(copies):
            parts.append((left * constraint.influence, constraint))
            left *= 1.0 - constraint.influence
        part, most = max(parts, key=lambda each: each[0])
        node = most.target, most.subtarget
        if node in seen:  # a circle, which Blender tells
            break
        seen.add(node)
        share *= part
    return node, share


# --- All that moves something --------------------------------------------------


class Movers:
    """The nodes that move an object or a bone, and the drivers of data blocks: each looked up once.

    Good for as long as no driver, constraint or parent changes: for one look at a scene.
    """

    def __init__(self) -> None:
        self._found: dict[Node, list[Node]] = {}
        self._drivers: dict[bpy.types.ID, _Drivers] = {}

    def __call__(self, node: Node) -> list[Node]:
        """Return the nodes that move one: `sources` of a `walk`.

        Parents, targets of constraints and drivers, hooks of a shape that it is held to, and deformers of
        a vertex parent's vertices.
        """
        if node not in self._found:
            self._found[node] = list(self._movers(node))
        return self._found[node]

    def _movers(self, node: Node) -> Iterator[Node]:
        ob, bone = node
        if not isinstance(ob, bpy.types.Object):
            return
        yield from parents(node)
        holder = ob
        if bone and ob.pose and bone in ob.pose.bones:
            holder = ob.pose.bones[bone]
        elif ob.parent and ob.parent_type.startswith('VERTEX'):
            held = ob.parent_vertices[: 3 if ob.parent_type == 'VERTEX_3' else 1]
            yield from _skin_bones(ob.parent, held)
            yield from _hooks(ob.parent, held)
        elif ob.parent and ob.parent.type == 'CURVE' and ob.parent.data.use_path:
            yield from _hooks(ob.parent)
        yield from _constraint_targets(holder)
        for curve in self.drivers_on(ob, bone if holder != ob else ""):
            for variable in () if curve.mute else curve.driver.variables:
                yield from _variable_sources(variable)

    def drivers_on(self, ob: bpy.types.ID, bone: str) -> list[bpy.types.FCurve]:
        """Return the drivers of a bone's properties, or with "" those of an object but of none of its bones.

        Not those of a bone's custom properties, which move nothing by themselves.
        """
        path = ob.pose.bones[bone].path_from_id() if bone else ""
        return self._of(ob).by_owner.get(path, [])

    def drivers_of(self, owner: bpy.types.ID, path: str) -> list[bpy.types.FCurve]:
        """Return the drivers of a property; also of the whole vector that it is a part of."""
        by_path = self._of(owner).by_path
        wholes = [path[:end] for end in range(len(path)) if path[end] == "["]
        drivers = [placed for whole in (path, *wholes) for placed in by_path.get(whole, ())]
        return [curve for _, curve in sorted(drivers, key=itemgetter(0))]

    def _of(self, block: bpy.types.ID) -> "_Drivers":
        if block not in self._drivers:
            self._drivers[block] = _Drivers.of(block)
        return self._drivers[block]


@dataclass(frozen=True)
class _Drivers:
    """The drivers of a data block."""

    by_owner: dict[str, list[bpy.types.FCurve]]  # by the path of their bone; "" for those of no bone
    by_path: dict[str, list[tuple[int, bpy.types.FCurve]]]  # each with its place among all

    @classmethod
    def of(cls, block: bpy.types.ID) -> "_Drivers":
        """Read a data block's drivers."""
        drivers = cls({}, {})
        for place, curve in enumerate(existing_drivers(block)):
            path = curve.data_path
            drivers.by_path.setdefault(path, []).append((place, curve))
            named = _BONE.match(path)
            if named or not path.startswith("pose.bones["):
                drivers.by_owner.setdefault(named[1] if named else "", []).append(curve)
        return drivers


def acts_now(constraint: bpy.types.Constraint) -> bool:
    """Return whether a constraint is not muted and has influence now."""
    return not constraint.mute and bool(constraint.influence > 0.0)


def is_animated(
    armature: bpy.types.Object, constraint: bpy.types.Constraint, names: Sequence[str] = _STRENGTH
) -> bool:
    """Return whether F-Curves or drivers set some of a constraint's properties: its strength, if not told."""
    paths = [constraint.path_from_id(name) for name in names]
    return any(curve_of(armature, path) or acting_driver(armature, path) for path in paths)


def fk_copies(
    settings: bpy.types.PropertyGroup, bones: Iterable[bpy.types.PoseBone]
) -> tuple[tuple[str, str], ...]:
    """Return the (bone, constraint) by which the bones of an adopted chain copy FK bones now and then.

    They blend the chain's pose with that of the FK bones, as they did the pose of the IK.
    """
    adopted = getattr(settings, "adopted", None)  # not where Adopt was removed
    if adopted is None or not len(adopted.constraints):
        return ()
    return tuple(
        (bone.name, constraint.name)
        for bone in bones
        for constraint in bone.constraints
        if constraint.type in COPIES and is_animated(settings.id_data, constraint)
    )


def strength_of(held: Iterable[tuple[str, str]], evaluated: bpy.types.Object) -> float:
    """Return how much the strongest of constraints, (bone, constraint), acts on an evaluated armature."""
    bones = evaluated.pose.bones
    acting = (bones[bone].constraints[name] for bone, name in held)
    return max((each.influence for each in acting if acts_now(each)), default=0.0)


def influences(node: Node) -> Iterator[Node]:
    """Yield every data block that an object or its data may depend on; no bones."""
    block, _ = node
    for source in _named_by_drivers(block):
        yield source, ""
    if not isinstance(block, bpy.types.Object):
        return
    yield block.parent, ""
    yield block.data, ""
    holders = (
        [block, *(bone for bone in block.pose.bones if len(bone.constraints))] if block.pose else [block]
    )
    for holder in holders:
        for source in _named_by_constraints(holder.constraints):
            yield source, ""


def _skin_bones(ob: bpy.types.Object, vertices: Sequence[int]) -> Iterator[Node]:
    """Yield the bones that deform some vertices of a mesh, or points of a lattice."""
    points = {'MESH': "vertices", 'LATTICE': "points"}.get(ob.type)
    if points is None:
        return
    all_points, groups = getattr(ob.data, points), ob.vertex_groups
    held = [all_points[i] for i in vertices if i < len(all_points)]
    names = {groups[g.group].name for point in held for g in point.groups if g.group < len(groups)}
    for modifier in ob.modifiers:
        if modifier.type == 'ARMATURE' and modifier.object and modifier.object.pose:
            yield from ((modifier.object, name) for name in names if name in modifier.object.pose.bones)


def _hooks(ob: bpy.types.Object, vertices: Sequence[int] | None = None) -> Iterator[Node]:
    """Yield the targets of vertices' hooks; of any hook for None, and where the object is not a mesh."""
    for modifier in ob.modifiers:
        if modifier.type == 'HOOK' and modifier.object:
            hooked = set(modifier.vertex_indices)
            if (
                vertices is None
                or ob.type != 'MESH'
                or modifier.vertex_group
                or hooked.intersection(vertices)
            ):
                yield modifier.object, modifier.subtarget


def _constraint_targets(holder: bpy.types.Object | bpy.types.PoseBone) -> Iterator[Node]:
    for constraint in holder.constraints:
        if constraint.mute or not constraint.enabled:
            continue
        for source in (constraint, *getattr(constraint, "targets", ())):
            target, subtarget = getattr(source, "target", None), getattr(source, "subtarget", "")
            yield target, subtarget
            if target and constraint.type in _TO_SHAPES:
                yield from _hooks(target)
            if target and target.type == 'MESH' and subtarget in target.vertex_groups:
                group = target.vertex_groups[subtarget].index
                yield from _skin_bones(
                    target, [v.index for v in target.data.vertices if group in {g.group for g in v.groups}]
                )


def _variable_sources(variable: bpy.types.DriverVariable) -> Iterator[Node]:
    for source in variable.targets:
        if not isinstance(source.id, bpy.types.Object):
            continue
        if variable.type != 'SINGLE_PROP':
            yield source.id, source.bone_target
        elif named := _BONE_PATH.match(source.data_path):
            yield source.id, bpy.utils.unescape_identifier(named[1])
        elif not source.data_path.startswith(("pose.bones[", "[")):
            yield source.id, ""


def _named_by_constraints(constraints: bpy.types.bpy_prop_collection) -> Iterator[bpy.types.ID]:
    for constraint in constraints:
        yield getattr(constraint, "target", None)
        yield getattr(constraint, "pole_target", None)
        for target in getattr(constraint, "targets", ()):
            yield target.target


def _named_by_drivers(block: bpy.types.ID) -> Iterator[bpy.types.ID]:
    for curve in existing_drivers(block):
        for variable in curve.driver.variables:
            for target in variable.targets:
                if not isinstance(target.id, bpy.types.Scene):
                    yield target.id
