"""Reading packages needs dpkg-deb, or something that stands in for it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.corpus.packages import have_dpkg_deb, install_stand_in


@pytest.fixture(scope="session", autouse=True)
def _package_tool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    path = os.environ["PATH"]
    if not have_dpkg_deb():
        install_stand_in(tmp_path_factory.mktemp("tools"))
    yield
    os.environ["PATH"] = path
