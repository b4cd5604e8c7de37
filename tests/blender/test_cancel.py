# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake that is cancelled, anywhere and on any animation, takes away what it made and nothing else."""

import os
import random
from collections.abc import Callable
from contextlib import ExitStack

import bpy
import pytest
from rigs import add_armature, add_chain, add_target, animation_of, leg_with_target
from snapshots import differences, everything, poses

from ik2d_addon.bake import BakeOptions, bake, bake_steps, pipeline
from ik2d_addon.core import IK2DError
from ik2d_addon.features.baking import operators
from ik2d_addon.rig.animation import actions, versions

SLOTS = hasattr(bpy.types, "ActionSlot")
# More, by hand: IK2D_ROUNDS=300
ROUNDS = int(os.environ.get("IK2D_ROUNDS", "36"))
FIRST, LAST = 2, 6

# --- A random rig, randomly animated --------------------------------------------------------------

BONES = ("body", "thigh", "shin", "foot", "toe", "wing")
PROPERTIES = {"rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "location": 3}
CHANNELS = [
    (f'pose.bones["{bone}"].{name}', index)
    for bone in BONES
    for name, count in PROPERTIES.items()
    for index in range(count)
] + [("location", index) for index in range(3)]
GROUPS = ("thigh", "shin", "foot", "Hand-made", "Nothing in it", "body")


def random_rig(rng: random.Random) -> bpy.types.Object:
    """Add a leg with a foot, with one chain or two of which one hangs on the other."""
    armature = add_armature(
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "body", 0.4),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", -0.2),
            "foot": ((0, 0, 0.1), (0, -0.4, 0.0), "shin", 0.0),
            "toe": ((0, -0.4, 0.0), (0, -0.7, 0.1), "foot", 0.0),
            "wing": ((0, 0, 2.6), (0.5, 0, 2.8), "body", 0.0),
        }
    )
    for bone in armature.pose.bones:
        bone.rotation_mode = rng.choice(['QUATERNION', 'QUATERNION', 'XYZ', 'ZYX', 'AXIS_ANGLE'])
        bone.lock_rotation[0] = rng.random() < 0.05
    add_chain(armature, "shin", add_target({1: (0, 0.2, 0.3), 6: (0, -0.9, 0.8)}))
    if rng.random() < 0.3:
        add_chain(armature, "toe", add_target({1: (0, -0.3, 0.3), 5: (0, -0.9, 0.4)}, "Toe's target"))
    return armature


def random_curves(rng: random.Random, holder: versions.Channels) -> None:
    """Fill an action, or one of its slots, with curves in and out of groups."""
    for name in rng.sample(GROUPS, rng.randrange(len(GROUPS))):
        holder.groups.new(name)
    for path, index in rng.sample(CHANNELS, rng.choice((0, 3, 15, 40, len(CHANNELS)))):
        curve = holder.fcurves.new(path, index=index)
        random_keys(rng, curve)
        if len(holder.groups) and rng.random() < 0.6:
            curve.group = rng.choice(list(holder.groups))
    for group in list(holder.groups):
        if rng.random() < 0.1:
            holder.groups.remove(group)
            continue
        for name in ("mute", "select", "show_expanded", "show_expanded_graph", "use_pin"):
            setattr(group, name, rng.random() < 0.5)
        group.lock = group.name not in BONES[1:5] and rng.random() < 0.1
        group.color_set = rng.choice(['DEFAULT', 'THEME03', 'CUSTOM'])
        if group.color_set == 'CUSTOM':
            group.colors.normal = [rng.random() for _ in range(3)]


def random_keys(rng: random.Random, curve: bpy.types.FCurve) -> None:
    """Give a curve keys and settings of its own."""
    for frame in sorted(rng.sample(range(-5, 15), rng.randrange(1, 6))):
        key = curve.keyframe_points.insert(frame + rng.choice((0, 0.25)), rng.uniform(-1, 1))
        key.handle_left_type = rng.choice(['FREE', 'ALIGNED', 'VECTOR', 'AUTO', 'AUTO_CLAMPED'])
        key.handle_right_type = rng.choice(['FREE', 'ALIGNED', 'VECTOR', 'AUTO', 'AUTO_CLAMPED'])
        key.handle_left, key.handle_right = (frame - 1.3, rng.random()), (frame + 0.7, rng.random())
        key.interpolation = rng.choice(['BEZIER', 'LINEAR', 'CONSTANT', 'ELASTIC', 'BACK'])
        key.easing = rng.choice(['AUTO', 'EASE_IN', 'EASE_OUT'])
        key.type = rng.choice(['KEYFRAME', 'EXTREME', 'BREAKDOWN', 'GENERATED'])
        key.amplitude, key.period, key.back = rng.random(), rng.random(), rng.random()
        key.select_control_point, key.select_left_handle = rng.random() < 0.5, rng.random() < 0.5
    curve.update()
    for name in ("mute", "select", "hide"):
        setattr(curve, name, rng.random() < 0.3)
    curve.lock = rng.random() < 0.002
    curve.extrapolation = rng.choice(['CONSTANT', 'LINEAR'])
    curve.auto_smoothing = rng.choice(['NONE', 'CONT_ACCEL'])
    curve.color_mode = rng.choice(['AUTO_RAINBOW', 'AUTO_RGB', 'AUTO_YRGB', 'CUSTOM'])
    curve.color = [rng.random() for _ in range(3)]
    if rng.random() < 0.1:
        curve.modifiers.new(rng.choice(['CYCLES', 'NOISE', 'LIMITS']))


