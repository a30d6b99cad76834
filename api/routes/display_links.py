"""`/display-links`: wallcharts for the screens and wikis of the organisation.

`api.wallchart` serves them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from api.http.fields import ABSENT, Body, Listing, Name, Paged, Uuid, listing_of
from api.http.operations import Created, RequestContext, created, operation
from api.routes.calendar_feeds import CALENDAR_FEEDS, Url
from storage.base.values import Id
from storage.calendars import display_links, wallchart
from storage.calendars.display_links import DisplayLink
from storage.db.database import Transaction
from storage.people import people_changes


class DisplayLinkRecord(TypedDict):
    """A wallchart for a screen or a wiki."""

    id: Id
    name: Annotated[
        str,
        Field(
            description="Where the link is used; the page does not show it.", examples=["Kitchen"]
        ),
    ]
    department_id: Annotated[
        Id | None, Field(description="Only people of this department; null for everyone.")
    ]
    url: Annotated[
        Url | None,
        Field(
            description="The page; anyone who has the URL can see it. With `.png` or `.svg` after "
            "it, a picture. Null if the server has lost the secret key that encrypted it: the URL "
            "still works but can no longer be shown."
        ),
    ]
    created_at: datetime


_RULES = ("not_found",)


class DisplayLinkChanges(Body):
    name: Annotated[Name, Field(description="Where the link is used.")] = ABSENT
    department_id: Annotated[
        Uuid | None, Field(description="Only people of this department; null for everyone.")
    ] = ABSENT


class NewDisplayLink(DisplayLinkChanges):
    name: Annotated[Name, Field(description="Where the link is used.")]


@operation("GET", "/display-links", tag=CALENDAR_FEEDS, role="admin", shows_secret=True)
def page(tx: Transaction, context: RequestContext, query: Paged) -> Listing[DisplayLinkRecord]:
    """List display links.

    The organisation's wallcharts for screens, in order of creation.
    """
    page = display_links.page(tx, query.page, by=context.caller)
    return listing_of(page, lambda link: _shown(context, link))


@operation(
    "GET",
    "/display-links/{id}",
    tag=CALENDAR_FEEDS,
    role="admin",
    kind="display link",
    is_resource=True,
    shows_secret=True,
)
def get(tx: Transaction, context: RequestContext) -> DisplayLinkRecord:
    """Read a display link.

    With its URL. The page itself is at the `url`.
    """
    return _shown(context, display_links.get(tx, context.id, by=context.caller))


@operation(
    "POST",
    "/display-links",
    role="admin",
    resource=get,
    shows_secret=True,
    refusals=(display_links.TooManyDisplayLinks,),
    rules=_RULES,
    example={"name": "Kitchen"},
)
def create(
    tx: Transaction, context: RequestContext, body: NewDisplayLink
) -> Created[DisplayLinkRecord]:
    """Create a display link.

    A web page for a screen in the kitchen or a wiki: who is out in the five weeks from today. It
    reloads itself every ten minutes. It shows approved leave only, and every private leave type as
    "Away". The link belongs to the organisation: it goes on working when the person who created it
    leaves.
    """
    link = display_links.create(tx, body.sent(), by=context.caller, now=context.now)
    return created(f"/api/v1/display-links/{link.id}", _shown(context, link))


@operation(
    "PATCH",
    "/display-links/{id}",
    role="admin",
    resource=get,
    shows_secret=True,
    refusals=(people_changes.ChangedMeanwhile,),
    rules=_RULES,
    example={"name": "Kitchen, second floor"},
)
def update(tx: Transaction, context: RequestContext, body: DisplayLinkChanges) -> DisplayLinkRecord:
    """Change a display link.

    Omitted fields stay unchanged; a null `department_id` means everyone. The URL stays the same.
    """
    link = display_links.update(tx, context.id, body.sent(), by=context.caller, now=context.now)
    return _shown(context, link)


@operation("DELETE", "/display-links/{id}", role="admin", resource=get)
def revoke(tx: Transaction, context: RequestContext) -> None:
    """Revoke a display link.

    Its URL responds with 404 from then on. Deleting a department revokes its links.
    """
    display_links.revoke(tx, context.id, by=context.caller, now=context.now)


def _shown(context: RequestContext, link: DisplayLink) -> DisplayLinkRecord:
    return {
        "id": link.id,
        "name": link.name,
        "department_id": link.department_id,
        "url": wallchart.url(context.base_url, link.token) if link.token else None,
        "created_at": link.created_at,
    }


OPERATIONS = (page, create, get, update, revoke)
