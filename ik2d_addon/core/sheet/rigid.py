# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's step for one target of rigid bones, in half the time of `Springs.step` and `moved`.

The numbers are exactly theirs. Slides, second springs and arrays are left to them.
"""

from math import cos, sin, sqrt

from .springs import (
    DAMPING,
    EAGER,
    LONGEST_TURN,
    MORE_FORCE,
    NO_PIVOT,
    NOTHING,
    SOME_FORCE,
    Pose,
    Springs,
    negatives,
)


def rigid_step(springs: Springs, pose: Pose, x: float, y: float) -> tuple[Pose, float, float, bool]:
    """Return the pose after a step; and before it, how far joints and tip were off, and if it bent least."""
    angles, fx, fy = pose.angles, pose.force_x, pose.force_y
    heading, cosines, sines = 0.0, [], []
    for angle in angles:
        heading += angle
        cosines.append(cos(heading))
        sines.append(sin(heading))
    qx = qy = off = p = c0 = cx = cy = ex = ey = xx = xy = yy = 0.0
    negative, kept, free_root = 0, [], springs.free_root
    columns = zip(
        reversed(angles),
        reversed(cosines),
        reversed(sines),
        reversed(springs.lengths),
        reversed(springs.rest),
        reversed(springs.weights),
        reversed(springs.low),
        reversed(springs.high),
        strict=True,
    )
    left = len(angles)
    for angle, c, s, length, rest, weight, low, high in columns:
        left -= 1
        along, across = length * c, length * s
        qx += along
        qy += across
        moment = qx * fy - qy * fx
        tension = p + (fx * along + fy * across)
        bx, by = cx - across, cy + along
        if free_root and not left:
            break
        wanted = angle + (rest - angle) + weight * moment
        if low <= wanted <= high:
            change = wanted - angle
            g = 1.0 + weight * tension
            if g < 0.0:
                negative += 1
            part = 1.0 / (NO_PIVOT if -NO_PIVOT < g < NO_PIVOT else g)
            p = tension * part
            u = (change + weight * c0) * part
            gives = weight * part
            wx, wy = gives * bx, gives * by
            xx += wx * bx
            xy += wx * by
            yy += wy * by
        else:
            change = u = (low if wanted < low else high) - angle
            weight, part, p = 0.0, 1.0, tension
        ex += bx * u
        ey += by * u
        if change > off:
            off = change
        elif -change > off:
            off = -change
        kept.append((change, weight, c0, bx, by, part))
        c0, cx, cy = (c0 - tension * change) * part, bx * part, by * part
    error_x, error_y = x - qx, y - qy
    error = sqrt(error_x * error_x + error_y * error_y)
    small = DAMPING * (xx + yy) + NOTHING
    xx, yy = xx + small, yy + small
    rx, ry = error_x - ex, error_y - ey
    determinant = xx * yy - xy * xy
    turn, turns, held = 0.0, [], True
    if free_root:
        root = angles[0]
        wanted = root + EAGER * moment
        low, high = springs.low[0], springs.high[0]
        to = min(max(wanted, low), high)
        held = to != wanted
        around = moment + c0
        off = max(off, abs(to - root) if held else abs(moment))
        if held:
            turn = to - root
            rx, ry = rx - bx * turn, ry - by * turn
        else:
            sx, sy, aside = yy * bx - xy * by, xx * by - xy * bx, by * rx - bx * ry
            whole = tension * determinant + bx * sx + by * sy
            whole = NOTHING if -NOTHING < whole < NOTHING else whole
            turn = (around * determinant + sx * rx + sy * ry) / whole
            push_x = (tension * (yy * rx - xy * ry) - around * sx + by * aside) / whole
            push_y = (tension * (xx * ry - xy * rx) - around * sy - bx * aside) / whole
            signs = negatives(tension, -tension * xx - bx * bx, whole)
        turns.append(turn)
    if held:
        signs = negatives(-xx, determinant)
        determinant = NOTHING if -NOTHING < determinant < NOTHING else determinant
        push_x, push_y = (yy * rx - xy * ry) / determinant, (xx * ry - xy * rx) / determinant
    before = turn
    for change, weight, c0, bx, by, part in reversed(kept):
        after = (before + change + weight * (c0 + bx * push_x + by * push_y)) * part
        turns.append(after - before)
        before = after
    return _moved(springs, pose, turns, push_x, push_y), off, error, negative + signs == 2


def _moved(springs: Springs, pose: Pose, turns: list[float], push_x: float, push_y: float) -> Pose:
    """Return the pose after a step, less of it where it is too long, within the ranges."""
    part = min(1.0, LONGEST_TURN / max(max(turns), -min(turns), NOTHING))
    most = MORE_FORCE * max(abs(pose.force_x), abs(pose.force_y)) + SOME_FORCE * springs.some_force
    less = min(1.0, most / max(abs(push_x), abs(push_y), NOTHING))
    angles = []
    for angle, turn, low, high in zip(pose.angles, turns, springs.low, springs.high, strict=True):
        angle += part * turn
        angles.append(low if angle < low else high if angle > high else angle)
    return Pose(angles, pose.slides, pose.force_x + less * push_x, pose.force_y + less * push_y)
