# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a new chain is fitted to the pose of the IK that it replaces, by the pose that it gives itself."""
