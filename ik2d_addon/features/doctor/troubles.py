# SPDX-License-Identifier: GPL-3.0-or-later
"""The heading of docs/troubleshooting.md on each finding, which the Help next to it opens."""

from . import fixes, post_fixes
from .findings import Finding

_KNEE = "the-knee-bends-the-wrong-way-or-the-elbow-flips"
_STRAIGHT = "the-arm-is-straight-as-in-a-t-pose-and-does-nothing"
_STILL = "the-target-moves-and-the-leg-does-not-follow"
_CYCLE = "dependency-cycle"
_MISSED = "the-bake-says-missed-out-of-reach-off-the-plane"
_KEYS = "the-baked-keys-do-not-play"
_POLE = "the-pole-angle-is-off"
_BY_KIND = {
    kind: heading
    for heading, kinds in {
        _KNEE: "OTHER_SIDE",
        _STRAIGHT: "STRAIGHT HELD",
        _STILL: "PROBLEM SHARED_BONES REST_POSITION NOWHERE OTHER_CONTROLS DRIVEN",
        _CYCLE: "CARRIED CIRCLE",
        _KEYS: "LOCKED SAMPLES MUTED MODIFIED SHARED MIXED MODE SILENT",
        _MISSED: "TARGET_OFF_PLANE OFF_PLANE LOCKED_PLANE HINGE_ASKEW UNEVEN_SCALE RANGE JOINTS NOTE",
    }.items()
    for kind in kinds.split()
}
# Of chains that cannot be read, by the fix that is offered.
_BY_FIX = ((fixes.clear_target, _CYCLE), (post_fixes.free_target, _CYCLE), (fixes.swing, _POLE))


def heading_of(finding: Finding) -> str:
    """Return the anchor of the heading on a finding."""
    if finding.kind == 'PROBLEM':
        for fix, heading in _BY_FIX:
            if fix in finding.fixes:
                return heading
    return _BY_KIND[finding.kind]
