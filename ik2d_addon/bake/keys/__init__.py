# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames that get keys, their handles, and clearing keys."""
