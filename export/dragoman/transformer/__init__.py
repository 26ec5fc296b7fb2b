"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017), one module a concept."""

from dragoman.transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from dragoman.transformer.config import ConfigError, TransformerConfig
from dragoman.transformer.decoder import Decoder, DecoderLayer
from dragoman.transformer.embedding import TokenEmbedding
from dragoman.transformer.encoder import Encoder, EncoderLayer
from dragoman.transformer.feed_forward import FeedForward
from dragoman.transformer.masks import padding_mask
from dragoman.transformer.model import Transformer
from dragoman.transformer.positions import SinusoidalPositions, sinusoids
from dragoman.transformer.residual import Residual

__all__ = [
    "ConfigError",
    "Decoder",
    "DecoderLayer",
    "Encoder",
    "EncoderLayer",
    "FeedForward",
    "MultiHeadAttention",
    "Residual",
    "SinusoidalPositions",
    "TokenEmbedding",
    "Transformer",
    "TransformerConfig",
    "padding_mask",
    "scaled_dot_product_attention",
    "sinusoids",
]
