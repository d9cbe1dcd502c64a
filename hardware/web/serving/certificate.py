"""Self-signed certificate of this installation.

The operator compares fingerprints; the key's folder is private.
"""

from __future__ import annotations

import datetime
import fcntl
import ipaddress
import os
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from paprle.hardware.web.errors import WebError

_LIFE = datetime.timedelta(days=397)  # chosen: Apple refuses more than 825 days
_SLACK = datetime.timedelta(days=1)  # chosen: a phone's clock may be behind
_RENEW = datetime.timedelta(days=7)  # chosen: no certificate ends within a session
_CERTIFICATE, _KEY, _LOCK = "certificate.pem", "key.pem", "lock"


class Certificate(NamedTuple):
    """Files and SHA-256 fingerprint."""

    certificate: Path
    key: Path
    fingerprint: str

    def make_context(self) -> ssl.SSLContext:
        """Return a server's TLS context."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(self.certificate, self.key)
        return context


def find_folder() -> Path:
    """Return the certificate's folder."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "paprle/web"


def find_certificate(folder: Path, names: Sequence[str]) -> Certificate:
    """Return a valid certificate for names, made if needed.

    Raises:
        WebError: Unwritable folder.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (folder / _LOCK).open("w") as lock:  # others may open at the same time
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = _read(folder, names)
            if found is None:
                _make(folder, names)
                found = _read(folder, names)
    except OSError as err:
        raise WebError(
            f"certificate: expected a folder that can be written, got {folder} ({err})"
        ) from err
    if found is None:
        raise WebError(
            f"certificate: expected one for {', '.join(names)} in {folder}, got "
            "another just after it was made; remove the folder"
        )
    return found


def _read(folder: Path, names: Sequence[str]) -> Certificate | None:
    paths = folder / _CERTIFICATE, folder / _KEY
    try:
        found = x509.load_pem_x509_certificate(paths[0].read_bytes())
        key = serialization.load_pem_private_key(paths[1].read_bytes(), None)
        held = found.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except (FileNotFoundError, ValueError, TypeError, x509.ExtensionNotFound):
        return None
    named = {str(name.value) for name in held.value}
    now = datetime.datetime.now(datetime.timezone.utc)
    is_current = found.not_valid_before_utc <= now <= found.not_valid_after_utc - _RENEW
    is_pair = found.public_key() == key.public_key()
    if not (is_current and is_pair and set(names) <= named):
        return None
    digits = found.fingerprint(hashes.SHA256()).hex().upper()
    pairs = ":".join(digits[i : i + 2] for i in range(0, len(digits), 2))
    return Certificate(paths[0], paths[1], pairs)


def _make(folder: Path, names: Sequence[str]) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.timezone.utc)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "PAPRLE")])
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SLACK)
        .not_valid_after(now + _LIFE)
        .add_extension(x509.SubjectAlternativeName(_name(names)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=False)
        .sign(key, hashes.SHA256())
    )
    data = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    _write(folder / _KEY, data)
    _write(folder / _CERTIFICATE, made.public_bytes(serialization.Encoding.PEM))


def _name(names: Sequence[str]) -> list[x509.GeneralName]:
    made: list[x509.GeneralName] = []
    for name in names:
        try:
            made.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            made.append(x509.DNSName(name))
    return made


def _write(path: Path, data: bytes) -> None:
    part = path.with_suffix(f".{os.getpid()}")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    part.replace(path)
