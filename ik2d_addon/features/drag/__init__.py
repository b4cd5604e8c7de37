# SPDX-License-Identifier: GPL-3.0-or-later
"""A tip dragged with the mouse."""
