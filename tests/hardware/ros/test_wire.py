"""What an independent dissector sees on the wire: names, types, encoding, user data."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time

import pytest
from ros_rig import MUST_RUN, EmulatedRos, choose_domain, skip_or_fail

from paprle.hardware.ros.messages import JOINT_STATE, load_codec

if not MUST_RUN:
    pytest.importorskip("cyclonedds")

from paprle.hardware.ros.transports.dds import DdsBus

CODEC = load_codec("jazzy")
FIELDS = ("topicName", "typeName", "userData")


@pytest.fixture
def capture(tmp_path):
    """Yield a function that ends the capture and returns fields of its packets."""
    if shutil.which("tshark") is None or os.geteuid() != 0:
        skip_or_fail("tshark is not here, or may not capture: apt-get install tshark")
    path, first = tmp_path / "wire.pcapng", 7400 + 250 * choose_domain()
    process = subprocess.Popen(
        ["tshark", "-l", "-i", "lo", "-w", str(path), "-f"]
        + [f"udp portrange {first}-{first + 249}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while "Capturing on" not in (line := process.stderr.readline()):
        assert line, "tshark ended"
    time.sleep(1.5)  # it says so before it does; announcements are not repeated

    def read(show: str, *fields: str) -> set[tuple[str, ...]]:
        if process.poll() is None:
            time.sleep(1.0)  # what it has not taken from the kernel is lost
            process.send_signal(signal.SIGINT)
            process.wait(10)
        words = ["tshark", "-r", str(path), "-Y", show, "-T", "fields"]
        for field in fields:
            words += ["-e", field]
        shown = subprocess.run(words, capture_output=True, text=True, check=True)
        return {tuple(line.split("\t")) for line in shown.stdout.splitlines()}

    yield read
    process.kill()
    process.wait()
    process.stderr.close()


def test_the_traffic_looks_like_ros_2(capture, tmp_path):
    words = ["robot=piper", "env=ros2_sim", "transport=dds", "interface=loopback"]
    rig = EmulatedRos(tmp_path / "log", *words, f"domain={choose_domain()}")
    bus = DdsBus(CODEC, "gate", domain=choose_domain(), interface="loopback")
    heard = []
    try:
        bus.subscribe("/joint_states", JOINT_STATE, heard.append)
        assert bus.wait_until(lambda: len(heard) > 20, 10.0)
    finally:
        bus.close()
        rig.end()

    names = [f"rtps.param.{field}" for field in FIELDS]
    found = capture("rtps.param.topicName && rtps.param.userData", *names)
    # several announcements may share a packet
    announced = {
        one
        for row in found
        for one in zip(*(field.split(",") for field in row), strict=False)
    }
    hashed = f"typehash={CODEC.hash_type(JOINT_STATE)};".encode().hex()
    assert (
        "rt/joint_states",
        "sensor_msgs::msg::dds_::JointState_",
        hashed,
    ) in announced
    types = {row[:2] for row in announced}
    assert (
        "ros_discovery_info",
        "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_",
    ) in types
    participants = capture("rtps.param.userData", "rtps.param.userData")
    assert any(b"enclave=/;".hex() in row[0] for row in participants)
    # discovery is in a parameter list (3), all data in plain CDR, little endian (1)
    field = "rtps.param.serialize.encap_kind"
    kinds = {kind for row in capture(field, field) for kind in row[0].split(",")}
    assert "0x0001" in kinds
    assert kinds <= {"0x0001", "0x0003"}
