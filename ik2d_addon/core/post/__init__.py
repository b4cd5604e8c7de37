# SPDX-License-Identifier: GPL-3.0-or-later
"""Posts: bones that turn about one of their own axes so that a chain's plane holds its target."""

from .angle import HELD as HELD
from .angle import LIMITED as LIMITED
from .angle import NEAREST as NEAREST
from .angle import PostAngles as PostAngles
from .angle import PostRule as PostRule
from .angle import side_at_rest as side_at_rest
