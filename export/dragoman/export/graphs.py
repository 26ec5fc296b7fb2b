"""The three graphs of a model, traced by torch.onnx with every dynamic dimension named."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import onnx_ir as ir
import torch
from torch import Tensor, nn

from dragoman.export.arithmetic import Arithmetic
from dragoman.export.decoder_graph import DecoderGraph
from dragoman.export.encoder_graph import EncoderGraph
from dragoman.export.operators import OPSET
from dragoman.export.scorer_graph import ScorerGraph
from dragoman.transformer import Transformer, TransformerConfig

Shape = tuple[str | int, ...]

# Sizes that the example inputs give the dynamic dimensions: 1 would be traced as a constant, and
# two of the same size as one.
_EXAMPLE_SIZES = {
    "batch": 3,
    "rows": 3,
    "source": 7,
    "target": 5,
    "capacity": 11,
    "source_capacity": 7,
}


class ExportError(ValueError):
    """A model can't be exported; the message names what stands in the way."""


@dataclass(frozen=True, slots=True)
class Spec:
    """Type and shape of one input; a name in the shape is a dynamic dimension."""

    shape: Shape
    dtype: torch.dtype = torch.float32

    def example(self) -> Tensor:
        """Return ones of some size."""
        sizes = [_EXAMPLE_SIZES[size] if isinstance(size, str) else size for size in self.shape]
        return torch.ones(sizes, dtype=self.dtype)

    def dynamic(self, dimensions: Mapping[str, object]) -> dict[int, object]:
        """Return the dynamic dimensions by axis."""
        return {axis: dimensions[s] for axis, s in enumerate(self.shape) if isinstance(s, str)}


@dataclass(frozen=True, slots=True)
class Signature:
    """A graph's inputs (those that every model has, and those of each layer) and outputs."""

    inputs: Mapping[str, Spec]
    layer_inputs: Mapping[str, Spec]
    outputs: Mapping[str, Shape]


def encoder_model(model: Transformer, arithmetic: Arithmetic) -> ir.Model:
    """Trace encoder.onnx."""
    inputs = {
        "source_ids": Spec(("batch", "source"), torch.int64),
        "source_lengths": Spec(("batch",), torch.int32),
    }
    cross = _caches(model.config, "cross", ("batch", "source"))
    outputs: dict[str, Shape] = {**cross, "evidence": ("batch", "source", 1)}
    return _trace(EncoderGraph(model, arithmetic), Signature(inputs, {}, outputs))


def decoder_model(model: Transformer, arithmetic: Arithmetic) -> ir.Model:
    """Trace decoder.onnx."""
    own = _caches(model.config, "self", ("rows", "capacity"))
    cross = _caches(model.config, "cross", ("rows", "source_capacity"))
    inputs = {
        "token": Spec(("rows",), torch.int64),
        "length": Spec(("rows",), torch.int32),
        "source_length": Spec(("rows",), torch.int32),
        "top_k": Spec((1,), torch.int64),
    }
    per_layer = sorted((own | cross).items(), key=lambda item: int(item[0].rpartition("_")[2]))
    # The kernel must be able to write to int8 keys and values, even to those that it only reads.
    written = own if arithmetic.cache_type == torch.float32 else own | cross
    outputs: dict[str, Shape] = {
        "top_ids": ("rows", "k"),
        "top_log_probs": ("rows", "k"),
        "log_probs": ("rows", model.config.vocabulary_size),
        "evidence": ("rows", 1, 1),
        **{f"{name}_out": shape for name, shape in per_layer if name in written},
    }
    layer_inputs = {name: Spec(shape, arithmetic.cache_type) for name, shape in per_layer}
    return _trace(DecoderGraph(model, arithmetic), Signature(inputs, layer_inputs, outputs))


def scorer_model(model: Transformer, arithmetic: Arithmetic) -> ir.Model:
    """Trace scorer.onnx."""
    inputs = {
        "target_ids": Spec(("batch", "target"), torch.int64),
        "next_ids": Spec(("batch", "target"), torch.int64),
        "source_length": Spec(("batch",), torch.int32),
    }
    outputs: dict[str, Shape] = {
        "log_probs_of_next": ("batch", "target"),
        "attention": ("batch", "target", "source"),
    }
    cross = _caches(model.config, "cross", ("batch", "source"))
    layer_inputs = {name: Spec(shape, arithmetic.cache_type) for name, shape in cross.items()}
    return _trace(ScorerGraph(model, arithmetic), Signature(inputs, layer_inputs, outputs))


def require_exportable(config: TransformerConfig) -> None:
    """Refuse what the attention kernel can't hold.

    Raises:
        ExportError: The head size is no multiple of 8.
    """
    if config.head_size % 8:
        raise ExportError(
            f"head_size: {config.head_size} (d_model {config.d_model} / heads {config.heads}) "
            "must be a multiple of 8"
        )


def _caches(config: TransformerConfig, kind: str, sizes: tuple[str, str]) -> dict[str, Shape]:
    shape = (sizes[0], config.heads, sizes[1], config.head_size)
    parts = [f"{part}_{layer}" for layer in range(config.decoder_layers) for part in _PARTS]
    return {f"{kind}_{part}": shape for part in parts}


_PARTS = ("key", "value")


def _trace(module: nn.Module, signature: Signature) -> ir.Model:
    specs = {**signature.inputs, **signature.layer_inputs}
    dimensions = {name: torch.export.Dim(name) for name in _EXAMPLE_SIZES}
    dynamic = [spec.dynamic(dimensions) for spec in signature.inputs.values()]
    variadic = tuple(spec.dynamic(dimensions) for spec in signature.layer_inputs.values())
    # It would tell of every operator of an image library that is not installed.
    logging.getLogger("torch.onnx._internal.exporter._registration").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        # The tracer of this torch release uses a name of its own that it has deprecated, and
        # warns where one dimension belongs to several inputs, which is what is meant here.
        warnings.simplefilter("ignore", FutureWarning)
        warnings.filterwarnings("ignore", "# The axis name", UserWarning)
        program = torch.onnx.export(
            module.eval(),
            tuple(spec.example() for spec in specs.values()),
            dynamo=True,
            dynamic_shapes=(*dynamic, variadic) if variadic else tuple(dynamic),
            input_names=list(specs),
            output_names=list(signature.outputs),
            opset_version=OPSET,
            verbose=False,
        )
    if program is None:
        raise ExportError(f"{type(module).__name__}: torch.onnx gave no graph")
    return _tidy(program.model, signature)


def _tidy(model: ir.Model, signature: Signature) -> ir.Model:
    """Name the outputs' sizes and drop the tracer's notes.

    Those tell where in the sources a node arose, and sizes between nodes, some of them stand-ins.
    """
    for index, node in enumerate(model.graph):
        node.name = f"{node.op_type}_{index}"
        node.doc_string = None
        node.metadata_props.clear()
        for value in node.outputs:
            value.metadata_props.clear()
            value.shape = None
    for value in model.graph.outputs:
        value.shape = ir.Shape(signature.outputs[str(value.name)])
    for value in (*model.graph.inputs, *model.graph.initializers.values()):
        value.metadata_props.clear()
    model.graph.metadata_props.clear()
    model.metadata_props.clear()
    return model
