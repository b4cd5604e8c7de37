# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet on feet and toes with keys of their own: they stand where they are planted, as flat as then."""

import bpy
import numpy as np
import pytest
from keyed_walkers import MODES, keyed_walker
from mathutils import Quaternion, Vector
from recorded_motion import CLIPS
from recorded_walkers import recorded_walker
from walkers import slides

from ik2d_addon.chains import plant_feet, unplant_feet
from ik2d_addon.core import IK2DError

# Parts of the reach that standing points may move on frames and half-way between them; degrees.
ON_FRAMES, HALF_WAY, TILTED = 2e-5, 2e-4, 0.05
KINDS = [
    *({"modes": (mode,)} for mode in MODES),
    {"modes": MODES, "aside": 8.0},
    {"size": 100.0, "aside": 5.0},
    {"size": 100.0, "fps": 60, "steps": 2},
    {"fps": 12, "steps": 4},
    {"fps": 30, "every": 3, "modes": ('XYZ', 'QUATERNION')},
    {"way": "along a path", "modes": ('XYZ', 'QUATERNION')},
    {"way": "in place", "modes": ('YZX',)},
]


def flat_frames(chain):
    """Return the frames on which heel and toes of a chain stand."""
    down = [{f for a, b in spans for f in range(a, b + 1)} for spans in chain.contacts.values()]
    return sorted(down[0] & down[1])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_feet_with_keys_of_their_own_stand_and_stay_flat(kind):
    made = keyed_walker(**kind)
    ground = (0.0, made.speed, 0.0)
    before = {side: made.tilts(side, made.frames) for side in "LR"}
    report = plant_feet(made.armature, ground_velocity=ground)
    assert not any("slides" in warning for warning in report.warnings)
    assert min(chain.slide_before for chain in report.chains) > 0.03 * made.reach
    assert all(len(spans) >= 2 for chain in report.chains for spans in chain.contacts.values())
    frames, halves = list(made.frames), np.arange(made.frames[0], made.frames[-1] + 0.5, 0.5).tolist()
    assert slides(made, report, frames, ground) < ON_FRAMES
    assert slides(made, report, halves, ground) < HALF_WAY
    for chain in report.chains:
        assert chain.knee <= 1.5 * chain.knee_before
        flat = flat_frames(chain)
        assert len(flat) > 3
        side, rows = chain.name[-1], np.array(flat) - made.frames[0]
        assert made.tilts(side, flat).max() < before[side][rows].max() + TILTED


@pytest.mark.slow
@pytest.mark.parametrize("name", CLIPS)
def test_feet_of_recorded_people_with_keys_of_their_own_stand(name):
    armature = recorded_walker(name, by_hand=True)
    scene = bpy.context.scene
    report = plant_feet(armature)
    assert min(chain.slide_before for chain in report.chains) > 0.015  # metres
    after = [_heels(armature) for frame in range(1, scene.frame_end + 1) if scene.frame_set(frame) is None]
    for chain in report.chains:
        assert chain.slide_on_frames < ON_FRAMES * chain.reach and chain.slide < 3e-4 * chain.reach
        path = np.array(after)[:, "LR".index(chain.name[-1])]
        for first, last in chain.contacts["contact_heel"]:
            own = path[first - 1 : last]
            assert np.linalg.norm(own - own[0], axis=1).max() < ON_FRAMES * chain.reach


def _heels(armature):
    """Return where (2, 3) the heels are, as Blender evaluates the feet."""
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    found = []
    for side in "LR":
        place = armature.data.bones[f"shin.{side}"].tail_local
        place = place + Vector(armature.ik2d.chains[f"shin.{side}"].foot.heel)
        bone = seen.pose.bones[f"foot.{side}"]
        found.append(np.array(bone.matrix @ bone.bone.matrix_local.inverted() @ place))
    return found


@pytest.mark.slow
def test_toes_keep_what_their_keys_turn_aside_where_nothing_stands():
    made = keyed_walker(modes=('XYZ', 'QUATERNION'), steps=2)
    toes = made.armature.pose.bones["toes.L"]
    for frame in made.frames:
        bpy.context.scene.frame_set(frame)
        turned = toes.matrix_basis.to_3x3().to_quaternion() @ Quaternion((0.0, 1.0, 0.0), 0.2)
        if toes.rotation_mode == 'QUATERNION':
            toes.rotation_quaternion = turned
            toes.keyframe_insert("rotation_quaternion", frame=frame)
        else:
            toes.rotation_euler = turned.to_euler(toes.rotation_mode, toes.rotation_euler)
            toes.keyframe_insert("rotation_euler", frame=frame)
    before = [_beyond(made, frame) for frame in made.frames]
    report = plant_feet(made.armature)
    down = {f for a, b in report.chains[0].contacts["contact_toe"] for f in range(a, b + 1)}
    after = [_beyond(made, frame) for frame in made.frames]
    assert len(made.frames) - len(down) > 10
    for one, other in zip(before, after, strict=True):
        # The axis about which they bend stays turned aside, while the bend is the planted foot's.
        assert abs(one[0] - other[0]) < 1e-4


def _beyond(made, frame):
    """Return how far the toes' own X axis leaves the foot's plane."""
    shown = made.shown(frame)
    foot = made.armature.data.bones["foot.L"].matrix_local.to_3x3()
    turned = shown["foot.L"][:3, :3] @ np.array(foot.inverted())
    across = turned @ (1.0, 0.0, 0.0)
    own = shown["toes.L"][:3, :3]
    return own.T @ across / np.linalg.norm(across)


@pytest.mark.slow
def test_keys_of_feet_come_back_when_it_is_cleared():
    made = keyed_walker(modes=('XYZ', 'QUATERNION'), steps=2)
    before = [made.shown(frame) for frame in made.frames]
    plant_feet(made.armature)
    unplant_feet(made.armature)
    for one, frame in zip(before, made.frames, strict=True):
        after = made.shown(frame)
        assert max(np.abs(one[name] - after[name]).max() for name in one) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("what", ["driver", "constraint", "driver of toes"])
def test_a_foot_that_something_else_turns_is_named(what):
    made = keyed_walker(steps=2)
    bone = made.armature.pose.bones["toes.L" if what == "driver of toes" else "foot.L"]
    if what == "constraint":
        bone.constraints.new('COPY_ROTATION').target = bpy.data.objects["control.L"]
    else:
        bone.rotation_mode = 'XYZ'
        bone.driver_add("rotation_euler", 0).driver.expression = "0.1*sin(frame)"
    bpy.context.view_layer.update()
    if what == "driver of toes":
        report = plant_feet(made.armature)
        assert any("'toes.L' on its tip is left as it is" in warning for warning in report.warnings)
        assert slides(made, report, list(made.frames)) < ON_FRAMES
        return
    with pytest.raises(IK2DError, match="'foot.L' on its tip is left as it is.*foot cannot be planted"):
        plant_feet(made.armature)
