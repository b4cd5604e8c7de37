# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of versions before 1.1.0: Bend, its keys and its driver get the values that keep the pose.

Where Two-Bone and Circle counted sides about the plane's normal, and the rest pose bends to the other side
of it, Positive and Negative change places, so that no pose changes. What cannot be changed keeps the earlier
meaning: linked chains, those on drivers or planted, and a Bend that other drivers read or linked actions key.
"""

from collections.abc import Iterator

import bpy
from bpy.types import FCurve, Object, PropertyGroup

from ...rig.animation import versions
from ...rig.animation.value_keys import existing_drivers
from ...rig.chain.chain import chosen_solver
from ...rig.chain.checks.bones import chain_bones, rest_joints
from ...rig.chain.native_state import is_native
from ...rig.chain.paths.owners import Claim, Owners
from ...rig.chain.planes import ABOUT_NORMAL, bend_plane, side_at_rest
from ...rig.chain.slides import may_slide
from ...ui.settings.chain_list import flip
from .staleness import AnimatedPaths, bake_fingerprint, changed_since


def renew_sides(armature: Object) -> None:
    """Have an armature's chains count sides from the rest pose, if they do not yet; no pose changes."""
    if armature.override_library:
        return
    for chain in armature.ik2d.chains:
        if not chain.sides_from_rest and not is_native(chain):
            _renew(chain)


def _renew(chain: PropertyGroup) -> None:
    """Have a chain count sides from the rest pose. Raises IK2DError for one that has no bones or no plane."""
    if _is_turned(chain):
        armature, animated = chain.id_data, _Animated.of(chain)
        if animated is None or (hasattr(chain, "planted") and len(chain.planted.channels)):
            return
        mark = bake_fingerprint(chain, AnimatedPaths.of(armature)) if chain.bake_mark else ""
        is_fresh = bool(mark) and not changed_since(chain.bake_mark, mark)
        flip(chain)
        animated.turn()
        if is_fresh:
            chain.bake_mark = bake_fingerprint(chain, AnimatedPaths.of(armature))
    chain.sides_from_rest = True


def _is_turned(chain: PropertyGroup) -> bool:
    """Return whether Positive was the side that a chain does not bend to at rest."""
    bones = chain_bones(chain.id_data, chain.tip, chain.bone_count, chain.name)
    solver = chosen_solver(len(bones), may_slide(chain)) if chain.solver == 'AUTO' else chain.solver
    if solver not in ABOUT_NORMAL or chain.tip_rotation != 'FREE':
        return False
    joints = rest_joints(bones)
    return side_at_rest(bend_plane(chain, bones, joints), joints) < 0.0


class _Animated:
    """The keys and drivers of a chain's bend."""

    def __init__(self, curves: list[FCurve], drivers: list[FCurve]) -> None:
        self.curves, self.drivers = curves, drivers

    @classmethod
    def of(cls, chain: PropertyGroup) -> "_Animated | None":
        """Read those of a chain; None where some cannot be changed, or something else reads the setting."""
        armature = chain.id_data
        name = bpy.utils.escape_identifier(chain.name)
        paths = (f"{chain.path_from_id()}.bend", f'ik2d.chains["{name}"].bend')
        curves, owners = [], Owners(armature)
        for action in bpy.data.actions:
            for holder, slot in versions.holders_of(action):
                found = [curve for curve in map(holder.fcurves.find, paths) if curve is not None]
                claim = owners.claim(holder, slot) if found else Claim.NONE
                if claim is Claim.NONE:
                    continue
                if claim is not Claim.OWN or not action.is_editable or any(map(_is_formed, found)):
                    return None
                curves += found
        if any(map(paths.__contains__, _read(armature))):
            return None
        drivers = [driver for driver in existing_drivers(armature) if driver.data_path in paths]
        if any(driver.driver.type != 'SCRIPTED' or _is_formed(driver) for driver in drivers):
            return None
        return cls(curves, drivers)

    def turn(self) -> None:
        """Turn the keys and drivers to the other side."""
        for curve in self.curves:
            for key in curve.keyframe_points:
                key.co_ui[1] = 1.0 - key.co_ui[1]  # with its handles
            curve.update()
        for driver in self.drivers:
            driver.driver.expression = f"1-trunc({driver.driver.expression})"


def _is_formed(curve: FCurve) -> bool:
    """Return whether more than keys forms a curve; on a driver, more than its expression."""
    generators = [modifier for modifier in curve.modifiers if modifier.type == 'GENERATOR']
    if curve.driver is None:
        return bool(len(curve.modifiers))
    plain = all(
        [*modifier.coefficients] == [0.0, 1.0] and not modifier.use_additive for modifier in generators
    )
    return bool(len(curve.keyframe_points)) or len(generators) < len(curve.modifiers) or not plain


def _read(armature: Object) -> Iterator[str]:
    """Yield the paths on an armature that drivers read, of itself and of all other objects."""
    for ob in bpy.data.objects:
        for curve in existing_drivers(ob):
            for variable in curve.driver.variables:
                yield from (target.data_path for target in variable.targets if target.id == armature)
