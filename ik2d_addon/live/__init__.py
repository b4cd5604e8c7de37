# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: chains follow their targets while these are moved, scrubbed, played and rendered, without keys."""
