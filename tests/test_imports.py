"""Who imports whom: no circle between modules, and no package that no contract knows.

import-linter keeps the layers (``make check``). It sees no circle inside a room, and
its list of forbidden packages says nothing of one that nobody thought of.
"""

from __future__ import annotations

import sys

import pytest

from paprle.contracts.kinds import PLUGIN_FOLDERS
from paprle.ipc.process import WORKSPACE

grimp = pytest.importorskip("grimp")
tomllib = pytest.importorskip("tomllib")  # of Python 3.11

LINTER = tomllib.loads((WORKSPACE / "pyproject.toml").read_text())["tool"][
    "importlinter"
]
ROOTS = set(LINTER["root_packages"])
CORE = {
    "annotated_types", "daqp", "mcap", "numba", "numpy", "omegaconf", "pinocchio",
    "pydantic", "rosbags", "yaml", "zstandard",
    "coal", "pydantic_core", "typing_extensions",  # which two of them bring
}  # fmt: skip
"""What every installation has: the project's own dependencies."""


@pytest.fixture(scope="module")
def imports():
    """Modules by the module that imports them, of all rooms and plug-ins."""
    graph = grimp.build_graph(*ROOTS, include_external_packages=True, cache_dir=None)
    return {
        module: graph.find_modules_directly_imported_by(module)
        for module in graph.modules
        if find_package(module) in ROOTS
    }


def find_package(module):
    return module.partition(".")[0]


def is_core(module):
    """Whether a module is neither a plug-in nor a driver nor an emulator."""
    package, _, rest = module.partition(".")
    apart = {"hardware", *PLUGIN_FOLDERS}
    return package != "paprle_emulators" and find_package(rest) not in apart


def find_circle(imports):
    """Return the modules that import each other, in turn; none where there is none."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return path[path.index(module) :]
        if module in done or module not in imports:
            return []
        path.append(module)
        for other in sorted(imports[module]):
            if circle := visit(other):
                return circle
        done.add(path.pop())
        return []

    return next(filter(None, map(visit, sorted(imports))), [])


def test_no_modules_import_each_other_in_a_circle(imports):
    circle = find_circle(imports)

    assert not circle, " → ".join([*circle, circle[0]])


def test_a_circle_is_found_where_there_is_one():
    assert find_circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
    assert find_circle({"a": {"b", "c"}, "b": {"c"}, "c": {"numpy"}}) == []


def test_the_contract_lists_every_package_that_the_core_could_do_without(imports):
    [contract] = [c for c in LINTER["contracts"] if c["name"].startswith("the core")]
    known = CORE | ROOTS | set(contract["forbidden_modules"]) | sys.stdlib_module_names
    strange = {
        f"{module} imports {other}"
        for module, others in imports.items()
        for other in others
        if is_core(module) and find_package(other) not in known
    }

    assert strange == set(), "list it in pyproject.toml, with its one allowed place"
    assert not CORE & set(contract["forbidden_modules"])
