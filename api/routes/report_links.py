"""`GET /payroll/{token}`: a month's leave as CSV, once. The token is the only credential."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from api.http.operations import Services
from storage.db.database import Transaction
from storage.reports import formats, report_links
from storage.reports.formats import Part
from storage.reports.reports import Run

# Longer than every token, and short enough to check quickly.
_MAX_TOKEN_LENGTH: Final = 500

PATHS: Final[Mapping[str, Mapping[str, object]]] = {
    "/payroll/{token}": {
        "get": {
            "operationId": "reports.payroll_file",
            "summary": "Download a payroll file",
            "description": (
                "Days of leave in a month, as `GET /reports/leave?format=csv`. Admins get the link "
                'in Slack, from "Payroll file" in the settings. It works once, within a day; the '
                "token in the path is the only credential. Browsers get errors as a page."
            ),
            "tags": ["Reports"],
            "security": [],
            "parameters": [
                {
                    "name": "token",
                    "in": "path",
                    "required": True,
                    "description": "The token of the link.",
                    "schema": {"type": "string"},
                    "example": "WyIwMTllODI2OS00ZTgwLTdlOGYtOWVmZi0wNzhlOTE3NDQ5NmQiXQ.signature",
                }
            ],
            "responses": {
                "200": {
                    "description": "The file.",
                    "content": {
                        "text/csv": {
                            "schema": {"type": "string"},
                            "example": "employee_number,last_name,first_name\r\n",
                        }
                    },
                }
            },
            "x-codes": ["gone", "method_not_allowed", "rate_limited", "unavailable"],
        }
    }
}


def routes(services: Services) -> list[Route]:
    async def download(request: Request) -> Response:
        # Programs that look whether a link works must not use it up.
        if request.method != "GET":
            raise HTTPException(405, headers={"Allow": "GET"})
        token = request.path_params["token"]
        opened = None
        if len(token) <= _MAX_TOKEN_LENGTH:
            opened = await services.database.write(_open, token, services.clock())
        if opened is None:
            if services.rate_limits is not None:
                services.rate_limits.record_failure(request.scope)
            raise HTTPException(410)
        run, first = opened

        async def contents() -> AsyncIterator[bytes]:
            part: Part = first
            yield part.content
            while part.next is not None:
                part = await services.database.read(formats.read, part.next, "csv")
                yield part.content

        headers = {
            "Cache-Control": "no-store",
            "Content-Disposition": f'attachment; filename="{run.file_name}.csv"',
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Robots-Tag": "noindex",
        }
        return StreamingResponse(contents(), headers=headers, media_type="text/csv; charset=utf-8")

    return [Route(f"{report_links.PATH}{{token}}", download, methods=["GET"])]


def _open(tx: Transaction, token: str, now: datetime) -> tuple[Run[Any], Part] | None:
    run = report_links.open_once(tx, token, now=now)
    return None if run is None else (run, formats.read(tx, run, "csv"))
