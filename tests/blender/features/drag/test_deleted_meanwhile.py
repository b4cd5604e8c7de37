# SPDX-License-Identifier: GPL-3.0-or-later
"""A drag whose armature, bone, chain or target is removed meanwhile ends, and puts the rest back."""

from types import SimpleNamespace

import bpy
import pytest
from rigs import add_armature, add_chain, add_target, leg_with_target

from ik2d_addon.features.drag.drag import take_hold
from ik2d_addon.features.drag.operator import IK2D_OT_drag
from ik2d_addon.ui.operator import ChainOperator


class Dragging(ChainOperator):
    """The operator's own functions, without the window that Blender would need to run it."""

    locals().update(
        {name: value for name, value in vars(IK2D_OT_drag).items() if callable(value) and name[:2] != "__"}
    )
    release_confirm = False

    def __init__(self, drag):
        self._drag, self._area, self.reports, self.texts = drag, self, [], []

    def report(self, level, text):
        self.reports.append((*level, text))

    def header_text_set(self, text):
        self.texts.append(text)


def event(kind):
    return SimpleNamespace(type=kind, value='PRESS', shift=False, ctrl=False, mouse_x=9, mouse_y=9)


def edit(armature, *bones):
    """Remove bones."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    for bone in bones:
        armature.data.edit_bones.remove(armature.data.edit_bones[bone])
    bpy.ops.object.mode_set(mode='POSE')


REMOVALS = {
    "armature": lambda armature, goal: bpy.data.objects.remove(armature),
    "its data": lambda armature, goal: bpy.data.armatures.remove(armature.data),
    "bone": lambda armature, goal: edit(armature, "thigh"),
    "chain": lambda armature, goal: armature.ik2d.chains.remove(0),
    "all chains": lambda armature, goal: armature.ik2d.chains.clear(),
    "target": lambda armature, goal: bpy.data.objects.remove(goal),
    "target from the scene": lambda armature, goal: bpy.context.scene.collection.objects.unlink(goal),
    "target's bone": lambda armature, goal: edit(goal, "goal"),
}


def state(armature, goal):
    """Return all that a drag writes, of what is still there."""
    found = {}
    for name in {"Rig", "Target", "Goals"} & set(bpy.data.objects.keys()):
        ob = bpy.data.objects[name]
        found[name] = ob.location.to_tuple()
        for bone in ob.pose.bones if ob.pose else ():
            found[bone.name] = bone.location.to_tuple(), *bone.rotation_quaternion, *bone.scale
    return found


@pytest.mark.parametrize("kind", ['MOUSEMOVE', 'RET', 'F', 'ESC', 'WHEELUPMOUSE'])
@pytest.mark.parametrize("removed", REMOVALS)
def test_a_drag_of_what_is_removed_meanwhile_ends_and_puts_the_rest_back(removed, kind):
    armature, goal = leg_with_target()
    if removed == "target's bone":
        goal = add_armature({"goal": ((0, -0.4, 0.7), (0, -0.4, 1.0), "", 0.0)}, "Goals")
        armature.ik2d.chains[0].target, armature.ik2d.chains[0].subtarget = goal, "goal"
    add_chain(armature, "body", add_target({}, "Other"), 1)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    bpy.context.view_layer.update()
    before = state(armature, goal)
    drag = take_hold(bpy.context.scene, armature, "shin")
    drag.to((0.1, 0.3))
    drag.flip()
    assert state(armature, goal) != before
    REMOVALS[removed](armature, goal)
    operator = Dragging(drag)
    workspace = SimpleNamespace(status_text_set=lambda text: None)
    context = SimpleNamespace(scene=bpy.context.scene, workspace=workspace)
    assert operator.modal(context, event(kind)) == {'CANCELLED'}
    assert operator.reports == [('WARNING', "What was dragged is no longer there")]
    assert operator.texts == [None]
    left = state(armature, goal)
    assert left == {name: value for name, value in before.items() if name in left}
