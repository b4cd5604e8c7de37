# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms on drivers: their triangles as expressions, one after the other."""
