# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn of a mechanism, by Blender's evaluated pose."""

import bpy
import numpy as np
import pytest
from file_contents import changes, contents
from machine_rigs import TILT, add_machine
from machines import (
    excavator,
    far_stephenson,
    four_bar,
    geared_five_bar,
    jansen_leg,
    landing_gear,
    slider_crank,
    toggle_clamp,
)
from mathutils import Vector

from ik2d_addon.bake import bake
from ik2d_addon.bake.lengths import Units
from ik2d_addon.features.overlay import chains_seen
from ik2d_addon.features.overlay.figure import BOLD, Figure, joined
from ik2d_addon.features.overlay.settings import PARTS, overlay_settings

GREY = (0.24, 0.24, 0.24)
KINDS = ("objects", "armatures", "actions")


@pytest.fixture(autouse=True)
def settings():
    """The overlay's settings, as they are at first before and after each test."""
    for name in (*PARTS, "all_chains"):
        overlay_settings().property_unset(name)
    yield overlay_settings()
    for name in (*PARTS, "all_chains"):
        overlay_settings().property_unset(name)


def drawn(armature, *parts, rigs=None) -> Figure:
    """Return what is drawn of an armature's mechanisms, of some parts alone."""
    settings = overlay_settings()
    for part in PARTS:
        setattr(settings, part, part in parts)
    bpy.context.view_layer.update()
    mechanisms = chains_seen.mechanisms_seen(armature, True)
    views = chains_seen.mechanism_views(armature, mechanisms, {} if rigs is None else rigs)
    return chains_seen.figure_of(armature, [], settings, GREY, Units('METRIC'), views)


def shown_color(name):
    """Return a colour as it is drawn over the grey background."""
    return chains_seen.readable(tuple(getattr(overlay_settings(), f"{name}_color")), GREY)


def lines_of(figure, color) -> list[np.ndarray]:
    """Return the points of each part that is drawn in a colour, with any width."""
    return [
        points
        for parts in figure.lines.values()
        for points, shade in parts
        if shade[:3] == pytest.approx(shown_color(color))
    ]


def rings(figure, color="joint") -> np.ndarray:
    """Return the middles (m, 3) of all rings and blocks of a colour."""
    lines = [points for points in lines_of(figure, color) if len(points) > 4]
    closed = [points for points in lines if np.allclose(points[0], points[-1])]
    return np.array([points[::2].mean(axis=0) for points in closed]).reshape(-1, 3)


def nearest(places, place) -> float:
    """Return the distance from a place to the nearest of some."""
    return float(np.linalg.norm(places - np.array(place), axis=1).min())


MACHINES = [four_bar, slider_crank, jansen_leg, landing_gear, excavator, geared_five_bar]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_ring_is_at_each_pin_of_the_evaluated_pose(machine):
    armature, mechanism = add_machine(machine(), frames=9, tilt=TILT, depth=0.02)
    armature.location, armature.scale = (3.0, -1.0, 0.5), (2.0, 2.0, 2.0)
    bake(armature)
    bpy.context.scene.frame_set(4)
    figure = drawn(armature, "joints", "miss")
    places = rings(figure)
    evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    for bone in mechanism.bones:
        assert nearest(places, evaluated.matrix_world @ evaluated.pose.bones[bone.name].head) < 1e-4
    for joint in mechanism.joints:
        if joint.kind == 'PIN' and joint.end == 'TAIL':
            assert nearest(places, evaluated.matrix_world @ evaluated.pose.bones[joint.bone].tail) < 1e-4
    assert not len(rings(figure, "miss")), "all is closed"


def test_a_ring_lies_in_the_mechanisms_plane():
    armature, _ = add_machine(four_bar(), tilt=TILT)
    normal = np.array(TILT.to_3x3() @ Vector((0, -1, 0)))
    points = np.concatenate([*lines_of(drawn(armature, "joints"), "joint")])
    assert np.ptp(points @ normal) < 1e-5


def test_an_open_joint_has_both_places_and_its_gap_in_red():
    armature, _ = add_machine(four_bar())
    armature.animation_data_clear()
    crank = armature.pose.bones["crank"]
    crank.rotation_euler[2] = 0.3
    figure = drawn(armature, "joints", "miss")
    rocker = armature.pose.bones["rocker"]
    red = rings(figure, "miss")
    assert len(red) == 2
    ends = [armature.pose.bones[name] for name in ("coupler", "rocker")]
    gap = np.linalg.norm(red[0] - red[1])
    assert gap > 0.05 and min(nearest(red, bone.tail) for bone in ends) < 1e-5 and rocker in ends
    assert not len(lines_of(drawn(armature, "joints"), "miss")), "Missed Target is off"


def test_a_slide_has_two_lines_that_hold_its_way():
    armature, mechanism = add_machine(slider_crank(), frames=25)
    bake(armature)
    (slide,) = [one for one in mechanism.joints if one.kind in ('SLIDE', 'GUIDE')]
    lines = []
    for frame in (1, 7, 13):
        bpy.context.scene.frame_set(frame)
        figure = drawn(armature, "joints")
        (rails,) = [points for points in lines_of(figure, "joint") if len(points) == 4]
        lines.append(rails)
        end = armature.pose.bones[slide.bone]
        at = np.array(end.head if slide.end == 'HEAD' else end.tail)
        low, high = rails[:2].min(axis=0), rails[:2].max(axis=0)
        assert low[0] < at[0] < high[0]
    assert np.allclose(lines[0], lines[1], atol=1e-5) and np.allclose(lines[0], lines[2], atol=1e-5)


