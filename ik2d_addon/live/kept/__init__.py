# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of live chains kept in memory: solved as a bake solves them, or remembered as they were shown.

Written before Blender evaluates a frame, so that it evaluates it once, and looked at afterwards.
"""
