# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn of a chain, without a window; tests/gui draws it in one."""

from types import SimpleNamespace

import bpy
import check_samples
import numpy as np
import pytest
from foot_rigs import plain_leg
from rigs import add_chain, leg_with_target

from ik2d_addon.bake import solve
from ik2d_addon.bake.lengths import Units
from ik2d_addon.features.overlay import chains_seen, draw
from ik2d_addon.features.overlay.colors import contrast
from ik2d_addon.features.overlay.figure import BOLD, Figure, joined
from ik2d_addon.features.overlay.settings import PARTS, overlay_settings
from ik2d_addon.features.overlay.target_path import find_path, path_of

GREY = (0.24, 0.24, 0.24)
# Of mechanisms: see features/overlay/test_mechanism_view.py.
DRAWN = [part for part in PARTS if part not in ("handles", "joints")]


@pytest.fixture(autouse=True)
def settings():
    """The overlay's settings, as they are at first before and after each test."""
    names = ("show", "all_chains", *PARTS)
    for name in names:
        overlay_settings().property_unset(name)
    yield overlay_settings()
    for name in names:
        overlay_settings().property_unset(name)


def figure(armature, *parts) -> Figure:
    """Return what is drawn of all chains of an armature, of some parts alone."""
    settings = overlay_settings()
    for part in PARTS:
        setattr(settings, part, part in parts)
    bpy.context.view_layer.update()
    views = chains_seen.chain_views(armature, list(armature.ik2d.chains), {})
    return chains_seen.figure_of(armature, views, settings, GREY, Units('METRIC'))


def points(figure: Figure) -> np.ndarray:
    """Return all points of a figure's lines and triangles."""
    parts = [joined(part)[0] for part in (*figure.lines.values(), figure.triangles)]
    return np.concatenate(parts)


def limited_leg():
    """Return the leg with limits on both joints, solved, and its target."""
    armature, target = leg_with_target()
    for joint in armature.ik2d.chains[0].joints:
        joint.limit_min, joint.limit_max, joint.use_limit = -0.4, 0.9, True
    solve(armature)
    return armature, target


@pytest.mark.parametrize("part", DRAWN)
def test_each_part_is_drawn_alone_in_finite_numbers(part) -> None:
    armature, target = limited_leg()
    target.animation_data_clear()
    target.location = (0, 1, -3)
    bpy.ops.ik2d.target_path()
    # The elbow cannot come near its stretched pose within these limits.
    armature.ik2d.chains[0].joints[1].use_limit = part != "pops"
    found = figure(plain_leg().armature if part == "foot" else armature, part)
    assert len(points(found)) and np.isfinite(points(found)).all()
    assert bool(found.labels) == (part == "miss")


def test_with_no_part_nothing_is_drawn() -> None:
    armature, _ = limited_leg()
    assert not len(points(figure(armature)))


