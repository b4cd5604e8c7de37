# SPDX-License-Identifier: GPL-3.0-or-later
"""What is looked through once answers as what it was taken from."""

from rigs import add_leg

from ik2d_addon.rig.animation.actions import KnownChannels
from ik2d_addon.rig.animation.versions import existing_channels


def keyed_leg():
    armature = add_leg()
    for bone in armature.pose.bones:
        bone.keyframe_insert("location", frame=3, group=bone.name)
        bone.keyframe_insert("rotation_euler", index=1, frame=3, group="others")
    return armature


def test_curves_are_found_as_blender_finds_them():
    holder = existing_channels(keyed_leg())
    known = KnownChannels(holder)
    places = {(curve.data_path, curve.array_index) for curve in holder.fcurves}
    assert len(places) == len(holder.fcurves) > 8
    for path in {path for path, _ in places} | {"location"}:
        assert known.fcurves.find(path) == holder.fcurves.find(path)
        for index in range(5):
            assert known.fcurves.find(path, index=index) == holder.fcurves.find(path, index=index)


def test_groups_are_found_as_blender_finds_them():
    holder = existing_channels(keyed_leg())
    known = KnownChannels(holder)
    assert {"others", "shin", "thigh"} <= {group.name for group in holder.groups} == set(known.groups)
    for name in (*known.groups, "none"):
        assert known.groups.get(name) == holder.groups.get(name)
