# SPDX-License-Identifier: GPL-3.0-or-later
"""A first bone that is the post of its chain, and bends as well: baked and live, by the evaluated pose."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion
from post_rigs import FRAMES, MODES, Turret, gimbal, hinge_first
from rigs import evaluated_tip

from ik2d_addon.bake import BakeOptions, bake, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.core.swing import POST
from ik2d_addon.features.drag.drag import take_hold
from ik2d_addon.features.native.build import make_native
from ik2d_addon.features.overlay.chain_view import view_chain
from ik2d_addon.live import rig_state
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain

REACHED, SAME = 2e-5, 5e-5
RATE = np.radians(10.0)


def ready(made: Turret, **settings) -> bpy.types.PropertyGroup:
    chain = made.add_chain()
    for name, value in settings.items():
        setattr(chain, name, value)
    return chain


def shown_live(made: Turret, chain: bpy.types.PropertyGroup) -> np.ndarray:
    """Return the matrices as live shows them, after frames in any order."""
    chain.live = True
    for frame in made.rng.permutation(FRAMES):
        bpy.context.scene.frame_set(int(frame))
    shown = made.matrices()
    assert chain.live
    return shown


def keyed(made: Turret) -> dict[int, np.ndarray]:
    """Return the keyed values of the first bone's rotation channels."""
    curves = existing_fcurves(made.armature)
    own = {curve.array_index: curve for curve in curves if '"arm0"' in curve.data_path}
    return {i: np.array([key.co[1] for key in curve.keyframe_points]) for i, curve in own.items()}


@pytest.mark.slow
def test_forty_rigs_reach_baked_and_live_which_are_alike_in_plain_numbers_too(some, monkeypatch):
    for seed in range(some(40)):
        made = gimbal(seed)
        chain = ready(made)
        # Hinges a little askew take the arrays.
        rig = read_chain(made.armature, chain)
        assert rig.swing is not None and rig.swing.rule == POST
        with monkeypatch.context() as alone:
            if not rig.joints.askew:
                alone.setattr(rig_state, "solve_chain", None)
            shown = shown_live(made, chain)
            assert made.miss(*FRAMES) <= REACHED, seed
        report = bake(made.armature, None, 1, 24)
        assert made.miss(*FRAMES) <= REACHED, seed
        assert np.abs(made.matrices() - shown).max() <= SAME, seed
        assert report.chains[0].post_angle is not None


@pytest.mark.parametrize("mode", MODES)
def test_every_rotation_mode_takes_it(mode):
    made = gimbal(3, exact=True)
    made.post.rotation_mode = mode
    chain = ready(made)
    shown = shown_live(made, chain)
    bake(made.armature, None, 1, 24)
    assert made.miss(*FRAMES) <= REACHED
    assert np.abs(made.matrices() - shown).max() <= SAME


def test_euler_angles_that_turn_the_hinge_first_turn_two_channels_alone():
    for seed in range(5):
        made = gimbal(seed, exact=True)
        chain = ready(made)
        bake(made.armature, None, 1, 24)
        third = 3 - made.axis - made.hinge
        assert np.abs(keyed(made)[third]).max() == 0.0, seed
        chain.live = True
        bpy.context.scene.frame_set(9)
        assert made.post.rotation_euler[third] == 0.0, seed


def test_a_locked_third_axis_is_left_alone_and_the_tip_is_on_its_target():
    for seed in range(10):
        made = gimbal(seed, exact=True)
        third = 3 - made.axis - made.hinge
        made.post.lock_rotation[third] = True
        chain = ready(made)
        shown = shown_live(made, chain)
        assert made.miss(*FRAMES) <= REACHED, seed
        bake(made.armature, None, 1, 24)
        assert third not in keyed(made)
        assert made.miss(*FRAMES) <= REACHED, seed
        assert np.abs(made.matrices() - shown).max() <= SAME, seed


def test_locks_that_leave_no_hinge_leave_the_turn_of_the_post():
    made = gimbal(1, exact=True)
    made.post.lock_rotation[made.hinge] = True
    chain = ready(made)
    rig = read_chain(made.armature, chain)
    assert rig.swing is not None and not rig.warnings
    bake(made.armature, None, 1, 24)
    angles = made.post.matrix_basis.to_euler()
    assert abs(angles[made.hinge]) < 1e-5
    chain.live = True
    made.matrices()
    assert abs(made.post.matrix_basis.to_euler()[made.hinge]) < 1e-5


def test_an_axis_square_to_the_plane_is_refused():
    made = gimbal(1, exact=True)
    chain = ready(made, post_axis="XYZ"[made.hinge])
    with pytest.raises(IK2DError, match="square to the . axis of its post 'arm0'"):
        read_chain(made.armature, chain)


