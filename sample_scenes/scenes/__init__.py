# SPDX-License-Identifier: GPL-3.0-or-later
"""One module for each sample scene, and what they share: shapes, rig and stage."""
