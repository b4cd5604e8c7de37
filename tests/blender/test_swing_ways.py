# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes that follow together with all else that a chain can do: as it is in a fixed plane."""

from math import cos, radians, sin

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector
from rigs import add_armature, add_chain, add_target, disconnect, set_slide
from swing_rigs import RULES, evaluated, follow, joints_on, key_places, move_about, random_limb

from ik2d_addon.bake import bake
from ik2d_addon.rig.chain.chain import read_chain

LAST = 12
FRAMES = range(1, LAST + 1)
EXACT = 2e-5
JOINTS = [(0, 0, 0), (1.0, 0.3, 0), (1.9, 0.2, 0), (2.5, -0.3, 0)]
POLE_ANGLE = 0.9


# --- As in a fixed plane, however that is turned --------------------------------------------------


def add_arm(count: int, **settings):
    """Add an arm in the plane z = 0 with a hand on it, and a chain of its first bones; return both."""
    bones = {
        f"b{i}": (one, other, f"b{i - 1}" if i else "", 0.5 * i)
        for i, (one, other) in enumerate(zip(JOINTS, JOINTS[1:], strict=False))
        if i <= count
    }
    armature = add_armature(bones)
    if settings.pop("slide", 0):
        disconnect(armature)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    return armature, add_chain(armature, f"b{count - 1}", add_target({}), count, name="arm", **settings)


def path(frame: int, far: float) -> Vector:
    """Return the target's place in the plane z = 0, as far as `far` at most."""
    angle = -1.2 + 0.2 * frame
    return Vector((cos(angle), sin(angle), 0.0)) * far * (0.75 + 0.25 * sin(0.9 * frame))


def turned_by(frame: int) -> Quaternion:
    """Return the rotation of the whole motion at a frame."""
    about = Quaternion((0.3, 1.0, -0.5), 0.25 * frame)
    return about @ Quaternion((0.0, 0.6, 0.8), 0.4 * sin(0.5 * frame))


def move_target(chain, far: float, turned: bool) -> None:
    """Key the target's place and rotation, in the plane z = 0 or turned out of it; and the pole's place."""
    armature = chain.id_data
    side = Vector(
        evaluated(armature).data.bones["b0"].matrix_local.to_3x3()
        @ Vector((cos(POLE_ANGLE), 0.0, sin(POLE_ANGLE)))
    )
    along = np.array(armature.data.bones[chain.tip].tail_local)
    chain.target.rotation_mode = 'QUATERNION'
    for frame in FRAMES:
        flat = path(frame, far)
        whole = turned_by(frame) if turned else Quaternion()
        chain.target.location = whole @ flat
        chain.target.rotation_quaternion = whole @ Quaternion((0, 0, 1), 0.15 * frame)
        for channel in ("location", "rotation_quaternion"):
            chain.target.keyframe_insert(channel, frame=frame)
        if chain.pole:
            turn = np.arctan2(flat.y, flat.x) - np.arctan2(along[1], along[0])
            chain.pole.location = whole @ Quaternion((0, 0, 1), turn) @ (3.0 * side)
            chain.pole.keyframe_insert("location", frame=frame)


