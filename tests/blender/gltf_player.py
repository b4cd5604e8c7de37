# SPDX-License-Identifier: GPL-3.0-or-later
"""The clips of a .glb, played as the specification of glTF says, without Blender."""

import json
import struct
from pathlib import Path

import numpy as np

_WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


class Gltf:
    """A .glb file."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        (length,) = struct.unpack("<I", data[12:16])
        self.content = json.loads(data[20 : 20 + length])
        self._binary = data[28 + length :]
        self._above = {
            child: number
            for number, node in enumerate(self.content["nodes"])
            for child in node.get("children", ())
        }

    @property
    def clips(self) -> dict[str, dict]:
        """The clips by their names."""
        return {clip["name"]: clip for clip in self.content.get("animations", ())}

    def numbers(self, accessor: int) -> np.ndarray:
        """Return the numbers of an accessor, (count, width)."""
        told = self.content["accessors"][accessor]
        view = self.content["bufferViews"][told["bufferView"]]
        width = _WIDTHS[told["type"]]
        start = view.get("byteOffset", 0) + told.get("byteOffset", 0)
        found = np.frombuffer(self._binary, "<f4", told["count"] * width, start)
        return found.reshape(-1, width).astype(np.float64)

    def heads(self, clip: str, times: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
        """Return where nodes are at times in seconds, (times, names, 3), in Blender's axes."""
        numbers = {node["name"]: number for number, node in enumerate(self.content["nodes"])}
        return np.array([self._heads_at(clip, time, [numbers[name] for name in names]) for time in times])

    def _heads_at(self, clip: str, time: float, wanted: list[int]) -> np.ndarray:
        posed = {number: dict(node) for number, node in enumerate(self.content["nodes"])}
        for channel in self.clips[clip]["channels"]:
            sampler = self.clips[clip]["samplers"][channel["sampler"]]
            target = channel["target"]
            posed[target["node"]][target["path"]] = self._sampled(sampler, time, target["path"])
        places = []
        for number in wanted:
            matrix, at = np.eye(4), number
            while at is not None:
                matrix, at = _matrix(posed[at]) @ matrix, self._above.get(at)
            x, y, z = matrix[:3, 3]
            places.append((x, -z, y))
        return np.array(places)

    def _sampled(self, sampler: dict, time: float, path: str) -> np.ndarray:
        times, values = self.numbers(sampler["input"])[:, 0], self.numbers(sampler["output"])
        is_cubic = sampler.get("interpolation") == "CUBICSPLINE"
        keys = values.reshape(len(times), 3 if is_cubic else 1, -1)
        row = int(np.clip(np.searchsorted(times, time, "right") - 1, 0, len(times) - 2))
        gap = times[row + 1] - times[row]
        s = float(np.clip((time - times[row]) / gap, 0.0, 1.0))
        if is_cubic:
            (_, p0, m0), (m1, p1, _) = keys[row], keys[row + 1]
            value = (2 * s**3 - 3 * s**2 + 1) * p0 + gap * (s**3 - 2 * s**2 + s) * m0
            value = value + (3 * s**2 - 2 * s**3) * p1 + gap * (s**3 - s**2) * m1
        else:
            p0, p1 = keys[row, 0], keys[row + 1, 0]
            if path == "rotation" and p0 @ p1 < 0.0:  # the shorter way, which the specification asks for
                p1 = -p1
            value = p0 + s * (p1 - p0)
        return value / np.linalg.norm(value) if path == "rotation" else value


def _matrix(node: dict) -> np.ndarray:
    x, y, z, w = node.get("rotation", (0.0, 0.0, 0.0, 1.0))
    turned = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    matrix = np.eye(4)
    matrix[:3, :3] = turned * np.array(node.get("scale", (1.0, 1.0, 1.0)))
    matrix[:3, 3] = node.get("translation", (0.0, 0.0, 0.0))
    return matrix
