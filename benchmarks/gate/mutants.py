"""Mutation tests of the gate: change one thing, and see whether a test notices.

``python -m benchmarks.gate.mutants --sample 15 --seed 5`` draws that many mutants by
seed from each module; without ``--sample`` all of them run. Kernels run uncompiled.
What is changed is said in ``benchmarks.gate.mutations``. Tests are collected once; a
mutant runs in a fork, in which the changed code takes the place of the other, against
the tests that reach its lines: those first that killed others of its module, then those
whose file names the module, and then the quickest, until one fails or ``--enough`` of
their time is over. One in which a test takes many times its own time hangs, and counts
as killed. Which lines each test reaches, how long it takes, and what became of each
mutant is kept in ``.mutants``: a run that was broken off goes on; tests of a file that
changed run anew, and so do mutants of a module that changed, and survivors once any
test changed. Exits with 1 if fewer are killed than ``--least``.
"""

from __future__ import annotations

import os

os.environ["NUMBA_DISABLE_JIT"] = "1"  # before anything imports Numba

import argparse
import hashlib
import itertools
import json
import math
import random
import resource
import signal
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import coverage
import pytest
from hypothesis import Phase
from hypothesis import settings as hypothesis_settings

from benchmarks.gate.mutations import IN_FUNCTIONS, find_mutants, make_mutant, plant

ROOT = Path(__file__).resolve().parents[2]
REACH, DONE = ROOT / ".mutants/reach.json", ROOT / ".mutants/done.json"
TESTS = (
    *sorted(ROOT.glob("tests/paprle/gate/**/test_*.py")),
    ROOT / "tests/faults/test_follower_faults.py",
    ROOT / "tests/paprle/session/test_states.py",
    ROOT / "tests/paprle/session/test_core.py",
)
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for path in (
        *sorted(ROOT.glob("paprle/gate/**/[a-z]*.py")),
        ROOT / "paprle/session/states.py",
    )
    if path.stem != "flat_arrays"  # nothing but the compiler runs it
}
FAST_ONES = "not nightly and not long"
MEMORY = 6 << 30  # [B] a mutant that takes more is broken
PATIENCE = (3.0, 5.0)  # [s] and times a test's own time: a mutant in it hangs
ASLEEP = 30  # chosen: times that on the clock, if it waits


class Mutant(NamedTuple):
    """A change: node, kind, lines and description."""

    module: str
    number: int
    kind: int
    lines: range
    what: str

    @property
    def is_table(self) -> bool:
        """Whether it changes a table."""
        return self.kind >= IN_FUNCTIONS


class Store:
    """Known results, in a file."""

    def __init__(self) -> None:
        REACH.parent.mkdir(exist_ok=True)
        self._reach, self._done = (
            json.loads(path.read_text()) if path.exists() else {}
            for path in (REACH, DONE)
        )
        self._product = digest(*MODULES.values())
        self._tests = digest(*TESTS)

    def find_unknown(self) -> list[Path]:
        """Return test files of unknown reach."""
        return [
            path
            for path in TESTS
            if self._reach.get(path.name, {}).get("of") != self._name_of(path)
        ]

    def learn(self, path: Path, times: dict[str, float], lines: dict[str, Any]) -> None:
        """Keep times and reached lines of tests."""
        found = {"of": self._name_of(path), "times": times, "lines": lines}
        self._reach[path.name] = found
        _save(REACH, self._reach)

    def _name_of(self, path: Path) -> str:
        return digest(path) + self._product

    def find_times(self) -> dict[str, float]:
        """Return the time of each test, [s]."""
        return {k: t for file in self._reach.values() for k, t in file["times"].items()}

    def find_tests(self, mutant: Mutant) -> set[str]:
        """Return the tests that reach a mutant."""
        tests: set[str] = set()
        files: set[str] = set()
        for found in self._reach.values():
            lines = found["lines"].get(mutant.module, {})
            if any(map(any, lines.values())):
                files.update(found["times"])
            tests.update(*(lines.get(str(line), []) for line in mutant.lines))
        tests -= {""}
        return tests | files if mutant.is_table or not tests else tests

    def recall(self, mutant: Mutant, enough: float) -> str | None:
        """Return a mutant's killer, "" for none, None to run it."""
        killer, tests, seconds = self._done.get(self._name(mutant), ("", "", 0.0))
        is_known = killer or (tests == self._tests and seconds >= enough)
        return killer if is_known else None

    def keep(self, mutant: Mutant, killer: str, enough: float) -> None:
        """Keep a mutant's result."""
        self._done[self._name(mutant)] = killer, self._tests, enough
        _save(DONE, self._done)

    def _name(self, mutant: Mutant) -> str:
        of = digest(MODULES[mutant.module])
        return f"{mutant.module} {of} {mutant.number} {mutant.kind}"


