# SPDX-License-Identifier: GPL-3.0-or-later
"""One chain over all frames: the turns of its joints."""
