# SPDX-License-Identifier: GPL-3.0-or-later
"""Cures of a chain whose target is off its plane, each judged by solving a copy of the chain's numbers."""
