# SPDX-License-Identifier: GPL-3.0-or-later
"""The pole that a chain's plane goes through."""
