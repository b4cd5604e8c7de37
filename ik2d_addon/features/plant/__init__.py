# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet: contacts found, kept as keys, and held."""

USES = "match pole baking"
