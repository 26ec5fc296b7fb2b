"""``dragoman.v1.ModelService``."""

from dragoman.server.backend import Gate
from dragoman.server.errors import InvalidFieldError, UnknownModelError, quoted
from dragoman.server.interceptors.base import Context
from dragoman.v1 import model_pb2, model_pb2_grpc
from dragoman.v1.limits import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE


class ModelService(model_pb2_grpc.ModelServiceServicer):
    """Tells what is served.

    Args:
        gate: to the engine.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def ListModels(  # noqa: N802  (the contract's name)
        self,
        request: model_pb2.ListModelsRequest,
        context: Context,  # noqa: ARG002
    ) -> model_pb2.ListModelsResponse:
        """List the models page by page; a page token is the number of models before it."""
        models = [self._gate.backend().model]
        if request.page_size < 0:
            raise InvalidFieldError("page_size", str(request.page_size), "0 or more")
        size = min(request.page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
        start = _start(request.page_token, len(models))
        end = start + size
        return model_pb2.ListModelsResponse(
            models=models[start:end], next_page_token=str(end) if end < len(models) else ""
        )

    async def GetModel(  # noqa: N802
        self,
        request: model_pb2.GetModelRequest,
        context: Context,  # noqa: ARG002
    ) -> model_pb2.GetModelResponse:
        """Describe one model."""
        model = self._gate.backend().model
        if request.name and request.name != model.name:
            raise UnknownModelError(request.name, model.name)
        return model_pb2.GetModelResponse(model=model)


def _start(token: str, count: int) -> int:
    if not token:
        return 0
    if not (token.isascii() and token.isdigit() and len(token) < 10 and 0 < int(token) < count):
        raise InvalidFieldError("page_token", quoted(token), "the next_page_token of a page before")
    return int(token)
