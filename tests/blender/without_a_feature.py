# SPDX-License-Identifier: GPL-3.0-or-later
"""Use an add-on without one of its features: a chain is added, posed and baked, and the menus are drawn.

The folder that it is run from has the package.
"""

import os
import sys
import traceback

import bpy

sys.path.insert(0, os.getcwd())


class Drawn:
    """A layout that collects the operators that a menu draws."""

    def __init__(self):
        self.names = []

    def operator(self, name, **_looks):
        assert hasattr(bpy.types, name.replace("ik2d.", "IK2D_OT_")), name
        self.names.append(name)
        return type("Entry", (), {})()

    def separator(self):
        pass


def main(name):
    """Use the add-on; exceptions are faults."""
    from rigs import leg_with_target

    import ik2d_addon
    from ik2d_addon.ui.parts import draw_entries, named

    ik2d_addon.register()
    armature, _ = leg_with_target()
    bpy.context.view_layer.objects.active = armature
    for operator in (bpy.ops.ik2d.solve, bpy.ops.ik2d.bake, bpy.ops.ik2d.clear_bake):
        assert operator() == {'FINISHED'}
    layout = Drawn()
    for menu in ("main", "bone", "chain", "pose", "bake", "rig"):
        draw_entries(layout, menu, lines=True)
    assert {"ik2d.solve", "ik2d.mirror", "ik2d.adopt"} <= set(layout.names)
    assert {"Adopt", "FK/IK", "Drivers"} <= {label for label, _ in named("BOX")}
    assert not any(name in module.split(".") for module in sys.modules if module.startswith("ik2d_addon"))
    ik2d_addon.unregister()
    print("works", flush=True)


def use(name):
    """Use it, print a fault, and end."""
    try:
        main(name)
    except BaseException:
        traceback.print_exc()
    os._exit(0)  # bpy may crash at Python's own exit
