"""Mutation tests of the gate: change one thing, and see whether a test notices.

``python -m benchmarks.mutants --sample 300`` draws mutants by seed; without it, all of
them run. Kernels run uncompiled. A mutant changes one comparison, operator, constant,
``min`` or ``max``, condition, sign or statement inside a function. Each runs in a fork
of a process that has everything foreign imported, against the tests of its module,
quickest first, until one fails; a mutant that takes too long counts as killed. Exits
with 1 if fewer are killed than ``--least``.

Survivors seen that change nothing a command shows: a start of a running minimum above
all that can follow (``rate = 1 / h``); what tells rounding from a number (``_ROUNDING``
and its scale, ``1e-12``), far below what moves; a second clamp behind a first one, kept
for rounding.
"""

from __future__ import annotations

import os

os.environ["NUMBA_DISABLE_JIT"] = "1"  # before anything imports Numba

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import io
import random
import resource
import signal
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import coal  # noqa: F401 - slow to import, so before any fork
import mujoco  # noqa: F401
import numba.extending  # noqa: F401
import pinocchio  # noqa: F401
import pydantic  # noqa: F401
import pytest
import scipy.optimize  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]
TESTS = "tests/paprle/gate/"
FAST = [f"{TESTS}test_{name}.py" for name in ("toys", "parts", "inputs", "slide")]
JOINTS = [f"{TESTS}test_gate.py"]
LOOP = [f"{TESTS}test_controller.py", "tests/faults/test_follower_faults.py"]
MODULES = {
    "limits": [*FAST[:2], f"{TESTS}test_moving_goals.py", *JOINTS],
    "step": [*FAST, *JOINTS],
    "clearance": [*FAST, *JOINTS],
    "tools": [*FAST, f"{TESTS}test_tools.py"],
    "gate": [*FAST, *JOINTS],
    "slide": FAST[::-1],
    "watches": LOOP,
    "states": LOOP,
    "controller": LOOP,
}
FAST_ONES = "not nightly and not long"
MEMORY = 6 << 30  # [B] a mutant that takes more is broken
PATIENCE = 150  # [s] a mutant that takes longer hangs
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


def find_mutants(source: str) -> list[tuple[int, int, str]]:
    """Return number of node, kind of change, and what is changed, in words."""
    tree, found = ast.parse(source), []
    inside = _find_inside(tree)
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in inside and hasattr(node, "lineno"):
            for kind in range(3):
                what = _change(copy.deepcopy(node), kind)
                if what:
                    found.append((number, kind, f"{node.lineno}: {what}"))
    return found


def make_mutant(source: str, number: int, kind: int) -> str:
    """Return a whole source with one node changed."""
    tree = ast.parse(source)
    _change(next(n for k, n in enumerate(ast.walk(tree)) if k == number), kind)
    return ast.unparse(tree)


def _find_inside(tree: ast.Module) -> set[int]:
    """Return ids of nodes in functions that are no docstring, annotation or message."""
    inside: set[int] = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for part in function.body:
                is_text = isinstance(part, ast.Expr) and isinstance(
                    part.value, ast.Constant
                )
                if not is_text and not isinstance(part, ast.FunctionDef):
                    inside |= {id(n) for n in ast.walk(part)}
    for part in ast.walk(tree):
        hints = (getattr(part, name, None) for name in ("annotation", "returns"))
        left_out = [hint for hint in hints if hint is not None]
        if isinstance(part, ast.Raise | ast.JoinedStr):
            left_out.append(part)
        for hint in left_out:
            inside -= {id(n) for n in ast.walk(hint)}
    return inside


def _change(node: ast.AST, kind: int) -> str:
    """Change a node in place; return what was done, "" if nothing was."""
    before = ast.unparse(node)
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


class _Planter(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a given source."""

    def __init__(self, name: str, source: str) -> None:
        self.name, self.source = name, source

    def find_spec(self, fullname: str, _path: object, _target: object = None):
        if fullname != self.name:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin="mutant")

    def exec_module(self, module) -> None:
        exec(compile(self.source, "mutant", "exec"), module.__dict__)


def survives(name: str, source: str, tests: list[str]) -> bool:
    """Tell whether all tests pass with a module replaced, in a fork."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(PATIENCE)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os._exit(_run(name, source, tests))
    _, status = os.waitpid(pid, 0)
    return status == 0


def _run(name: str, source: str, tests: list[str]) -> int:
    if source:
        sys.meta_path.insert(0, _Planter(f"paprle.gate.{name}", source))
    options = [
        "-x",
        "-q",
        "-p",
        "no:randomly",
        "-p",
        "no:cacheprovider",
        "-m",
        FAST_ONES,
    ]
    options += ["--hypothesis-seed=0", "--timeout=0"]
    sink = io.StringIO()
    with redirect_stdout(sink), redirect_stderr(sink):
        code = int(pytest.main([*options, *tests]))
    if not source and code:
        sys.stderr.write(sink.getvalue())
    return code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", nargs="*", default=list(MODULES))
    parser.add_argument("--sample", type=int, help="how many, drawn by seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=float, default=0.95, help="share to be killed")
    args = parser.parse_args()
    os.chdir(ROOT)
    mutants, sources = [], {}
    for name in args.modules:
        sources[name] = (ROOT / f"paprle/gate/{name}.py").read_text()
        mutants += [(name, *mutant) for mutant in find_mutants(sources[name])]
    tests = sorted({test for name in args.modules for test in MODULES[name]})
    if not survives("", "", tests):
        print("tests fail as it is")
        return 1
    n_all = len(mutants)
    random.Random(args.seed).shuffle(mutants)
    mutants = mutants[: args.sample]
    alive, started = [], time.monotonic()
    for k, (name, number, kind, what) in enumerate(mutants):
        source = make_mutant(sources[name], number, kind)
        if survives(name, source, MODULES[name]):
            alive.append((name, what))
            print(f"\nsurvived: {name}.py:{what}")
        rate = (time.monotonic() - started) / (k + 1)
        print(
            f"\r{k + 1 - len(alive)}/{k + 1} killed, {rate:.1f} s each",
            end="",
            flush=True,
        )
    share = 1.0 - len(alive) / max(len(mutants), 1)
    print(f"\n{share:.1%} of {len(mutants)} killed, of {n_all} that can be made")
    return 0 if share >= args.least else 1


if __name__ == "__main__":
    sys.exit(main())
