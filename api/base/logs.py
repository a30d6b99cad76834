"""Log lines: one JSON object or one readable line each, on standard error."""

from __future__ import annotations

import json
import logging
import sys
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, BinaryIO, Final

import orjson
import structlog
from prometheus_client import Counter
from structlog.typing import EventDict, Processor

from api.base.settings import LogFormat
from storage.base import monitoring
from storage.base.monitoring import REGISTRY

_PROBLEM_COUNT: Final = Counter(
    "hiatus_problems_total",
    "Warnings and errors in this process's log, by their event.",
    ("event",),
    registry=REGISTRY,
)

# The request that this task or thread works for.
_request: Final[ContextVar[RequestLog | None]] = ContextVar("request", default=None)

_access: Final = structlog.stdlib.get_logger("hiatus.access")
_counts_problems = False

_PROBLEMS = frozenset({"warning", "error", "critical"})
# Slack's libraries log whole requests: notes are personal data (Bolt logs rejected bodies at INFO).
_QUIET = ("slack_bolt", "slack_sdk", "apscheduler", "aiohttp", "httpx", "mcp")


class RequestLog:
    """The id that a request's lines share, and how many warnings and errors were among them."""

    __slots__ = ("request_id", "problems")

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        self.problems = 0


def begin_request(request_id: str) -> RequestLog:
    """Give the request's id to every line that this task logs from now on."""
    request = RequestLog(request_id)
    _request.set(request)
    return request


class Lines:
    """A structlog logger. A full disk or a closed pipe loses lines, but no request fails for it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __call__(self, *_: object) -> Lines:
        return self

    def msg(self, line: bytes) -> None:
        with suppress(OSError):
            self._file.write(line + b"\n")
            self._file.flush()

    debug = info = warning = error = critical = exception = log = msg


def _count_problem(_: object, level: str, entry: EventDict) -> EventDict:
    """A processor for our own lines only, whose events are names instead of sentences."""
    if level in _PROBLEMS:
        _PROBLEM_COUNT.labels(entry["event"]).inc()
        request = _request.get()
        if request is not None:
            request.problems += 1
    return entry


def _add_request_id(_: object, __: str, entry: EventDict) -> EventDict:
    request = _request.get()
    if request is not None:
        entry.setdefault("request_id", request.request_id)
    return entry


def _add_trace_ids(_: object, __: str, entry: EventDict) -> EventDict:
    """A processor; the names are those of OpenTelemetry for logs in other formats than its own."""
    ids = monitoring.trace_ids()
    if ids is not None:
        entry["trace_id"], entry["span_id"] = ids
    return entry


def log_failure(request: RequestLog, status: int) -> None:
    """Log a response of 500 or more for which nothing was logged: each must be in the log."""
    if _counts_problems and not request.problems:
        _access.error("request failed", reason="no reason was given", status=status)


def _as_json(line: object, **options: Any) -> bytes:  # type: ignore[explicit-any]  # orjson's own
    try:
        return orjson.dumps(line, **options)
    except TypeError:
        # orjson refuses lone surrogates, which JSON from outside may contain.
        return json.dumps(line, **options).encode()


def configure(log_format: LogFormat) -> None:
    """Configure our own and the libraries' logging; call once, before anything logs."""
    global _counts_problems
    _counts_problems = True
    shared: list[Processor] = [
        _add_request_id,
        _add_trace_ids,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    is_terminal = sys.stderr.isatty()
    is_json = log_format == "json" or (log_format == "auto" and not is_terminal)
    renderer: Processor
    if is_json:
        shared.append(structlog.processors.format_exc_info)
        renderer = structlog.processors.JSONRenderer(serializer=_as_json)
    else:
        renderer = structlog.dev.ConsoleRenderer(
            colors=is_terminal,
            # The default one prints local variables, which include keys and feed tokens.
            exception_formatter=structlog.dev.plain_traceback,
        )
    structlog.configure(
        processors=[_count_problem, *shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=(
            Lines(sys.stderr.buffer) if is_json else structlog.PrintLoggerFactory(sys.stderr)
        ),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    library_renderer = (
        structlog.processors.JSONRenderer(serializer=lambda line, **_: _as_json(line).decode())
        if is_json
        else renderer
    )
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                library_renderer,
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
