"""Responses that are more than one record: lists, calendar feeds, and objects with their secret."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Generic, TypeVar

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from api.schemas.records import UserRecord
from api.schemas.webhook_records import WebhookRecord
from storage.base.amounts import days_of
from storage.base.records import ApiKeyRecord, Days, Id, UserSummaryRecord
from storage.base.values import LeaveRequest, LeaveStatus
from storage.db.pages import Page
from storage.rules import halves

T = TypeVar("T")
R = TypeVar("R")
Url = Annotated[str, Field(json_schema_extra={"format": "uri"})]


class PaginationRecord(TypedDict):
    """The cursor of the next page."""

    next_cursor: Annotated[str | None, Field(description="Null on the last page.")]
    has_more: bool


class Listing(TypedDict, Generic[T]):
    """One page of a list."""

    data: list[T]
    pagination: PaginationRecord


class LeaveRecord(TypedDict):
    """A leave request in variant 2."""

    id: Id
    user_id: Id
    leave_type: Annotated[str, Field(description="The leave type's code.")]
    start_date: date
    end_date: date
    half_day_start: Annotated[
        bool, Field(description="Leave on the first counted day starts at midday.")
    ]
    half_day_end: Annotated[
        bool, Field(description="Leave on the last counted day ends at midday.")
    ]
    days: Days
    status: LeaveStatus
    note: Annotated[str, Field(description="Empty if there is none.")]
    created_at: datetime


# A page has these members, too: the schemas of one response must exclude each other.
@with_config(ConfigDict(json_schema_extra={"not": {"required": ["pagination"]}}))
class LeaveListing(TypedDict):
    """The leave that the caller can see."""

    requests: list[LeaveRecord]


class PagedLeaveListing(TypedDict):
    """One page of leave, if `limit` or `cursor` was sent."""

    requests: list[LeaveRecord]
    pagination: PaginationRecord


class UserListing(TypedDict):
    """Users in variant 2."""

    users: list[UserSummaryRecord]


class PagedUserListing(TypedDict):
    """One page of users in either variant, if `limit` or `cursor` was sent."""

    data: list[UserRecord] | list[UserSummaryRecord]
    pagination: PaginationRecord


class HolidaySetRecord(TypedDict):
    """The public holidays of one country or region."""

    id: Id
    country_code: str
    country_name: str
    has_regions: Annotated[
        bool,
        Field(
            description="True for a country with regions, of which only the national "
            "holidays count "
            "here. `GET /countries` lists the regions."
        ),
    ]
    holiday_count: Annotated[int, Field(description="In this calendar year, including overrides.")]
    created_at: datetime


LastFetchedAt = Annotated[
    datetime | None, Field(description="Updated at most once an hour; null if never fetched.")
]
LastFetchedBy = Annotated[
    str | None, Field(description="The program that fetched it, from its `User-Agent`.")
]


class CalendarFeedRecord(TypedDict):
    """A calendar subscription."""

    id: Id
    name: Annotated[str, Field(description="By default, the owner's name.")]
    url: Annotated[
        Url | None,
        Field(
            description="The iCalendar URL; anyone who has it can read the calendar. Null "
            "if the server "
            "has lost the secret key that encrypted it: the URL still works but can no "
            "longer be shown. Create another feed to get a new one."
        ),
    ]
    created_at: datetime
    last_fetched_at: LastFetchedAt
    last_fetched_by: LastFetchedBy


class FeedPathsRecord(TypedDict):
    """Paths relative to the service's base URL."""

    personal: str
    team: str
    organisation: str


class FeedTokenRecord(TypedDict):
    """The caller's own feed token and its feeds."""

    token: str
    feeds: FeedPathsRecord
    last_fetched_at: LastFetchedAt
    last_fetched_by: LastFetchedBy


class WebhookWithSecretRecord(WebhookRecord):
    """A webhook with the secret that signs its deliveries, shown only once."""

    secret: str


class PingRecord(TypedDict):
    """A queued ping; `id` is its `webhook-id`."""

    id: Id
    type: str


class RedeliveredRecord(TypedDict):
    """The number of deliveries that are sent again."""

    count: int
    has_more: Annotated[bool, Field(description="Whether more deliveries remain: repeat the call.")]


class ApiKeyWithSecretRecord(ApiKeyRecord):
    """An API key with its value, shown only once."""

    api_key: str


def pagination(page: Page[T]) -> PaginationRecord:
    return {"next_cursor": page.next_cursor, "has_more": page.next_cursor is not None}


def listing(page: Page[T], record: Callable[[T], R]) -> Listing[R]:
    """A page in the wrapper that all lists share."""
    return {"data": [record(item) for item in page.items], "pagination": pagination(page)}


def leave(request: LeaveRequest, leave_type_code: str) -> LeaveRecord:
    """The shape whose two flags say whether the leave begins or ends at midday."""
    return {
        "id": request.id,
        "user_id": request.user_id,
        "leave_type": leave_type_code,
        "start_date": request.start_date,
        "end_date": request.end_date,
        "half_day_start": halves.begins_at_midday(request.counted_halves),
        "half_day_end": halves.ends_at_midday(request.counted_halves),
        "days": days_of(request.total_half_days),
        "status": request.status,
        # The interface calls it a string, and marks what may be null.
        "note": request.note or "",
        "created_at": request.created_at,
    }
