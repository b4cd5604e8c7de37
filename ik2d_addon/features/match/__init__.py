# SPDX-License-Identifier: GPL-3.0-or-later
"""FK to IK and back."""