class Mutation:
    """A pytest plug-in that runs tests on mutants.

    Attributes:
        killed: Results by module.
    """

    def __init__(self, mutants: list[Mutant], enough: float) -> None:
        self.killed: dict[str, list[bool]] = defaultdict(list)
        self._mutants, self._enough = mutants, enough
        self._store = Store()
        self._kills: Counter[tuple[str, str]] = Counter()
        self._items: dict[str, pytest.Item] = {}
        self._texts: dict[str, str] = {}
        self._failed = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self) -> None:
        """Skip the search for smallest failing examples."""
        phases = (Phase.explicit, Phase.generate)
        hypothesis_settings.register_profile("mutants", phases=phases, database=None)
        hypothesis_settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed = report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Failed("tests cannot be collected")
        self._items = {item.nodeid: item for item in session.items}
        files = {item.nodeid.partition("::")[0] for item in session.items}
        self._texts = {name: (ROOT / name).read_text() for name in files}
        for path in self._store.find_unknown():
            self._learn(path)
        self._times = self._store.find_times()
        for k, mutant in enumerate(self._mutants):
            killer = self._store.recall(mutant, self._enough)
            if killer is None:
                killer = self._find_killer(mutant)
                self._store.keep(mutant, killer, self._enough)
            self.killed[mutant.module].append(bool(killer))
            self._kills[mutant.module, killer] += 1
            what = f"{mutant.module}:{mutant.what}: {killer or 'SURVIVED'}"
            print(f"{k + 1}/{len(self._mutants)} {what}", flush=True)
        return True

    def _learn(self, path: Path) -> None:
        print(f"what {path.relative_to(ROOT)} reaches", flush=True)
        tests = [item for item in self._items.values() if item.path == path]
        code, out = _fork(lambda: self._look(tests))
        if code:
            sys.exit(f"fails as it is: {out}")
        self._store.learn(path, *json.loads(out))

    def _look(self, tests: list[pytest.Item]) -> tuple[int, str]:
        files = [str(path) for path in MODULES.values()]
        cover, times = coverage.Coverage(data_file=None, include=files), {}
        cover.start()
        for item in tests:
            cover.switch_context(item.nodeid)
            started = time.process_time()
            self._run(item)
            times[item.nodeid] = time.process_time() - started
            if self._failed:
                return 1, self._failed
        cover.stop()
        warnings.simplefilter("ignore")  # some reach nothing
        data = cover.get_data()
        lines = {
            name: data.contexts_by_lineno(str(path)) for name, path in MODULES.items()
        }
        return 0, json.dumps([times, lines])

    def _find_killer(self, mutant: Mutant) -> str:
        order = sorted(
            self._store.find_tests(mutant),
            key=lambda test: (
                -self._kills[mutant.module, test],
                mutant.module not in self._texts[test.partition("::")[0]],
                self._times[test],
            ),
        )
        spent = itertools.accumulate(self._times[test] for test in order)
        tests = [t for t, s in zip(order, spent, strict=True) if s < self._enough]
        code, out = _fork(lambda: self._run_mutant(mutant, tests))
        return out or ("a test that hangs, or memory" if code else "")

    def _run_mutant(self, mutant: Mutant, tests: list[str]) -> tuple[int, str]:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        path = MODULES[mutant.module]
        tree = make_mutant(path.read_text(), mutant.number, mutant.kind)
        plant(sys.modules[mutant.module], tree, str(path))
        start, times = PATIENCE
        for test in tests:
            patience = start + times * self._times[test]
            signal.setitimer(signal.ITIMER_PROF, patience)  # time of this process alone
            signal.alarm(int(ASLEEP * patience))
            self._run(self._items[test])
            if self._failed:
                return 1, self._failed
        return 0, ""

    @staticmethod
    def _run(item: pytest.Item) -> None:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)


