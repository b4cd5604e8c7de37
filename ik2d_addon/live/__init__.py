# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: chains follow their targets without keys while these are moved, scrubbed, played and rendered."""
