# SPDX-License-Identifier: GPL-3.0-or-later
"""Somebody who does one thing or another with live chains: for tests, and for hours.

    python tests/blender/soak.py [ACTIONS [SEED]]
    blender --background --factory-startup --python-exit-code 3 --python tests/blender/soak.py -- [...]

After each action what is said must be so: whatever says that it is on its target is there in the pose that
Blender evaluates, finite, and the same when all is read anew. Exit code 0 comes only after all of them.
"""

import contextlib
import io
import itertools
import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parent)]

from rigs import add_armature, add_chain, add_target, evaluated_place, evaluated_tip

import ik2d_addon
from ik2d_addon.bake import bake, solve
from ik2d_addon.bake.lengths import Units
from ik2d_addon.chains import adopt, release, remove_native
from ik2d_addon.core import IK2DError
from ik2d_addon.features.drag.drag import take_hold
from ik2d_addon.features.overlay import chains_seen
from ik2d_addon.features.overlay.settings import PARTS, overlay_settings
from ik2d_addon.features.setup import chain_presets
from ik2d_addon.live.registry import RIGS, key_of, problem_of_live

REACH = 5.0
# How far a tip may be from its target, and a joint from where it was, in parts of the reach.
CLOSE, SAME = 2e-5, 1e-5
PRESETS = sorted(str(path) for path in Path(chain_presets.FOLDER).glob("presets/**/*.py"))
CONSTRAINTS = ('COPY_ROTATION', 'DAMPED_TRACK', 'LIMIT_ROTATION', 'COPY_LOCATION', 'CHILD_OF')
# What is done more often than the rest: what live chains follow, and what lets them follow again.
USUAL = ["do_move", "do_scrub", "do_play", "do_unhide", "do_unset", "do_remove_controls"]
GREY = (0.24, 0.24, 0.24)


def build() -> None:
    """Add a rig of five bones with two chains, one on the other, and their targets."""
    joints = [
        (0.0, 0.0, 0.0),
        (0.2, 0.0, 1.0),
        (0.6, 0.0, 1.9),
        (1.2, 0.0, 2.6),
        (2.0, 0.0, 3.0),
        (2.8, 0, 3),
    ]
    armature = add_armature(
        {f"b{i}": (joints[i], joints[i + 1], f"b{i - 1}" if i else "", 0.2 * i) for i in range(5)}
    )
    first = add_target({1: (0.9, 0.0, 2.0), 20: (1.2, 0.0, 1.2)}, "First")
    second = add_target({1: (2.2, 0.0, 3.0), 20: (2.0, 0.0, 1.0)}, "Second")
    add_chain(armature, "b4", second, 2, live=True)
    add_chain(armature, "b2", first, 3, live=True)


def races(armature: bpy.types.Object) -> bool:
    """Return whether Blender evaluates an armature's bones in one order or another.

    An IK constraint that has lost its target and shares a bone with another one is no longer solved, yet
    its bones do not wait for the other: their parent is read before it is solved, or after.
    """
    solved: list[tuple[bool, set[str]]] = []  # of each IK constraint: whether it has a target, its bones
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.type == 'IK':
                bones = [bone, *bone.parent_recursive][: constraint.chain_count or None]
                solved.append((constraint.target is not None, {each.name for each in bones}))
    pairs = itertools.permutations(solved, 2)
    return any(not has_target and bones & others for (has_target, bones), (_, others) in pairs)


