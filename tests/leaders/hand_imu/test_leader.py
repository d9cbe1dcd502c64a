"""The leader of a bare hand, on recorded hands and on the contract suite."""

import numpy as np
import pytest
from hand_films import FPS, START, Stage, write_film

from paprle.contracts.errors import DeviceError
from paprle.contracts.types import SessionState
from paprle.hardware.hand.frames import Hand
from paprle.leaders.hand_imu.config import CameraConfig, HandImuConfig, ImuConfig
from paprle.leaders.hand_imu.leader import HandImu
from paprle.testing import LeaderContract, ManualClock, make_feedback
from paprle_emulators.hand.model import make_hand

HOLD = 0.5
STEP = 0.005


class Play:
    """A leader whose hand a test moves."""

    def __init__(self, clock, **config):
        self.clock = clock
        self.leader = HandImu(HandImuConfig(hold=HOLD, **config), clock)
        self.stage = self.leader._source = Stage(clock)
        self.p, self.curl, self.psi, self.run = START.copy(), 0.0, 0.0, 1
        self.is_shown, self.other = True, ()
        self.n = 0
        self.samples = []

    def hands(self):
        own = [make_hand(self.p, curl=self.curl)] if self.is_shown else []
        return (*own, *self.other)

    def step(self, seconds, velocity=(0.0, 0.0, 0.0), show=None):
        for _ in range(round(seconds / STEP)):
            self.clock.advance(STEP)
            self.n += 1
            self.p = self.p + STEP * np.array(velocity)
            self.stage.turn(self.psi, self.run)
            if self.n % round(1 / (FPS * STEP)) == 0:
                self.stage.show(*(self.hands() if show is None else show(self)))
            sample = self.leader.latest()
            if sample is not None:
                self.samples.append(sample)
        return self.samples[-1] if self.samples else None

    def tell(self, state):
        self.leader.apply(make_feedback(state, stamp_ns=self.clock()))

    def engage(self):
        self.step(HOLD + 0.4)
        assert self.samples[-1].engaged
        self.tell(SessionState.ALIGNING)
        self.tell(SessionState.ENGAGED)
        return self


def position(sample):
    return np.array(sample.limbs["hand"].T_leader_base_leader_eef.translation)


def rotation(sample):
    return np.array(sample.limbs["hand"].T_leader_base_leader_eef.rotation)


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def play(clock):
    return Play(clock)


def test_a_hand_held_still_engages_after_its_time_and_not_before(play):
    play.step(HOLD - 0.1)
    assert not play.samples[-1].engaged

    play.step(0.4)

    assert play.samples[-1].engaged
    assert play.samples[-1].start
    assert play.samples[-1].valid


def test_a_hand_that_leaves_its_box_begins_to_wait_anew(play):
    play.step(HOLD - 0.1)
    play.step(0.3, velocity=(0.5, 0.0, 0.0))
    assert not play.samples[-1].engaged

    play.step(HOLD - 0.15)
    assert not play.samples[-1].engaged

    play.step(0.4)
    assert play.samples[-1].engaged


def test_a_fist_held_still_engages_nothing(play):
    play.curl = 1.0

    play.step(3 * HOLD)

    assert not play.samples[-1].engaged


@pytest.mark.parametrize(
    ("velocity", "moved"),
    [
        ((0, 0, -0.1), (0.1, 0, 0)),
        ((0.1, 0, 0), (0, 0.1, 0)),
        ((0, -0.1, 0), (0, 0, 0.1)),
    ],
    ids=["forward", "left", "up"],
)  # fmt: skip
def test_motions_are_the_operators(play, velocity, moved):
    begin = position(play.engage().samples[-1])

    play.step(1.0, velocity=velocity)
    play.step(0.3)

    assert position(play.samples[-1]) - begin == pytest.approx(moved, abs=2e-3)


def test_heading_at_the_press_is_forward_and_stays(play):
    play.psi = 1.0
    play.engage()
    assert rotation(play.samples[-1]) == pytest.approx(np.eye(3), abs=1e-9)

    play.psi = 1.5
    play.step(0.1)

    turned = rotation(play.samples[-1])
    assert np.arctan2(turned[1, 0], turned[0, 0]) == pytest.approx(0.5)


