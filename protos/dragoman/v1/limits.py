"""The numbers that the contract fixes, for both ends (see ``translation.proto``)."""

from __future__ import annotations

from typing import Final

MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024
"""The largest message that either side sends or accepts."""

MAX_CONTENT_COUNT: Final = 1024
"""The most texts in one ``TranslateTextRequest``."""

MAX_PREFIX_COUNT: Final = 64
"""The most prefixes in one ``PredictNextTokenRequest``."""

DEFAULT_TOP_K: Final = 5
"""How many candidates a ``PredictNextTokenRequest`` without ``top_k`` asks for."""

MAX_TOP_K: Final = 100
"""The most candidates that a ``PredictNextTokenRequest`` may ask for."""

MAX_QUERIED_TOKEN_COUNT: Final = 100
"""The most tokens that a ``PredictNextTokenRequest`` may ask about."""

DEFAULT_BEAM_SIZE: Final = 4
"""The beam size of requests without one, where the server's operator chose no other."""

MAX_SCORED_COUNT: Final = 64
"""The most translations in one ``ScoreTranslationRequest``."""

MAX_TERM_COUNT: Final = 64
"""The most terms in one ``DecodingOptions``."""

MAX_TARGET_COUNT: Final = 8
"""The most wordings of one ``Term``."""

MAX_TERM_CHARACTERS: Final = 256
"""The most characters of the source of a ``Term``, and of each of its targets."""

DEFAULT_PAGE_SIZE: Final = 50
"""How many models a page of ``ListModels`` has at most, unless the request says."""

MAX_PAGE_SIZE: Final = 100
"""The most models that a page of ``ListModels`` has, whatever the request says."""

MIN_PING_INTERVAL_SECONDS: Final = 10
"""How often a client may send a keepalive ping, also without data between two pings."""
