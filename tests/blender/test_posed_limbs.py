# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Chain leaves a posed limb where it is, and Remove Chain leaves all as it was before."""

from math import radians
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector
from posed_limbs import MODES, furthest, posed_limb, random_unit, select_limb, shown, turn_bone, whole_scene
from rigs import add_armature, add_target

from ik2d_addon.bake import bake
from ik2d_addon.chains import add_chain, hold_pose, remove_chain
from ik2d_addon.features.baking.staleness import AnimatedPaths, bake_fingerprint
from ik2d_addon.features.doctor.fixes import mend
from ik2d_addon.features.posed.targets import remove_target

# As parts of the limb's length, and of a rotation matrix.
HELD = 1e-5
ARM = {"b0": ((0, 0, 0), (0.5, 0.03, 0), "", 0.3), "b1": ((0.5, 0.03, 0), (1, 0, 0), "b0", -0.2)}
STRAIGHT = {"b0": ((0, 0, 0), (0.5, 0, 0), "", 0.3), "b1": ((0.5, 0, 0), (1, 0, 0), "b0", -0.2)}


def bent_arm(
    bones: dict[str, tuple] = ARM,
    elbow: float = 0.7,
    mode: str = 'QUATERNION',
    seed: int = 1,
    about=(0, 0, 1),
) -> bpy.types.Object:
    """Add an arm with a turned upper arm and a bent elbow, its bones selected in Pose Mode."""
    armature = add_armature(bones)
    rng, pose = Random(seed), armature.pose.bones
    turn_bone(pose["b0"], Quaternion(random_unit(rng), rng.uniform(0.5, 2.0)), mode)
    axis = pose["b1"].bone.matrix_local.to_3x3().inverted() @ Vector(about)
    turn_bone(pose["b1"], Quaternion(axis, elbow), mode)
    select_limb(armature, "b1", 2)
    bpy.context.view_layer.update()
    return armature


def added(armature: bpy.types.Object, **options) -> tuple[bpy.types.PropertyGroup, float]:
    """Add a chain as the button does; return it, and how far Blender then shows the bones from before."""
    before = shown(armature)
    bpy.ops.ik2d.chain_add(**options)
    return armature.ik2d.chains[-1], furthest(armature, before, shown(armature))


# --- Where it stays ----------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bones", [ARM, STRAIGHT], ids=["bent", "straight"])
def test_an_arm_that_is_posed_out_of_its_plane_stays_in_every_rotation_mode(bones, mode):
    chain, off = added(bent_arm(bones, mode=mode))
    assert off < HELD
    assert chain.live and chain.plane == 'SWING' and chain.live_reached


def bend_in_plane(armature, angle):
    """Turn the forearm in the arm's rest plane by an angle in radians."""
    axis = armature.pose.bones["b1"].bone.matrix_local.to_3x3().inverted() @ Vector((0, 0, 1))
    turn_bone(armature.pose.bones["b1"], Quaternion(axis, angle), 'XYZ')


def add_arm_in_plane(angle):
    """Return a new arm, selected as a limb, with its forearm turned in the rest plane by radians."""
    armature = add_armature(ARM)
    bend_in_plane(armature, angle)
    select_limb(armature, "b1", 2)
    return armature


def test_an_arm_in_its_rest_plane_keeps_the_automatic_plane():
    armature = add_arm_in_plane(0.7)
    chain, off = added(armature)
    assert off < HELD
    assert chain.live and chain.plane == 'AUTO' and not any(chain.swing_normal)


def test_an_elbow_bent_the_other_way_gets_the_other_side():
    armature = add_arm_in_plane(1.2)
    chain, off = added(armature)
    bpy.ops.ik2d.chain_remove()
    bend_in_plane(armature, -1.2)
    other, other_off = added(armature)
    assert off < HELD and other_off < HELD
    assert other.live and chain.plane == other.plane == 'AUTO'


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_straight_limb_stays_straight(seed, turned):
    rng = Random(seed)
    head, line = random_unit(rng), random_unit(rng)
    middle = head + rng.uniform(0.3, 0.7) * line
    bones = {
        "b0": (head, middle, "", rng.uniform(-3, 3)),
        "b1": (middle, head + line, "b0", rng.uniform(-3, 3)),
    }
    armature = add_armature(bones)
    if turned:
        turn_bone(armature.pose.bones["b0"], Quaternion(random_unit(rng), 1.3), 'QUATERNION')
    select_limb(armature, "b1", 2)
    chain, off = added(armature)
    assert off < HELD
    assert chain.live and chain.live_reached
    assert (chain.target.location - armature.pose.bones["b1"].tail).length < 4e-6


