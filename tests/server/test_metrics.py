import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from dragoman.server.engine_metrics import EngineMetrics
from dragoman.server.interceptors.base import Method
from dragoman.server.metrics import CallMetrics, code_name
from dragoman.v1 import translation_pb2
from tests.number_words import english, german
from tests.server.harness import DEADLINE, Hosted, config, failure, hosted

KINDS = ("reused", "computed")
EXPECTED = {
    "grpc_server_started",
    "grpc_server_handled",
    "grpc_server_handling_seconds",
    "dragoman_batch_rows",
    "dragoman_build_info",
    "dragoman_encoded_sentences",
    "dragoman_encoder_seconds",
    "dragoman_failed",
    "dragoman_finished",
    "dragoman_prefix_cache_bytes",
    "dragoman_prefix_tokens_computed",
    "dragoman_prefix_tokens_reused",
    "dragoman_queue_seconds",
    "dragoman_queued_requests",
    "dragoman_rejections",
    "dragoman_requests",
    "dragoman_running_rows",
    "dragoman_serving",
    "dragoman_slots",
    "dragoman_slots_created",
    "dragoman_slots_released",
    "dragoman_source_cache_bytes",
    "dragoman_source_cache_hits",
    "dragoman_source_cache_misses",
    "dragoman_source_tokens",
    "dragoman_step_seconds",
    "dragoman_steps",
    "dragoman_target_tokens",
    "dragoman_time_per_output_token_seconds",
    "dragoman_time_to_first_token_seconds",
    "process_resident_memory_bytes",
}


def scrape(server: Hosted) -> str:
    url = f"http://127.0.0.1:{server.server.metrics_port}/metrics"
    with urllib.request.urlopen(url, timeout=DEADLINE) as answer:
        text: str = answer.read().decode()
        return text


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("OK", "OK"),
        ("CANCELLED", "Canceled"),
        ("INVALID_ARGUMENT", "InvalidArgument"),
        ("DEADLINE_EXCEEDED", "DeadlineExceeded"),
        ("UNIMPLEMENTED", "Unimplemented"),
    ],
)
def test_codes_have_the_names_that_dashboards_know(code: str, name: str) -> None:
    assert code_name(grpc.StatusCode[code]) == name


def test_all_call_series_exist_from_the_start_at_zero() -> None:
    registry = CollectorRegistry()
    CallMetrics(registry, [Method("a.Service", "Do", "unary")])
    samples = [sample for family in registry.collect() for sample in family.samples]
    assert {sample.value for sample in samples} == {0.0}
    handled = [sample for sample in samples if sample.name == "grpc_server_handled_total"]
    assert len(handled) == 2 * len(grpc.StatusCode)
    assert {sample.labels["grpc_service"] for sample in handled} == {"a.Service", "other"}


def test_every_family_is_there_before_the_first_call(tiny_bundle: Path) -> None:
    with hosted(config(tiny_bundle)) as server:
        families = {
            family.name: family for family in text_string_to_metric_families(scrape(server))
        }
    assert set(families) >= EXPECTED
    for name, family in families.items():
        assert family.samples, name
        assert not any(sample.name.endswith("_created") for sample in family.samples)
    idle = ("dragoman_requests", "dragoman_finished", "dragoman_failed", "dragoman_target_tokens")
    for name in ("grpc_server_started", "grpc_server_handled", "dragoman_rejections", *idle):
        assert {sample.value for sample in families[name].samples} == {0.0}, name


def test_workers_that_count_at_once_lose_nothing() -> None:
    registry = CollectorRegistry()
    metrics = EngineMetrics(registry)
    metrics.begin()
    count, workers = 2000, 4

    def work() -> None:
        for _ in range(count):
            metrics.step(3, 0.5)
            metrics.prefix_reused(2, 1)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert registry.get_sample_value("dragoman_step_seconds_sum") == 0.5 * count * workers
    assert registry.get_sample_value("dragoman_batch_rows_count") == count * workers
    assert registry.get_sample_value("dragoman_prefix_tokens_reused_total") == 2 * count * workers


@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_translation_in_figures(tiny_bundle: Path, beam_size: int) -> None:
    with hosted(config(tiny_bundle, default_beam_size=beam_size)) as server:
        texts = [english(number) for number in (1234, 77, 5)]
        # Unpruned: a beam that keeps one output steps as few rows as a greedy search.
        response = server.translate(*texts, "", decoding_options={"pruning_margin": 0.0})
        usages = [translation.usage for translation in response.translations]
        assert server.metric("dragoman_requests_total") == 3
        assert server.metric("dragoman_finished_total", reason="stop") == 3
        assert server.metric("dragoman_source_tokens_total") == sum(
            usage.source_token_count for usage in usages
        )
        assert server.metric("dragoman_time_to_first_token_seconds_count") == 3
        assert server.metric("dragoman_queue_seconds_count") == 3
        assert server.metric("dragoman_encoded_sentences_total") == 3
        target = sum(usage.target_token_count for usage in usages)
        chosen = server.metric("dragoman_target_tokens_total")
        assert target <= chosen <= target + 3  # the engine may count the ends of sentences
        rows = server.metric("dragoman_batch_rows_sum")
        if beam_size == 1:
            assert chosen <= rows <= chosen + 3
        else:
            assert chosen < rows <= beam_size * (chosen + 3 * beam_size)
        server.stream("nine")
        server.predict(text="nine")
        assert server.metric("dragoman_finished_total", reason="next_token") == 1
        server.assert_at_rest()
        assert server.metric("dragoman_slots_created_total") == server.metric(
            "dragoman_slots_released_total"
        )


