# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo asks for the package by its name, as it is installed."""

import sys

import ik2d_addon.core

sys.modules.setdefault("ik2d_core", ik2d_addon.core)
