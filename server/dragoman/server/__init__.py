"""The gRPC server: services, metrics, configuration, life cycle."""

from dragoman.server.config import Config
from dragoman.server.errors import ConfigurationError, ServerError, StartupError
from dragoman.server.server import Server, running

__all__ = ["Config", "ConfigurationError", "Server", "ServerError", "StartupError", "running"]
