# SPDX-License-Identifier: GPL-3.0-or-later
"""A post: a bone that turns so that a chain's plane holds its target."""
