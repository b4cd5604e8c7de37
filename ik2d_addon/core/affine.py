# SPDX-License-Identifier: GPL-3.0-or-later
"""Affine 4x4 matrices, and other arrays, over all frames at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from .inputs import Floats

_Record = TypeVar("_Record")
# A function that turns places (3, frames), or one (3, 1), by another rotation at each frame: (3, frames).
Rotate = Callable[[Floats], Floats]
# Indices of some of the frames.
Rows = Sequence[int] | NDArray[np.intp] | slice


def inverse(matrices: Floats) -> Floats:
    """Return the inverses of affine matrices (.., 4, 4).

    By cross products of the rows of the linear part: numpy's general inverse starts threads for
    each call, which costs more than all the rest of a bake.
    """
    if matrices.ndim == 3 and is_constant(matrices):
        return repeated(inverse(matrices[0]), len(matrices))
    rows = matrices[..., (0, 1, 2, 0, 1), :3]
    columns = crossed(rows[..., 1:4, :], rows[..., 2:5, :])
    sizes = (rows[..., 0, :] * columns[..., 0, :]).sum(axis=-1)
    linear = columns.swapaxes(-1, -2) / sizes[..., None, None]
    result = np.zeros(matrices.shape)
    result[..., :3, :3] = linear
    result[..., :3, 3] = -(linear @ matrices[..., :3, 3:])[..., 0]
    result[..., 3, 3] = 1.0
    return result


def affine(linear: Floats, place: Floats) -> Floats:
    """Return the matrices (.., 4, 4) of linear parts (.., 3, 3) and places (.., 3)."""
    result = np.zeros((*np.broadcast_shapes(linear.shape[:-2], place.shape[:-1]), 4, 4))
    result[..., :3, :3] = linear
    result[..., :3, 3] = place
    result[..., 3, 3] = 1.0
    return result


def crossed(a: Floats, b: Floats) -> Floats:
    """Return the cross products of vectors (.., 3), exactly numpy's, in a fifth of its time for one."""
    result = np.empty(a.shape if a.shape == b.shape else np.broadcast_shapes(a.shape, b.shape))
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    result[..., 0] = y * w - z * v
    result[..., 1] = z * u - x * w
    result[..., 2] = x * v - y * u
    return result


def crosses(vectors: Floats) -> Floats:
    """Return the matrices (.., 3, 3) of vectors (.., 3) whose products with others are the cross products."""
    matrices = np.zeros((*vectors.shape, 3))
    x, y, z = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    matrices[..., 1, 0], matrices[..., 2, 0], matrices[..., 2, 1] = z, -y, x
    return matrices - matrices.swapaxes(-1, -2)


def rotations_about(axes: Floats, angles: Floats) -> Floats:
    """Return the rotations (.., 3, 3) about unit axes, (3,) or (.., 3), by angles (..), radians.

    By Rodrigues' formula, with K the cross products with an axis:  R = 1 + sin a K + (1 - cos a) K^2.
    """
    cross = crosses(axes)
    sines, cosines = np.sin(angles)[..., None, None], np.cos(angles)[..., None, None]
    return np.asarray(np.eye(3) + sines * cross + (1.0 - cosines) * (cross @ cross), np.float64)


def orientations(matrices: Floats) -> Floats:
    """Return the orthonormal axes (.., 3, 3) of linear maps (.., 3, 3), however these are scaled.

    Y is the map's own; X is as near to it as can be; a mirrored map stays mirrored.
    """
    y = _units(matrices[..., 1])
    x = matrices[..., 0]
    x = _units(x - (x * y).sum(axis=-1, keepdims=True) * y)
    z = crossed(x, y)
    mirrors = (z * matrices[..., 2]).sum(axis=-1, keepdims=True) < 0.0
    axes: Floats = np.stack((x, y, np.where(mirrors, -z, z)), axis=-1)
    return axes


def _units(vectors: Floats) -> Floats:
    units: Floats = vectors / np.maximum(
        np.linalg.norm(vectors, axis=-1, keepdims=True), np.finfo(float).tiny
    )
    return units


def is_constant(values: NDArray[np.floating[Any]]) -> bool:
    """Return whether all frames (frames, ..) hold the same numbers, as those of a rig at rest do."""
    if _is_thin(values):
        return True
    if len(values) == 0 or not (values[-1] == values[0]).all():  # most that moves ends elsewhere
        return False
    return bool((values == values[0]).all())


