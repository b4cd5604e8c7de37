# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples: what Blender evaluates at each time, whichever scene they come from, and nothing left behind."""

import dataclasses

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from rigs import add_armature, add_chain, add_leg, add_target, evaluated_place, evaluated_tip
from sampled_legs import TIMES, moving_leg, steps, worked_off

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation import versions
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene import sampler as sampling
from ik2d_addon.rig.scene.probes import probes_on
from ik2d_addon.rig.scene.record import difference_of, record_by_curves
from ik2d_addon.rig.scene.sampler import sample_now, sample_steps
from ik2d_addon.rig.scene.stepping import record_stepping

EXACT = 1e-6  # of two units: Blender's own numbers, read again


def assert_evaluated(rig, samples, i):
    """Hold the i-th sample to what Blender has now."""
    armature = rig.armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bones = armature.pose.bones
    assert samples.world[i] == pytest.approx(np.array(armature.matrix_world), abs=EXACT)
    assert samples.targets[i] == pytest.approx(tuple(evaluated_place(rig.target, rig.subtarget)), abs=EXACT)
    assert samples.tips[i] == pytest.approx(tuple(evaluated_tip(rig.armature, rig.bones[-1])), abs=1e-5)
    above = rig.pose_bones[0].parent
    assert (samples.parent is None) == (above is None)
    if above:
        assert samples.parent[i] == pytest.approx(np.array(bones[above.name].matrix), abs=EXACT)
    for k, name in enumerate(rig.bones):
        assert samples.bases[i, k] == pytest.approx(np.array(bones[name].matrix_basis), abs=EXACT)


def test_samples_are_what_blender_has_at_each_time(sampled_in):
    rig = moving_leg()
    _, result = steps([rig])
    (samples,) = result.chains
    assert result.full_scene == sampled_in
    assert samples.targets.shape == samples.tips.shape == (4, 3)
    assert samples.world.shape == samples.parent.shape == (4, 4, 4)
    assert samples.bases.shape == (4, 2, 4, 4)
    for i, time in enumerate(TIMES):
        bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
        assert_evaluated(rig, samples, i)


def test_each_chain_gets_its_own_target_and_bones():
    armature = add_armature(
        {name: ((0, y, 2), (0, y, 1), "", 0.0) for name, y in (("a", 0.0), ("b", 1.0), ("c", 2.0))}
    )
    first, second = (
        add_target({1: (0, 0, 0), 9: (0, 1, 0)}),
        add_target({1: (0, 2, 0), 9: (0, 3, 1)}, "Second"),
    )
    for name, target, subtarget in (("b", second, ""), ("a", first, ""), ("c", armature, "a")):
        add_chain(armature, name, target, bone_count=1, subtarget=subtarget)
    rigs = [read_chain(armature, chain) for chain in armature.ik2d.chains]
    _, result = steps(rigs, [3.0])
    bpy.context.scene.frame_set(3)
    for rig, taken in zip(rigs, result.chains, strict=True):
        assert_evaluated(rig, taken, 0)


@pytest.mark.parametrize("of", ("object", "bone", "target"))
def test_poles_are_where_blender_has_them_at_each_time(of, sampled_in):
    rig = moving_leg()
    chain = rig.armature.ik2d.chains[0]
    other = add_target({-5: (1, 2, 3), 10: (-1, 0.5, 0)}, "Pole")
    if of == "bone":
        holder, other = other, add_leg("Other")
        other.parent = holder
    chain.plane, chain.pole = 'POLE', chain.target if of == "target" else other
    chain.pole_subtarget = "thigh" if of == "bone" else ""
    rig = read_chain(rig.armature, chain)
    _, result = steps([rig])
    (samples,) = result.chains
    assert samples.poles.shape == (len(TIMES), 3) and samples.swings is None
    for i, time in enumerate(TIMES):
        bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
        assert samples.poles[i] == pytest.approx(tuple(evaluated_place(*rig.pole)), abs=EXACT)
        assert_evaluated(rig, samples, i)
    (now,) = sample_now(bpy.context.scene, [rig]).chains
    assert now.poles[0] == pytest.approx(samples.poles[-1], abs=EXACT)


