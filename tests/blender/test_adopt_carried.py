# SPDX-License-Identifier: GPL-3.0-or-later
"""What Adopt IK lists as taken over is what the chain does, as evaluated; the rest is named as lost."""

from math import degrees, pi, radians

import bpy
import ik_rigs
import numpy as np
import pytest
from ik_rigs import LAST, PATH, add_ik, leg_with_foot
from rigs import add_armature, add_target, evaluated_place, evaluated_tip

from ik2d_addon.features.adopt.adopt import adopt, release

FRAMES = range(1, LAST + 1)
LIMIT = radians(15.0)
WITHIN = radians(1.0)


def adopted(armature: bpy.types.Object):
    """Adopt all, follow the targets live, and return the chain."""
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_set(1)
    (name,) = adopt(armature)
    chain = armature.ik2d.chains[name]
    chain.live = True
    return chain


def basis(armature: bpy.types.Object, name: str):
    """Return a bone's evaluated rotation from rest, in its own space."""
    evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bone = evaluated.pose.bones[name]
    rest = armature.data.bones[name].matrix_local
    if bone.parent is not None:
        rest = bone.parent.matrix @ armature.data.bones[bone.parent.name].matrix_local.inverted() @ rest
    return (rest.inverted() @ bone.matrix).to_quaternion()


def turns(armature: bpy.types.Object, name: str) -> np.ndarray:
    """Return a bone's evaluated turns on all frames (LAST, 3) about its own axes, radians."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        turn = basis(armature, name)
        swing, twist = turn.to_swing_twist('Y')
        half = swing if swing.w >= 0.0 else -swing
        found.append((2 * np.arcsin(half.x), (twist + pi) % (2 * pi) - pi, 2 * np.arcsin(half.z)))
    return np.array(found)


def shoulder(pole: bool = True) -> bpy.types.Object:
    """Return an arm with its shoulder in one IK chain; the target goes round it."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    points = [(0.03, 0, 1.45), (0.2, 0, 1.45), (0.48, 0.03, 1.45), (0.74, 0, 1.45)]
    names = ("clav", "up", "fore")
    bones = {"chest": ((0, 0, 1.2), (0, 0, 1.5), "", 0.0)}
    for i, name in enumerate(names):
        bones[name] = (points[i], points[i + 1], ("chest", *names)[i], 0.0)
    armature = add_armature(bones)
    target = add_target({1: (0.6, -0.3, 1.45), 8: (0.15, -0.45, 1.45), LAST: (0.35, 0.3, 1.45)})
    constraint = add_ik(armature, "fore", target, 3)
    if pole:
        constraint.pole_target = add_target({}, "Pole")
        constraint.pole_target.location = (0.4, 0.9, 1.45)
    return armature


def limit(armature: bpy.types.Object, name: str, axes: str = "xz", size: float = LIMIT) -> None:
    bone = armature.pose.bones[name]
    for axis in axes:
        setattr(bone, f"use_ik_limit_{axis}", True)
        setattr(bone, f"ik_min_{axis}", -size)
        setattr(bone, f"ik_max_{axis}", size)


def carried_names(chain, start: str) -> str:
    """Return the line of what is carried over that starts so; "" for none."""
    return next((line for line in chain.adopted.carried.splitlines() if line.startswith(start)), "")


# --- Limits -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clav", "up", "fore"])
@pytest.mark.parametrize("axes", ["x", "z", "xz", "xyz"])
@pytest.mark.parametrize("pole", [True, False], ids=["pole", "none"])
def test_limits_listed_as_carried_hold_in_the_evaluated_pose(name, axes, pole):
    armature = shoulder(pole)
    limit(armature, name, axes)
    chain = adopted(armature)
    about = [index for index in range(3) if "xyz"[index] in axes]
    furthest = np.abs(turns(armature, name)[:, about]).max()
    listed = f"'{name}'" in carried_names(chain, "limits of")
    lost = f"limits of '{name}'" in chain.adopted.lost
    assert not (listed and lost)
    if listed:
        assert furthest <= LIMIT + WITHIN
    assert lost or furthest <= LIMIT + WITHIN


@pytest.mark.slow
def test_a_shoulder_that_turns_with_its_plane_is_named_with_the_angle():
    armature = shoulder()
    limit(armature, "clav")
    chain = adopted(armature)
    assert "limits of" not in chain.adopted.carried
    line = next(line for line in chain.adopted.lost.splitlines() if line.startswith("limits of 'clav'"))
    assert line.endswith("it turns with its plane, so they hold in the plane alone")
    told = float(line.split("by up to ")[1].split("°")[0])
    furthest = np.abs(turns(armature, "clav")[:, [0, 2]]).max()
    assert told == pytest.approx(degrees(furthest - LIMIT), abs=0.5)


