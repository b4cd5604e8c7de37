# SPDX-License-Identifier: GPL-3.0-or-later
"""Adopt's dialog opens after a look at a few frames; OK looks at more of them, and the limb is live."""

import re
from dataclasses import replace
from types import SimpleNamespace

import bpy
import ik_rigs
import pytest
from rigs import add_armature, add_target, evaluated_place, evaluated_tip
from snapshots import differences
from switch_rigs import copying, never_acting
from whole_rig import whole_rig

from ik2d_addon.bake.lengths import Units
from ik2d_addon.features.adopt import adopt, compare, difference, operators, plan
from ik2d_addon.features.adopt.operators import limb_here
from ik2d_addon.features.adopt.poses import FEW_FRAMES
from ik2d_addon.features.native import operators as native
from ik2d_addon.rig.animation.versions import select_bone


@pytest.fixture
def armature():
    """A leg with IK and 90 frames of animation."""
    armature = ik_rigs.from_the_tip()
    bone = armature.pose.bones["body"]
    for frame in (1, 90):
        bone.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.objects.active = armature
    return armature


class Ticks(list):
    """The collection of an operator's ticks."""

    def add(self) -> SimpleNamespace:
        self.append(SimpleNamespace(name="", take=True))
        return self[-1]


def dialog(armature) -> SimpleNamespace:
    """Return the operator after its dialog was opened."""

    def plan(context, most):
        return adopt.plan_adoption(armature, context.scene, None, most)

    operator = SimpleNamespace(_plan=plan, limbs=Ticks(), question="")
    manager = SimpleNamespace(invoke_props_dialog=lambda *_, **__: {'RUNNING_MODAL'})
    context = SimpleNamespace(scene=bpy.context.scene, window_manager=manager)
    assert operators.IK2D_OT_adopt.invoke(operator, context, None) == {'RUNNING_MODAL'}
    return operator


def test_the_dialog_looks_at_a_few_frames_and_says_so(armature, monkeypatch):
    shown = []
    watched = plan.watched
    monkeypatch.setattr(plan, "watched", lambda *given: shown.append(given[4]) or watched(*given))
    found = dialog(armature)
    (frames,) = shown
    assert len(frames) <= FEW_FRAMES + 1 and (frames[0], frames[-1]) == (1, 90)
    (limb,), (looked,) = found._text.limbs, found._looked
    assert looked == f"Compared {len(frames)} frames from 1 to 90; OK compares up to 60"
    assert re.fullmatch(r"(0\.\d+|less than 0\.01) mm, 0\.0° off", limb.difference)
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    assert list(shown[-1]) == [*range(1, 91, 2), 90]


def test_a_change_of_the_side_is_found_on_its_frame_in_a_long_action():
    path = {1: (0, 0.2, 0.3), 100: (0, -0.7, 0.7), 200: (0, 0.6, 0.6)}
    armature = ik_rigs.with_hinged_hip(ik_rigs.with_pole(path, y={1: -3.0, 102: 3.0}))
    adoption = adopt.plan_adoption(armature, bpy.context.scene, None)
    (plan,) = adoption.plans
    assert [frame for frame, _ in plan.sides] == [1, 102]
    assert len(adoption.watched.frames) == 200


def test_a_dialog_that_has_looked_at_all_frames_says_nothing_of_them():
    found = dialog(ik_rigs.from_the_tip())
    (limb,) = found._text.limbs
    assert found._looked == [] and found._text.notes == ()
    assert re.fullmatch(r"(0\.\d+|less than 0\.01) mm, 0\.0° off", limb.difference)


def test_the_dialog_leaves_the_rig_as_it_was(armature):
    bpy.context.scene.frame_set(1)
    before = whole_rig(armature)
    dialog(armature)
    bpy.context.scene.frame_set(1)
    assert not differences(before, whole_rig(armature)) and not armature.ik2d.chains


def test_progress_goes_to_the_end_in_both_halves(armature):
    parts = []
    adoption = adopt.plan_adoption(armature, bpy.context.scene, None, progress=parts.append)
    assert len(parts) >= 46 and parts[-1] == 1.0 and all(0.0 <= part <= 1.0 for part in parts)
    names = adopt.carry_out(adoption, bpy.context.scene)
    parts.clear()
    difference.compare_adopted(adoption, names, bpy.context.scene, parts.append)
    assert len(parts) >= 46 and parts[-1] == 1.0


