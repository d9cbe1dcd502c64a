"""What ``paprle identify`` writes for a site."""

import yaml

from paprle.cli.identify import write_site
from paprle.config import resolve

RIG = {"loop_delay": 0.02, "viscous": {"arm/joint1": 0.04}}


def test_what_was_found_joins_what_the_site_says(tmp_path):
    path = tmp_path / "configs/site/session.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("session: {rate: 100}\nfeedback: {rig: {dead_time: 0.03}}\n")
    write_site(path, RIG)

    assert yaml.safe_load(path.read_text()) == {
        "session": {"rate": 100},
        "feedback": {"rig": {"dead_time": 0.03, **RIG}},
    }


def test_a_site_without_settings_gets_some_that_resolve(tmp_path):
    path = tmp_path / "session.yaml"
    write_site(path, {"dead_time": 0.01, "time_constant": 0.02})
    rig = yaml.safe_load(path.read_text())["feedback"]["rig"]
    words = [f"feedback.rig.{key}={value}" for key, value in rig.items()]
    resolved = resolve(["leader=autopilot", "follower=piper", "env=kinematic", *words])

    assert resolved.feedback.rig.dead_time == 0.01
