"""The standard health service (grpc.health.v1), with streams that end when the server does."""

import asyncio
from collections.abc import AsyncIterator, Iterable

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from dragoman.server.interceptors.base import Context

Status = health_pb2.HealthCheckResponse
SERVICE = health_pb2.DESCRIPTOR.services_by_name["Health"]


class Health(health_pb2_grpc.HealthServicer):  # type: ignore[misc]  # untyped upstream
    """One status for the whole server, under its name ``""`` and that of each service.

    A load balancer or probe asks for a service's name to learn whether it is ready, and for ``""``
    to learn whether the process lives. `close` ends the open ``Watch`` calls, for which gRPC
    would wait before it stops.
    """

    def __init__(self, services: Iterable[str]) -> None:
        self._names = frozenset(("", *services))
        self._serving = False
        self._closed = False
        self._changed = asyncio.Condition()

    @property
    def is_serving(self) -> bool:
        """Whether the status is SERVING."""
        return self._serving

    async def set(self, *, serving: bool) -> None:
        """Set the status of all names and tell all watchers."""
        async with self._changed:
            self._serving = serving
            self._changed.notify_all()

    async def close(self) -> None:
        """Say NOT_SERVING for good and end all watches."""
        async with self._changed:
            self._serving = False
            self._closed = True
            self._changed.notify_all()

    async def Check(  # noqa: N802  (the contract's name)
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> health_pb2.HealthCheckResponse:
        """The status of one name; NOT_FOUND for a name that is not ours."""
        if request.service not in self._names:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such service")
        return Status(status=self._status(request.service))

    async def List(  # noqa: N802
        self,
        request: health_pb2.HealthListRequest,  # noqa: ARG002
        context: Context,  # noqa: ARG002
    ) -> health_pb2.HealthListResponse:
        """The status of every name."""
        return health_pb2.HealthListResponse(
            statuses={name: Status(status=self._status(name)) for name in self._names}
        )

    async def Watch(  # noqa: N802
        self,
        request: health_pb2.HealthCheckRequest,
        context: Context,  # noqa: ARG002
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """The status of one name now and after every change, until the server stops."""
        sent = None
        while True:
            status = self._status(request.service)
            if status != sent:
                sent = status
                yield Status(status=status)
            async with self._changed:
                if self._status(request.service) == sent:
                    if self._closed:
                        return
                    await self._changed.wait()

    def _status(self, service: str) -> "health_pb2.HealthCheckResponse.ServingStatus":
        if service not in self._names:
            return Status.SERVICE_UNKNOWN
        return Status.SERVING if self._serving else Status.NOT_SERVING
