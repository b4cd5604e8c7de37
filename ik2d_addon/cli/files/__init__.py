# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes and reports on disk."""
