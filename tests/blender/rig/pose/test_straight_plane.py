# SPDX-License-Identifier: GPL-3.0-or-later
"""The fixed plane of a straight limb, and the side that it bends to, in Blender's evaluated pose."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector
from rigs import add_armature, add_target

from ik2d_addon import chains
from ik2d_addon.rig.pose import straight_plane
from ik2d_addon.rig.pose.straight_plane import FRONT, line_from_root, straight_normal

X, Y, Z = np.eye(3)
HIP = {"hip": ((0, 0, 1), (0, 0, 1.5), "", 0.0)}


def limb(side=".L", x=0.2, parent="hip", names=("thigh", "shin"), along=(0, 0, -1)):
    """Return a straight limb of two bones that begins at (x, 0, 1), as for `add_armature`."""
    ends = [Vector((x, 0, 1)) + i * Vector(along) for i in range(3)]
    first, second = (f"{name}{side}" for name in names)
    return {first: (ends[0], ends[1], parent, 0.3), second: (ends[1], ends[2], first, -0.7)}


def knee_side(armature, tip, **options):
    """Return the direction in which the middle joint leaves the line as the tip is drawn to the root."""
    chain = chains.add_chain(armature, tip, **options)
    bones = [armature.pose.bones[joint.name] for joint in chain.joints]
    root, line = bones[0].bone.head_local, Vector(line_from_root(bones))
    chain.target = add_target({}, f"{tip} {len(armature.ik2d.chains)}")
    chain.target.location = armature.matrix_world @ (root + 1.5 * line)
    chain.live = True
    bpy.context.view_layer.update()
    posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bones[1].name].head
    aside = posed - root - (posed - root).dot(line) * line
    assert aside.length > 0.5, chain.live_status
    return np.array(aside.normalized())


def close(one, other):
    return np.abs(np.array(one) - other).max() < 1e-5


# --- Told by other bones -----------------------------------------------------


@pytest.mark.parametrize("toe", [(0, -0.4, -0.1), (0.4, 0, -0.1), (-0.3, 0.3, 0)])
def test_knees_bend_towards_the_toes(toe):
    toes = Vector((0.2, 0, -1)) + Vector(toe)
    armature = add_armature({**HIP, **limb(), "foot.L": ((0.2, 0, -1), toes, "shin.L", 0.0)})
    assert close(knee_side(armature, "shin.L", view=FRONT), Vector((toe[0], toe[1], 0)).normalized())


@pytest.mark.parametrize("names", [("upper_arm", "forearm"), ("a", "b")])
def test_elbows_bend_away_from_the_hands_front(names):
    bones = limb(names=names)
    armature = add_armature({**HIP, **bones, "held": ((0.2, 0, -1), (0.2, -0.1, -1.5), f"{names[1]}.L", 0.0)})
    assert close(knee_side(armature, f"{names[1]}.L"), Y)


def test_an_arm_bends_in_the_plane_of_its_clavicle():
    clavicle = {"clavicle": ((0.2, 0.5, 1.1), (0.2, 0, 1), "", 0.0)}
    armature = add_armature({**clavicle, **limb(parent="clavicle", names=("arm", "fore"))})
    side = knee_side(armature, "fore.L")
    assert close(np.abs(side), Y)
    assert close(side, -Y)  # the front, since the view has no right in that plane


@pytest.mark.parametrize("flipped", [False, True])
def test_a_limb_bends_as_that_of_the_other_side_mirrored(flipped):
    bones = {**HIP, **limb(), **limb(".R", -0.2)}
    armature = add_armature(bones)
    chain = chains.add_chain(armature, "shin.L")
    chain.plane_normal = (0.6, 0.8, 0)
    if flipped:
        chains.flip(chain)
    left = np.cross(-Z, (0.6, 0.8, 0)) * (-1 if flipped else 1)
    assert close(knee_side(armature, "shin.R"), left * (-1, 1, 1))


def test_a_limb_bends_as_the_other_one_is_bent_at_rest():
    bones = {**HIP, **limb(), **limb(".R", -0.2)}
    bones["thigh.R"] = ((-0.2, 0, 1), (-0.2, -0.2, 0), "hip", 0.0)
    bones["shin.R"] = ((-0.2, -0.2, 0), (-0.2, 0, -1), "thigh.R", 0.0)
    assert close(knee_side(add_armature(bones), "shin.L"), -Y)


def test_in_a_flat_armature_the_plane_is_that_of_the_other_bones():
    turn = Quaternion((0, 0, 1), 0.5)
    tail = {"tail": (turn @ Vector((0.3, 0, 1)), turn @ Vector((1, 0, 2)), "", 0.0)}
    armature = add_armature({**HIP, **limb(x=0, names=("a", "b")), **tail})
    assert close(knee_side(armature, "b.L"), turn @ Vector((1, 0, 0)))


# --- Told by the view --------------------------------------------------------

SPREAD = {
    "east": ((0, 0, 1), (1, 0, 1), "", 0.0),
    "north": ((0, 0, 1), (0, 1, 1), "", 0.0),
    "up": ((0, 0, 1), (0, 0, 2), "", 0.0),
}


@pytest.mark.parametrize("turn", [0.0, 0.6, -2.0])
@pytest.mark.parametrize("stands", [0.0, 1.0])
def test_where_nothing_tells_the_plane_faces_the_view_and_the_limb_bends_to_its_right(turn, stands):
    armature = add_armature({**SPREAD, **limb(parent="", x=0)})
    armature.rotation_euler, armature.scale = (0, 0, stands), (2, 2, 2)
    bpy.context.view_layer.update()
    view = np.array(Quaternion((0, 0, 1), turn).to_matrix()) @ FRONT
    side = Quaternion((0, 0, 1), stands) @ Vector(knee_side(armature, "shin.L", view=view))
    assert close(side, view[:, 0])


def test_without_a_view_it_bends_in_xz_to_the_right():
    assert close(knee_side(add_armature({**SPREAD, **limb(parent="", x=0)}), "shin.L"), X)


def test_a_limb_along_the_views_right_bends_down_and_one_along_the_view_to_its_right():
    for along, side in (((1, 0, 0), -Z), ((-1, 0, 0), -Z), ((0, 1, 0), X), ((0, -1, 0), X)):
        armature = add_armature({**SPREAD, **limb(parent="", x=0, along=along)})
        assert close(knee_side(armature, "shin.L"), side), along


# --- Fixed -------------------------------------------------------------------


def test_a_target_beside_the_hip_leaves_the_knee_where_it_is():
    """Targets at 0 and 0.001 beside the hip, to each side: the same knee to 0.1 degrees."""
    armature = add_armature({**SPREAD, **limb(parent="", x=0)})
    chain = chains.add_chain(armature, "shin.L", target=add_target({}))
    chain.live = True
    knees = []
    for beside in ((0, 0), (0.001, 0), (-0.001, 0), (0, 0.001), (0, -0.001), (0.0007, 0.0007)):
        chain.target.location = (*beside, 0.2)
        bpy.context.view_layer.update()
        posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["thigh.L"]
        knees.append(posed.vector.normalized())
    turns = [np.degrees(knee.angle(knees[0])) for knee in knees]
    assert max(turns) < 0.1, turns


def test_a_bent_chain_keeps_the_automatic_plane_and_so_do_hinges():
    bones = limb(parent="hip")
    bones["shin.L"] = ((0.2, 0, 0), (0.2, 0.1, -1), "thigh.L", 0.0)
    assert chains.add_chain(add_armature({**HIP, **bones}), "shin.L").plane == 'AUTO'
    armature = add_armature({**HIP, **{name: (*bone[:3], 0.0) for name, bone in limb().items()}})
    for bone in armature.pose.bones:
        bone.lock_rotation = (False, True, True)
    assert chains.add_chain(armature, "shin.L").plane == 'AUTO'


def test_the_plane_goes_with_the_bones_until_it_is_chosen_by_hand():
    armature = add_armature({"hip": ((0.2, 0.5, 1.2), (0.2, 0, 1), "", 0.0), **limb()})
    chain = chains.add_chain(armature, "shin.L")
    straight = chain.plane_normal.copy()
    assert chain.plane == 'CUSTOM'
    chain.bone_count = 3  # bent at the hip
    assert chain.plane == 'AUTO'
    chain.bone_count = 2
    assert chain.plane == 'CUSTOM' and close(straight, chain.plane_normal)
    chain.plane = 'X'
    chain.bone_count = 1
    assert chain.plane == 'X'


def test_bones_that_are_not_finite_are_passed_over(monkeypatch):
    armature = add_armature({**SPREAD, **limb(parent="", x=0)})
    bones = [armature.pose.bones[name] for name in ("thigh.L", "shin.L")]
    before = straight_normal(armature, bones)
    read = straight_plane._points
    monkeypatch.setattr(straight_plane, "_points", lambda bones: np.vstack((read(bones), [np.nan] * 3)))
    assert close(straight_normal(armature, bones), before)
