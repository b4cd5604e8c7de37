# SPDX-License-Identifier: GPL-3.0-or-later
"""One chain, one target, in plain numbers: as the solvers for arrays, without numpy's cost for one."""

from .solver import PlainAnswer, PlainSolver, plain_solver
from .stretched import PlainStretch

__all__ = ["PlainAnswer", "PlainSolver", "PlainStretch", "plain_solver"]
