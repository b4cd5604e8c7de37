# SPDX-License-Identifier: GPL-3.0-or-later
"""A live chain in plain numbers, as numpy is slow for a single frame."""
