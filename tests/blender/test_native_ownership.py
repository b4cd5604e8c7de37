# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove Native removes all that Make Native made, and nothing else, whatever the file says is its own."""

import bpy
import pytest
from native_rigs import contents, two_legs
from rigs import add_armature, add_chain, add_target, errors_on, leg_with_target
from snapshots import differences, everything

from ik2d_addon.features.native import is_native, make_native, remove_native
from ik2d_addon.features.native.changes import changed_since_made

LONG = ["c" * 80, "chain " * 9, "鏈" * 20, 'a"]\\[' * 12, "ß" * 26 + "x", "b" * 57, "b" * 58]


def stored(armature):
    return everything(), contents(armature)


def left_by_removing(name, **settings):
    """Return the differences after a chain was native for a while, and the tip's error meanwhile."""
    armature, _ = leg_with_target(**settings)
    chain = armature.ik2d.chains[0]
    chain.name = name
    bpy.context.scene.frame_set(1)
    stored(armature)
    before = stored(armature)
    make_native(armature, chain)
    error = errors_on([1, 20], armature, chain).max()
    remove_native(armature, chain)
    bpy.context.scene.frame_set(1)
    return differences(before, stored(armature)), error


@pytest.mark.parametrize("name", LONG, ids=range(len(LONG)))
def test_names_that_blender_cuts_leave_nothing(name):
    left, error = left_by_removing(name, stretch=1.5, stretch_bones='LAST')
    assert left == [] and error < 5e-5  # of 1.9, stretched


def test_two_chains_whose_names_differ_past_the_cut_go_each_alone():
    armature = two_legs()
    for chain in armature.ik2d.chains:
        chain.name = "leg" * 30 + chain.name
        make_native(armature, chain)
    left, right = armature.ik2d.chains
    remove_native(armature, left)
    assert errors_on([1, 20], armature, right).max() < 1e-5 and not changed_since_made(right)
    assert not any(len(armature.pose.bones[f"left {name}"].constraints) for name in ("thigh", "shin"))
    remove_native(armature, right)
    assert not len(armature.animation_data.drivers) and len(bpy.data.objects) == 3


def test_renamed_constraints_are_removed_too():
    armature, _ = leg_with_target()
    make_native(armature, armature.ik2d.chains[0])
    armature.pose.bones["shin"].constraints[0].name = "mine now"
    remove_native(armature, armature.ik2d.chains[0])
    assert not any(len(bone.constraints) for bone in armature.pose.bones) and armature.animation_data is None


# --- A file that says what is not so -----------------------------------------


def users_leg():
    """Return a native leg, with a limit, an object and an empty of the user's next to it."""
    armature, target = leg_with_target()
    body = armature.pose.bones["body"]
    limit = body.constraints.new('LIMIT_ROTATION')
    limit.name, limit.use_limit_x = "Mine", True
    limit.driver_add("influence").driver.expression = "0.5"
    armature.pose.bones["thigh"].constraints.new('LIMIT_SCALE').name = "Plain"
    add_target({1: (0, 0, 1)}, "Users")
    mesh = bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh"))
    bpy.context.scene.collection.objects.link(mesh)
    bpy.context.scene.frame_set(1)
    stored(armature)
    before = stored(armature)
    make_native(armature, armature.ik2d.chains[0])
    return armature, armature.ik2d.chains[0], before


def a_stand(name):
    return lambda chain: setattr(chain, "native_stand", bpy.data.objects[name])


def a_probe(name):
    return lambda chain: setattr(chain, "native_probe", bpy.data.objects[name])


def a_constraint(name):
    return lambda chain: setattr(chain, "native_constraint", name)


def exchanged(chain):
    chain.native_stand, chain.native_probe = chain.native_probe, chain.native_stand


