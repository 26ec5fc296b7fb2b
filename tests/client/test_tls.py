"""TLS and mutual TLS; a wrong name is told, never let pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from dragoman.client import AsyncClient, Client, InvalidArgumentError, Tls, UnreachableError
from tests.client.authority import Authority, Identity
from tests.client.backend import Shouting, served
from tests.client.conftest import Stack, texts


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("authority")


@pytest.fixture(scope="module")
def identity(authority: Authority) -> Identity:
    """What the server shows; it does not fit the address."""
    return authority.issue("server.example", "other.example", "10.9.8.7")


@pytest.fixture(scope="module")
def secured(authority: Authority, identity: Identity) -> Iterator[str]:
    """A server with TLS."""
    pair = (identity.key, identity.certificate)
    with served(Shouting(), credentials=grpc.ssl_server_credentials([pair])) as address:
        yield address


@pytest.fixture(scope="module")
def mutual(authority: Authority, identity: Identity) -> Iterator[str]:
    """A server that asks for certificates."""
    credentials = grpc.ssl_server_credentials(
        [(identity.key, identity.certificate)], authority.root, require_client_auth=True
    )
    with served(Shouting(), credentials=credentials) as address:
        yield address


async def test_tls(stack: Stack, secured: str, authority: Authority) -> None:
    tls = Tls(root_certificates=authority.root, server_name="server.example")
    async with stack.client(secured, tls=tls) as client:
        assert (await client.translate("one")).text == "ONE"
        assert await texts(await client.stream("one two")) == ["ONE", " TWO"]


async def test_a_certificate_for_the_address_needs_no_name(
    stack: Stack, authority: Authority
) -> None:
    identity = authority.issue("127.0.0.1")
    pair = (identity.key, identity.certificate)
    with served(Shouting(), credentials=grpc.ssl_server_credentials([pair])) as address:
        async with stack.client(address, tls=Tls(authority.root)) as client:
            assert (await client.translate("one")).text == "ONE"


async def test_mutual_tls(stack: Stack, mutual: str, authority: Authority, tmp_path: Path) -> None:
    mine = authority.issue("client.example")
    for name, content in (("ca", authority.root), ("chain", mine.certificate), ("key", mine.key)):
        (tmp_path / name).write_bytes(content)
    from_files = Tls(
        tmp_path / "ca", str(tmp_path / "chain"), tmp_path / "key", server_name="server.example"
    )
    from_bytes = Tls(authority.root, mine.certificate, mine.key, server_name="other.example")
    for tls in (from_files, from_bytes):
        async with stack.client(mutual, tls=tls) as client:
            assert (await client.translate("one")).text == "ONE"


async def test_mutual_tls_without_or_with_a_foreign_certificate(
    stack: Stack, mutual: str, authority: Authority
) -> None:
    foreign = Authority("foreign").issue("client.example")
    for tls in (
        Tls(authority.root, server_name="server.example"),
        Tls(authority.root, foreign.certificate, foreign.key, server_name="server.example"),
    ):
        async with stack.client(mutual, tls=tls, max_attempts=1) as client:
            with pytest.raises(UnreachableError):
                await client.translate("one")


async def test_a_wrong_name_is_told_with_the_right_ones(
    stack: Stack, secured: str, authority: Authority
) -> None:
    async with stack.client(secured, tls=Tls(authority.root), max_attempts=1) as client:
        with pytest.raises(UnreachableError) as caught:
            await client.translate("one")
        with pytest.raises(UnreachableError) as streamed:
            await texts(await client.stream("one"))
    wanted = (
        f"cannot reach {secured}: the server's certificate is not for '127.0.0.1' but for "
        "'server.example', 'other.example', '10.9.8.7'; where another name is right, give it as "
        "the TLS server name"
    )
    assert str(caught.value) == str(streamed.value) == wanted
    assert caught.value.code is grpc.StatusCode.UNAVAILABLE


async def test_a_wrong_name_to_expect(stack: Stack, mutual: str, authority: Authority) -> None:
    tls = Tls(authority.root, server_name="wrong.example")
    async with stack.client(mutual, tls=tls, max_attempts=1) as client:
        with pytest.raises(UnreachableError, match=r"not for 'wrong\.example' but for 'server\.ex"):
            await client.translate("one")


async def test_an_unknown_authority(stack: Stack, secured: str) -> None:
    for tls in (
        Tls(Authority("foreign").root, server_name="server.example"),
        Tls(server_name="server.example"),
    ):
        async with stack.client(secured, tls=tls, max_attempts=1) as client:
            with pytest.raises(UnreachableError, match="CERTIFICATE_VERIFY_FAILED"):
                await client.translate("one")


async def test_plain_text_and_tls_do_not_mix(
    stack: Stack, secured: str, address: str, authority: Authority
) -> None:
    async with stack.client(secured, max_attempts=1) as client:
        with pytest.raises(UnreachableError):
            await client.translate("one")
    async with stack.client(address, tls=Tls(authority.root), max_attempts=1) as client:
        with pytest.raises(UnreachableError):
            await client.translate("one")


def test_bad_certificates_are_named(tmp_path: Path, authority: Authority) -> None:
    mine = authority.issue("client.example")
    garbage = tmp_path / "garbage"
    garbage.write_bytes(b"\xff\x00")
    for tls, field, message in (
        (Tls(b"nothing"), "tls.root_certificates", "no PEM certificate"),
        (Tls(tmp_path / "none"), "tls.root_certificates", "No such file"),
        (Tls(garbage), "tls.root_certificates", "no PEM"),
        (Tls(certificate_chain=b"x", private_key=mine.key), "tls.certificate_chain", "no PEM"),
        (
            Tls(certificate_chain=mine.certificate, private_key=mine.certificate),
            "tls.private_key",
            "no PEM block of a private key",
        ),
        (Tls(certificate_chain=mine.certificate), "tls.private_key", "needed beside"),
        (Tls(private_key=mine.key), "tls.certificate_chain", "needed beside"),
    ):
        with pytest.raises(InvalidArgumentError, match=message) as caught:
            Client(tls=tls)
        assert caught.value.field == field
        with pytest.raises(InvalidArgumentError):
            AsyncClient(tls=tls)
