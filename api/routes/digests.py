"""`/digests`: messages in Slack channels about who is out."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.http.fields import ABSENT, Body, Listing, Paged, Uuid, Word, listing
from api.http.operations import Created, RequestContext, created, operation
from api.routes.organisation import ORGANISATION
from storage.admin import channel_digests
from storage.base import errors
from storage.base.values import (
    ChannelDigest,
    ChannelLocale,
    DigestFrequency,
)
from storage.db.database import Transaction
from storage.people import people_changes

_RULES = ("invalid_channel", "not_found")


class DigestChanges(Body):
    channel: Annotated[Word, Field(description="The id of a Slack channel.")] = ABSENT
    department_id: Annotated[
        Uuid | None, Field(description="Only people of this department; null for everyone.")
    ] = ABSENT
    frequency: Annotated[DigestFrequency, Field(description="By default `daily`.")] = ABSENT
    locale: Annotated[
        ChannelLocale, Field(description="The language of the message, by default `en`.")
    ] = ABSENT


class NewDigest(DigestChanges):
    channel: Annotated[Word, Field(description="The id of a Slack channel.")]


@operation("GET", "/digests", tag=ORGANISATION, role="admin")
def page(tx: Transaction, context: RequestContext, query: Paged) -> Listing[ChannelDigest]:
    """List digests.

    Who's-out messages of Slack channels, in order of creation. The organisation's own daily one is
    its `digest_channel` instead.
    """
    page = channel_digests.page(tx, query.page, by=context.caller)
    return listing(page)


@operation("GET", "/digests/{id}", tag=ORGANISATION, role="admin", kind="digest", is_resource=True)
def get(tx: Transaction, context: RequestContext) -> ChannelDigest:
    """Read a digest.

    `refused_because` is why Slack refuses messages; null while it accepts them.
    """
    return channel_digests.get(tx, context.id, by=context.caller)


@operation(
    "POST",
    "/digests",
    role="admin",
    resource=get,
    refusals=(errors.AlreadyExists, channel_digests.TooManyDigests),
    rules=_RULES,
    example={"channel": "C024BE91L", "frequency": "weekly", "locale": "en"},
)
def create(tx: Transaction, context: RequestContext, body: NewDigest) -> Created[ChannelDigest]:
    """Create a digest.

    Posted at 09:00 in the organisation's time zone, on its working days: `daily` who is out today,
    or `weekly` who is out on which days of the week, on Monday or the next working day. Changes of
    leave update the message; without absences there is none. The channel may be private, but not
    shared with another organisation (Slack Connect). Invite Hiatus to it first.
    """
    digest = channel_digests.create(tx, body.sent(), by=context.caller, now=context.now)
    return created(f"/api/v1/digests/{digest.id}", digest)


@operation(
    "PATCH",
    "/digests/{id}",
    role="admin",
    resource=get,
    refusals=(errors.AlreadyExists, people_changes.ChangedMeanwhile),
    rules=_RULES,
    example={"frequency": "daily"},
)
def update(tx: Transaction, context: RequestContext, body: DigestChanges) -> ChannelDigest:
    """Change a digest.

    Omitted fields stay unchanged; a null `department_id` means everyone. Sending `channel`, even
    the same one, retries a channel that Slack refused.
    """
    return channel_digests.update(tx, context.id, body.sent(), by=context.caller, now=context.now)


@operation("DELETE", "/digests/{id}", role="admin", resource=get)
def delete(tx: Transaction, context: RequestContext) -> None:
    """Delete a digest.

    Messages that were posted stay in Slack.
    """
    channel_digests.delete(tx, context.id, by=context.caller, now=context.now)


OPERATIONS = (page, create, get, update, delete)
