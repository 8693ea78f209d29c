from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from tests.rehearsal.served import Served
from trainyard_rehearsal.control_plane.api import Api
from trainyard_rehearsal.control_plane.certificates import Certificates, write_certificates
from trainyard_rehearsal.control_plane.processes import LOOPBACK


def test_certificate_is_for_loopback_and_the_service(certificates: Certificates) -> None:
    """The authority signs it for the address and for the name that pods would use."""
    authority = x509.load_pem_x509_certificate(certificates.authority.read_bytes())
    server = x509.load_pem_x509_certificate(certificates.certificate.read_bytes())
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value

    server.verify_directly_issued_by(authority)
    assert names.get_values_for_type(x509.IPAddress) == [ipaddress.ip_address("127.0.0.1")]
    assert "kubernetes.default.svc" in names.get_values_for_type(x509.DNSName)


def _key(path: Path) -> object:
    return load_pem_private_key(path.read_bytes(), None)


def test_keys_have_no_passphrase(certificates: Certificates) -> None:
    """The key of service accounts differs from the servers' key."""
    assert isinstance(_key(certificates.key), ec.EllipticCurvePrivateKey)
    assert isinstance(_key(certificates.accounts), rsa.RSAPrivateKey)


def test_another_authority_is_not_trusted(server: Served, tmp_path: Path) -> None:
    """A client with another rehearsal's authority refuses this one's servers."""
    other = write_certificates(tmp_path / "other", LOOPBACK)
    with Api(f"https://127.0.0.1:{server.port}", other.authority, {"token": "token"}) as api:
        assert not api.ready()


def test_client_accepts_the_certificate_of_its_authority(server: Served, api: Api) -> None:
    assert api.ready()
    assert server.requests[0].path == "/readyz"


@pytest.fixture(autouse=True)
def _quiet(capfd: pytest.CaptureFixture[str]) -> None:
    """Hide the server's messages on stderr about closed connections."""