def shown(armature) -> np.ndarray:
    """Return the heads, tails and axes of all bones on all frames, (frames, bones, 5, 3)."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        bones = evaluated(armature).pose.bones
        found.append(
            np.array([(bone.head, bone.tail, *bone.matrix.to_3x3().normalized().col) for bone in bones])
        )
    return np.array(found)


def limit(chain, bone: str, low: float, high: float) -> None:
    joint = chain.joints[bone]
    joint.use_limit, joint.limit_min, joint.limit_max = True, radians(low), radians(high)


def limits(chain) -> None:
    limit(chain, chain.joints[1].name, -40, 30)


def slides(chain) -> None:
    set_slide(chain, chain.joints[1].name, 0.0, 0.6)


def unsheared(chain) -> None:
    for bone in chain.id_data.data.bones:
        bone.inherit_scale = 'ALIGNED'


def nothing(chain) -> None:
    pass


WAYS = {
    "two bones": (nothing, 2, 1.1, {}),
    "three bones": (nothing, 3, 1.9, {}),
    "out of reach": (nothing, 2, 3.0, {}),
    "the other side": (nothing, 2, 1.6, {"bend": 'NEGATIVE'}),
    "turning over": (nothing, 2, 1.6, {"turn_over": 0.4}),
    "softness": (nothing, 2, 2.1, {"softness": 0.3}),
    "softness, three bones": (nothing, 3, 2.8, {"softness": 0.3}),
    "stretch": (unsheared, 2, 2.8, {"stretch": 1.6}),
    "circle": (nothing, 3, 2.0, {"solver": 'ARC'}),
    "limits": (limits, 3, 1.9, {}),
    "limits, two bones": (limits, 2, 1.9, {}),
    "slides": (slides, 3, 2.6, {"slide": 1}),
    "target's angle": (nothing, 3, 1.6, {"tip_rotation": 'TARGET', "tip_angle_offset": 0.3}),
    "hand": (nothing, 2, 1.6, {"hand_rotation": 'TARGET'}),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_towards_a_pole_all_is_as_in_a_fixed_plane_but_turned(way):
    set_up, count, far, settings = WAYS[way]
    found = {}
    for plane in ('AUTO', 'POLE'):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        pole = add_target({}, "Pole") if plane == 'POLE' else None
        armature, chain = add_arm(count, plane=plane, pole=pole, pole_angle=POLE_ANGLE, **settings)
        set_up(chain)
        move_target(chain, far, turned=plane == 'POLE')
        (told,) = bake(armature).chains
        found[plane] = shown(armature), told
    (flat, fixed), (posed, turned) = found['AUTO'], found['POLE']
    whole = np.array([turned_by(frame).to_matrix() for frame in FRAMES])
    wanted = np.einsum("fij,fbkj->fbki", whole, flat)
    assert np.abs(flat - flat[:1]).max() > 0.1
    # A knee that is nearly straight is less sure than the tip.
    assert np.abs(posed - wanted).max() < 3e-4, way
    assert turned.errors == pytest.approx(fixed.errors, abs=1e-4)
    assert [*turned.status] == [*fixed.status]


# --- The shape depends on the distance alone ------------------------------------------------------


def shape(limb, frames=FRAMES) -> np.ndarray:
    """Return the distances between all joints, (frames, n + 1, n + 1), in parts of the reach."""
    joints = joints_on(limb, frames)
    return np.linalg.norm(joints[:, :, None] - joints[:, None], axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", ({}, {"solver": 'ARC'}, {"softness": 0.4}), ids=("even", "circle", "soft")
)
def test_all_rules_give_a_flat_limb_one_shape(settings):
    for seed in (20, 21, 22):
        shapes = []
        for rule in RULES:
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
            limb = random_limb(seed, 4, flat=True, uneven=False)
            chain = follow(limb, 'ARC', **settings)
            move_about(limb, chain, speed=8.0)  # the same path for all
            chain.plane, chain.pole = rule, add_target({}, "Pole")
            chain.pole.location = limb.in_world(3.0 * limb.reach * np.array((0.3, -0.5, 0.8)))
            bake(limb.armature)
            shapes.append(shape(limb))
        assert shapes[1] == pytest.approx(shapes[0], abs=1e-4), seed
        assert shapes[2] == pytest.approx(shapes[0], abs=1e-4), seed


# --- Limits of the first bone ---------------------------------------------------------------------


@pytest.mark.parametrize("rule", ('POLE', 'ARC'))
def test_the_first_bones_range_holds_before_the_plane_turns(rule):
    """Between the line to the target and the first bone, as turned from rest."""
    armature, chain = add_arm(2, plane=rule, pole=add_target({1: (0.5, 3.0, 1.0)}, "Pole"))
    limit(chain, "b0", -5, 20)
    places = [1.4 * Vector((cos(0.4 * f), 0.3 * sin(f), sin(0.4 * f))) for f in FRAMES]
    key_places(chain.target, places)
    (told,) = bake(armature).chains
    assert told.joints.limited[:, 0].any()
    plane = read_chain(armature, chain).plane
    own = np.array(armature.data.bones["b0"].matrix_local)[:3, :3].T @ plane.normal
    before = angle_about(plane.normal, np.array(JOINTS[2]), np.array(JOINTS[1]))
    turns = []
    for place, bones in zip(places, shown(armature), strict=True):
        normal = bones[0, 2:].T @ own
        assert normal @ place == pytest.approx(0.0, abs=1e-5)
        turns.append(np.degrees(angle_about(normal, np.array(place), bones[0, 1]) - before))
    assert min(turns) > -5.01 and max(turns) < 20.01
    assert turns == pytest.approx(np.degrees(told.joints.angles.from_rest[:, 0]), abs=0.01)


def angle_about(axis, one, other) -> float:
    return float(np.arctan2(np.cross(one, other) @ axis, one @ other))
