# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder for each thing that a person does: its work, its operators, its panel."""
