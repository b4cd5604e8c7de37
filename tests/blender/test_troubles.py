# SPDX-License-Identifier: GPL-3.0-or-later
"""Help in each panel, and next to each problem, opens docs/troubleshooting.md at the heading on it."""

import re
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest
from faults import FAULTS, examine

from ik2d_addon.features.doctor import operators, troubles
from ik2d_addon.features.setup.panels import IK2D_PT_main
from ik2d_addon.ui import manual
from ik2d_addon.ui.sidebar import Sidebar

ROOT = Path(__file__).resolve().parents[2]
PAGE = pytest.importorskip("tools.manual_page", reason="needs markdown and pymdownx").zip_page(
    "troubleshooting"
)
ANCHORS = set(re.findall(r'<h[1-6] id="([^"]+)"', PAGE))


def panels(base=Sidebar):
    """Return the panels of the sidebar."""
    below = [one for cls in base.__subclasses__() for one in (cls, *panels(cls))]
    return [cls for cls in below if hasattr(cls, "bl_label")]


class Layout:
    """Notes the addresses of the buttons that are drawn into it and into the layouts that it makes."""

    def __init__(self, opened):
        self.opened = opened

    def __getattr__(self, _name):
        return lambda *_, **__: Layout(self.opened)

    def operator(self, name, **_options):
        button = SimpleNamespace(chain="", way="")
        if name == "wm.url_open":
            self.opened.append(button)
        return button


@pytest.mark.parametrize("panel", panels(), ids=lambda panel: panel.__name__)
def test_help_of_each_panel_opens_its_heading(panel):
    opened, page = [], manual.address(manual.TROUBLES)
    if panel is IK2D_PT_main:
        assert panel.trouble == ""  # it opens the manual
        return
    manual.draw_help(Layout(opened), panel.trouble)
    address, _, heading = opened[0].url.partition("#")
    assert address == page and heading in ANCHORS
    assert "draw_help" in Sidebar.draw_header_preset.__code__.co_names
    assert panel.draw_header_preset is Sidebar.draw_header_preset or "super" in (
        panel.draw_header_preset.__code__.co_names
    )


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_help_of_each_problem_opens_the_heading_that_names_its_button(fault):
    armature, chain = fault.build()
    for finding in examine(armature, chain, 1, 40):
        heading = troubles.heading_of(finding)
        assert heading in ANCHORS
        _, found, rest = PAGE.partition(f' id="{heading}">')
        section = re.split(r"<h[1-6] ", rest)[0]
        labels = [fix.label for fix in finding.fixes]
        assert found and (
            finding.kind == 'PROBLEM' or any(f"<strong>{label}</strong>" in section for label in labels)
        ), (finding.kind, labels, heading)


def test_the_panel_draws_help_next_to_each_problem():
    armature, chain = FAULTS[0].build()
    opened = []
    context = SimpleNamespace(
        preferences=bpy.context.preferences, region=None, scene=bpy.context.scene, space_data=None
    )
    operators.draw_findings(Layout(opened), context, armature, chain)
    told = operators.findings_of(context, armature, chain)
    page = manual.address(manual.TROUBLES)
    assert [one.url for one in opened] == [f"{page}#{troubles.heading_of(each)}" for each in told] != []


def test_each_kind_of_problem_has_a_heading():
    kinds = set()
    for name in ("features/doctor/findings.py", "rig/animation/key_faults.py"):
        text = (ROOT / "ik2d_addon" / name).read_text(encoding="utf-8")
        kinds |= set(re.findall(r"(?:Finding\(\s*(?:rig|settings)\.name,\s*|Fault\(\s*)'([A-Z_]+)'", text))
    assert len(kinds) > 20
    assert kinds == set(troubles._BY_KIND)
    assert set(troubles._BY_KIND.values()) <= ANCHORS


def test_without_a_website_the_page_on_troubles_is_that_of_the_zip(tmp_path):
    (tmp_path / "blender_manifest.toml").write_text('id = "ik2d"\n')
    (tmp_path / "troubleshooting.html").touch()
    found = manual.address(manual.TROUBLES, tmp_path)
    assert found == (tmp_path / "troubleshooting.html").as_uri()


def test_pages_of_the_zip_lead_to_one_another():
    assert 'href="manual.html#bend"' in PAGE
    assert "](" not in PAGE and "riggers.md" not in PAGE
    assert "troubles.png" not in PAGE  # a picture is there as what it shows
