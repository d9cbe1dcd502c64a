"""The certificate of an installation."""

from __future__ import annotations

import datetime
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography import x509

from paprle.hardware.web.errors import WebError
from paprle.hardware.web.serving import certificate as module
from paprle.hardware.web.serving.certificate import find_certificate


def load(found):
    return x509.load_pem_x509_certificate(found.certificate.read_bytes())


def test_the_certificate_names_the_addresses_and_is_no_authority(tmp_path):
    made = load(find_certificate(tmp_path, ["192.0.2.7", "robot.local"]))

    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(x) for x in names.get_values_for_type(x509.IPAddress)] == ["192.0.2.7"]
    assert names.get_values_for_type(x509.DNSName) == ["robot.local"]
    limits = made.extensions.get_extension_for_class(x509.BasicConstraints).value
    assert not limits.ca
    life = made.not_valid_after_utc - made.not_valid_before_utc
    assert life < datetime.timedelta(days=825)


def test_the_certificates_key_is_its_owners_alone(tmp_path):
    found = find_certificate(tmp_path / "a/b", ["192.0.2.7"])

    assert stat.S_IMODE(found.key.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "a/b").stat().st_mode) == 0o700


def test_the_certificate_is_kept_and_made_anew_for_another_address(tmp_path):
    first = find_certificate(tmp_path, ["192.0.2.7"])

    assert find_certificate(tmp_path, ["192.0.2.7"]) == first
    other = find_certificate(tmp_path, ["192.0.2.8"])
    assert other.fingerprint != first.fingerprint
    assert len(other.fingerprint) == 95


def test_a_certificate_near_its_end_is_renewed(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_LIFE", datetime.timedelta(days=3))
    monkeypatch.setattr(module, "_RENEW", datetime.timedelta(0))
    first = find_certificate(tmp_path, ["192.0.2.7"])
    monkeypatch.undo()

    assert find_certificate(tmp_path, ["192.0.2.7"]).fingerprint != first.fingerprint


@pytest.mark.parametrize("name", ["certificate.pem", "key.pem"])
@pytest.mark.parametrize("data", [b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_a_damaged_one_is_made_anew(tmp_path, name, data):
    find_certificate(tmp_path, ["192.0.2.7"])
    (tmp_path / name).write_bytes(data)

    assert find_certificate(tmp_path, ["192.0.2.7"]).make_context()


def test_a_key_of_another_certificate_is_not_used(tmp_path):
    find_certificate(tmp_path / "a", ["192.0.2.7"])
    other = find_certificate(tmp_path / "b", ["192.0.2.7"])
    (tmp_path / "a/key.pem").write_bytes(other.key.read_bytes())

    assert find_certificate(tmp_path / "a", ["192.0.2.7"]).make_context()


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(WebError, match="certificate: expected a folder"):
        find_certificate(tmp_path / "file/web", ["192.0.2.7"])


@pytest.mark.parametrize("attempt", range(4))
def test_stations_that_open_at_once_share_one(tmp_path, attempt):  # noqa: ARG001
    with ThreadPoolExecutor(4) as pool:
        made = [
            pool.submit(find_certificate, tmp_path, ["192.0.2.7"]) for _ in range(4)
        ]
        found = [one.result() for one in made]

    assert len({one.fingerprint for one in found}) == 1
    assert all(one.make_context() for one in found)