def random_action(rng: random.Random, armature: bpy.types.Object, name: str) -> bpy.types.Action:
    """Assign a new action with random curves."""
    action = bpy.data.actions.new(name)
    action.use_fake_user = rng.random() < 0.3
    action.use_frame_range = rng.random() < 0.3
    animation = armature.animation_data or armature.animation_data_create()
    animation.action = action
    if SLOTS:
        for other in rng.sample(["One", "Two"], rng.randrange(3)):  # before ours and after it
            action.slots.new(id_type='OBJECT', name=other)
    random_curves(rng, actions.channels(armature, ExitStack()))
    if SLOTS:
        for slot in list(action.slots)[: rng.randrange(3)]:
            bag = action.layers[0].strips[0].channelbag(slot, ensure=True)
            if slot != animation.action_slot:
                random_curves(rng, bag)
    return action


# --- Where the random action plays ----------------------------------------------------------------


def nowhere(rng, armature, _path):
    return armature


def in_empty_animation_data(rng, armature, _path):
    armature.animation_data_create()
    if rng.random() < 0.5:
        armature.driver_add("scale", 0).driver.expression = "1.0"
    return armature


def in_an_empty_action(rng, armature, _path):
    armature.animation_data_create().action = bpy.data.actions.new("Empty")
    if SLOTS and rng.random() < 0.5:
        armature.animation_data.action.slots.new(id_type='OBJECT', name="Somebody")
    if SLOTS and rng.random() < 0.5:
        armature.animation_data.action.layers.new("Mine")
    return armature


def assigned(rng, armature, _path):
    random_action(rng, armature, "Walk")
    return armature


def without_its_slot(rng, armature, _path):
    random_action(rng, armature, "Walk")
    if SLOTS:
        armature.animation_data.action_slot = None
    return armature


def in_a_strip(rng, armature, _path):
    animation = armature.animation_data_create()
    for start in (-3, 2)[: rng.randrange(1, 3)]:
        action = random_action(rng, armature, "Pushed down")
        slot = getattr(animation, "action_slot", None)
        animation.action = None
        strip = animation.nla_tracks.new().strips.new("Walk", start, action)
        if SLOTS:
            strip.action_slot = slot
        strip.scale, strip.use_reverse = rng.choice((1.0, 0.5, 2.0)), rng.random() < 0.3
        strip.blend_type = rng.choice(['REPLACE', 'ADD', 'COMBINE'])
    if rng.random() < 0.4:
        random_action(rng, armature, "On top")
    return armature


def in_tweak_mode(rng, armature, path):
    in_a_strip(rng, armature, path)
    animation = armature.animation_data
    track = rng.choice(list(animation.nla_tracks))
    animation.nla_tracks.active = track
    for each in animation.nla_tracks:
        each.select = each == track
        for strip in each.strips:
            strip.select = each == track
    animation.use_tweak_mode = True
    return armature


def shared(rng, armature, _path):
    """Played by another armature and by an empty too."""
    action = random_action(rng, armature, "Walk")
    twin = bpy.data.objects.new("Twin", armature.data)
    for ob in (twin, bpy.data.objects.new("Empty", None)):
        bpy.context.scene.collection.objects.link(ob)
        ob.animation_data_create().action = action
        if SLOTS:
            ob.animation_data.action_slot = armature.animation_data.action_slot
    bpy.context.view_layer.update()
    for bone in twin.pose.bones:
        bone.rotation_mode = rng.choice(['QUATERNION', 'XYZ'])
        bone.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    return armature


