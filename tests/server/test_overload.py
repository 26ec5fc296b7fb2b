"""A full queue refuses at once, says when to come back, and never fails a probe."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.harness import Hosted, Valve, config, eventually, failure, hosted

CAPACITY = 6


@pytest.fixture
def valve() -> Valve:
    return Valve()


@pytest.fixture
def full(tiny_bundle: Path, valve: Valve) -> Iterator[Hosted]:
    """A held server with work up to its capacity."""
    limits = {"max_rows": 2, "max_queued": CAPACITY, "max_lines": CAPACITY}
    settings = config(tiny_bundle, default_beam_size=1, **limits)
    with hosted(settings, valve.load) as server:
        valve.close()
        calls = [server.start_line("four hundred") for _ in range(CAPACITY)]
        assert eventually(lambda: server.metric("dragoman_requests_total") == CAPACITY)
        yield server
        valve.open()
        for call in calls:
            assert call.result().translations[0].text == "vierhundert"
        server.assert_at_rest()


def test_more_is_refused_with_a_hint(full: Hosted) -> None:
    refused = failure(lambda: full.translate("one"))
    assert (refused.code, refused.reason) == ("RESOURCE_EXHAUSTED", "QUEUE_FULL")
    assert refused.retry_seconds
    assert int(refused.trailers["grpc-retry-pushback-ms"]) == round(refused.retry_seconds * 1000)
    refused = failure(lambda: full.stream("one"))
    assert refused.reason == "QUEUE_FULL"
    refused = failure(lambda: full.predict(text="one"))
    assert refused.reason == "QUEUE_FULL"
    assert full.metric("dragoman_rejections_total", reason="queue_full") == 3


def test_probes_and_what_needs_no_model_still_pass(full: Hosted) -> None:
    assert full.status() == "SERVING"
    assert full.status("dragoman.v1.TranslationService") == "SERVING"
    assert full.model().name
    assert full.text(" \n") == " \n"


def test_ten_times_the_capacity_at_once(full: Hosted) -> None:
    calls = [full.start_line("one") for _ in range(10 * CAPACITY)]
    assert {failure(call.result).reason for call in calls} == {"QUEUE_FULL"}


def test_a_document_is_admitted_whole_or_not(full: Hosted, valve: Valve) -> None:
    text = "one\n" * CAPACITY
    assert failure(lambda: full.text(text)).reason == "QUEUE_FULL"
    valve.open()
    full.assert_at_rest()
    assert full.text(text) == "eins\n" * CAPACITY


def test_what_could_never_be_admitted_is_invalid(full: Hosted) -> None:
    refused = failure(lambda: full.text("one\n" * (CAPACITY + 1)))
    assert refused.code == "INVALID_ARGUMENT"


def test_levels_while_it_is_full(full: Hosted, valve: Valve) -> None:
    valve.let_step()  # the first may have run before the second row came
    assert eventually(lambda: full.metric("dragoman_running_rows") == 2)
    assert full.metric("dragoman_queued_requests") == CAPACITY - 2
    assert full.metric("dragoman_slots") == 2
