# SPDX-License-Identifier: GPL-3.0-or-later
"""Roots of functions of one number."""
