"""The training loop."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import torch

from dragoman.training.batches import Batch, BatchStream
from dragoman.training.checkpoint import (
    Progress,
    latest_checkpoint,
    load_model,
    load_parameters,
    load_state,
    progress_facts,
    prune_checkpoints,
    save_checkpoint,
)
from dragoman.training.copying import CopyAugmentation
from dragoman.training.device import (
    attention_backend,
    choose_device,
    generator_state,
    restore_generators,
    uses_bf16,
)
from dragoman.training.evaluate import DevFigures, DevSet
from dragoman.training.loss import batch_loss
from dragoman.training.optimizer import Optimizer
from dragoman.training.packed import PackedCorpus, pack
from dragoman.training.recipe import Recipe
from dragoman.training.schedule import rate_factor
from dragoman.training.tokenizer import load_tokenizer, train_tokenizer
from dragoman.transformer import Transformer, TransformerConfig


class Reporter(Protocol):
    """Shows what happens; `StepReport` rows also go to `log.jsonl` of the run."""

    def note(self, text: str) -> None:
        """Show one line of text."""

    def step(self, values: dict[str, Any]) -> None:
        """Show figures of training: step, steps, loss, rate, tokens_per_second, seconds_left."""

    def dev(self, step: int, figures: DevFigures) -> None:
        """Show figures of the dev set."""


class Trainer:
    """One run in one directory: prepares data and model, resumes, trains, keeps checkpoints."""

    def __init__(self, recipe: Recipe, output: Path, reporter: Reporter) -> None:
        settings = recipe.training
        self.recipe, self.output, self.reporter = recipe, output, reporter
        self.device = choose_device(settings)
        self.autocast = uses_bf16(settings, self.device)
        if settings.threads is not None:
            torch.set_num_threads(settings.threads)
        torch.manual_seed(settings.seed)
        self.tokenizer_path = self._prepare_tokenizer()
        config = TransformerConfig.preset(
            recipe.preset,
            **{"vocabulary_size": recipe.tokenizer.vocabulary_size, **recipe.model},
        )
        self.tokenizer = load_tokenizer(self.tokenizer_path, config.vocabulary_size)
        self.corpus = self._prepare_corpus()
        self.model = Transformer(config).to(self.device)
        self.optimizer = Optimizer(self.model, recipe.optimizer)
        self.progress = Progress()
        self.figures: DevFigures | None = None
        self.stopping = False

    def resume(self, checkpoint: Path | None = None) -> bool:
        """Continue from `checkpoint`, or from the newest of this run; false where there is none."""
        path = checkpoint or latest_checkpoint(self.output)
        if path is None:
            return False
        loaded, _, _ = load_model(path)
        load_parameters(self.model, {n: p.detach() for n, p in loaded.named_parameters()})
        state, self.progress = load_state(path)
        restore_generators(state, self.device)
        self.optimizer.load(state)
        self.reporter.note(f"resumed {path.name}: {self.progress.target_tokens:,} tokens seen")
        return True

    def run(self, until: int | None = None) -> Progress:
        """Train up to update number `until` (all of the recipe's steps by default)."""
        settings = self.recipe.training
        last = settings.steps if until is None else until
        dev = self._dev_set()
        self.model.train()
        for epoch, index, batch in self._batches():
            if self.progress.step >= last or self.stopping:
                break
            with attention_backend(self.device):
                self._update(batch, epoch, index)
            step = self.progress.step
            if dev is not None and (step % settings.evaluate_every == 0 or step == last):
                self._evaluate(dev)
            if step % settings.checkpoint_every == 0 or step == last:
                self._keep()
        if self.stopping:
            self._keep()
        return self.progress

    def stop(self) -> None:
        """Let `run` end after the update under way, with a checkpoint of it."""
        self.stopping = True

    def _keep(self) -> None:
        self.save(self.output / f"step-{self.progress.step:08d}")
        prune_checkpoints(self.output, self.recipe.training.checkpoints_kept)

    def save(self, path: Path, *, resumable: bool = True) -> None:
        """Write a checkpoint of this moment."""
        state = {**self.optimizer.state(), **generator_state(self.device)} if resumable else None
        shard_bytes = self.recipe.training.shard_bytes
        save_checkpoint(path, self.model, self.tokenizer_path, self.facts(), state, shard_bytes)

    def facts(self) -> dict[str, Any]:
        """Return what a checkpoint tells of its training."""
        figures = self.figures
        return {
            "progress": progress_facts(self.progress),
            "recipe": self.recipe.to_dict(),
            "pairs": len(self.corpus),
            "rejected_pairs": self.corpus.rejected,
            "dev": None if figures is None else _plain(figures),
        }

    def _batches(self) -> Iterator[tuple[int, int, Batch]]:
        settings, data = self.recipe.training, self.recipe.data
        copying = None
        if data.copy_augmentation:
            share, seed = data.copy_augmentation, settings.seed
            copying = CopyAugmentation(self.tokenizer, share, data.max_tokens, seed)
        stream = BatchStream(
            self.corpus, settings.batch_tokens, settings.seed, data.origin_weights, copying
        )
        return stream.iterate(self.progress.epoch, self.progress.index)

    def _update(self, batch: Batch, epoch: int, index: int) -> None:
        started = time.monotonic()
        settings = self.recipe.training
        batch = batch.to(self.device)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.autocast):
            loss = batch_loss(self.model, batch, settings.label_smoothing)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        factor = rate_factor(self.progress.step + 1, settings.steps, self.recipe.optimizer)
        norm = self.optimizer.step(factor)
        self._advance(batch, epoch, index, time.monotonic() - started)
        if self.progress.step % settings.log_every == 0:
            self._log(
                float(loss.detach()), norm, factor, batch.target_tokens, time.monotonic() - started
            )

    def _advance(self, batch: Batch, epoch: int, index: int, seconds: float) -> None:
        done = self.progress
        self.progress = replace(
            done,
            step=done.step + 1,
            epoch=epoch,
            index=index,
            target_tokens=done.target_tokens + batch.target_tokens,
            seconds=done.seconds + seconds,
        )

    def _log(self, loss: float, norm: float, factor: float, tokens: int, seconds: float) -> None:
        done, steps = self.progress, self.recipe.training.steps
        values = {
            "step": done.step,
            "steps": steps,
            "loss": loss,
            "gradient_norm": norm,
            "rate_factor": factor,
            "learning_rate": self.recipe.optimizer.learning_rate * factor,
            "target_tokens": done.target_tokens,
            "tokens_per_second": tokens / max(seconds, 1e-9),
            "seconds": done.seconds,
            "seconds_left": done.seconds / done.step * (steps - done.step),
        }
        self._append(values)
        self.reporter.step(values)

    def _evaluate(self, dev: DevSet) -> None:
        figures = dev.measure(self.model)
        self.figures = figures
        self.reporter.dev(self.progress.step, figures)
        seen = {"step": self.progress.step, "target_tokens": self.progress.target_tokens}
        self._append({**seen, "seconds": self.progress.seconds, "dev": _plain(figures)})
        if figures.chrf > self.progress.best_chrf:
            self.progress = replace(self.progress, best_chrf=figures.chrf)
            self.save(self.output / "best", resumable=False)

    def _append(self, values: dict[str, Any]) -> None:
        with (self.output / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(values) + "\n")

    def _dev_set(self) -> DevSet | None:
        source = self.recipe.data.dev
        if source is None:
            return None
        limit = min(self.recipe.data.max_tokens, self.model.config.max_positions - 1)
        return DevSet(source, self.recipe.training.dev_sentences, self.tokenizer, limit)

    def _prepare_tokenizer(self) -> Path:
        self.output.mkdir(parents=True, exist_ok=True)
        settings = self.recipe.tokenizer
        if settings.path is not None:
            return Path(settings.path)
        path = self.output / "tokenizer.model"
        if not path.exists():
            self.reporter.note(f"training a tokenizer of {settings.vocabulary_size} pieces")
            train_tokenizer(self.recipe.data.train, settings, path)
        return path

    def _prepare_corpus(self) -> PackedCorpus:
        corpus = pack(self.recipe.data, self.tokenizer_path, self.output / "packed")
        tokens = f"{len(corpus.source_ids):,} source and {len(corpus.target_ids):,} target tokens"
        self.reporter.note(f"{len(corpus):,} pairs, {tokens}")
        for reason, count in sorted(corpus.rejected.items()):
            self.reporter.note(f"left out {count:,} pairs: {reason}")
        return corpus


def _plain(figures: DevFigures) -> dict[str, float]:
    return {"loss": figures.loss, "bleu": figures.bleu, "chrf": figures.chrf}
