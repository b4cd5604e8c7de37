# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual has a heading for each setting and operator, and Help and Online Manual lead there."""

import fnmatch
import re
from pathlib import Path

import bpy
import pytest
from bl_operators.wm import WM_OT_doc_view_manual, _wm_doc_get_id

import ik2d_addon
from ik2d_addon.ui import manual
from ik2d_addon.ui.parts import named

MANUAL = (Path(__file__).resolve().parents[2] / "docs" / "manual.md").read_text(encoding="utf-8")
PAGE = pytest.importorskip("tools.manual_page", reason="needs markdown and pymdownx").zip_page("manual")
ANCHORS = set(re.findall(r'<h[1-6] id="([^"]+)"', PAGE))
# What has no label in the sidebar: a tick, the axes of a hand, colors, which are all under one heading.
NOT_DRAWN = {"IK2D_PG_chain.enabled", "IK2D_PG_chain.hand_offset", "IK2D_PG_chain.hand_turn"}
NOT_DRAWN |= {"IK2D_PG_chain.foot", "IK2D_PG_foot.is_added"}  # Add Foot sets them
COLORS = "plane reach path limit bend foot miss pop joint"
NOT_DRAWN |= {f"IK2D_PG_overlay.{part}_color" for part in COLORS.split()}
NOT_DRAWN |= {f"IK2D_PG_mechanism_joint.{part}" for part in "kind bone end other".split()}  # a line of words
NOT_DRAWN |= {"IK2D_PG_mechanism_driver.kind", "IK2D_PG_mechanism_driver.bone"}
# Settings that are drawn, but not found by a search or kept in a preset.
HIDDEN_BUT_DRAWN = ("IK2D_PG_chain.shown_bend", "IK2D_PG_settings.chains_to_bake")
# Operators whose buttons have other labels.
OTHERWISE_LABELLED = {
    *("ik2d.chain_move", "ik2d.chain_remove", "ik2d.enable_chains", "ik2d.preset_add", "ik2d.preset_apply"),
    *("ik2d.mend", "ik2d.limit_set"),
}
# Labels that the panel has otherwise.
SHOWN_AS = {"Start": "Custom Range", "End": "Custom Range", "Contact": "Contacts"}
SHOWN_AS |= {"Heel Contact": "Contacts", "Toe Contact": "Contacts"}


def settings():
    """Return the settings that a person may see, by their names in the right-click menu.

    Blender takes the name of a chain or a joint for that of any property group, whose manual is not ours.
    """
    return {
        f"{group.__name__}.{one.identifier}": one
        for group in bpy.types.PropertyGroup.__subclasses__()
        if group.__name__.startswith("IK2D_")
        for one in group.bl_rna.properties
        if not one.is_hidden and one.identifier not in group.bl_rna.base.properties
    }


def operators():
    """Return the operators that have a label, by their names in the right-click menu."""
    found = {f"ik2d.{name}": getattr(bpy.ops.ik2d, name).get_rna_type() for name in dir(bpy.ops.ik2d)}
    return {name: one for name, one in found.items() if one.name}


def looked_up(name):
    """Return the address that Blender's own Online Manual opens for a button's name, or None."""
    return WM_OT_doc_view_manual._lookup_rna_url(_wm_doc_get_id(name, do_url=False), verbose=False)


def section(anchor):
    """Return the text of the manual's section at an anchor, with its heading."""
    _, found, rest = PAGE.partition(f' id="{anchor}">')
    assert found, anchor
    return re.split(r"<h[1-6] ", rest)[0]


def test_online_manual_of_a_setting_leads_to_the_heading_that_explains_it():
    assert len(settings()) > 70
    untold = {}
    for name, found in settings().items():
        address, _, anchor = (looked_up(name) or "").partition("#")
        assert address == manual.address(), name
        label = SHOWN_AS.get(found.name, found.name)
        if (
            found.type != 'COLLECTION'
            and name not in NOT_DRAWN
            and f"<strong>{label}</strong>" not in section(anchor)
        ):
            untold[name] = (label, anchor)
    assert untold == {}


def test_online_manual_of_an_operator_and_of_its_options_leads_to_a_heading():
    assert len(operators()) > 30
    for name, found in operators().items():
        address, _, anchor = (looked_up(name) or "").partition("#")
        assert address == manual.address() and anchor in ANCHORS, name
        for option in found.properties.keys():
            assert looked_up(f"{found.identifier}.{option}") == f"{address}#{anchor}"
        if name not in OTHERWISE_LABELLED:
            assert re.search(rf"\b{re.escape(found.name)}", section(anchor)), name


def test_every_pattern_is_that_of_something():
    names = [short for _, short, _ in manual._names()]
    names += ["preferences.live_at_once", "preferences.overlay"]  # of an installed extension
    patterns = [one for headings in named("HEADINGS") for names in headings.values() for one in names.split()]
    assert len(patterns) > 30
    assert [one for one in patterns if not fnmatch.filter(names, one)] == []


@pytest.mark.parametrize("name", HIDDEN_BUT_DRAWN)
def test_online_manual_of_what_only_the_panel_shows_leads_to_a_heading(name):
    address, _, anchor = (looked_up(name) or "").partition("#")
    assert address == manual.address() and anchor in ANCHORS


def test_every_heading_that_the_map_names_is_on_the_page():
    _, patterns = manual.manual_map()
    assert {heading.removeprefix("#") for _, heading in patterns} <= ANCHORS


def test_the_manual_has_a_heading_for_each_panel():
    for panel in ("Chains", "Chain", "Reach", "Joints", "Foot or Hand", "Advanced", "Bake", "Overlay", "Rig"):
        assert f"\n## {panel}\n" in MANUAL
    assert "\n### Bake Options\n" in MANUAL


def extension(folder, website="", *files):
    """Return a folder as an extension is installed in one, with a manifest and empty files."""
    (folder / "blender_manifest.toml").write_text(f'id = "ik2d"\n{website}')
    for name in files:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    return folder


@pytest.mark.parametrize("end", ["", "/"])
def test_with_a_website_the_manual_is_there(tmp_path, end):
    website = "https://example.org/ik2d"
    folder = extension(tmp_path, f'website = "{website}{end}"', "manual.html")
    assert manual.address(extension=folder) == f"{website}/docs/manual.html"


def test_without_a_website_the_manual_is_the_page_of_the_zip(tmp_path):
    folder = extension(tmp_path, "", "manual.html", "docs/manual.md")
    assert manual.address(extension=folder) == (tmp_path / "manual.html").as_uri()


def test_in_a_checkout_the_manual_is_the_document_itself(tmp_path):
    assert (
        manual.address(extension=extension(tmp_path, "", "docs/manual.md"))
        == (tmp_path / "docs/manual.md").as_uri()
    )


def test_disabled_the_extension_leaves_nothing_in_online_manual():
    assert looked_up("ik2d.bake")
    manual.unregister()
    try:
        assert looked_up("ik2d.bake") is None
    finally:
        manual.register()
    assert ".ui.manual" in ik2d_addon._MODULES
