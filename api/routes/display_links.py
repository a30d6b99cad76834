"""`/display-links`: wallcharts for the screens and wikis of the organisation.

`api.wallchart` serves them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from api.http.fields import Paged
from api.http.handlers import RequestContext, Result, created
from api.http.operations import Operation
from api.schemas.bodies import DisplayLinkChanges, NewDisplayLink
from api.schemas.feed_records import Url
from api.schemas.lists import Listing, listing
from storage.access import display_links
from storage.access.display_links import DisplayLink
from storage.access.wallcharts import wallchart
from storage.base import errors
from storage.base.records import Id
from storage.db.database import Transaction
from storage.directory import people_changes


class DisplayLinkRecord(TypedDict):
    """A wallchart for a screen or a wiki."""

    id: Id
    name: Annotated[str, Field(description="Where the link is used; the page does not show it.")]
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


def page(tx: Transaction, context: RequestContext, query: Paged) -> Listing[DisplayLinkRecord]:
    page = display_links.page(tx, query.page, by=context.caller)
    return listing(page, lambda link: _shown(context, link))


def create(
    tx: Transaction, context: RequestContext, body: NewDisplayLink
) -> Result[DisplayLinkRecord]:
    link = display_links.create(tx, body.sent(), by=context.caller, now=context.now)
    return created(f"/api/v1/display-links/{link.id}", _shown(context, link))


def get(tx: Transaction, context: RequestContext) -> DisplayLinkRecord:
    return _shown(context, display_links.get(tx, context.id, by=context.caller))


def update(tx: Transaction, context: RequestContext, body: DisplayLinkChanges) -> DisplayLinkRecord:
    link = display_links.update(tx, context.id, body.sent(), by=context.caller, now=context.now)
    return _shown(context, link)


def revoke(tx: Transaction, context: RequestContext) -> None:
    display_links.revoke(tx, context.id, by=context.caller, now=context.now)


def _shown(context: RequestContext, link: DisplayLink) -> DisplayLinkRecord:
    return {
        "id": link.id,
        "name": link.name,
        "department_id": link.department_id,
        "url": wallchart.url(context.base_url, link.token) if link.token else None,
        "created_at": link.created_at,
    }


_RULES = ("control_character", "invalid_length", "no_visible_letter", "not_found")

OPERATIONS = (
    Operation(
        method="GET",
        path="/display-links",
        summary="List display links",
        description="The organisation's wallcharts for screens, in order of creation.",
        handler=page,
        tag="Calendar feeds",
        scope="calendar:read",
        role="admin",
        shows_secret=True,
        refusals=(errors.UnusableCursor,),
    ),
    Operation(
        method="POST",
        path="/display-links",
        summary="Create a display link",
        description=(
            "A web page for a screen in the kitchen or a wiki: who is out in the five weeks from "
            "today. It reloads itself every ten minutes. It shows approved leave only, and every "
            'private leave type as "Away". The link belongs to the organisation: it goes on '
            "working when the person who created it leaves."
        ),
        handler=create,
        tag="Calendar feeds",
        scope="calendar:write",
        role="admin",
        status=201,
        shows_secret=True,
        refusals=(display_links.TooManyDisplayLinks,),
        rules=_RULES,
        example={"name": "Kitchen"},
    ),
    Operation(
        method="GET",
        path="/display-links/{id}",
        summary="Read a display link",
        description="With its URL. The page itself is at the `url`.",
        handler=get,
        tag="Calendar feeds",
        scope="calendar:read",
        role="admin",
        kind="display link",
        shows_secret=True,
    ),
    Operation(
        method="PATCH",
        path="/display-links/{id}",
        summary="Change a display link",
        description=(
            "Omitted fields stay unchanged; a null `department_id` means everyone. The URL stays "
            "the same."
        ),
        handler=update,
        tag="Calendar feeds",
        scope="calendar:write",
        role="admin",
        kind="display link",
        shows_secret=True,
        refusals=(people_changes.ChangedMeanwhile,),
        rules=_RULES,
        example={"name": "Kitchen, second floor"},
    ),
    Operation(
        method="DELETE",
        path="/display-links/{id}",
        summary="Revoke a display link",
        description=(
            "Its URL responds with 404 from then on. Deleting a department revokes its links."
        ),
        handler=revoke,
        tag="Calendar feeds",
        scope="calendar:write",
        role="admin",
        kind="display link",
        status=204,
    ),
)
