# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of live chains and mechanisms, in words: as Blender shows them."""
