# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: one parser for two ways to start it.

`blender --background SCENE.blend --command ik2d bake` where the extension is installed, and
`python -m ik2d_addon bake SCENE.blend` with the bpy module. Importing this package needs no Blender.
"""
