"""Mutation tests of the gate: change one thing, and see whether a test notices.

``python -m benchmarks.mutants --sample 120`` draws mutants by seed, from each module as
many as its share of all; without it, all of them run. Kernels run uncompiled. A mutant
changes one comparison, operator, constant, ``min`` or ``max``, condition, sign or
statement inside a function. First all tests of the gate run as it is, timed, and which
lines each of them reaches is noted. A mutant then runs in a fork of a process that has
everything foreign imported, against the tests that reach its line, those first that
killed others of its module and then the quickest, until one fails or ``--enough`` of
their time is over. One in which a test takes many times its own time hangs, and counts
as killed. Exits with 1 if fewer are killed than ``--least``.

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
import itertools
import json
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import coal  # noqa: F401 - slow to import, so before any fork
import coverage
import mujoco  # noqa: F401
import numba.extending  # noqa: F401
import pinocchio  # noqa: F401
import pydantic  # noqa: F401
import pytest
import scipy.optimize  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]
GATE = "paprle/gate"
LEAST_OF_MODULE = 3  # mutants of a module that is small
TESTS = ["tests/paprle/gate", "tests/faults/test_follower_faults.py"]
MODULES = (
    "limits",
    "step",
    "clearance",
    "stops",
    "tools",
    "gate",
    "slide",
    "watches",
    "states",
    "controller",
    "memory",
    "reasons",
)
FAST_ONES = "not nightly and not long"
MEMORY = 6 << 30  # [B] a mutant that takes more is broken
PATIENCE = (5.0, 10.0)  # [s] and times a test's own time: a mutant in it hangs
FEW = 6  # tests that are collected first: most mutants live no longer
COMPILED_ONLY = {"intrinsic", "overload"}  # functions that never run uncompiled
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


class Mutant(NamedTuple):
    """A change of a module: its node, the kind of change, its lines, and in words."""

    module: str
    number: int
    kind: int
    lines: range
    what: str


def find_mutants(source: str) -> list[tuple[int, int, range, str]]:
    """Return number of node, kind of change, its lines, and what it is in words."""
    tree, found = ast.parse(source), []
    inside, lines = _find_inside(tree), _find_lines(tree)
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in inside and hasattr(node, "lineno"):
            for kind in range(3):
                what = _change(copy.deepcopy(node), kind)
                if what:
                    what = f"{node.lineno}: {what}"
                    found.append((number, kind, lines[id(node)], what))
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
        if isinstance(function, ast.FunctionDef) and not _is_compiled_only(function):
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


def _find_lines(tree: ast.Module) -> dict[int, range]:
    """Return the lines of the innermost statement of each node, by the node's id."""
    lines = {}
    for part in ast.walk(tree):  # outer ones first
        if isinstance(part, ast.stmt):
            span = range(part.lineno, (part.end_lineno or part.lineno) + 1)
            lines.update({id(node): span for node in ast.walk(part)})
    return lines


def _is_compiled_only(function: ast.FunctionDef) -> bool:
    names = {n.id for d in function.decorator_list for n in ast.walk(d)
             if isinstance(n, ast.Name)}  # fmt: skip
    return bool(names & COMPILED_ONLY)


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


class Reach:
    """A pytest plug-in: how long each test takes, and the lines that it reaches."""

    def __init__(self) -> None:
        self.times: dict[str, float] = {}
        self._cover = coverage.Coverage(data_file=None, source=[str(ROOT / GATE)])

    def pytest_sessionstart(self) -> None:
        self._cover.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._cover.switch_context(item.nodeid)
        started = time.process_time()
        result = yield
        self.times[item.nodeid] = time.process_time() - started
        return result

    def find(self) -> dict[str, dict[int, list[str]]]:
        """Return the tests of each line of each module."""
        self._cover.stop()
        data = self._cover.get_data()
        return {
            Path(path).stem: {
                line: [test for test in tests if test]
                for line, tests in data.contexts_by_lineno(path).items()
            }
            for path in data.measured_files()
        }


