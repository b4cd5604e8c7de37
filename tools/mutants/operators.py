# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be changed in one place of the code: node -> (operator's name, node instead of it)."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

Change = tuple[str, ast.AST]

BORDERS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
OPPOSITES = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
# Either way round.
TWINS = [("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all")]
TWIN = {name: other for pair in TWINS for name, other in (pair, pair[::-1])}
# What a function returns that has nothing to say, by its annotation; None for any other.
NOTHING = {
    "bool": "False",
    "int": "0",
    "float": "0.0",
    "str": "''",
    "list": "[]",
    "tuple": "()",
    "dict": "{}",
}


@dataclass(frozen=True)
class Surroundings:
    """Where a node stands."""

    is_condition: bool = False  # of an `if`, wherever it is
    returns: ast.expr | None = None  # the annotation of the function around


def changes(node: ast.AST, around: Surroundings) -> Iterator[Change]:
    """Yield everything that can stand in a node's place; what is in the node is left as it is."""
    for kind, rule in RULES.items():
        if isinstance(node, kind):
            yield from rule(node)
    if around.is_condition and not isinstance(node, ast.Constant):
        yield "condition", ast.Constant(True)
        yield "condition", ast.Constant(False)
    if isinstance(node, ast.Return):
        yield from _returns(node, around.returns)


def _comparisons(node: ast.Compare) -> Iterator[Change]:
    for name, table in (("border", BORDERS), ("opposite", OPPOSITES)):
        for i, operator in enumerate(node.ops):
            if other := table.get(type(operator)):
                operators = [*node.ops[:i], other(), *node.ops[i + 1 :]]
                yield name, ast.Compare(node.left, operators, node.comparators)


def _arithmetic(node: ast.BinOp) -> Iterator[Change]:
    if other := ARITHMETIC.get(type(node.op)):
        yield "arithmetic", ast.BinOp(node.left, other(), node.right)


def _augmented(node: ast.AugAssign) -> Iterator[Change]:
    if other := ARITHMETIC.get(type(node.op)):
        yield "augmented", ast.AugAssign(node.target, other(), node.value)


def _unary(node: ast.UnaryOp) -> Iterator[Change]:
    if not isinstance(node.op, ast.UAdd):
        yield {ast.USub: "minus", ast.Not: "not", ast.Invert: "invert"}[type(node.op)], node.operand


def _logic(node: ast.BoolOp) -> Iterator[Change]:
    yield "logic", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    for i in range(len(node.values)):
        left = node.values[:i] + node.values[i + 1 :]
        yield "part", left[0] if len(left) == 1 else ast.BoolOp(node.op, left)


def _constants(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int | float):
        yield "constant", ast.Constant(value * 2.0 if isinstance(value, float) and value else value + 1)
        if value:
            yield "constant", ast.Constant(type(value)(0))


def _twins(node: ast.Call) -> Iterator[Change]:
    match node.func:
        case ast.Name(id=name) if name in TWIN:
            yield "twin", ast.Call(ast.Name(TWIN[name], ast.Load()), node.args, node.keywords)
        case ast.Attribute(value=value, attr=name) if name in TWIN:
            twin = ast.Attribute(value, TWIN[name], ast.Load())
            yield "twin", ast.Call(twin, node.args, node.keywords)


def _statements(node: ast.Expr) -> Iterator[Change]:
    if isinstance(node.value, ast.Call):
        yield "statement", ast.Pass()


def _returns(node: ast.Return, annotation: ast.expr | None) -> Iterator[Change]:
    """Yield a return of nothing, and of a call's first argument instead of the call."""
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    name = annotation.id if isinstance(annotation, ast.Name) else ""
    nothing = ast.parse(NOTHING.get(name, "None"), mode="eval").body
    if ast.dump(node.value or ast.Constant(None)) != ast.dump(nothing):
        yield "return", ast.Return(nothing)
    elif name == "bool":
        yield "return", ast.Return(ast.Constant(True))
    match node.value:
        case ast.Call(args=[first, *_]) if not isinstance(first, ast.Starred | ast.GeneratorExp):
            yield "return", ast.Return(first)


RULES = {
    ast.Compare: _comparisons,
    ast.BinOp: _arithmetic,
    ast.AugAssign: _augmented,
    ast.UnaryOp: _unary,
    ast.BoolOp: _logic,
    ast.Constant: _constants,
    ast.Call: _twins,
    ast.Expr: _statements,
}
