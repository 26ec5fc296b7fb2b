import pytest

from dragoman.transformer import ConfigError, TransformerConfig


def test_base_is_the_base_model_of_the_paper() -> None:
    base = TransformerConfig.preset("base")
    assert (base.d_model, base.heads, base.feed_forward) == (512, 8, 2048)
    assert (base.encoder_layers, base.decoder_layers) == (6, 6)
    assert (base.norm, base.dropout, base.head_size) == ("post", 0.1, 64)


def test_small_is_the_default_model() -> None:
    small = TransformerConfig.preset("small")
    assert (small.d_model, small.heads, small.feed_forward) == (256, 8, 1024)
    assert (small.encoder_layers, small.decoder_layers, small.vocabulary_size) == (4, 2, 8000)


def test_overrides_replace_fields_of_a_preset() -> None:
    assert TransformerConfig.preset("tiny", heads=2).heads == 2


def test_plain_values_round_trip() -> None:
    config = TransformerConfig.preset("tiny")
    assert TransformerConfig.from_dict(config.to_dict()) == config


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("vocabulary_size", 0, "vocabulary_size: 0 must be >= 1"),
        ("heads", 0, "heads: 0 must be >= 1"),
        ("heads", 3, "d_model: 64 must be a multiple of 3"),
        ("d_model", 63, "d_model: 63 must be even"),
        ("dropout", 1.0, r"dropout: 1.0 must be in \[0, 1\)"),
        ("norm", "rms", "norm: 'rms' must be"),
        ("encoder_layers", 65, r"encoder_layers: 65 must be in 1\.\.64"),
        ("eos_id", 300, r"eos_id: 300 must be in 0\.\.299"),
    ],
)
def test_a_value_out_of_bounds_names_field_value_and_bound(
    field: str, value: object, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        TransformerConfig.preset("tiny", **{field: value})


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"unknown configuration field\(s\): layers"):
        TransformerConfig.preset("tiny", layers=3)


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(ConfigError, match="'big' is not one of base, small, tiny"):
        TransformerConfig.preset("big")
