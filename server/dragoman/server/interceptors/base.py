"""Common ground of the interceptors: every method as one coroutine that can be surrounded."""

import asyncio
import inspect
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.descriptor import ServiceDescriptor

Context = grpc.aio.ServicerContext[Any, Any]
Handler = Any
"""A `grpc.RpcMethodHandler`; the stubs' type lacks the attributes that matter here."""
Behaviour = Callable[[object, Context], Awaitable[object]]
"""A handler as a coroutine function: (request or their iterator, context) -> response or None."""

_TYPES = {
    (False, False): "unary",
    (False, True): "server_stream",
    (True, False): "client_stream",
    (True, True): "bidi_stream",
}
_MAKERS = {
    (False, False): grpc.unary_unary_rpc_method_handler,
    (False, True): grpc.unary_stream_rpc_method_handler,
    (True, False): grpc.stream_unary_rpc_method_handler,
    (True, True): grpc.stream_stream_rpc_method_handler,
}


@dataclass(frozen=True, slots=True)
class Method:
    """A method as logs and metrics name it.

    Attributes:
        service: full name of the service.
        name: name of the method.
        type: ``unary``, ``server_stream``, ``client_stream`` or ``bidi_stream``.
    """

    service: str
    name: str
    type: str


OTHER = Method("other", "other", "unary")
"""Stands for every method that the server does not have, whatever clients make up."""


def methods_of(services: Iterable[ServiceDescriptor]) -> dict[str, Method]:
    """All methods of `services` by their path, such as ``/grpc.health.v1.Health/Check``."""
    return {
        f"/{service.full_name}/{method.name}": Method(
            service.full_name, method.name, _TYPES[method.client_streaming, method.server_streaming]
        )
        for service in services
        for method in service.methods
    }


class Interceptor(grpc.aio.ServerInterceptor):
    """Surrounds the handler of each method once and hands out the same one ever after."""

    def __init__(self, methods: Mapping[str, Method]) -> None:
        self._methods = methods
        self._surrounded: dict[str, tuple[Handler, Handler]] = {}

    @abstractmethod
    async def around(
        self, method: Method, proceed: Behaviour, request: object, context: Context
    ) -> object:
        """Run one call: await `proceed(request, context)` and return what it returns."""

    def prepare(self, handler: Handler | None, path: str) -> Handler | None:  # noqa: ARG002
        """Replace the handler of `path` (None: no such method) before it is surrounded."""
        return handler

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """See `grpc.aio.ServerInterceptor`."""
        handler = await continuation(handler_call_details)
        path = handler_call_details.method
        known = self._surrounded.get(path)
        if known is not None and known[0] is handler:
            return known[1]
        prepared = self.prepare(handler, path)
        if prepared is None:
            return None
        method = self._methods.get(path, OTHER)
        surrounded = self._surround(method, prepared)
        if method is not OTHER:
            self._surrounded[path] = (handler, surrounded)
        return surrounded

    def _surround(self, method: Method, handler: Handler) -> Handler:
        proceed = _as_coroutine(_behaviour(handler))

        async def surrounded(request: object, context: Context) -> object:
            return await self.around(method, proceed, request, context)

        make = _MAKERS[handler.request_streaming, handler.response_streaming]
        return make(surrounded, handler.request_deserializer, handler.response_serializer)


def outcome(context: Context, error: BaseException | None) -> grpc.StatusCode:
    """The status that a call ends with, seen from around its handler.

    Args:
        context: the call's context.
        error: what the handler raised; None where it returned.
    """
    if error is None or isinstance(error, grpc.aio.AbortError):
        code = context.code()
        return code if isinstance(code, grpc.StatusCode) else grpc.StatusCode.OK
    if isinstance(error, asyncio.CancelledError | grpc.aio.BaseError):
        # The client went away, or its deadline passed: gRPC cancels the handler either way.
        late = context.time_remaining() == 0
        return grpc.StatusCode.DEADLINE_EXCEEDED if late else grpc.StatusCode.CANCELLED
    return grpc.StatusCode.UNKNOWN


def _behaviour(handler: Handler) -> Handler:
    return (
        handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
    )


def _as_coroutine(behaviour: Handler) -> Behaviour:
    if not inspect.isasyncgenfunction(behaviour):
        return behaviour  # type: ignore[no-any-return]

    async def write_all(request: object, context: Context) -> None:
        # Closed here and now, not by the garbage collector, when the client goes away mid-stream.
        messages: AsyncIterator[object]
        async with aclosing(behaviour(request, context)) as messages:
            async for message in messages:
                await context.write(message)

    return write_all
