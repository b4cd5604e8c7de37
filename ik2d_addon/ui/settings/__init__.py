# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored in the file, and the functions that keep it whole."""
