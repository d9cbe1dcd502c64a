"""Questions with defaults, wrong answers and ways out."""

import pytest
from scripted_rig import Person

from paprle_lab.quickstart.cameras import ConnectedCamera, choose_cameras
from paprle_lab.quickstart.dialogue import Quit

FOUND = [
    ConnectedCamera(
        "opencv: C920", {"type": "opencv", "device": "/dev/v4l/by-id/c920"}
    ),
    ConnectedCamera("opencv: wrist", {"type": "opencv", "device": "/dev/video2"}),
    ConnectedCamera("realsense: D405", {"type": "realsense", "serial": "7"}),
]


def test_enter_takes_the_default_and_q_leaves():
    assert Person("").ask("task", "wave") == "wave"
    assert Person("").agrees("so?") is True
    assert Person("").agrees("so?", default=False) is False
    with pytest.raises(Quit):
        Person("q").ask("task")


def test_a_wrong_answer_is_asked_again():
    person = Person("0", "4", "x", "2")

    assert person.choose("which", ["a", "b", "c"]) == 1
    assert "expected a number from 1 to 3, got '4'" in person.text
    assert Person("perhaps", "no").agrees("so?") is False


def test_defaults_replace_questions_in_a_brief_dialogue():
    person = Person(is_brief=True)

    assert person.choose("which", ["a", "b"], 1) == 1
    assert person.agrees("so?", default=False) is False
    assert person.ask("task", "wave") == "wave"


def test_up_to_two_cameras_are_chosen_by_number_or_address():
    assert choose_cameras(FOUND, Person("")) == {}
    assert choose_cameras(FOUND, Person("3 1")) == {
        "front": FOUND[2].settings, "wrist": FOUND[0].settings,
    }  # fmt: skip


def test_a_camera_on_the_network_is_looked_at_for_the_size_of_its_images():
    http_camera = pytest.importorskip("paprle_emulators.camera.http_camera")
    with http_camera.HttpCamera(320, 240, 30.0) as camera:
        chosen = choose_cameras([], Person(camera.url))

    size = {"width": "320", "height": "240"}
    assert chosen == {"front": {"type": "opencv", "device": camera.url, **size}}


def test_an_address_without_a_camera_is_asked_for_again():
    pytest.importorskip("cv2")
    person = Person("http://127.0.0.1:1/none", "")

    assert choose_cameras([], person) == {}
    assert "is the address right" in person.text


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("1 2 3", "expected at most 2 cameras, got 3"),
        ("4", "expected a number from 1 to 3 or an address, got '4'"),
        ("1 1", "expected two different cameras, got one twice"),
    ],
)
def test_a_wrong_choice_of_cameras_is_explained(answer, told):
    person = Person(answer, "")

    assert choose_cameras(FOUND, person) == {}
    assert told in person.text