@pytest.mark.parametrize("bend", [0.0, 0.2])
def test_a_tail_that_is_lifted_by_its_first_bone_stays(bend):
    bones = {
        f"b{i}": ((i, bend * i * i, 0), (i + 1, bend * (i + 1) ** 2, 0), f"b{i - 1}" if i else "", 0.1 * i)
        for i in range(5)
    }
    armature = add_armature(bones)
    turn_bone(armature.pose.bones["b0"], Quaternion((0.3, 0.5, 0.8), 1.1).normalized(), 'QUATERNION')
    select_limb(armature, "b4", 5)
    chain, off = added(armature)
    assert off < HELD
    assert chain.live and chain.plane == 'SWING'


def test_a_bone_that_aims_keeps_its_twist():
    armature = add_armature({"b0": ((0, 0, 0), (0.2, 1, 0.1), "", 0.4)})
    turn_bone(armature.pose.bones["b0"], Quaternion((0.2, 0.7, -0.4), 2.0).normalized(), 'ZXY')
    select_limb(armature, "b0", 1)
    chain, off = added(armature, bone_count=1)
    assert off < HELD
    assert chain.live and chain.live_reached


def test_a_hinge_stays_in_the_plane_of_its_pose():
    """The first bone may only turn about an axis that is not across its rest pose's plane."""
    armature = add_armature(STRAIGHT)
    for bone in armature.pose.bones:
        bone.lock_rotation = (False, True, True)
    turn_bone(armature.pose.bones["b0"], Quaternion((1, 0, 0), 0.8), 'XYZ')
    select_limb(armature, "b1", 2)
    chain, off = added(armature)
    assert off < HELD and chain.live


def test_a_pose_by_keys_stays_and_its_keys_with_it():
    armature = bent_arm()
    for bone in armature.pose.bones:
        bone.keyframe_insert("rotation_quaternion", frame=1)
    chain, off = added(armature)
    assert off < HELD and chain.live


@pytest.mark.parametrize("size", [0.3, 40.0])
def test_a_moved_turned_and_scaled_armature_keeps_the_pose(size):
    armature = bent_arm()
    armature.matrix_world = Matrix.LocRotScale(
        (3, -2, 5), Quaternion((1, 2, 3), 1.0).normalized(), [size] * 3
    )
    chain, off = added(armature)
    assert off < HELD
    assert chain.live and chain.plane == 'SWING'


def test_a_small_limb_far_away_stays_as_well_as_places_in_32_bits_let_it():
    armature = bent_arm()
    armature.matrix_world = Matrix.LocRotScale(
        (30, -20, 50), Quaternion((1, 2, 3), 1.0).normalized(), [0.05] * 3
    )
    chain, off = added(armature)
    assert chain.live and off < 2.0 * np.spacing(np.float32(50.0)) / 0.05


@pytest.mark.parametrize("mode", ['OBJECT', 'POSE'])
def test_the_menus_entry_and_the_button_are_one(mode):
    armature = bent_arm()
    select_limb(armature, "b1", 2, mode)
    chain, off = added(armature, whole_branch=mode == 'POSE')
    assert off < HELD and chain.live


def test_a_pose_that_a_script_has_just_set_stays():
    armature = bent_arm()
    armature.pose.bones["b0"].rotation_quaternion = Quaternion((0.1, -0.9, 0.3), 0.7).normalized()
    bpy.ops.ik2d.chain_add()
    now = shown(armature)
    armature.ik2d.chains[0].live = False
    armature.pose.bones["b0"].rotation_quaternion = Quaternion((0.1, -0.9, 0.3), 0.7).normalized()
    assert furthest(armature, now, shown(armature)) < HELD


# --- Its free targets --------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_free_targets_are_reached_from_the_pose_on(seed):
    armature, rng = bent_arm(seed=seed), Random(seed)
    chain, _ = added(armature)
    start = Vector(chain.target.location)
    for _ in range(10):
        chain.target.location = start + random_unit(rng) * 0.2
        if not 0.3 < chain.target.location.length < 0.98:
            continue
        tip = Vector(shown(armature)["b1"] @ (0.0, armature.data.bones["b1"].length, 0.0, 1.0))[:3]
        assert (Vector(tip) - chain.target.location).length < 1e-5
    chain.target.location = start
    assert chain.live_reached


@pytest.mark.parametrize("seed", range(4))
def test_the_knee_does_not_jump_next_to_the_pose(seed):
    armature = bent_arm(seed=seed)
    chain, _ = added(armature)
    before, start = shown(armature), Vector(chain.target.location)
    chain.target.location = start + Vector((0.001, -0.001, 0.001))
    assert furthest(armature, before, shown(armature)) < 0.02


