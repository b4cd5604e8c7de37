# SPDX-License-Identifier: GPL-3.0-or-later
"""Posts over all frames: the space that a post turns in, its angles, and its rotation channels."""

from .channels import about as about
from .channels import angles_in as angles_in
from .channels import is_tilted as is_tilted
from .channels import post_channels as post_channels
from .space import PostSpace as PostSpace
from .space import all_controls as all_controls
from .space import chain_of_post as chain_of_post
from .space import on_post as on_post
from .space import post_space as post_space
from .space import solved_post as solved_post
from .space import with_all_controls as with_all_controls
