# SPDX-License-Identifier: GPL-3.0-or-later
"""In the window: the tab in German and in Japanese."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from window import calm, in_front, picture, ui


def test():
    """Bake the excavator, in one language after the other."""
    _, sidebar = yield from in_front("IK 2D")
    calm()
    view = bpy.context.preferences.view
    bpy.context.scene.frame_end = 60
    for language in ("de_DE", "ja_JP"):
        view.language = language
        view.use_translate_interface = view.use_translate_reports = True
        bpy.ops.ik2d.bake()
        yield 1.0
        yield from picture(f"language_{language[:2]}", sidebar)


ui.run(test)