def test_a_bake_keys_the_pose():
    armature = bent_arm()
    _chain, _ = added(armature)
    before = shown(armature)
    assert bake(armature, None, 1, 3).chains[0].reached
    bpy.context.scene.frame_set(2)
    assert furthest(armature, before, shown(armature)) < HELD


# --- Where it cannot stay ----------------------------------------------------


def reported(capfd) -> str:
    return "".join(capfd.readouterr())


def test_a_locked_first_bone_leaves_live_off_and_says_so(capfd):
    armature = bent_arm()
    armature.pose.bones["b0"].lock_rotation[1] = True
    chain, off = added(armature)
    assert off == 0.0 and not chain.live
    assert "Live stays off" in (said := reported(capfd)) and "locks on the rotation of 'b0'" in said


def test_a_twisted_forearm_leaves_live_off_and_names_it(capfd):
    armature = bent_arm(about=(1, 0, 0))
    chain, off = added(armature)
    assert off == 0.0 and not chain.live and chain.plane == 'AUTO'
    assert "'b1' is twisted" in reported(capfd)


def test_bones_that_bend_unevenly_leave_live_off_and_the_plane_as_it_was(capfd):
    bones = {f"b{i}": ((i, 0, 0), (i + 1, 0, 0), f"b{i - 1}" if i else "", 0.0) for i in range(3)}
    armature = add_armature(bones)
    for number, angle in enumerate((0.4, 0.9, -0.3)):
        turn_bone(armature.pose.bones[f"b{number}"], Quaternion((1, 0, 0), angle), 'XYZ')
    select_limb(armature, "b2", 3)
    chain, off = added(armature)
    assert off == 0.0 and not chain.live and chain.plane == 'CUSTOM' and not any(chain.swing_normal)
    assert "do not share the bend" in reported(capfd)


# --- A target that is chosen -------------------------------------------------


def test_a_chosen_target_keeps_its_place_and_the_limb_goes_there():
    armature, target = bent_arm(), add_target({}, "Chosen")
    target.location = (0.3, 0.4, -0.2)
    before = shown(armature)
    state = whole_scene(armature)
    target.select_set(True)
    selected = whole_scene(armature)
    assert selected != state
    bpy.ops.ik2d.chain_add()
    chain = armature.ik2d.chains[0]
    assert chain.target == target and chain.live and chain.live_reached
    bpy.context.view_layer.update()
    assert chain.live_reached and Vector(target.location) == Vector((0.3, 0.4, -0.2))
    assert furthest(armature, before, shown(armature)) > 0.1
    bpy.ops.ik2d.chain_remove()
    bpy.context.view_layer.update()
    assert whole_scene(armature) == selected


def test_a_chosen_target_on_the_tip_leaves_the_limb_there():
    armature, target = bent_arm(), add_target({}, "Chosen")
    target.location = armature.matrix_world @ armature.pose.bones["b1"].tail
    target.select_set(True)
    chain, off = added(armature)
    assert chain.target == target and chain.live and off < HELD


# --- Remove Chain ------------------------------------------------------------


@pytest.mark.parametrize("mode", ['OBJECT', 'POSE'])
@pytest.mark.parametrize("native", [False, True])
def test_remove_chain_right_after_leaves_all_as_it_was(mode, native):
    armature = bent_arm()
    add_chain(armature, "b0", 1)
    add_chain(armature, "b1", 1)
    armature.ik2d.active_index = 0
    select_limb(armature, "b1", 2, mode)
    before = whole_scene(armature)
    bpy.ops.ik2d.chain_add(bone_count=2)
    bpy.context.scene.frame_set(1)
    if native:
        bpy.ops.ik2d.make_native()
    bpy.ops.ik2d.chain_remove()
    bpy.context.view_layer.update()
    assert whole_scene(armature) == before


def test_a_limb_that_was_moved_since_keeps_its_pose():
    armature = bent_arm()
    chain, _ = added(armature)
    chain.target.location += Vector((0.1, -0.1, 0.05))
    moved = shown(armature)
    remove_chain(armature, chain)
    assert furthest(armature, moved, shown(armature)) == 0.0
    assert not [ob for ob in bpy.data.objects if ob.type == 'EMPTY']


def used(target):
    add_target({}, "Child").parent = target


def keyed(target):
    target.keyframe_insert("location", frame=1)


def held(target):
    target.constraints.new('LIMIT_LOCATION')


