"""`/calendar-feeds`: the caller's calendar subscriptions. `api.feeds` serves them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from api.http.fields import Body, Listing, Name, Paged, listing_of
from api.http.operations import Created, RequestContext, Tag, created, operation
from storage.base.calendar_values import CalendarFeed
from storage.base.values import About, Id
from storage.calendars import feeds
from storage.db.database import Transaction

CALENDAR_FEEDS = Tag(
    "Calendar feeds",
    "iCalendar subscriptions. Anyone with a feed's URL can read it, so treat it as a secret.",
    "calendar",
)


class NewCalendarFeed(Body):
    name: Annotated[Name | None, Field(description="Your name for this subscription.")] = None


Url = Annotated[str, Field(json_schema_extra={"format": "uri"})]


LastFetchedAt = Annotated[
    datetime | None, Field(description="Updated at most once an hour; null if never fetched.")
]


LastFetchedBy = Annotated[
    str | None, Field(description="The program that fetched it, from its `User-Agent`.")
]


class CalendarFeedRecord(TypedDict):
    """A calendar subscription."""

    id: Id
    name: Annotated[str, Field(description="By default, the owner's name.", examples=["Phone"])]
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

    personal: Annotated[str, About(example="/cal/wT7kq2ZfLr9VbX4nJ0sYhC3mE8aUdQ5p")]
    team: Annotated[str, About(example="/cal/wT7kq2ZfLr9VbX4nJ0sYhC3mE8aUdQ5p?scope=team")]
    organisation: Annotated[str, About(example="/cal/wT7kq2ZfLr9VbX4nJ0sYhC3mE8aUdQ5p?scope=org")]


class FeedTokenRecord(TypedDict):
    """The caller's own feed token and its feeds."""

    token: Annotated[str, About(example="wT7kq2ZfLr9VbX4nJ0sYhC3mE8aUdQ5p")]
    feeds: FeedPathsRecord
    last_fetched_at: LastFetchedAt
    last_fetched_by: LastFetchedBy


@operation("GET", "/calendar-feeds", tag=CALENDAR_FEEDS, shows_secret=True)
def page(tx: Transaction, context: RequestContext, query: Paged) -> Listing[CalendarFeedRecord]:
    """List the caller's calendar feeds.

    The feeds created with `POST /calendar-feeds`, each with its URL.
    """
    page = feeds.page(tx, query.page, by=context.caller)
    return listing_of(page, lambda feed: _shown(context, feed))


@operation(
    "GET",
    "/calendar-feeds/{id}",
    tag=CALENDAR_FEEDS,
    kind="calendar feed",
    is_resource=True,
    shows_secret=True,
)
def get(tx: Transaction, context: RequestContext) -> CalendarFeedRecord:
    """Read a calendar feed's settings.

    One of the caller's own feeds. The calendar itself is at its `url`.
    """
    return _shown(context, feeds.get(tx, context.id, by=context.caller))


@operation(
    "POST",
    "/calendar-feeds",
    resource=get,
    is_body_optional=True,
    shows_secret=True,
    refusals=(feeds.TooManyFeeds,),
    example={"name": "Phone"},
)
def create(
    tx: Transaction, context: RequestContext, body: NewCalendarFeed
) -> Created[CalendarFeedRecord]:
    """Create a calendar feed.

    Each feed has its own subscription URL, so it can be revoked separately. Append `?scope=team` or
    `?scope=org` to the URL to include more than the caller's own leave.
    """
    feed = feeds.create(tx, body.name, by=context.caller, now=context.now)
    return created(f"/api/v1/calendar-feeds/{feed.id}", _shown(context, feed))


@operation("DELETE", "/calendar-feeds/{id}", resource=get)
def revoke(tx: Transaction, context: RequestContext) -> None:
    """Revoke a calendar feed.

    Its URL responds with 404 from then on.
    """
    feeds.revoke(tx, context.id, by=context.caller, now=context.now)


@operation(
    "GET",
    "/calendar-feeds/token",
    tag=CALENDAR_FEEDS,
    may_write=True,
    shows_secret=True,
    refusals=(feeds.FeedTokenUnreadable,),
)
def token(tx: Transaction, context: RequestContext) -> FeedTokenRecord:
    """Read the caller's own feed token.

    Creates the token on first use.
    """
    own = feeds.get_or_create_personal(tx, by=context.caller, now=context.now)
    return _paths(feeds.readable_token(own), own)


@operation("POST", "/calendar-feeds/regenerate", tag=CALENDAR_FEEDS, shows_secret=True)
def regenerate(tx: Transaction, context: RequestContext) -> FeedTokenRecord:
    """Replace the caller's own feed token.

    URLs with the old token stop working.
    """
    return _paths(feeds.regenerate_personal(tx, by=context.caller, now=context.now))


def _shown(context: RequestContext, feed: CalendarFeed) -> CalendarFeedRecord:
    return {
        "id": feed.id,
        "name": feed.name,
        "url": f"{context.base_url}/cal/{feed.token}" if feed.token else None,
        "created_at": feed.created_at,
        "last_fetched_at": feed.last_fetched_at,
        "last_fetched_by": feed.last_fetched_by,
    }


def _paths(own_token: str, feed: CalendarFeed | None = None) -> FeedTokenRecord:
    path = f"/cal/{own_token}"
    return {
        "token": own_token,
        "feeds": {
            "personal": path,
            "team": f"{path}?scope=team",
            "organisation": f"{path}?scope=org",
        },
        "last_fetched_at": feed.last_fetched_at if feed else None,
        "last_fetched_by": feed.last_fetched_by if feed else None,
    }


OPERATIONS = (page, create, get, revoke, token, regenerate)
