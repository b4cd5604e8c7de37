# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scene says of a chain at each frame: samples, and other controls of its bones."""