@pytest.mark.parametrize("use", [used, keyed, held])
def test_a_target_that_something_uses_or_somebody_worked_on_stays(use):
    armature = bent_arm()
    chain, _ = added(armature)
    target, name = chain.target, chain.name
    use(target)
    remove_chain(armature, armature.ik2d.chains[name])
    assert target.name in bpy.data.objects and target.users_collection


def test_a_target_that_was_chosen_in_its_place_stays_and_the_made_one_too():
    armature = bent_arm()
    chain, _ = added(armature)
    made, chosen = chain.target.name, add_target({}, "Chosen")
    chain.target = chosen
    remove_chain(armature, chain)
    assert {made, "Chosen"} <= set(bpy.data.objects.keys())


def test_a_target_named_in_old_settings_goes_all_the_same():
    """A file of 4.2 that is opened in 5.x has the settings a second time, which count as users."""
    armature = bent_arm()
    chain, _ = added(armature)
    target = chain.target
    if "ik2d" not in armature:  # in 4.2 these are the settings themselves
        armature["ik2d"] = {"chains": [{"target": target}]}
    name = target.name
    remove_chain(armature, chain)
    assert name not in bpy.data.objects


def test_a_linked_target_stays(tmp_path):
    target = add_target({}, "Library Target")
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {target})
    bpy.data.objects.remove(target)
    with bpy.data.libraries.load(path, link=True) as (_there, wanted):
        wanted.objects = ["Library Target"]
    assert not remove_target(wanted.objects[0])
    assert "Library Target" in bpy.data.objects


@pytest.mark.parametrize(
    "text", ["", "[", "[1, 2]", "[1, 2, 3, 4]", '["", [], [["XYZ", ["a"]]], []]', "[[],[],[],[]]"]
)
def test_a_damaged_note_of_the_pose_is_no_pose(text):
    armature = bent_arm()
    chain, _ = added(armature)
    chain.before_added, now = text, shown(armature)
    remove_chain(armature, chain)
    assert furthest(armature, now, shown(armature)) == 0.0


def test_a_note_holds_after_bones_and_chain_were_renamed():
    armature = bent_arm()
    before = {name: bone.matrix_basis.copy() for name, bone in armature.pose.bones.items()}
    chain, _ = added(armature)
    for bone in armature.data.bones:
        bone.name = f"new {bone.name}"
    bpy.context.view_layer.update()
    chain.name = "another"
    if armature.ik2d.chains[0].tip != "new b1":
        mend('UPDATE_JOINTS', armature, armature.ik2d.chains[0])
    remove_chain(armature, armature.ik2d.chains[0])
    assert all(armature.pose.bones[f"new {name}"].matrix_basis == basis for name, basis in before.items())


# --- Convert to Drivers and Remove Drivers -------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bones", [ARM, STRAIGHT], ids=["bent", "straight"])
def test_convert_and_revert_keep_an_unkeyed_pose(bones, seed):
    armature = bent_arm(bones, seed=seed)
    before = shown(armature)
    chain, _ = added(armature)
    poses = []
    bpy.ops.ik2d.make_native()
    poses.append(furthest(armature, before, shown(armature)))
    start = Vector(chain.target.location)
    chain.target.location = start * 0.8
    by_drivers = shown(armature)
    bpy.ops.ik2d.remove_native()
    assert armature.ik2d.chains[0].live
    poses.append(furthest(armature, by_drivers, shown(armature)))
    chain.target.location = start
    poses.append(furthest(armature, before, shown(armature)))
    assert max(poses) < 2e-5


def test_revert_gives_an_unkeyed_pose_back_that_is_not_live():
    armature = bent_arm(about=(1, 0, 0))
    before = whole_scene(armature)
    chain, _ = added(armature)
    assert not chain.live
    bpy.ops.ik2d.make_native()
    bpy.ops.ik2d.remove_native()
    remove_chain(armature, armature.ik2d.chains[0])
    bpy.context.view_layer.update()
    assert whole_scene(armature) == before


def test_a_plane_off_the_rest_pose_converts_to_drivers_too():
    """The elbow is bent about an axis that is not across the rest pose's plane."""
    armature = bent_arm(about=(0.05, 0.15, 1.0))
    before = shown(armature)
    chain, off = added(armature)
    assert off < HELD and chain.live
    bpy.ops.ik2d.make_native()
    assert furthest(armature, before, shown(armature)) < 2e-5
    start = Vector(chain.target.location)
    for way in ((0.1, 0, 0), (0, -0.1, 0.05), (-0.1, 0.1, 0)):
        chain.target.location = start + Vector(way)
        by_drivers = shown(armature)
        bpy.ops.ik2d.remove_native()
        assert furthest(armature, by_drivers, shown(armature)) < 2e-5
        bpy.ops.ik2d.make_native()


