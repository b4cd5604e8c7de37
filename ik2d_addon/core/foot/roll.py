# SPDX-License-Identifier: GPL-3.0-or-later
"""The roll of a foot: rotations about one pivot after the other, as a reverse foot rig has them.

In the foot's own plane x is ahead and y up, the ankle is the origin, and angles are positive where the heel
rises. Rotating a point p about a pivot c by an angle a takes it to c + R(-a) (p - c).
"""

from dataclasses import dataclass
from math import cos, sin

import numpy as np

from ..inputs import Floats

Point = tuple[float, float]


@dataclass(frozen=True)
class FootShape:
    """The pivots of a foot at rest, each (x, y) from the ankle: x ahead, y up."""

    heel: Point  # the rearmost point of the sole
    ball: Point  # the joint of the toes; of a foot without toes its tip
    tip: Point  # the foremost point of the sole

    def rolled(self, roll: Floats, toe: Floats, break_angle: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the ankle's places (.., 2), and the angles (..) of foot and toes, in radians.

        A roll below 0 turns the foot about its heel, up to break_angle about its ball while the toes stay,
        and the rest about its tip. toe: how far the toes bend up besides. All (..), radians; break_angle
        not negative. Without roll the ankle is at the origin.
        """
        roll, toe, break_angle = (np.asarray(angle, np.float64) for angle in (roll, toe, break_angle))
        back = np.minimum(roll, 0.0)
        ball = np.clip(roll, 0.0, break_angle)
        tip = np.maximum(roll - break_angle, 0.0)
        ankle = _about(self.ball, ball, np.zeros((*roll.shape, 2)))
        ankle = _about(self.tip, tip, ankle)
        ankle = ankle + _about(self.heel, back, np.zeros_like(ankle))
        return ankle, back + ball + tip, back + tip - toe

    def rolled_once(self, roll: float, toe: float, break_angle: float) -> tuple[float, float, float, float]:
        """Return x and y of the ankle, and the angles of foot and toes: `rolled` for one pose."""
        if roll <= 0.0:
            (x, y), (c, s) = self.heel, (cos(roll), sin(roll))
            return x - c * x - s * y, y + s * x - c * y, roll, roll - toe
        ball, tip = min(roll, break_angle), max(roll - break_angle, 0.0)
        (x, y), (c, s) = self.ball, (cos(ball), sin(ball))
        place = x - c * x - s * y, y + s * x - c * y
        if tip:
            (x, y), (c, s) = self.tip, (cos(tip), sin(tip))
            off = place[0] - x, place[1] - y
            place = x + c * off[0] + s * off[1], y - s * off[0] + c * off[1]
        return *place, ball + tip, tip - toe

    def sole_once(self, roll: float, toe: float, break_angle: float) -> list[Point]:
        """Return four points of the sole: `sole` for one pose."""
        x, y, foot, toes = self.rolled_once(roll, toe, break_angle)
        (hx, hy), (ux, uy), (bx, by), (tx, ty) = self.heel, self.under_ball, self.ball, self.tip
        c, s = cos(foot), sin(foot)
        rigid = [(x + c * px + s * py, y + c * py - s * px) for px, py in ((hx, hy), (ux, uy))]
        x, y = x + c * bx + s * by, y + c * by - s * bx
        c, s = cos(toes), sin(toes)
        bent = [
            (x + c * px + s * py, y + c * py - s * px) for px, py in ((ux - bx, uy - by), (tx - bx, ty - by))
        ]
        return [*rigid, *bent]

    @property
    def under_ball(self) -> Point:
        """The point of the sole under the ball, on the line from heel to tip, from the ankle at rest."""
        (hx, hy), (bx, by), (tx, ty) = self.heel, self.ball, self.tip
        ahead = tx - hx, ty - hy
        size = ahead[0] ** 2 + ahead[1] ** 2
        share = ((bx - hx) * ahead[0] + (by - hy) * ahead[1]) / size if size else 0.0
        share = min(max(share, 0.0), 1.0)
        return hx + share * ahead[0], hy + share * ahead[1]

    def sole(self, roll: Floats, toe: Floats, break_angle: Floats) -> Floats:
        """Return the sole (.., 4, 2): heel and under the ball by the foot, the latter and tip by the toes.

        Arguments as in `rolled`; from the ankle at rest, as the ankle's places are.
        """
        ankle, foot, toes = self.rolled(roll, toe, break_angle)
        joint = ankle + turned(foot, np.array(self.ball))
        ball = np.array(self.ball)
        rigid = [ankle + turned(foot, np.array(point)) for point in (self.heel, self.under_ball)]
        bent = [joint + turned(toes, np.array(point) - ball) for point in (self.under_ball, self.tip)]
        return np.stack((*rigid, *bent), axis=-2)


def turned(angles: Floats, vectors: Floats) -> Floats:
    """Return vectors (.., 2) turned by angles (..), in radians: positive where the heel rises."""
    cosine, sine = np.cos(angles), np.sin(angles)
    x, y = vectors[..., 0], vectors[..., 1]
    rotated: Floats = np.stack((cosine * x + sine * y, cosine * y - sine * x), axis=-1)
    return rotated


def _about(pivot: Point, angles: Floats, points: Floats) -> Floats:
    """Return points (.., 2) rotated about a pivot by angles (..)."""
    center = np.array(pivot)
    moved: Floats = center + turned(angles, points - center)
    return moved
