"""`/metrics`: counters and gauges for Prometheus, without a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.base.metrics import CONTENT_TYPE, Metrics
from api.http.handlers import Services
from storage.base.errors import DatabaseUnavailable
from storage.webhooks import delivery_backlog
from storage.webhooks.delivery_backlog import Backlog

_log = structlog.stdlib.get_logger("hiatus.api")

PATHS: Final[Mapping[str, Mapping[str, object]]] = {
    "/metrics": {
        "get": {
            "operationId": "metrics.metrics",
            "summary": "Metrics for Prometheus",
            "description": (
                "Contains no names of people, organisations or webhook endpoints, and needs no "
                "API key: keep it from the public at the proxy. Counters are per process; the "
                "gauges of webhook deliveries are for the whole deployment."
            ),
            "tags": ["Health"],
            "security": [],
            "responses": {
                "200": {
                    "description": "The Prometheus text format.",
                    "content": {
                        "text/plain": {
                            "schema": {"type": "string"},
                            "example": "hiatus_webhook_oldest_due_seconds 0.0\n",
                        }
                    },
                }
            },
        }
    }
}


def routes(services: Services, metrics: Metrics) -> list[Route]:
    async def exposition(_: Request) -> Response:
        now = services.clock()
        waiting: Backlog | None = None
        # The other metrics are useful even without the database.
        try:
            waiting = await services.database.read_long(delivery_backlog.load, now=now)
        except DatabaseUnavailable:
            pass  # ``hiatus_database_up`` says so.
        except Exception:  # noqa: BLE001  # such as a table that is missing
            _log.exception("metrics incomplete")
        text = metrics.exposition(waiting, round(now.timestamp() * 1_000))
        return Response(text, headers={"content-type": CONTENT_TYPE})

    return [Route("/metrics", exposition)]
