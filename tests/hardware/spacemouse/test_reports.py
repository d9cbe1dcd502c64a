import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle.hardware.spacemouse.device import choose
from paprle.hardware.spacemouse.errors import MouseError
from paprle.hardware.spacemouse.reports import (
    BATTERY,
    ROTATION,
    TRANSLATION,
    Mouse,
)
from paprle_emulators.spacemouse.reports import pack_buttons, pack_motion


def take(*reports):
    mouse = Mouse()
    for report in reports:
        mouse.update(bytes(report) if isinstance(report, list) else report)
    return mouse


@pytest.mark.parametrize(
    ("report", "axis", "value"),
    [
        # as seen on the wire of a SpaceNavigator: right, back, down are positive
        pytest.param([1, 0x5E, 1, 0, 0, 0, 0], 1, -1.0, id="right is -y"),
        pytest.param([1, 0, 0, 0xA2, 0xFE, 0, 0], 0, 1.0, id="forward is +x"),
        pytest.param([1, 0, 0, 0, 0, 0xA2, 0xFE], 2, 1.0, id="up is +z"),
        pytest.param([2, 0, 0, 0xE2, 0xFF, 0, 0], 0, 30 / 350, id="roll"),
        pytest.param([2, 0xA2, 0xFE, 0, 0, 0, 0], 1, 1.0, id="pitch"),
        pytest.param([2, 0, 0, 0, 0, 0xA2, 0xFE], 2, 1.0, id="yaw"),
    ],
)
def test_a_report_is_a_deflection_in_rep103_axes(report, axis, value):
    mouse = take(report)

    found = mouse.translation if report[0] == 1 else mouse.rotation
    assert found[axis] == pytest.approx(value)
    assert sum(map(abs, (*mouse.translation, *mouse.rotation))) == pytest.approx(
        abs(value)
    )


def test_a_wireless_mouse_says_all_six_in_one_report():
    mouse = take(pack_motion(TRANSLATION, (1.0, 0.0, -0.5), (0.0, 0.2, 0.0)))

    assert mouse.translation == pytest.approx((1.0, 0.0, -0.5))
    assert mouse.rotation == pytest.approx((0.0, 0.2, 0.0))


three = st.tuples(*[st.floats(-1, 1)] * 3)


@given(translation=three, rotation=three)
def test_reports_are_read_as_they_are_packed(translation, rotation):
    mouse = take(pack_motion(TRANSLATION, translation), pack_motion(ROTATION, rotation))

    assert mouse.translation == pytest.approx(translation, abs=0.5 / 350 + 1e-9)
    assert mouse.rotation == pytest.approx(rotation, abs=0.5 / 350 + 1e-9)


def test_buttons_are_bits():
    assert take(pack_buttons(0b101)).buttons == 0b101
    assert take([3, 1]).buttons == 1
    assert take(pack_buttons(1), pack_buttons(0)).buttons == 0


def test_a_battery_is_no_motion():
    mouse = take([BATTERY, 100])

    assert not mouse.is_deflected
    assert mouse.n_refused == 0


@given(report=st.binary(max_size=64))
def test_no_bytes_upset_it(report):
    mouse = take(report)

    assert all(abs(value) <= 32768 / 350 for value in mouse.translation)
    if 0 < len(report) < 7 and report[0] in {1, 2}:
        assert mouse.n_refused == 1


def device(vendor=0x256F, product=0xC635, path=b"/dev/hidraw3", serial="A1"):
    return {
        "vendor_id": vendor,
        "product_id": product,
        "path": path,
        "serial_number": serial,
        "product_string": "SpaceMouse Compact",
    }


def test_the_first_mouse_is_chosen_among_other_devices():
    assert choose([device(0x046D, 0xC52B), device(), device(path=b"/x")]) == (
        "/dev/hidraw3"
    )


def test_a_serial_number_chooses_among_several():
    found = [device(), device(path=b"/dev/hidraw4", serial="B2")]

    assert choose(found, "B2") == "/dev/hidraw4"


def test_a_missing_mouse_is_told_with_those_that_are_there():
    with pytest.raises(MouseError, match=r"got 'SpaceMouse Compact' \(A1\)"):
        choose([device()], "B2")
    with pytest.raises(MouseError, match="got none"):
        choose([])
