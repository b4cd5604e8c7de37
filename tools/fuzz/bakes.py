# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of random limbs, ten in a fork: what each says of its tips, against Blender's evaluated pose.

On every frame, half-way and at quarters between two, by looks of its own at the evaluated objects.
"""

import traceback
from dataclasses import dataclass
from math import inf
from random import Random

from .case import Case, Outcome, Result

BAKES = 10  # in a case
# Seconds for these, also next to other work: more is a hang.
LIMIT = 300.0
# Parts of the reach: what numbers of 32 bits leave open; and, half-way, what a bake may leave unasked.
FINE, CERTAIN, HALF_WAY = 3e-5, 2e-4, 1e-3
# Between half-way times and frames a tip may be so many times as far off as on these.
QUARTERS = 4.0
# Where a bone turns further from frame to frame, in radians, and in the gaps next to it, a bake answers for
# frames and half-way times alone.
FAR_TURN = 0.1
AT_QUARTERS = "at quarters"
# A target nearer to the root than this part of the bone has no direction in 32 bits.
AT_ROOT = 1e-3
KINDS = (("on frames", (0.0,), 0.0), ("half-way", (0.5,), CERTAIN), (AT_QUARTERS, (0.25, 0.75), CERTAIN))


def run(case: Case) -> Result:
    """Bake some random limbs in a fork, and compare what was said."""
    draw = f"{case.seed} {case.number}"
    ended, told = case.blender.call(bake_some, draw, limit=LIMIT)
    if told is None:
        return case.result("random limbs", Outcome.FAILED, [f"the fork ended with {ended.code}"], ended)
    complaints = [f"bake {row['number']} ({row['what']}): {one}" for row in told for one in row["false"]]
    claims = sum(row["said"] == "reached" for row in told)
    refused = sum(row["said"] == "refused" for row in told)
    what = f"{len(told)} bakes, {claims} reached, {refused} refused"
    return case.result(what, Outcome.DONE, complaints, ended)


def bake_some(draw: str, count: int = BAKES) -> list[dict]:
    """Make, bake and look at some limbs; return what each was, what was said, and what of it is false."""
    import ik2d_addon

    ik2d_addon.register()
    return [bake_one(f"{draw} {number}", number) for number in range(count)]


def bake_one(draw: str, number: int = 0) -> dict:
    """Make, bake and look at one limb."""
    import bpy

    from ik2d_addon.bake import BakeOptions, bake
    from ik2d_addon.core import IK2DError

    from . import limbs, moves

    random = Random(draw)
    limb = limbs.random_limb(random)
    last = random.choice((16, 24, 40, 40, 60, 150))
    done = moves.move(random, limb, last)
    scene = bpy.context.scene
    if random.random() < 0.1:
        scene.render.frame_map_old, scene.render.frame_map_new = random.choice(((100, 150), (100, 50)))
    scene.frame_set(random.randint(1, last))
    given = random.choice(
        ({}, {}, {}, {}, {"verify": 'ALL'}, {"reduce": 1e-3 * limb.size}, {"single_axis": True})
    )
    step = random.choice((1, 1, 1, 1, 1, 3))
    what = ", ".join((limb.kind, *done, str(last), *map(str, given.items()), f"step {step}"))
    row = {"number": number, "what": what, "said": "refused", "false": []}
    try:
        report = bake(limb.armature, None, 1, last, step if not given else 1, options=BakeOptions(**given))
    except IK2DError as problem:
        return row | {"why": str(problem)}
    except Exception:
        return row | {"said": "error", "false": [traceback.format_exc()[-1500:]]}
    (told,) = report.chains
    seen = Seen.of(limb, told, last, "rest" in done)
    return row | {"said": "reached" if told.reached else "missed", "false": list(seen.false())}


@dataclass(frozen=True, eq=False)
class Seen:
    """The distances of a tip from its target as Blender shows them, next to what a bake said of them."""

    told: object
    times: list[float]
    far: list[list[float]]  # more than one where Blender shows the one, then the other
    sunk: float  # how far a foot is below its ground, at most
    rough: bool  # whether a distance of a tip that is far off depends on how it is measured
    turned: list[float]  # how far bones turn from each frame to the next, at most

    @classmethod
    def of(cls, limb: object, told: object, last: int, late: bool) -> "Seen":
        """Look at all frames of a bake, half-way and at quarters."""
        import bpy

        times = [1.0 + 0.5 * k for k in range(2 * last - 1)]  # in order, as a bake plays them
        times += [frame + part for frame in range(1, last) for part in (0.25, 0.75)]
        far, turns, sunk = [], [], 0.0
        for time in times:
            bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
            far.append([_distance(limb, told)])
            if late:  # Blender shows a rest position one evaluation late
                bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
                far[-1].append(_distance(limb, told))
            if time % 1 == 0:
                turns.append(_directions(limb))
            if limb.ground is not None and time % 1 == 0:
                sunk = max(sunk, _below(limb))
        turned = [
            max(a.rotation_difference(b).angle for a, b in zip(one, other, strict=True))
            for one, other in zip(turns, turns[1:], strict=False)
        ]
        return cls(told, times, far, sunk, limb.kind in ("aim", "foot"), turned)

    def false(self):
        """Yield what was said and is not so."""
        told, reach = self.told, self.told.standard.reach
        fine = FINE * reach + told.standard.tolerance
        if told.circumstances.ground:  # where the foot is lifted, its target is no place to measure from
            if told.reached and self.sunk > 2e-3 * reach:
                yield f"above its ground, and it is {self.sunk:.6g} below"
            return
        said = dict(zip(map(float, told.frames), map(float, told.errors), strict=True))
        said |= dict(zip(map(float, told.played.between_times), map(float, told.played.between), strict=True))
        for kind, parts, allowed in KINDS:
            off = {
                time: min(self._off(one, said.get(time, inf)) for one in far)
                for time, far in zip(self.times, self.far, strict=True)
                if time % 1 in parts and (time in said or kind != AT_QUARTERS)
            }
            worst = max(off, key=off.get, default=0.0)
            if off and not off[worst] <= fine + allowed * reach:
                yield self._words(kind, worst, said)
        yield from self._off_quarters(said, fine)
        whole = max(min(far) for time, far in zip(self.times, self.far, strict=True) if time % 1 == 0)
        if told.reached and not whole <= fine + told.standard.bound:
            yield f"every target reached, and {whole:.6g} of {reach:.4g} is true"

    def _off_quarters(self, said: dict[float, float], fine: float):
        """Yield whether the tip is off where nothing was said, between frames with no far turn."""
        most = max(QUARTERS * self.told.max_between, self.told.max_error, HALF_WAY * self.told.standard.reach)
        quarters = [
            (min(far), time)
            for time, far in zip(self.times, self.far, strict=True)
            if time % 0.5 and time not in said and self._turned_around(int(time)) <= FAR_TURN
        ]
        far, worst = max(quarters, default=(0.0, 0.0))
        if not far <= most + fine:
            yield self._words(AT_QUARTERS, worst, said)

    def _turned_around(self, frame: int) -> float:
        """Return how far bones turn in the gap after a frame and in those next to it, at most."""
        return max(self.turned[max(frame - 2, 0) : frame + 1])

    def _off(self, far: float, said: float) -> float:
        """Return how far what was said is from what is so; 0 for an aim or a foot that is far off by both."""
        both = 0.01 * self.told.standard.reach < min(far, said) < inf
        return 0.0 if self.rough and both else abs(far - said)

    def _words(self, kind: str, time: float, said: dict[float, float]) -> str:
        far = self.far[self.times.index(time)]
        return (
            f"{kind} (reach {self.told.standard.reach:.4g}, reached {self.told.reached}, at most"
            f" {self.told.max_error:.4g} on frames and {self.told.max_between:.4g} between):"
            f" at {time:g} it said {said.get(time, 'nothing')}, and {far} is true"
        )


def _distance(limb: object, told: object) -> float:
    """Return how far the tip is from where it should be now: an aim's goal is as far from the root as it."""
    import bpy

    graph = bpy.context.evaluated_depsgraph_get()
    armature, target = limb.armature.evaluated_get(graph), limb.target.evaluated_get(graph)
    bones, goal = armature.pose.bones, target.matrix_world.translation
    tip = armature.matrix_world @ bones[limb.bones[-1]].tail
    if limb.kind == "aim":
        root = armature.matrix_world @ bones[limb.bones[0]].head
        return _off_aim(limb, told, armature, goal - root, tip - root)
    if limb.kind == "foot":
        return _off_pivot(limb, armature, target)
    return (tip - goal).length


