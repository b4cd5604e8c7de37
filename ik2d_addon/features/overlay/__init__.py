# SPDX-License-Identifier: GPL-3.0-or-later
"""The drawing over the viewport, and its handles."""
