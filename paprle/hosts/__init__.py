"""Hosts: one process per role, on live or virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paprle.hosts.exit_codes import EXIT_CODES, FAILED, NOT_FOLLOWED, NOT_RECORDED

if TYPE_CHECKING:
    from paprle.config import Resolved
    from paprle.hosts.preflight import Rehearsal


def check(resolved: Resolved) -> Rehearsal:
    """Return the findings of a dry run, which opens nothing.

    Raises:
        PaprleError: If the parts do not fit.
    """
    from paprle.hosts.factories import add_view  # noqa: PLC0415 - keeps --help fast
    from paprle.hosts.plan import make_plan  # noqa: PLC0415 - heavy
    from paprle.hosts.preflight import rehearse  # noqa: PLC0415 - heavy
    from paprle.ipc.process import check_memory  # noqa: PLC0415 - heavy

    check_memory()
    is_live = resolved.session.clock == "wall"
    plan = make_plan(add_view(resolved) if is_live else resolved)
    plan.check_space()
    return rehearse(plan)


def run(resolved: Resolved) -> int:
    """Run a session to its end.

    Returns:
        The exit code.

    Raises:
        PaprleError: If the parts do not fit; nothing was started.
    """
    from paprle.hosts.operator.status import print_line  # noqa: PLC0415 - keeps --help fast
    from paprle.ipc.process import (  # noqa: PLC0415 - keeps --help fast
        check_memory,
        ensure_descriptors,
    )

    check_memory()
    if resolved.session.clock == "virtual":
        from paprle.hosts.virtual import VirtualSession  # noqa: PLC0415 - heavy

        session = VirtualSession(resolved)
        print_line(session.plan.describe())
        code = EXIT_CODES.get(session.run(), FAILED)
        if code == 0 and session.was_left:
            return NOT_FOLLOWED
        has_lost = session.recorder is not None and session.recorder.losses
        return NOT_RECORDED if has_lost and code == 0 else code
    from paprle.hosts.factories import add_view  # noqa: PLC0415 - keeps --help fast
    from paprle.hosts.live import LiveSession  # noqa: PLC0415 - heavy
    from paprle.hosts.plan import make_plan  # noqa: PLC0415 - heavy
    from paprle.hosts.precompile import compile_once  # noqa: PLC0415 - heavy
    from paprle.hosts.preflight import check_start  # noqa: PLC0415 - heavy

    plan = make_plan(add_view(resolved))
    plan.check_space()
    check_start(plan)
    ensure_descriptors()
    print_line(plan.describe())
    compile_once()
    return LiveSession(plan).run()
