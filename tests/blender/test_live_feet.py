# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and feet of frames that are kept show what a bake keys, and what an edit asks for."""

import bpy
import numpy as np
import pytest
from foot_rigs import Leg, lift_control, plain_leg, random_leg
from mathutils import Vector
from rigs import add_target
from test_hands import add_walker, nod
from test_live_kept import followed, go, play  # noqa: F401 (a fixture)

from ik2d_addon.bake import bake
from ik2d_addon.live.registry import RIGS
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES = (3, 7, 11, 15, 19, 23)
LAST = 24
# Of the reach: the same in 32 bits, and live as baked, in a fixed plane and in one that swings.
SAME, BAKED, SWINGING = 1e-6, 2e-6, 2e-5
VALUES = {"roll": (-1.2, 1.4), "toe": (-0.6, 0.6), "break_angle": (0.2, 1.2)}


def walk(leg: Leg, rng: np.random.Generator) -> None:
    """Key the control of a leg, the armature and the foot at random, within reach for the most part."""
    start, turn = leg.control.location.copy(), leg.control.rotation_euler.copy()
    for frame in range(1, LAST + 1, 4):
        leg.control.location = start + Vector(rng.normal(0.0, 0.06, 3)) * leg.reach
        leg.control.rotation_euler = [
            old + angle for old, angle in zip(turn, rng.normal(0, 0.3, 3), strict=True)
        ]
        leg.control.keyframe_insert("location", frame=frame)
        leg.control.keyframe_insert("rotation_euler", frame=frame)
        for name, ends in VALUES.items():
            setattr(leg.chain.foot, name, float(rng.uniform(*ends)))
            leg.chain.foot.keyframe_insert(name, frame=frame)
    for frame in (1, LAST):
        leg.armature.rotation_euler[2] += 0.2
        leg.armature.keyframe_insert("rotation_euler", frame=frame)


def stand(leg: Leg, kind: str) -> None:
    """Put a ground under a leg, up to which its foot sinks on some frames."""
    if kind == "none":
        return
    if kind == "mesh":
        bpy.ops.mesh.primitive_grid_add(size=20.0 * leg.reach, x_subdivisions=5, y_subdivisions=5)
        floor = bpy.context.object
    else:
        floor = add_target({}, "Floor")
    hip = leg.carried("thigh", leg.armature.data.bones["thigh"].head_local)[2]
    height = leg.control.matrix_world.translation.z - 0.08 * leg.reach
    floor.location.z = min(height, hip - 0.3 * leg.reach)
    if kind == "keyed":
        for frame, lift in ((1, -0.05), (12, 0.05), (LAST, -0.02)):
            floor.location.z += lift * leg.reach
            floor.keyframe_insert("location", frame=frame)
    leg.chain.foot.ground, leg.chain.foot.use_ground = floor, True


def posed(armature: bpy.types.Object, frames=FRAMES) -> np.ndarray:
    """Return places (frames, points, 3) of all bones in the world: both ends, and off their sides."""
    found = []
    for frame in frames:
        go(frame)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        moved = [np.array(shown.matrix_world @ bone.matrix)[:3] for bone in shown.pose.bones]
        lengths = [bone.bone.length for bone in shown.pose.bones]
        corners = [np.array(((0, 0, 0, 1), (0, n, 0, 1), (n, 0, 0, 1), (0, 0, n, 1))) for n in lengths]
        found.append(np.concatenate([corner @ own.T for corner, own in zip(corners, moved, strict=True)]))
    return np.array(found)


def apart(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).max())


def rounding(leg: Leg) -> float:
    """Return what 32 bits hold in the world where a leg is."""
    size = max(map(abs, (*leg.armature.matrix_world.translation, *leg.control.matrix_world.translation)))
    return 4.0 * float(np.spacing(np.float32(size)))


@pytest.mark.slow
@pytest.mark.parametrize("ground", ["none", "still", "keyed", "mesh"])
@pytest.mark.parametrize("plane", ['AUTO', 'SWING', 'POLE'])
@pytest.mark.parametrize("seed", range(5))
def test_a_rolling_foot_is_kept_as_a_bake_keys_it(seed, plane, ground, followed):  # noqa: F811
    settings = {}
    if plane == 'POLE':
        settings["pole"] = add_target({}, "Pole")
        settings["pole"].location = (0.3, -50.0, 2.0)
    leg = random_leg(seed, plane=plane, **settings)
    lift_control(leg, 0.3)
    stand(leg, ground)
    walk(leg, np.random.default_rng(seed))
    leg.chain.live = True
    play(LAST)
    followed.clear()
    shown = posed(leg.armature)
    assert not RIGS.problems and not RIGS.failures
    assert followed == []
    afterwards = []
    for frame in FRAMES:
        RIGS.mark()
        afterwards += [*posed(leg.armature, [frame])]
    same = SAME * leg.reach + rounding(leg)
    assert apart(shown, np.array(afterwards)) <= same
    assert apart(shown, posed(leg.armature, FRAMES[::-1])[::-1]) <= same
    bake(leg.armature, frame_start=1, frame_end=LAST)
    whole = [i for i, frame in enumerate(FRAMES) if frame % 1 == 0]
    baked = posed(leg.armature, [FRAMES[i] for i in whole])
    assert apart(shown[whole], baked) <= (BAKED if plane == 'AUTO' else SWINGING) * leg.reach + rounding(leg)


