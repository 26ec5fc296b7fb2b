"""A client's settings, checked once: what its channels are made of."""

from __future__ import annotations

import json
import math
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata as distributions
from pathlib import Path

import grpc

from dragoman.client.errors import InvalidArgumentError
from dragoman.client.options import Metadata, Tls

_METADATA_KEY = re.compile(r"[0-9a-z_.-]+")
_HAS_PORT = re.compile(r".*:\d{1,5}")
_HTTP = re.compile(r"https?://", re.IGNORECASE)
_SCHEMES = ("dns:", "unix:", "unix-abstract:", "ipv4:", "ipv6:", "vsock:", "xds:", "passthrough:")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a client was given, besides a channel.

    Raises:
        InvalidArgumentError: a value is out of its range; the message names it.
    """

    address: str
    tls: Tls | None
    model: str
    timeout: float | None
    metadata: Metadata
    max_attempts: int
    max_message_bytes: int
    keepalive_seconds: float | None
    keepalive_timeout_seconds: float

    def __post_init__(self) -> None:
        _check_address(self.address)
        check_timeout(self.timeout)
        check_timeout(self.keepalive_seconds, "keepalive_seconds")
        check_timeout(self.keepalive_timeout_seconds, "keepalive_timeout_seconds")
        pairs_of(self.metadata)
        if self.tls is not None:
            read_pems(self.tls)
        if not 1 <= self.max_attempts <= 5:
            raise InvalidArgumentError.of("max_attempts", f"{self.max_attempts} is not in 1..5")
        if not 1 <= self.max_message_bytes < 2**31:
            raise InvalidArgumentError.of(
                "max_message_bytes", f"{self.max_message_bytes} is not in 1..2147483647"
            )

    def credentials(self) -> grpc.ChannelCredentials | None:
        """What a secure channel needs, read anew each time; None for a channel in plain text."""
        if self.tls is None:
            return None
        roots, chain, key = read_pems(self.tls)
        return grpc.ssl_channel_credentials(roots, key, chain)

    def channel_options(self) -> list[tuple[str, str | int]]:
        """Options of a channel of either gRPC stack."""
        options: list[tuple[str, str | int]] = [
            ("grpc.service_config", service_config(self.max_attempts)),
            ("grpc.max_send_message_length", self.max_message_bytes),
            ("grpc.max_receive_message_length", self.max_message_bytes),
            # A request above this size would be sent once and never tried again.
            ("grpc.per_rpc_retry_buffer_size", self.max_message_bytes),
            # A forked child must not inherit the connection of its parent through the pool.
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 5_000),
            ("grpc.dns_min_time_between_resolutions_ms", 5_000),
            ("grpc.primary_user_agent", f"dragoman-python/{distributions.version('dragoman')}"),
        ]
        if self.keepalive_seconds is not None:
            options += [
                ("grpc.keepalive_time_ms", _milliseconds(self.keepalive_seconds)),
                ("grpc.keepalive_timeout_ms", _milliseconds(self.keepalive_timeout_seconds)),
                # Without this one, a lost connection is found out after a minute only.
                ("grpc.http2.ping_timeout_ms", _milliseconds(self.keepalive_timeout_seconds)),
                ("grpc.http2.max_pings_without_data", 0),
            ]
        if self.tls is not None and self.tls.server_name is not None:
            options.append(("grpc.ssl_target_name_override", self.tls.server_name))
        return options


def service_config(max_attempts: int) -> str:
    """How gRPC itself behaves: it spreads calls over all addresses and retries UNAVAILABLE.

    RESOURCE_EXHAUSTED is not listed: gRPC would retry it whatever the server says.
    """
    method: dict[str, object] = {"name": [{}]}
    if max_attempts > 1:
        method["retryPolicy"] = {
            "maxAttempts": max_attempts,
            "initialBackoff": "0.1s",
            "maxBackoff": "1s",
            "backoffMultiplier": 2,
            "retryableStatusCodes": ["UNAVAILABLE"],
        }
    return json.dumps({"loadBalancingConfig": [{"round_robin": {}}], "methodConfig": [method]})


def check_timeout(timeout: float | None, name: str = "timeout") -> None:
    """Refuse what is no time limit.

    Raises:
        TypeError: neither a number nor None.
        InvalidArgumentError: not more than 0, or not finite.
    """
    if timeout is None:
        return
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"{name} must be a number or None, not {type(timeout).__name__}")
    if not 0 < timeout < math.inf:
        raise InvalidArgumentError.of(name, f"{timeout} is not a time of more than 0 s")


def pairs_of(metadata: Metadata) -> tuple[tuple[str, str | bytes], ...]:
    """Metadata as gRPC wants it.

    Raises:
        TypeError: not a mapping of text to text or bytes.
        InvalidArgumentError: a key or a value that HTTP/2 cannot carry.
    """
    if not isinstance(metadata, Mapping):
        raise TypeError(f"metadata must be a mapping, not {type(metadata).__name__}")
    return tuple(_pair(key, value) for key, value in metadata.items())


def read_pems(tls: Tls) -> tuple[bytes | None, bytes | None, bytes | None]:
    """Root certificates, certificate chain and private key; None for what is not given.

    Raises:
        InvalidArgumentError: one cannot be read, is no PEM, or stands alone.
    """
    roots = _pem(tls.root_certificates, "tls.root_certificates", "CERTIFICATE")
    chain = _pem(tls.certificate_chain, "tls.certificate_chain", "CERTIFICATE")
    key = _pem(tls.private_key, "tls.private_key", "PRIVATE KEY")
    if chain is None and key is not None:
        raise InvalidArgumentError.of("tls.certificate_chain", "needed beside tls.private_key")
    if key is None and chain is not None:
        raise InvalidArgumentError.of("tls.private_key", "needed beside tls.certificate_chain")
    return roots, chain, key


def _pem(source: bytes | str | Path | None, field: str, kind: str) -> bytes | None:
    if source is None:
        return None
    try:
        content = source if isinstance(source, bytes) else Path(source).read_bytes()
        if kind == "CERTIFICATE":
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=content.decode())
    except (OSError, ValueError) as error:
        raise InvalidArgumentError.of(
            field, f"no PEM {kind.lower()} can be read: {error}"
        ) from error
    if f"{kind}-----".encode() not in content:
        raise InvalidArgumentError.of(field, f"no PEM block of a {kind.lower()}")
    return content


def _pair(key: str, value: str | bytes) -> tuple[str, str | bytes]:
    name = key.lower()
    if not _METADATA_KEY.fullmatch(name) or name.startswith("grpc-"):
        raise InvalidArgumentError.of("metadata", f"{key!r} is no name of metadata")
    if not isinstance(value, bytes if name.endswith("-bin") else str):
        raise TypeError(f"metadata {key!r}: bytes under names in -bin, str under all others")
    if isinstance(value, str) and not (value.isascii() and value.isprintable()):
        raise InvalidArgumentError.of("metadata", f"the value of {key!r} is not printable ASCII")
    return name, value


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))


def _check_address(address: str) -> None:
    if not isinstance(address, str):
        raise TypeError(f"address must be a str, not {type(address).__name__}")
    if _HTTP.match(address):
        raise InvalidArgumentError.of("address", f"{address!r} must be host:port, without http://")
    if not address.startswith(_SCHEMES) and not _HAS_PORT.fullmatch(address):
        raise InvalidArgumentError.of("address", f"{address!r} must be host:port")
