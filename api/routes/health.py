"""Liveness and readiness checks for load balancers, without a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import orjson
import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.http.errors import Unavailable, problem
from api.http.operations import Services
from storage.base.errors import DatabaseUnavailable, SchemaOutOfDate, SchemaTooNew
from storage.db import schema
from storage.db.database import Transaction
from storage.webhooks import delivery_queue

# The member ``reason`` of the 503: that of the first class that the error has.
_REASONS: Final[dict[type[Exception], str]] = {
    DatabaseUnavailable: "database_unavailable",
    SchemaTooNew: "schema_too_new",
    SchemaOutOfDate: "schema_out_of_date",
}
_CHECK_FAILED: Final = "check_failed"

_log = structlog.stdlib.get_logger("hiatus.health")

PATHS: Final[Mapping[str, Mapping[str, object]]] = {
    "/healthz": {
        "get": {
            "operationId": "health.healthz",
            "summary": "Liveness check",
            "description": "Does not check the database.",
            "tags": ["Health"],
            "security": [],
            "responses": {
                "200": {
                    "description": "The process is running.",
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
            "summary": "Readiness check",
            "description": (
                "Checks that the database responds and that this version can use its schema. "
                "`oldest_undelivered_seconds` says for how long the oldest due webhook delivery "
                "has been due (deliveries of disabled webhooks do not count); if it keeps "
                "growing, no process is delivering. Every failure is a 503 with a `reason`: "
                "`database_unavailable`, `schema_out_of_date`, `schema_too_new` or, with an error "
                "in the log, `check_failed`."
            ),
            "tags": ["Health"],
            "security": [],
            "responses": {
                "200": {
                    "description": "Requests can be served.",
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


def routes(services: Services) -> list[Route]:
    async def healthz(_: Request) -> Response:
        return _json({"status": "ok"})

    async def readyz(request: Request) -> Response:
        try:
            oldest_due_at = await services.database.read(_oldest_due_at)
        except Exception as error:  # noqa: BLE001  # after any error this process cannot serve
            return _not_ready(request, services.base_url, error)
        waiting_seconds = 0.0
        if oldest_due_at is not None:
            waiting_seconds = max(services.clock().timestamp() - oldest_due_at / 1000, 0.0)
        return _json({"status": "ready", "oldest_undelivered_seconds": round(waiting_seconds, 3)})

    return [Route("/healthz", healthz), Route("/readyz", readyz)]


def _not_ready(request: Request, base_url: str, error: Exception) -> Response:
    """503 with ``reason``. The traceback of an unknown error is logged."""
    reason = next((name for kind, name in _REASONS.items() if isinstance(error, kind)), None)
    request_id = request.scope["request_id"]
    if reason is None:
        _log.error("not ready", request_id=request_id, reason=_CHECK_FAILED, exc_info=error)
    else:
        _log.warning(
            "not ready",
            request_id=request_id,
            reason=reason,
            error=str(error),
            kind=getattr(error, "kind", None),
        )
    return problem(request, base_url, Unavailable, reason=reason or _CHECK_FAILED)


def _oldest_due_at(tx: Transaction) -> int | None:
    schema.log_newer(schema.check_schema_again(tx))
    return delivery_queue.oldest_due_at(tx)


def _json(body: object) -> Response:
    return Response(orjson.dumps(body), media_type="application/json")
