"""`GET /wallchart/{token}` in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.wallchart.wallchart_requests import MONTHS_AHEAD, MONTHS_BACK, SCOPES

_ETAG: Final = {
    "ETag": {
        "description": "Changes with the contents, and differs between content codings.",
        "schema": {"type": "string"},
    }
}

PATHS: Final[Mapping[str, Mapping[str, object]]] = {
    "/wallchart/{token}": {
        "get": {
            "operationId": "calendar.wallchart",
            "summary": "Show who is out in a month",
            "description": (
                "A web page of people and days, for browsers and screens on the wall; the token in "
                "the path is the only credential. With the token of a feed it shows a month; with "
                "that of a display link it shows the five weeks from today, takes only `page`, "
                "shows nothing pending, and reloads itself with the header `Refresh`. `.svg` or "
                "`.png` after the token makes "
                'it a picture. Private leave is shown as "Away"; the owner\'s own has its name on '
                "the page of their team, but not with `scope=org` or in pictures, which others "
                "see. Only the owner's own pending leave is shown. In English or German, by "
                "`Accept-Language`. Unknown parameters are ignored. Poll with `If-None-Match`. "
                "HEAD works too. Clients that prefer HTML, such as browsers, get errors as a page."
            ),
            "tags": ["Calendar feeds"],
            "security": [],
            "parameters": [
                {
                    "name": "token",
                    "in": "path",
                    "required": True,
                    "description": (
                        "The token of a feed or a display link; `.svg` or `.png` may follow it."
                    ),
                    "schema": {"type": "string"},
                    "example": "wT7kq2ZfLr9VbX4nJ0sYhC3mE8aUdQ5p",
                },
                {
                    "name": "scope",
                    "in": "query",
                    "description": "Whose leave: the owner's team's or everyone's.",
                    "schema": {"type": "string", "enum": [*SCOPES], "default": "team"},
                    "example": "org",
                },
                {
                    "name": "month",
                    "in": "query",
                    "description": (
                        f"From {MONTHS_BACK} months back to {MONTHS_AHEAD} ahead; this month in "
                        "the owner's time zone by default."
                    ),
                    "schema": {"type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$"},
                    "example": "2027-03",
                },
                {
                    "name": "department_id",
                    "in": "query",
                    "description": "With `scope=org`: only the people of this department.",
                    "schema": {"type": "string", "format": "uuid"},
                    "example": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
                },
                {
                    "name": "page",
                    "in": "query",
                    "description": "A page has 200 people. Past the last page, it is the last.",
                    "schema": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 99999,
                        "default": 1,
                    },
                    "example": 2,
                },
                {
                    "name": "If-None-Match",
                    "in": "header",
                    "description": "The `ETag` that the client has.",
                    "schema": {"type": "string"},
                    "example": '"7f3a9c1e5b-html"',
                },
            ],
            "responses": {
                "200": {
                    "description": "The page or the picture.",
                    "headers": _ETAG,
                    "content": {
                        "text/html": {
                            "schema": {"type": "string"},
                            "example": "<!doctype html>\n<title>Who's out March 2027</title>",
                        },
                        "image/svg+xml": {
                            "schema": {"type": "string"},
                            "example": '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
                        },
                        "image/png": {
                            "schema": {"type": "string", "contentMediaType": "image/png"},
                            "example": "the bytes of the picture",
                        },
                    },
                },
                "304": {
                    "description": "The client has the current page or picture.",
                    "headers": _ETAG,
                },
            },
            "x-codes": [
                "not_found",
                "not_one_of",
                "invalid_value",
                "out_of_range",
                "rate_limited",
                "internal_error",
                "unavailable",
            ],
        }
    }
}