def test_a_limit_on_the_first_bone_and_a_swing_normal_do_not_convert():
    armature = bent_arm()
    chain, _ = added(armature)
    joint = chain.joints["b0"]
    joint.use_limit, joint.limit_min, joint.limit_max = True, -radians(170), radians(170)
    with pytest.raises(RuntimeError, match="Swing Normal"):
        bpy.ops.ik2d.make_native()


# --- Scripts, copies, settings -----------------------------------------------


def test_a_script_holds_a_pose_without_a_button():
    armature = bent_arm()
    before = shown(armature)
    chain = add_chain(armature, "b1", 2)
    hold = hold_pose(armature, chain)
    assert hold.reason == "" and furthest(armature, before, shown(armature)) == 0.0
    chain.target = add_target({}, "Mine")
    chain.target.location, chain.live = hold.place, True
    assert furthest(armature, before, shown(armature)) < HELD


def test_a_pose_that_no_plane_holds_leaves_the_settings_as_they_were():
    armature = bent_arm(about=(1, 0, 0))
    chain = add_chain(armature, "b1", 2)
    names = ("plane", "plane_normal", "swing_normal", "plane_found", "bend")
    before = [(chain.is_property_set(name), np.array(getattr(chain, name)).tolist()) for name in names]
    assert hold_pose(armature, chain).reason
    assert before == [
        (chain.is_property_set(name), np.array(getattr(chain, name)).tolist()) for name in names
    ]


def test_a_swing_normal_counts_for_results_only_where_it_is_set():
    chain = add_chain(bent_arm(), "b1", 2, add_target({}))
    animated = AnimatedPaths.of(chain.id_data)
    before = bake_fingerprint(chain, animated)
    chain.swing_normal = (0.0, 1.0, 0.0)
    assert bake_fingerprint(chain, animated) != before
    chain.swing_normal = (0.0, 0.0, 0.0)
    assert bake_fingerprint(chain, animated) == before


def test_choosing_a_plane_clears_the_swing_normal():
    chain, _ = added(bent_arm())
    assert any(chain.swing_normal)
    chain.plane = 'AUTO'
    chain.plane = 'SWING'
    assert not any(chain.swing_normal)


def test_a_mirrored_chain_holds_the_mirrored_pose():
    bones = {
        f"{name}.{side}": (
            (x * sign, y, 0),
            (u * sign, v, 0),
            f"b0.{side}" if name == "b1" else "",
            0.2 * sign,
        )
        for side, sign in (("L", 1), ("R", -1))
        for name, x, y, u, v in (("b0", 0.1, 0, 0.6, 0.03), ("b1", 0.6, 0.03, 1.1, 0))
    }
    armature = add_armature(bones)
    pose = armature.pose.bones
    turn_bone(pose["b0.L"], Quaternion((0.3, 0.8, -0.2), 1.1).normalized(), 'QUATERNION')
    turn_bone(
        pose["b1.L"],
        Quaternion(pose["b1.L"].bone.matrix_local.to_3x3().inverted() @ Vector((0, 0, 1)), 0.8),
        'QUATERNION',
    )
    bpy.ops.object.mode_set(mode='POSE')
    armature.data.bones.active = armature.data.bones["b1.L"]
    bpy.ops.ik2d.chain_add()
    chain = armature.ik2d.chains[0]
    assert chain.live and chain.plane == 'SWING'
    bpy.ops.ik2d.mirror()
    other = armature.ik2d.chains[1]
    other.live = True
    seen = shown(armature)
    for name in ("b0", "b1"):
        left, right = seen[f"{name}.L"][:3, 3], seen[f"{name}.R"][:3, 3]
        assert np.abs(left * (-1, 1, 1) - right).max() < 1e-4


# --- Any limb ----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 50])
def test_random_limbs_stay_or_are_left_alone_and_removing_gives_all_back(first, capfd):
    """Of 1, 2, 3 and 5 bones, posed and scaled parents, locks, keys, any rotation mode and size."""
    held = 0
    for seed in range(first, first + 50):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        armature, tip, count = posed_limb(seed)
        select_limb(armature, tip, count, 'POSE' if seed % 3 else 'OBJECT')
        state = whole_scene(armature)
        capfd.readouterr()
        chain, off = added(armature, bone_count=count)
        assert off <= HELD, seed
        said = reported(capfd)
        assert chain.live != ("Live stays off" in said), seed
        held += chain.live
        bpy.ops.ik2d.chain_remove()
        bpy.context.view_layer.update()
        assert whole_scene(armature) == state, seed
    assert held > 15
