# SPDX-License-Identifier: GPL-3.0-or-later
"""The exit codes of all commands; one that a signal ends has the signal's (`signals.Interrupted`)."""

DONE = 0
NOT_HELD = 1  # done, but --max-error or --strict does not hold
BAD_INPUT = 2
UNEXPECTED = 3  # an error of IK 2D itself, or its process died