@pytest.mark.parametrize("influence", [1.0, 0.0])
def test_an_adopted_limb_follows_at_once_where_the_ik_did(influence):
    armature = ik_rigs.from_the_tip()
    bpy.context.view_layer.objects.active = armature
    constraint = armature.pose.bones["shin"].constraints[0]
    for frame, value in ((1, influence), (20, 1.0)):
        constraint.influence = value
        constraint.keyframe_insert("influence", frame=frame)
    bpy.context.scene.frame_set(2)
    bpy.context.scene.frame_set(1)
    bpy.ops.ik2d.adopt(all=True)
    (chain,) = armature.ik2d.chains
    assert chain.live is (influence > 0.0)
    chain.target.animation_data_clear()
    chain.target.location = (0, -0.3, 0.5)
    bpy.context.view_layer.update()
    off = (evaluated_tip(armature, "shin") - evaluated_place(chain.target)).length
    assert off < 1e-5 if influence else off > 0.1


def test_the_preference_leaves_an_adopted_limb_as_it_is(monkeypatch):
    monkeypatch.setattr(operators, "is_live_at_once", lambda: False)
    armature = ik_rigs.from_the_tip()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.ik2d.adopt(all=True)
    assert not armature.ik2d.chains[0].live


@pytest.mark.parametrize("bone", ["shin", "thigh", "foot", "body"])
def test_the_main_button_offers_the_limb_of_the_active_bone_until_it_is_adopted(bone):
    armature = ik_rigs.from_below()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    armature.data.bones.active = armature.data.bones[bone]
    limb = limb_here(bpy.context)
    assert (limb and limb.title) == (None if bone == "body" else "shin")
    bpy.ops.ik2d.adopt(all=True)
    assert limb_here(bpy.context) is None


def test_a_limb_whose_influence_is_keyed_is_offered_too():
    armature = ik_rigs.keyed_influence()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    armature.data.bones.active = armature.data.bones["shin"]
    assert limb_here(bpy.context).title == "shin"


# --- Ticks -------------------------------------------------------------------

BOTH = [{"name": name, "take": True} for name in ("shin", "fore")]


def two_limbs() -> bpy.types.Object:
    """Return a rig with a leg in its plane, and an arm of two bones whose target swings far off any."""
    armature = ik_rigs.from_the_tip()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    upper, fore = (armature.data.edit_bones.new(name) for name in ("upper", "fore"))
    upper.head, upper.tail, fore.tail = (0, 0, 2.6), (0.6, -0.1, 2.6), (1.2, 0, 2.6)
    fore.head, fore.parent, upper.parent = upper.tail, upper, armature.data.edit_bones["body"]
    bpy.ops.object.mode_set(mode='OBJECT')
    path = {1: (0.5, 0.3, 2.6), 10: (-0.5, 0.2, 3.2), 20: (-0.7, -0.5, 2.1)}
    ik_rigs.add_ik(armature, "fore", add_target(path, "Hand"), 2)
    bpy.context.scene.frame_set(1)
    return armature


def test_limbs_that_would_be_far_off_are_not_ticked_and_say_so():
    found = dialog(two_limbs())
    assert [(limb.name, limb.take) for limb in found.limbs] == [("shin", True), ("fore", False)]
    near, far = found._text.limbs
    assert (near.is_far, far.is_far) == (False, True)
    assert near.difference.endswith("0.0° off") and re.match(r"\d+ cm, ", far.difference)
    first, last = map(int, re.search(r"° off at frames (\d+) to (\d+)$", far.difference).groups())
    assert 1 <= first < last <= 20


def test_a_single_limb_is_ticked_however_far_off_it_will_be():
    armature = two_limbs()
    constraint = armature.pose.bones["shin"].constraints[0]
    constraint.mute = True
    assert [(limb.name, limb.take) for limb in dialog(armature).limbs] == [("fore", True)]


def test_limbs_that_are_not_ticked_keep_their_ik():
    armature = two_limbs()
    limbs = [{"name": "shin", "take": True}, {"name": "fore", "take": False}]
    assert bpy.ops.ik2d.adopt(all=True, limbs=limbs) == {'FINISHED'}
    assert [chain.tip for chain in armature.ik2d.chains] == ["shin"]
    assert not armature.pose.bones["fore"].constraints[0].mute
    with pytest.raises(RuntimeError, match="tick one to adopt it"):
        bpy.ops.ik2d.adopt(all=True, limbs=limbs)


