"""The table of test data that others made."""

import hashlib
import importlib.util
import re
from pathlib import Path

import pytest
from shared_data import find_shared

TESTS = Path(__file__).resolve().parents[1]
SPEC = importlib.util.spec_from_file_location(
    "fetch_data", TESTS.parent / "checks/fetch_data.py"
)
data = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(data)
# its published text names a folder of its authors' machine
CHANGED = {"urdf/open_manipulator_y_follower.urdf"}


def test_files_that_tests_name_are_fetched():
    text = "".join(path.read_text("utf-8") for path in TESTS.rglob("*.py"))

    named = set(re.findall(r'"((?:motion|hand|imu)/[\w.]+\.\w+)"', text))

    assert named <= set(data.FILES), named - set(data.FILES)
    assert len(named) > 5


def test_addresses_name_a_commit_or_a_host():
    for origin in data.FILES.values():
        address = data.make_address(origin)
        assert address.startswith("https://")
        assert " " not in address
        if origin.repository in data.COMMITS:
            assert re.search(r"/[0-9a-f]{40}/", address)


@pytest.mark.parametrize("name", sorted(set(data.FILES) - CHANGED))
def test_digests_are_those_of_the_files_at_hand(name):
    content = find_shared(name).read_bytes()

    assert hashlib.sha256(content).hexdigest() == data.FILES[name].digest
