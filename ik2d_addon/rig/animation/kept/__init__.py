# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion that new keys replace: kept in an action of its own, and given back.

The record is on the action that gets the keys, `Action.ik2d`, so that no other action is ever written to, and
copies, renames, undo and files need no code. `marks` tells whose a key is; `record` holds what was replaced;
`keeping` puts it there; `giving_back` takes it out again.
"""
