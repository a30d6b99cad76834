"""Calendar feeds as their owners see them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from storage.base.records import About, Id

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