@pytest.mark.parametrize("name", ["thigh", "shin"])
@pytest.mark.parametrize("hinged", [True, False], ids=["plane stays", "plane follows"])
def test_limits_in_the_plane_are_listed_and_hold(name, hinged):
    armature = ik_rigs.from_the_tip()
    limit(armature, name, "x", radians(40.0))
    if hinged:
        ik_rigs.with_hinged_hip(armature)
    chain = adopted(armature)
    assert carried_names(chain, "limits of") == f"limits of '{name}'"
    assert np.abs(turns(armature, name)[:, 0]).max() <= radians(40.0) + WITHIN


@pytest.mark.parametrize("keyed", [True, False], ids=["keyed", "always on"])
def test_frames_of_fk_say_nothing_of_limits(keyed):
    armature = ik_rigs.keyed_influence() if keyed else ik_rigs.from_the_tip()
    limit(armature, "shin", "x", radians(60.0))
    bone, constraint = armature.pose.bones["shin"], armature.pose.bones["shin"].constraints["IK"]
    bone.rotation_mode = 'XYZ'
    bone.rotation_euler = (radians(120.0), 0.0, 0.0)  # further than the limit, by hand
    for frame in (1, LAST):
        bone.keyframe_insert("rotation_euler", frame=frame)
    fully = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        fully.append(constraint.influence > 0.999)
    chain = adopted(armature)
    assert carried_names(chain, "limits of") == "limits of 'shin'"
    found = np.abs(turns(armature, "shin")[fully, 0])
    assert len(found) and found.max() <= radians(60.0) + WITHIN