@pytest.mark.parametrize("setting", ['WORLD', 'TARGET'])
@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'AXIS_ANGLE'])
def test_hands_are_kept_as_a_bake_keys_them(mode, setting, followed):  # noqa: F811
    armature, target, chain = add_walker(hand_rotation=setting)
    nod(target, {1: 0.0, 10: 1.1, 24: -0.4})
    armature.pose.bones["foot"].rotation_mode = mode
    chain.live = True
    play(LAST)
    followed.clear()
    shown = posed(armature)
    assert followed == [] and not RIGS.problems
    afterwards = []
    for frame in FRAMES:
        RIGS.mark()
        afterwards += [*posed(armature, [frame])]
    assert apart(shown, np.array(afterwards)) <= 3.0 * SAME
    bake(armature, frame_start=1, frame_end=LAST)
    whole = [i for i, frame in enumerate(FRAMES) if frame % 1 == 0]
    assert apart(shown[whole], posed(armature, [FRAMES[i] for i in whole])) <= 2.0 * BAKED


# --- Edits that Blender has not evaluated yet ----------------------------------------------


def rolls(leg):
    for curve in existing_fcurves(leg.armature):
        if curve.data_path.endswith("foot.roll"):
            for key in curve.keyframe_points:
                key.co.y += 0.3


def mutes_the_roll(leg):
    next(c for c in existing_fcurves(leg.armature) if c.data_path.endswith("foot.roll")).mute = True


def removes_the_roll(leg):
    curves = existing_fcurves(leg.armature)
    curves.remove(next(c for c in curves if c.data_path.endswith("foot.roll")))


def drives_the_toes(leg):
    leg.chain.foot.driver_add("toe").driver.expression = "0.01 * frame"


def sets_a_value_without_keys(leg):
    curves = existing_fcurves(leg.armature)
    for curve in [curve for curve in curves if ".foot." in curve.data_path]:
        curves.remove(curve)
    leg.chain.foot.roll, leg.chain.foot.toe = 0.6, 0.2


def moves_a_pivot(leg):
    leg.chain.foot.toe_tip[1] -= 0.03


def lets_the_ground_go(leg):
    leg.chain.foot.use_ground = False


def keys_the_ground_off_and_on(leg):
    for frame, used in ((1, True), (6, False), (15, True)):
        leg.chain.foot.use_ground = used
        leg.chain.foot.keyframe_insert("use_ground", frame=frame)


def lifts_the_ground(leg):
    leg.chain.foot.ground.location.z += 0.04


def keys_the_ground(leg):
    floor = leg.chain.foot.ground
    for frame in (1, LAST):
        floor.location.z += 0.03
        floor.keyframe_insert("location", frame=frame)


def drives_the_ground(leg):
    height = leg.chain.foot.ground.location.z
    leg.chain.foot.ground.driver_add("location", 2).driver.expression = f"{height} + 0.002 * frame"


def gives_another_ground(leg):
    other = add_target({}, "Step")
    other.location.z = leg.chain.foot.ground.location.z + 0.05
    leg.chain.foot.ground = other


def turns_the_mode_of_the_foot(leg):
    leg.armature.pose.bones["foot"].rotation_mode = 'XYZ'


def turns_the_mode_of_the_toes(leg):
    leg.armature.pose.bones["toes"].rotation_mode = 'AXIS_ANGLE'


def locks_the_foot(leg):
    leg.armature.pose.bones["foot"].lock_rotation = (False, True, False)


def scales_the_foot(leg):
    leg.armature.pose.bones["foot"].scale = (1.2, 1.2, 1.2)


def scales_the_shin(leg):
    leg.armature.pose.bones["shin"].scale = (1.1, 1.1, 1.1)


def keys_the_foot(leg):
    foot = leg.armature.pose.bones["foot"]
    for frame, turn in ((1, (1.0, 0.0, 0.0, 0.0)), (LAST, (0.9, 0.3, 0.1, 0.0))):
        foot.rotation_quaternion = turn
        foot.keyframe_insert("rotation_quaternion", frame=frame)


def turns_the_foot(leg):
    leg.armature.pose.bones["foot"].rotation_quaternion = (0.7, 0.7, 0.1, 0.0)


def constrains_the_control(leg):
    limit = leg.control.constraints.new('LIMIT_ROTATION')
    limit.use_limit_x, limit.max_x = True, 0.05


def turns_the_control(leg):
    for curve in existing_fcurves(leg.control):
        if curve.data_path == "rotation_euler":
            for key in curve.keyframe_points:
                key.co.y += 0.2


def loosens_the_foot(leg):
    leg.armature.data.bones["foot"].use_inherit_rotation = False


EDITS = [
    rolls,
    mutes_the_roll,
    removes_the_roll,
    drives_the_toes,
    sets_a_value_without_keys,
    moves_a_pivot,
    lets_the_ground_go,
    keys_the_ground_off_and_on,
    lifts_the_ground,
    keys_the_ground,
    drives_the_ground,
    gives_another_ground,
    turns_the_mode_of_the_foot,
    turns_the_mode_of_the_toes,
    locks_the_foot,
    scales_the_foot,
    scales_the_shin,
    keys_the_foot,
    turns_the_foot,
    constrains_the_control,
    turns_the_control,
    loosens_the_foot,
]


def walking_leg() -> Leg:
    """Add a live leg whose keyed foot sinks into the ground on some frames."""
    leg = plain_leg()
    lift_control(leg, 0.3)
    stand(leg, "still")
    walk(leg, np.random.default_rng(3))
    leg.chain.live = True
    return leg


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_an_edit_counts_on_the_very_next_frame(edit):
    leg = walking_leg()
    play(LAST)
    edit(leg)
    for frame in (9, 10, 20):
        shown = posed(leg.armature, [frame])
        assert not RIGS.failures
        RIGS.drop()  # all is read anew
        assert apart(shown, posed(leg.armature, [frame])) <= 3.0 * SAME, frame
