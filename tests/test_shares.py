"""Shares of the nightly tests."""

from types import SimpleNamespace

import pytest
from shares import take_share

ITEMS = [SimpleNamespace(nodeid=f"tests/test_a.py::test_b[{k}]") for k in range(700)]


def test_every_test_is_in_one_share_and_shares_are_alike():
    shares = [take_share(ITEMS, f"{k}/7") for k in range(1, 8)]

    found = [item.nodeid for share in shares for item in share]
    assert sorted(found) == sorted(item.nodeid for item in ITEMS)
    assert all(60 < len(share) < 140 for share in shares)
    assert take_share(ITEMS, "1/1") == ITEMS


@pytest.mark.parametrize(
    "share", ["", "0/7", "8/7", "1", "1/0", "-1/7", "a/b", "1/7/2"]
)
def test_a_wrong_share_is_refused(share):
    with pytest.raises(pytest.UsageError, match="expected K/N"):
        take_share(ITEMS, share)
