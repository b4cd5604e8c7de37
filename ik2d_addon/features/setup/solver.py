# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver of a chain by its settings."""

from bpy.types import PropertyGroup

from ...rig.chain.chain import chosen_solver
from ...rig.chain.post import bending_bones_of
from ...rig.chain.slides import may_slide


def solver_of(chain: PropertyGroup) -> str:
    """Return the chain's solver; for Automatic the one that it chooses."""
    if chain.solver == 'AUTO':
        return chosen_solver(len(bending_bones_of(chain)), may_slide(chain))
    return chain.solver