def typed(server: Hosted, *lengths: int) -> tuple[float, float]:
    """Ask for the next word after prefixes of 7777; give prefix tokens reused and computed."""
    ids = server.engine.tokenizer.encode(german(7777))
    before = [server.metric(f"dragoman_prefix_tokens_{name}_total") for name in KINDS]
    for length in lengths:
        prefix = translation_pb2.TokenIds(ids=ids[:length])
        server.predict(
            text=english(7777), target_prefixes=[translation_pb2.TargetPrefix(token_ids=prefix)]
        )
    after = [server.metric(f"dragoman_prefix_tokens_{name}_total") for name in KINDS]
    return after[0] - before[0], after[1] - before[1]


def test_an_editor_that_types_and_deletes_in_figures(tiny_bundle: Path) -> None:
    """A keystroke costs its own tokens, backspace none; the source is encoded once."""
    with hosted(config(tiny_bundle)) as server:
        assert server.metric("dragoman_source_cache_hits_total") == 0
        assert typed(server, 2) == (0, 2)
        assert server.metric("dragoman_source_cache_misses_total") == 1
        assert typed(server, 3) == (2, 1)
        assert typed(server, 4) == (3, 1)
        assert typed(server, 3, 2, 1) == (6, 0)
        assert server.metric("dragoman_source_cache_hits_total") == 5
        assert server.metric("dragoman_encoded_sentences_total") == 1
        assert server.metric("dragoman_source_cache_bytes") > 0
        assert server.metric("dragoman_prefix_cache_bytes") > 0


def test_caches_can_be_switched_off(tiny_bundle: Path) -> None:
    off = config(tiny_bundle, source_cache_bytes=0, prefix_cache_bytes=0)
    with hosted(off) as server:
        assert typed(server, 2, 3, 2) == (0, 7)
        assert server.metric("dragoman_source_cache_hits_total") == 0
        assert server.metric("dragoman_source_cache_misses_total") == 3
        assert server.metric("dragoman_source_cache_bytes") == 0
        assert server.metric("dragoman_prefix_cache_bytes") == 0


def test_time_to_first_token_includes_the_queue(tiny_bundle: Path) -> None:
    with hosted(config(tiny_bundle, max_rows=1)) as server:
        server.translate(*[english(9999)] * 50)
        queue = server.metric("dragoman_queue_seconds_sum")
        assert server.metric("dragoman_time_to_first_token_seconds_sum") >= queue > 0


def test_calls_are_counted_by_method_and_code(tiny_bundle: Path) -> None:
    with hosted(config(tiny_bundle)) as server:
        server.translate("one")
        failure(server.translate)
        server.stream("one")
        server.status()
        service = "dragoman.v1.TranslationService"
        unary = {"grpc_service": service, "grpc_method": "TranslateText", "grpc_type": "unary"}
        assert server.metric("grpc_server_started_total", **unary) == 2
        assert server.metric("grpc_server_handled_total", **unary, grpc_code="OK") == 1
        assert server.metric("grpc_server_handled_total", **unary, grpc_code="InvalidArgument") == 1
        assert server.metric("grpc_server_handling_seconds_count", **unary) == 2
        stream = {"grpc_method": "StreamTranslateText", "grpc_type": "server_stream"}
        assert server.metric("grpc_server_handled_total", **stream, grpc_code="OK") == 1
        assert server.metric("grpc_server_handled_total", grpc_method="Check") == 1
        assert server.metric("dragoman_rejections_total", reason="invalid_field") == 1
        server.assert_at_rest()


def test_made_up_methods_make_no_series(tiny_bundle: Path) -> None:
    with hosted(config(tiny_bundle)) as server:
        before = len(scrape(server).splitlines())
        for number in range(20):
            call: Any = server.channel.unary_unary(f"/made.Up/Method{number}")
            refused = failure(lambda call=call: call(b"", timeout=DEADLINE))  # type: ignore[misc]
            assert (refused.code, refused.reason) == ("UNIMPLEMENTED", "METHOD_NOT_FOUND")
        assert len(scrape(server).splitlines()) == before
        assert server.metric("grpc_server_handled_total", grpc_service="other") == 20
        server.assert_at_rest()


def test_a_message_over_the_limit_is_refused_by_grpc(tiny_bundle: Path) -> None:
    with hosted(config(tiny_bundle, max_message_bytes=10_000)) as server:
        request = translation_pb2.TranslateTextRequest(contents=["\n" * 20_000])
        with pytest.raises(grpc.RpcError) as caught:
            server.translation.TranslateText(request, timeout=DEADLINE)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert server.text("one") == "eins"
        server.assert_at_rest()


def test_no_metrics_no_port(tiny_bundle: Path) -> None:
    with hosted(config(tiny_bundle, metrics=False)) as server:
        assert server.server.metrics_port is None
        assert server.text("one") == "eins"
