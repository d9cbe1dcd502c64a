from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from paprle.config import Resolved, resolve
from paprle.config.explain import explain
from paprle.contracts.errors import ConfigError

PLUGIN = """
from __future__ import annotations
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal
from annotated_types import Ge, Gt, Le, Unit, doc
from paprle.contracts.plugins import PluginSpec
from paprle.contracts.settings.base import settings

PLUGIN = PluginSpec(summary="A toy.", config="toy_rig:ToyConfig", factory="toy_rig:Toy")

@settings
class AxisConfig:
    gain: Annotated[float, Gt(0), Unit("N/m"), doc("Stiffness.")] = 1.0

@settings
class ToyConfig:
    speed: Annotated[float, Gt(0), Le(10), Unit("m/s"), doc("Speed of it.")] = 1.0
    port: Annotated[str | None, doc("Serial port.")] = None
    path: Annotated[str | None, Unit("path"), doc("File.")] = None
    files: Annotated[Mapping[str, str], Unit("path")] = field(default_factory=dict)
    laps: Annotated[int, Ge(1)] = 1
    loud: bool = False
    kind: Literal["a", "b"] = "a"
    origin: Annotated[tuple[float, float], Unit("m")] = (0.0, 0.0)
    axes: Mapping[str, AxisConfig] = field(default_factory=dict)
    either: float | tuple[float, ...] = 0.0

class Toy: pass
"""
ENTRIES = """[paprle.leaders]
toy_hand = toy_rig:PLUGIN
[paprle.followers]
toy_sim = toy_rig:PLUGIN
toy_can = toy_rig:PLUGIN
"""
ROBOT = """
urdf: urdf/arm.urdf
limbs:
  arm: {base_link: base, eef_link: tip, home: [0, 1]}
envs:
  toy_sim: {speed: 4}
"""
TRIPLE = ("leader=toy_hand", "follower=arm", "env=toy_sim")


@pytest.fixture(scope="module", autouse=True)
def _toy_plugins(tmp_path_factory):
    """Install a leader and two envs as an outsider would."""
    folder = tmp_path_factory.mktemp("outsider")
    (folder / "toy_rig.py").write_text(PLUGIN)
    info = folder / "toy_rig-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy_rig\nVersion: 1\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    sys.path.insert(0, str(folder))
    yield
    sys.path.remove(str(folder))
    sys.modules.pop("toy_rig", None)


@pytest.fixture(scope="module")
def bare_root(tmp_path_factory):
    return _write(tmp_path_factory.mktemp("bare"), {})


@pytest.fixture
def root(tmp_path):
    return _write(tmp_path, {})


def _write(root: Path, files: dict[str, str]) -> Path:
    for name, text in {"follower/arm": ROBOT, **files}.items():
        path = root / f"configs/{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def _problems(root: Path, *args: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        resolve((*TRIPLE, *args), root)
    return caught.value.problems


def test_plugin_without_yaml_takes_its_defaults(root):
    resolved = resolve(TRIPLE, root)

    assert resolved.leader.speed == 1.0
    assert resolved.leader_type == resolved.leader_name == "toy_hand"
    assert resolved.session.rate == 200.0


def test_robot_paths_are_relative_to_the_workspace(root):
    assert resolve(TRIPLE, root).robot.urdf == str(root / "urdf/arm.urdf")


def test_lists_become_tuples_and_whole_numbers_numbers(root):
    home = resolve(TRIPLE, root).robot.limbs["arm"].home

    assert home == (0.0, 1.0)
    assert all(type(value) is float for value in home)


def test_later_layers_win(root):
    _write(
        root,
        {
            "env/toy_sim": "{speed: 2, laps: 2, loud: true, kind: b}",
            "follower/arm": ROBOT.replace("speed: 4", "speed: 4, laps: 3, loud: false"),
            "site/env/toy_sim": "{laps: 5}",
            "site/session": "session: {rate: 100}\nik: {damping: 0.5}",
        },
    )

    resolved = resolve((*TRIPLE, "env.laps=7", "session.rate=50"), root)

    env = resolved.env
    assert (env.kind, env.speed, env.loud, env.laps) == ("b", 4.0, False, 7)
    assert (resolved.session.rate, resolved.ik.damping) == (50.0, 0.5)
    assert resolved.sources["env.kind"] == "configs/env/toy_sim.yaml"
    assert resolved.sources["env.speed"] == "configs/follower/arm.yaml"
    assert resolved.sources["env.laps"] == "command line"
    assert resolved.sources["ik.damping"] == "configs/site/session.yaml"
    assert resolved.sources["session.max_gap"] == "default"


