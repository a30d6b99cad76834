"""`/digests`: messages in Slack channels about who is out."""

from __future__ import annotations

from api.http.fields import Paged
from api.http.handlers import RequestContext, Result, created
from api.http.operations import Operation
from api.schemas import organisation_records
from api.schemas.bodies import DigestChanges, NewDigest
from api.schemas.lists import Listing, listing
from api.schemas.organisation_records import DigestRecord
from storage.admin import channel_digests
from storage.base import errors
from storage.db.database import Transaction
from storage.directory import people_changes


def page(tx: Transaction, context: RequestContext, query: Paged) -> Listing[DigestRecord]:
    page = channel_digests.page(tx, query.page, by=context.caller)
    return listing(page, organisation_records.digest)


def create(tx: Transaction, context: RequestContext, body: NewDigest) -> Result[DigestRecord]:
    digest = channel_digests.create(tx, body.sent(), by=context.caller, now=context.now)
    return created(f"/api/v1/digests/{digest.id}", organisation_records.digest(digest))


def get(tx: Transaction, context: RequestContext) -> DigestRecord:
    return organisation_records.digest(channel_digests.get(tx, context.id, by=context.caller))


def update(tx: Transaction, context: RequestContext, body: DigestChanges) -> DigestRecord:
    digest = channel_digests.update(tx, context.id, body.sent(), by=context.caller, now=context.now)
    return organisation_records.digest(digest)


def delete(tx: Transaction, context: RequestContext) -> None:
    channel_digests.delete(tx, context.id, by=context.caller, now=context.now)


_RULES = ("invalid_channel", "not_found")

OPERATIONS = (
    Operation(
        method="GET",
        path="/digests",
        summary="List digests",
        description=(
            "Who's-out messages of Slack channels, in order of creation. The organisation's own "
            "daily one is its `digest_channel` instead."
        ),
        handler=page,
        tag="Organisation",
        scope="organisation:read",
        role="admin",
        refusals=(errors.UnusableCursor,),
    ),
    Operation(
        method="POST",
        path="/digests",
        summary="Create a digest",
        description=(
            "Posted at 09:00 in the organisation's time zone, on its working days: `daily` who is "
            "out today, or `weekly` who is out on which days of the week, on Monday or the next "
            "working day. Changes of leave update the message; without absences there is none. "
            "The channel may be private, but not shared with another organisation (Slack Connect). "
            "Invite Hiatus to it first."
        ),
        handler=create,
        tag="Organisation",
        scope="organisation:write",
        role="admin",
        status=201,
        refusals=(errors.AlreadyExists, channel_digests.TooManyDigests),
        rules=_RULES,
        example={"channel": "C024BE91L", "frequency": "weekly", "locale": "en"},
    ),
    Operation(
        method="GET",
        path="/digests/{id}",
        summary="Read a digest",
        description="`refused_because` is why Slack refuses messages; null while it accepts them.",
        handler=get,
        tag="Organisation",
        scope="organisation:read",
        role="admin",
        kind="digest",
    ),
    Operation(
        method="PATCH",
        path="/digests/{id}",
        summary="Change a digest",
        description=(
            "Omitted fields stay unchanged; a null `department_id` means everyone. Sending "
            "`channel`, even the same one, retries a channel that Slack refused."
        ),
        handler=update,
        tag="Organisation",
        scope="organisation:write",
        role="admin",
        kind="digest",
        refusals=(errors.AlreadyExists, people_changes.ChangedMeanwhile),
        rules=_RULES,
        example={"frequency": "daily"},
    ),
    Operation(
        method="DELETE",
        path="/digests/{id}",
        summary="Delete a digest",
        description="Messages that were posted stay in Slack.",
        handler=delete,
        tag="Organisation",
        scope="organisation:write",
        role="admin",
        kind="digest",
        status=204,
    ),
)
