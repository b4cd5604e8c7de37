# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the reference in docs/python.md from the docstrings of the faces that scripts import.

    python tools/python_reference.py

It reads the source and imports none of it.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "python.md"
START = "\n## Reference\n"
FACES = ("ik2d_addon/chains.py", "ik2d_addon/bake/__init__.py", "ik2d_addon/core/__init__.py")
WIDTH = 100  # of a signature
Definition = ast.FunctionDef | ast.ClassDef


def reference() -> str:
    """Return the reference: for each face its public names, with signature and docstring."""
    parts = [
        START,
        "Written by `tools/python_reference.py` from the docstrings. *(n, 2)* is an array's shape.\n",
    ]
    for face in (ROOT / name for name in FACES):
        tree = parsed(face)
        parts.append(f"### {dotted(face)}\n\n{prose(tree)}")
        for name in public(tree):
            parts.append(f"#### {name}\n\n{described(*definition(face, name))}")
    return "\n".join(parts)


def parsed(path: Path) -> ast.Module:
    """Return a source file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def dotted(path: Path) -> str:
    """Return a source file's name as a module."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def public(tree: ast.Module) -> list[str]:
    """Return the names in a module's `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return list(ast.literal_eval(node.value))
    raise ValueError("a face has an __all__")


def definition(path: Path, name: str) -> tuple[Definition, list[str]]:
    """Return the function or class that a module defines or imports under a name, and its file's lines."""
    tree = parsed(path)
    for node in tree.body:
        if isinstance(node, Definition) and node.name == name:
            return node, path.read_text(encoding="utf-8").split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and name in {alias.asname or alias.name for alias in node.names}:
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            return definition(folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py"), name)
    raise LookupError(f"{dotted(path)} has no {name}")


def described(node: Definition, lines: list[str]) -> str:
    """Return a definition's signature, docstring and, of a class, its methods and properties."""
    if isinstance(node, ast.FunctionDef):
        return f"```python\n{signature(node)}\n```\n\n{prose(node)}"
    rows = [*members(node)]
    text = f"```python\n{declaration(node, lines)}\n```\n\n{prose(node)}"
    return text + "\n" + "\n".join([*rows, ""]) if rows else text


def signature(node: ast.FunctionDef) -> str:
    """Return a function's signature, with a line for each argument where one line is too long."""
    short = f"{node.name}({', '.join(arguments(node.args))}){returned(node)}"
    if len(short) <= WIDTH:
        return short
    return "\n".join(
        [f"{node.name}(", *(f"    {one}," for one in arguments(node.args)), f"){returned(node)}"]
    )


def declaration(node: ast.ClassDef, lines: list[str]) -> str:
    """Return a class with its fields, as they are in its file, with their comments."""
    fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and is_public(one.target)]
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    head = f"class {node.name}({bases})" if bases else f"class {node.name}"
    if not fields:
        return head
    first = fields[0].lineno - 1
    while lines[first - 1].startswith("    #"):
        first -= 1
    return "\n".join([f"{head}:", *lines[first : fields[-1].end_lineno]])


def returned(node: ast.FunctionDef) -> str:
    """Return the arrow and the type that a function returns, or nothing."""
    return f" -> {ast.unparse(node.returns)}" if node.returns else ""


def arguments(args: ast.arguments) -> list[str]:
    """Return a function's arguments, each with its type and default."""
    plain = [*args.posonlyargs, *args.args]
    missing = [None] * (len(plain) - len(args.defaults))
    found = [one(arg, value) for arg, value in zip(plain, [*missing, *args.defaults], strict=True)]
    if args.kwonlyargs:
        found.append(f"*{args.vararg.arg}" if args.vararg else "*")
    return found + [one(arg, value) for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True)]


def one(arg: ast.arg, value: ast.expr | None) -> str:
    """Return an argument with its type and default."""
    text = ast.unparse(arg)
    return text if value is None else f"{text} = {ast.unparse(value)}"


def is_public(node: ast.expr) -> bool:
    """Return whether a name has no underscore in front."""
    return isinstance(node, ast.Name) and not node.id.startswith("_")


def members(node: ast.ClassDef) -> Iterator[str]:
    """Yield a line for each public method and property of a class, and for each member of an enumeration."""
    for inner in node.body:
        if isinstance(inner, ast.Assign) and is_public(inner.targets[0]):
            yield f"- `{ast.unparse(inner)}`"
        if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_"):
            decorators = {ast.unparse(decorator) for decorator in inner.decorator_list}
            inside = "" if decorators & {"property", "cached_property"} else f"({own(inner)})"
            yield f"- `{inner.name}{inside}{returned(inner)}`: {in_one_line(inner)}"


def own(node: ast.FunctionDef) -> str:
    """Return a method's arguments without `self`."""
    return ", ".join(one for one in arguments(node.args) if one not in ("self", "cls"))


def names_in(node: ast.Module | Definition) -> set[str]:
    """Return the names that a docstring explains: of arguments or of fields."""
    if isinstance(node, ast.FunctionDef):
        return {arg.arg for arg in (*node.args.args, *node.args.kwonlyargs)}
    return {ast.unparse(one.target) for one in node.body if isinstance(one, ast.AnnAssign)}


def in_one_line(node: ast.FunctionDef) -> str:
    """Return the docstring of a method or property as one line of Markdown, without its examples."""
    blocks = (ast.get_docstring(node) or "").split("\n\n")
    return " ".join(flowing(marked(node, block)) for block in blocks if not block.startswith(">>>"))


def marked(node: ast.Module | Definition, block: str) -> str:
    """Return a paragraph with the names that it explains as code."""
    names = "|".join(sorted(names_in(node)))
    return re.sub(rf"(?<![\w`])({names})(?=:|(?:,\s+\w+)+:)", r"`\1`", block) if names else block


def prose(node: ast.Module | Definition) -> str:
    """Return a docstring as Markdown: paragraphs, and code and examples as blocks."""
    parts = []
    for block in (ast.get_docstring(node) or "").split("\n\n"):
        if block.startswith(">>>"):
            parts.append(f"```pycon\n{block}\n```")
        elif block.startswith("    "):
            lines = "\n".join(line.removeprefix("    ") for line in block.split("\n"))
            parts.append(f"```python\n{lines}\n```")
        else:
            parts.append(flowing(marked(node, block)))
    return "\n\n".join(parts) + "\n"


def flowing(block: str) -> str:
    """Return a paragraph as one line, whose signs are no Markdown outside of code."""
    text = " ".join(line.strip() for line in block.split("\n"))
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece[:1] == "`" else re.sub(r"([*<])", r"\\\1", piece) for piece in pieces)


def current(page: str) -> str:
    """Return the page with the reference as the docstrings have it now."""
    return page.partition(START)[0] + reference()


if __name__ == "__main__":
    PAGE.write_text(current(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