class Animator:
    """Somebody who does one thing or another."""

    def __init__(self, seed: int, path: str) -> None:
        self.random, self.path = random.Random(seed), path
        self.done: list[str] = []
        self.told: Callable[[str], object] = lambda _name: None  # before each action
        self.checked = 0  # poses that were held against their targets

    def act(self) -> None:
        """Do something."""
        names = [name for name in dir(self) if name.startswith("do_")]
        name = self.random.choice(names + USUAL * 4)
        self.done.append(name)
        self.told(name)
        getattr(self, name)()
        if self.random.random() < 0.5:
            bpy.ops.ed.undo_push(message=name)

    @property
    def armatures(self) -> list[bpy.types.Object]:
        return [ob for ob in bpy.context.scene.objects if ob.type == 'ARMATURE']

    @property
    def armature(self) -> bpy.types.Object:
        """One of the armatures; the rig is built anew where the last one is gone."""
        if not any(len(ob.data.bones) > 1 and len(ob.ik2d.chains) for ob in self.armatures):
            self.leave_modes()
            for ob in list(bpy.data.objects):
                bpy.data.objects.remove(ob)
            build()
        return self.random.choice(
            [ob for ob in self.armatures if len(ob.data.bones) > 1 and len(ob.ik2d.chains)]
        )

    @property
    def chain(self) -> bpy.types.PropertyGroup:
        return self.random.choice(self.armature.ik2d.chains)

    def leave_modes(self) -> None:
        if bpy.context.mode != 'OBJECT':
            bpy.context.object.hide_viewport = False
            bpy.ops.object.mode_set(mode='OBJECT')

    def enter(self, mode: str) -> bpy.types.Object:
        """Make an armature active, in a mode, with a chain of its and a bone active."""
        armature = self.armature
        self.leave_modes()
        armature.hide_viewport = False
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode=mode)
        armature.ik2d.active_index = self.random.randrange(len(armature.ik2d.chains))
        if mode == 'POSE':
            armature.data.bones.active = self.random.choice(armature.data.bones)
        return armature

    def press(self, name: str, **arguments) -> None:
        """Call an operator where it can be; what it says may be no, but no traceback."""
        operator = getattr(bpy.ops.ik2d, name)
        if operator.poll():
            try:
                operator(**arguments)
            except RuntimeError as error:
                assert "Traceback" not in str(error), error

    def place(self) -> tuple[float, float, float]:
        return self.random.uniform(0.5, 2.0), 0.0, self.random.uniform(0.5, 2.5)

    # --- Targets and time ---------------------------------------------------

    def do_move(self) -> None:
        for ob in bpy.context.scene.objects:
            if ob.type == 'EMPTY' and self.random.random() < 0.6:
                ob.location.x += self.random.uniform(-0.4, 0.4)
                ob.location.z += self.random.uniform(-0.4, 0.4)
        bpy.context.view_layer.update()

    def do_play(self) -> None:
        """Frames that were played are kept, and shown as they were."""
        first, scene = self.random.randint(1, 14), bpy.context.scene
        for _ in range(2):
            for frame in range(first, first + 6):
                scene.frame_set(frame)

    def do_scrub(self) -> None:
        bpy.context.scene.frame_set(self.random.randint(1, 20), subframe=self.random.choice((0.0, 0.5)))

    def do_scrub_forth_and_back(self) -> None:
        """A frame shows the same however one got to it, but for bones that chains turn on other frames."""
        scene = bpy.context.scene
        scene.frame_set(scene.frame_current)
        before = self.posed()
        for armature in self.armatures:  # without keys they keep the pose of the frame before
            if any(chain.live and chain.enabled and problem_of_live(chain) for chain in armature.ik2d.chains):
                del before["joints"][armature.name]
        scene.frame_set(self.random.randint(1, 20))
        scene.frame_set(self.random.randint(1, 20), subframe=0.25)
        scene.frame_set(before["frame"])
        self.assert_same(before["joints"], self.posed()["joints"], "after scrubbing")

    def do_key_target(self) -> None:
        target = self.chain.target
        if target is not None and target.type == 'EMPTY':
            target.keyframe_insert("location", frame=self.random.randint(1, 20))

    def do_delete_target(self) -> None:
        target = self.chain.target
        if target is not None and target.type == 'EMPTY':
            bpy.data.objects.remove(target)
        bpy.context.view_layer.update()

    def do_new_target(self) -> None:
        for armature in self.armatures:
            for chain in armature.ik2d.chains:
                if chain.target is None:
                    chain.target, chain.subtarget = add_target({1: self.place()}, "Again"), ""

    # --- Undo, files, the add-on itself -------------------------------------

    def do_undo(self) -> None:
        bpy.ops.ed.undo_push(message="Before")
        self.do_move()
        bpy.ops.ed.undo_push(message="After")
        for _ in range(self.random.randint(1, 3)):
            with contextlib.suppress(RuntimeError):
                bpy.ops.ed.undo()

    def do_redo(self) -> None:
        self.do_undo()
        for _ in range(self.random.randint(1, 3)):
            with contextlib.suppress(RuntimeError):
                bpy.ops.ed.redo()

    def do_load(self) -> None:
        if self.random.random() < 0.5:
            bpy.ops.wm.save_as_mainfile(filepath=self.path)
            bpy.ops.wm.open_mainfile(filepath=self.path)
            # What is not keyed of a bone with keys comes back from the file with the next change only.
            bpy.context.scene.frame_set(bpy.context.scene.frame_current)

    def do_empty_file(self) -> None:
        if self.random.random() < 0.1:
            bpy.ops.wm.read_factory_settings(use_empty=True)
            build()

    def do_register(self) -> None:
        if self.random.random() < 0.2:
            ik2d_addon.unregister()
            ik2d_addon.register()

    # --- The rig ------------------------------------------------------------

    def do_rename(self) -> None:
        armature = self.armature
        bone = self.random.choice(armature.data.bones)
        bone.name = f"n{self.random.randint(0, 99)}"
        armature.name = f"Rig {self.random.randint(0, 9)}"
        self.chain.name = f"Chain {self.random.randint(0, 9)}"

    def do_edit(self) -> None:
        armature = self.enter('EDIT')
        bpy.context.scene.frame_set(self.random.randint(1, 20))
        armature.data.edit_bones[-1].tail.x += self.random.uniform(-0.1, 0.1)
        self.enter(self.random.choice(('OBJECT', 'POSE')))

    def do_delete_bone(self) -> None:
        if self.random.random() < 0.2:
            armature = self.enter('EDIT')
            bones = armature.data.edit_bones
            bones.remove(self.random.choice(bones))
            self.leave_modes()

    def do_delete_rig(self) -> None:
        if self.random.random() < 0.2:
            armature = self.armature
            self.leave_modes()
            bpy.data.objects.remove(armature)
            bpy.context.view_layer.update()

    def do_copy_rig(self) -> None:
        if len(self.armatures) < 2:
            armature = self.armature
            self.leave_modes()
            copied = armature.copy()
            copied.data = armature.data.copy() if self.random.random() < 0.5 else armature.data
            bpy.context.scene.collection.objects.link(copied)

    def do_place_rig(self) -> None:
        armature = self.armature
        armature.location.x = self.random.uniform(-0.2, 0.2)
        armature.rotation_euler.z = self.random.choice((0.0, 0.0, 0.0, 0.1))
        armature.hide_viewport = self.random.random() < 0.1
        bpy.context.view_layer.update()

    def do_pose(self) -> None:
        bone = self.random.choice(self.armature.pose.bones)
        bone.rotation_mode = self.random.choice(('QUATERNION', 'XYZ', 'AXIS_ANGLE'))
        bone.rotation_euler = (0.3, 0.1, 0.2)
        bpy.context.view_layer.update()

    def do_rest_position(self) -> None:
        self.armature.data.pose_position = self.random.choice(('REST', 'POSE', 'POSE'))

    def do_mode(self) -> None:
        self.enter(self.random.choice(('OBJECT', 'POSE')))

    # --- Chains -------------------------------------------------------------

    def do_toggle(self) -> None:
        chain = self.chain
        chain.live = not chain.live
        chain.enabled = self.random.random() < 0.8

    def do_set(self) -> None:
        chain, choose = self.chain, self.random.choice
        chain.bend = choose(('POSITIVE', 'NEGATIVE'))
        chain.solver = choose(('AUTO', 'EVEN', 'ARC', 'CCD', 'TWO_BONE'))
        chain.start_from = choose(('REST', 'PREVIOUS'))
        chain.softness = choose((0.0, 0.0, 0.1))
        chain.stretch = choose((1.0, 1.0, 1.5))
        chain.influence = choose((1.0, 1.0, 0.5))
        for joint in chain.joints:
            joint.use_limit = self.random.random() < 0.2
            joint.limit_min, joint.limit_max = -1.0, 1.2
            joint.use_slide = self.random.random() < 0.1
            joint.slide_max = 0.3

    def do_unset(self) -> None:
        for armature in self.armatures:
            armature.data.pose_position = 'POSE'
            for chain in armature.ik2d.chains:
                chain.solver, chain.live, chain.enabled = 'AUTO', True, True
                chain.softness, chain.stretch, chain.influence = 0.0, 1.0, 1.0
                for joint in chain.joints:
                    joint.use_limit = joint.use_slide = False

    def do_flip(self) -> None:
        self.enter(self.random.choice(('OBJECT', 'POSE')))
        self.press("flip", frames=self.random.choice((1, 1, 5)))

    def do_preset(self) -> None:
        self.enter('POSE')
        self.press("preset_apply", filepath=self.random.choice(PRESETS))

    def do_step(self) -> None:
        self.enter('POSE')
        self.press("ccd_step")

    def do_arrange(self) -> None:
        self.enter('POSE')
        self.press("chain_move", direction=self.random.choice(('UP', 'DOWN')))
        self.press("copy_settings")

    def do_remove_chain(self) -> None:
        if self.random.random() < 0.1:
            self.enter('POSE')
            self.press("chain_remove")

    def do_drag(self) -> None:
        """Drag a tip, and put it back or leave it there."""
        armature, chain = self.enter('POSE'), ""
        if self.random.random() < 0.7:
            chain = self.random.choice(armature.ik2d.chains).name
        try:
            drag = take_hold(bpy.context.scene, armature, chain)
            for _ in range(3):
                drag.to((self.random.uniform(-0.5, 0.5), self.random.uniform(-0.5, 0.5)))
            if self.random.random() < 0.3:
                drag.flip()
            if self.random.random() < 0.5:
                drag.put_back()
            elif self.random.random() < 0.5:
                bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
                drag.key(bpy.context)
                bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
        except IK2DError:
            pass

    def do_overlay(self) -> None:
        """Switch it, and work out what it would draw."""
        self.enter('POSE')
        settings = overlay_settings()
        for name in ("show", "all_chains", *PARTS):
            setattr(settings, name, self.random.random() < 0.7)
        self.press("target_path")
        armature, chains = chains_seen.chains_seen(bpy.context, True)
        figure = chains_seen.figure_of(
            armature, chains_seen.chain_views(armature, chains, {}), settings, GREY, Units('METRIC')
        )
        assert all(np.isfinite(place).all() for place, _words, _color in figure.labels)

    def do_make_native(self) -> None:
        self.enter('POSE')
        self.press("make_native")

    def do_remove_native(self) -> None:
        for armature in self.armatures:
            for chain in armature.ik2d.chains:
                with contextlib.suppress(IK2DError):
                    remove_native(armature, chain)

    def do_adopt(self) -> None:
        """Give a chain's bones an IK constraint in its place, and adopt that."""
        armature = self.armature
        chain = self.random.choice(armature.ik2d.chains)
        bone, target = armature.pose.bones.get(chain.tip), chain.target
        if bone is None or target is None or chain.subtarget or self.random.random() < 0.6:
            return
        constraint = bone.constraints.new('IK')
        constraint.target, constraint.chain_count = target, chain.bone_count
        armature.ik2d.chains.remove(list(armature.ik2d.chains).index(chain))
        with contextlib.suppress(IK2DError):
            adopt(armature)
        for chain in armature.ik2d.chains:
            chain.live = True

    def do_release(self) -> None:
        for armature in self.armatures:
            for chain in list(armature.ik2d.chains):
                with contextlib.suppress(IK2DError):
                    release(armature, chain.name)

    # --- Other controls -----------------------------------------------------

    def do_constrain(self) -> None:
        bone = self.random.choice(self.armature.pose.bones)
        constraint = bone.constraints.new(self.random.choice(CONSTRAINTS))
        for name, value in (("target", self.chain.target), ("use_limit_y", True), ("max_y", 0.3)):
            if hasattr(constraint, name):
                setattr(constraint, name, value)
        constraint.influence = self.random.choice((0.5, 1.0))
        if self.random.random() < 0.3:
            for frame, value in ((5, 0.0), (15, 1.0)):
                constraint.influence = value
                constraint.keyframe_insert("influence", frame=frame)

    def do_drive(self) -> None:
        bone = self.random.choice(self.armature.pose.bones)
        with contextlib.suppress(TypeError):
            self.armature.driver_add(bone.path_from_id("rotation_quaternion"), 1).driver.expression = "0.2"

    def do_mute_controls(self) -> None:
        for armature in self.armatures:
            for bone in armature.pose.bones:
                for constraint in bone.constraints:
                    constraint.mute = self.random.random() < 0.8
            for curve in armature.animation_data.drivers if armature.animation_data else ():
                curve.mute = curve.mute or curve.data_path.endswith("rotation_quaternion")

    def do_remove_controls(self) -> None:
        for armature in self.armatures:
            for bone in armature.pose.bones:
                for constraint in list(bone.constraints):
                    if constraint.type in CONSTRAINTS:
                        bone.constraints.remove(constraint)
                with contextlib.suppress(TypeError):
                    armature.driver_remove(bone.path_from_id("rotation_quaternion"), 1)

    # --- Scenes, and what is hidden ------------------------------------------

    def do_second_scene(self) -> None:
        """Show a rig and its targets in a second scene too, at another frame."""
        other = bpy.data.scenes.get("Second") or bpy.data.scenes.new("Second")
        armature = self.armature
        for ob in (armature, *(chain.target for chain in armature.ik2d.chains)):
            if ob is not None and ob.name not in other.collection.objects:
                other.collection.objects.link(ob)
        other.frame_set(self.random.randint(1, 20))

    def do_hide(self) -> None:
        for ob in bpy.context.scene.objects:
            ob.hide_viewport = self.random.random() < 0.2
            ob.hide_set(self.random.random() < 0.2)

    def do_unhide(self) -> None:
        for ob in bpy.context.scene.objects:
            ob.hide_viewport = False
            ob.hide_set(False)

    def do_duplicate(self) -> None:
        if len(self.armatures) < 2:
            self.leave_modes()
            armature = self.armature
            armature.hide_viewport = False
            bpy.ops.object.select_all(action='DESELECT')
            armature.select_set(True)
            bpy.context.view_layer.objects.active = armature
            bpy.ops.object.duplicate(linked=self.random.random() < 0.5)

    # --- Keys ---------------------------------------------------------------

    def do_solve(self) -> None:
        """Solve shows what live chains show."""
        armature = self.armature
        self.leave_modes()
        bpy.context.view_layer.update()
        before, chains = self.posed()["joints"], armature.ik2d.chains
        try:
            solve(armature)
        except IK2DError:
            return
        if all(chain.live and chain.enabled and chain.live_status == "On its target" for chain in chains):
            self.assert_same(before, self.posed()["joints"], "once solved")

    def do_bake(self) -> None:
        armature = self.armature
        self.leave_modes()
        if self.random.random() < 0.3 and all(chain.target for chain in armature.ik2d.chains):
            self.do_unset()
            try:
                report = bake(armature, frame_start=1, frame_end=4)
            except IK2DError:
                return
            assert not any(armature.ik2d.chains[chain.name].live for chain in report.chains)

    def do_clear_bake(self) -> None:
        self.enter('POSE')
        self.press("clear_bake")

    # --- What must hold -----------------------------------------------------

    def posed(self) -> dict:
        """Return the frame, and the joints (2 n, 3) of the armatures as Blender evaluates them, by name."""
        graph, found = bpy.context.evaluated_depsgraph_get(), {}
        for armature in self.armatures:
            shown = armature.evaluated_get(graph)
            points = [point for bone in shown.pose.bones for point in (bone.head, bone.tail)]
            found[armature.name] = np.array([shown.matrix_world @ point for point in points])
        return {"frame": bpy.context.scene.frame_current, "joints": found}

    def assert_same(self, before: dict, after: dict, when: str) -> None:
        for name, joints in before.items():
            far = float(np.abs(joints - after[name]).max(initial=0.0))
            assert far < SAME * REACH or races(bpy.data.objects[name]), (name, far, when)

    def check_words(self, chain) -> None:
        """A live chain's distance is that of the evaluated tip, and its cause is known."""
        said, far = chain.live_status, chain.live_distance
        assert chain.live_reached == said.startswith(("On its target", "Points at its target")), (said, far)
        assert said and "something else" not in said, (chain.name, said, far)
        target, read = chain.target, RIGS.chains.get(key_of(chain))
        aims = read is not None and read.rig.settings.aims  # a single bone, whose tip need not get there
        if far >= 0.0 and not aims and target is not None and target.visible_get():
            off = evaluated_tip(chain.id_data, chain.tip) - evaluated_place(target, chain.subtarget)
            assert abs(off.length - far) < CLOSE * REACH, (chain.name, said, far, off.length)
            assert not chain.live_reached or off.length < CLOSE * REACH, (chain.name, said, off.length)
            self.checked += chain.live_reached

    def check(self) -> None:
        """What is said is so."""
        bpy.context.scene.update_tag()  # else Blender 5.0 may crash after an object was hidden or linked
        bpy.context.view_layer.update()
        assert not RIGS.failures, RIGS.failures
        for armature in self.armatures:
            for chain in armature.ik2d.chains:
                if chain.live and chain.enabled:
                    self.check_words(chain)
        if bpy.context.mode.startswith('EDIT'):
            return
        before = self.posed()["joints"]
        assert all(np.isfinite(joints).all() for joints in before.values()), before
        # What goes on from frame to frame is solved from the range's first one, where it is kept.
        if self.random.random() < 0.5 or any(
            chain.is_as_baked and chain.goes_on for chain in RIGS.chains.values()
        ):
            return  # what is kept stays for what is done next
        RIGS.drop()
        for armature in self.armatures:
            armature.update_tag()
        bpy.context.view_layer.update()
        self.assert_same(before, self.posed()["joints"], "read anew")


