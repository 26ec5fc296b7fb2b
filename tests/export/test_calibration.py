"""Ranges of activations, measured on sentences."""

from __future__ import annotations

import copy
from typing import cast

import pytest
import torch
from torch import nn

from dragoman.export.calibration import Sentence, measure_cache_steps, measure_ranges
from dragoman.transformer import DecoderLayer, EncoderLayer, Transformer
from tests.export.conftest import random_model, random_sentences


def first_expansion(model: Transformer) -> nn.Linear:
    return cast(EncoderLayer, model.encoder.layers[0]).feed_forward.expand


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_every_product_gets_a_range(norm: str) -> None:
    model = random_model(norm)
    ranges = measure_ranges(model, random_sentences(model.config, 3))
    linears = {module for module in model.modules() if isinstance(module, nn.Linear)}
    assert set(ranges) == {*linears, model.embedding}
    assert all(limit > 0 for limit in ranges.values())


def test_maps_of_the_same_input_get_the_same_range() -> None:
    model = random_model("pre")
    ranges = measure_ranges(model, random_sentences(model.config, 3))
    layers = [cast(DecoderLayer, layer) for layer in model.decoder.layers]
    for layer in layers:
        attention = layer.self_attention
        assert ranges[attention.query] == ranges[attention.key] == ranges[attention.value]
    assert len({ranges[layer.cross_attention.key] for layer in layers}) == 1


def test_a_range_holds_what_was_seen_but_for_rare_outliers() -> None:
    model = random_model("pre")
    sentences = random_sentences(model.config, 3)
    largest = 0.0

    def see(_: nn.Module, inputs: tuple[torch.Tensor]) -> None:
        nonlocal largest
        largest = max(largest, float(inputs[0].abs().max()))

    expand = first_expansion(model)
    handle = expand.register_forward_pre_hook(see)
    limit = measure_ranges(model, sentences)[expand]
    handle.remove()
    assert 0.5 * largest < limit <= largest * 1.0001


def test_cache_steps_leave_room_above_all_that_was_seen() -> None:
    model = random_model("pre")
    sentences = random_sentences(model.config, 3)
    layers = [cast(DecoderLayer, layer) for layer in model.decoder.layers]
    attentions = [each for x in layers for each in (x.self_attention, x.cross_attention)]
    seen = {linear: torch.zeros(64) for each in attentions for linear in (each.key, each.value)}

    def see(linear: nn.Module, _: object, values: torch.Tensor) -> None:
        key = cast(nn.Linear, linear)
        seen[key] = torch.maximum(seen[key], values.abs().amax((0, 1)))

    handles = [linear.register_forward_hook(see) for linear in seen]
    for each in sentences:
        source, target = torch.tensor([each.source_ids]), torch.tensor([each.target_ids])
        model(source, torch.tensor([source.shape[1]]), target)
    for handle in handles:
        handle.remove()
    steps = measure_cache_steps(model, sentences)
    assert set(steps) == set(seen)
    for linear, largest in seen.items():
        assert (127 * steps[linear] > largest).all()
        assert (127 * steps[linear] < 1.3 * largest).all()


def test_a_channel_without_values_has_steps_too() -> None:
    model = copy.deepcopy(random_model("pre"))
    attention = cast(DecoderLayer, model.decoder.layers[0]).self_attention
    with torch.no_grad():
        for linear, channels in ((attention.key, slice(3, 4)), (attention.value, slice(None))):
            linear.weight[channels] = 0
            linear.bias[channels] = 0
    steps = measure_cache_steps(model, random_sentences(model.config, 2))
    for found in steps.values():
        assert found.isfinite().all()
        assert found.reciprocal().isfinite().all()


def test_one_large_value_among_many_is_cut_off() -> None:
    model = random_model("pre")
    expand = first_expansion(model)
    sentences = random_sentences(model.config, 3)
    usual = measure_ranges(model, sentences)[expand]

    def spoil(_: nn.Module, inputs: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        states = inputs[0].clone()
        states[0, 0, 0] = 20 * usual
        return (states,)

    handle = expand.register_forward_pre_hook(spoil)
    limit = measure_ranges(model, sentences)[expand]
    handle.remove()
    assert limit < 10 * usual


def test_the_model_is_left_as_it_was() -> None:
    model = random_model("pre")
    before = {name: value.clone() for name, value in model.state_dict().items()}
    measure_ranges(model, [Sentence((5, 3), (2, 7))])
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not any(module._forward_pre_hooks for module in model.modules())
    assert not any(module._forward_hooks for module in model.modules())