def test_limits_hold_and_are_told():
    for seed in (2, 7):
        made = gimbal(seed, rate=0.3)
        chain = ready(made, use_post_limit=True, post_limit_min=-0.4, post_limit_max=0.5)
        shown = shown_live(made, chain)
        report = bake(made.armature, None, 1, 24)
        assert np.abs(made.matrices() - shown).max() <= SAME
        (one,) = report.chains
        assert one.post_angle.min() >= -0.4 - 1e-6 and one.post_angle.max() <= 0.5 + 1e-6
        assert any("a limit stops its post 'arm0'" in warning for warning in one.warnings)
        off = int(np.argmax(one.distance))
        assert one.distance[off] > 0.05 * made.reach
        bpy.context.scene.frame_set(FRAMES[off])
        tip = evaluated_tip(made.armature, made.bones[-1])
        assert (tip - made.target.matrix_world.translation).length == pytest.approx(
            one.distance[off], rel=1e-3
        )


def test_reach_over_takes_the_other_side():
    counts = []
    for over in (False, True):
        made = gimbal(4, rate=0.3, count=3)
        ready(made, use_post_limit=True, post_limit_min=-1.5, post_limit_max=1.5, post_reach_over=over)
        (one,) = bake(made.armature, None, 1, 24).chains
        counts.append(int((one.distance < REACHED * made.reach).sum()))
    assert counts[1] > counts[0]


@pytest.mark.parametrize("mode", ('XYZ', 'QUATERNION', 'AXIS_ANGLE'))
def test_it_goes_round_more_than_three_times_without_a_jump(mode):
    made = gimbal(6, rate=2.0 * np.pi * 3.3 / 23.0, count=3, exact=True)
    made.post.rotation_mode = mode if mode != 'XYZ' else hinge_first(made.hinge, made.axis)[0]
    chain = ready(made)
    shown = shown_live(made, chain)
    (one,) = bake(made.armature, None, 1, 24).chains
    assert made.miss(*FRAMES) <= REACHED
    assert np.abs(made.matrices() - shown).max() <= SAME
    assert np.abs(np.diff(one.post_angle)).max() < np.pi
    assert abs(one.post_angle[-1] - one.post_angle[0]) > 2.0 * np.pi * 3.0
    if mode == 'XYZ':
        values = keyed(made)[made.axis]
        assert np.abs(np.diff(values)).max() < np.pi and np.ptp(values) > 2.0 * np.pi * 3.0
        bake(made.armature, None, 14, 18)  # a part again, among keys that have gone round
        assert keyed(made)[made.axis] == pytest.approx(values, abs=1e-5)


def test_half_way_between_keys_the_tip_is_on_its_targets_way():
    for seed in (1, 2, 4, 6, 8, 10, 12, 14):
        made = gimbal(seed, rate=RATE, count=seed % 3 + 2)
        ready(made)
        bake(made.armature, None, 1, 24)
        half = [made.miss(frame + 0.5) for frame in FRAMES[:-1]]
        assert max(half[1:-1]) <= 3e-4, seed
        assert max(half[0], half[-1]) <= 1e-3, seed


def test_an_influence_turns_the_shorter_way_from_the_bones_own_pose():
    full = gimbal(6, count=2)
    ready(full)
    bake(full.armature, None, 1, 24)
    whole = own_rotations(full)
    made = gimbal(6, count=2)
    chain = ready(made, influence=0.4)
    shown = shown_live(made, chain)
    bake(made.armature, None, 1, 24)
    for one, other in zip(own_rotations(made), whole, strict=True):
        assert least(one.rotation_difference(other)) == pytest.approx(0.6 * least(other), abs=2e-3)
    assert np.abs(made.matrices() - shown).max() <= SAME


def own_rotations(made: Turret) -> list[Quaternion]:
    """Return the first bone's own rotations on all frames."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found.append(made.post.matrix_basis.to_quaternion())
    return found


def least(turn: Quaternion) -> float:
    """Return the angle of a rotation, 0 to pi."""
    return min(turn.angle, 2.0 * np.pi - turn.angle)


def test_nothing_says_that_a_plane_turns_over_or_eases_its_flips():
    made = gimbal(32)  # its target passes the axis
    chain = ready(made)
    (one,) = bake(made.armature, None, 1, 24, options=BakeOptions(ease_flips=True)).chains
    assert made.miss(*FRAMES) <= REACHED
    assert not any("turn over" in each or "Ease Flips" in each for each in one.warnings)
    chain.live = True
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        assert "turn over" not in chain.live_status


def test_drivers_refuse_it_and_say_how_out():
    made = gimbal(1)
    chain = ready(made)
    with pytest.raises(
        IK2DError, match="its post 'arm0' is its own first bone, .*; bake it instead, or keep it"
    ):
        make_native(made.armature, chain)


def test_a_drag_begins_without_a_jump_and_the_overlay_shows_the_plane():
    for count in (1, 3):
        made = gimbal(1, count=count)
        chain = ready(made)
        bpy.context.scene.frame_set(6)
        made.target.animation_data_clear()
        solve(made.armature)
        before = made.matrices([6])
        drag = take_hold(bpy.context.scene, made.armature, chain.name)
        drag.to((0.0, 0.0))
        assert np.abs(made.matrices([6]) - before).max() <= SAME
        drag.put_back()
        view = view_chain(read_chain(made.armature, chain), chain)
        assert np.isfinite(np.array(view.joints, float)).all()
