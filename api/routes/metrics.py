"""`/metrics`: counters and gauges for Prometheus, without a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.base.metrics import CONTENT_TYPE, Metrics
from api.base.queue_ages import QueueReader
from api.http.operations import Services

PATHS: Final[Mapping[str, Mapping[str, object]]] = {
    "/metrics": {
        "get": {
            "operationId": "metrics.metrics",
            "summary": "Metrics for Prometheus",
            "description": (
                "Contains no names of people, organisations or webhook endpoints, and needs no "
                "API key: keep it from the public at the proxy. Counters are per process, or of "
                "all workers; the gauges of queues are for the whole deployment."
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
    queues = QueueReader(services.database, services.clock)

    async def exposition(_: Request) -> Response:
        text = await metrics.exposition_with(queues)
        return Response(text, headers={"content-type": CONTENT_TYPE})

    return [Route("/metrics", exposition)]
