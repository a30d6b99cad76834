"""Traces for OpenTelemetry, if the environment asks for them and the extra ``tracing`` is there.

The SDK itself reads its variables: https://opentelemetry.io/docs/specs/otel/configuration/
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Final

import structlog

from api.base.version import VERSION
from storage.base import monitoring
from storage.base.errors import DomainError
from storage.base.monitoring import Attributes, Kind

if TYPE_CHECKING:
    from opentelemetry import trace

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_OUR_PROTOCOL: Final = "http/protobuf"
_TIMEOUTS: Final = ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")
_EXPORT_SECONDS: Final = 5.0

_log = structlog.stdlib.get_logger("hiatus.tracing")


def start(env: Mapping[str, str]) -> None:
    """Switch tracing on if ``env`` asks for it; log the reason if that is not possible."""
    if not _is_wanted(env):
        return
    problem = _problem(env)
    if problem is None:
        try:
            monitoring.activate_tracing(_open_telemetry(env))
        except ImportError:
            problem = "the extra is missing: install hiatus[tracing]"
    if problem is None:
        _log.info("tracing is on")
    else:
        _log.warning("tracing is off", reason=problem)


def _is_wanted(env: Mapping[str, str]) -> bool:
    if env.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporter = env.get("OTEL_TRACES_EXPORTER", "").strip()
    return exporter != "none" and bool(exporter or any(env.get(name) for name in _ENDPOINTS))


def _problem(env: Mapping[str, str]) -> str | None:
    """Which setting is not supported; None if all are."""
    if env.get("OTEL_TRACES_EXPORTER", "").strip() not in ("", "otlp"):
        return "OTEL_TRACES_EXPORTER can be otlp or none"
    protocol = next((env[name] for name in _PROTOCOLS if env.get(name)), _OUR_PROTOCOL)
    if protocol != _OUR_PROTOCOL:
        return f"OTEL_EXPORTER_OTLP_PROTOCOL can be {_OUR_PROTOCOL} only"
    return None


def _open_telemetry(env: Mapping[str, str]) -> _OpenTelemetry:
    """Raises ImportError without the extra."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    attributes = {"service.version": VERSION}
    if not env.get("OTEL_SERVICE_NAME") and "service.name=" not in env.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    ):
        attributes["service.name"] = "hiatus"
    provider = TracerProvider(resource=Resource.create(attributes))
    # The last spans are sent while the process ends, which has ten seconds for everything.
    timeout = None if any(env.get(name) for name in _TIMEOUTS) else _EXPORT_SECONDS
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=timeout)))
    return _OpenTelemetry(provider.get_tracer("hiatus", VERSION))


class _Span:
    def __init__(self, span: trace.Span, error: trace.StatusCode) -> None:
        self._span = span
        self._error = error

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def set(self, attributes: Attributes) -> None:
        self._span.set_attributes(attributes)

    def fail(self, error_type: str) -> None:
        self._span.set_attribute("error.type", error_type)
        self._span.set_status(self._error)


class _OpenTelemetry:
    """``tracing.Tracing`` by the SDK."""

    def __init__(self, tracer: trace.Tracer) -> None:
        from opentelemetry import propagate, trace

        self._tracer = tracer
        self._trace = trace
        self._extract = propagate.extract
        self._kinds = {
            "internal": trace.SpanKind.INTERNAL,
            "client": trace.SpanKind.CLIENT,
            "server": trace.SpanKind.SERVER,
        }

    @contextmanager
    def span(
        self, name: str, kind: Kind, attributes: Attributes, headers: Mapping[str, str] | None
    ) -> Iterator[_Span]:
        with self._tracer.start_as_current_span(
            name,
            context=None if headers is None else self._extract(headers),
            kind=self._kinds[kind],
            attributes=attributes,
            # Messages of errors can contain what people typed.
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            shown = _Span(span, self._trace.StatusCode.ERROR)
            try:
                yield shown
            except DomainError as error:
                shown.set({"error.type": type(error).__name__})
                raise
            except Exception as error:
                shown.fail(type(error).__name__)
                raise

    def inner_span(self, name: str, attributes: Attributes) -> AbstractContextManager[_Span]:
        current = self._trace.get_current_span()
        # Without a parent it is one of many claims of a queue, each of which would be a trace.
        if not current.is_recording():
            return nullcontext(_Span(current, self._trace.StatusCode.ERROR))
        return self.span(name, "client", attributes, None)

    def ids(self) -> tuple[str, str] | None:
        context = self._trace.get_current_span().get_span_context()
        if not context.is_valid:
            return None
        return f"{context.trace_id:032x}", f"{context.span_id:016x}"

    def finished(self, name: str, seconds: float, attributes: Attributes) -> None:
        if not self._trace.get_current_span().is_recording():
            return
        ended_at = time.time_ns()
        span = self._tracer.start_span(
            name,
            kind=self._trace.SpanKind.CLIENT,
            attributes=attributes,
            start_time=ended_at - round(seconds * 1_000_000_000),
        )
        span.end(ended_at)
