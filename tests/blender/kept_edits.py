# SPDX-License-Identifier: GPL-3.0-or-later
"""Random edits by hand of actions and of their twins: the edits of kept_sequences."""

from collections.abc import Callable
from random import Random

import bpy
import numpy as np
from hand_made_actions import HAS_SLOTS, Place, columns, curves_of, holders

from ik2d_addon.rig.animation.kept.marks import Marks

FRAME = 0.02  # nearer keys are one to Blender


class Edits:
    """Edits by hand of the actions that play now, and the same ones of their twins."""

    random: Random
    twins: dict[str, str]
    loose: set[tuple[str, Place]]  # curves whose handles may differ

    def _places(self, wanted: Callable[[bpy.types.FCurve], bool], count: int = 3) -> list:
        """Return some F-Curves that play now: action, place, F-Curve, and that of the twin or None."""
        found = []
        for ob in self._objects():
            animation = ob.animation_data
            action = animation.action
            if action is None or action.name not in self.twins:
                continue
            own = animation.action_slot_handle if HAS_SLOTS else 0
            twins = curves_of(bpy.data.actions[self.twins[action.name]])
            for place, curve in curves_of(action).items():
                if place[0] == own and len(curve.keyframe_points) and wanted(curve):
                    found.append((action.name, place, curve, twins.get(place)))
        return self.random.sample(found, min(count, len(found)))

    def _insert(self, _: str) -> None:
        random = self.random
        for action, place, curve, twin in self._places(lambda curve: ".foot." not in curve.data_path):
            frame = random.choice((random.randint(61, 90), random.randint(2, 49) + 0.37))
            self._put(action, place, curve, twin, frame, random.uniform(-1, 1))

    def _put(self, action, place, curve, twin, frame, value) -> None:
        """Insert a key, into the twin too."""
        if twin is None:
            twin = self._new_in_twin(action, place, curve)
        for one in (curve, twin):
            lone = len(one.keyframe_points) <= 1
            kinds = [key.handle_left_type for key in one.keyframe_points]
            key = one.keyframe_points.insert(frame, value)
            key.interpolation, key.easing, key.type = 'BEZIER', 'AUTO', 'KEYFRAME'
            key.handle_left_type = key.handle_right_type = 'AUTO_CLAMPED'
            key.amplitude, key.period, key.back = 0.8, 4.1, 1.70158
            one.update()
            if lone or 'FREE' in kinds:
                self.loose.add((action, place))

    def _new_in_twin(self, action, place, curve) -> bpy.types.FCurve:
        """Return the twin of a curve that only the product has made, where somebody edits it now."""
        self.loose.add((action, place))
        for handle, holder in holders(bpy.data.actions[self.twins[action]]):
            if handle == place[0]:
                return holder.fcurves.new(place[1], index=place[2])
        raise AssertionError(f"the twin has no slot for {place}")

    def _shared(self, curve, twin) -> list[tuple[int, int]]:
        """Return the rows of keys made by hand that are in both curves."""
        if twin is None:
            return []
        own = [tuple(co) for co in columns(curve)["co"].tolist()]
        there = {tuple(co): row for row, co in enumerate(columns(twin)["co"].tolist())}
        ours = Marks.on(curve).ours
        return [(row, there[co]) for row, co in enumerate(own) if co in there and not ours[row]]

    def _edit(self, change: Callable[[bpy.types.FCurve, int], None]) -> None:
        for action, place, curve, twin in self._places(lambda curve: True, 4):
            shared = self._shared(curve, twin)
            if shared:
                if min(len(curve.keyframe_points), len(twin.keyframe_points)) == 1:
                    self.loose.add((action, place))
                for one, row in zip((curve, twin), self.random.choice(shared), strict=True):
                    change(one, row)
                    one.update()

    def _move(self, _: str) -> None:
        def move(curve, row):
            curve.keyframe_points[row].co[1] += 0.125

        self._edit(move)

    def _delete(self, _: str) -> None:
        self._edit(lambda curve, row: curve.keyframe_points.remove(curve.keyframe_points[row]))
        # An F-Curve without keys, as Python alone leaves it.
        for name in (*self.twins, *self.twins.values()):
            for _, holder in holders(bpy.data.actions[name]):
                for curve in list(holder.fcurves):
                    if not len(curve.keyframe_points) and not self._keeps(name, curve):
                        holder.fcurves.remove(curve)

    def _keeps(self, name: str, curve: bpy.types.FCurve) -> bool:
        """Return whether an action or its twin has keys for a curve that is empty here."""
        return name in self.twins.values() or any(
            place[1:] == (curve.data_path, curve.array_index) for place in self._kept_rows(name)
        )

    def _retype(self, _: str) -> None:
        kind = self.random.choice(('EXTREME', 'JITTER', 'KEYFRAME', 'GENERATED'))
        way = self.random.choice(('BEZIER', 'LINEAR', 'BACK', 'CONSTANT'))

        def retype(curve, row):
            key = curve.keyframe_points[row]
            key.type, key.interpolation = kind, way

        self._edit(retype)

    def _written(self) -> list:
        return self._places(lambda curve: bool(Marks.on(curve).ours.any()), 3)

    def _touch(self, _: str) -> None:
        """Change keys that the product made: from then on they are the person's."""
        for action, place, curve, twin in self._written():
            self.loose.add((action, place))
            row = int(self.random.choice(np.flatnonzero(Marks.on(curve).ours).tolist()))
            key = curve.keyframe_points[row]
            if self.random.random() < 0.5:
                key.co[1] += 0.5
            else:
                key.type = 'BREAKDOWN'
            curve.update()
            self._like(action, place, curve, twin, curve.keyframe_points[row])

    def _i(self, _: str) -> None:
        """Insert keys over those that the product made, with another value."""
        for action, place, curve, twin in self._written():
            self.loose.add((action, place))
            frame = self.random.choice([k.co.x for k in curve.keyframe_points])
            if not Marks.on(curve).ours[[k.co.x for k in curve.keyframe_points].index(frame)]:
                continue
            key = curve.keyframe_points.insert(frame, self.random.uniform(-1, 1))
            self._like(action, place, curve, twin, key)

    def _like(self, action, place, curve, twin, key) -> None:
        """Give the twin a key as the curve has it, in place of one on that frame."""
        twin = twin or self._new_in_twin(action, place, curve)
        own = next((one for one in twin.keyframe_points if abs(one.co.x - key.co.x) < FRAME / 2), None)
        if own is None:
            own = twin.keyframe_points.insert(key.co.x, key.co.y)
        own.co = key.co
        for name in ("type", "interpolation", "easing", "amplitude", "period", "back"):
            setattr(own, name, getattr(key, name))
        for name in ("handle_left_type", "handle_right_type"):
            setattr(own, name, getattr(key, name))
        twin.update()

    def _drop(self, _: str) -> None:
        """Delete keys that the product made."""
        for action, place, curve, _ in self._written():
            self.loose.add((action, place))
            rows_ = np.flatnonzero(Marks.on(curve).ours).tolist()
            if len(curve.keyframe_points) > 1:
                curve.keyframe_points.remove(curve.keyframe_points[self.random.choice(rows_)])
