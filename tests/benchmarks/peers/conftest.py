import pytest

from benchmarks.peers.robots import make_robot


@pytest.fixture(scope="session")
def ur5e(tmp_path_factory):
    return make_robot("ur5e", tmp_path_factory.mktemp("ur5e"))
