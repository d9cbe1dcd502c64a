"""What the operator is told reaches the terminal."""

import pytest

from paprle.session.status import StatusLine


@pytest.mark.parametrize("enabled", [True, False], ids=["shown", "switched off"])
def test_what_was_told_last_is_shown_at_the_end(enabled, capsys):
    line = StatusLine(lambda: "ENGAGED", enabled=enabled)
    line.open()
    line.tell("a servo is hot")
    line.close()

    assert capsys.readouterr().err == "a servo is hot\n"
