# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions that a bake keys one after the other: found, paired with those of the targets, assigned, put back.

`planning` makes the clips of a bake: which action each object plays for each, on which frames. `stage`
assigns a clip's actions and puts back what was assigned before; `copies` makes the new actions.
"""
