# SPDX-License-Identifier: GPL-3.0-or-later
"""A tip, or a point of a mechanism, dragged with the mouse."""
