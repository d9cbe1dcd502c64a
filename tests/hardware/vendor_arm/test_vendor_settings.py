"""A payload is the same setting for every maker's arm."""

import math

import pytest

from paprle.hardware.ur.arm import UrSettings
from paprle.hardware.vendor_arm.settings import VendorSettings
from paprle.hardware.xarm.arm import XArmSettings

MAKERS = {"ur": {}, "xarm": {"n": 7}}
CLASSES = {"ur": UrSettings, "xarm": XArmSettings}


@pytest.mark.parametrize("maker", MAKERS)
def test_a_maker_has_the_payload_of_all(maker):
    plain = CLASSES[maker](host="arm", **MAKERS[maker])
    loaded = CLASSES[maker](
        host="arm", payload=1.2, payload_centre=(0, 0.01, 0), **MAKERS[maker]
    )

    assert isinstance(plain, VendorSettings)
    assert plain.payload is None, "the controller's"
    assert (loaded.payload, loaded.payload_centre) == (1.2, (0, 0.01, 0))


@pytest.mark.parametrize("mass", [-0.1, math.nan, math.inf])
def test_a_mass_that_none_has_is_refused(mass):
    with pytest.raises(ValueError, match=r"expected a payload of 0 \[kg\] or more"):
        UrSettings(host="arm", payload=mass)


def test_a_centre_that_is_nowhere_is_refused():
    with pytest.raises(ValueError, match="payload's centre"):
        UrSettings(host="arm", payload=1.0, payload_centre=(0, math.nan, 0))
