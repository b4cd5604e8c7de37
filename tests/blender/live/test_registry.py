# SPDX-License-Identifier: GPL-3.0-or-later
"""Edited chains are read again, and those alone; what is edited with them counts too."""

import bpy
import pytest
from live_arms import arms
from rigs import add_armature, add_target
from test_live import SAME, add_chain, missed, update
from test_live_kept import followed  # noqa: F401 (a fixture)

from ik2d_addon.live import registry
from ik2d_addon.live.registry import RIGS


def soften(chain: bpy.types.PropertyGroup) -> None:
    chain.softness = 0.1 if chain.softness < 0.05 else 0.0


def limit(chain: bpy.types.PropertyGroup) -> None:
    chain.joints[1].use_limit = not chain.joints[1].use_limit


def turn_over(chain: bpy.types.PropertyGroup) -> None:
    chain.bend = 'NEGATIVE' if chain.bend == 'POSITIVE' else 'POSITIVE'


def bend_across(chain: bpy.types.PropertyGroup) -> None:
    chain.plane = 'Y' if chain.plane != 'Y' else 'AUTO'


@pytest.mark.parametrize("edit", [soften, limit, turn_over, bend_across])
def test_a_setting_that_is_changed_has_its_chain_read_and_followed_alone(edit, followed, monkeypatch):  # noqa: F811
    armature, _ = arms()
    armature.pose.bones["a2"].lock_rotation[1] = True  # what a lock holds is looked at too
    for _ in range(4):
        update()
    edit(armature.ik2d.chains[1])
    update()
    prints, original = [], registry.fingerprint

    def noted(rig, chain):
        prints.append(chain.name)
        return original(rig, chain)

    monkeypatch.setattr(registry, "fingerprint", noted)
    followed.clear()
    edit(armature.ik2d.chains[1])
    for _ in range(3):
        update()
    assert set(followed) == {"b1"} == set(prints)
    assert RIGS.chains[registry.key_of(armature.ik2d.chains[1])].rig.settings.bend == 1.0


def lock(armature: bpy.types.Object) -> None:
    armature.pose.bones["b0"].lock_rotation = (True,) * 3


def turn_what_is_locked(armature: bpy.types.Object) -> None:
    armature.pose.bones["b0"].rotation_quaternion = (0.9, 0.0, 0.5, 0.0)


def constrain(armature: bpy.types.Object) -> None:
    armature.pose.bones["b0"].constraints.new('LIMIT_ROTATION').name = "Limit"


def mute(armature: bpy.types.Object) -> None:
    armature.pose.bones["b0"].constraints[0].mute = True


def inherit(armature: bpy.types.Object) -> None:
    armature.data.bones["b0"].use_inherit_rotation = False


