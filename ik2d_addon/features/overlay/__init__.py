# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn over the viewport, and its handles."""
