# SPDX-License-Identifier: GPL-3.0-or-later
"""Data paths of chains: keys and drivers stay with their chain when the list of chains changes."""