NAMES = ["Rig", "Target", "Users", "Mesh"]
LIES = {
    **{f"stand {name}": a_stand(name) for name in NAMES},
    **{f"probe {name}": a_probe(name) for name in NAMES},
    **{f"constraint {name}": a_constraint(name) for name in ("Mine", "Plain", "IK", "IK 2D", "]\"'")},
    "no stand": lambda chain: setattr(chain, "native_stand", None),
    "exchanged": exchanged,
    "before": lambda chain: setattr(chain, "native_before", "bare \x07 {"),
    "print": lambda chain: setattr(chain, "native_print", "x nan 1 2 ]"),
}


@pytest.mark.parametrize("lie", LIES)
def test_whatever_the_file_says_only_what_was_made_is_removed(lie):
    armature, chain, before = users_leg()
    LIES[lie](chain)
    remove_native(armature, chain)
    bpy.context.scene.frame_set(1)
    left = [line for line in differences(before, stored(armature)) if "settings" not in line]
    assert left == [] and not is_native(chain)


def test_a_chain_that_names_anothers_parts_leaves_them():
    armature = two_legs()
    for chain in armature.ik2d.chains:
        make_native(armature, chain)
    left, right = armature.ik2d.chains
    for name in ("native_stand", "native_probe", "native_constraint"):
        setattr(left, name, getattr(right, name))
    remove_native(armature, left)
    assert errors_on([1, 20], armature, right).max() < 1e-5 and not changed_since_made(right)


def test_a_users_driver_that_reads_the_controls_stays():
    armature, chain, _ = users_leg()
    driver = armature.pose.bones["body"].constraints["Mine"].driver_add("max_x").driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = chain.native_stand, '["bend"]'
    remove_native(armature, chain)
    assert [curve.data_path.rpartition(".")[2] for curve in armature.animation_data.drivers] == [
        "influence",
        "max_x",
    ]


# --- What a native chain says and keeps --------------------------------------


def test_a_target_off_the_plane_is_told_with_the_distance():
    armature, target = leg_with_target()
    bpy.context.scene.unit_settings.system = 'METRIC'
    bpy.context.scene.unit_settings.scale_length = 1.0
    chain = armature.ik2d.chains[0]
    assert make_native(armature, chain).warnings == ()
    remove_native(armature, chain)
    parent = bpy.data.objects.new("aside", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.location.x = 0.3  # across the leg's plane
    target.parent = parent
    (warning,) = make_native(armature, chain).warnings
    assert warning.startswith("Chain 'shin': its target is up to 30 cm off the chain's plane (frame ")


@pytest.mark.parametrize("part, warned", [(0.0099, False), (0.0101, True)])
def test_a_target_is_off_the_plane_by_a_part_of_the_reach_whatever_the_size(part, warned):
    armature = add_armature(
        {
            "thigh": ((0, 0, 20.0), (0, -1.0, 10.0), "", 0.4),
            "shin": ((0, -1.0, 10.0), (0, 0, 1.0), "thigh", -0.2),
        }
    )
    reach = sum(bone.length for bone in armature.data.bones)
    chain = add_chain(armature, "shin", add_target({1: (part * reach, 2.0, 6.0)}))
    assert bool(make_native(armature, chain).warnings) == warned


@pytest.mark.parametrize("expression", ["frame>5 # left", "(frame >\n5) # ) left", "frame>len('#####') # #"])
def test_a_comment_in_the_bends_driver_swallows_nothing(expression):
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    driver = chain.driver_add("bend").driver
    driver.expression = expression

    def bends():
        found = []
        for frame in (1, 9):
            bpy.context.scene.frame_set(frame)
            controls = chain.native_stand
            found.append(controls["bend"] > 0.0 if controls else chain.bend == 'POSITIVE')
        return found

    assert bends() == [True, False]
    controls = make_native(armature, chain).controls
    assert bends() == [True, False] and controls.animation_data.drivers[0].driver.is_valid
    remove_native(armature, chain)
    assert bends() == [True, False] and driver.expression == expression and driver.is_valid
