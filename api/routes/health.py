"""Whether the process lives, and whether it can serve: for load balancers, without a key."""

from __future__ import annotations

from typing import Any, Final

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.operations import Edge
from storage import delivery_queue, schema
from storage.database import Transaction

PATHS: Final[dict[str, Any]] = {
    "/healthz": {
        "get": {
            "operationId": "health.healthz",
            "summary": "Whether the process lives",
            "description": "Says nothing of the database.",
            "tags": ["Health"],
            "security": [],
            "responses": {
                "200": {
                    "description": "It does.",
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["status"],
                                "properties": {"status": {"const": "ok"}},
                            },
                            "example": {"status": "ok"},
                        }
                    },
                }
            },
        }
    },
    "/readyz": {
        "get": {
            "operationId": "health.readyz",
            "summary": "Whether requests can be served",
            "description": (
                "The database answers and has the schema of this version. "
                "`oldest_undelivered_seconds` is how long the webhook delivery that is due "
                "longest has been due, of those whose webhook is switched on; one that grows means "
                "that nobody delivers."
            ),
            "tags": ["Health"],
            "security": [],
            "responses": {
                "200": {
                    "description": "They can.",
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["status", "oldest_undelivered_seconds"],
                                "properties": {
                                    "status": {"const": "ready"},
                                    "oldest_undelivered_seconds": {"type": "number", "minimum": 0},
                                },
                            },
                            "example": {"status": "ready", "oldest_undelivered_seconds": 0.0},
                        }
                    },
                },
            },
            "x-codes": ["unavailable"],
        }
    },
}


def routes(edge: Edge) -> list[Route]:
    async def healthz(_: Request) -> Response:
        return _json({"status": "ok"})

    async def readyz(_: Request) -> Response:
        oldest_due_at = await edge.database.read_long(_look)
        waiting_seconds = 0.0
        if oldest_due_at is not None:
            waiting_seconds = max(edge.clock().timestamp() - oldest_due_at / 1000, 0.0)
        return _json({"status": "ready", "oldest_undelivered_seconds": round(waiting_seconds, 3)})

    return [Route("/healthz", healthz), Route("/readyz", readyz)]


def _look(tx: Transaction) -> int | None:
    schema.check_schema_again(tx)
    return delivery_queue.oldest_due_at(tx)


def _json(body: Any) -> Response:
    return Response(orjson.dumps(body), media_type="application/json")
