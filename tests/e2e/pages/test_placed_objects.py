"""AdaptiX with objects that the operator places: page, advisor, tick, recording."""

import numpy as np
import pytest
from operator_page import PATIENT, Outlook, operate
from running import judge

pytestmark = [
    pytest.mark.process,
    pytest.mark.sim,
    pytest.mark.nightly,
    pytest.mark.timeout(400),
]

TYPED = np.array([0.3, 0.1, 0.25])
TIP = 0.09  # [m] near the tip of an object's arrow
FAR = 0.08  # [m] of a drag
WORDS = [
    "leader.emits=axes",
    "session.objects=[cup, bin]",
    "advisors.helper={type: admc, object: cup, target: bin}",
    "retarget.modes=helper",
    "session.episodes=1",
    "session.duration=2",
    *PATIENT,
]


def test_an_object_is_put_dragged_suggested_and_recorded(tmp_path):
    with operate(tmp_path, "piper", *WORDS) as operator:
        page, outlook = operator.page, Outlook("piper")
        operator.wait_for_picture()
        for name, xyz in (("cup", TYPED), ("bin", TYPED - [0.0, 0.3, 0.0])):
            form = page.locator(f"form[data-object={name}]")
            for k in range(3):
                form.locator("input").nth(k).fill(f"{xyz[k]:.3f}")
            form.locator("button", has_text="Put").click()
        up = np.array([0.0, 0.0, 1.0])
        for _ in range(60):
            if operator.sees_arrow(outlook, TYPED + TIP * up, 2):
                break
            page.wait_for_timeout(500)
        else:
            operator.shoot("placed", tmp_path)
            raise AssertionError("no arrow where the cup is")
        height = page.locator("form[data-object=cup] input").nth(2)
        operator.pull(outlook, TYPED + TIP * up, FAR * up)
        for _ in range(60):
            if float(height.input_value()) > TYPED[2] + 0.5 * FAR:
                break
            page.wait_for_timeout(500)
        else:
            raise AssertionError("the cup was not dragged")
        page.wait_for_timeout(1000)
        dragged = float(height.input_value())
        operator.press.down("m")
        assert operator.session.wait_gone(90.0) == 0
        episode = operator.session.episode()

    assert not judge(episode).violations
    _, cup = episode.objects["cup"]
    np.testing.assert_allclose(cup[-1], [*TYPED[:2], dragged, 0, 0, 0, 1], atol=6e-4)
    mappings = [e for e in episode.events if e["event"] == "mapping"]
    best = np.array(mappings[-1]["D"])[:, 0]
    assert np.count_nonzero(best) > 1, "it was not a suggestion"
