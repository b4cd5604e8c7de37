# SPDX-License-Identifier: GPL-3.0-or-later
"""The angle of a chain's last bone: a bucket, a foot or a gripper."""
