# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender finds our words in the window's language, and not its own."""

import ast
from pathlib import Path

import bpy
import pytest
from foot_rigs import plain_leg
from rigs import add_armature, add_chain, add_target, leg_with_target
from walkers import walker

from ik2d_addon.chains import find_contacts
from ik2d_addon.core.words import say, translate_by
from ik2d_addon.features.drag.drag import Drag
from ik2d_addon.features.native import make_native
from ik2d_addon.features.overlay.contact_bars import contact_bars
from ik2d_addon.rig.chain.chain import problem_of
from ik2d_addon.ui import languages

PACKAGE = Path(languages.__file__).resolve().parents[2]
# What only scripts get to read, on wrong types of arguments, is not translated.
FOR_SCRIPTS = {
    "bake/request.py",
    "bake/asked.py",
    "bake/mechanisms/request.py",
    "features/mechanism/editing.py",
    "bake/actions/arguments.py",
}


def ours(kind):
    """Return our classes of one of Blender's kinds."""
    return [cls for cls in kind.__subclasses__() if cls.__name__.startswith("IK2D_")]


def test_every_label_is_looked_up_in_our_own_context():
    kinds = (bpy.types.Panel, bpy.types.Menu, bpy.types.Operator, bpy.types.UIList)
    classes = [cls for kind in kinds for cls in ours(kind)]
    assert len(classes) > 50
    assert [cls.__name__ for cls in classes if cls.bl_translation_context != languages.CONTEXT] == []
    properties = [found for cls in ours(bpy.types.PropertyGroup) for found in cls.bl_rna.properties]
    others = [
        found.identifier
        for found in properties
        if found.translation_context != languages.CONTEXT and found.identifier not in ("rna_type", "name")
    ]
    assert len(properties) > 100 and others == []


@pytest.mark.slow
def test_no_sentence_is_put_together_without_a_template():
    """What is refused or reported comes from `say`, or Blender cannot be asked for it in a language."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(("core/", "cli/")) or name in FOR_SCRIPTS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                function = ast.unparse(node.func).rpartition(".")[2]
                if function in ("IK2DError", "refuse", "poll_message_set"):
                    shown = node.args[0]
                elif function == "report" and len(node.args) == 2:
                    shown = node.args[1]
                else:
                    continue
                literals = [part for part in ast.walk(shown) if isinstance(part, ast.Constant)]
                is_put_together = isinstance(shown, (ast.JoinedStr, ast.Constant))
                letters = "".join(part.value for part in literals if isinstance(part.value, str))
                assert not (is_put_together and letters.strip("' :;,")), f"{name}:{node.lineno}"


def test_in_the_background_sentences_stay_english():
    assert bpy.app.background
    assert say("Add a chain first") == "Add a chain first"


@pytest.mark.skipif(not bpy.app.build_options.international, reason="this Blender speaks English alone")
@pytest.mark.parametrize("name, compress", [("de_DE", "Kürzeste Länge"), ("ja_JP", "最短の長さ")])
def test_blender_shows_our_words(name, compress):
    view = bpy.context.preferences.view
    view.language = name
    view.use_translate_interface = view.use_translate_tooltips = True
    translate_by(languages.in_users_language)
    try:
        setting = bpy.types.PropertyGroup.bl_rna_get_subclass_py("IK2D_PG_chain").bl_rna.properties[
            "compress"
        ]
        look_up = bpy.app.translations.pgettext_iface
        assert look_up(setting.name, setting.translation_context) == compress
        known = languages.catalogue(name)
        assert bpy.app.translations.pgettext_tip(setting.description) == known["*", setting.description]
        sentence = say("Added chain '{chain}'. {problem}", chain="leg", problem="")
        assert sentence == known["IK2D", "Added chain '{chain}'. {problem}"].format(chain="leg", problem="")
        assert say("A toy's text of {count} words", count=5) == "A toy's text of 5 words"
    finally:
        translate_by()
        view.language = 'en_US'


@pytest.fixture
def starred():
    """Speak a language that has all our texts, each with a star before it."""
    translate_by(lambda template: f"*{template}")
    yield
    translate_by()


def test_the_outcome_of_a_drag_is_in_the_users_language(starred):
    armature, _ = leg_with_target()
    drag = Drag(bpy.context.scene, armature, armature.ik2d.chains[0])
    drag.to((0.0, 0.0))
    assert drag.outcome() == "*reached" and drag.has_reached
    drag.to((9.0, 0.0))
    assert drag.outcome().startswith("*out of reach by ") and not drag.has_reached


@pytest.mark.slow
def test_the_bars_of_contacts_are_named_in_the_users_language(starred):
    made = walker()
    find_contacts(made.armature)
    bars = contact_bars(made.armature.ik2d.chains["shin.L"], bpy.context.scene)
    assert [words for words, _ in bars.rows] == ["*Heel", "*Toes"]


def test_names_of_objects_are_the_same_in_all_languages(starred):
    leg = plain_leg()
    before = set(bpy.data.objects)
    make_native(leg.armature, leg.chain)
    names = {ob.name for ob in set(bpy.data.objects) - before}
    assert any(name.endswith("toe tip") for name in names) and not any("*" in name for name in names)


@pytest.mark.slow
def test_blender_translates_no_text_a_second_time():
    """A sentence's last word alone on a line, or a bone's name, may be a label of Blender's own."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                given = {word.arg: ast.unparse(word.value) for word in node.keywords}
                if given.get("text", "''") != "''" and not isinstance(node.func.value, ast.Call):
                    assert given.get("translate") == "False", f"{path.name}:{node.lineno}"


def test_a_plane_that_a_chain_cannot_bend_in_is_said_in_the_users_language(starred):
    armature = add_armature({"a": ((0, 0, 0), (0, 0, 1), "", 0.0)})
    said = problem_of(armature, add_chain(armature, "a", add_target({}), bone_count=1, plane='Z'))
    assert said == "*Chain 'a': *the chain is at right angles to its plane; set Bends In to another plane"