def test_site_overlay_wins_over_the_robots_env_section(root):
    _write(root, {"site/env/toy_sim": "speed: 9"})

    assert resolve(TRIPLE, root).env.speed == 9.0


def test_yaml_names_its_plugin(root):
    _write(root, {"leader/left_hand": "type: toy_hand\nspeed: 3"})

    resolved = resolve((*TRIPLE, "leader=left_hand"), root)

    assert resolved.leader_name == "left_hand"
    assert resolved.leader_type == "toy_hand"
    assert resolved.leader.speed == 3.0


def test_env_of_another_name_keeps_what_the_robot_needs_in_its_type(root):
    _write(root, {"env/slow_sim": "type: toy_sim\nlaps: 2"})

    env = resolve((*TRIPLE, "env=slow_sim"), root).env

    assert (env.speed, env.laps) == (4.0, 2)


def test_last_of_equal_keys_and_names_wins(root):
    args = ("leader=nobody", *TRIPLE, "leader.speed=2", "leader.speed=3")

    assert resolve(args, root).leader.speed == 3.0


def test_values_of_the_command_line_may_be_lists_and_mappings(root):
    args = (
        "leader.origin=[1, 2]",
        "leader.either=[1, 2]",
        "leader.axes={x: {gain: 5}}",
        "leader.axes.y.gain=6",
        "retarget.limb_map={left: hand}",
    )

    resolved = resolve((*TRIPLE, *args), root)

    assert resolved.leader.origin == (1.0, 2.0)
    assert resolved.leader.either == (1.0, 2.0)
    assert {k: a.gain for k, a in resolved.leader.axes.items()} == {"x": 5.0, "y": 6.0}
    assert resolved.retarget.limb_map == {"left": "hand"}


@pytest.mark.parametrize("text", ["2024", "true", "pick: the cup", "[a", "010", "a=b"])
def test_text_on_the_command_line_needs_no_quotes(root, text):
    resolved = resolve((*TRIPLE, f"record.task={text}", f"leader.port={text}"), root)

    assert resolved.record.task == text
    assert resolved.leader.port == text


def test_null_on_the_command_line_unsets_what_may_be_absent(root):
    _write(root, {"leader/toy_hand": "port: /dev/x"})

    assert resolve((*TRIPLE, "leader.port=null"), root).leader.port is None


