# SPDX-License-Identifier: GPL-3.0-or-later
"""The clips of a glTF file, with the exact keys.

By keys, Blender's exporter writes each quaternion and the control points of its tangents with the sign and
the length that a rotation matrix gives: where a bone's real part changes its sign, an engine would turn it
wildly between two frames. It also takes Blender's rest matrices, which are up to 2.4e-5 off rotations, for
rotations, so that joints were off by 5e-6 of the reach. Here each node gets the keys that pose it, counted
from its parent as the file poses that.
"""

import json
import os
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.affine import inverse
from ...core.inputs import Floats
from .motion import Curves, RigMotion, Skeleton, curves_of, joined, parts, quaternions

_HEADER, _CHUNK = 12, 8  # bytes, of the binary form
_FLOATS = 5126  # glTF's number for them
_WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}
# From Blender's axes to glTF's, whose y axis is up.
_AXES = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


class ClipFile:
    """A glTF file that was written, whose keys are replaced. It is written anew by `save`."""

    def __init__(self, path: str) -> None:
        self._path = path
        with open(path, "rb") as file:
            data = file.read()
        self._is_binary = data[:4] == b"glTF"
        text = data
        if self._is_binary:
            (length,) = struct.unpack_from("<I", data, _HEADER)
            text = data[_HEADER + _CHUNK :][:length]
        self._content = json.loads(text)
        self._nodes: list[dict[str, Any]] = self._content["nodes"]
        self._moved: set[int] = set()
        if self._is_binary:
            self._data = bytearray(data[_HEADER + 2 * _CHUNK + len(text) :])
        else:
            with open(self._data_path, "rb") as file:
                self._data = bytearray(file.read())

    @property
    def _data_path(self) -> str:
        return os.path.splitext(self._path)[0] + ".bin"  # which the file names with its spaces encoded

    def save(self) -> None:
        """Write the file anew, with its data."""
        text = json.dumps(self._content, separators=(",", ":")).encode()
        if not self._is_binary:
            for path, data in ((self._path, text), (self._data_path, self._data)):
                with open(path, "wb") as file:
                    file.write(data)
            return
        text += b" " * (-len(text) % 4)
        whole = _HEADER + 2 * _CHUNK + len(text) + len(self._data)
        with open(self._path, "wb") as file:
            file.write(struct.pack("<4sII", b"glTF", 2, whole))
            for kind, data in ((b"JSON", text), (b"BIN\0", self._data)):
                file.write(struct.pack("<I4s", len(data), kind) + data)

    def set_motions(
        self, skeleton: Skeleton, rig: str, motions: Mapping[str, RigMotion], rate: float
    ) -> None:
        """Give the keys of a rig's clips their exact values. rate: frames in a second."""
        top = next((number for number, node in enumerate(self._nodes) if node.get("name") == rig), None)
        if top is None:
            return
        nodes = {"": top, **self._below(top)}
        for clip in self._content.get("animations", ()):
            if clip["name"] in motions:
                self._set_clip(clip, skeleton, motions[clip["name"]], nodes, rate)

    def _below(self, number: int) -> dict[str, int]:
        """Return the nodes below a node by their names."""
        found: dict[str, int] = {}
        for child in self._nodes[number].get("children", ()):
            found[self._nodes[child].get("name", "")] = child
            found |= self._below(child)
        return found

    def _set_clip(
        self,
        clip: dict[str, Any],
        skeleton: Skeleton,
        motion: RigMotion,
        nodes: Mapping[str, int],
        rate: float,
    ) -> None:
        samplers = {
            (channel["target"]["node"], channel["target"]["path"]): clip["samplers"][channel["sampler"]]
            for channel in clip["channels"]
            if channel["target"].get("path") in _WIDTHS
        }
        rows = {bone: row for row, bone in enumerate(motion.bones)}
        shown: dict[str, Floats] = {"": np.broadcast_to(np.eye(4), motion.world.shape)}
        wanted = {"": _AXES @ motion.world @ _AXES.T}
        wanted |= {bone: _AXES @ motion.poses[:, rows[bone]] for bone in skeleton.bones if bone in nodes}
        for bone, matrices in wanted.items():
            above = skeleton.parent_of(bone, nodes) if bone else ""
            own = inverse(shown[above]) @ matrices if above else matrices
            paths = [path for number, path in samplers if number == nodes[bone]]
            if bone and "translation" not in paths and nodes[bone] not in self._moved:
                # Its place as the parent's bone really is: the file has its length for a unit's.
                self._nodes[nodes[bone]]["translation"] = own[:, :3, 3].mean(axis=0).tolist()
                self._moved.add(nodes[bone])
            values = _as_written(self._nodes[nodes[bone]], own, paths)
            if bone:
                shown[bone] = shown.get(above, shown[""]) @ joined(*values) if above else joined(*values)
            location, rotation, scale = values
            exact = {"translation": location, "rotation": _as_gltf(quaternions(rotation)), "scale": scale}
            for path, numbers in exact.items():
                if (nodes[bone], path) in samplers:
                    self._write(samplers[nodes[bone], path], curves_of(numbers), rate)

    def _write(self, sampler: dict[str, Any], curves: Curves, rate: float) -> None:
        """Replace the values of a sampler, where it has as many keys as there are frames."""
        accessor = self._content["accessors"][sampler["output"]]
        view = self._content["bufferViews"][accessor["bufferView"]]
        values = curves.values
        if sampler.get("interpolation") == "CUBICSPLINE":
            before, after = 3 * rate * (values - curves.before), 3 * rate * (curves.after - values)
            before[0], after[-1] = 0.0, 0.0
            values = np.stack([before, values, after], axis=1).reshape(-1, values.shape[1])
        if accessor["componentType"] != _FLOATS or "sparse" in accessor or accessor["count"] != len(values):
            return
        place = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        written = values.astype("<f4").tobytes()
        self._data[place : place + len(written)] = written


def _as_written(node: Mapping[str, Any], own: Floats, paths: Sequence[str]) -> tuple[Floats, Floats, Floats]:
    """Return the parts of a node's matrices (t, 4, 4): of what has no keys, what the node has."""
    location, rotation, scale = parts(own)
    if "translation" not in paths:
        location = np.broadcast_to(node.get("translation", (0.0, 0.0, 0.0)), location.shape)
    if "rotation" not in paths:
        x, y, z, w = node.get("rotation", (0.0, 0.0, 0.0, 1.0))
        rotation = np.broadcast_to(_rotation(w, x, y, z), rotation.shape)
    if "scale" not in paths:
        scale = np.broadcast_to(node.get("scale", (1.0, 1.0, 1.0)), scale.shape)
    return location, rotation, scale


def _rotation(w: float, x: float, y: float, z: float) -> Floats:
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _as_gltf(turns: Floats) -> Floats:
    """Return quaternions with the real part last."""
    return turns[:, [1, 2, 3, 0]]
