# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a bake: numbers, causes, sentences."""
