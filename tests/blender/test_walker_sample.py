# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample of a walking machine: twelve of Jansen's legs on one crank cross a beach."""

import bpy
import check_samples
import numpy as np
import pytest

WALKER = check_samples.ROOT / "sample_scenes" / "11_walker.blend"
# A shoe lower than this over its lowest place bears the machine: half a hundredth of the legs' height.
STANDS = 0.014


def baked_feet() -> tuple[np.ndarray, np.ndarray]:
    """Return where the shoes are on each frame, x and z (frames, 12, 2), and the body's x (frames,)."""
    check_samples.bake_sample(WALKER)
    scene, rig, feet, body = bpy.context.scene, bpy.data.objects["Walker"], [], []
    names = [bone.name for bone in rig.data.bones if bone.name.startswith("foot")]
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        bones = check_samples.evaluated_object("Walker").pose.bones
        feet.append([bones[name].tail.xz for name in names])
        body.append(bones["body"].head.x)
    return np.array(feet), np.array(body)


def slips(feet: np.ndarray) -> np.ndarray:
    """Return how far each shoe moves along the ground each time that it stands, but for those cut off."""
    found = []
    for x, z in feet.transpose(1, 2, 0):
        stands = np.flatnonzero(z <= feet[..., 1].min() + STANDS)
        for run in np.split(stands, np.flatnonzero(np.diff(stands) > 1) + 1):
            if 0 < run[0] and run[-1] < len(x) - 1:
                found.append(np.ptp(x[run]))
    return np.array(found)


@pytest.mark.slow
def test_the_walkers_shoes_slip_less_than_two_hundredths_of_a_stride_and_rest_on_the_sand() -> None:
    feet, body = baked_feet()
    turn = 48
    stride = body[turn] - body[0]
    assert feet.shape[1] == 12 and 4.0 < stride < 4.2
    found = slips(feet)
    assert len(found) >= 24 and found.max() <= 0.075 and found.max() / stride < 0.02
    for share in (0.97, 1.03):  # at another speed they slip more
        assert (
            slips(feet + np.stack(((share - 1.0) * body, 0.0 * body), axis=-1)[:, None]).max() > found.max()
        )
    shoe, lowest = 0.08, feet[..., 1].min(axis=1)
    assert abs(lowest - shoe).max() < 0.004
    assert ((feet[..., 1] <= lowest[:, None] + STANDS).sum(axis=1) >= 3).all()


@pytest.mark.slow
def test_one_crank_of_two_keys_moves_72_bones_of_one_mechanism() -> None:
    bpy.ops.wm.open_mainfile(filepath=str(WALKER))
    (mechanism,) = bpy.data.objects["Walker"].ik2d.mechanisms
    assert len(mechanism.bones) == 73 and len(mechanism.joints) == 36
    assert [driver.bone for driver in mechanism.drivers] == ["crank"]
    (report,) = check_samples.bake_sample(WALKER)
    assert not report["warnings"] and report["mechanisms"][0]["closed"]