def test_letting_go_turns_nothing_at_once(play):
    play.engage()
    play.psi = 1.0
    play.step(0.5)
    play.run = 2

    play.step(1.0)

    turns = [
        np.arccos(np.clip((np.trace(rotation(a).T @ rotation(b)) - 1) / 2, -1, 1))
        for a, b in zip(play.samples[-200:-1], play.samples[-199:], strict=True)
    ]
    assert max(turns) < 0.1
    assert rotation(play.samples[-1]) == pytest.approx(np.eye(3), abs=1e-6)


def test_orientation_follows_at_the_sensors_rate_between_images(play):
    play.engage()
    headings = []
    for k in range(40):
        play.psi = 0.01 * k
        play.step(STEP)
        R = rotation(play.samples[-1])
        headings.append(np.arctan2(R[1, 0], R[0, 0]))

    assert np.diff(headings) == pytest.approx(np.full(39, 0.01), abs=1e-9)


def test_velocity_of_the_position_has_no_steps(play):
    play.engage()
    play.step(1.0, velocity=(0.2, 0.0, 0.0))
    play.step(0.5)
    p = np.array([position(s) for s in play.samples])

    v = np.diff(p, axis=0) / STEP
    assert np.abs(v).max() < 0.3
    steps = np.abs(np.diff(v, axis=0)).max()
    assert steps < 0.1, "in one tick: half of the hand's own, whose speed is a step"


def test_five_images_without_the_hand_are_held_through(play):
    play.engage()
    play.is_shown = False
    play.step(5 / FPS)
    assert play.samples[-1].valid

    play.is_shown = True
    play.step(0.2)

    assert play.samples[-1].valid
    assert play.samples[-1].engaged


def test_a_lost_hand_is_flagged_and_needs_another_press(play):
    play.engage()
    play.is_shown = False
    play.step(7 / FPS + 0.05)
    assert not play.samples[-1].valid
    stood = position(play.samples[-1])

    play.is_shown = True
    play.p = play.p + [0.2, 0.0, 0.1]
    play.step(0.3)

    assert play.samples[-1].valid
    assert not play.samples[-1].engaged
    assert position(play.samples[-1]) == pytest.approx(stood, abs=1e-6)


def test_the_path_never_leaps_whatever_depth_says(play):
    rng = np.random.default_rng(0)

    def spoil(play):
        hand = make_hand(play.p)
        z = hand.depth * rng.choice([1.0, 1.0, 1.0, 3.0, 0.3, np.nan], 21)
        return (Hand(hand.label, hand.uv, z, hand.shape),)

    play.engage()
    play.step(5.0, velocity=(0.05, 0.0, 0.0), show=spoil)

    p = np.array([position(s) for s in play.samples])
    assert np.abs(np.diff(p, axis=0)).max() < 3.0 * STEP
    used = p[-1] - p[len(p) - 1000]
    assert np.abs(used[[0, 2]]).max() < 0.05, "outliers are not used"


def test_a_sensor_that_is_silent_is_flagged(play):
    play.engage()
    play.stage.turn = lambda *_: None

    play.step(0.2)

    assert not play.samples[-1].valid
    assert not play.samples[-1].engaged


def test_a_sensor_that_begins_anew_lets_go(play):
    play.engage()
    play.run = 2

    play.step(0.1)

    assert not play.samples[-1].engaged


def test_the_other_hand_lets_go_and_its_fist_ends(play):
    play.engage()
    play.other = (make_hand(START + [0.2, 0, 0], "left"),)
    play.step(0.5)
    assert not play.samples[-1].engaged
    assert not play.samples[-1].end

    play.other = (make_hand(START + [0.2, 0, 0], "left", curl=1.0),)
    play.step(1.5)
    assert play.samples[-1].end

    play.other = ()
    play.step(0.2)
    assert not play.samples[-1].end


def test_a_hand_that_is_taken_for_the_other_one_for_an_image_goes_on(play):
    play.engage()
    play.other = (make_hand(START, "left"),)
    play.is_shown = False
    play.step(2 / FPS)
    play.other, play.is_shown = (), True

    play.step(0.5)

    assert play.samples[-1].engaged


@pytest.mark.parametrize(
    "state", [SessionState.CLUTCHED, SessionState.RESETTING, SessionState.STOPPED]
)
def test_a_press_is_used_up_when_the_session_follows_no_more(play, state):
    play.engage()

    play.tell(state)
    play.step(0.1)
    assert not play.samples[-1].engaged

    play.tell(SessionState.WAITING)
    play.step(HOLD + 0.4)
    assert play.samples[-1].start


