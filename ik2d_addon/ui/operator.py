# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of operators: why they are greyed out, their reports, and our own errors."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ..core import IK2DError
from ..rig.chain.paths.follow import follow_list
from ..rig.chain.readable import in_words
from .context import active_armature, why_no_chain
from .text import draw_lines, for_settings

_DIALOG_WIDTH = 420
_PLAIN = (bool, int, float, str)


class ChainOperator:
    """An operator whose work is one function: its sentence is reported, and so is why it cannot be done."""

    bl_options = {'REGISTER', 'UNDO'}

    # From a context: why there is nothing to work on, in words; "" where there is.
    why_not = staticmethod(why_no_chain)

    @classmethod
    def poll(cls, context):
        try:
            reason = cls.why_not(context)
            _ = getattr(active_armature(context), "name", "")  # which reports name
        except UnicodeDecodeError as error:
            reason = in_words(error)
        if reason:
            cls.poll_message_set(reason)
        return not reason

    def execute(self, context):
        self.begin_work(context)
        try:
            sentence = self.work(context)
        except IK2DError as error:
            return self.ask(error)
        except UnicodeDecodeError as error:
            return self.refuse(in_words(error))
        if sentence:
            self.report({'INFO'}, sentence)
        return {'FINISHED'}

    def begin_work(self, context):
        """Have keys follow chains that a script has moved, and report those that could not."""
        armature = active_armature(context)
        if armature is not None and armature.type == 'ARMATURE':
            with suppress(UnicodeDecodeError):  # a name that is no text: the work says it
                if follow_list(armature):
                    self.tell_left(armature)

    def tell_left(self, armature):
        """Report the keys that could not follow their chains."""
        self.warn(armature.ik2d.paths_left.splitlines())

    def refuse(self, error: IK2DError | str, level: str = 'ERROR') -> set[str]:
        """Report why nothing was done; return the result of a cancelled operator."""
        self.report({level}, str(error))
        return {'CANCELLED'}

    def ask(self, error: IK2DError) -> set[str]:
        """Refuse, as this operator has no dialog; return the result of a cancelled operator."""
        return self.refuse(error)

    def warn(self, sentences: Iterable[str]) -> None:
        """Report each sentence as a warning."""
        for sentence in sentences:
            self.report({'WARNING'}, sentence)

    def tell(self, sentence: str, warnings: Sequence[str], is_good: bool = True) -> None:
        """Report each warning, then the sentence: the status bar shows the last report."""
        self.warn(warnings)
        self.report({'INFO' if is_good and not warnings else 'WARNING'}, sentence)

    def fill_in(self, values: Iterable[tuple[str, int]]) -> None:
        """Set the properties that the caller left out: then the redo panel shows them."""
        for name, value in values:
            if not self.properties.is_property_set(name):
                setattr(self, name, value)


class AskingOperator(ChainOperator):
    """An operator that a person can cure an error of: it asks for the settings that do, in a dialog.

    The redo panel has them too, but is not there after an error. Scripts get the error.
    """

    question: StringProperty(
        name="Question", description="What is to be cured, in a dialog", options={'SKIP_SAVE', 'HIDDEN'}
    )
    asked: StringProperty(
        name="Asked", description="Names of the settings in the dialog", options={'SKIP_SAVE', 'HIDDEN'}
    )

    _by_hand = False  # whether a person is there to be asked

    def invoke(self, context, event):
        """Open the dialog if there is a question; else do the work."""
        self._by_hand = True
        if self.question:
            return context.window_manager.invoke_props_dialog(self, width=_DIALOG_WIDTH)
        ahead = getattr(super(), "invoke", None)
        return self.execute(context) if ahead is None else ahead(context, event)

    def execute(self, context):
        """Do the work, with what was chosen in the dialog if it is its OK that calls."""
        self._by_hand = self._by_hand or bool(self.question)
        self.question = self.asked = ""  # so that the redo panel does not ask again
        return super().execute(context)

    def draw(self, context):
        """Draw the question with the settings that it is about; in the redo panel all settings."""
        layout = for_settings(self.layout)
        if self.question:
            width = (_DIALOG_WIDTH - 80) * context.preferences.system.ui_scale
            draw_lines(layout.column(align=True), context, self.question, 'ERROR', width)
        shown = [setting.identifier for setting in self.properties.bl_rna.properties if not setting.is_hidden]
        for name in self.asked.split() or shown:
            if name in shown and name != "rna_type":
                layout.prop(self, name)

    def ask(self, error: IK2DError) -> set[str]:
        """Open the dialog for an error that settings of this operator cure; else refuse."""
        if not (error.cures and self._by_hand) or bpy.app.background:
            return self.refuse(error)
        operator = getattr(bpy.ops.ik2d, self.bl_idname.rpartition("_OT_")[2])
        operator('INVOKE_DEFAULT', question=str(error), asked=" ".join(error.cures), **self.given())
        return {'CANCELLED'}

    def given(self) -> dict[str, object]:
        """Return the settings that were given, but for the question and collections."""
        given, values = self.properties, dict[str, object]()
        for setting in given.bl_rna.properties:
            name = setting.identifier
            if setting.type in ('COLLECTION', 'POINTER') or name in ("question", "asked"):
                continue
            if given.is_property_set(name):
                value = getattr(self, name)
                values[name] = value if isinstance(value, _PLAIN) else tuple(value)
        return values


# --- Properties of operators, each as the caller gives it: not as in the last run ---


def chain_name(description: str) -> StringProperty:
    """Return a property for the name of a chain."""
    return StringProperty(name="Chain", description=description, options={'SKIP_SAVE'})


def tick(name: str, description: str) -> BoolProperty:
    """Return a property that is off unless the caller sets it."""
    return BoolProperty(name=name, description=description, default=False, options={'SKIP_SAVE'})


def frame_number(name: str, description: str, default: int) -> IntProperty:
    """Return a property for a frame of a range that the caller may leave to the scene."""
    return IntProperty(name=name, description=description, default=default, options={'SKIP_SAVE'})
