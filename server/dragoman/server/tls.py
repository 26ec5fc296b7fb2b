"""TLS and mutual TLS from PEM files."""

import ssl
from pathlib import Path

import grpc

from dragoman.server.config import Config
from dragoman.server.errors import StartupError


def server_credentials(config: Config) -> grpc.ServerCredentials | None:
    """The credentials of the gRPC port; None where no certificate is configured.

    Raises:
        StartupError: a file cannot be read, is no PEM, or key and certificate do not belong
            together. gRPC would find that out only when the first client comes.
    """
    if config.tls_cert is None or config.tls_key is None:
        return None
    chain, key = _read(config.tls_cert), _read(config.tls_key)
    _check_pair(config.tls_cert, config.tls_key)
    if config.tls_client_ca is None:
        return grpc.ssl_server_credentials([(key, chain)])
    authorities = _read(config.tls_client_ca)
    _check_authorities(config.tls_client_ca)
    return grpc.ssl_server_credentials(
        [(key, chain)], root_certificates=authorities, require_client_auth=True
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StartupError(f"cannot read {path}: {error.strerror or error}") from error


def _check_pair(certificate: Path, key: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # A password would be asked for on the terminal: an encrypted key is refused instead.
        context.load_cert_chain(certificate, key, password="")
    except (ssl.SSLError, OSError, ValueError) as error:
        raise StartupError(
            f"{certificate} and {key} are no PEM certificate with its unencrypted key: "
            f"{_reason(error)}"
        ) from error


def _check_authorities(path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_verify_locations(path)
    except (ssl.SSLError, OSError, ValueError) as error:
        raise StartupError(f"{path} holds no PEM certificates: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return getattr(error, "reason", None) or str(error)
