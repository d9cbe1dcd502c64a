"""A forked role inherits imports from its parent, and no descriptor (decision 0005).

Each case is a program of its own: this process may have threads, and is not forked.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from paprle.ipc.process import WORKSPACE

HEAD = """
import atexit, gc, os, select, signal, subprocess, sys, threading, time
from pathlib import Path
from paprle.ipc.forking import can_fork, fork

def find_end(fd):  # of a pipe: whether it comes within a second
    return bool(select.select([fd], [], [], 1.0)[0]) and os.read(fd, 9) == b""
"""


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", HEAD + textwrap.dedent(program)],
        cwd=WORKSPACE,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert not done.stderr
    return done.stdout


def test_the_child_keeps_no_pipe_that_it_was_not_handed():
    said = run("""
        ours, theirs = os.pipe(), os.pipe()
        child = fork("role", lambda: os.read(theirs[0], 9) and 0, [theirs[0]],
                     has_input=False)
        os.close(ours[1])
        print(find_end(ours[0]))  # though the child lives
        os.write(theirs[1], b"go")
        print(child.wait(5))
    """)

    assert said.split() == ["True", "0"]


def test_the_childs_own_death_is_the_end_of_its_pipe():
    said = run("""
        report = os.pipe()
        child = fork("role", lambda: time.sleep(60) or 0, [report[1]], has_input=False)
        other = fork("other", lambda: time.sleep(60) or 0, [], has_input=False)
        os.close(report[1])
        child.kill()
        print(find_end(report[0]), child.wait(5))
        other.kill()
        print(other.wait(5))
    """)

    assert said.split() == ["True", "-9", "-9"]


def test_handlers_hooks_and_exit_functions_of_the_parent_do_not_run_in_it():
    said = run("""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: print("handled", flush=True))
        atexit.register(print, "left")
        threading.excepthook = lambda _: print("hooked", flush=True)
        def role():
            own = threading.excepthook is threading.__excepthook__
            print(own, signal.getsignal(signal.SIGINT) is signal.SIG_DFL, flush=True)
            os.kill(os.getpid(), signal.SIGTERM)
        print(fork("role", role, [], has_input=False).wait(5))
    """)

    assert said.split() == ["True", "True", "-15", "left"]


def test_the_child_is_handed_the_mask_of_signals_of_whoever_starts_it():
    said = run("""
        signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGTSTP})
        masked = lambda: print(*map(int, signal.pthread_sigmask(0, ()))) or 0
        fork("role", masked, [], has_input=False).wait(5)
        print(*map(int, signal.pthread_sigmask(0, ())))
    """)

    assert said.split() == [str(20), str(20)]


def test_objects_of_the_parent_close_nothing_of_it():
    said = run("""
        class Holder:
            def __init__(self, fd):
                self.fd, self.me = fd, self
            def __del__(self):
                os.close(self.fd)
        def role():
            place = os.open("/dev/null", os.O_RDONLY)
            gc.collect()
            os.fstat(place)
            return 7
        gc.disable()
        Holder(os.dup(0))  # garbage that waits for the collector
        print(fork("role", role, [], has_input=False).wait(5))
    """)

    assert said.split() == ["7"]


def test_unflushed_output_of_the_parent_is_written_once():
    assert run("""
        sys.stdout.write("once ")
        fork("role", lambda: 0, [], has_input=False).wait(5)
    """).split() == ["once"]


def test_the_child_reads_a_standard_input_of_its_own():
    said = run("""
        child = fork("role", lambda: print(sys.stdin.readline()) or 0, [],
                     has_input=True)
        child.stdin.write(b"hello\\n")
        child.stdin.close()
        child.wait(5)
        none = lambda: print([sys.stdin.read()]) or 0
        fork("role", none, [], has_input=False).wait(5)
    """)

    assert said.split() == ["hello", "['']"]


def test_ps_shows_the_name_of_the_role():
    said = run("""
        shown = lambda: print(Path("/proc/self/cmdline").read_bytes().split(b"\\0")[0],
                              Path("/proc/self/comm").read_text()) or 0
        fork("paprle.hosts.processes.gate", shown, [], has_input=False).wait(5)
        print(Path("/proc/self/comm").read_text())
    """)

    assert said.split()[:2] == ["b'paprle.hosts.processes.gate'", "gate"]
    assert said.split()[2] != "gate"


@pytest.mark.parametrize(
    ("body", "code"), [("raise OSError('lost')", 1), ("return 3", 3)]
)
def test_the_child_never_comes_back_into_the_program_of_its_parent(body, code):
    said = run(f"""
        os.dup2(1, 2)
        def role():
            {body}
        child = fork("role", role, [], has_input=False)
        print("parent", child.wait(5))
    """)

    assert said.count("parent") == 1
    assert said.endswith(f"parent {code}\n")


def test_waiting_for_one_that_goes_on_times_out():
    said = run("""
        child = fork("role", lambda: time.sleep(60) or 0, [], has_input=False)
        try:
            child.wait(0.1)
        except subprocess.TimeoutExpired:
            print("goes on")
        child.kill()
        print(child.wait())
    """)

    assert said.split() == ["goes", "on", "-9"]


def test_a_process_with_threads_is_not_forked():
    said = run("""
        print(can_fork())
        end = threading.Event()
        thread = threading.Thread(target=end.wait)
        thread.start()
        print(can_fork())
        end.set()
        thread.join()
    """)

    assert said.split() == ["True", "False"]


@pytest.mark.long
def test_a_session_has_one_thread_when_it_starts_its_roles():
    said = run("""
        from paprle.config import resolve
        from paprle.hosts.live import LiveSession
        from paprle.hosts.plan import make_plan
        words = ("leader=autopilot", "follower=piper", "env=mujoco")
        session = LiveSession(make_plan(resolve(words)))
        print(can_fork())
    """)

    assert said.split() == ["True"]
