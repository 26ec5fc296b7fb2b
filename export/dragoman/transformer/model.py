"""The whole model of figure 1: embeddings, encoder, decoder, output projection."""

from __future__ import annotations

from torch import Tensor, nn

from dragoman.transformer.config import TransformerConfig
from dragoman.transformer.decoder import Decoder
from dragoman.transformer.embedding import TokenEmbedding
from dragoman.transformer.encoder import Encoder
from dragoman.transformer.masks import padding_mask
from dragoman.transformer.positions import SinusoidalPositions


class Transformer(nn.Module):
    """The encoder-decoder Transformer; source, target and output share one embedding matrix."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(config.vocabulary_size, config.d_model, config.pad_id)
        self.positions = SinusoidalPositions(config.max_positions, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self._initialise()

    def forward(self, source_ids: Tensor, source_lengths: Tensor, target_ids: Tensor) -> Tensor:
        """Return logits [batch, target, vocabulary]; row t scores the token after `target_ids[t]`.

        Args:
            source_ids: int64 [batch, source], right-padded, each row ending with EOS.
            source_lengths: int64 [batch], real tokens of each row, at least 1.
            target_ids: int64 [batch, target], beginning with BOS, right-padded.
        """
        memory = self.encode(source_ids, source_lengths)
        return self.project(self.decode(target_ids, memory, source_lengths))

    def encode(self, source_ids: Tensor, source_lengths: Tensor) -> Tensor:
        """Return the memory [batch, source, d_model]."""
        mask = padding_mask(source_lengths, source_ids.shape[1])
        return self.encoder(self.embed(source_ids), mask)  # type: ignore[no-any-return]

    def decode(self, target_ids: Tensor, memory: Tensor, source_lengths: Tensor) -> Tensor:
        """Return the decoder's hidden states [batch, target, d_model]."""
        mask = padding_mask(source_lengths, memory.shape[1])
        return self.decoder(self.embed(target_ids), memory, mask)  # type: ignore[no-any-return]

    def project(self, hidden: Tensor) -> Tensor:
        """Map hidden states [..., d_model] to logits [..., vocabulary]."""
        return self.embedding.project(hidden)

    def embed(self, ids: Tensor) -> Tensor:
        """Embed, add positions, drop out: [batch, length] -> [batch, length, d_model]."""
        return self.dropout(self.positions(self.embedding(ids)))  # type: ignore[no-any-return]

    def parameter_count(self) -> int:
        """Number of trained values, shared ones counted once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def _initialise(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
