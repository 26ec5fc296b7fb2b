"""One server for all tests that need nothing special; whatever they do, it comes to rest."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.harness import Hosted, config, hosted


@pytest.fixture(scope="session")
def shared_server(tiny_bundle: Path) -> Iterator[Hosted]:
    with hosted(config(tiny_bundle, log_level="debug")) as server:
        yield server


@pytest.fixture
def server(shared_server: Hosted) -> Iterator[Hosted]:
    """The shared server, at rest before and after."""
    yield shared_server
    shared_server.assert_at_rest()