class Judge:
    """Runs tests on mutants, those first that are likely to kill soon."""

    def __init__(self, enough: float) -> None:
        """Run all tests as it is.

        Args:
            enough: How much time of tests a mutant may survive, [s].

        Raises:
            SystemExit: If one fails.
        """
        code, out = _fork(_look)
        if code:
            sys.exit(f"tests fail as it is:\n{out}")
        self._times, self._reach = json.loads(out)
        self._kills: Counter[tuple[str, str]] = Counter()
        self._enough = enough

    def find_killer(self, module: str, source: str, lines: range) -> str:
        """Return which test notices a module's replacement; "" if none does."""
        order = self._choose(module, lines)
        for tests in filter(None, (order[:FEW], order[FEW:])):
            times = {test: self._times[test] for test in tests}
            code, out = _fork(lambda times=times: _run_mutant(module, source, times))
            if code:
                killer = out or "a test that hangs, or memory"
                self._kills[module, killer] += 1
                return killer
        return ""

    def _choose(self, module: str, lines: range) -> list[str]:
        """Return the tests that reach some lines, as many as there is time for."""
        reach = self._reach.get(module, {})
        order = sorted(
            {test for line in lines for test in reach.get(str(line), [])},
            key=lambda test: (-self._kills[module, test], self._times[test]),
        )
        spent = itertools.accumulate(self._times[test] for test in order)
        return [test for test, t in zip(order, spent, strict=True) if t < self._enough]


def _fork(work: Callable[[], tuple[int, str]]) -> tuple[int, str]:
    """Do work in a fork; return its code and what it said."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        code, out = work()
        with os.fdopen(writing, "w") as pipe:
            pipe.write(out)
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        out = pipe.read()
    _, status = os.waitpid(pid, 0)
    return status, out


def _look() -> tuple[int, str]:
    reach = Reach()
    code, out = _run_tests(TESTS, reach)
    return code, out if code else json.dumps([reach.times, reach.find()])


def _run_mutant(module: str, source: str, times: dict[str, float]) -> tuple[int, str]:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.meta_path.insert(0, _Planter(f"paprle.gate.{module}", source))
    first = FirstFailure(times)
    code, _ = _run_tests(list(times), first)
    return code, first.test


class FirstFailure:
    """A pytest plug-in that keeps the name of the test that failed, and ends hangs."""

    def __init__(self, times: dict[str, float]) -> None:
        self.test = "import"
        self._times = times

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        start, times = PATIENCE
        patience = start + times * self._times.get(item.nodeid, 1.0)
        signal.setitimer(signal.ITIMER_PROF, patience)  # time of this process alone

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.test = report.nodeid


def _run_tests(tests: list[str], plugin: object) -> tuple[int, str]:
    options = ["-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    options += ["-m", FAST_ONES, "--hypothesis-seed=0", "--timeout=0"]
    sink = io.StringIO()
    with redirect_stdout(sink), redirect_stderr(sink):
        code = int(pytest.main([*options, *tests], plugins=[plugin]))
    return code, sink.getvalue()


def draw(names: Sequence[str], sample: int | None, seed: int) -> list[Mutant]:
    """Return mutants of modules, in a random order; of each by its share of all."""
    random_, drawn = random.Random(seed), []
    found = {name: find_mutants((ROOT / GATE / f"{name}.py").read_text())
             for name in names}  # fmt: skip
    n_all = sum(len(mutants) for mutants in found.values())
    for name, mutants in found.items():
        n = len(mutants)
        if sample is not None:
            n = min(n, max(LEAST_OF_MODULE, round(sample * n / n_all)))
        drawn += [Mutant(name, *mutant) for mutant in random_.sample(mutants, n)]
    random_.shuffle(drawn)
    print(f"{len(drawn)} of {n_all} mutants")
    return drawn


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", nargs="*", default=list(MODULES))
    parser.add_argument("--sample", type=int, help="how many, drawn by seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=float, default=0.95, help="share to be killed")
    parser.add_argument("--enough", type=float, default=60.0, help="[s] of tests")
    args = parser.parse_args()
    os.chdir(ROOT)
    judge, alive, started = Judge(args.enough), 0, time.monotonic()
    mutants = draw(args.modules, args.sample, args.seed)
    for k, mutant in enumerate(mutants):
        source = (ROOT / GATE / f"{mutant.module}.py").read_text()
        changed = make_mutant(source, mutant.number, mutant.kind)
        killer = judge.find_killer(mutant.module, changed, mutant.lines)
        alive += not killer
        each = (time.monotonic() - started) / (k + 1)
        print(
            f"{k + 1 - alive}/{k + 1} ({each:.1f} s each) {mutant.module}:"
            f"{mutant.what}: {killer or 'SURVIVED'}",
            flush=True,
        )
    share = 1.0 - alive / max(len(mutants), 1)
    print(f"{share:.1%} of {len(mutants)} killed")
    return 0 if share >= args.least else 1


if __name__ == "__main__":
    sys.exit(main())