def soak(actions: int, seed: int, path: str, told: Callable[[str], object] = lambda _name: None) -> Animator:
    """Do so many actions on a rig in an empty scene; return who did them. told: called before each.

    Raises AssertionError, with the last of them, where something does not hold or a traceback was printed.
    """
    build()
    bpy.context.view_layer.update()
    animator, said = Animator(seed, path), io.StringIO()
    animator.told = told
    for number in range(actions):
        try:
            with contextlib.redirect_stderr(said):
                animator.act()
                animator.check()
            # Of ours: other add-ons that a test before has switched off may leave handlers that fail.
            assert not ("Traceback" in said.getvalue() and "ik2d_addon" in said.getvalue()), said.getvalue()
        except Exception as error:
            last = ", ".join(animator.done[-8:])
            raise AssertionError(f"seed {seed}, action {number}, after {last}: {error!r}") from error
    return animator


def main() -> None:
    """Soak as long as the command line says, each hundred actions in words."""
    arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    actions, seed = (int(value) for value in (arguments + ["10000", "1"][len(arguments) :]))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    ik2d_addon.register()
    with tempfile.TemporaryDirectory() as folder:
        animator = soak(actions, seed, str(Path(folder, "soak.blend")), lambda name: print(name, flush=True))
    kinds = len(set(animator.done))
    print(
        f"{actions} actions of {kinds} kinds with seed {seed} in Blender {bpy.app.version_string}:"
        f" no traceback, {animator.checked} tips on their targets",
        flush=True,
    )
    ik2d_addon.unregister()
    if bpy.app.background and not bpy.app.binary_path:  # the module: bpy 4.2 crashes in Python's own exit
        os._exit(0)


if __name__ == "__main__":
    main()
