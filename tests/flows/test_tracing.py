"""Traces as a collector receives them over OTLP/HTTP from a real process."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from storage.db.schema import migrate
from tests import outside
from tests.fakes.receiver import LoopbackReceiver
from tests.fakes.slack import LoopbackSlack
from tests.flows.running import ROOT, Deployment, free_port
from tests.flows.test_main_job import a_week, unpaid

pytestmark = pytest.mark.slow

TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = "b7ad6b7169203331"
NOTE = "Moving house"


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack() as slack:
        slack.add_person("UOLIVE", "olive@example.com", "Olive Owner", tz="Europe/London")
        yield slack


def traced(url: str, collector: str, **settings: str) -> Deployment:
    """A deployment whose spans are exported five times a second."""
    return Deployment(
        url,
        OTEL_EXPORTER_OTLP_ENDPOINT=collector,
        OTEL_BSP_SCHEDULE_DELAY="200",
        HIATUS_WEBHOOK_ALLOW_PRIVATE="on",
        **settings,
    )


def spans_of(collector: LoopbackReceiver) -> list[Span]:
    assert {request.path for request in collector.requests} <= {"/hook/v1/traces"}
    exports = [ExportTraceServiceRequest.FromString(it.body) for it in collector.requests]
    return [
        span
        for export in exports
        for resource in export.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def wait_for_span(collector: LoopbackReceiver, name: str) -> None:
    deadline = time.monotonic() + 90
    while not any(span.name == name for span in spans_of(collector)):
        assert time.monotonic() < deadline, (name, {span.name for span in spans_of(collector)})
        time.sleep(0.1)


def attributes(span: Span) -> dict[str, str | int]:
    return {
        item.key: item.value.int_value
        if item.value.HasField("int_value")
        else item.value.string_value
        for item in span.attributes
    }


def ancestors(span: Span, spans: list[Span]) -> list[str]:
    """The names of the spans above it, the nearest first."""
    by_id = {other.span_id: other for other in spans}
    names = []
    while (parent := by_id.get(span.parent_span_id)) is not None:
        names.append(parent.name)
        span = parent
    return names


def test_a_request_is_traced_to_its_statements_and_what_follows(
    database_url: str, slack: LoopbackSlack
) -> None:
    migrate(database_url)
    with LoopbackReceiver() as collector, LoopbackReceiver() as endpoint:
        deployment = traced(
            database_url,
            collector.url,
            HIATUS_SLACK_SIGNING_SECRET=slack.signing_secret,
            HIATUS_SLACK_BOT_TOKEN=slack.token,
            HIATUS_SLACK_API_URL=slack.api_url,
        )
        key = deployment.init()["api_key"]
        with deployment.serving() as server:
            client = server.client(key)
            hook = f"{endpoint.url_of('/hook-token')}?secret=of-the-query"
            response = client.post("/api/v1/webhooks", json={"url": hook, "events": ["*"]})
            assert response.status_code == 201, response.text
            feed = client.get("/api/v1/calendar-feeds/token").json()["token"]
            created = client.post(
                "/api/v1/leave-requests",
                json=a_week(leave_type_id=unpaid(client), note=NOTE),
                headers={"traceparent": f"00-{TRACE}-{CALLER}-01"},
            )
            assert created.status_code == 201, created.text
            assert httpx.get(f"{server.url}/cal/{feed}").status_code == 200
            refused = client.get("/api/v1/users/not-an-id")
            for name in ("webhook attempt", "slack auth.test", "GET /cal/{token}", "job digests"):
                wait_for_span(collector, name)
            wait_for_span(collector, "GET /api/v1/users/{id}")
        spans = spans_of(collector)
        exported = b"".join(request.body for request in collector.requests)

    (request,) = (span for span in spans if span.name == "POST /api/v1/leave-requests")
    assert (request.trace_id.hex(), request.parent_span_id.hex()) == (TRACE, CALLER)
    assert request.kind == Span.SPAN_KIND_SERVER
    assert request.status.code == Status.STATUS_CODE_UNSET
    assert attributes(request) == {
        "http.request.method": "POST",
        "http.route": "/api/v1/leave-requests",
        "http.response.status_code": 201,
        "hiatus.request_id": created.headers["X-Request-Id"],
    }
    (line,) = (
        line
        for line in map(json.loads, server.logged().splitlines())
        if line.get("request_id") == created.headers["X-Request-Id"]
    )
    assert (line["trace_id"], line["span_id"]) == (TRACE, request.span_id.hex())
    of_request = [span for span in spans if span.trace_id == request.trace_id]
    writes = [span for span in of_request if span.name == "transaction write"]
    assert [attributes(span)["code.function.name"] for span in writes]
    inserts = [
        span
        for span in of_request
        if "leave_requests" in str(attributes(span).get("db.query.text", ""))
        and "INSERT" in str(attributes(span)["db.query.text"])
    ]
    assert len(inserts) == 1
    assert ancestors(inserts[0], spans) == ["transaction write", "POST /api/v1/leave-requests"]
    start, end = inserts[0].start_time_unix_nano, inserts[0].end_time_unix_nano
    assert request.start_time_unix_nano <= start < end <= request.end_time_unix_nano
    attempts = [span for span in spans if span.name == "webhook attempt"]
    assert {attributes(span)["hiatus.outcome"] for span in attempts} == {"delivered"}
    assert {attributes(span)["http.response.status_code"] for span in attempts} == {200}
    assert all(ancestors(span, spans) == ["deliver webhooks"] for span in attempts)
    (missing,) = (span for span in spans if span.name == "GET /api/v1/users/{id}")
    assert attributes(missing)["http.response.status_code"] == refused.status_code
    # Claims of queues, many each second, are no traces.
    roots = {span.name for span in spans if not span.parent_span_id}
    assert not any(name.startswith(("transaction", "SELECT", "UPDATE")) for name in roots)
    resource = ExportTraceServiceRequest.FromString(collector.requests[0].body).resource_spans[0]
    assert ("service.name", "hiatus") in {
        (item.key, item.value.string_value) for item in resource.resource.attributes
    }
    for secret in (
        key,
        feed,
        NOTE,
        "hook-token",
        "of-the-query",
        "Olive",
        "olive@example.com",
        slack.token,
    ):
        assert secret.encode() not in exported, secret


def test_a_failed_request_is_an_error_without_its_message(sqlite_url: str) -> None:
    with LoopbackReceiver() as collector:
        deployment = traced(sqlite_url, collector.url, OTEL_SERVICE_NAME="leave")
        key = deployment.init()["api_key"]
        with deployment.serving() as server:
            outside.run(sqlite_url, "ALTER TABLE departments RENAME TO departments_away")
            assert server.client(key).get("/api/v1/departments").status_code == 500
            wait_for_span(collector, "GET /api/v1/departments")
        spans = spans_of(collector)
        exported = b"".join(request.body for request in collector.requests)

    (request,) = (span for span in spans if span.name == "GET /api/v1/departments")
    assert request.status.code == Status.STATUS_CODE_ERROR
    assert attributes(request)["error.type"] == "OperationalError"
    assert not request.events
    assert b"no such table" not in exported
    assert b"leave" in exported


def test_a_missing_collector_delays_neither_requests_nor_the_end(sqlite_url: str) -> None:
    deployment = traced(sqlite_url, f"http://127.0.0.1:{free_port()}")
    key = deployment.init()["api_key"]
    with deployment.serving() as server:
        client = server.client(key)
        began_at = time.monotonic()
        assert {client.get("/api/v1/users").status_code for _ in range(20)} == {200}
        assert time.monotonic() - began_at < 20
        began_at = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began_at < 20


def test_without_the_extra_the_process_serves_and_says_what_is_missing(
    sqlite_url: str, tmp_path: Path
) -> None:
    (tmp_path / "opentelemetry").mkdir()
    (tmp_path / "opentelemetry" / "__init__.py").write_text("raise ImportError('not installed')")
    deployment = Deployment(sqlite_url, OTEL_TRACES_EXPORTER="otlp", PYTHONPATH=str(tmp_path))
    with deployment.serving() as server:
        assert httpx.get(f"{server.url}/readyz").status_code == 200

    lines = [json.loads(line) for line in server.logged().splitlines()]
    (said,) = (line for line in lines if line["event"] == "tracing is off")
    assert said["reason"] == "the extra is missing: install hiatus[tracing]"


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER can be otlp or none"),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "OTEL_EXPORTER_OTLP_PROTOCOL can be http/protobuf only",
        ),
        ({}, None),
        ({"OTEL_SERVICE_NAME": "hiatus"}, None),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"}, None),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"}, None),
    ],
)
def test_tracing_that_is_off_imports_nothing(settings: dict[str, str], reason: str | None) -> None:
    program = f"""
import sys
import serve
from api.base import logs
from api.service import app, telemetry
from bot.service import app as bot_app
logs.configure("json")
telemetry.start({settings!r})
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    reasons = [json.loads(line)["reason"] for line in done.stderr.splitlines()]
    assert reasons == ([] if reason is None else [reason])
