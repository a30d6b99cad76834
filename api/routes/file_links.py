"""Files behind links that work once; the token in the path is the only credential.

`GET /payroll/{token}` is a month's leave as CSV, `GET /my-data/{token}` a person's data as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from api.http.operations import Services
from storage.admin import data_files
from storage.base.values import Caller
from storage.db.database import Part, Transaction
from storage.reports import formats, report_links
from storage.reports.reports import Run

T = TypeVar("T")

# Longer than every token, and short enough to check quickly.
_MAX_TOKEN_LENGTH: Final = 500

_TOKEN: Final[Mapping[str, object]] = {
    "name": "token",
    "in": "path",
    "required": True,
    "description": "The token of the link.",
    "schema": {"type": "string"},
    "example": "WyIwMTllODI2OS00ZTgwLTdlOGYtOWVmZi0wNzhlOTE3NDQ5NmQiXQ.signature",
}
_CODES: Final = ("gone", "method_not_allowed", "rate_limited", "unavailable")

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
            "parameters": [_TOKEN],
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
            "x-codes": [*_CODES],
        }
    },
    "/my-data/{token}": {
        "get": {
            "operationId": "users.data_file",
            "summary": "Download your data",
            "description": (
                "Everything that is kept about the person of the link, as `GET /users/{id}/data`. "
                'People get the link in Slack, from "My data" in the settings. It works once, '
                "within a day; the token in the path is the only credential. Browsers get errors "
                "as a page."
            ),
            "tags": ["Users"],
            "security": [],
            "parameters": [_TOKEN],
            "responses": {
                "200": {
                    "description": "The file.",
                    "content": {
                        "application/json": {
                            "schema": {"type": "object"},
                            "example": {"user_id": "019e8269-4e80-7e8f-9eff-078e9174496d"},
                        }
                    },
                }
            },
            "x-codes": [*_CODES],
        }
    },
}


def routes(services: Services) -> list[Route]:
    async def used(
        request: Request, open_once: Callable[[Transaction, str, datetime], T | None]
    ) -> T:
        """What the link is for, the first time. Raises HTTPException."""
        # Programs that look whether a link works must not use it up.
        if request.method != "GET":
            raise HTTPException(405, headers={"Allow": "GET"})
        token = request.path_params["token"]
        opened = None
        if len(token) <= _MAX_TOKEN_LENGTH:
            opened = await services.database.write(open_once, token, services.clock())
        if opened is None:
            if services.rate_limits is not None:
                services.rate_limits.record_failure(request.scope)
            raise HTTPException(410)
        return opened

    async def payroll(request: Request) -> Response:
        run, first = await used(request, _open_report)
        return StreamingResponse(
            services.database.read_parts(first),
            headers=_headers(f"{run.file_name}.csv"),
            media_type="text/csv; charset=utf-8",
        )

    async def my_data(request: Request) -> Response:
        by = await used(request, _open_data)
        file = await services.database.read(data_files.of_caller, by=by, now=services.clock())
        return Response(file.content, headers=_headers(file.name), media_type="application/json")

    return [
        Route(f"{report_links.PATH}{{token}}", payroll, methods=["GET"]),
        Route(f"{data_files.PATH}{{token}}", my_data, methods=["GET"]),
    ]


def _headers(file_name: str) -> dict[str, str]:
    return {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{file_name}"',
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex",
    }


def _open_report(tx: Transaction, token: str, now: datetime) -> tuple[Run[Any], Part] | None:
    run = report_links.open_once(tx, token, now=now)
    return None if run is None else (run, formats.read(tx, run, "csv"))


def _open_data(tx: Transaction, token: str, now: datetime) -> Caller | None:
    return data_files.open_once(tx, token, now=now)
