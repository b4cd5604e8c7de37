# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawings of sample 08: how parts are painted, the fox, and the hills behind it."""
