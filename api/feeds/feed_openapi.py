"""Calendar feeds in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.feeds.feed_requests import SCOPES

_VALIDATORS: Final = {
    "ETag": {
        "description": "Changes with the contents, and differs between content codings.",
        "schema": {"type": "string"},
    },
    "Last-Modified": {
        "description": (
            "The last change of any kind in the organisation, or the start of today in UTC, "
            "whichever is later, rounded up to a whole second."
        ),
        "schema": {"type": "string"},
    },
}

_EXAMPLE: Final = "\r\n".join(
    [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "METHOD:PUBLISH",
        "X-WR-CALNAME:Leave: Acme (my team)",
        "BEGIN:VEVENT",
        "UID:0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
        "SUMMARY:Ada Lovelace: Annual leave",
        "DTSTART;VALUE=DATE:20260803",
        "DTEND;VALUE=DATE:20260808",
        "END:VEVENT",
        "END:VCALENDAR",
        "",
    ]
)

_TOKEN: Final = {
    "name": "token",
    "in": "path",
    "required": True,
    "description": "The feed's token.",
    "schema": {"type": "string"},
    "example": "wT7kq2ZfLr9VbX4nJ0sYhC3mE8aUdQ5p",
}
_SCOPE: Final = {
    "name": "scope",
    "in": "query",
    "description": "Whose leave: the owner's, their team's or everyone's.",
    "schema": {"type": "string", "enum": [*SCOPES], "default": "personal"},
    "example": "team",
}

PATHS: Final[Mapping[str, Mapping[str, object]]] = {
    "/cal/{token}": {
        "get": {
            "operationId": "calendar.feed",
            "summary": "Read a calendar feed",
            "description": (
                "An iCalendar feed; the token in the path is the only credential. Unknown and "
                "revoked tokens get the same response. Unknown parameters are ignored. The feed "
                "covers the last year and the next two; leave that is cancelled or declined after "
                "the feed showed it stays for 30 days with `STATUS:CANCELLED`. Poll with "
                "`If-None-Match` or `If-Modified-Since`. HEAD works too."
            ),
            "tags": ["Calendar feeds"],
            "security": [],
            "parameters": [
                {**_TOKEN, "description": "The feed's token; `.ics` may follow it."},
                _SCOPE,
                {
                    "name": "If-None-Match",
                    "in": "header",
                    "description": "Entity tags that the client has; overrides the date.",
                    "schema": {"type": "string"},
                    "example": '"7f3a9c1e5b"',
                },
                {
                    "name": "If-Modified-Since",
                    "in": "header",
                    "description": "The `Last-Modified` that the client has.",
                    "schema": {"type": "string"},
                    "example": "Tue, 16 Jun 2026 13:05:01 GMT",
                },
            ],
            "responses": {
                "200": {
                    "description": "The calendar, compressed if the client accepts gzip.",
                    "headers": _VALIDATORS,
                    "content": {
                        "text/calendar": {"schema": {"type": "string"}, "example": _EXAMPLE}
                    },
                },
                "304": {
                    "description": "The client has the current calendar.",
                    "headers": _VALIDATORS,
                },
            },
            "x-codes": ["not_found", "not_one_of", "rate_limited", "internal_error", "unavailable"],
        }
    },
    "/cal/{token}/subscribe": {
        "get": {
            "operationId": "calendar.subscribe",
            "summary": "Open a calendar feed in Apple Calendar",
            "description": (
                "Redirects to the feed's address with the scheme `webcal`, which Apple Calendar "
                "subscribes to. Does not check whether the token is valid."
            ),
            "tags": ["Calendar feeds"],
            "security": [],
            "parameters": [
                _TOKEN,
                _SCOPE,
            ],
            "responses": {
                "302": {
                    "description": "The address to subscribe to.",
                    "headers": {
                        "Location": {
                            "description": "A `webcal` address.",
                            "schema": {"type": "string"},
                        }
                    },
                },
            },
            "x-codes": ["not_found", "not_one_of", "internal_error"],
        }
    },
}
