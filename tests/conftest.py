"""What all tests share."""

from __future__ import annotations

import gc
import os
import tempfile

import pytest
from crash_scheduler import make_scheduler
from hypothesis import HealthCheck, settings
from shares import take_share

from paprle.ipc.threads import limit_threads

limit_threads()  # before the libraries load

from paprle.hosts.precompile import compile_once  # noqa: E402

LONG = ("long", "process")
CRASHES = pytest.StashKey[int]()
# how long an example takes on a busy machine says nothing of the product
settings.register_profile(
    "busy", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy")


def pytest_addoption(parser):
    """Add the option that ``.ci/nightly`` sets."""
    text = "run share K of N of the tests, chosen by their names"
    parser.addoption("--share", default="1/1", metavar="K/N", help=text)


def pytest_sessionstart(session):
    """Compile before any test's time runs, and hide emulators of other processes."""
    compile_once()
    folder = tempfile.TemporaryDirectory(prefix="paprle-runtime-")
    session.config.add_cleanup(folder.cleanup)
    os.environ["XDG_RUNTIME_DIR"] = folder.name


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Keep a share; put long files first: no worker ends with one of them."""
    kept = take_share(items, config.getoption("--share"))
    if len(kept) < len(items):
        left_out = set(items) - set(kept)
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = kept
    long = {item.path for item in items if any(map(item.get_closest_marker, LONG))}
    items.sort(key=lambda item: item.path not in long)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Survive the crash of a worker."""
    return make_scheduler(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    """Count workers that crashed."""
    stash = node.config.stash
    stash[CRASHES] = stash.get(CRASHES, 0) + bool(error)


def pytest_sessionfinish(session):
    """End with code 2 where xdist gave up: tests that did not run have not passed."""
    most = session.config.getoption("maxworkerrestart", None)
    if most is not None and session.config.stash.get(CRASHES, 0) > int(most):
        session.exitstatus = pytest.ExitCode.INTERRUPTED


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    """Exempt tests from garbage collection: with 10,000 one took half a second."""
    gc.collect()
    gc.freeze()
