"""Measurements of speed, memory and accuracy; see ``docs/performance.md``."""

from paprle.ipc.threads import limit_threads

limit_threads()  # as in the processes of a session
