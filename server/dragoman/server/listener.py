"""Builds the gRPC server: its options, its port, everything that answers on it."""

import socket
from collections.abc import Sequence

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2

from dragoman.server.backend import Gate
from dragoman.server.config import Config
from dragoman.server.errors import StartupError
from dragoman.server.health import Health
from dragoman.server.interceptors.base import Method, methods_of
from dragoman.server.services import ModelService, TranslationService
from dragoman.server.tls import server_credentials
from dragoman.v1 import (
    model_pb2,
    model_pb2_grpc,
    translation_pb2,
    translation_pb2_grpc,
)
from dragoman.v1.limits import MIN_PING_INTERVAL_SECONDS

TRANSLATION = translation_pb2.DESCRIPTOR.services_by_name["TranslationService"]
MODEL = model_pb2.DESCRIPTOR.services_by_name["ModelService"]
HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"]
REFLECTION = reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"]
OWN_SERVICES = (TRANSLATION.full_name, MODEL.full_name)

KEEPALIVE_SECONDS = 60
KEEPALIVE_TIMEOUT_SECONDS = 20
CONNECTION_AGE_GRACE_SECONDS = 300


def methods(config: Config) -> dict[str, Method]:
    """All methods that a server with this configuration has, by path."""
    services = [TRANSLATION, MODEL, HEALTH, *([REFLECTION] if config.reflection else [])]
    return methods_of(services)


def build(
    config: Config,
    gate: Gate,
    health: Health,
    interceptors: Sequence[grpc.aio.ServerInterceptor],
) -> grpc.aio.Server:
    """A server with all services, not yet listening."""
    server = grpc.aio.server(interceptors=interceptors, options=options(config))
    translation_pb2_grpc.add_TranslationServiceServicer_to_server(
        TranslationService(gate, config), server
    )
    model_pb2_grpc.add_ModelServiceServicer_to_server(ModelService(gate), server)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    if config.reflection:
        names = (*OWN_SERVICES, HEALTH.full_name, REFLECTION.full_name)
        reflection.enable_server_reflection(names, server)
    return server


def options(config: Config) -> list[tuple[str, int]]:
    """The channel arguments; the client's keepalive must not be quicker than allowed here."""
    age = config.max_connection_age_seconds
    renewal = [
        ("grpc.max_connection_age_ms", round(age * 1000)),
        ("grpc.max_connection_age_grace_ms", CONNECTION_AGE_GRACE_SECONDS * 1000),
    ]
    return [
        ("grpc.so_reuseport", 0),  # or a second process would silently share the port
        ("grpc.max_receive_message_length", config.max_message_bytes),
        ("grpc.max_send_message_length", config.max_message_bytes),
        ("grpc.keepalive_time_ms", KEEPALIVE_SECONDS * 1000),
        ("grpc.keepalive_timeout_ms", KEEPALIVE_TIMEOUT_SECONDS * 1000),
        ("grpc.keepalive_permit_without_calls", 1),
        (
            "grpc.http2.min_ping_interval_without_data_ms",
            MIN_PING_INTERVAL_SECONDS * 1000,
        ),
        *(renewal if age else []),
    ]


def listen(server: grpc.aio.Server, config: Config) -> int:
    """Bind the configured address and return the port.

    Raises:
        StartupError: the address cannot be used, or the TLS files are no good.
    """
    host = f"[{config.host}]" if ":" in config.host else config.host
    address = f"{host}:{config.port}"
    credentials = server_credentials(config)
    _check_free(config.host, config.port)
    try:
        if credentials is None:
            return server.add_insecure_port(address)
        return server.add_secure_port(address, credentials)
    except RuntimeError as error:
        raise StartupError(f"cannot listen on {address}: {error}") from error


def _check_free(host: str, port: int) -> None:
    """Try the address first: gRPC does not tell why it cannot have one."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise StartupError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
