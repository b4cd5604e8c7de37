# SPDX-License-Identifier: GPL-3.0-or-later
"""Which frames get keys, with which handles; and taking keys away."""
