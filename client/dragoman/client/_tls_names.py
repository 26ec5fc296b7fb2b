"""Which names a server's certificate carries, told where gRPC only says that none fits."""

from __future__ import annotations

import socket
import ssl
from typing import Any

from dragoman.client._settings import Settings, read_pems
from dragoman.client.errors import DragomanError, UnreachableError
from dragoman.client.options import Tls

_MISMATCH = "Hostname Verification Check failed"
_LIMIT_SECONDS = 2.0


def is_mismatch(failure: DragomanError, settings: Settings) -> bool:
    """Whether the server's certificate is for another name."""
    return (
        settings.tls is not None
        and isinstance(failure, UnreachableError)
        and _MISMATCH in str(failure)
    )


def explain(failure: DragomanError, settings: Settings, remaining: float | None) -> DragomanError:
    """`failure`, or one that names the expected and the actual names where they differ.

    Looks the certificate up by a handshake of its own, for 2 seconds at most: blocks.
    """
    tls = settings.tls
    if tls is None or not is_mismatch(failure, settings):
        return failure
    host, port = _host_and_port(settings.address)
    expected = tls.server_name or host
    limit = _LIMIT_SECONDS if remaining is None else min(_LIMIT_SECONDS, remaining)
    names = _certificate_names(host, port, tls, expected, limit) if limit > 0 else ()
    return UnreachableError(
        f"cannot reach {settings.address}: the server's certificate is not for {expected!r}"
        + (f" but for {', '.join(map(repr, names))}" if names else "")
        + "; where another name is right, give it as the TLS server name"
    )


def _host_and_port(address: str) -> tuple[str, str]:
    host, _, port = address.rpartition("/")[2].rpartition(":")
    return host.strip("[]"), port


def _certificate_names(
    host: str, port: str, tls: Tls, expected: str, limit: float
) -> tuple[str, ...]:
    roots, _, _ = read_pems(tls)
    context = ssl.create_default_context(cadata=roots.decode() if roots else None)
    context.check_hostname = False
    try:
        with (
            socket.create_connection((host, int(port)), timeout=limit) as connection,
            context.wrap_socket(connection, server_hostname=expected) as secured,
        ):
            certificate = secured.getpeercert() or {}
    except (OSError, ValueError):
        return ()
    pairs: Any = certificate.get("subjectAltName", ())
    return tuple(name for _, name in pairs)
