"""`/calendar-feeds`: the caller's calendar subscriptions. `api.feeds` serves them."""

from __future__ import annotations

from api.http.fields import Paged
from api.http.handlers import RequestContext, Result, created
from api.http.operations import Operation
from api.schemas.bodies import NewCalendarFeed
from api.schemas.feed_records import CalendarFeedRecord, FeedTokenRecord
from api.schemas.lists import Listing, listing
from storage.access import feeds
from storage.base import errors
from storage.base.calendar_values import CalendarFeed
from storage.db.database import Transaction


def page(tx: Transaction, context: RequestContext, query: Paged) -> Listing[CalendarFeedRecord]:
    page = feeds.page(tx, query.page, by=context.caller)
    return listing(page, lambda feed: _shown(context, feed))


def create(
    tx: Transaction, context: RequestContext, body: NewCalendarFeed
) -> Result[CalendarFeedRecord]:
    feed = feeds.create(tx, body.name, by=context.caller, now=context.now)
    return created(f"/api/v1/calendar-feeds/{feed.id}", _shown(context, feed))


def get(tx: Transaction, context: RequestContext) -> CalendarFeedRecord:
    return _shown(context, feeds.get(tx, context.id, by=context.caller))


def revoke(tx: Transaction, context: RequestContext) -> None:
    feeds.revoke(tx, context.id, by=context.caller, now=context.now)


def token(tx: Transaction, context: RequestContext) -> FeedTokenRecord:
    own = feeds.get_or_create_personal(tx, by=context.caller, now=context.now)
    return _paths(feeds.readable_token(own), own)


def regenerate(tx: Transaction, context: RequestContext) -> FeedTokenRecord:
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


OPERATIONS = (
    Operation(
        method="GET",
        path="/calendar-feeds",
        summary="List the caller's calendar feeds",
        description="The feeds created with `POST /calendar-feeds`, each with its URL.",
        handler=page,
        tag="Calendar feeds",
        scope="calendar:read",
        shows_secret=True,
        refusals=(errors.UnusableCursor,),
    ),
    Operation(
        method="POST",
        path="/calendar-feeds",
        summary="Create a calendar feed",
        description=(
            "Each feed has its own subscription URL, so it can be revoked separately. Append "
            "`?scope=team` or `?scope=org` to the URL to include more than the caller's own "
            "leave."
        ),
        handler=create,
        tag="Calendar feeds",
        scope="calendar:write",
        needs_body=False,
        shows_secret=True,
        status=201,
        refusals=(feeds.TooManyFeeds,),
        rules=("control_character", "invalid_length", "no_visible_letter"),
        example={"name": "Phone"},
    ),
    Operation(
        method="GET",
        path="/calendar-feeds/{id}",
        summary="Read a calendar feed's settings",
        description="One of the caller's own feeds. The calendar itself is at its `url`.",
        handler=get,
        tag="Calendar feeds",
        scope="calendar:read",
        kind="calendar feed",
        shows_secret=True,
    ),
    Operation(
        method="DELETE",
        path="/calendar-feeds/{id}",
        summary="Revoke a calendar feed",
        description="Its URL responds with 404 from then on.",
        handler=revoke,
        tag="Calendar feeds",
        scope="calendar:write",
        kind="calendar feed",
        status=204,
    ),
    Operation(
        method="GET",
        path="/calendar-feeds/token",
        summary="Read the caller's own feed token",
        description="Creates the token on first use.",
        handler=token,
        tag="Calendar feeds",
        scope="calendar:read",
        shows_secret=True,
        refusals=(feeds.FeedTokenUnreadable,),
        writes=True,
    ),
    Operation(
        method="POST",
        path="/calendar-feeds/regenerate",
        summary="Replace the caller's own feed token",
        description="URLs with the old token stop working.",
        handler=regenerate,
        tag="Calendar feeds",
        scope="calendar:write",
        shows_secret=True,
    ),
)
