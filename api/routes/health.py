"""Whether the process lives, and whether it can serve: for load balancers, without a key."""

from __future__ import annotations

from typing import Any, Final

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.operations import Edge
from storage import schema

PATHS: Final[dict[str, Any]] = {
    "/healthz": {
        "get": {
            "operationId": "health.healthz",
            "summary": "Whether the process lives",
            "description": "Says nothing of the database.",
            "tags": ["Health"],
            "security": [],
            "responses": {"200": {"description": "It does."}},
        }
    },
    "/readyz": {
        "get": {
            "operationId": "health.readyz",
            "summary": "Whether requests can be served",
            "description": "The database answers and has the schema of this version.",
            "tags": ["Health"],
            "security": [],
            "responses": {
                "200": {"description": "They can."},
                "503": {"$ref": "#/components/responses/503"},
            },
        }
    },
}


def routes(edge: Edge) -> list[Route]:
    async def healthz(_: Request) -> Response:
        return _json({"status": "ok"})

    async def readyz(_: Request) -> Response:
        await edge.database.read_long(schema.check_schema_again)
        return _json({"status": "ready"})

    return [Route("/healthz", healthz), Route("/readyz", readyz)]


def _json(body: Any) -> Response:
    return Response(orjson.dumps(body), media_type="application/json")
