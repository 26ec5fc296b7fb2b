"""`optimum` in the same harness: graphs that it exports from `transformers`, in ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import onnxruntime
from optimum.exporters.onnx import onnx_export_from_model
from optimum.onnxruntime import ORTModelForSeq2SeqLM

from benchmarks.models import ModelName, float_model, kept
from benchmarks.peers.transformers_engine import Transformers
from benchmarks.peers.transformers_model import transformers_model


def open_engine(model: ModelName, threads: int) -> Transformers:
    """Load `optimum` with a model; its graphs are float32, driven by `generate`."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    graphs = kept(f"optimum-{model}", lambda path: _export(model, path))
    loaded = ORTModelForSeq2SeqLM.from_pretrained(graphs, session_options=options)
    return Transformers(loaded, threads)


def _export(model: ModelName, path: Path) -> None:
    peer = transformers_model(float_model(model))
    onnx_export_from_model(peer, path, task="text2text-generation-with-past")