def test_typed_paths_are_relative_to_the_working_directory(root, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    _write(root, {"leader/toy_hand": "files: {left: a.csv}"})

    args = ("leader.path=../x.csv", "record.dir=OUT", "leader.files.right=b.csv")
    resolved = resolve((*TRIPLE, *args), root)

    assert resolved.leader.path == str(tmp_path / "x.csv")
    assert resolved.record.dir == str(tmp_path / "here/OUT")
    assert resolved.leader.files == {
        "left": str(root / "a.csv"),
        "right": str(tmp_path / "here/b.csv"),
    }


def test_a_path_that_is_a_link_stays_one(root, tmp_path, monkeypatch):
    """``bin/python`` of an environment is one, and a device under by-id."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "python3").touch()
    (tmp_path / "bin/python").symlink_to(tmp_path / "python3")
    monkeypatch.chdir(tmp_path)

    resolved = resolve((*TRIPLE, "leader.path=bin/python"), root)

    assert resolved.leader.path == str(tmp_path / "bin/python")


def test_interpolation_follows_keys_of_other_sections_and_defaults(root):
    _write(root, {"leader/toy_hand": "speed: ${env.speed}\nlaps: ${gate.k}"})
    args = (*TRIPLE, "leader.laps=2", "env.port=${session.rate} Hz")

    resolved = resolve(args, root)

    assert resolved.leader.speed == 4.0
    assert resolved.env.port == "200.0 Hz"


@pytest.mark.long
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["leader=toy_hnd"], r"leader: unknown name 'toy_hnd'.*mean 'toy_hand'\?"),
        (["follower=arn"], r"follower: unknown name 'arn'.*did you mean 'arm'\?"),
        (["env=toy_smi"], r"env: unknown name 'toy_smi'.*did you mean 'toy_sim'\?"),
        (["leader=os.system"], "leader: unknown name 'os.system'"),
        (["leader=../leader/x"], "leader: unknown name"),
        (["leader.type=os.system"], "leader 'os.system': unknown name"),
        (["leader.type=[a]"], "leader.type: expected a plug-in's name, got .'a'."),
        (["env=toy_can"], "expected an env of follower 'arm', got 'toy_can'.*toy_sim"),
        (["leader.speed=abc"], r"leader.speed: expected a number > 0 and ≤ 10 \[m/s\], "
         r"got 'abc' \(command line\)"),
        (["session.rate=5000"], r"session.rate: expected a number ≤ 1000 \[Hz\], "
         r"got 5000 \(command line\)"),
        (["leader.speed=0"], r"expected a number > 0 \[m/s\], got 0"),
        (["leader.speed='3'"], r"got '3'"),
        (["leader.speed=true"], r"got true"),
        (["leader.speed=.nan"], r"expected a finite number"),
        (["leader.speed=.inf"], r"expected a (finite )?number"),
        (["leader.speed=1e999"], r"expected a (finite )?number"),
        (["leader.speed=null"], r"got null"),
        (["leader.laps=1.5"], "leader.laps: expected a whole number ≥ 1, got 1.5"),
        (["leader.laps=true"], "expected a whole number ≥ 1, got true"),
        (["leader.loud=1"], "loud: expected true or false, got 1"),
        (["leader.kind=c"], "leader.kind: expected 'a' or 'b', got 'c'"),
        (["leader.spede=1"], r"leader.spede: unknown key \(command line\); did "
         r"you mean 'speed'\?"),
        (["leader.speed.x=1"], "leader.speed: expected a number"),
        (["leader.origin=[1]"], "origin.1: expected a value, got none"),
        (["leader.origin=[1, 2, 3]"], "leader.origin: expected at most 2 values"),
        (["leader.origin=[1, x]"], r"origin.1: expected a number \[m\], got 'x'"),
        (["leader.axes=3"], "leader.axes: expected a mapping"),
        (["leader.axes.x=3"], "leader.axes.x: expected a mapping"),
        (["leader.axes.x.gian=3"], r"leader.axes.x.gian: unknown.*mean 'gain'\?"),
        (["leader.axes.x.gain=0"], r"expected a number > 0 \[N/m\], got 0"),
        (["retarget.joint_map={a: {joint: b, sign: true}}"], "sign: expected -1 or 1, "
         "got true"),
        (["follower.limbs.arm.joints=x"], "limbs.arm.joints: expected a list, got 'x'"),
        (["follower.limbs={a: {}}", ""], "command line: expected key=value, got ''"),
        (["sesion.rate=1"], r"sesion.rate: unknown key .*did you mean 'session'\?"),
        (["session=1"], "session: unknown key"),
        (["rate"], "command line: expected key=value, got 'rate'"),
        (["session..rate=1"], "expected key=value, got 'session..rate=1'"),
        (["=1"], "expected key=value"),
        (["leader.port=${oc.env:HOME}"], r"leader.port \(command line\): .*oc.env"),
        (["leader.port=${a.b}"], "leader.port: expected a value at 'a.b', got none"),
        (["leader.port=${leader.port}"], "got another interpolation"),
        (["leader.port=!!python/name:os.system x"], "got the tag"),
        (["leader.speed=" + "[" * 3000], "at most 12 levels"),
        (["leader.port=a\x00b"], r"U\+0000"),
        (["leader.port=\udcff"], r"U\+DCFF"),
    ],
)  # fmt: skip
def test_mistake_on_the_command_line_gets_one_clear_message(bare_root, args, message):
    problems = _problems(bare_root, *args)

    matching = [line for line in problems if re.search(message, line)]
    assert len(matching) == 1, problems
    assert len(problems) == 1 or args[-1] == ""


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"leader/toy_hand": "baudrate: 3"}, r"leader.baudrate: unknown key "
         r"\(configs/leader/toy_hand.yaml\); keys: axes"),
        ({"leader/toy_hand": "speed: 1\nspeed: 2"}, "toy_hand.yaml line 2: .*once"),
        ({"leader/toy_hand": "- 1"}, "toy_hand.yaml: expected a mapping"),
        ({"env/toy_sim": "a:\n\tb: 1"}, "env/toy_sim.yaml line 2: .*spaces"),
        ({"env/toy_sim": "port: ${oc.env:HOME}\nlaps: 1"}, "toy_sim.yaml line 1:"),
        ({"site/env/toy_sim": "speed: fast"}, r"\(configs/site/env/toy_sim.yaml\)"),
        ({"site/session": "leader: {speed: 1}"}, r"leader: unknown.*configs/site/se"),
        ({"site/session": "sesion: {}"}, r"did you mean 'session'\?"),
        ({"site/session": "session: 3"}, "session: expected a mapping.*site/session"),
        ({"follower/arm": "envs: {toy_sim: {}}"}, r"follower.urdf: expected a value, "
         r"got none \(configs/follower/arm.yaml\)"),
        ({"follower/arm": ROBOT + "hold: [1]"}, "follower.hold: expected a mapping"),
        ({"follower/arm": "urdf: x\nenvs: [toy_sim]"}, "follower.envs: expected a map"),
        ({"follower/arm": "urdf: x\nenvs: {toy_sim: {sped: 1}}"}, r"env.sped: unknown "
         r"key \(configs/follower/arm.yaml\); did you mean 'speed'"),
        ({"leader/toy_hand": "type: nobody"}, "leader 'nobody': unknown name"),
        ({"leader/toy_hand": "path: ${follower}"}, "leader.path: expected text"),
    ],
)  # fmt: skip
def test_mistake_in_a_file_names_the_file(root, files, message):
    _write(root, files)

    problems = _problems(root, *(["env=kinematic"] if "envs: [" in str(files) else []))

    assert any(re.search(message, line) for line in problems), problems
    assert len(problems) <= (2 if "envs: [" in str(files) else 1)


def test_yaml_without_a_plugin_of_its_name_says_so(root):
    _write(root, {"leader/mystery": "speed: 1"})

    assert "leader 'mystery': unknown name" in _problems(root, "leader=mystery")[0]


def test_all_mistakes_of_all_places_are_told_at_once(root):
    _write(
        root,
        {
            "leader/toy_hand": "speed: fast",
            "env/toy_sim": "lapz: 1",
            "site/session": "gate: {reduced_scale: 2}",
        },
    )

    problems = _problems(root, "record.flush=1", "follwer.urdf=x")

    assert len(problems) == 5
    for place in ("leader/toy_hand.yaml", "env/toy_sim.yaml", "site/session.yaml"):
        assert sum(f"configs/{place}" in line for line in problems) == 1
    assert sum("command line" in line for line in problems) == 2


def test_missing_names_list_what_exists(root):
    with pytest.raises(ConfigError) as caught:
        resolve([], root)

    leader, follower, env = caught.value.problems
    assert re.search(r"expected leader=<name>, got none; there are: .*toy_hand", leader)
    assert follower.endswith("there are: arm")
    assert "toy_sim" in env


def test_survives_json_into_another_process(root):
    resolved = resolve((*TRIPLE, "leader.axes.x.gain=2", "leader.origin=[1, 2]"), root)

    values = json.loads(json.dumps(resolved.to_dict(), allow_nan=False))

    assert Resolved.from_dict(values) == resolved
    assert type(Resolved.from_dict(values).leader) is type(resolved.leader)


def test_from_dict_validates_again(root):
    values = resolve(TRIPLE, root).to_dict()
    values["session"]["rate"] = "fast"

    with pytest.raises(ConfigError, match="session.rate: expected a number"):
        Resolved.from_dict(values)
    with pytest.raises(ConfigError, match="expected the key 'leader_name'"):
        Resolved.from_dict({})


def test_explain_says_value_unit_bounds_meaning_and_place(root):
    text = explain(resolve((*TRIPLE, "leader.axes.x.gain=2"), root))

    assert re.search(r"  rate: 200.0 +# \[Hz\] ≥ 1, ≤ 1000 Rate of the tick\.", text)
    assert re.search(
        r"speed: 4.0? +# \[m/s\] > 0, ≤ 10 Speed of it\. · configs/f", text
    )
    assert re.search(r"gain: 2.0 +# \[N/m\] > 0 Stiffness\. · command line", text)


KEYS = st.sampled_from(
    ["leader.speed", "leader.axes", "leader.axes.x", "leader.type", "env.origin",
     "follower.limbs", "follower.limbs.arm.home", "follower.envs", "session.rate",
     "follower.envs.toy_sim", "retarget.limb_map", "leader.files", "record.dir"]
)  # fmt: skip
VALUES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["{}", "[]", "null", "{a: {b: 1}}", "[[1]]", "${env.speed}",
                     "${leader}", "x${leader.axes}", "{speed: ${env.laps}}", "???"]),
)  # fmt: skip
ARGS = st.lists(
    st.one_of(st.text(max_size=15), st.builds("{}={}".format, KEYS, VALUES)), max_size=5
)


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ARGS)
@example(["leader.files=~nobody"])
def test_any_command_line_resolves_or_is_refused_with_a_config_error(bare_root, args):
    try:
        resolved = resolve((*TRIPLE, *args), bare_root)
    except ConfigError as err:
        assert all(err.problems)
    else:
        assert (
            Resolved.from_dict(json.loads(json.dumps(resolved.to_dict()))) == resolved
        )
