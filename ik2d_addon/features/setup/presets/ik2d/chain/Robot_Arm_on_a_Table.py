# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms on a base that yaws: the base is the post, and the gripper keeps its angle in the world."""

import bpy

settings = bpy.context.object.ik2d
chain = settings.chains[settings.active_index]

chain.plane = 'POST'
chain.solver = 'AUTO'
chain.softness = 0.0
chain.hand_rotation = 'NONE'
chain.tip_rotation = 'WORLD'
chain.tip_angle_offset = 0.0
chain.tip_angle_first = False
chain.post_reach_over = False
chain.stretch = 1.0
chain.compress = 1.0
chain.stretch_bones = 'ALL'
chain.slide_weight = 1.0
chain.start_from = 'REST'
chain.root_turns_freely = False
chain.iterations = 200
chain.tolerance = 0.0