def _directions(limb: object) -> list:
    """Return the orientations of a chain's bones in their parents' spaces, as Blender shows them now."""
    import bpy

    armature = limb.armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bones = [armature.pose.bones[name] for name in limb.bones]
    above = [bone.parent.matrix.to_3x3().normalized() for bone in bones]
    return [
        (parent.inverted_safe() @ bone.matrix.to_3x3().normalized()).to_quaternion()
        for parent, bone in zip(above, bones, strict=True)
    ]


def _off_aim(limb: object, told: object, armature: object, way: object, own: object) -> float:
    """Return how far a tip is from the line to its target, both from the root; in a fixed plane, in that."""
    from mathutils import Vector

    if limb.chain.plane == 'AUTO':
        x, y = map(Vector, told.joints.angles.plane_axes)
        body = armature.pose.bones["body"]
        turned = armature.matrix_world @ body.matrix @ body.bone.matrix_local.inverted()
        normal = (turned.to_3x3() @ x).cross(turned.to_3x3() @ y).normalized()
        height = (way - own).dot(normal)
        way, own = way - way.dot(normal) * normal, own - own.dot(normal) * normal
    else:
        height, normal = 0.0, Vector()
    is_aside = way.length > AT_ROOT * own.length
    goal = way * (own.length / way.length) if is_aside else own
    return (own - goal - height * normal).length


