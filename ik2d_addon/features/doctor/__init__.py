# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a chain, and buttons that fix it."""