def test_a_chain_without_a_pole_has_no_places_of_it():
    _, result = steps([moving_leg()])
    assert result.chains[0].poles is None


def test_what_does_not_move_takes_up_the_memory_of_one_frame():
    armature = add_leg()
    add_chain(armature, "shin", add_target({-5: (0, 0.2, 0.3), 10: (0, -0.9, 0.8)}))
    _, result = steps([read_chain(armature, armature.ik2d.chains[0])])
    (samples,) = result.chains
    for values in (samples.world, samples.bases, samples.parent, samples.settings):
        assert values.strides[0] == 0 and len(values) == len(TIMES)
    assert samples.targets.strides[0] > 0
    bpy.ops.wm.read_factory_settings(use_empty=True)
    _, result = steps([moving_leg()])
    (samples,) = result.chains
    assert all(values.strides[0] > 0 for values in (samples.world, samples.bases, samples.parent))


def test_now_is_what_was_moved_by_hand():
    rig = moving_leg()
    bpy.context.scene.frame_set(3, subframe=0.5)
    rig.target.location = (0, 1.5, 1.5)
    rig.armature.pose.bones["body"].location = (0.1, 0.2, 0.3)
    result = sample_now(bpy.context.scene, [rig])
    assert result.full_scene == ""
    bpy.context.view_layer.update()
    assert_evaluated(rig, result.chains[0], 0)
    assert tuple(result.chains[0].targets[0]) == pytest.approx((0, 1.5, 1.5))


# --- Nothing is left behind -----------------------------------------------------------------------


def everything():
    kinds = (bpy.data.scenes, bpy.data.objects, bpy.data.actions, bpy.data.collections)
    scene = bpy.context.scene
    return [[block.name for block in kind] for kind in kinds], scene.frame_current, scene.frame_subframe


def test_the_scene_shows_what_it_showed(sampled_in):
    rig = moving_leg()
    bpy.context.scene.frame_set(4, subframe=0.25)
    before, place = everything(), tuple(evaluated_tip(rig.armature, "shin"))
    steps([rig])
    assert everything() == before
    assert tuple(evaluated_tip(rig.armature, "shin")) == place


def test_a_closed_sampling_leaves_nothing(sampled_in):
    rig = moving_leg()
    bpy.context.scene.frame_set(4, subframe=0.25)
    before = everything()
    running = sample_steps(bpy.context.scene, [rig], TIMES)
    for _ in range(3):
        next(running)
    running.close()
    assert everything() == before


def test_now_leaves_nothing():
    rig = moving_leg()
    before = everything()
    sample_now(bpy.context.scene, [rig])
    assert everything() == before


# --- A scene that is kept -------------------------------------------------------------------------


def test_a_sampler_keeps_one_scene_and_compares_it_once(monkeypatch, hindered):
    rig = moving_leg()
    bpy.context.scene.frame_set(4)  # nothing is elsewhere than its keys have it
    before, asked, difference = everything(), [], sampling._difference

    def asking(*arguments):
        asked.append(1)
        return difference(*arguments)

    monkeypatch.setattr(sampling, "_difference", asking)
    with sampling.Sampler(bpy.context.scene, [rig]) as sampler:
        assert everything() == before  # nothing is made that nobody asks for
        steps_in(sampler, rig)
        (own,) = set(bpy.data.scenes) - {bpy.context.scene}
        steps_in(sampler, rig)
        assert set(bpy.data.scenes) == {bpy.context.scene, own}
    assert asked == [1] and everything() == before


def steps_in(sampler, rig, **settings):
    return worked_off(sample_steps(sampler, [rig], TIMES, **settings))[1].chains[0]


def test_the_full_scene_stays_the_one_once_it_was_taken(monkeypatch):
    rig, asked = moving_leg(), []
    before = everything()
    monkeypatch.setattr(sampling.own_scene, "doubt", lambda *_: asked.append(1) or "a test wants it")
    with sampling.Sampler(bpy.context.scene, [rig]) as sampler:
        for _ in range(2):
            _, found = worked_off(sample_steps(sampler, [rig], TIMES))
            assert found.full_scene == "a test wants it" and everything() == before
    assert asked == [1]


