"""House rules that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml

from paprle.contracts.kinds import KINDS, PLUGIN_FOLDERS

pytestmark = pytest.mark.lint
ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("paprle", "paprle_lab", "paprle_emulators", "hardware", *PLUGIN_FOLDERS)
CORE = ("paprle", "paprle_lab")
LONGEST = 450
TEXT = {".py", ".md", ".yaml", ".toml", ".urdf", ".csv", ".json", ".sh", ""}
WALL_TIME = {
    "paprle/recording/recorder.py",
    "paprle/hosts/operator/black_box.py",
    "observers/ros/observer.py",
    "hardware/web/serving/certificate.py",
}
"""Wall time names files, stands once in a recording's header, bounds a certificate."""


def find_files():
    """Files of the repository; of the folder where there is no repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.splitlines()]
    hidden = re.compile(r"/\.|/__pycache__/")
    return [p for p in ROOT.rglob("*") if not hidden.search(str(p)) and p.is_file()]


FILES = [path for path in find_files() if path.is_file()]
PYTHON = [path for path in FILES if path.suffix == ".py"]
PRODUCT_PYTHON = [p for p in PYTHON if p.relative_to(ROOT).parts[0] in PRODUCT]


def name(path):
    return str(path.relative_to(ROOT))


def calls(tree):
    """Every call as dotted text with its keywords."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            keywords = {k.arg: ast.unparse(k.value) for k in node.keywords}
            yield ast.unparse(node.func), keywords


def test_no_file_is_longer_than_its_limit():
    lengths = {name(p): p.read_text().count("\n") for p in PYTHON}

    assert {n: length for n, length in lengths.items() if length > LONGEST} == {}


def parse_product(words):
    """Yield name and syntax tree of each file of the product that has such words."""
    for path in PRODUCT_PYTHON:
        text = path.read_text()
        if re.search(words, text):
            yield name(path), ast.parse(text)


def find_imports(tree):
    """Return the top-level names of the packages that a file imports."""
    modules = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    ]
    modules += [
        node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    ]
    return {module.split(".")[0] for module in modules}


def find_dangers(tree):
    """Yield what a file does that this project never does."""
    yield from find_imports(tree) & {"pickle", "marshal", "shelve", "dill"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and not node.type:
            yield "bare except"
    for function, keywords in calls(tree):
        if function in {"eval", "exec", "os.system", "yaml.load"}:
            yield function
        for word in ("shell", "allow_pickle"):
            if keywords.get(word) == "True":
                yield f"{word}=True"


def test_product_code_holds_nothing_dangerous():
    words = "pickle|marshal|shelve|dill|except *:|eval|exec|os.system|yaml.load|shell"
    found = {path: sorted(find_dangers(tree)) for path, tree in parse_product(words)}

    assert {path: dangers for path, dangers in found.items() if dangers} == {}


def test_product_code_reads_no_wall_time():
    clocks = {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow"}
    found = {
        path
        for path, tree in parse_product(r"\btime\.time|now\b")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in {"time", "time_ns", "now", "utcnow"}
        and ast.unparse(node) in clocks
    }

    assert found <= WALL_TIME


def test_no_path_of_a_machine_is_in_the_repository():
    machine = re.compile(r"(?<![\w.])/(?:home|Users|root|work)/\w+")
    found = {
        name(path): match[0]
        for path in FILES
        if path.suffix in TEXT and path != Path(__file__)
        if (match := machine.search(path.read_text(errors="ignore")))
    }

    assert found == {}


def list_classes(path):
    """Return the names of a file's public classes."""
    nodes = ast.walk(ast.parse(path.read_text()))
    names = (node.name for node in nodes if isinstance(node, ast.ClassDef))
    return [name for name in names if not name.startswith("_")]


def test_each_public_class_of_core_and_lab_has_a_name_of_its_own():
    core = [p for p in PYTHON if p.relative_to(ROOT).parts[0] in CORE]
    counts = Counter(name for path in core for name in list_classes(path))

    assert [name for name, n in counts.items() if n > 1] == []


def test_tests_are_no_packages():
    assert not [name(p) for p in FILES if p.match("tests/**/__init__.py")]
    assert not list((ROOT / "tests").rglob("__init__.py"))


@pytest.mark.parametrize(
    "folder", sorted(p for p in (ROOT / "urdf").iterdir() if p.is_dir()), ids=name
)
def test_every_robot_is_complete(folder):
    assert (folder / "robot.urdf").is_file()
    assert (folder / "SOURCE.md").stat().st_size > 200, "the origin of each figure"
    urdf = f"urdf: {folder.relative_to(ROOT)}/robot.urdf"
    configs = [*ROOT.glob("configs/follower/*.yaml"), *ROOT.glob("configs/leader/*")]
    assert any(urdf in path.read_text() for path in configs), "nobody uses it"


@pytest.mark.parametrize("kind", ["leader", "follower", "env"])
def test_every_config_names_what_exists(kind):
    for path in sorted((ROOT / "configs" / kind).glob("*.yaml")):
        values = yaml.safe_load(path.read_text()) or {}
        if kind == "follower":
            assert (ROOT / values["urdf"]).is_file(), path.name
            assert values["limbs"], path.name
            assert values["limits"]["ddq_max"] > 0, path.name
        elif "leaders" not in values:  # a group is none
            room = {"leader": "leaders", "env": "followers"}[kind]
            folder = ROOT / room / values.get("type", path.stem)
            assert (folder / "__init__.py").is_file(), path.name


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_every_plug_in_has_the_same_files(kind):
    """A law is one module; a link has the settings of all links."""
    rooms = [p.parent for p in (ROOT / kind.folder).glob("*/__init__.py")]
    own = () if kind.kind == "link" else ("config.py",)
    for folder in rooms:
        for file in (*own, f"{kind.kind}.py", "README.md"):
            assert (folder / file).is_file(), f"{name(folder)}/{file}"
