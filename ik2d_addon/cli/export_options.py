# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of `ik2d export`. Needs neither Blender nor numpy."""

import argparse

from . import values
from .bake_options import add_pairs


def add_export_options(parser: argparse.ArgumentParser) -> None:
    """Add what `export` takes besides files, trust and processes."""
    parser.add_argument(
        "--armature",
        metavar="NAME",
        type=values.name,
        action="append",
        help="armature to export, repeatable (default: all that have enabled chains)",
    )
    parser.add_argument(
        "--output",
        metavar="OUT.glb|.gltf|.fbx|.usdc",
        required=True,
        help="file to write, whose ending says the format, {name} being the scene's name; of USD one for"
        " each clip",
    )
    add_pairs(parser)
    parser.add_argument(
        "--deform-only",
        action="store_true",
        help="leave out bones that deform nothing, and carry none that do",
    )
    parser.add_argument(
        "--report",
        metavar="OUT.json",
        help="also write each clip's result as JSON, {name} being the scene's name; -: on stdout",
    )
    parser.add_argument(
        "--max-error",
        metavar="LENGTH",
        type=values.length,
        help="exit with 1 if a joint comes back further than this from where the bake has it, in Blender"
        " units",
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 if the bake has a tip miss its target"
    )
    parser.set_defaults(chains=None)
