# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of operators: why they are greyed out, their reports, and our own errors."""

from collections.abc import Iterable, Sequence

from bpy.props import BoolProperty, IntProperty, StringProperty

from ..core import IK2DError
from ..rig.chain.readable import in_words
from .context import active_armature, why_no_chain


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
        try:
            sentence = self.work(context)
        except IK2DError as error:
            return self.refuse(error)
        except UnicodeDecodeError as error:
            return self.refuse(in_words(error))
        if sentence:
            self.report({'INFO'}, sentence)
        return {'FINISHED'}

    def refuse(self, error: IK2DError | str, level: str = 'ERROR') -> set[str]:
        """Report why nothing was done; return the result of a cancelled operator."""
        self.report({level}, str(error))
        return {'CANCELLED'}

    def tell(self, sentence: str, warnings: Sequence[str], is_good: bool = True) -> None:
        """Report each warning, then the sentence: the status bar shows the last report."""
        for warning in warnings:
            self.report({'WARNING'}, warning)
        self.report({'INFO' if is_good and not warnings else 'WARNING'}, sentence)

    def fill_in(self, values: Iterable[tuple[str, int]]) -> None:
        """Set the properties that the caller left out: then the redo panel shows them."""
        for name, value in values:
            if not self.properties.is_property_set(name):
                setattr(self, name, value)


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
