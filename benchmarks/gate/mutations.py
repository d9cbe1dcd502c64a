"""Possible single changes of a module.

In functions: comparisons, operators, constants, ``min`` or ``max``, conditions, signs,
statements. In module tables: dropped or exchanged entries.
"""

from __future__ import annotations

import ast
import copy
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

COMPILED_ONLY = {"intrinsic", "overload"}  # functions that never run uncompiled
IN_FUNCTIONS = 3  # kinds of changes there; those of tables come after
_SWAPS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}


def find_mutants(source: str) -> list[tuple[int, int, range, str]]:
    """Return each change's node, kind, lines and text."""
    tree, found = ast.parse(source), []
    inside, lines, tables = _find_inside(tree), _find_lines(tree), _find_tables(tree)
    for number, node in enumerate(ast.walk(tree)):
        kinds = range(
            IN_FUNCTIONS if id(node) in inside and hasattr(node, "lineno") else 0
        )
        if id(node) in tables:
            kinds = range(IN_FUNCTIONS, IN_FUNCTIONS + 2 * _count_entries(node))
        for kind in kinds:
            what = _change(copy.deepcopy(node), kind)
            if what:
                what = f"{node.lineno}: {what}"
                found.append((number, kind, lines[id(node)], what))
    return found


def make_mutant(source: str, number: int, kind: int) -> ast.Module:
    """Return a module with one changed node."""
    tree = ast.parse(source)
    _change(next(n for k, n in enumerate(ast.walk(tree)) if k == number), kind)
    return ast.fix_missing_locations(tree)


def plant(module: ModuleType, tree: ast.Module, path: str) -> None:
    """Replace a module's functions and tables by a changed one's.

    ``tree`` is the changed module, ``path`` its file.
    """
    codes = {_name(code): code for code in _find_codes(compile(tree, path, "exec"))}
    for function in _find_functions(path):
        function.__code__ = codes[_name(function.__code__)]
    for user in _make_anew(module, tree):
        _make_anew(user, ast.parse(Path(str(user.__file__)).read_text()))


def _make_anew(module: ModuleType, tree: ast.Module) -> list[ModuleType]:
    made, users = dict(vars(module)), []
    parts = [part for part in tree.body if isinstance(part, ast.Assign | ast.AnnAssign)]
    exec(compile(ast.Module(parts, []), module.__name__, "exec"), made)
    for name, old in list(vars(module).items()):
        if not isinstance(old, int | dict | frozenset | tuple) or made[name] == old:
            continue
        setattr(module, name, made[name])
        for user in list(sys.modules.values()):
            for key, value in list(getattr(user, "__dict__", {}).items()):
                if value is old and not isinstance(old, int):
                    setattr(user, key, made[name])
                    users.append(user)
    return users


def _find_codes(code: CodeType) -> Iterator[CodeType]:
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from _find_codes(part)


def _find_functions(path: str) -> list[FunctionType]:
    return [
        part
        for part in gc.get_objects()
        if isinstance(part, FunctionType) and part.__code__.co_filename == path
    ]


def _name(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _find_inside(tree: ast.Module) -> set[int]:
    inside: set[int] = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and not _is_compiled_only(function):
            for part in function.body:
                is_text = isinstance(part, ast.Expr) and isinstance(
                    part.value, ast.Constant
                )
                if not is_text and not isinstance(part, ast.FunctionDef):
                    inside |= {id(n) for n in ast.walk(part)}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and _is_compiled_only(function):
            inside -= {id(n) for n in ast.walk(function)}  # those in it, too
    for part in ast.walk(tree):
        hints = (getattr(part, name, None) for name in ("annotation", "returns"))
        left_out = [hint for hint in hints if hint is not None]
        if isinstance(part, ast.Raise | ast.JoinedStr):
            left_out.append(part)
        for hint in left_out:
            inside -= {id(n) for n in ast.walk(hint)}
    return inside


def _find_lines(tree: ast.Module) -> dict[int, range]:
    lines = {}
    for part in ast.walk(tree):  # outer ones first
        if isinstance(part, ast.stmt):
            span = range(part.lineno, (part.end_lineno or part.lineno) + 1)
            lines.update({id(node): span for node in ast.walk(part)})
    return lines


def _find_tables(tree: ast.Module) -> set[int]:
    tables = set()
    for part in tree.body:
        value = getattr(part, "value", None)
        if isinstance(part, ast.Assign | ast.AnnAssign) and value is not None:
            value = value.args[0] if isinstance(value, ast.Call) else value
            if isinstance(value, ast.Dict | ast.Set | ast.Tuple):
                tables.add(id(value))
    return tables


def _count_entries(table: ast.AST) -> int:
    return len(table.keys if isinstance(table, ast.Dict) else table.elts)


def _is_compiled_only(function: ast.FunctionDef) -> bool:
    names = {n.id for d in function.decorator_list for n in ast.walk(d)
             if isinstance(n, ast.Name)}  # fmt: skip
    return bool(names & COMPILED_ONLY)


def _change(node: ast.AST, kind: int) -> str:
    before = ast.unparse(node)
    if kind >= IN_FUNCTIONS:
        return _change_table(node, *divmod(kind - IN_FUNCTIONS, 2))
    if kind == 0:
        _change_operator(node)
    elif kind == 1:
        _change_value(node)
    else:
        _change_statement(node)
    after = ast.unparse(node)
    first = before.splitlines()[0]
    return "" if after == before else f"{first}  ->  {after.splitlines()[0]}"


def _change_operator(node: ast.AST) -> None:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPS:
        node.ops[0] = _SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        node.op = _SWAPS.get(type(node.op), type(node.op))()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        node.op = ast.UAdd() if isinstance(node.op, ast.USub) else ast.Not()
        if isinstance(node.op, ast.Not):
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        swap = {"min": "max", "max": "min", "abs": "float"}
        node.func.id = swap.get(node.func.id, node.func.id)


def _change_value(node: ast.AST) -> None:
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node.value, int):
        node.value += 1
    elif isinstance(node.value, float):
        node.value = 2.0 * node.value + (1.0 if node.value == 0.0 else 0.0)


def _change_statement(node: ast.AST) -> None:
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    for name in ("body", "orelse"):
        body = getattr(node, name, None)
        if isinstance(body, list) and not isinstance(node, ast.FunctionDef):
            for k, part in enumerate(body):
                if isinstance(part, ast.AugAssign) or (
                    isinstance(part, ast.Expr) and isinstance(part.value, ast.Call)
                ):
                    body[k] = ast.Pass()


def _change_table(table: ast.AST, entry: int, is_turned: bool) -> str:
    if not isinstance(table, ast.Dict):
        return "" if is_turned else f"without {ast.unparse(table.elts.pop(entry))}"
    key, value = table.keys[entry], table.values[entry]
    name = ast.unparse(key or value)
    if not is_turned:
        del table.keys[entry], table.values[entry]
        return f"without {name}"
    before = ast.unparse(value)
    others = [v for k, v in zip(table.keys, table.values, strict=True)
              if k and key and ast.unparse(v) != before]  # fmt: skip
    if not others:
        return ""
    table.values[entry] = others[entry % len(others)]
    return f"{name}: {before}  ->  {ast.unparse(table.values[entry])}"
