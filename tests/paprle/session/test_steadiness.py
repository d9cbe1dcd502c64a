"""What a tick must not do however long it goes on: compile, or keep memory."""

import gc
import sys
import tracemalloc
from pathlib import Path

import numba
import pytest
from lock_step import AUTOMATIC, HUMAN, LockStep
from puppeteer_step import PuppeteerStep

import paprle


def find_kernels():
    """Return the kernels of all modules that are loaded."""
    modules = [m for name, m in list(sys.modules.items()) if name.startswith("paprle")]
    values = [value for module in modules for value in vars(module).values()]
    return {id(value): value for value in values if hasattr(value, "signatures")}


def count_compiled():
    """How many kernels are ready, one for each kind of arguments."""
    return sum(len(kernel.signatures) for kernel in find_kernels().values())


@pytest.fixture(autouse=True)
def no_kernel_is_ready():
    """As in a new process: none is ready because another test has called it."""
    for kernel in find_kernels().values():
        kernel._reset_overloads()


@pytest.mark.long
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize("mode", ["relative", "absolute"])
def test_nothing_is_compiled_once_a_session_ticks(mode):
    session = LockStep(HUMAN, mode=mode, start_bound=10.0)
    if mode == "absolute":
        arm = session.robot.limbs["arm"]
        session.T_hand = arm.fk(arm.home + 0.05)
    session.core.motion.warm_up()
    before = count_compiled()

    session.engage().move(50)
    session.press("engage", 20).press("engage", 100)

    assert session.state == "ENGAGED"
    assert count_compiled() == before


@pytest.mark.long
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize("leader", ["puppeteer_piper", "puppeteer_ur5"])
def test_nothing_is_compiled_for_the_first_sample_of_an_arm(leader):
    session = PuppeteerStep(f"leader={leader}", "follower=piper")
    session.core.motion.warm_up()
    before = count_compiled()

    session.drive()

    assert session.state == "ENGAGED"
    assert count_compiled() == before


OWN = tracemalloc.Filter(True, str(Path(paprle.__file__).parent / "*"))


def move_and_weigh(session, n):
    """Go on for n ticks; what PAPRLE then holds of all it has allocated, [bytes]."""
    for _ in range(n // 50):
        session.move(50, speed=0.02)
        for kept in (session.states, session.events, session.follower.sent):
            kept.clear()  # what the test itself would keep
    gc.collect()
    traces = tracemalloc.take_snapshot().filter_traces([OWN]).statistics("filename")
    return sum(trace.size for trace in traces)


@pytest.mark.long
def test_memory_is_flat_while_engaged():
    session = LockStep(AUTOMATIC)
    session.start = True
    session.until("ENGAGED")

    tracemalloc.start()
    begin = move_and_weigh(session, 1000)
    grown = move_and_weigh(session, 500) - begin
    tracemalloc.stop()

    assert session.state == "ENGAGED"
    assert grown < 500, "not one byte a tick"
