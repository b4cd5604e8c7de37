# SPDX-License-Identifier: GPL-3.0-or-later
"""Side-by-side measurements of IK 2D, plain CCD, a C port and Blender's own IK: `make bench`."""
