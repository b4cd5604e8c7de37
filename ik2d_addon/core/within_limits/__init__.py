# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses of least bend within limits: springs that one force at the tip holds, and tables of them."""