def test_a_rams_line_goes_from_head_to_head_with_its_stroke():
    armature, mechanism = add_machine(landing_gear(), frames=9)
    bake(armature)
    bpy.context.scene.frame_set(5)
    figure = drawn(armature, "joints")
    (ram,) = [one for one in mechanism.joints if one.kind == 'RAM']
    ends = [np.array(armature.pose.bones[name].head) for name in (ram.bone, ram.other)]
    lines = [points for points in lines_of(figure, "joint") if len(points) == 2]
    assert any(np.allclose(points, ends, atol=1e-5) for points in lines)
    (ticks,) = [points for points in lines_of(figure, "joint") if len(points) == 4]
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    middles = ticks.reshape(2, 2, 3).mean(axis=1)
    assert (middles - ends[0]) @ along == pytest.approx(list(ram.stroke), abs=1e-5)


def test_a_drivers_range_is_an_arc_that_ends_at_its_dead_points():
    armature, _ = add_machine(toggle_clamp(), frames=9)
    figure = drawn(armature, "limits")
    assert figure.triangles, "it cannot go round"
    view = chains_seen.mechanism_views(armature, list(armature.ik2d.mechanisms), {})[0][1]
    (intervals,) = view.ranges.drivers.values()
    handle = armature.data.bones["handle"]
    head, tail = np.array(handle.head_local), np.array(handle.tail_local)
    places = np.concatenate(lines_of(figure, "limit"))
    radius = np.linalg.norm(places - head, axis=1).max()
    rest = np.arctan2(*(tail - head)[[2, 0]])
    for end in intervals.ravel():
        spoke = head + radius / 1.12 * np.array((np.cos(rest + end), 0.0, np.sin(rest + end)))
        assert nearest(places, spoke) < 0.15 * radius
    armature, _ = add_machine(four_bar())
    assert not drawn(armature, "limits").triangles and lines_of(drawn(armature, "limits"), "limit")


def test_ranges_are_looked_for_once_and_not_where_it_takes_long():
    armature, mechanism = add_machine(four_bar())
    views = [chains_seen.mechanism_views(armature, [mechanism], {})[0][1] for _ in range(2)]
    assert views[0].ranges is views[1].ranges
    armature, mechanism = add_machine(far_stephenson())
    ((_, view),) = chains_seen.mechanism_views(armature, [mechanism], {})
    assert not view.ranges.drivers
    assert len(drawn(armature, "joints", "limits").lines[BOLD]) >= len(mechanism.bones)


def test_a_faulty_mechanism_has_its_pins_in_the_colour_of_faults():
    armature, mechanism = add_machine(four_bar())
    mechanism.drivers.clear()
    figure = drawn(armature, "joints", "miss", "limits")
    red = rings(figure, "miss")
    assert not len(rings(figure))
    for bone in mechanism.bones:
        assert nearest(red, armature.pose.bones[bone.name].head) < 1e-5


def test_the_active_one_is_brighter_and_alone_without_all():
    armature, first = add_machine(four_bar())
    second = armature.ik2d.mechanisms.add()
    for bone in ("crank", "coupler", "rocker"):
        second.bones.add().name = bone
    armature.ik2d.active_mechanism = 0
    assert chains_seen.mechanisms_seen(armature, False) == [first]
    assert len(chains_seen.mechanisms_seen(armature, True)) == 2
    alphas = {shade[3] for _, shade in drawn(armature, "joints").lines[BOLD]}
    armature.ik2d.active_mechanism = 1
    fainter = {shade[3] for _, shade in drawn(armature, "joints").lines[BOLD]}
    assert max(fainter) < max(alphas)
    first.enabled = False
    assert len(chains_seen.mechanisms_seen(armature, True)) == 1


def test_a_dragged_point_that_misses_its_target_has_a_line_to_it():
    armature, mechanism = add_machine(four_bar())
    armature.animation_data_clear()
    target = bpy.data.objects.new("Target", None)
    bpy.context.collection.objects.link(target)
    target.location = (9.0, 4.0, 0.0)
    driver = mechanism.drivers[0]
    driver.kind, driver.target, driver.bone = 'TARGET', target, "coupler"
    figure = drawn(armature, "miss")
    ((place, words, _),) = figure.labels
    assert place == pytest.approx((9, 4, 0)) and words.endswith("off its target") and words[0].isdigit()
    target.location = armature.pose.bones["coupler"].tail + Vector((0, 3, 0))
    assert not drawn(armature, "miss").labels, "depth is not missed"


def test_drawing_writes_nothing(tmp_path):
    armature, _ = add_machine(excavator(), frames=5)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "machine.blend"))
    contents(KINDS)  # reading makes the groups that pointers are to
    before = contents(KINDS)
    drawn(armature, *PARTS)
    assert not changes(before, contents(KINDS))


def test_settings_are_told_apart_by_what_is_drawn():
    armature, mechanism = add_machine(landing_gear(), frames=3)
    seen = [chains_seen.settings_seen([], [mechanism])]
    mechanism.drivers[0].length += 0.1
    assert chains_seen.settings_seen([], [mechanism]) == seen[0], "the pose tells it"
    for change in (
        lambda: setattr(mechanism.joints[0], "end", 'HEAD'),
        lambda: setattr(next(one for one in mechanism.joints if one.kind == 'RAM'), "stroke", (0.1, 9.0)),
        lambda: mechanism.bones.remove(0),
        lambda: setattr(armature.ik2d, "active_mechanism", 4),
    ):
        change()
        seen.append(chains_seen.settings_seen([], [mechanism]))
        assert seen[-1] != seen[-2]


def test_points_are_finite():
    for machine in MACHINES:
        armature, _ = add_machine(machine(), frames=5)
        figure = drawn(armature, *PARTS)
        points = [joined(part)[0] for part in (*figure.lines.values(), figure.triangles)]
        assert np.isfinite(np.concatenate(points)).all()
