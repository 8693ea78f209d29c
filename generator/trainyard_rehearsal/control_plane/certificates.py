"""Keys and certificates of a control plane that runs for some minutes."""

from __future__ import annotations

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = dt.timedelta(days=30)
_NAMES = ("localhost", "kubernetes", "kubernetes.default.svc")


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files in PEM.

    Args:
        folder: contains ``tls.crt`` and ``tls.key``, as webhook servers require.
        authority: certificate that all clients trust.
        accounts: key that signs tokens of service accounts.
    """

    folder: Path
    authority: Path
    accounts: Path

    @property
    def certificate(self) -> Path:
        """Certificate of every server."""
        return self.folder / "tls.crt"

    @property
    def key(self) -> Path:
        """Key of every server."""
        return self.folder / "tls.key"


def write_certificates(folder: Path, address: str) -> Certificates:
    """Create an authority, and a certificate for all servers at an address of this machine."""
    folder.mkdir(parents=True)
    made = Certificates(folder, folder / "ca.crt", folder / "accounts.key")
    root, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer, subject = _name("trainyard rehearsal"), _name("localhost")
    alternatives = [*map(x509.DNSName, _NAMES), x509.IPAddress(ipaddress.ip_address(address))]
    authority = _certificate(issuer, issuer, root).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    server = (
        _certificate(subject, issuer, key)
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    )
    made.authority.write_bytes(
        authority.sign(root, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    )
    made.certificate.write_bytes(
        server.sign(root, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    )
    made.key.write_bytes(_private(key))
    made.accounts.write_bytes(
        _private(rsa.generate_private_key(public_exponent=65537, key_size=2048))
    )
    return made


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + _LIFETIME)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _private(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
