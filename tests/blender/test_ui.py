# SPDX-License-Identifier: GPL-3.0-or-later
"""What the sidebar and the menus are made of; tests/gui looks at them in a window."""

from importlib import import_module
from random import Random
from types import SimpleNamespace

import bpy
import pytest
from rigs import leg_with_target

import ik2d_addon
from ik2d_addon.features.adopt import operators as adopt
from ik2d_addon.features.drag import operator as drag
from ik2d_addon.features.overlay import limit_drag, panel, target_path
from ik2d_addon.features.setup import chain_presets, menus, panels
from ik2d_addon.ui import parts, text
from ik2d_addon.ui.text import wrapped

MODULES = [import_module(name, "ik2d_addon") for name in ik2d_addon._MODULES]
CLASSES = [cls for module in MODULES for cls in getattr(module, "classes", ())]
# Those that change nothing that undo brings back, are dragged, or are Blender's own in all but name.
OTHER_OPERATORS = (*target_path.classes, *limit_drag.classes, chain_presets.IK2D_OT_preset_add)
OPERATORS = [cls for cls in CLASSES if issubclass(cls, bpy.types.Operator) and cls not in OTHER_OPERATORS]
PANELS = [cls for cls in CLASSES if issubclass(cls, bpy.types.Panel)]
MENUS = [cls for cls in CLASSES if issubclass(cls, bpy.types.Menu)]
# These open from Blender's own overlay panel, and from a panel's header.
POPOVERS = (panel.IK2D_PT_overlay_popover, chain_presets.IK2D_PT_presets)
SENTENCE = "Baked 250 frames on 2 chains; 3 frames out of reach, worst by 0.12 m at frame 87"


def narrow_context(width, scale):
    """Return as much of a context as text is measured by, for a sidebar of a width in pixels."""
    preferences = SimpleNamespace(
        system=SimpleNamespace(ui_scale=scale), ui_styles=bpy.context.preferences.ui_styles
    )
    view = SimpleNamespace(region_to_view=lambda x, y: (x, y))
    return SimpleNamespace(preferences=preferences, region=SimpleNamespace(width=width, view2d=view))


def rna_of(cls):
    """Return what Blender itself registered for a class."""
    if issubclass(cls, bpy.types.Operator):
        return getattr(bpy.ops.ik2d, cls.bl_idname.removeprefix("ik2d.")).get_rna_type()
    return cls.bl_rna


def test_wrapped_text_fits_and_nothing_is_lost():
    random = Random(7)
    for length in range(120):
        text, width = "".join(random.choices("ab .'é長", k=length)), random.randint(1, 30)
        lines = wrapped(text, width, len)
        assert all(len(line) <= width for line in lines), text
        assert "".join(lines).replace(" ", "") == "".join(text.split()), text


def test_text_is_broken_between_words():
    assert wrapped(SENTENCE, 31, len) == [
        "Baked 250 frames on 2 chains; 3",
        "frames out of reach, worst by",
        "0.12 m at frame 87",
    ]


def test_a_word_wider_than_the_line_is_cut():
    assert wrapped("of mixamorig:LeftUpLeg", 10, len) == ["of", "mixamorig:", "LeftUpLeg"]


@pytest.mark.parametrize(
    "width, shown", [(230, "On target"), (300, "24 frames: on target"), (500, "Baked 24")]
)
def test_the_first_text_that_fits_a_line_is_shown(width, shown):
    texts = ["Baked 24 frames, 4 chains: on target", "24 frames: on target", "On target"]
    assert text.fitting(narrow_context(width, 1.0), texts, left=0.2).startswith(shown)


@pytest.mark.parametrize("name, draw", menus.MENUS)
def test_each_menu_of_blender_holds_ours_once(name, draw):
    functions = [function for function in getattr(bpy.types, name)._dyn_ui_initialize() if function == draw]
    assert len(functions) == 1


# Found where they are of use alone: at a finding, in the list of presets, at a joint of the overlay.
NOT_IN_MENU = {"mend", "mechanism_remove_item", "preset_apply", "preset_add", "limit_set"}
# The entries of a menu that one can take in at a glance.
MOST_ENTRIES = 12


class Entries:
    """A layout that collects what a menu draws: operators and, with their own entries, other menus."""

    def __init__(self):
        self.names, self.texts, self.menus = [], [], {}

    def operator(self, name, text="", **_looks):
        self.names.append(name)
        self.texts.append(text)
        return SimpleNamespace()

    def menu(self, name):
        self.menus[name] = Entries.of(name)

    def separator(self):
        pass

    @classmethod
    def of(cls, name):
        """Return the entries of a menu of ours."""
        entries = cls()
        menu = next(cls for cls in MENUS if cls.__name__ == name)
        menu.draw(SimpleNamespace(layout=entries, bl_idname=name), bpy.context)
        return entries


