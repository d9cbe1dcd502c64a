"""Measurements of speed, memory and accuracy (``docs/performance.md``)."""

from paprle.ipc.threads import limit_threads

limit_threads()  # as in the processes of a session
