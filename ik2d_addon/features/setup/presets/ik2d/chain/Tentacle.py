# SPDX-License-Identifier: GPL-3.0-or-later
"""Many bones that all share the bend, the first one too, and ease into full stretch."""

import bpy

settings = bpy.context.object.ik2d
chain = settings.chains[settings.active_index]

chain.solver = 'EVEN'
chain.softness = 0.03
chain.hand_rotation = 'NONE'
chain.tip_rotation = 'FREE'
chain.tip_angle_offset = 0.0
chain.tip_angle_first = False
chain.post_reach_over = False
chain.stretch = 1.0
chain.compress = 1.0
chain.stretch_bones = 'ALL'
chain.slide_weight = 1.0
chain.start_from = 'REST'
chain.root_turns_freely = False
chain.iterations = 60
chain.tolerance = 0.0
