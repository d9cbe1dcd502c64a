"""What a plan may say, and which cells it stands for."""

from __future__ import annotations

import pytest

from paprle.contracts.errors import ConfigError
from paprle_lab.batch.cells import Cell, Cells
from paprle_lab.batch.plan import make_plan, read_plan
from paprle_lab.batch.sources import hash_file

CIRCLE = {"circle": ["leader=autopilot", "leader.size=0.02"]}


def plan_of(tmp_path, **data):
    given = {"leaders": [CIRCLE], "robots": ["piper"]} | data
    return make_plan(given, tmp_path, "PLAN.yaml")


def test_each_combination_is_a_cell_and_the_last_axis_turns_quickest(tmp_path):
    plan = plan_of(tmp_path, robots=["piper", "ur5e"], networks=["none", "4g"], seeds=2)

    cells = Cells(plan)

    told = [(c.index, c.robot, c.network, c.seed) for c in cells]
    assert cells.n == len(told) == 8
    assert told[:3] == [
        (0, "piper", "none", 0),
        (1, "piper", "none", 1),
        (2, "piper", "4g", 0),
    ]
    assert "link.seed=1" in list(cells)[3].words
    assert "link.seed=1" not in list(cells)[1].words


@pytest.mark.sim
def test_random_draws_of_a_world_follow_the_seed(tmp_path):
    plan = plan_of(tmp_path, worlds=["kinematic", "mujoco"], seeds=[4, 7])

    words = {(c.world, c.seed): c.words for c in Cells(plan)}

    assert "env.randomise.seed=7" in words["mujoco", 7]
    assert not any("randomise" in word for word in words["kinematic", 7])


def test_files_are_found_beside_the_plan_and_known_by_their_content(tmp_path):
    (tmp_path / "motions").mkdir()
    for name in ("b", "a"):
        (tmp_path / "motions" / f"{name}.csv").write_text(name)
    path = tmp_path / "PLAN.yaml"
    path.write_text("leaders: [motions/*.csv]\nrobots: [piper]\n")

    cells = list(Cells(read_plan(path)))

    assert [cell.leader for cell in cells] == ["motions/a.csv", "motions/b.csv"]
    (file,) = cells[0].files
    assert file == str(tmp_path / "motions" / "a.csv")
    assert Cell.from_dict(cells[0].to_dict()) == cells[0]


def test_a_setting_that_names_a_file_beside_the_plan_is_that_file(tmp_path):
    (tmp_path / "net.onnx").write_text("a network")
    leader = {"cup": ["leader=policy", "leader.path=net.onnx", "leader.fps=10"]}

    (cell,) = Cells(plan_of(tmp_path, leaders=[leader]))

    assert f"leader.path={tmp_path}/net.onnx" in cell.words
    assert list(cell.files) == [f"{tmp_path}/net.onnx"]
    assert "leader.fps=10" in cell.words


@pytest.mark.long
def test_another_file_or_setting_is_another_plan(tmp_path):
    (tmp_path / "a.csv").write_text("one")
    digests = set()
    for settings in ([], ["session.rate=100"]):
        plan = plan_of(tmp_path, leaders=["a.csv"], settings=settings)
        digests |= {Cells(plan).compute_digest(), Cells(plan).compute_digest()}
    (tmp_path / "a.csv").write_text("two")
    hash_file.cache_clear()
    digests.add(Cells(plan_of(tmp_path, leaders=["a.csv"])).compute_digest())

    assert len(digests) == 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"robots": []}, "expected leaders and robots"),
        ({"leaders": ["nothing/*.csv"]}, "expected a file, got 'nothing/"),
        ({"robot": ["piper"]}, "plan.robot: unknown key"),
        ({"settings": ["record.dir=X"]}, "'record.dir' is set by the batch"),
        ({"settings": ["fast"]}, "expected key=value, got 'fast'"),
        ({"seeds": [1, 1]}, "numbers that differ"),
        ({"robots": ["piper", "piper"]}, "names that differ, got 'piper' twice"),
        ({"variants": ["slow"]}, "expected 'name: "),
        ({"work": "evaluate"}, "expected some for work 'evaluate'"),
        ({"retries": -1}, "plan.retries"),
        ({"seeds": []}, "plan.seeds"),
        ({"networks": []}, "plan.networks"),
    ],
)
def test_mistakes_of_a_plan_are_reported(tmp_path, data, message):
    with pytest.raises(ConfigError, match=message.replace("*", r"\*")):
        plan_of(tmp_path, **data)


def test_seeds_where_nothing_is_drawn_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="draw anything at random"):
        Cells(plan_of(tmp_path, seeds=3))
