# SPDX-License-Identifier: GPL-3.0-or-later
"""Posts above native chains: drivers turn them so that the chain's plane holds the target."""