def linked(rng, armature, path):
    """An action that a library owns."""
    action = random_action(rng, armature, "Walk")
    bpy.data.libraries.write(str(path), {action}, fake_user=True)
    handle = getattr(armature.animation_data, "action_slot_handle", 0)
    bpy.data.actions.remove(action)
    with bpy.data.libraries.load(str(path), link=True) as (_, into):
        into.actions = ["Walk"]
    armature.animation_data.action = into.actions[0]
    if SLOTS:
        armature.animation_data.action_slot = next(s for s in into.actions[0].slots if s.handle == handle)
    return armature


def overridden(rng, armature, path):
    """A library override of the rig; the action is the library's, or there is none."""
    if rng.random() < 0.7:
        random_action(rng, armature, "Walk")
    collection = bpy.data.collections.new("Character")
    for ob in list(bpy.data.objects):
        collection.objects.link(ob)
    bpy.data.libraries.write(str(path), {collection}, fake_user=True)
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.actions, collection])
    with bpy.data.libraries.load(str(path), link=True) as (_, into):
        into.collections = ["Character"]
    instance = bpy.data.objects.new("Character", None)
    instance.instance_type, instance.instance_collection = 'COLLECTION', into.collections[0]
    bpy.context.scene.collection.objects.link(instance)
    into.collections[0].override_hierarchy_create(
        bpy.context.scene, bpy.context.view_layer, reference=instance
    )
    local = next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE' and not ob.library)
    local.override_library.is_system_override = False
    return local


PLACES: tuple[Callable[..., bpy.types.Object], ...] = (
    nowhere,
    in_empty_animation_data,
    in_an_empty_action,
    assigned,
    without_its_slot,
    in_a_strip,
    in_tweak_mode,
    shared,
    linked,
    overridden,
)


def random_options(rng: random.Random) -> BakeOptions:
    way = rng.choice(("every frame", "reduce", "target's keys"))
    return BakeOptions(
        verify=rng.choice(('SAMPLE', 'ALL', 'NONE')),
        reduce=0.01 if way == "reduce" else 0.0,
        on_target_keys=way == "target's keys",
        single_axis=rng.random() < 0.3,
    )


# --- Cancelling it --------------------------------------------------------------------------------


class _Stop(Exception):
    """The test's own error."""


def state() -> dict:
    """Return all there is once Blender has evaluated it."""
    bpy.context.view_layer.update()
    return {**everything(), "poses": poses()}


def fail_at_the_end(armature, options) -> int:
    """Have a bake fail when all is written and played back; return how often it yielded before."""

    def stop(*_, **__):
        raise _Stop

    count = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "report_of", stop)
        try:
            for _ in bake_steps(armature, None, FIRST, LAST, options=options):
                count += 1
        except (_Stop, IK2DError):  # a random lock refuses it
            pass
    return count


def cancel_at(armature, options, stop: int, way: str) -> None:
    """End a bake after so many yields, by closing it or by an error there; meanwhile somebody acts."""
    steps = bake_steps(armature, None, FIRST, LAST, options=options)
    for _ in range(stop):
        next(steps)
    somebody_s = bpy.data.actions.new("Somebody's")
    somebody_s.use_fake_user = True
    if way == "close":
        steps.close()
    elif stop:
        with pytest.raises(_Stop):
            steps.throw(_Stop())
    assert "Somebody's" in bpy.data.actions
    bpy.data.actions.remove(somebody_s)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_a_bake_cancelled_anywhere_leaves_every_bit_of_animation_as_it_was(seed, tmp_path):
    rng = random.Random(seed)
    place = PLACES[seed % len(PLACES)]
    armature = place(rng, random_rig(rng), tmp_path / "library.blend")
    bpy.context.scene.frame_set(rng.randrange(-2, 9), subframe=rng.choice((0.0, 0.5)))
    options = random_options(rng)
    before = state()
    total = fail_at_the_end(armature, options)
    assert differences(before, state()) == [], (place.__name__, "failed at the end")
    for stop in {rng.randrange(total + 1), rng.randrange(total + 1), total}:
        cancel_at(armature, options, stop, rng.choice(("close", "error")))
        assert differences(before, state()) == [], (place.__name__, stop, total)


# --- One thing at a time --------------------------------------------------------------------------


def until_written(armature):
    """Start a bake and return it, with the keys there and their playing back under way."""
    steps = bake_steps(armature, frame_start=1, frame_end=10, options=BakeOptions(verify='ALL'))
    while len(animation_of(armature).get(('pose.bones["shin"].rotation_quaternion', 0), ())) < 10:
        next(steps)
    bpy.context.view_layer.update()  # as Blender does when it draws
    return steps