def _off_pivot(limb: object, armature: object, target: object) -> float:
    """Return how far the ankle is from where the foot's control, and its roll about a pivot, have it."""
    from mathutils import Matrix, Vector

    own = limb.chain.foot
    pivot, heel, ball = (Vector(own.heel if own.roll < 0.0 else own.ball), Vector(own.heel), Vector(own.ball))
    normal = limb.plane @ Vector((0.0, 0.0, 1.0))
    # A roll over the ball lifts the heel towards the ankle.
    lifts = normal.cross(heel - ball).dot(-(heel + ball)) > 0.0
    rolled = pivot - Matrix.Rotation(own.roll if lifts else -own.roll, 3, normal) @ pivot
    # The control's axes as they were when the foot was added.
    offset = Matrix([limb.chain.hand_offset[3 * i : 3 * i + 3] for i in range(3)])
    turned = target.matrix_world.to_3x3().normalized() @ offset
    size = armature.matrix_world.to_scale().x * armature.pose.bones["foot"].matrix.to_scale().x
    goal = target.matrix_world.translation + size * (turned @ rolled)
    return (armature.matrix_world @ armature.pose.bones[limb.bones[-1]].tail - goal).length


def _below(limb: object) -> float:
    """Return how far a foot's heel, ball and toe tip are below the ground's height."""
    import bpy

    graph = bpy.context.evaluated_depsgraph_get()
    armature, ground = limb.armature.evaluated_get(graph), limb.ground.evaluated_get(graph)
    ankle, own, deepest = limb.armature.data.bones[limb.bones[-1]].tail_local, limb.chain.foot, 0.0
    for name, pivot in (("foot", own.heel), ("toes", own.ball), ("toes", own.toe_tip)):
        bone = armature.pose.bones[name]
        place = (
            armature.matrix_world @ bone.matrix @ bone.bone.matrix_local.inverted() @ (ankle + _vector(pivot))
        )
        deepest = max(deepest, ground.matrix_world.translation.z - place.z)
    return deepest


def _vector(values: object) -> object:
    from mathutils import Vector

    return Vector(values)
