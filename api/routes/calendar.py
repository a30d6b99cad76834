"""`GET /cal/{token}`: a calendar subscription, opened by the token alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api import ical
from api.ical import Feed, FragmentCache, PublicHoliday, WorkingHours
from api.operations import Edge
from storage import absences, feeds, holiday_sets, reference
from storage.database import Transaction
from storage.days import AFTERNOON, MORNING
from storage.errors import FieldError, InvalidInput
from storage.feeds import FeedOwner
from storage.reference import Reference
from storage.values import FeedScope, HalfDay

# Contract 8: twelve months back, twenty-four ahead.
DAYS_BACK: Final = timedelta(days=366)
DAYS_AHEAD: Final = timedelta(days=731)

_SCOPES: Final[Mapping[str, FeedScope]] = {
    "personal": "personal",
    "team": "team",
    "org": "org",
}
_HALF_OF_MASK: Final[Mapping[int, HalfDay]] = {MORNING: "am", AFTERNOON: "pm"}
_HEADERS: Final = {
    "Content-Disposition": 'inline; filename="leave.ics"',
    "Cache-Control": "private, no-cache",
    "Vary": "Accept-Encoding",
}

PATHS: Final[dict[str, Any]] = {
    "/cal/{token}": {
        "get": {
            "operationId": "calendar.feed",
            "summary": "Read a calendar feed",
            "description": (
                "iCalendar, opened by the token in the path; `.ics` may follow it. Unknown and "
                "revoked tokens look the same. Unknown parameters are ignored."
            ),
            "tags": ["Calendar feeds"],
            "security": [],
            "parameters": [
                {
                    "name": "token",
                    "in": "path",
                    "required": True,
                    "schema": {"type": "string"},
                },
                {
                    "name": "scope",
                    "in": "query",
                    "description": "Whose leave: one's own, one's team's or everybody's.",
                    "schema": {"type": "string", "enum": [*_SCOPES], "default": "personal"},
                },
            ],
            "responses": {
                "200": {
                    "description": "The calendar.",
                    "content": {"text/calendar": {"schema": {"type": "string"}}},
                },
                "404": {"$ref": "#/components/responses/404"},
                "422": {"$ref": "#/components/responses/422"},
                "503": {"$ref": "#/components/responses/503"},
            },
        }
    }
}


def routes(edge: Edge) -> list[Route]:
    fragments = FragmentCache()

    async def feed(request: Request) -> Response:
        token = request.path_params["token"].removesuffix(".ics")
        contents = await edge.database.read_long(
            _contents, edge, fragments, token, request.scope["query_string"]
        )
        return Response(contents, 200, _HEADERS, "text/calendar; charset=utf-8")

    return [Route("/cal/{token}", feed)]


def _contents(
    tx: Transaction, edge: Edge, fragments: FragmentCache, token: str, query_string: bytes
) -> bytes:
    """The calendar's bytes. Raises NotFound for the token before anything is said of the scope."""
    owner = feeds.recognise(tx, token)
    scope = _scope(query_string)
    now = edge.clock()
    first_day, last_day = now.date() - DAYS_BACK, now.date() + DAYS_AHEAD
    known = reference.of_organisation(tx, owner.organisation_id, owner.reference_version)
    organisation = known.organisation
    hours = WorkingHours(
        organisation.day_starts_at, organisation.midday_at, organisation.day_ends_at
    )
    away = absences.visible(tx, owner, scope, first_day=first_day, last_day=last_day, now=now)
    parts = [fragments.event(absence, hours) for absence in away]
    if scope == "personal":
        holidays = _holidays(known, owner.holiday_country_code, first_day, last_day)
        parts += [fragments.holiday(holiday) for holiday in holidays]
    query = "" if scope == "personal" else f"?scope={scope}"
    url = f"{edge.base_url}/cal/{token}{query}"
    return ical.render_feed(Feed(_name(owner, scope), url), parts)


def _scope(query_string: bytes) -> FeedScope:
    asked = parse_qs(query_string.decode("latin-1")).get("scope", ["personal"])[0]
    if asked not in _SCOPES:
        raise InvalidInput(
            [FieldError("?scope", "not_one_of", f"The scope is one of {', '.join(_SCOPES)}.")]
        )
    return _SCOPES[asked]


def _name(owner: FeedOwner, scope: FeedScope) -> str:
    if owner.feed_name is not None:
        return owner.feed_name
    if scope == "personal":
        return f"Leave: {owner.name}"
    return f"Leave: {owner.organisation_name}" + (" (my team)" if scope == "team" else "")


def _holidays(
    known: Reference, country_code: str, first_day: date, last_day: date
) -> Iterator[PublicHoliday]:
    sets = known.holiday_sets.values()
    set_up_at = {one.country_code: one.created_at for one in sets}
    updated_at = set_up_at.get(country_code, known.organisation.created_at)
    found = holiday_sets.holidays_between(known, country_code, first_day, last_day)
    for day, holiday in sorted(found.items()):
        half = _HALF_OF_MASK.get(holiday.halves)
        yield PublicHoliday(country_code, day, holiday.name, updated_at, half)