def test_a_script_that_ticks_nothing_adopts_those_that_the_dialog_ticks(capfd):
    armature = two_limbs()
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    assert [chain.tip for chain in armature.ik2d.chains] == ["shin"]
    assert "Left alone: 'fore' would be" in capfd.readouterr().out
    assert not armature.pose.bones["fore"].constraints[0].mute
    bpy.ops.ik2d.release(all=True)
    select_bone(armature.pose.bones["fore"], True)
    assert bpy.ops.ik2d.adopt() == {'FINISHED'}
    assert [chain.tip for chain in armature.ik2d.chains] == ["fore"]


def test_of_limbs_that_would_all_be_far_off_a_script_adopts_none(monkeypatch):
    armature = two_limbs()
    before = whole_rig(armature)
    monkeypatch.setattr(difference, "FAR", -1.0)
    with pytest.raises(RuntimeError, match="'shin' would be .*; Left alone: 'fore' would be"):
        bpy.ops.ik2d.adopt(all=True)
    bpy.context.scene.frame_set(1)
    assert not differences(before, whole_rig(armature))


def test_a_stuck_spine_is_not_ticked_and_does_not_spoil_the_limbs_that_hang_on_it():
    armature = ik_rigs.on_a_stuck_spine(fingers=3)
    bpy.context.view_layer.objects.active = armature
    before = whole_rig(armature)
    found = dialog(armature)
    bpy.context.scene.frame_set(1)
    assert not differences(before, whole_rig(armature))
    assert [(limb.name, limb.take) for limb in found.limbs] == [
        ("spine.2", False),
        ("fore", True),
        *((f"finger.{i}.1", True) for i in range(3)),
    ]
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    assert sorted(chain.tip for chain in armature.ik2d.chains) == [
        *(f"finger.{i}.1" for i in range(3)),
        "fore",
    ]
    assert all(chain.adopted.part < 0.01 for chain in armature.ik2d.chains)


def test_limbs_with_limits_are_posed_once_for_all_of_them(monkeypatch):
    armature = eight_arms()
    for i in range(8):
        fore = armature.pose.bones[f"fore.{i}"]
        fore.lock_ik_y = fore.lock_ik_z = fore.use_ik_limit_x = True
    bpy.context.view_layer.objects.active = armature
    calls = []
    posed_by = compare.posed_by
    monkeypatch.setattr(compare, "posed_by", lambda *given: calls.append(given[1]) or posed_by(*given))
    dialog(armature)
    assert [len(chains) for chains in calls] == [8]
    calls.clear()
    limbs = [{"name": f"fore.{i}", "take": True} for i in range(8)]
    assert bpy.ops.ik2d.adopt(all=True, limbs=limbs) == {'FINISHED'}
    assert [len(chains) for chains in calls] == [8]


def test_a_note_is_said_once_for_all_limbs_that_have_it_whatever_their_side():
    armature = ik_rigs.from_the_tip()
    bpy.context.view_layer.objects.active = armature
    lost = (
        ("the drivers on 'shin.L'", "a Child Of"),
        ("the drivers on 'shin.R'", "a Child Of"),
        ("a Child Of",),
    )
    plans = tuple(
        SimpleNamespace(
            name=title, limb=SimpleNamespace(title=title), lost=notes, carried=(), off_plane=(0.0, 1)
        )
        for title, notes in zip(("leg.L", "leg.R", "arm"), lost, strict=True)
    )
    adoption = replace(adopt.plan_adoption(armature, bpy.context.scene, None), plans=plans, takers={})
    text = difference.dialog_text(adoption, {}, Units('METRIC'))
    assert text.lost == (
        "leg.L, leg.R: Not carried over: the drivers on 'shin.L/R'",
        "All: Not carried over: a Child Of",
    )