@pytest.mark.parametrize("fake_user", [False, True])
def test_an_action_that_somebody_else_made_meanwhile_stays(fake_user):
    armature, _ = leg_with_target()
    steps = until_written(armature)
    other = bpy.data.actions.new("Somebody's")
    other.use_fake_user = fake_user
    steps.close()
    assert armature.animation_data is None
    assert sorted(action.name for action in bpy.data.actions) == ["Somebody's", "TargetAction"]


def test_what_somebody_else_puts_into_the_new_action_stays():
    armature, _ = leg_with_target()
    steps = until_written(armature)
    armature.pose.bones["body"].keyframe_insert("location", frame=3)
    steps.close()
    assert set(animation_of(armature)) == {('pose.bones["body"].location', i) for i in range(3)}


def test_what_somebody_else_adds_to_new_animation_data_stays():
    armature, _ = leg_with_target()
    steps = until_written(armature)
    armature.driver_add("scale", 0)
    steps.close()
    assert [curve.data_path for curve in armature.animation_data.drivers] == ["scale"]
    assert armature.animation_data.action is None
    assert "RigAction" not in bpy.data.actions


def test_an_action_that_somebody_assigns_meanwhile_stays_assigned():
    armature, _ = leg_with_target()
    steps = until_written(armature)
    armature.animation_data.action = bpy.data.actions.new("Somebody's")
    steps.close()
    assert armature.animation_data.action.name == "Somebody's"
    assert "RigAction" not in bpy.data.actions


def test_a_curve_without_a_group_gets_none():
    armature, _ = leg_with_target()
    armature.pose.bones["thigh"].keyframe_insert("rotation_quaternion", frame=2)
    for curve in list(versions.existing_fcurves(armature)):
        path, index = curve.data_path, curve.array_index
        versions.existing_channels(armature).fcurves.remove(curve)
        random_keys(random.Random(index), versions.existing_channels(armature).fcurves.new(path, index=index))
    before = state()
    until_written(armature).close()
    assert differences(before, state()) == []
    bake(armature, frame_start=1, frame_end=3)
    groups = {
        (c.data_path.split('"')[1], c.group and c.group.name) for c in versions.existing_fcurves(armature)
    }
    assert groups == {("thigh", None), ("shin", "shin")}


def test_an_empty_group_that_new_curves_were_put_into_stands_where_it_stood():
    armature, _ = leg_with_target()
    holder = actions.channels(armature, ExitStack())
    for name in ("Before", "shin", "thigh", "After"):
        holder.groups.new(name).color_set = 'THEME05'
    for index, name in enumerate(("After", "Before", "After")):
        holder.fcurves.new("location", index=index).group = holder.groups[name]
    before = state()
    steps = until_written(armature)
    assert len(versions.existing_channels(armature).groups["shin"].channels) == 4
    steps.close()
    assert differences(before, state()) == []


def test_another_armature_that_plays_the_same_keys_gets_its_pose_back():
    armature, _ = leg_with_target()
    shared(random.Random(1), armature, None)
    for curve in list(versions.existing_fcurves(armature)):
        versions.existing_channels(armature).fcurves.remove(curve)
    before = state()
    steps = until_written(armature)
    assert poses() != before["poses"]
    steps.close()
    assert differences(before, state()) == []


def test_what_was_moved_by_hand_beside_the_chain_stands_so_after_a_bake_cancelled_as_it_plays():
    armature, target = leg_with_target()
    body, thigh = armature.pose.bones["body"], armature.pose.bones["thigh"]
    for bone in (body, thigh):
        for frame in (1, 100):
            bone.location.y, bone["Weight"] = frame / 400.0, float(frame)
            for name in ("location", "rotation_quaternion", '["Weight"]'):
                bone.keyframe_insert(name, frame=frame)
    for frame in (1, 100):
        armature.hide_render = frame > 1
        armature.keyframe_insert("hide_render", frame=frame)
        armature.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(10)
    armature.location = (1.0, 0.0, 0.5)
    armature.hide_render = True
    body.location, thigh.rotation_quaternion, target.location = (0.3, 0.2, 0.1), (1, 0.3, 0, 0), (1, 0.1, 0.9)
    before = poses(), tuple(armature.location), armature.hide_render, tuple(target.location)
    steps = until_written(armature)
    steps.close()
    bpy.context.view_layer.update()
    assert (poses(), tuple(armature.location), armature.hide_render, tuple(target.location)) == before


