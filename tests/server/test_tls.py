import datetime
import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from dragoman.server.errors import StartupError
from dragoman.server.tls import server_credentials
from dragoman.v1 import translation_pb2, translation_pb2_grpc
from tests.server.harness import DEADLINE, Hosted, config, hosted


@dataclass(frozen=True)
class Identity:
    """A certificate with its key, as files."""

    certificate: Path
    key: Path


def name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class Authority:
    """Signs certificates for one day."""

    def __init__(self, folder: Path, title: str) -> None:
        self.folder = folder
        self.title = title
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.root = self._write(f"{title}-root", self.key, title, is_authority=True)

    def identity(self, title: str) -> Identity:
        return self._write(title, ec.generate_private_key(ec.SECP256R1()), title)

    def _write(
        self, file: str, key: ec.EllipticCurvePrivateKey, title: str, *, is_authority: bool = False
    ) -> Identity:
        now = datetime.datetime.now(datetime.UTC)
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name(title))
            .issuer_name(name(self.title))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([address]), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        paths = Identity(self.folder / f"{file}.pem", self.folder / f"{file}.key")
        paths.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        paths.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return paths


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"), "house")


@pytest.fixture(scope="module")
def own(authority: Authority) -> Identity:
    return authority.identity("server")


def translate(
    server: Hosted, authority: Authority, identity: Identity | None = None
) -> translation_pb2.TranslateTextResponse:
    credentials = grpc.ssl_channel_credentials(
        authority.root.certificate.read_bytes(),
        identity.key.read_bytes() if identity else None,
        identity.certificate.read_bytes() if identity else None,
    )
    with grpc.secure_channel(f"127.0.0.1:{server.server.port}", credentials) as channel:
        stub = translation_pb2_grpc.TranslationServiceStub(channel)
        request = translation_pb2.TranslateTextRequest(contents=["four hundred"])
        return stub.TranslateText(request, timeout=DEADLINE)


def code(call: Callable[[], object]) -> grpc.StatusCode:
    with pytest.raises(grpc.RpcError) as caught:
        call()
    found: grpc.StatusCode = caught.value.code()
    return found


def test_one_call_over_tls(tiny_bundle: Path, authority: Authority, own: Identity) -> None:
    settings = config(tiny_bundle, tls_cert=own.certificate, tls_key=own.key)
    with hosted(settings) as server:
        assert translate(server, authority).translations[0].text == "vierhundert"
        assert code(lambda: server.translate("one")) is grpc.StatusCode.UNAVAILABLE  # no TLS


def test_one_call_over_mutual_tls(
    tiny_bundle: Path, tmp_path: Path, authority: Authority, own: Identity
) -> None:
    settings = config(
        tiny_bundle,
        tls_cert=own.certificate,
        tls_key=own.key,
        tls_client_ca=authority.root.certificate,
    )
    friend, stranger = authority.identity("friend"), Authority(tmp_path, "else").identity("s")
    with hosted(settings) as server:
        assert translate(server, authority, friend).translations[0].text == "vierhundert"
        for identity in (None, stranger):
            refused = code(partial(translate, server, authority, identity))
            assert refused is grpc.StatusCode.UNAVAILABLE


def test_no_files_no_tls(tiny_bundle: Path) -> None:
    assert server_credentials(config(tiny_bundle)) is None


def test_files_that_do_not_belong_together(
    tiny_bundle: Path, tmp_path: Path, authority: Authority, own: Identity
) -> None:
    other = authority.identity("other")
    good = {"tls_cert": own.certificate, "tls_key": own.key}
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    for bad in (
        good | {"tls_key": other.key},
        good | {"tls_cert": empty},
        good | {"tls_key": tmp_path / "none.key"},
        good | {"tls_client_ca": empty},
        good | {"tls_client_ca": tmp_path},
    ):
        changed = next(path for path in bad.values() if path not in good.values())
        with pytest.raises(StartupError, match=changed.name):
            server_credentials(config(tiny_bundle, **bad))


def test_an_encrypted_key_is_refused_without_asking(
    tiny_bundle: Path, tmp_path: Path, own: Identity
) -> None:
    key = serialization.load_pem_private_key(own.key.read_bytes(), None)
    locked = tmp_path / "locked.key"
    locked.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    settings = config(tiny_bundle, tls_cert=own.certificate, tls_key=locked)
    with pytest.raises(StartupError, match=r"locked\.key"):
        server_credentials(settings)
