"""The whole model against torch.nn.Transformer, and what padding may never do."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from dragoman.transformer import MultiHeadAttention, Transformer, TransformerConfig
from dragoman.transformer.config import Norm


def make(norm: Norm = "pre", **overrides: object) -> Transformer:
    torch.manual_seed(3)
    config = TransformerConfig.preset("tiny", norm=norm, **overrides)
    model = Transformer(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.normal_(1.0 if name.endswith("norm.weight") else 0.0, 0.1)
    return model


def ids(batch: int, length: int) -> Tensor:
    return torch.randint(4, 300, (batch, length))


def copy_attention(ours: MultiHeadAttention, theirs: Any) -> None:
    parts = (ours.query, ours.key, ours.value)
    theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
    theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())


@torch.no_grad()
def torch_twin(model: Any) -> nn.Transformer:
    """Build torch.nn.Transformer with the same weights."""
    config = model.config
    pre = config.norm == "pre"
    shape = (config.d_model, config.heads, config.feed_forward, 0.0)
    layer = nn.TransformerEncoderLayer(*shape, batch_first=True, norm_first=pre)
    encoder: Any = nn.TransformerEncoder(
        layer,
        config.encoder_layers,
        nn.LayerNorm(config.d_model) if pre else None,
        enable_nested_tensor=False,
    )
    decoder: Any = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(*shape, batch_first=True, norm_first=pre),
        config.decoder_layers,
        nn.LayerNorm(config.d_model) if pre else None,
    )
    # Building nn.Transformer initialises its stacks anew, so the weights come afterwards.
    twin = nn.Transformer(
        config.d_model,
        config.heads,
        custom_encoder=encoder,
        custom_decoder=decoder,
        batch_first=True,
    ).eval()
    for ours, theirs in zip(model.encoder.layers, encoder.layers, strict=True):
        copy_attention(ours.self_attention, theirs.self_attn)
        theirs.norm1.load_state_dict(ours.self_attention_norm.state_dict())
        theirs.norm2.load_state_dict(ours.feed_forward_norm.state_dict())
        theirs.linear1.load_state_dict(ours.feed_forward.expand.state_dict())
        theirs.linear2.load_state_dict(ours.feed_forward.contract.state_dict())
    for ours, theirs in zip(model.decoder.layers, decoder.layers, strict=True):
        copy_attention(ours.self_attention, theirs.self_attn)
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        theirs.norm1.load_state_dict(ours.self_attention_norm.state_dict())
        theirs.norm2.load_state_dict(ours.cross_attention_norm.state_dict())
        theirs.norm3.load_state_dict(ours.feed_forward_norm.state_dict())
        theirs.linear1.load_state_dict(ours.feed_forward.expand.state_dict())
        theirs.linear2.load_state_dict(ours.feed_forward.contract.state_dict())
    if pre:
        encoder.norm.load_state_dict(model.encoder.norm.state_dict())
        decoder.norm.load_state_dict(model.decoder.norm.state_dict())
    return twin


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_model_equals_torch_transformer(norm: Norm) -> None:
    model = make(norm)
    source, target, lengths = ids(3, 9), ids(3, 6), torch.tensor([9, 2, 5])
    padding = torch.arange(9) >= lengths.unsqueeze(1)
    causal = nn.Transformer.generate_square_subsequent_mask(6)
    hidden = torch_twin(model)(
        model.embed(source),
        model.embed(target),
        tgt_mask=causal,
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
        tgt_is_causal=True,
    )
    expected = hidden @ model.embedding.weight.T
    torch.testing.assert_close(model(source, lengths, target), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("padding", [0, 3, 97])
def test_padding_never_changes_a_real_position(padding: int) -> None:
    model = make(max_positions=128)
    source, target, lengths = ids(2, 7), ids(2, 5), torch.tensor([7, 4])
    alone = model(source, lengths, target)
    wide = nn.functional.pad(source, (0, padding), value=0)
    longer = nn.functional.pad(target, (0, padding), value=0)
    padded = model(wide, lengths, longer)[:, :5]
    torch.testing.assert_close(padded, alone, rtol=1e-5, atol=1e-5)


def test_what_stands_in_padding_does_not_matter() -> None:
    model = make()
    source, target, lengths = ids(1, 8), ids(1, 5), torch.tensor([3])
    other = source.clone()
    other[:, 3:] = 77
    assert torch.equal(model(source, lengths, target), model(other, lengths, target))


def test_a_position_sees_no_later_target() -> None:
    model = make()
    source, lengths, target = ids(1, 4), torch.tensor([4]), ids(1, 6)
    changed = target.clone()
    changed[:, 4:] = 5
    before, after = model(source, lengths, target), model(source, lengths, changed)
    torch.testing.assert_close(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4], after[:, 4])


def test_a_source_of_padding_only_is_refused_and_never_nan() -> None:
    with pytest.raises(ValueError, match="hold no token"):
        make()(ids(2, 4), torch.tensor([4, 0]), ids(2, 3))


def test_gradients_of_a_ragged_batch_are_finite() -> None:
    model = make().train()
    model(ids(3, 9), torch.tensor([9, 1, 4]), ids(3, 6)).logsumexp(-1).sum().backward()
    gradients = [p.grad for p in model.parameters()]
    assert all(g is not None and bool(torch.isfinite(g).all()) for g in gradients)


def test_source_target_and_output_share_one_matrix() -> None:
    model = make()
    names = [name for name, p in model.named_parameters() if p.shape == (300, 64)]
    assert names == ["embedding.weight"]
    small = Transformer(TransformerConfig.preset("small"))
    assert small.parameter_count() == 7_314_944
