"""The viewer of recordings as a process, for a browser."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from contextlib import contextmanager

from paprle.ipc.process import WORKSPACE

_CODE = "import sys; from paprle.cli import main; sys.exit(main())"


@contextmanager
def serve_films(folder):
    """Yield the address of ``paprle view`` of a folder; it has to end well."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", _CODE, "view", str(folder)],
        stdout=subprocess.PIPE, text=True, cwd=WORKSPACE,
    )  # fmt: skip
    try:
        lines = iter(process.stdout.readline, "")
        found = (re.search(r"open (\S+)", line) for line in lines)
        yield next(one[1] for one in found if one)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
