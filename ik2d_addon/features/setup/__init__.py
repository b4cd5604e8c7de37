# SPDX-License-Identifier: GPL-3.0-or-later
"""Add, order, flip, copy, mirror and limit chains; the panels of a chain."""
