# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals of chains that cannot be: bones, targets and poles, and values that a file may hold."""