@pytest.mark.parametrize("what", ["new action", "its action", "rotation mode", "constraint", "parent"])
def test_what_changes_between_two_samplings_is_seen_by_the_second(what, sampled_in):
    rig = moving_leg()
    shin, thigh = (rig.armature.pose.bones[name] for name in ("shin", "thigh"))
    holder = add_target({}, "Holder")
    with sampling.Sampler(bpy.context.scene, [rig]) as sampler:
        first = steps_in(sampler, rig)
        if what == "new action":
            action = rig.armature.animation_data.action.copy()
            slot = getattr(rig.armature.animation_data, "action_slot", None)
            rig.armature.animation_data.action = action
            if slot is not None:
                rig.armature.animation_data.action_slot = action.slots.get(slot.identifier)
        if what in ("new action", "its action"):
            curves = versions.existing_channels(rig.armature).fcurves
            path = thigh.path_from_id("rotation_quaternion")
            curve = curves.new(path, index=1)
            curve.keyframe_points.add(2)
            curve.keyframe_points.foreach_set("co", [1.0, 0.0, 9.0, 1.0])
            curve.update()
        elif what == "rotation mode":
            thigh.rotation_mode, thigh.rotation_euler = 'XYZ', (0.5, 0, 0)
        elif what == "constraint":
            shin.constraints.new('COPY_ROTATION').target = holder
        else:
            rig.armature.parent = holder
            holder.location = (0, 0, 3)
        second = steps_in(sampler, rig)
    _, again = steps([rig])
    assert np.abs(second.tips - first.tips).max() > 0.1
    for name in ("targets", "world", "parent", "bases", "tips", "settings"):
        one, other = getattr(second, name), getattr(again.chains[0], name)
        assert one == pytest.approx(other, abs=EXACT), name


def test_a_sampler_leaves_nothing_when_something_fails(hindered, monkeypatch):
    rig = moving_leg()
    before = everything(), rig.armature.users, rig.target.users
    for failing in ("record_stepping", "_difference"):
        monkeypatch.setattr(sampling, failing, lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError), sampling.Sampler(bpy.context.scene, [rig]) as sampler:
            steps_in(sampler, rig)
        assert (everything(), rig.armature.users, rig.target.users) == before
        monkeypatch.undo()
        monkeypatch.setattr(sampling, "is_hindered", lambda *_: True)


# --- Hidden ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["target", "armature"])
@pytest.mark.parametrize("how", ["viewport", "view layer", "keyed", "driven", "strip"])
def test_what_is_hidden_is_sampled_as_if_it_were_shown(sampled_in, how, what):
    rig = moving_leg()
    _, shown = steps([rig])
    ob = getattr(rig, what)
    if how == "viewport":
        ob.hide_viewport = True
    elif how == "view layer":
        ob.hide_set(True)
    elif how == "driven":
        ob.driver_add("hide_viewport").driver.expression = "frame > 2"
    else:
        for frame, hide in ((1, False), (2, True)):
            ob.hide_viewport = hide
            ob.keyframe_insert("hide_viewport", frame=frame)
        if how == "strip":
            animation = ob.animation_data
            action, slot = animation.action, getattr(animation, "action_slot", None)
            animation.action = None
            strip = animation.nla_tracks.new().strips.new("Strip", -5, action)
            if slot is not None:
                strip.action_slot = slot
            strip.extrapolation = 'HOLD'
            bpy.context.scene.frame_set(1)
            (rig,) = [read_chain(rig.armature, rig.armature.ik2d.chains[0])]
            # Its strip plays all of its action where that was: the samples are as before.
            strip.action_frame_start, strip.action_frame_end = -5, 10
    _, hidden = steps([rig])
    for name in ("targets", "world", "parent", "bases", "tips"):
        one, other = getattr(hidden.chains[0], name), getattr(shown.chains[0], name)
        assert one == pytest.approx(other, abs=EXACT), name


# --- Other scenes, and differences ----------------------------------------------------------------


