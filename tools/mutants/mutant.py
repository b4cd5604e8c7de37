# SPDX-License-Identifier: GPL-3.0-or-later
"""One mutant: a place in a source file and what stands there instead."""

import ast
import difflib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from .operators import Surroundings, changes

ROOT = Path(__file__).resolve().parent.parent.parent
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# No behaviour to test: annotations, decorators, imports, and what is said in an error.
SKIPPED_FIELDS = {"annotation", "returns", "decorator_list", "type_comment"}
SKIPPED_NODES = (ast.Import, ast.ImportFrom, ast.Raise)


@dataclass(frozen=True)
class Mutant:
    """A change of one node. `number` tells apart those of one operator at one place."""

    path: str  # below the repository's root
    line: int
    column: int
    operator: str
    number: int
    before: str
    after: str
    first: int  # the lines of the statement around, without those in its body
    last: int
    at_import: bool  # runs when the module is imported, not when a function is called

    @property
    def name(self) -> str:
        """The same for the same source: path:line:column:operator:number."""
        return f"{self.path}:{self.line}:{self.column}:{self.operator}:{self.number}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}  {self.before} -> {self.after}"


@dataclass(frozen=True)
class Slot:
    """Where a node hangs in the tree, and what is around it."""

    put: Callable[[ast.AST], None]
    node: ast.AST
    around: Surroundings
    statement: ast.stmt | None = None
    text: ast.JoinedStr | None = None  # the f-string around, within which places are not told apart
    at_import: bool = True


def mutants_of(path: str, source: str) -> list[Mutant]:
    """Return all mutants of a source file, in its order."""
    return [mutant for mutant, _, _ in _found(path, ast.parse(source))]


def mutated(mutant: Mutant, source: str) -> ast.Module:
    """Return the source's tree with the one change in it."""
    tree = ast.parse(source)
    for found, slot, node in _found(mutant.path, tree):
        if found.name == mutant.name:
            slot.put(ast.copy_location(node, slot.node))
            return ast.fix_missing_locations(tree)
    raise LookupError(f"{mutant.name} is not in the source: it has changed")


def diff(mutant: Mutant, source: str) -> str:
    """Return the change as a diff of the code without its comments and line breaks."""
    before, after = (ast.unparse(tree).splitlines() for tree in (ast.parse(source), mutated(mutant, source)))
    return "\n".join(difflib.unified_diff(before, after, mutant.path, mutant.path, lineterm=""))


def _found(path: str, tree: ast.Module) -> Iterator[tuple[Mutant, Slot, ast.AST]]:
    """Yield each mutant, where its node hangs, and the node to hang there instead."""
    seen: Counter[tuple] = Counter()
    for slot in _slots(tree, Slot(lambda node: None, tree, Surroundings())):
        place = slot.text or slot.node
        for operator, node in changes(slot.node, slot.around):
            key = place.lineno, place.col_offset, operator
            first, last = _lines(slot.statement)
            before, after = ast.unparse(slot.node), ast.unparse(ast.fix_missing_locations(node))
            yield Mutant(path, *key, seen[key], before, after, first, last, slot.at_import), slot, node
            seen[key] += 1


def _slots(parent: ast.AST, own: Slot) -> Iterator[Slot]:
    """Yield a slot for each node below a parent, from the top down, left to right."""
    for field, value in ast.iter_fields(parent):
        if field in SKIPPED_FIELDS:
            continue
        for i, node in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(node, ast.AST) and not _is_skipped(node):
                slot = _slot(parent, field, i if isinstance(value, list) else None, node, own)
                yield slot
                yield from _slots(node, slot)


def _slot(parent: ast.AST, field: str, index: int | None, node: ast.AST, own: Slot) -> Slot:
    """Return the slot of a node in a field of its parent, whose own slot is given."""

    def put(new: ast.AST) -> None:
        if index is None:
            setattr(parent, field, new)
        else:
            getattr(parent, field)[index] = new

    condition = (field == "test" and isinstance(parent, ast.If | ast.IfExp)) or field == "ifs"
    in_body = field == "body" and isinstance(parent, FUNCTIONS)
    return replace(
        own,
        put=put,
        node=node,
        around=Surroundings(condition, parent.returns if in_body else own.around.returns),
        statement=node if isinstance(node, ast.stmt) else own.statement,
        text=own.text or (node if isinstance(node, ast.JoinedStr) else None),
        at_import=own.at_import and not in_body,
    )


def _is_skipped(node: ast.AST) -> bool:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.If(test=ast.Attribute(attr="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.keyword(arg="strict"):  # of zip(): a check of our own
            return True
    return isinstance(node, SKIPPED_NODES)


def _lines(statement: ast.stmt) -> tuple[int, int]:
    """Return the first and last line of a statement, but for those of its body."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if body else statement.end_lineno
    return statement.lineno, max(last, statement.lineno)
