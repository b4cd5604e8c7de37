# SPDX-License-Identifier: GPL-3.0-or-later
"""Match FK and IK, and switch between them."""