def test_every_operator_is_in_a_menu_under_pose_where_f3_finds_it():
    main = Entries.of("IK2D_MT_menu")
    names = [*main.names, *(name for menu in main.menus.values() for name in menu.names)]
    expected = {cls.bl_idname for cls in CLASSES if issubclass(cls, bpy.types.Operator)}
    assert set(names) == expected - {f"ik2d.{name}" for name in NOT_IN_MENU}


def test_the_menu_under_pose_is_taken_in_at_a_glance():
    main = Entries.of("IK2D_MT_menu")
    assert len(main.names) + len(main.menus) <= MOST_ENTRIES
    assert len(main.menus) == 5
    assert not any(menu.menus for menu in main.menus.values())


def test_the_entries_are_in_the_order_of_work():
    main = Entries.of("IK2D_MT_menu")
    order = "chain_add drag key_target flip solve bake clear_bake".split()
    assert main.names == [f"ik2d.{name}" for name in order]
    assert main.menus["IK2D_MT_pose"].names[0] == "ik2d.flip"
    feet = ["ik2d.find_contacts", "ik2d.plant_feet", "ik2d.plant_clear"]
    assert main.menus["IK2D_MT_bake"].names[-3:] == feet


def test_the_menu_names_the_key_that_drags_as_the_user_has_set_it(monkeypatch):
    item = SimpleNamespace(idname="ik2d.drag", active=True, to_string=lambda: "Ctrl J")
    monkeypatch.setattr(drag, "shown_items", lambda: [(None, item)])
    assert "Drag Tip (Ctrl J)" in Entries.of("IK2D_MT_menu").texts
    item.active = False
    assert "Drag Tip" in Entries.of("IK2D_MT_menu").texts


def test_a_menu_has_no_entries_of_a_feature_that_was_removed(monkeypatch):
    assert "ik2d.adopt" in Entries.of("IK2D_MT_rig").names
    monkeypatch.setattr(parts, "PARTS", [part for part in parts.PARTS if part is not adopt])
    names = Entries.of("IK2D_MT_rig").names
    assert "ik2d.adopt" not in names and "ik2d.make_native" in names


@pytest.mark.parametrize("cls", OPERATORS, ids=lambda cls: cls.bl_idname)
def test_operators_are_named_after_their_ids_and_undo(cls):
    assert cls.__name__ == "IK2D_OT_" + cls.bl_idname.removeprefix("ik2d.")
    follows_the_mouse = {'GRAB_CURSOR', 'BLOCKING'} if cls is drag.IK2D_OT_drag else set()
    assert cls.bl_options == {'REGISTER', 'UNDO', *follows_the_mouse}
    assert rna_of(cls).description and not rna_of(cls).description.endswith(".")


@pytest.mark.parametrize("cls", OTHER_OPERATORS, ids=lambda cls: cls.bl_idname)
def test_all_operators_are_named_after_their_ids(cls):
    assert cls.__name__ == "IK2D_OT_" + cls.bl_idname.removeprefix("ik2d.")
    assert rna_of(cls).description and not rna_of(cls).description.endswith(".")


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_property_of_ours_has_a_name_and_a_description_without_a_full_stop(cls):
    names = {*getattr(cls, "__annotations__", {})}
    if issubclass(cls, bpy.types.PropertyGroup):  # features hang settings on others' groups
        names |= {*cls.bl_rna.properties.keys()} - {*cls.bl_rna.base.properties.keys()}
    for key in names:
        found = rna_of(cls).properties[key]
        assert found.name and found.name[0].isupper(), key
        if found.type != 'COLLECTION':
            assert found.description and not found.description.endswith("."), key


@pytest.mark.parametrize("cls", [cls for cls in PANELS if cls not in POPOVERS])
def test_every_panel_is_in_the_tab_of_the_sidebar(cls):
    assert (cls.bl_space_type, cls.bl_region_type, cls.bl_category) == ('VIEW_3D', 'UI', "IK 2D")


@pytest.mark.parametrize("cls", [*PANELS, *(cls for cls in MENUS if cls.bl_label != "Chain Presets")])
def test_every_panel_and_menu_has_a_description_without_a_full_stop(cls):
    assert not hasattr(cls, "bl_description")  # Blender takes the docstring
    assert cls.__doc__[0].isupper() and not cls.__doc__.endswith(".")


def test_automatic_says_which_solver_it_takes_and_that_it_keeps_to_limits():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    assert chain.solver == 'AUTO'
    assert panels.solver_name(chain, panels.solver_of(chain)) == "Two-Bone"
    chain.joints[0].use_limit = True
    assert panels.solver_name(chain, 'EVEN') == "Smooth (Least Bend), within limits"
