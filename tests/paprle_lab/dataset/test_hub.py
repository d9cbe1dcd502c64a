"""Data sets are pushed to a Hub, and come back from it as they were."""

import json
import subprocess
import sys

import hub_server
import pytest
from filmed import write_episode

pytest.importorskip("pyarrow")
pytest.importorskip("huggingface_hub")

from paprle.contracts.errors import RecordingError
from paprle_lab.dataset import hub as hub_of_sets
from paprle_lab.dataset.create import create

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    write_episode(folder, 0.6, task="pick")
    return folder


@pytest.fixture
def made(recorded, tmp_path):
    create([recorded], tmp_path / "set", "lerobot")
    return tmp_path / "set"


@pytest.fixture
def hub():
    with hub_server.Hub() as server:
        yield server


def run(hub, tmp_path, *words, token=hub_server.TOKEN):
    """Run Python with a Hub and a home of its own."""
    env = {
        "HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf"), "HOME": str(tmp_path),
        "HF_HUB_DISABLE_XET": "1", "PATH": "/usr/bin:/bin",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, *words],
        env=env | ({"HF_TOKEN": token} if token else {}),
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def push(hub, made, *words, **options):
    words = ("-m", "paprle", "dataset", "push", str(made), *words)
    return run(hub, made.parent, *words, **options)


def read_files(root):
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def test_a_pushed_set_comes_back_as_it_was(hub, made, tmp_path):
    done = push(hub, made, "me/circle")

    assert done.returncode == 0, done.stderr
    own = hub.sets["me/circle"]
    assert own["files"] == read_files(made)
    assert own["private"]
    assert set(own["tags"]) == {"v3.0"}
    code = (
        "from huggingface_hub import snapshot_download\n"
        "print(snapshot_download('me/circle', repo_type='dataset', revision='v3.0', "
        "local_dir='back'))"
    )
    got = run(hub, tmp_path, "-c", code.replace("'back'", repr(str(tmp_path / "back"))))
    assert got.returncode == 0, got.stderr
    returned = read_files(tmp_path / "back")
    assert {k: v for k, v in returned.items() if not k.startswith(".")} == own["files"]


def test_a_set_that_has_changed_replaces_its_files(hub, made):
    push(hub, made, "me/circle")
    (made / "meta/extra.json").write_text("{}")
    push(hub, made, "me/circle")
    assert "meta/extra.json" in hub.sets["me/circle"]["files"]
    hub.sets["me/circle"]["files"]["LICENSE"] = b"own words"
    (made / "meta/extra.json").unlink()

    done = push(hub, made, "me/circle")

    assert done.returncode == 0, done.stderr
    files = hub.sets["me/circle"]["files"]
    assert files.pop("LICENSE") == b"own words"
    assert files == read_files(made)
    assert set(hub.sets["me/circle"]["tags"]) == {"v3.0"}


def test_a_public_set_needs_a_licence_which_its_card_states(hub, made):
    refused = push(hub, made, "me/circle", "--public")
    assert refused.returncode == 2
    assert "--license" in refused.stderr
    assert not hub.sets

    done = push(hub, made, "me/circle", "--public", "--license", "cc-by-4.0")

    assert done.returncode == 0, done.stderr
    assert not hub.sets["me/circle"]["private"]
    card = (made / "README.md").read_text()
    assert "license: cc-by-4.0" in card
    assert card.count("## Privacy") == 1
    assert card.startswith("---\n")


def test_a_licence_that_the_hub_does_not_know_is_named(hub, made):
    done = push(hub, made, "me/circle", "--license", "mine")

    assert done.returncode == 2
    assert "must be one of" in done.stderr
    assert not hub.sets.get("me/circle", {}).get("files")


def test_a_private_push_does_not_go_into_a_public_set(hub, made):
    push(hub, made, "me/circle", "--public", "--license", "cc0-1.0")
    before = dict(hub.sets["me/circle"]["files"])
    (made / "meta/secret.json").write_text("{}")

    done = push(hub, made, "me/circle")

    assert done.returncode == 2
    assert "which is public" in done.stderr
    assert hub.sets["me/circle"]["files"] == before


def test_people_and_places_are_named_before_anything_goes_out(hub, made):
    name = str(made.parent)  # the home of these commands
    (made / "meta/report.txt").write_text(f"read {name}/recordings")

    done = push(hub, made, "me/circle", "--dry-run")

    assert done.returncode == 0, done.stderr
    assert "Images of front are as recorded" in done.stdout
    assert "'pick'" in done.stdout
    assert f"'{name}', of this machine, is in meta/report.txt" in done.stdout
    assert not hub.sets


@pytest.mark.parametrize("token", ["", "hf_wrong"])
def test_without_a_token_the_remedy_is_named(hub, made, token):
    done = push(hub, made, "me/circle", token=token)

    assert done.returncode == 2
    assert "hf auth login" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_push_that_was_refused_halfway_goes_on(hub, made):
    hub.fails_after = 1

    done = push(hub, made, "me/circle")

    assert done.returncode == 2
    assert "may not" in done.stderr
    assert not hub.sets["me/circle"]["files"], "no half of a set"
    hub.fails_after = None
    assert push(hub, made, "me/circle").returncode == 0
    assert hub.n_stored == len(hub.blobs), "nothing goes twice"


def test_a_hub_that_cannot_be_reached_is_named(hub, made):
    hub.__exit__()

    done = push(hub, made, "me/circle")

    assert done.returncode == 1
    assert "expected to reach the Hub" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_link_out_of_the_set_is_not_followed(hub, made, tmp_path):
    secret = tmp_path / "secret.parquet"
    secret.write_bytes(b"secret")
    (made / "data/chunk-000/file-001.parquet").symlink_to(secret)

    done = push(hub, made, "me/circle")

    assert done.returncode != 0
    assert "link outside" in done.stderr
    assert not hub.sets


def test_a_card_that_is_a_link_is_not_written(made, tmp_path):
    other = tmp_path / "other.md"
    other.write_text("own words")
    (made / "README.md").unlink()
    (made / "README.md").symlink_to(other)

    with pytest.raises(RecordingError, match="link outside"):
        hub_of_sets.push(made, "me/circle")

    assert other.read_text() == "own words"


@pytest.mark.parametrize("name", ["circle", "me/../you", "a/b/c", "me/ x"])
def test_an_invalid_name_is_refused(hub, made, name):
    done = push(hub, made, name)

    assert done.returncode == 2
    assert not hub.sets


@pytest.mark.parametrize("head", ["a: [", "- 1", "tags: 3"])
def test_a_card_with_broken_metadata_is_named(hub, made, head):
    (made / "README.md").write_text(f"---\n{head}\n---\n# circle\n")

    done = push(hub, made, "me/circle")

    assert done.returncode == 2
    assert "README.md: expected metadata" in done.stderr
    assert not hub.sets


def test_a_set_without_a_card_gets_one(hub, made):
    (made / "README.md").unlink()

    done = push(hub, made, "me/circle")

    assert done.returncode == 0, done.stderr
    card = (made / "README.md").read_text()
    assert "LeRobot" in card
    assert "as recorded" in card
    assert json.loads((made / "meta/info.json").read_text())["codebase_version"] in card
