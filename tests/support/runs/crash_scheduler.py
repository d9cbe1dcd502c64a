"""Distribution of tests by file that goes on after a worker has crashed.

After a crash pytest-xdist 3.8 queues all files of that worker again, also those that
are done: a worker that gets one of these, and nothing to run, waits for ever. So does
the worker in its place if its first file has one test. Workers that have not listed
their tests yet get files, too.
"""

from xdist.scheduler import LoadFileScheduling


class CrashProofScheduling(LoadFileScheduling):
    """Queues what a crashed worker has left, without the test that it crashed in."""

    def remove_node(self, node):
        """Forget a worker; return the test that it crashed in, or None."""
        left = {
            scope: tests
            for scope, tests in self.assigned_work.pop(node).items()
            if not all(tests.values())
        }
        if not left:
            return None
        pending = ((s, t) for s, tests in left.items() for t in tests if not tests[t])
        scope, crashed = next(pending)
        left[scope][crashed] = True
        for scope, tests in left.items():
            if not all(tests.values()):
                self.workqueue[scope] = tests
        for other in self.assigned_work:
            self._reschedule(other)
        return crashed

    def _reschedule(self, node):
        if node not in self.registered_collections:
            return
        super()._reschedule(node)
        # a worker begins a test once it has the next one, or is told that none comes
        while self.workqueue and not node.shutting_down and self._is_waiting(node):
            self._assign_work_unit(node)

    def _is_waiting(self, node):
        return self._pending_of(self.assigned_work[node]) < 2


def make_scheduler(config, log):
    """Return it for ``--dist loadfile``, else None: that of pytest-xdist."""
    is_by_file = config.getvalue("dist") == "loadfile"
    return CrashProofScheduling(config, log) if is_by_file else None
