"""The wheel is the whole product: configs and robots come with it (acceptance 6).

``PYTHONS`` names the interpreters that the nightly test tries, separated by colons;
without it those are tried that pyenv, uv and the path know.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser

import pytest
from cells import spread
from packaging.requirements import Requirement
from pythons import VERSIONS, find_pythons
from wheels import build, copy_checkout

from paprle.contracts.kinds import PLUGIN_FOLDERS
from paprle.ipc.process import WORKSPACE

pytestmark = pytest.mark.process
MAIN = "import sys; from paprle.cli import main; sys.exit(main())"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return copy_checkout(tmp_path_factory.mktemp("copy"))


@pytest.fixture(scope="module")
def wheel(copy, tmp_path_factory):
    """The wheel, built by the tool that pyproject.toml names, from a clean copy."""
    return build(copy, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def paprle(unpacked, cwd, *words, **env):
    """Run the unpacked wheel in another folder, with this environment's libraries."""
    return subprocess.run(
        [sys.executable, "-c", MAIN, *words],
        cwd=cwd, capture_output=True, text=True, timeout=110, check=False,
        env=os.environ | {"PYTHONPATH": str(unpacked), "HOME": str(cwd)} | env,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.parametrize("folder", ["configs/leader", "configs/follower", "urdf"])
def test_everything_that_is_read_is_in_the_wheel(unpacked, folder):
    here = {p.relative_to(WORKSPACE) for p in (WORKSPACE / folder).rglob("*.*")}
    there = {p.relative_to(unpacked / "paprle/data") for p in unpacked.rglob("*.*")
             if p.is_relative_to(unpacked / "paprle/data" / folder)}  # fmt: skip

    assert there == {path for path in here if (WORKSPACE / path).is_file()}


def test_licence_notice_and_citation_are_in_the_wheel(unpacked):
    found = {path.name for path in unpacked.glob("*.dist-info/licenses/*")}

    assert found == {"LICENSE", "NOTICE", "CITATION.cff"}
    metadata = next(unpacked.glob("*.dist-info/METADATA")).read_text()
    assert "License-Expression: Apache-2.0" in metadata


@pytest.mark.parametrize(
    "source", sorted(WORKSPACE.glob("urdf/*/SOURCE.md")), ids=lambda p: p.parent.name
)
def test_the_notice_names_the_origin_of_each_robot(source):
    notice = (WORKSPACE / "NOTICE").read_text()
    origins = (
        "uiuckimlab/PAPRLE",
        "open_manipulator",
        "relaxed_ik_core",
        "sawyer_robot",
        "kinova-ros",
        "SO-ARM100",
        "Universal_Robots_ROS2_Description",
        "xarm_ros2",
        "openarm_description",
        "i2rt-robotics/i2rt",
        "franka_description",
        "interbotix_ros_manipulators",
        "Robotiq's instruction manual",
        "robotiq_hande_description",
    )

    named = [origin for origin in origins if origin in source.read_text()]

    assert named or "`urdf/g1` (its SOURCE.md)" in source.read_text()
    assert all(origin in notice for origin in named)


@pytest.mark.nightly
def test_the_wheel_lists_what_the_checkout_lists(unpacked, tmp_path):
    done = paprle(unpacked, tmp_path, "list")

    assert done.returncode == 0, done.stderr
    assert "BROKEN" not in done.stdout
    for name in ("piper", "g1", "puppeteer_piper", "autopilot", "mujoco", "ros2"):
        assert f"\n  {name} " in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_wheel_finds_its_robots_and_the_users(unpacked, tmp_path):
    site = tmp_path / "settings/paprle/session.yaml"
    site.parent.mkdir(parents=True)
    site.write_text("session: {rate: 100}\n")

    done = paprle(
        unpacked, tmp_path, "run", "leader=autopilot", "follower=piper",
        "env=kinematic", "--dry-run", XDG_CONFIG_HOME=str(tmp_path / "settings"),
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "autopilot → piper in kinematic, 100 [Hz]" in done.stdout


def test_an_editable_install_copies_no_folder(copy, tmp_path):
    with zipfile.ZipFile(build(copy, tmp_path, "editable")) as archive:
        names = [n for n in archive.namelist() if ".dist-info/" not in n]

    assert sorted(names) == ["_paprle.pth", "paprle/py.typed"]


def test_site_packages_gains_two_packages_and_no_more(unpacked):
    found = {path.name for path in unpacked.iterdir() if path.suffix != ".dist-info"}

    assert found == {"paprle", "paprle_lab"}


@pytest.mark.parametrize("folder", ["hardware", *PLUGIN_FOLDERS])
def test_a_folder_of_the_checkout_is_whole_in_the_wheel(unpacked, folder):
    here = {p.relative_to(WORKSPACE) for p in (WORKSPACE / folder).rglob("*.*")}
    there = {p.relative_to(unpacked / "paprle") for p in unpacked.rglob("*.*")
             if p.is_relative_to(unpacked / "paprle" / folder)}  # fmt: skip
    is_code = lambda path: "__pycache__" not in path.parts  # noqa: E731

    assert set(filter(is_code, there)) == set(filter(is_code, here))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", spread(["cameras", "hardware", "leaders", "links"], "hardware")
)
def test_a_package_of_the_same_name_as_a_folder_does_no_harm(unpacked, tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("raise ValueError('of another')")
    path = os.pathsep.join([str(tmp_path), str(unpacked)])
    words = ("leader=autopilot", "follower=piper", "env=kinematic", "--dry-run")

    done = paprle(unpacked, tmp_path, "run", *words, PYTHONPATH=path)

    assert done.returncode == 0, done.stderr


def test_the_core_runs_without_the_lab(unpacked, tmp_path):
    core = tmp_path / "core"
    shutil.copytree(unpacked, core, ignore=shutil.ignore_patterns("paprle_lab"))
    for info in core.glob("*.dist-info"):
        (info / "entry_points.txt").unlink()

    done = paprle(
        core, tmp_path, "run", "leader=autopilot", "follower=piper", "env=kinematic",
        "session.clock=virtual", "session.episodes=1", "session.duration=0.1",
        "record.dir=out", NUMBA_DISABLE_JIT="1",  # kernels of a new place are compiled
    )  # fmt: skip
    shown = paprle(core, tmp_path, "info", "out/episode_000000.mcap")

    assert done.returncode == 0, done.stderr
    assert shown.returncode == 0, shown.stderr


@pytest.mark.nightly
@pytest.mark.timeout(1800)  # everything is installed and compiled afresh
@pytest.mark.parametrize("extras", ["", "[sim,report]"], ids=["bare", "sim"])
@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheel_runs_its_demo_in_an_empty_environment_and_folder(
    wheel, tmp_path, version, extras
):
    python = find_pythons().get(version)
    if python is None:
        pytest.skip(f"no Python {version} here; pyenv or uv installs one")
    (tmp_path / "empty").mkdir()
    subprocess.run([python, "-m", "venv", tmp_path / "env"], check=True)
    pip = [tmp_path / "env/bin/python", "-m", "pip", "install", "--quiet"]
    # what comes with Python 3.10 looks for half an hour for versions that fit
    subprocess.run([*pip, "--upgrade", "pip"], check=True)
    subprocess.run([*pip, f"paprle{extras} @ {wheel.as_uri()}"], check=True)
    clean = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH"}}

    done = subprocess.run(
        [tmp_path / "env/bin/paprle", "demo"],
        cwd=tmp_path / "empty", capture_output=True, text=True, check=False,
        env=clean | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        stdin=subprocess.DEVNULL,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    made = {path.name for path in (tmp_path / "empty/demo").iterdir()}
    assert {"episode_000000.mcap", "episode_000000.json"} <= made
    assert "targets      reached 100 %" in done.stdout
    assert any(name.endswith(".html") for name in made) is bool(extras)


KITS = {"test", "bench", "docs", "dev"}  # of those who work on it


def list_requirements(metadata, extra, version):
    """Yield what an extra asks for on a version of Python, paprle's own resolved.

    pip judges these by the Python that it runs on, whichever it is asked for.
    """
    env = {"extra": extra, "python_version": version, "python_full_version": version}
    for line in metadata.get_all("Requires-Dist"):
        wanted = Requirement(line)
        if wanted.marker is not None and not wanted.marker.evaluate(env):
            continue
        wanted.marker = None
        if wanted.name not in {"paprle", "paprle-emulators"}:
            yield str(wanted)
        for own in wanted.extras if wanted.name == "paprle" else ():
            yield from list_requirements(metadata, own, version)


def find_wheels(requirements, folder, *options):
    """Let pip resolve requirements for Python 3.14 from wheels alone."""
    return subprocess.run(
        [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet",
         "--python-version", "3.14", "--only-binary", ":all:", "--target", folder,
         *options, *requirements],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.nightly
@pytest.mark.timeout(1800)  # pip asks for the metadata of a hundred packages
def test_all_has_wheels_for_python_3_14_but_what_the_page_names(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith("/METADATA")]
        metadata = Parser().parsestr(archive.read(name).decode())
    extras = set(metadata.get_all("Provides-Extra")) - KITS
    said = re.search(
        r"For 3\.14 all packages have wheels but those\s+of ([^;.]*)",
        (WORKSPACE / "docs/getting_started.md").read_text(),
    )[1]
    without = set(re.findall(r"`(\S+)`", said))
    assert without <= extras

    wanted = {
        line
        for extra in extras - without
        for line in list_requirements(metadata, extra, "3.14")
    }
    done = find_wheels(sorted(wanted), tmp_path)

    assert done.returncode == 0, done.stderr
    for extra in without:
        own = list_requirements(metadata, extra, "3.13")
        own = sorted(set(own) - wanted)
        done = find_wheels(own, tmp_path, "--no-deps")
        assert done.returncode, f"{own} have wheels by now: the page may say so"