@pytest.mark.slow
@pytest.mark.parametrize("limited", [False, True])
def test_the_outline_of_the_reach_is_where_the_solver_stops(limited) -> None:
    armature, target = limited_leg()
    for joint in armature.ik2d.chains[0].joints:
        joint.use_limit = limited
    target.animation_data_clear()
    outline, _ = joined(figure(armature, "reach").lines[BOLD])
    root = np.array(armature.pose.bones["thigh"].head)
    furthest = np.linalg.norm(outline - root, axis=1).max()

    def error_at(place) -> float:
        target.location = place
        bpy.context.view_layer.update()
        return float(solve(armature).chains[0].errors.max()) / furthest

    for place in outline[:: len(outline) // 10]:
        assert error_at(place) < 1e-3  # the outline is made of straight pieces
    stretched = outline[np.linalg.norm(outline - root, axis=1) > 0.999 * furthest]
    for place in stretched[:: max(1, len(stretched) // 5)]:
        assert error_at(root + 1.02 * (place - root)) > 0.015


def test_all_of_the_plane_is_in_the_plane() -> None:
    armature, _ = limited_leg()
    drawn = points(figure(armature, "plane", "reach", "limits", "bend", "pops"))
    assert np.abs(drawn[:, 0]).max() < 1e-5  # the leg bends in the plane x = 0


def test_the_distance_and_why_it_is_missed_are_told() -> None:
    armature, target = leg_with_target()
    target.animation_data_clear()
    target.location = (0, 0, -1)
    bpy.context.view_layer.update()
    solve(armature)
    ((place, words, color),) = figure(armature, "miss").labels
    assert contrast(color, GREY) >= 4.5
    assert words.endswith("m off its target: out of reach") and words[0].isdigit()
    assert place == pytest.approx((0, 0, -1))
    target.location = (0, -0.5, 0.6)
    bpy.context.view_layer.update()
    solve(armature)
    assert not figure(armature, "miss").labels


def said_apart(frame: str) -> list[str]:
    """Return the chains of the open scene of which overlay and sidebar say different things."""
    apart = []
    for armature in (ob for ob in bpy.context.scene.objects if ob.type == 'ARMATURE' and ob.ik2d.chains):
        views = chains_seen.chain_views(armature, list(armature.ik2d.chains), {})
        assert len(views) == len(armature.ik2d.chains)
        for one, chain_view in views:
            overlay = chains_seen.miss_of(one, chain_view, Units.of(bpy.context.scene)).words
            panel = "" if one.live_reached or not one.live else one.live_status
            distance = one.live_distance if one.live else 0.0  # such as are not live are on target
            if overlay != panel or abs(chain_view.distance - distance) > 1e-5 * chain_view.reach[1]:
                apart.append(f"{frame}, {one.name}: {overlay!r}, {panel!r}")
    return apart


@pytest.mark.slow
@pytest.mark.parametrize("scene", check_samples.SAMPLES, ids=lambda path: path.stem)
def test_the_overlay_says_what_the_sidebar_says(scene) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    apart, last = said_apart("as opened"), bpy.context.scene.frame_end
    for frame in (1, last // 3, last // 2, last - 1):
        bpy.context.scene.frame_set(frame)
        apart += said_apart(f"frame {frame}")
    assert apart == []


@pytest.mark.parametrize(
    "influence, words, real", [(0.0, "FK, as IK Blend is 0", False), (0.5, "held back by IK Blend", True)]
)
def test_a_live_chain_with_less_influence_says_so_in_both(influence, words, real) -> None:
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.live, chain.influence = True, influence
    bpy.context.scene.frame_set(10)
    ((_, chain_view),) = chains_seen.chain_views(armature, [chain], {})
    miss = chains_seen.miss_of(chain, chain_view, Units('METRIC'))
    assert miss.words == chain.live_status and miss.words.endswith(words) and miss.is_real is real
    assert not said_apart("frame 10")
    chain.live = False
    bpy.context.view_layer.update()
    ((_, chain_view),) = chains_seen.chain_views(armature, [chain], {})
    assert chains_seen.miss_of(chain, chain_view, Units('METRIC')).words.endswith(
        ": not solved at this frame"
    )


def test_with_several_chains_each_says_its_name() -> None:
    armature, target = leg_with_target()
    add_chain(armature, "body", target, 1)
    words = [label[1] for label in figure(armature, "miss").labels]
    assert [word.partition(":")[0] for word in words] == ["shin", "body"]


def test_words_at_one_place_are_put_one_above_the_other() -> None:
    taken = []
    lines = [draw.free_line(taken, 10.0, 50.0, 80.0, 12.0) for _ in range(3)]
    assert lines == [50.0, 62.0, 74.0]
    assert draw.free_line(taken, 200.0, 50.0, 80.0, 12.0) == 50.0
    assert draw.free_line(taken, 10.0, 20.0, 80.0, 12.0) == 20.0
    assert draw.free_line(taken, 10.0, 45.0, 80.0, 12.0) == 86.0


def test_a_fan_follows_its_limit_and_the_chosen_bone_is_bolder() -> None:
    armature, _ = limited_leg()
    before = points(figure(armature, "limits"))
    armature.ik2d.chains[0].joints[1].limit_max = 0.5
    after = points(figure(armature, "limits"))
    assert before.shape != after.shape or np.abs(before - after).max() > 0.01
    bpy.context.view_layer.objects.active = armature
    bold = len(joined(figure(armature, "limits").lines[BOLD])[0])
    armature.data.bones.active = armature.data.bones["shin"]
    bpy.ops.object.mode_set(mode='POSE')
    assert len(joined(figure(armature, "limits").lines[BOLD])[0]) > bold


def test_softness_takes_the_pop_away() -> None:
    armature, _ = leg_with_target()
    exact = len(points(figure(armature, "pops")))
    armature.ik2d.chains[0].softness = 0.1
    assert len(points(figure(armature, "pops"))) < exact


@pytest.mark.parametrize("solver", ['ARC', 'EVEN', 'CCD'])
def test_the_band_round_the_root_is_hatched_for_every_solver(solver) -> None:
    armature, target = leg_with_target()
    armature.ik2d.chains.clear()
    add_chain(armature, "shin", target, 3, solver=solver)
    drawn = points(figure(armature, "pops"))
    body, thigh, shin = (armature.pose.bones[name] for name in ("body", "thigh", "shin"))
    reach = (thigh.head - body.head).length + thigh.length + shin.length
    furthest = np.linalg.norm(drawn - body.head, axis=1).max()
    assert furthest == pytest.approx(0.01 / np.radians(5.0) * reach, rel=1e-3)


def test_a_chain_with_a_problem_is_left_out_and_the_others_are_drawn() -> None:
    armature, target = leg_with_target()
    alone = len(points(figure(armature, *DRAWN)))
    add_chain(armature, "body", None, 1)
    add_chain(armature, "gone", target, 1)
    assert len(points(figure(armature, *DRAWN))) == alone > 0


def test_the_active_chain_alone_is_seen_unless_all_are_asked_for() -> None:
    armature, target = leg_with_target()
    add_chain(armature, "body", target, 1)
    bpy.context.view_layer.objects.active = armature
    assert [chain.name for chain in chains_seen.chains_seen(bpy.context, False)[1]] == ["shin"]
    assert [chain.name for chain in chains_seen.chains_seen(bpy.context, True)[1]] == ["shin", "body"]
    armature.ik2d.chains[0].enabled = False
    assert [chain.name for chain in chains_seen.chains_seen(bpy.context, True)[1]] == ["body"]
    bpy.context.view_layer.objects.active = None
    assert chains_seen.chains_seen(bpy.context, True) == (None, [])


def test_an_armature_without_chains_gets_no_settings_by_being_looked_at() -> None:
    armature, _ = leg_with_target()
    other = bpy.data.objects.new("Other", bpy.data.armatures.new("Other"))
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.objects.active = other
    bpy.context.view_layer.update()
    assert chains_seen.chains_seen(bpy.context, False) == (other, [])
    assert not other.is_property_set("ik2d")


def test_in_background_nothing_is_drawn_and_nothing_is_called(settings) -> None:
    handlers = bpy.app.handlers
    before = len(handlers.depsgraph_update_post), len(handlers.frame_change_post)
    settings.show = True
    assert not draw._callbacks
    assert before == (len(handlers.depsgraph_update_post), len(handlers.frame_change_post))


def test_settings_are_not_the_files_and_no_undo_takes_them_back(settings) -> None:
    leg_with_target()
    bpy.ops.ed.undo_push(message="before")
    settings.show = True
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert overlay_settings().show


def test_settings_outlive_the_file_and_are_not_in_it(settings, tmp_path) -> None:
    path = str(tmp_path / "scene.blend")
    settings.show, settings.plane, settings.bend_color = True, False, (0.0, 0.5, 1.0)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    settings.plane, settings.reach = True, False
    bpy.ops.wm.open_mainfile(filepath=path)
    found = overlay_settings()
    assert (found.show, found.plane, found.reach, found.all_chains) == (True, True, False, False)
    assert tuple(found.bend_color) == pytest.approx((0.0, 0.5, 1.0))
    found.property_unset("bend_color")


def test_a_script_that_changes_a_setting_is_noticed() -> None:
    armature, _ = limited_leg()
    chain = armature.ik2d.chains[0]
    seen = [chains_seen.settings_seen([chain], [])]
    for change in (
        lambda: setattr(chain, "bend", 'NEGATIVE'),
        lambda: setattr(chain, "softness", 0.1),
        lambda: setattr(chain.joints[0], "use_limit", False),
        lambda: setattr(chain.joints[0], "weight", 0.5),
        lambda: setattr(chain, "tolerance", 0.1),
    ):
        change()
        seen.append(chains_seen.settings_seen([chain], []))
        assert seen[-1] != seen[-2]


# --- Two viewports ------------------------------------------------------------


@pytest.fixture
def made(monkeypatch) -> list[tuple]:
    """Have a leg in viewports without a window; the list of figures that are made, by their backgrounds."""
    armature, _ = leg_with_target()
    shown = SimpleNamespace(session_uid=armature.session_uid, visible_get=lambda viewport: True)
    backgrounds: list[tuple] = []

    def noting(context, *_arguments) -> draw._Drawn:
        backgrounds.append(chains_seen.background_of(context))
        return draw._Drawn()

    monkeypatch.setattr(draw, "chains_seen", lambda *_: (shown, list(armature.ik2d.chains)))
    monkeypatch.setattr(draw, "mechanisms_seen", lambda *_: [])
    monkeypatch.setattr(draw, "_made", noting)
    monkeypatch.setattr(draw, "_drawn", {})
    return backgrounds


def viewport(grey: float) -> SimpleNamespace:
    """Return the context of a viewport with a background of its own."""
    shading = SimpleNamespace(type='SOLID', background_type='VIEWPORT', background_color=(grey,) * 3)
    return SimpleNamespace(mode='OBJECT', space_data=SimpleNamespace(shading=shading))


def test_two_viewports_with_different_backgrounds_have_a_figure_each_that_is_made_once(made) -> None:
    views = [viewport(0.2), viewport(0.8)]
    shown = [draw._current(view) for _ in range(5) for view in views]
    assert made == [(0.2,) * 3, (0.8,) * 3]
    assert len({id(drawn) for drawn in shown}) == 2


def test_both_are_made_anew_after_another_frame_a_change_or_a_setting(made) -> None:
    views = [viewport(0.2), viewport(0.8)]
    for step, change in enumerate(
        (
            lambda: None,
            draw._frame_changed,
            draw._anything_changed,
            lambda: setattr(bpy.data.objects["Rig"].ik2d.chains[0], "softness", 0.1),
        )
    ):
        change()
        for view in 2 * views:
            draw._current(view)
        assert len(made) == 2 * (step + 1)


def test_a_background_that_is_dragged_leaves_few_figures(made) -> None:
    for number in range(100):
        draw._current(viewport(number / 100))
    assert len(draw._drawn) <= draw._MOST + 1


# --- The target's path -------------------------------------------------------


def test_the_path_is_where_the_target_goes_and_says_where_it_is_missed() -> None:
    armature, target = leg_with_target()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 40
    target.animation_data_clear()
    for frame, height in ((1, 1.0), (40, -1.0)):
        target.location = (0, 0.1, height)
        target.keyframe_insert("location", frame=frame)
    scene.frame_set(7)
    path = find_path(armature, armature.ik2d.chains[0], scene)
    assert scene.frame_current == 7
    assert path.frames.tolist() == list(range(1, 41))
    root, reach = np.array((0, 0, 2.0)), sum(b.length for b in armature.data.bones if b.name != "body")
    assert (path.missed == (np.linalg.norm(path.places - root, axis=1) > reach)).all()
    assert 0 < path.missed.sum() < 40


def test_the_path_switches_the_overlay_and_its_tick_on_and_the_tick_hides_it(settings) -> None:
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    bpy.context.view_layer.objects.active = armature
    assert path_of(chain) is None
    settings.path = False
    assert bpy.ops.ik2d.target_path() == {'FINISHED'}
    assert path_of(chain) is not None and settings.show and settings.path
    assert len(points(figure(armature, "path")))
    assert not len(points(figure(armature)))


def test_of_a_very_long_range_not_every_frame_is_looked_at() -> None:
    armature, _ = leg_with_target()
    bpy.context.scene.frame_end = 30_000
    assert len(find_path(armature, armature.ik2d.chains[0], bpy.context.scene).frames) <= 1000