def digest(*paths: Path) -> str:
    """Return a digest of files."""
    return hashlib.sha256(b"".join(p.read_bytes() for p in paths)).hexdigest()[:16]


def _save(path: Path, known: dict[str, Any]) -> None:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(known))
    new.replace(path)


def _fork(work: Callable[[], tuple[int, str]]) -> tuple[int, str]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        os.close(reading)
        try:
            code, out = work()
        except BaseException as error:  # noqa: BLE001 - a fork must not go on
            code, out = 1, repr(error)
        with os.fdopen(writing, "w") as pipe:
            pipe.write(out)
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        out = pipe.read()
    _, status = os.waitpid(pid, 0)
    return status, out


def draw(names: Sequence[str], sample: int | None, seed: int) -> list[Mutant]:
    """Return seeded mutants of each module, in random order."""
    drawn, n_all = [], 0
    for name in names:
        mutants = find_mutants(MODULES[name].read_text())
        random.Random(f"{seed} {name}").shuffle(mutants)
        drawn += [Mutant(name, *mutant) for mutant in mutants[:sample]]
        n_all += len(mutants)
    random.Random(seed).shuffle(drawn)
    print(f"{len(drawn)} of {n_all} mutants", flush=True)
    return drawn


def find_lower_bound(n_killed: int, n: int) -> float:
    """Return the least share at 95 % confidence (Wilson)."""
    z = 1.645  # spec: the one-sided 95 % point of the normal distribution
    share = n_killed / n
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (share + z * z / (2 * n) - spread) / (1 + z * z / n)


def report(killed: dict[str, list[bool]]) -> float:
    """Print kills by module; return the total share."""
    for module, results in sorted(killed.items()):
        print(f"{module:24} {sum(results):4} of {len(results)}")
    every: Iterable[bool] = itertools.chain.from_iterable(killed.values())
    every = list(every)
    share, least = sum(every) / len(every), find_lower_bound(sum(every), len(every))
    print(
        f"{sum(every)} of {len(every)} killed, {share:.1%}; of all that are drawn so, "
        f"at least {least:.1%} at 95 % confidence"
    )
    return share


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", nargs="*", choices=MODULES, default=list(MODULES))
    parser.add_argument("--sample", type=int, help="how many of each, drawn by seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=float, default=0.95, help="share to be killed")
    parser.add_argument("--enough", type=float, default=30.0, help="[s] of tests")
    args = parser.parse_args()
    os.chdir(ROOT)
    mutation = Mutation(draw(args.modules, args.sample, args.seed), args.enough)
    options = ["-q", "-s", "-p", "no:randomly", "-p", "no:cacheprovider"]
    options += ["-m", FAST_ONES, "-W", "ignore:Module already"]
    options += ["--hypothesis-seed=0", "--timeout=0"]
    code = pytest.main([*options, *map(str, TESTS)], plugins=[mutation])
    return int(code or report(mutation.killed) < args.least)


if __name__ == "__main__":
    sys.exit(main())
