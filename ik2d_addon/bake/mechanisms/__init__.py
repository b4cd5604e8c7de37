# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms in a bake: which are asked for, solved over all frames, keyed between them too, measured."""