def reroot(armature: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones["b0"].tail.x += 0.2
    bpy.ops.object.mode_set(mode='OBJECT')


def disable(armature: bpy.types.Object) -> None:
    armature.ik2d.chains[0].enabled = False


def shorten(armature: bpy.types.Object) -> None:
    armature.ik2d.chains[0].bone_count = 1


@pytest.mark.parametrize(
    ("prepare", "edit"),
    [
        (None, lock),
        (lock, turn_what_is_locked),
        (None, constrain),
        (constrain, mute),
        (None, inherit),
        (None, reroot),
        (None, disable),
        (None, shorten),
    ],
)
def test_an_edit_of_another_chain_together_with_a_setting_counts_too(prepare, edit):
    armature, _ = arms()
    if prepare is not None:
        prepare(armature)
    for _ in range(3):
        update()
    key = registry.key_of(armature.ik2d.chains[0])
    before = RIGS.chains.get(key)
    soften(armature.ik2d.chains[1])
    edit(armature)
    update()
    assert RIGS.chains.get(key) is not before or before is None and not RIGS.problems.get(key)


def test_a_setting_with_an_error_is_told_and_one_that_mends_it_is_followed():
    armature, _ = arms()
    chain = armature.ik2d.chains[1]
    chain.solver = 'ARC'
    chain.joints[1].use_limit = True
    update()
    assert "Circle" in chain.live_status
    chain.joints[1].use_limit = False
    for _ in range(2):
        update()
    assert missed(armature, chain) < SAME and chain.live_reached


def test_a_setting_that_is_changed_and_a_target_under_another_parent_put_chains_in_order():
    armature, targets = arms()
    soften(armature.ik2d.chains[2])
    targets[2].parent, targets[2].parent_type, targets[2].parent_bone = armature, 'BONE', "b0"
    update()
    assert [len(ready) for ready in RIGS.rounds] == [2, 1]


@pytest.mark.parametrize("name", ["softness", "bend", "plane", "tip_angle_offset"])
def test_a_setting_that_is_reset_in_silence_together_with_another_chains_counts(name, followed):  # noqa: F811
    armature, _ = arms()
    chain = armature.ik2d.chains[0]
    setattr(chain, name, {"softness": 0.2, "bend": 'NEGATIVE', "plane": 'Y', "tip_angle_offset": 0.5}[name])
    for _ in range(3):
        update()
    soften(armature.ik2d.chains[1])
    chain.property_unset(name)  # which calls nothing
    assert not RIGS.is_marked
    followed.clear()
    update()
    assert "b0" in followed


def more_arms():
    """Add arms of which the last is not live yet; return their armature."""
    armature, _ = arms(4)
    armature.ik2d.chains[3].live = False
    for _ in range(4):
        update()
    return armature


def test_a_chain_that_becomes_live_is_followed_alone_in_the_order_of_all(followed):  # noqa: F811
    armature = more_arms()
    before = dict(RIGS.chains)
    followed.clear()
    armature.ik2d.chains[3].live = True
    update()
    assert set(followed) == {"b3"} and before.items() < RIGS.chains.items()
    for _ in range(2):
        update()
    assert all(missed(armature, chain) < SAME for chain in armature.ik2d.chains)
    assert [len(ready) for ready in RIGS.rounds] == [4]
    armature.ik2d.chains[3].target.location.x += 0.1
    for _ in range(2):
        update()
    assert missed(armature, armature.ik2d.chains[3]) < SAME


def test_a_chain_that_becomes_live_and_hangs_on_another_comes_after_it():
    armature = more_arms()
    chain = armature.ik2d.chains[3]
    chain.target, chain.subtarget = armature, "b0"
    update()
    chain.live = True
    update()
    assert [len(ready) for ready in RIGS.rounds] == [3, 1]


def test_a_chain_that_becomes_live_with_bones_of_another_is_refused():
    armature = more_arms()
    chain = armature.ik2d.chains[3]
    chain.tip = "b0"
    update()
    chain.live = True
    update()
    assert "share the bone" in chain.live_status
    chain.tip = "b3"
    for _ in range(2):
        update()
    assert missed(armature, chain) < SAME and chain.live_reached


def test_a_hand_that_becomes_the_bone_of_another_chain_is_left_to_it():
    armature = add_armature(
        {
            "a": ((0.0, 0.0, 0.0), (0.3, 0.0, 1.0), "", 0.0),
            "b": ((0.3, 0.0, 1.0), (0.0, 0.0, 2.0), "a", 0.0),
            "hand": ((0.0, 0.0, 2.0), (0.0, 0.0, 2.5), "b", 0.0),
            "other": ((3.0, 0.0, 0.0), (3.0, 0.0, 1.0), "", 0.0),
        }
    )
    target = add_target({}, "Target")
    target.location = (0.5, 0.0, 1.4)
    chain = add_chain(armature, "b", target, 2, live=True)
    chain.hand_rotation = 'WORLD'
    other = add_chain(armature, "other", target, 1)
    for _ in range(3):
        update()
    assert RIGS.chains[registry.key_of(chain)].rig.hands.bones == ("hand",)
    other.tip = "hand"
    update()
    assert RIGS.chains[registry.key_of(chain)].rig.hands is None


@pytest.mark.parametrize("hide", ["hide_viewport", "unlink", "exclude", "remove"])
def test_objects_that_come_or_go_concern_chains_whose_targets_are_shown_elsewhere_alone(hide, followed):  # noqa: F811
    armature, targets = arms()
    home = bpy.data.collections.new("Home")
    bpy.context.scene.collection.children.link(home)
    for collection in targets[1].users_collection:
        collection.objects.unlink(targets[1])
    home.objects.link(targets[1])
    for _ in range(3):
        update()
    followed.clear()
    before = dict(RIGS.chains)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Other", None))
    update()
    assert followed == [] and RIGS.chains == before
    if hide == "hide_viewport":
        home.hide_viewport = True
    elif hide == "exclude":
        bpy.context.view_layer.layer_collection.children["Home"].exclude = True
    elif hide == "unlink":
        home.objects.unlink(targets[1])
    else:
        bpy.data.objects.remove(targets[1])
    update()
    chain = armature.ik2d.chains[1]
    if hide in ("unlink", "remove"):
        assert RIGS.problems[registry.key_of(chain)]
    else:
        targets[1].location.x += 0.1
        update()
        update()
        tip = armature.matrix_world @ armature.pose.bones["b1"].tail
        assert (tip - targets[1].location).length < SAME


# --- What an edited setting must not hide -----------------------------------------------------------


def poses() -> list[tuple[float, ...]]:
    """Return the evaluated matrices of all bones, and the status of all chains."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    rigs = [ob for ob in bpy.data.objects if ob.type == 'ARMATURE']
    shown = [
        tuple(bone.matrix[i])
        for ob in rigs
        for bone in ob.evaluated_get(depsgraph).pose.bones
        for i in range(4)
    ]
    return shown, [chain.live_status for ob in rigs for chain in ob.ik2d.chains]


def assert_as_read_anew() -> None:
    """Assert that poses and statuses are those that a new reading of all chains gives."""
    for _ in range(3):
        update()
    shown, said = poses()
    RIGS.mark()
    for ob in bpy.data.objects:
        if ob.type == 'ARMATURE':
            ob.update_tag()
    for _ in range(2):
        update()
    anew, said_anew = poses()
    assert said == said_anew
    for one, other in zip(shown, anew, strict=True):
        assert one == pytest.approx(other, abs=2e-3)


def handed(count: int = 3) -> tuple[bpy.types.Object, list[bpy.types.Object]]:
    """Add live arms, the first of which has a hand on its tip that is posed on its own."""
    armature, targets = arms(count)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    hand = armature.data.edit_bones.new("h0")
    hand.head, hand.tail, hand.parent = (0, 0, 2), (0.1, 0, 2.5), armature.data.edit_bones["b0"]
    bpy.ops.object.mode_set(mode='OBJECT')
    return armature, targets


def test_an_armature_that_comes_with_live_chains_is_followed():
    armature, _ = arms(2)
    copy = armature.copy()
    copy.data = copy.data.copy()
    copy.location.z += 1.0
    bpy.context.scene.collection.objects.link(copy)
    assert_as_read_anew()
    assert all(chain.live_reached for chain in copy.ik2d.chains)


def test_a_hand_that_another_chain_lets_go_is_taken():
    armature, targets = handed()
    other = add_chain(armature, "h0", None, 1)
    armature.ik2d.chains[0].hand_rotation = 'TARGET'
    for _ in range(3):
        update()
    targets[0].rotation_euler.y = 0.6
    update()
    other.tip = ""
    assert_as_read_anew()


def free_by_influence(armature: bpy.types.Object) -> None:
    armature.pose.bones["h0"].constraints[0].influence = 0.0


def free_by_mute(armature: bpy.types.Object) -> None:
    armature.animation_data.drivers[0].mute = True


@pytest.mark.parametrize("free", [free_by_influence, free_by_mute])
def test_a_hand_that_is_freed_with_an_edit_of_another_chain_is_taken(free):
    armature, targets = handed()
    if free is free_by_influence:
        armature.pose.bones["h0"].constraints.new('COPY_ROTATION').target = targets[1]
    else:
        armature.pose.bones["h0"].driver_add("rotation_quaternion", 1)
    armature.ik2d.chains[0].hand_rotation = 'WORLD'
    for _ in range(3):
        update()
    armature.ik2d.chains[1].softness = 0.1
    free(armature)
    update()
    armature.rotation_euler.y = 0.4
    assert_as_read_anew()


@pytest.mark.parametrize("name", ["target", "tip", "enabled", "subtarget", "pole"])
def test_what_a_chain_names_counts_next_to_an_edit_of_another(name):
    armature, targets = arms()
    chain = armature.ik2d.chains[0]
    if name == "subtarget":
        chain.target, chain.subtarget = (
            add_armature({"post": ((1, 0, 1), (1, 0, 2), "", 0.0)}, "Post"),
            "post",
        )
    if name == "pole":
        chain.plane, chain.pole = 'POLE', add_target({}, "Pole")
    if name == "enabled":
        chain.enabled = False
    for _ in range(3):
        update()
    armature.ik2d.chains[1].softness = 0.1
    chain.property_unset(name)
    update()
    armature.location.z += 0.1
    assert_as_read_anew()
