# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys on what a chain follows."""
