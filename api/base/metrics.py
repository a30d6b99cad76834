"""Prometheus metrics. Labels never contain names of people or organisations, or URLs."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

from api.base.queue_ages import QueueAges, QueueReader
from api.base.version import VERSION, commit
from storage.base.monitoring import REGISTRY
from storage.webhooks.deliveries import DeliveryResult

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
# One label for unknown routes and methods, which bounds the number of series.
OTHER: Final = "other"

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_REQUEST_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
_ATTEMPT_SECONDS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0)

# A second series for each counter and histogram, of use to no dashboard.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """Counters, and gauges that are read from the database on each scrape.

    ``folder`` is ``PROMETHEUS_MULTIPROC_DIR`` of several workers, each of which shows the numbers
    of all; without it, they are those of this process.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._registry = CollectorRegistry()
        self._exposed = self._registry
        if folder is not None:
            self._exposed = CollectorRegistry()
            MultiProcessCollector(self._exposed, folder)  # type: ignore[no-untyped-call]
        self._requests = Histogram(
            "hiatus_http_request_duration_seconds",
            "Requests by route template, until the last byte was given to the server.",
            ["method", "route", "status"],
            buckets=_REQUEST_SECONDS,
            registry=self._registry,
        )
        self._attempts = Counter(
            "hiatus_webhook_attempts",
            "Attempts of this process to deliver webhooks, by outcome.",
            ["outcome"],
            registry=self._registry,
        )
        self._attempt_seconds = Histogram(
            "hiatus_webhook_attempt_duration_seconds",
            "The duration of those attempts.",
            buckets=_ATTEMPT_SECONDS,
            registry=self._registry,
        )
        self._due = self._gauge(
            "hiatus_webhook_deliveries_due",
            "Due deliveries of the whole deployment, at most 10,000 for each endpoint.",
        )
        self._in_flight = self._gauge(
            "hiatus_webhook_deliveries_in_flight",
            "Deliveries of the whole deployment that are being sent.",
        )
        self._oldest_delivery = self._gauge(
            "hiatus_webhook_oldest_due_seconds",
            "How long the oldest due delivery has been due; 0 if none is due.",
        )
        self._oldest_notification = self._gauge(
            "hiatus_notification_oldest_due_seconds",
            "How long the oldest due notification has been due; 0 if none is due.",
        )
        self._oldest_digest = self._gauge(
            "hiatus_digest_oldest_due_seconds",
            "How long the oldest due daily message has been due; 0 if none is due.",
        )
        self._oldest_slack_status = self._gauge(
            "hiatus_slack_status_oldest_due_seconds",
            "How long the oldest due check of a Slack status has been due; 0 if none is due.",
        )
        self._database_up = self._gauge(
            "hiatus_database_up", "Whether the database could be read for this scrape."
        )
        build = Gauge(
            "hiatus_build_info",
            "The running version and its commit.",
            ("version", "commit", "python"),
            registry=self._registry,
            multiprocess_mode="max",
        )
        build.labels(VERSION, commit(), platform.python_version()).set(1)
        self._registry.register(REGISTRY)
        ProcessCollector(registry=self._registry)

    def _gauge(self, name: str, meaning: str) -> Gauge:
        return Gauge(name, meaning, registry=self._registry, multiprocess_mode="mostrecent")

    def observe_request(
        self, method: str, route: str | None, status: int, duration_seconds: float
    ) -> None:
        """Count one request; ``route`` is the template, None for an unknown path."""
        known = method if method in METHODS else OTHER
        self._requests.labels(known, route or OTHER, str(status)).observe(duration_seconds)

    def observe_attempts(self, results: Sequence[DeliveryResult]) -> None:
        """Count attempts whose results were recorded."""
        for _, outcome in results:
            self._attempts.labels(outcome.error or "delivered").inc()
            self._attempt_seconds.observe(outcome.duration_ms / 1_000)

    async def exposition_with(self, reader: QueueReader) -> bytes:
        """All metrics as text, with the queues of now."""
        return self.exposition(await reader.read())

    def exposition(self, queues: QueueAges | None) -> bytes:
        """All metrics as text; ``queues`` is None if the database could not be read."""
        self._database_up.set(queues is not None)
        if queues is not None:
            self._due.set(queues.deliveries_due)
            self._in_flight.set(queues.deliveries_in_flight)
            self._oldest_delivery.set(queues.delivery_seconds)
            self._oldest_notification.set(queues.notification_seconds)
            self._oldest_digest.set(queues.digest_seconds)
            self._oldest_slack_status.set(queues.slack_status_seconds)
        return generate_latest(self._exposed)
