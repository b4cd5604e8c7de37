# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder for each thing that a person does: its work, its settings, its operators, its panel.

`USES` of a folder are the other features that it may import, with none where it has no such line.
"""
