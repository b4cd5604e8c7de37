# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual has each setting of the panels, by its label."""

from pathlib import Path

from ik2d_addon.ui.settings import chain, foot, joint, overlay, rig

MANUAL = (Path(__file__).resolve().parents[2] / "docs" / "manual.md").read_text(encoding="utf-8")
# What has no row of its own: the list's tick and the header's, the axes of a hand, and two labels of the
# overlay that are buttons or settings elsewhere.
NOT_DRAWN = {"Enabled", "Hand Offset", "Show IK 2D", "All Chains"}
# Labels that the panel has otherwise.
SHOWN_AS = {"Start": "Custom Range", "End": "Custom Range", "Foot": "Add Foot", "Contact": "Contacts"}
SHOWN_AS |= {
    "Heel Contact": "Contacts",
    "Toe Contact": "Contacts",
    "Pole": "Add Pole",
    "Pole Bone": "Add Pole",
}


def labels():
    """Yield the labels of all settings that a person sets."""
    groups = (chain.IK2D_PG_chain, foot.IK2D_PG_foot, joint.IK2D_PG_joint, rig.IK2D_PG_settings)
    for group in (*groups, overlay.IK2D_PG_overlay):
        for found in group.bl_rna.properties:
            stored = found.type in ('POINTER', 'COLLECTION') and found.identifier not in ("target", "ground")
            colour = found.identifier.endswith("_color")
            if not (found.is_hidden or stored or colour or found.identifier in ("rna_type", "name")):
                yield found.name


def test_the_manual_has_each_setting():
    shown = {SHOWN_AS.get(label, label) for label in set(labels()) - NOT_DRAWN}
    assert len(shown) > 50
    assert [label for label in sorted(shown) if f"*{label}*" not in MANUAL] == []


def test_the_manual_has_a_heading_for_each_panel():
    for panel in ("Chains", "Chain", "Reach", "Joints", "Foot or Hand", "Advanced", "Bake", "Overlay", "Rig"):
        assert f"\n## {panel}\n" in MANUAL
    assert "\n### Bake Options\n" in MANUAL