def test_a_scene_that_is_not_shown_is_sampled_on_its_first_view_layer():
    rig = moving_leg()
    _, shown = steps([rig])
    scene = bpy.context.scene
    other = bpy.data.scenes.new("Other")
    for ob in (rig.armature, rig.target):
        other.collection.objects.link(ob)
    assert bpy.context.scene == scene
    _, result = worked_off(sample_steps(other, [rig], TIMES))
    assert result.chains[0].tips == pytest.approx(shown.chains[0].tips, abs=EXACT)


def shown_record(rig):
    """Return the targets of a chain, and what Blender has of both on the frame that is shown."""
    scene, targets = bpy.context.scene, [(rig.target, rig.subtarget)]
    with probes_on(scene, targets) as probes:
        _, (record,) = worked_off(record_stepping(scene, [([rig], probes)], [scene.frame_float]))
    bpy.context.view_layer.update()
    return targets, record


@pytest.mark.parametrize("field, name", [("world", "Rig"), ("poses", "Rig"), ("places", "Target")])
def test_what_stands_elsewhere_in_our_own_scene_is_told(field, name):
    rig = moving_leg()
    targets, record = shown_record(rig)
    assert sampling._difference(bpy.context.scene, [rig], targets, record) == ""
    moved = getattr(record, field).copy()
    if field == "poses":
        moved[0, record.bones["body"], 1, 3] += 1e-3
        others = moved.copy()
        others[:] = record.poses
        others[0, record.bones["shin"]] += 1.0  # what we solve may be anywhere
        elsewhere = dataclasses.replace(record, poses=others)
        assert sampling._difference(bpy.context.scene, [rig], targets, elsewhere) == ""
    else:
        moved[0, ..., -1] += 1e-3
    elsewhere = dataclasses.replace(record, **{field: moved})
    told = sampling._difference(bpy.context.scene, [rig], targets, elsewhere)
    assert told == f"'{name}' stands elsewhere in a scene of its own"
    getattr(rig, "target" if name == "Target" else "armature").hide_set(True)  # then nobody can tell
    assert sampling._difference(bpy.context.scene, [rig], targets, elsewhere) == ""


def test_a_target_bone_stands_where_its_head_is():
    armature, other = add_leg(), add_leg("Other")
    other.location = (1, 2, 3)
    other.pose.bones["body"].location.y = 0.5
    rig = read_chain(armature, add_chain(armature, "shin", other, subtarget="thigh"))
    targets, record = shown_record(rig)
    assert sampling._difference(bpy.context.scene, [rig], targets, record) == ""
    other.pose.bones["body"].location.y = 0.6
    bpy.context.view_layer.update()
    told = sampling._difference(bpy.context.scene, [rig], targets, record)
    assert told == "'Other' stands elsewhere in a scene of its own"


@pytest.fixture
def hindered(monkeypatch):
    """More than F-Curves places what is sampled, it is said."""
    monkeypatch.setattr(sampling, "is_hindered", lambda *_: True)


def test_a_difference_that_the_full_scene_confirms_leads_there(monkeypatch, hindered):
    rig = moving_leg()
    told = ["moved by hand", ""]
    monkeypatch.setattr(sampling, "_difference", lambda *_: told.pop(0))
    _, result = steps([rig])
    assert result.full_scene == "" and told == []
    told[:] = ["moved by hand", "really elsewhere"]
    _, result = steps([rig])
    assert result.full_scene == "really elsewhere" and told == []


def test_what_f_curves_alone_place_is_the_same_in_any_scene(monkeypatch):
    rig, asked = moving_leg(), []
    monkeypatch.setattr(sampling, "_difference", lambda *_: asked.append(1) or "")
    rig.target.location = (0, 1.5, 1.5)  # by hand, and not keyed
    bpy.context.view_layer.update()
    assert steps([rig])[1].full_scene == "" and asked == []
    rig.target.constraints.new('LIMIT_LOCATION')
    steps([rig])
    assert asked == [1]


@pytest.mark.parametrize("size", [1e-3, 1.0, 100.0])
def test_places_are_the_same_to_32_bits_of_their_size(size):
    place = np.array([size, -0.5 * size, 0.0])
    extent = max(1.0, size)
    assert sampling._same(place, place + 0.9e-5 * extent * np.eye(3)[2])
    assert sampling._same(place, place - 0.9e-5 * extent * np.eye(3)[2])
    assert not sampling._same(place, place + 1.2e-5 * extent * np.eye(3)[2])
    assert not sampling._same(place, place - 1.2e-5 * extent * np.eye(3)[1])