def eight_arms():
    """Return a rig of eight arms with IK, each out of its plane, and one batch of chains for them all."""
    bones = {"body": ((0, 0, 0), (0, 0, 1), "", 0.0)}
    for i in range(8):
        bones[f"upper.{i}"] = ((i, 0, 1), (i + 0.4, -0.1, 1), "body", 0.0)
        bones[f"fore.{i}"] = ((i + 0.4, -0.1, 1), (i + 0.8, 0, 1), f"upper.{i}", 0.0)
    armature = add_armature(bones)
    for i in range(8):
        path = {1: (i + 0.5, -0.2, 1.1), 10: (i + 0.3, 0.1, 1.4)}
        ik_rigs.add_ik(armature, f"fore.{i}", add_target(path, f"Hand {i}"), 2)
    bpy.context.scene.frame_set(1)
    return armature


class Lines:
    """A layout that counts the lines of a dialog, labels and rows of ticks, and knows the settings in it."""

    def __init__(self, parent=None):
        self.count, self.parent, self.settings = 0, parent, [] if parent is None else parent.settings

    def line(self):
        self.count += 1
        if self.parent is not None:
            self.parent.line()

    def column(self, **_looks):
        return Lines(self)

    def row(self, **_looks):
        row = Lines(self)
        row.line()
        row.line = lambda: None
        row.row = lambda **_looks: row
        return row

    def label(self, **_looks):
        self.line()

    def prop(self, _owner, name, **_looks):
        self.settings.append(name)
        self.line()


@pytest.mark.parametrize("carried", [(), ("The limits of 'fore'",)])
def test_what_is_carried_over_has_a_row_to_unfold_where_there_is_any(carried):
    found = dialog(two_limbs())
    found._text = replace(found._text, carried=carried)
    found.layout, found.show_carried = Lines(), False
    operators.IK2D_OT_adopt.draw(found, bpy.context)
    assert found.layout.settings == ["take", "take", *["show_carried"] * len(carried)]


@pytest.mark.slow
def test_a_dialog_of_eight_limbs_fits_800_pixels():
    armature = eight_arms()
    bpy.context.view_layer.objects.active = armature
    found = dialog(armature)
    found.layout, found.show_carried = Lines(), False
    operators.IK2D_OT_adopt.draw(found, bpy.context)
    assert len(found.limbs) == 8 and found.layout.count * 20 < 640, found.layout.count


def test_restoring_one_limb_leaves_those_that_were_adopted_with_it():
    armature = two_limbs()
    bpy.ops.ik2d.adopt(all=True, limbs=BOTH)
    chains = armature.ik2d.chains
    armature.ik2d.active_index = chains.find(next(chain.name for chain in chains if chain.tip == "fore"))
    drawn = []
    operators.draw_adopt(Buttons(drawn), bpy.context)
    native.draw_native(Buttons(drawn), bpy.context)
    assert [(name, button.this_only) for name, button in drawn] == [
        ("ik2d.adopt", None),
        ("ik2d.release", None),
        ("ik2d.release", True),
        ("ik2d.make_native", None),
        ("ik2d.make_native", True),
    ]
    assert bpy.ops.ik2d.release(this_only=True) == {'FINISHED'}
    assert [chain.tip for chain in chains] == ["shin"]
    assert (
        armature.pose.bones["shin"].constraints[0].mute
        and not armature.pose.bones["fore"].constraints[0].mute
    )
    drawn.clear()
    operators.draw_adopt(Buttons(drawn), bpy.context)
    native.draw_native(Buttons(drawn), bpy.context)
    assert not any(button.this_only for _, button in drawn)  # there is no other limb


def test_restoring_without_the_tick_restores_all_that_were_adopted_together():
    armature = two_limbs()
    bpy.ops.ik2d.adopt(all=True, limbs=BOTH)
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    assert len(armature.ik2d.chains) == 0


class Buttons:
    """A layout that keeps the operators that it draws."""

    alignment = ""

    def __init__(self, drawn):
        self.drawn = drawn

    def row(self, **_looks):
        return self

    column = box = row

    def operator(self, name, **_looks):
        self.drawn.append((name, button := SimpleNamespace(this_only=None)))
        return button

    def label(self, *_what, **_looks):
        pass

    prop = label


@pytest.mark.parametrize(("make", "expected"), [(copying, True), (never_acting, False)])
def test_of_several_limbs_one_whose_ik_never_acts_is_not_ticked(make, expected):
    found = dialog(make(pole=True, other_leg="_b"))
    assert {limb.name: limb.take for limb in found.limbs} == {"shin": expected, "shin_b": True}
    assert any("acts on none of the frames" in note for note in found._text.notes) is not expected
