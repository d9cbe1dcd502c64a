"""Checks docstrings and names of tests, with a baseline that may only shrink.

    python checks/prose.py            check; prints the findings where some are new
    python checks/prose.py --list paprle/gate    print every finding there
    python checks/prose.py --shrink   write the baseline anew where there are fewer

A docstring states what a thing is or does, the name of a test a behaviour. These habits
hide that:

* ``clause``: it starts with a clause such as "What …", "Who …" or "Whoever …"; the
  docstring of an attribute is checked, too.
* ``speech``: its first line says that a function tells, says or hears; functions
  return, raise, report and print.
* ``long``: the docstring of a private function has more than two lines.
* ``name``: the name of a test starts with such a clause, as in ``test_what_…``.

``checks/prose.json`` has how many findings of a kind each folder may have.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
BASELINE = Path(__file__).with_suffix(".json")
FOLDERS = (
    "paprle", "paprle_lab", "paprle_emulators",
    "leaders", "followers", "feedback", "observers", "advisors", "cameras",
    "links", "hardware",
)  # fmt: skip
TESTS = "tests"
"""Folder in which names alone are checked."""
_CLAUSE = re.compile(
    r"(what|who|whoever|whom|whose|whatever|wherever|where|when|how|why|nobody|"
    r"somebody|one that|those who|that which)\b",
    re.IGNORECASE,
)
_SPEECH = re.compile(
    r"\b(tells?|told|telling|says?|said|saying|hears?)\b", re.IGNORECASE
)
_NAME = re.compile(
    r"test_(what|who|whoever|whom|whose|whatever|wherever|where|when|how|however|why|"
    r"which|nobody|somebody|one_that)_|test_\w+_that_(is|are)_none(_|$)"
)
_MOST_LINES = 2


class Finding(NamedTuple):
    """A finding in a docstring or a name."""

    path: Path
    line: int
    kind: str
    text: str

    @property
    def place(self) -> str:
        """Folder of its baseline."""
        parts = self.path.relative_to(ROOT).parts
        return "/".join(parts[:2]) if len(parts) > 2 else parts[0]

    def __str__(self) -> str:
        name = self.path.relative_to(ROOT)
        return f"{name}:{self.line}: {self.kind}: {self.text}"


def find_all(folders: Iterable[str] = (*FOLDERS, TESTS)) -> Iterator[Finding]:
    """Yield the findings of folders."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield from find(path)


def find(path: Path) -> Iterator[Finding]:
    """Yield the findings of one file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from _find_names(path, tree)
    if not path.is_relative_to(ROOT / TESTS):
        yield from _find_sentences(path, tree)


def _find_names(path: Path, tree: ast.AST) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and _NAME.match(node.name):
            yield Finding(path, node.lineno, "name", node.name)


def _find_sentences(path: Path, tree: ast.AST) -> Iterator[Finding]:
    for name, text in _list_attributes(tree):
        if _CLAUSE.match(text.value):
            first = text.value.splitlines()[0]
            yield Finding(path, text.lineno, "clause", f"{name}: {first}")
    for node in ast.walk(tree):
        if not isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ):
            continue
        text = ast.get_docstring(node)
        if not text:
            continue
        name = getattr(node, "name", "module")
        line = 1 if isinstance(node, ast.Module) else node.lineno
        first = text.splitlines()[0]
        for kind in _judge(node, name, text):
            yield Finding(path, line, kind, f"{name}: {first}")


def _list_attributes(tree: ast.AST) -> Iterator[tuple[str, ast.Constant]]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for before, after in pairwise(body if isinstance(body, list) else []):
            match before, after:
                case (
                    ast.Assign() | ast.AnnAssign(),
                    ast.Expr(value=ast.Constant(value=str()) as text),
                ):
                    yield ast.unparse(before).split(" = ")[0], text


def _judge(node: ast.AST, name: str, text: str) -> Iterator[str]:
    first = text.splitlines()[0]
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    if _CLAUSE.match(first):
        yield "clause"
    if is_function and _SPEECH.search(first):
        yield "speech"
    is_private = name.startswith("_") and not name.startswith("__")
    if is_function and is_private and len(text.splitlines()) > _MOST_LINES:
        yield "long"


def count(findings: list[Finding]) -> dict[str, dict[str, int]]:
    """Return the number of findings by folder and kind."""
    counts: dict[str, Counter[str]] = {}
    for one in findings:
        counts.setdefault(one.place, Counter())[one.kind] += 1
    return {place: dict(sorted(counts[place].items())) for place in sorted(counts)}


def compare(
    counts: dict[str, dict[str, int]], allowed: dict[str, dict[str, int]]
) -> Iterator[tuple[str, str, int, int]]:
    """Yield folder, kind, number and limit if too many."""
    for place, kinds in counts.items():
        for kind, n in kinds.items():
            most = allowed.get(place, {}).get(kind, 0)
            if n > most:
                yield place, kind, n, most


def main(argv: list[str] | None = None) -> int:
    """Run the check; return 1 above the baseline."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--list", metavar="FOLDER", nargs="*", help="print every finding, and end"
    )
    parser.add_argument("--shrink", action="store_true", help="write the baseline anew")
    args = parser.parse_args(argv)
    if args.list is not None:
        print(*find_all(args.list or (*FOLDERS, TESTS)), sep="\n")
        return 0
    findings = list(find_all())
    counts = count(findings)
    allowed = json.loads(BASELINE.read_text()) if BASELINE.is_file() else counts
    worse = list(compare(counts, allowed))
    for place, kind, n, most in worse:
        print(f"{place}: {n} of kind '{kind}', {most} in the baseline; all of them:")
        print(
            *(f"  {o}" for o in findings if (o.place, o.kind) == (place, kind)),
            sep="\n",
        )
    if worse:
        print("reword the new ones: CONTRIBUTING.md, Prose")
        return 1
    if args.shrink:
        BASELINE.write_text(json.dumps(counts, indent=1) + "\n")
    total = sum(n for kinds in counts.values() for n in kinds.values())
    print(f"prose: {total} findings in {len(counts)} folders, none new")
    return 0


if __name__ == "__main__":
    sys.exit(main())
