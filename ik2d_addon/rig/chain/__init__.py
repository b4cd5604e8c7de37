# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings and bones to a RigChain, and the faults of both."""
