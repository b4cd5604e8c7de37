# SPDX-License-Identifier: GPL-3.0-or-later
"""A file for each command."""
