# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers about an armature's chains, kept until an edit of what they are read from.

Blender tags what is edited: until it evaluates again a depsgraph knows the types of the tagged data-blocks,
then it names them. The custom numbers of a native chain's controls leave no tag where a script sets them:
they are compared. So is `version` by whoever asks: adding and removing chains leaves no tag either.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.types import ID, Depsgraph, Object, Scene

from ..rig.chain.fingerprint import followed_by, holders_of
from ..rig.chain.native_state import controls_of

# Types of data-blocks that answers are read from, and those that are tagged where objects come or go.
_READ, _RELINKED = ('OBJECT', 'ACTION', 'ARMATURE'), ('SCENE', 'COLLECTION')


@dataclass(frozen=True)
class _Kept:
    """An answer, and what it was read from."""

    answer: Any
    version: Any
    blocks: frozenset[int]  # session_uids
    actions: list[tuple[Object, int]]  # objects, each with the session_uid of its action, or 0
    numbers: list[tuple[Object, Any]]  # empties that have custom numbers, with these
    of_the_frame: bool


_kept: dict[tuple[int, str], _Kept] = {}


def kept(
    armature: Object,
    question: str,
    version: Any,
    work: Callable[[], Any],
    *,
    with_targets: bool,
    of_the_frame: bool = False,
    of_actions: bool = False,
) -> Any:
    """Return the answer of `work` to a question about an armature's chains, asked again only after an edit.

    version: what else the answer depends on, compared with that of the last time. with_targets: whether it
    is read from the chains' targets and controls too, not from the armature alone. of_the_frame: whether
    it is asked again after a change of frame too. of_actions: whether it is read from all actions of the file
    instead, wherever objects are.
    """
    if not _handlers_are_on() or _is_tagged(bpy.context.view_layer.depsgraph, (*_READ, *_RELINKED)):
        return work()
    key = armature.session_uid, question
    known = _kept.get(key)
    if known is None or known.version != version or not _same(_numbers, known.numbers):
        answer, objects = work(), {armature, *(_others(armature) if with_targets else ())}
        read = (
            (armature.data, *bpy.data.actions) if of_actions else chain.from_iterable(map(_blocks, objects))
        )
        blocks = frozenset(block.session_uid for block in read)
        actions = [(ob, _action(ob)) for ob in objects]
        numbers = [(ob, numbers_of_it) for ob in objects if (numbers_of_it := _numbers(ob))]
        _kept[key] = known = _Kept(answer, version, blocks, actions, numbers, of_the_frame)
    return known.answer


def _others(armature: Object) -> Iterator[Object]:
    """Yield what an armature's chains follow with its parents, and the controls of native ones."""
    for one in armature.ik2d.chains:
        for node in followed_by(one):
            for ob, _ in holders_of(*node):
                yield ob
        controls = controls_of(one)
        if controls is not None:
            yield controls


def _blocks(ob: Object) -> Iterator[ID]:
    """Yield an object with its data and its action."""
    yield ob
    if ob.data is not None:
        yield ob.data
    if ob.animation_data is not None and ob.animation_data.action is not None:
        yield ob.animation_data.action


def _action(ob: Object) -> int:
    """Return the session_uid of an object's action, or 0."""
    action = ob.animation_data and ob.animation_data.action
    return action.session_uid if action else 0


def _numbers(ob: Object) -> list[tuple[str, float]]:
    """Return the custom numbers of an empty, as controls are, each with its name."""
    items = ob.items() if ob.type == 'EMPTY' else ()
    return [(name, value) for name, value in items if isinstance(value, int | float)]


def _same(read: Callable[[Object], Any], seen: list[tuple[Object, Any]]) -> bool:
    """Return whether objects still have what was seen of them."""
    try:
        return all(read(ob) == before for ob, before in seen)
    except ReferenceError:  # an object is gone
        return False


# --- Edits -------------------------------------------------------------------


def _is_tagged(depsgraph: Depsgraph | None, types: tuple[str, ...]) -> bool:
    """Return whether data-blocks of these types are tagged and not yet evaluated."""
    return depsgraph is None or any(depsgraph.id_type_updated(name) for name in types)


@persistent
def _forget(*_: Any) -> None:
    _kept.clear()


@persistent
def _updated(_scene: Scene, depsgraph: Depsgraph | None = None) -> None:
    """Forget what was read from the updated data-blocks."""
    if not _kept:
        return
    if depsgraph is None:
        return _kept.clear()
    updated = {update.id.original.session_uid for update in depsgraph.updates}
    for key in [key for key, known in _kept.items() if not known.blocks.isdisjoint(updated)]:
        del _kept[key]


@persistent
def _frame_changes(_scene: Scene, depsgraph: Depsgraph | None = None) -> None:
    """Forget answers of the frame; others where a script left tags, which are lost among those of animation.

    A scene is tagged where its frame changes, and where a script takes an action off an object.
    """
    if not _kept:
        return
    depsgraph = depsgraph or bpy.context.view_layer.depsgraph
    edited, relinked = _is_tagged(depsgraph, _READ), _is_tagged(depsgraph, _RELINKED)
    for key, known in list(_kept.items()):
        if edited or known.of_the_frame or relinked and not _same(_action, known.actions):
            del _kept[key]


_HANDLERS = (
    ("depsgraph_update_post", _updated),
    ("frame_change_pre", _frame_changes),
    ("undo_post", _forget),
    ("redo_post", _forget),
    ("load_post", _forget),
)


def _handlers_are_on() -> bool:
    """Return whether Blender calls the handlers here: a render or a script may have taken them out."""
    return all(function in getattr(bpy.app.handlers, name) for name, function in _HANDLERS)


def register() -> None:
    """Hear of edits."""
    for name, function in _HANDLERS:
        getattr(bpy.app.handlers, name).append(function)


def unregister() -> None:
    """Hear of none, and forget all."""
    for name, function in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(function)
    _kept.clear()
