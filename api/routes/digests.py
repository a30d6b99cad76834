"""`/digests`: messages in Slack channels about who is out."""

from __future__ import annotations

from api.http.context import RequestContext, Result, created
from api.http.fields import Paged
from api.http.operations import operation
from api.routes.organisation import ORGANISATION
from api.schemas import organisation_records
from api.schemas.bodies import DigestChanges, NewDigest
from api.schemas.lists import Listing, listing
from api.schemas.organisation_records import DigestRecord
from storage.admin import channel_digests
from storage.base import errors
from storage.db.database import Transaction
from storage.directory import people_changes

_RULES = ("invalid_channel", "not_found")


@operation("GET", "/digests", tag=ORGANISATION, scope="organisation:read", role="admin")
def page(tx: Transaction, context: RequestContext, query: Paged) -> Listing[DigestRecord]:
    """List digests.

    Who's-out messages of Slack channels, in order of creation. The organisation's own daily one is
    its `digest_channel` instead.
    """
    page = channel_digests.page(tx, query.page, by=context.caller)
    return listing(page, organisation_records.digest)


@operation(
    "GET",
    "/digests/{id}",
    tag=ORGANISATION,
    scope="organisation:read",
    role="admin",
    kind="digest",
    is_resource=True,
)
def get(tx: Transaction, context: RequestContext) -> DigestRecord:
    """Read a digest.

    `refused_because` is why Slack refuses messages; null while it accepts them.
    """
    return organisation_records.digest(channel_digests.get(tx, context.id, by=context.caller))


@operation(
    "POST",
    "/digests",
    tag=ORGANISATION,
    scope="organisation:write",
    role="admin",
    status=201,
    resource=get,
    refusals=(errors.AlreadyExists, channel_digests.TooManyDigests),
    rules=_RULES,
    example={"channel": "C024BE91L", "frequency": "weekly", "locale": "en"},
)
def create(tx: Transaction, context: RequestContext, body: NewDigest) -> Result[DigestRecord]:
    """Create a digest.

    Posted at 09:00 in the organisation's time zone, on its working days: `daily` who is out today,
    or `weekly` who is out on which days of the week, on Monday or the next working day. Changes of
    leave update the message; without absences there is none. The channel may be private, but not
    shared with another organisation (Slack Connect). Invite Hiatus to it first.
    """
    digest = channel_digests.create(tx, body.sent(), by=context.caller, now=context.now)
    return created(f"/api/v1/digests/{digest.id}", organisation_records.digest(digest))


@operation(
    "PATCH",
    "/digests/{id}",
    tag=ORGANISATION,
    scope="organisation:write",
    role="admin",
    resource=get,
    refusals=(errors.AlreadyExists, people_changes.ChangedMeanwhile),
    rules=_RULES,
    example={"frequency": "daily"},
)
def update(tx: Transaction, context: RequestContext, body: DigestChanges) -> DigestRecord:
    """Change a digest.

    Omitted fields stay unchanged; a null `department_id` means everyone. Sending `channel`, even
    the same one, retries a channel that Slack refused.
    """
    digest = channel_digests.update(tx, context.id, body.sent(), by=context.caller, now=context.now)
    return organisation_records.digest(digest)


@operation(
    "DELETE",
    "/digests/{id}",
    tag=ORGANISATION,
    scope="organisation:write",
    role="admin",
    status=204,
    resource=get,
)
def delete(tx: Transaction, context: RequestContext) -> None:
    """Delete a digest.

    Messages that were posted stay in Slack.
    """
    channel_digests.delete(tx, context.id, by=context.caller, now=context.now)


OPERATIONS = (page, create, get, update, delete)
