"""Several leaders in one config: their files, their keys, their mistakes."""

from __future__ import annotations

import json

import pytest

from paprle.config import Resolved, resolve
from paprle.config.explain import explain
from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.leader_group import ALONE
from paprle.ipc.process import WORKSPACE

TRIPLE = ("leader=mix", "follower=piper", "env=kinematic")
PAIR = ("leaders.draw.type=autopilot", "leaders.file.type=offline")


@pytest.fixture
def root(tmp_path):
    (tmp_path / "configs").mkdir()
    for part in ("env", "follower"):
        (tmp_path / f"configs/{part}").symlink_to(WORKSPACE / f"configs/{part}")
    (tmp_path / "urdf").symlink_to(WORKSPACE / "urdf")
    for path in (WORKSPACE / "configs/leader").glob("*.yaml"):
        write(tmp_path, f"leader/{path.name}", path.read_text())
    return tmp_path


def write(root, name, text):
    path = root / "configs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def find_problems(root, *args):
    with pytest.raises(ConfigError) as caught:
        resolve((*TRIPLE, *args), root)
    return "\n".join(caught.value.problems)


def test_each_leader_takes_the_values_of_its_own_yaml(root):
    resolved = resolve((*TRIPLE, *PAIR, "leaders.draw.size=0.05"), root)

    draw, file = resolved.leaders["draw"], resolved.leaders["file"]
    assert resolved.leader_name == "mix"
    assert (draw.name, draw.type, draw.config.size) == ("autopilot", "autopilot", 0.05)
    assert draw.config.speed == 0.05, "as configs/leader/autopilot.yaml says"
    assert file.config.max_gap == 0.25
    assert resolved.sources["leaders.draw.size"] == "command line"
    assert resolved.sources["leaders.draw.speed"] == "configs/leader/autopilot.yaml"


def test_a_leader_may_be_of_a_yaml_that_names_another_plug_in(root):
    resolved = resolve((*TRIPLE, "leaders.left.type=puppeteer_piper"), root)

    left = resolved.leaders["left"]
    assert (left.name, left.type) == ("puppeteer_piper", "puppeteer")
    assert left.config.limbs["arm"].port == "/dev/ttyUSB0"


def test_a_kind_stands_for_the_rig_of_the_follower(root):
    resolved = resolve((*TRIPLE, "leaders.left.type=puppeteer"), root)

    assert resolved.leaders["left"].name == "puppeteer_piper"


def test_sites_and_yamls_name_leaders_and_the_command_line_wins(root):
    write(root, "leader/desk.yaml", "leaders: {a: {type: autopilot, size: 0.2}}")
    write(
        root, "site/leader/desk.yaml", "leaders: {a: {speed: 0.02}, b: {type: offline}}"
    )
    words = ("leader=desk", *TRIPLE[1:], "leaders.a.size=0.3")

    resolved = resolve(words, root)

    assert list(resolved.leaders) == ["a", "b"]
    config = resolved.leaders["a"].config
    assert (config.size, config.speed) == (0.3, 0.02)
    assert resolved.sources["leaders.a.speed"] == "configs/site/leader/desk.yaml"


def test_paths_of_a_leader_are_absolute_and_text_stays_text(
    root, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)

    resolved = resolve((*TRIPLE, *PAIR, "leaders.file.path=2024"), root)

    assert resolved.leaders["file"].config.path == str(tmp_path / "2024")


def test_the_config_of_a_group_crosses_a_process_border_whole(root):
    resolved = resolve((*TRIPLE, *PAIR, "leaders.draw.size=0.07"), root)

    values = json.loads(json.dumps(resolved.to_dict()))

    assert Resolved.from_dict(values) == resolved
    assert values["leader_name"] == "mix"
    assert values["leaders"]["draw"]["config"]["size"] == 0.07


def test_a_rule_of_a_limb_crosses_a_process_border(root):
    words = ("retarget.limbs.arm.rule=relative", "retarget.limbs.arm.from=draw.hand")
    resolved = resolve((*TRIPLE, *PAIR, *words), root)

    again = Resolved.from_dict(json.loads(json.dumps(resolved.to_dict())))

    assert again.retarget.limbs["arm"].from_ == "draw.hand"
    assert again == resolved
    assert "from: draw.hand" in explain(resolved)


def test_the_only_leader_keeps_its_plain_keys(root):
    resolved = resolve(("leader=autopilot", *TRIPLE[1:]), root)

    values = resolved.to_dict()

    assert set(resolved.leaders) == {ALONE}
    assert "leaders" not in values
    assert (values["leader_type"], values["leader"]["speed"]) == ("autopilot", 0.05)
    assert Resolved.from_dict(values) == resolved


def test_the_explanation_can_be_pasted_into_a_yaml(root):
    words = (*TRIPLE, *PAIR, "leaders.draw.size=0.07")
    text = explain(resolve(words, root))
    begin, end = text.index("leaders:"), text.index("\nfollower:")
    write(root, "leader/pasted.yaml", text[begin:end])

    pasted = resolve(("leader=pasted", *TRIPLE[1:]), root)

    assert pasted.leaders == resolve(words, root).leaders


def test_an_empty_group_is_refused_with_an_example(root):
    told = find_problems(root)

    assert told.startswith("leaders: expected one leader or more, got none (configs")
    assert "leaders.left.type=puppeteer_piper" in told


def test_all_mistakes_of_a_group_are_told_at_once(root):
    write(root, "site/leader/mix.yaml", "leaders: {Left: {type: offline}, c: 3}")

    told = find_problems(
        root,
        "leaders.a.type=autopilto",
        "leaders.b.type=autopilot",
        "leaders.b.spede=1",
        "leaders.b.size=-1",
        "leaders.d.path=x",
        "leaders.e.type=mix",
        "leader.speed=3",
    )

    assert "leaders.a.type: expected a leader's name, got 'autopilto'" in told
    assert "did you mean 'autopilot'?" in told
    assert "leaders.b.spede: unknown key (command line); did you mean 'speed'?" in told
    assert "leaders.b.size: expected a number > 0" in told
    assert "leaders.d.type: expected a leader's name, got none" in told
    assert "leaders.e.type: expected one leader, got 'mix', which is several" in told
    assert "leader.speed: expected leaders.<name>.speed" in told
    assert "leaders.Left: expected a name of small letters" in told
    assert (
        "leaders.c: expected a mapping of keys to values, got 3 (configs/site" in told
    )


def test_names_of_leaders_need_a_group(root):
    with pytest.raises(
        ConfigError, match=r"leaders: expected leader=mix, got leader=a"
    ):
        resolve(("leader=autopilot", *TRIPLE[1:], *PAIR), root)


def test_a_group_is_refused_in_place_of_a_single_leader(root):
    resolved = resolve((*TRIPLE, *PAIR), root)

    with pytest.raises(
        ConfigError, match="expected a single one, got 'mix' of draw, f"
    ):
        _ = resolved.leader
