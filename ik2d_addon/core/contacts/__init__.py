# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of feet: the frames in which they stand, and paths that do not slide there."""

from .find import find_contacts as find_contacts
from .held import held as held
