# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms: bones whose loops are closed, made and changed by buttons, and by functions for scripts."""

USES = "baking doctor native"
