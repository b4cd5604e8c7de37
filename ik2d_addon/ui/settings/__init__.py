# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings stored in the file, and the functions that keep them consistent."""