# --- Places that are none -------------------------------------------------------------------------


def test_a_target_that_is_nowhere_is_told_with_its_first_time(sampled_in):
    rig = moving_leg()
    holder = add_target({}, "Holder")
    rig.target.parent = holder
    for frame, scale in ((3, 1.0), (4, 1e38)):
        holder.scale = (scale,) * 3
        holder.keyframe_insert("scale", frame=frame)
    rig.target.delta_location = (0, -1e3, 1e3)
    steps([rig], [1.0, 2.5])
    with pytest.raises(
        IK2DError,
        match="^Chain 'shin': target 'Target' has no finite position at frame 4; mend its animation",
    ):
        steps([rig], [1.0, 2.5, 4.0, 7.0])
    _, result = steps([rig], [1.0, 4.0], checked=False)
    assert np.isfinite(result.chains[0].targets).all(axis=1).tolist() == [True, False]


@pytest.mark.parametrize("who", ["armature", "body"])
def test_a_rig_scaled_to_nothing_is_told_with_its_first_time(who):
    rig = moving_leg()
    owner = rig.armature if who == "armature" else rig.armature.pose.bones["body"]
    for frame, size in ((1, 1.0), (4, 0.0)):
        owner.scale = (1.0, size, 1.0)
        owner.keyframe_insert("scale", frame=frame)
    with pytest.raises(
        IK2DError,
        match="'Rig', or a bone above the chain, is scaled to nothing at frame 4; mend its animation",
    ):
        steps([rig], [1.0, 4.0, 5.0])
    steps([rig], [1.0, 3.0])
    _, result = steps([rig], [1.0, 4.0], checked=False)
    assert len(result.chains[0].targets) == 2


def test_a_mirrored_rig_is_no_error():
    rig = moving_leg()
    rig.armature.animation_data_clear()
    rig.armature.matrix_world = Matrix.Scale(-1.0, 4)
    _, result = steps([rig])
    assert np.linalg.det(result.chains[0].world[0][:3, :3]) < 0.0


def test_solving_now_is_checked_too():
    rig = moving_leg()
    rig.armature.scale = (1, 0, 1)
    with pytest.raises(IK2DError, match="is scaled to nothing at frame 1; mend"):
        sample_now(bpy.context.scene, [rig])


# --- Alone, settings, parts -----------------------------------------------------------------------


def test_alone_is_the_same_without_a_step_of_the_scene():
    rig = moving_leg()
    bpy.context.scene.frame_set(4)
    before = everything()
    result = sampling.sample_alone(bpy.context.scene, [rig], TIMES[:2], TIMES[2:])
    _, expected = steps([rig], TIMES)
    for name in ("targets", "world", "parent", "bases", "tips", "settings"):
        assert (getattr(result.chains[0], name) == getattr(expected.chains[0], name)).all(), name
    assert result.full_scene == "" and everything() == before


def test_alone_is_none_where_it_takes_the_full_scene(monkeypatch, hindered):
    rig = moving_leg()
    monkeypatch.setattr(sampling, "_difference", lambda *_: "elsewhere")
    assert sampling.sample_alone(bpy.context.scene, [rig], TIMES) is None
    monkeypatch.undo()
    monkeypatch.setattr(sampling.own_scene, "doubt", lambda *_: "a test wants it")
    assert sampling.sample_alone(bpy.context.scene, [rig], TIMES) is None


def test_extra_times_come_last_and_are_not_checked(sampled_in):
    rig = moving_leg()
    for frame, size in ((3, 1.0), (4, 0.0)):
        rig.armature.scale = (1.0, size, 1.0)
        rig.armature.keyframe_insert("scale", frame=frame)
    _, result = steps([rig], [3.0, 1.0], extra=[4.0, 2.0])
    (samples,) = result.chains
    assert samples.world[:, 1, 1].tolist() == pytest.approx([1.0, 1.0, 0.0, 1.0])
    _, alone = steps([rig], [1.0, 2.0, 3.0])
    assert samples.at([1, 3, 0]).targets == pytest.approx(alone.chains[0].targets)
    with pytest.raises(IK2DError, match="scaled to nothing at frame 4"):
        steps([rig], [3.0, 4.0], extra=[1.0])


