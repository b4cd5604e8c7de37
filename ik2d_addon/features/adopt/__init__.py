# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn Blender's IK constraints into chains, and back."""

USES = "native"