def repeated(value: NDArray[Any], frames: int) -> NDArray[Any]:
    """Return a read-only array (frames, ..) that repeats one value (..) without copying it."""
    whole = np.asarray(value, order="C")  # numpy's own broadcast_to takes ten times as long
    values: NDArray[Any] = np.ndarray((frames, *whole.shape), whole.dtype, whole, 0, (0, *whole.strides))
    values.flags.writeable = False
    return values


def thinned(values: Floats) -> Floats:
    """Return values (frames, ..), in the memory of one frame where all frames hold the same numbers."""
    return repeated(values[0], len(values)) if is_constant(values) else values


def one_or_all(values: Floats) -> Floats:
    """Return values (frames, ..) as they are, or those of one frame (..) where all have the same."""
    return values[0] if is_constant(values) else values


def picked(values: Floats, rows: Rows) -> Floats:
    """Return some of the frames of values (frames, ..); thin values stay thin."""
    if isinstance(rows, slice) or not _is_thin(values):
        return values[rows]
    if len(rows) <= len(values):  # also thin, and faster
        return values[: len(rows)]
    return repeated(values[0], len(rows))


def product(a: Floats, b: Floats) -> Floats:
    """Return the products of matrices (frames, 4, 4), thin where both are."""
    if _is_thin(a) and _is_thin(b):
        return repeated(a[0] @ b[0], len(a))
    return a @ b


def turned(matrices: Floats, vectors: Floats) -> Floats:
    """Return vectors (.., frames, 3), each turned and scaled by its matrix (.., frames, 3, 3).

    Or all of them by one, (.., 1, 3, 3).
    """
    if _is_thin(matrices) or matrices.shape[-3] < vectors.shape[-2]:
        rotated: Floats = vectors @ matrices[..., 0, :, :].swapaxes(-1, -2)
    else:
        rotated = (matrices @ vectors[..., None])[..., 0]
    return rotated


def norms(vectors: Floats) -> Floats:
    """Return the lengths (..) of vectors (.., 3)."""
    x, y, z = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    lengths: Floats = np.sqrt(x * x + y * y + z * z)
    return lengths


def at_all(values: NDArray[Any], frames: int) -> NDArray[Any]:
    """Return values (frames, ..) as they are; those of one frame (1, ..) repeated."""
    return values if len(values) == frames else repeated(values[0], frames)


def are_finite(values: Floats) -> NDArray[np.bool_]:
    """Return the frames (frames,) at which all of values (frames, ..) are finite numbers."""
    rows = unrepeated(values)
    return at_all(np.isfinite(rows).all(axis=tuple(range(1, rows.ndim))), len(values))


def _is_thin(values: NDArray[Any]) -> bool:
    return values.strides[0] == 0 and len(values) > 1


def unrepeated(values: NDArray[Any]) -> NDArray[Any]:
    """Return the first frame alone (1, ..) of thin values."""
    return values[:1] if _is_thin(values) else values


def changed(record: _Record, **values: Any) -> _Record:
    """Return a dataclass with other values in some fields, like dataclasses.replace.

    Without its checks, which have been made, in a fifth of the time.
    """
    other = object.__new__(type(record))
    known, names = record.__dict__, record.__dataclass_fields__  # type: ignore[attr-defined]
    other.__dict__.update({name: known[name] for name in names}, **values)
    return other


@dataclass(frozen=True, eq=False)
class Frames:
    """Arrays over the same frames: fields that hold one, a list of them, or other Frames.

    Frames are the first dimension of each. Any other field, None too, holds for all frames.
    """

    def at(self, rows: Rows) -> Self:
        """Return some of the frames alone."""
        some = object.__new__(type(self))  # without checks: these have been made
        taken, is_slice = some.__dict__, isinstance(rows, slice)
        for name, values in self.__dict__.items():
            kind = values.__class__
            if kind is np.ndarray:
                values = values[rows] if is_slice else picked(values, rows)
            elif kind is list:
                values = [picked(each, rows) for each in values]
            elif isinstance(values, Frames):
                values = values.at(rows)
            taken[name] = values
        return some

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the frames of all parts in one; their fields are arrays or None."""
        if len(parts) == 1:
            return parts[0]
        columns = {field.name: [getattr(one, field.name) for one in parts] for field in fields(cls)}
        return cls(**{name: None if one[0] is None else np.concatenate(one) for name, one in columns.items()})