def test_a_fist_closes_the_gripper_and_an_open_hand_opens_it(play):
    play.engage()
    play.curl = 1.0
    play.step(0.4)
    assert play.samples[-1].limbs["hand"].opening == 0.0

    play.curl = 0.0
    play.step(0.4)
    assert play.samples[-1].limbs["hand"].opening == 1.0
    assert play.samples[-1].engaged


def test_a_hand_that_is_found_as_a_fist_was_not_seen_open(play):
    play.engage()
    play.is_shown = False
    play.step(1.0)
    n = len(play.samples)
    play.is_shown, play.curl = True, 1.0

    play.step(1.0)

    openings = [sample.limbs["hand"].opening for sample in play.samples[n:]]
    assert play.leader.info.has_trigger
    assert openings[-1] == 0.0
    assert 1.0 not in openings


def test_a_hand_of_no_depth_is_placed_by_its_size(clock):
    play = Play(clock)

    def flat(play):
        hand = make_hand(play.p)
        return (Hand(hand.label, hand.uv, np.full(21, np.nan), hand.shape),)

    play.step(1.0, show=flat)
    begin = position(play.samples[-1])
    play.step(1.0, velocity=(0.0, 0.0, -0.1), show=flat)
    play.step(0.3, show=flat)

    moved = position(play.samples[-1]) - begin
    assert moved == pytest.approx([0.1, 0, 0], abs=0.015)


def test_without_a_sensor_position_alone_is_followed(play):
    play.stage.has_imu = False
    play.stage.turn = lambda *_: None

    play.engage()

    assert play.samples[-1].valid
    assert rotation(play.samples[-1]) == pytest.approx(np.eye(3))
    assert any("position alone" in note for note in play.leader.notes)


def test_a_webcam_says_that_it_guesses(clock):
    leader = HandImu(HandImuConfig(camera=CameraConfig(kind="webcam")), clock)

    assert any("guesses distance" in note for note in leader.notes)


def test_missing_devices_are_reported_before_anything_is_opened(clock):
    config = HandImuConfig(
        camera=CameraConfig(python="/no/python"), imu=ImuConfig(port="/dev/none")
    )

    told = HandImu(config, clock).preflight()

    assert len(told) == 2
    assert "leader.camera.python" in told[0]
    assert "/dev/none" in told[1]


def test_no_such_recording_is_told(clock, tmp_path):
    path = tmp_path / "none.npz"
    leader = HandImu(HandImuConfig(camera=CameraConfig(recorded=str(path))), clock)

    with pytest.raises(DeviceError, match="expected a recording of hands"):
        leader.open()


class TestRecordedHand(LeaderContract):
    """A recording is played in the leader's own time."""

    @pytest.fixture(autouse=True)
    def _film(self, tmp_path_factory):
        self.path = write_film(tmp_path_factory.mktemp("film") / "hand.npz", 3.0)

    def make_leader(self, clock):
        camera = CameraConfig(recorded=self.path)
        return HandImu(HandImuConfig(camera=camera, hold=HOLD), clock)

    def unplug(self, leader):
        stage = Stage(leader.clock)
        stage.frame, stage.attitude = leader._source.frame, leader._source.attitude
        leader._source = stage


def test_a_recording_ends_the_episode_and_is_exhausted(clock, tmp_path):
    path = write_film(tmp_path / "hand.npz", 1.0)
    leader = HandImu(HandImuConfig(camera=CameraConfig(recorded=path)), clock)
    leader.open()
    leader.apply(make_feedback(SessionState.WAITING, stamp_ns=clock()))
    for _ in range(250):
        clock.advance(STEP)
        sample = leader.latest()

    assert sample.end
    assert sample.is_exhausted


@pytest.mark.parametrize("name", ["ema", "average", "kalman"])
def test_a_filtered_hand_moves_as_far_and_later_by_its_delay(clock, name):
    play = Play(clock, filter=name).engage()
    begin = position(play.samples[-1])

    play.step(1.0, velocity=(0.1, 0.0, 0.0))
    moving = position(play.samples[-1])[1] - begin[1]
    play.step(1.5)

    late = play.leader._filter.find_delay(1.0 / FPS)
    assert moving == pytest.approx(0.1 * (1.0 - late), abs=0.012)
    assert position(play.samples[-1])[1] - begin[1] == pytest.approx(0.1, abs=2e-3)
