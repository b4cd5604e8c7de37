# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line, one parser for both of its doors.

`blender --background SCENE.blend --command ik2d bake` where the extension is installed, and
`python -m ik2d_addon bake SCENE.blend` with the bpy module. Importing this package needs no Blender.
"""
