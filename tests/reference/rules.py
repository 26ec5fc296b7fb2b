"""What options change about a distribution, each written in the plainest way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

Adjust = Callable[[torch.Tensor, tuple[int, ...]], torch.Tensor]


def repetition_penalty(penalty: float) -> Adjust:
    def adjust(log_probs: torch.Tensor, tokens: tuple[int, ...]) -> torch.Tensor:
        for token in set(tokens):
            log_probs[token] *= penalty
        return log_probs

    return adjust


def no_repeat_ngram(size: int) -> Adjust:
    def adjust(log_probs: torch.Tensor, tokens: tuple[int, ...]) -> torch.Tensor:
        seen = {tokens[place : place + size] for place in range(len(tokens) - size + 1)}
        for token in range(len(log_probs)):
            longer = (*tokens, token)
            if len(longer) >= size and longer[-size:] in seen:
                log_probs[token] = -torch.inf
        return log_probs

    return adjust


def minimum_length(least: int, eos: int) -> Adjust:
    def adjust(log_probs: torch.Tensor, tokens: tuple[int, ...]) -> torch.Tensor:
        if len(tokens) + 1 < least:
            log_probs[eos] = -torch.inf
        return log_probs

    return adjust


def suppress(ids: Sequence[int]) -> Adjust:
    def adjust(log_probs: torch.Tensor, tokens: tuple[int, ...]) -> torch.Tensor:
        log_probs[list(ids)] = -torch.inf
        return log_probs

    return adjust


def prefix_bias(prefix: tuple[int, ...], bias: float) -> Adjust:
    def adjust(log_probs: torch.Tensor, tokens: tuple[int, ...]) -> torch.Tensor:
        place = len(tokens)
        if place >= len(prefix) or tokens != prefix[:place]:
            return log_probs
        probabilities = (1 - bias) * log_probs.double().exp()
        probabilities[prefix[place]] += bias
        return probabilities.log().float()

    return adjust


def word_start(prefix: tuple[int, ...], starts: Sequence[int]) -> Adjust:
    def adjust(log_probs: torch.Tensor, tokens: tuple[int, ...]) -> torch.Tensor:
        if tokens == prefix:
            allowed = torch.zeros_like(log_probs, dtype=torch.bool)
            allowed[list(starts)] = True
            log_probs[~allowed] = -torch.inf
        return log_probs

    return adjust


def one_after_the_other(*rules: Adjust) -> Adjust:
    def adjust(log_probs: torch.Tensor, tokens: tuple[int, ...]) -> torch.Tensor:
        for rule in rules:
            log_probs = rule(log_probs, tokens)
        return log_probs

    return adjust
