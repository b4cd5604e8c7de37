# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a chain by topic: each is a base of its class."""
