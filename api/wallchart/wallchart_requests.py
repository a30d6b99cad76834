"""Requests for a wallchart: the month, the people and the page, from the query; its OpenAPI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from storage.base.errors import InvalidInput
from storage.base.ids import is_id
from storage.calendars.wallchart import Scope

MONTHS_BACK: Final = 12
MONTHS_AHEAD: Final = 24
# Five weeks.
DISPLAY_DAYS: Final = 35
SCOPES: Final[Mapping[str, Scope]] = {"team": "team", "org": "org"}

_MONTH: Final = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])", re.ASCII)
_PAGE: Final = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class WallchartRequest:
    """``month`` is the first day of the month; None for a display link."""

    scope: Scope
    month: date | None
    first_day: date
    last_day: date
    department_id: str | None
    page: int

    @property
    def is_display(self) -> bool:
        return self.month is None


def display_request(
    query: Mapping[str, str], today: date, department_id: str | None
) -> WallchartRequest:
    """What a display link shows: five weeks from today. Raises InvalidInput."""
    return WallchartRequest(
        scope="org",
        month=None,
        first_day=today,
        last_day=today + timedelta(days=DISPLAY_DAYS - 1),
        department_id=department_id,
        page=_page(query.get("page", "1")),
    )


def wallchart_request(query: Mapping[str, str], today: date) -> WallchartRequest:
    """Raises InvalidInput."""
    scope = SCOPES.get(query.get("scope", "team"))
    if scope is None:
        raise InvalidInput.at("?scope", "not_one_of", f"The scope is one of {', '.join(SCOPES)}.")
    # A form sends an empty text for "All departments".
    department_id = query.get("department_id") or None
    if department_id is not None and (scope != "org" or not is_id(department_id)):
        raise unknown_department()
    month = _month(query.get("month"), today)
    return WallchartRequest(
        scope=scope,
        month=month,
        first_day=month,
        last_day=plus_months(month, 1) - timedelta(days=1),
        department_id=department_id,
        page=_page(query.get("page", "1")),
    )


def plus_months(day: date, months: int) -> date:
    """The first day of the month that is so many months after that of ``day``."""
    index = day.year * 12 + day.month - 1 + months
    return date(index // 12, index % 12 + 1, 1)


def can_show(month: date, today: date) -> bool:
    return plus_months(today, -MONTHS_BACK) <= month <= plus_months(today, MONTHS_AHEAD)


def unknown_department() -> InvalidInput:
    return InvalidInput.at(
        "?department_id",
        "invalid_value",
        "Give the id of a department of the organisation, with scope=org.",
    )


def _month(text: str | None, today: date) -> date:
    if text is None:
        return plus_months(today, 0)
    match = _MONTH.fullmatch(text)
    if match is None:
        raise InvalidInput.at("?month", "invalid_value", "Write the month as 2027-03.")
    # There is no year 0.
    month = date(int(match[1]), int(match[2]), 1) if int(match[1]) else date.min
    if not can_show(month, today):
        first, last = plus_months(today, -MONTHS_BACK), plus_months(today, MONTHS_AHEAD)
        raise InvalidInput.at(
            "?month", "out_of_range", f"Choose a month from {first:%Y-%m} to {last:%Y-%m}."
        )
    return month


def _page(text: str) -> int:
    if _PAGE.fullmatch(text) is None:
        raise InvalidInput.at("?page", "out_of_range", "Choose a page from 1 to 99999.")
    return int(text)


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
                "see. Only the owner's own pending leave is shown. In English, German, French or "
                "Spanish by `Accept-Language`. Unknown parameters are ignored. Poll with "
                "`If-None-Match`. HEAD works too. Clients that prefer HTML, such as "
                "browsers, get errors as a page."
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
                "pictures_unavailable",
                "unavailable",
            ],
        }
    }
}