@pytest.mark.slow
def test_a_bone_without_limits_is_not_said_to_have_any():
    """A sleeve that IK locks leave its own axis to turn about, between two hinges."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    armature = add_armature(
        {
            "upper": ((0, 0, 0.3), (0, -0.1, 1.0), "", 0.0),
            "sleeve": ((0, -0.1, 1.0), (0, -0.1, 1.3), "upper", 0.0),
            "lower": ((0, -0.1, 1.3), (0, 0.7, 1.0), "sleeve", 0.0),
        }
    )
    for name, free in (("upper", "x"), ("sleeve", "y"), ("lower", "x")):
        for axis in "xyz":
            setattr(armature.pose.bones[name], f"lock_ik_{axis}", axis != free)
    add_ik(armature, "lower", add_target({1: (0, 0.7, 1.0), LAST: (0.2, 0.4, 0.8)}), 3)
    chain = adopted(armature)
    assert "limits of" not in chain.adopted.carried and "'sleeve'" not in carried_names(chain, "IK locks")
    assert "turns of 'sleeve' about the axis that its IK locks leave" in chain.adopted.lost
    assert np.abs(turns(armature, "sleeve")).max() < 1e-3
    assert carried_names(chain, "IK locks of") == "IK locks of 'upper' and 'lower' as hinges"
    for name in ("upper", "lower"):
        assert np.abs(turns(armature, name)[:, 1:]).max() < 1e-3


# --- Locks --------------------------------------------------------------------------


def test_one_ik_lock_in_the_plane_is_a_lock_that_holds_and_no_limit():
    armature = ik_rigs.tail_of_five()
    name = limb(armature)[2]
    bone = armature.pose.bones[name]
    axis = "xyz"[int(np.argmax(np.abs(bone.bone.matrix_local.to_3x3().row[0])))]
    setattr(bone, f"lock_ik_{axis}", True)
    chain = adopted(armature)
    assert "limits of" not in chain.adopted.carried
    assert f"'{name}'" in carried_names(chain, "IK locks that hold")
    assert np.abs(turns(armature, name)[:, "xyz".index(axis)]).max() < WITHIN


def limb(armature: bpy.types.Object) -> list[str]:
    """Return the bones of the only IK limb, root to tip."""
    owner, constraint = next((b, c) for b in armature.pose.bones for c in b.constraints if c.type == 'IK')
    return [bone.name for bone in [owner, *owner.parent_recursive][: constraint.chain_count]][::-1]


def test_ik_locks_that_hold_a_bone_are_listed_and_hold_it():
    armature = ik_rigs.from_the_tip()
    bone = armature.pose.bones["thigh"]
    bone.lock_ik_x = bone.lock_ik_y = bone.lock_ik_z = True
    chain = adopted(armature)
    assert carried_names(chain, "IK locks") == "IK locks that hold 'thigh'"
    assert np.abs(turns(armature, "thigh")).max() < 1e-4


# --- Stiffness, stretch, influence, rotation, pole, side --------------------------------


def test_stiffness_of_two_bones_is_not_listed_as_it_changes_nothing():
    armature = ik_rigs.from_the_tip()
    armature.pose.bones["shin"].ik_stiffness_x = 0.9
    chain = adopted(armature)
    assert "stiffness" not in chain.adopted.carried
    before = turns(armature, "shin")
    chain.joints["shin"].weight = 1.0
    assert np.abs(turns(armature, "shin") - before).max() < 1e-5


@pytest.mark.parametrize("row", range(5))
def test_stiffness_that_is_listed_has_the_bone_turn_less(row):
    armature = ik_rigs.tail_of_five()
    name = limb(armature)[row]
    bone = armature.pose.bones[name]
    bone.ik_stiffness_x = bone.ik_stiffness_y = bone.ik_stiffness_z = 0.9
    chain = adopted(armature)
    listed = f"'{name}'" in carried_names(chain, "stiffness of")
    stiff = np.abs(turns(armature, name)).sum()
    chain.joints[name].weight = 1.0
    free = np.abs(turns(armature, name)).sum()
    assert listed == (abs(stiff - free) > 1e-3)
    assert not listed or stiff < free
    assert listed or f"stiffness of '{name}'" in chain.adopted.lost


def test_stretch_that_is_listed_reaches_beyond_the_limb():
    armature = ik_rigs.stretching()
    chain = adopted(armature)
    assert carried_names(chain, "stretch")
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(armature, chain.tip) - evaluated_place(chain.target)).length < 1e-3


@pytest.mark.parametrize("make", [ik_rigs.keyed_influence, ik_rigs.driven_influence])
def test_an_influence_that_is_listed_comes_and_goes_as_it_did(make):
    armature = make()
    bpy.context.view_layer.objects.active = armature
    constraint = armature.pose.bones["shin"].constraints["IK"]
    before = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        before.append(constraint.influence)
    chain = adopted(armature)
    assert carried_names(chain, "the influence")
    after = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        after.append(chain.influence)
    assert after == pytest.approx(before, abs=1e-5)


def test_a_fixed_influence_that_is_listed_is_the_chains():
    armature = ik_rigs.from_the_tip()
    armature.pose.bones["shin"].constraints["IK"].influence = 0.25
    chain = adopted(armature)
    assert carried_names(chain, "the influence") == "the influence 0.25"
    assert chain.influence == pytest.approx(0.25)


def test_a_rotation_that_is_listed_turns_the_last_bone_with_the_target():
    armature, (target, subtarget) = ik_rigs.turning_foot(False)
    before = [ik_rigs.foot_heading(armature, frame) for frame in FRAMES]
    chain = adopted(armature)
    assert carried_names(chain, "its target's rotation")
    after = [ik_rigs.foot_heading(armature, frame) for frame in FRAMES]
    assert np.abs(np.angle(np.exp(1j * (np.array(after) - before)))).max() < WITHIN


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_pole_that_is_listed_has_the_knee_on_its_side(side):
    armature = ik_rigs.from_the_tip()
    pole = add_target({}, "Pole")
    pole.location = (side * 3.0, 0.0, 1.0)
    armature.pose.bones["shin"].constraints["IK"].pole_target = pole
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_set(10)
    before = evaluated_tip(armature, "thigh")
    chain = adopted(armature)
    assert carried_names(chain, "the pole 'Pole'")
    bpy.context.scene.frame_set(10)
    assert (evaluated_tip(armature, "thigh") - before).length < 0.01


def test_a_pole_that_hangs_on_the_limb_is_lost_and_not_carried_too():
    armature = ik_rigs.from_the_tip()
    constraint = armature.pose.bones["shin"].constraints["IK"]
    constraint.pole_target, constraint.pole_subtarget = armature, "foot"
    chain = adopted(armature)
    assert chain.pole is None and "pole" not in chain.adopted.carried and "pole" in chain.adopted.lost


def test_sides_that_are_listed_change_as_the_iks_did():
    armature = ik_rigs.hinged_goes_behind()
    bpy.context.view_layer.objects.active = armature
    before = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        before.append(evaluated_tip(armature, "thigh").copy())
    chain = adopted(armature)
    assert carried_names(chain, "the side that it bends to, keyed")
    for frame, place in zip(FRAMES, before, strict=True):
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(armature, "thigh") - place).length < 0.01, frame


def test_what_it_says_to_mute_is_muted_and_comes_back():
    armature = leg_with_foot()
    main = add_ik(armature, "shin", add_target(PATH), 2)
    upper = add_ik(armature, "thigh", add_target({}, "Upper"), 1)
    chain = adopted(armature)
    assert f"it also mutes '{upper.name}' of 'thigh'" in chain.adopted.carried
    assert upper.mute and main.mute
    release(armature, chain.name)
    assert not (upper.mute or main.mute)


@pytest.mark.slow
def test_the_dialog_tells_the_same_limits_as_lost():
    from ik2d_addon.bake.lengths import Units
    from ik2d_addon.features.adopt.adopt import plan_adoption
    from ik2d_addon.features.adopt.difference import dialog_text, differences

    armature = shoulder()
    limit(armature, "clav")
    bpy.context.scene.frame_set(1)
    adoption = plan_adoption(armature, bpy.context.scene, None)
    found = differences(adoption, bpy.context.scene)
    text = dialog_text(adoption, found, Units.of(bpy.context.scene))
    assert any("limits of 'clav'" in line and line.startswith("Not carried over") for line in text.lost)
    assert not any("limits of" in line for line in text.carried)