# --- By F-Curves ----------------------------------------------------------------------------------

MANY = np.linspace(-3.0, 12.0, 2 * sampling._MANY).tolist()


def steps_taken(monkeypatch):
    """Return a list that gets the number of times of each record that Blender is stepped through."""
    taken, recorded = [], record_stepping

    def counting(scene, rigs, times, show=None):
        taken.append(len(times))
        return recorded(scene, rigs, times, show)

    monkeypatch.setattr(sampling, "record_stepping", counting)
    return taken


@pytest.mark.slow
def test_many_times_are_worked_out_and_looked_at_on_a_few(monkeypatch):
    monkeypatch.setattr(sampling, "WAY", sampling.AUTO)
    rig, taken = moving_leg(), steps_taken(monkeypatch)
    yielded, found = steps([rig], MANY)
    assert taken == [sampling.LOOKS] and [*found.stepped.values()] == [""] and found.full_scene == ""
    assert yielded == sorted(yielded) and yielded[-1] == len(MANY)
    _, seen = steps([rig], MANY, way=sampling.STEP)
    assert taken == [sampling.LOOKS, len(MANY)]
    for name in ("targets", "world", "parent", "bases", "tips", "settings"):
        one, other = getattr(found.chains[0], name), getattr(seen.chains[0], name)
        assert one == pytest.approx(other, abs=EXACT), name


def test_few_times_are_stepped_through_unless_curves_are_wanted(monkeypatch):
    monkeypatch.setattr(sampling, "WAY", sampling.AUTO)
    rig, taken = moving_leg(), steps_taken(monkeypatch)
    few = MANY[: sampling._MANY - 1]
    steps([rig], few)
    assert taken == [len(few)]
    steps([rig], few, way=sampling.CURVES)
    assert taken[1:] == [sampling.LOOKS]
    steps([rig], TIMES, way=sampling.CURVES)
    assert taken[2:] == [len(TIMES)]


@pytest.mark.parametrize(
    "field, told",
    [("world", "'Rig'"), ("places", "'Target'"), ("poses", "bone 'thigh'"), ("bases", "bone 'thigh'")],
)
def test_what_blender_has_elsewhere_is_stepped_through_and_told(monkeypatch, field, told):
    rig = moving_leg()
    _, seen = steps([rig], MANY, way=sampling.STEP)
    worked_out = record_by_curves

    def wrong(off):
        def by_curves(*arguments):
            record = yield from worked_out(*arguments)
            values = getattr(record, field).copy()
            values[-1, ..., 0, -1] += off
            return dataclasses.replace(record, **{field: values})

        return by_curves

    monkeypatch.setattr(sampling, "record_by_curves", wrong(4e-6))  # the leg's reach is 1.9
    _, result = steps([rig], MANY, way=sampling.CURVES)
    assert [*result.stepped.values()] == [told]
    for name in ("targets", "world", "parent", "bases", "tips", "settings"):
        assert (getattr(result.chains[0], name) == getattr(seen.chains[0], name)).all(), name
    monkeypatch.setattr(sampling, "record_by_curves", wrong(0.0))
    assert steps([rig], MANY, way=sampling.CURVES)[1].stepped[rig.armature] == ""


def test_the_axes_of_targets_are_looked_at_too():
    rig = moving_leg()
    _, record = shown_record(rig)
    axes = np.eye(3)[None, None]
    one, other = (dataclasses.replace(record, aims=aims) for aims in (axes, axes + 2e-6))
    targets = [(rig.target, "")]
    assert difference_of([rig], targets, one, one) == ""
    assert difference_of([rig], targets, other, one) == "the axes of a target"


def test_a_closed_working_out_leaves_nothing():
    rig = moving_leg()
    before = everything()
    running = sample_steps(bpy.context.scene, [rig], MANY, way=sampling.CURVES)
    for _ in range(4):
        next(running)
    running.close()
    assert everything() == before