def test_a_failure_after_playing_back_leaves_no_keys(monkeypatch):
    armature, _ = leg_with_target()
    before = state()

    def failing(*_, **__):
        raise _Stop

    monkeypatch.setattr(pipeline, "report_of", failing)
    with pytest.raises(_Stop):
        bake(armature, frame_start=1, frame_end=5)
    assert differences(before, state()) == []


@pytest.mark.parametrize("who", ["armature", "target"])
@pytest.mark.parametrize("after", ["one frame", "the keys"])
def test_what_is_deleted_during_a_bake_ends_it_and_leaves_nothing_behind(who, after):
    armature, target = leg_with_target()
    if after == "one frame":
        steps = bake_steps(armature, frame_start=1, frame_end=10)
        next(steps)
    else:
        steps = until_written(armature)
    before = {name: len(getattr(bpy.data, name)) for name in ("scenes", "objects", "actions")}
    bpy.data.objects.remove(armature if who == "armature" else target)
    with pytest.raises(ReferenceError):
        for _ in steps:
            pass
    assert [scene.name for scene in bpy.data.scenes] == ["Scene"]
    assert [action.name for action in bpy.data.actions] == ["TargetAction"]
    assert len(bpy.data.objects) == 1, before


# --- What is renamed or removed while a bake runs in the window -----------------------------------


def bake_while(monkeypatch, change: Callable[[], None]) -> set[str]:
    """Bake by the operator, with something changed when it has begun; return what the operator does."""
    real = operators.bake_steps

    def interrupted(*arguments, **named):
        steps = real(*arguments, **named)
        yield next(steps)
        change()
        return (yield from steps)

    monkeypatch.setattr(operators, "bake_steps", interrupted)
    return bpy.ops.ik2d.bake(frame_start=1, frame_end=5)


def two_legs():
    """Return the leg with two chains of a bone each, the second one's target out of reach."""
    armature, target = leg_with_target()
    armature.ik2d.chains.clear()
    far = add_target({1: (0, -9, 0)}, "Far")
    add_chain(armature, "thigh", target, 1, aim_distance=True)
    add_chain(armature, "shin", far, 1, aim_distance=True)
    bpy.context.view_layer.objects.active = armature
    return armature, armature.ik2d.chains


def test_a_chain_renamed_during_a_bake_gets_its_result(monkeypatch):
    armature, chains = two_legs()
    assert bake_while(monkeypatch, lambda: setattr(chains["shin"], "name", "Foot")) == {'FINISHED'}
    assert chains["Foot"].missed_frames == "1..5"
    assert "Chain 'shin'" not in chains["thigh"].last_bake
    assert armature.ik2d.last_bake


def test_chains_that_swap_their_names_during_a_bake_get_their_own_results(monkeypatch):
    _, chains = two_legs()

    def swap():
        chains[0].name, chains[1].name = "x", "thigh"
        chains[0].name = "shin"

    assert bake_while(monkeypatch, swap) == {'FINISHED'}
    assert (chains[0].tip, chains[1].missed_frames) == ("thigh", "1..5")
    assert "8.27 m" in chains[1].last_bake and "8.27 m" not in chains[0].last_bake


def test_a_chain_removed_during_a_bake_is_passed_over(monkeypatch):
    armature, chains = two_legs()
    assert bake_while(monkeypatch, lambda: chains.remove(1)) == {'FINISHED'}
    assert [chain.name for chain in chains] == ["thigh"]
    assert chains["thigh"].last_bake and armature.ik2d.last_bake


def test_a_removed_chains_result_is_not_another_chains(monkeypatch):
    """Not that of a chain of the same bones and target which is disabled."""
    armature, chains = two_legs()
    add_chain(armature, "shin", chains["shin"].target, 1, name="Off", enabled=False)
    assert bake_while(monkeypatch, lambda: chains.remove(1)) == {'FINISHED'}
    assert chains["Off"].last_bake == ""


def test_a_renamed_armature_is_no_matter(monkeypatch):
    armature, chains = two_legs()
    assert bake_while(monkeypatch, lambda: setattr(armature, "name", "Robot")) == {'FINISHED'}
    assert chains["shin"].missed_frames == "1..5"


@pytest.mark.parametrize("name", ["Rig", "Target"])
def test_an_object_deleted_during_a_bake_is_an_error_in_words(name, monkeypatch):
    two_legs()
    with pytest.raises(RuntimeError, match="'Rig', or something it follows, was deleted"):
        bake_while(monkeypatch, lambda: bpy.data.objects.remove(bpy.data.objects[name]))
    assert not any(action.name.startswith("Rig") for action in bpy.data.actions)
    assert [scene.name for scene in bpy.data.scenes] == ["Scene"]
