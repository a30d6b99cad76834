"""Digests for channels: any number of them beside the organisation's own daily one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from peewee import Case, Update

from storage.base import fields
from storage.base.errors import AlreadyExists, Conflict, InvalidInput, Sentence
from storage.base.ids import new_id
from storage.base.values import CHANNEL_LOCALES, DIGEST_FREQUENCIES, Caller, ChannelDigest
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf
from storage.db.tables import ChannelDigestRow, DigestRow
from storage.outbox import organisation_config, resources
from storage.outbox.resources import Resource
from storage.people import department_rows

MAX_DIGESTS: Final = 100
# How long a digest is claimed: longer than posting takes.
LEASE: Final = timedelta(minutes=2)
_CHANNEL_ID: Final = re.compile(r"[CG][A-Z0-9]{2,31}")


class TooManyDigests(Conflict):
    """The organisation has reached the limit for digests."""

    code = "too_many_digests"
    title = "There are too many digests."
    cure = "Delete one that no channel needs."
    sentence = Sentence(
        "An organisation can have at most {most} digests. Delete one first.", most=MAX_DIGESTS
    )


def check_channel(value: object, field: str) -> str:
    """A Slack channel's id. Raises InvalidInput ``invalid_channel``, also for a name."""
    if not isinstance(value, str) or not _CHANNEL_ID.fullmatch(value):
        raise InvalidInput.of(
            field, "invalid_channel", "Use the id of a Slack channel, such as C024BE91L."
        )
    return value


_DIGESTS: Final = Resource(
    name="digest",
    table=ChannelDigestRow,
    value=lambda _, row: rows.channel_digest(row),
    checks={
        "channel": check_channel,
        "department_id": fields.unchecked,
        "frequency": fields.one_of(*DIGEST_FREQUENCIES, code="unknown_frequency"),
        "locale": fields.one_of(*CHANNEL_LOCALES, code="unknown_locale"),
    },
    actions=("digest.created", "digest.updated", "digest.deleted"),
)


def create(
    tx: Transaction, settings: Mapping[str, object], *, by: Caller, now: datetime
) -> ChannelDigest:
    """Add a digest: ``channel`` and any other field of ``update``; daily in English by default.

    Raises InsufficientRole, InvalidInput, AlreadyExists or TooManyDigests.
    """
    resources.lock(tx, by=by)
    fields.require(settings, "channel")
    values = fields.checked(settings, _DIGESTS.checks)
    others = _all(tx, by.organisation_id)
    if len(others) >= MAX_DIGESTS:
        raise TooManyDigests
    digest = ChannelDigest(
        id=new_id(now),
        channel=values["channel"],
        department_id=values.get("department_id"),
        frequency=values.get("frequency", "daily"),
        locale=values.get("locale", "en"),
        refused_because=None,
        created_at=now,
        updated_at=now,
        version=1,
    )
    _check(tx, digest, others, by=by)
    columns = rows.columns(digest) | {"due_at": now}
    resources.add(tx, _DIGESTS, digest, columns, by=by, now=now)
    return digest


def page(tx: Transaction, page: PageOf, *, by: Caller) -> Page[ChannelDigest]:
    """The organisation's digests, oldest first. Raises InsufficientRole or UnusableCursor."""
    return resources.page(tx, _DIGESTS, page, by=by)


def get(tx: Transaction, digest_id: str, *, by: Caller) -> ChannelDigest:
    """Raises InsufficientRole or NotFound."""
    return resources.get(tx, _DIGESTS, digest_id, by=by)


def update(
    tx: Transaction, digest_id: str, changes: Mapping[str, object], *, by: Caller, now: datetime
) -> ChannelDigest:
    """Change a digest. Any change, also to the same channel, retries one that Slack refused.

    Another channel or frequency gets a message of its own; other changes update the last one.
    Raises InsufficientRole, NotFound, InvalidInput or AlreadyExists; then nothing has changed.
    """
    resources.lock(tx, by=by)
    before = get(tx, digest_id, by=by)
    after = replace(before, **fields.checked(changes, _DIGESTS.checks))
    is_retry = before.refused_because is not None and "channel" in changes
    if after == before and not is_retry:
        return before
    _check(tx, after, _all(tx, by.organisation_id), by=by)
    after = replace(after, refused_because=None)
    # The new time ends a claim: what its process posts meanwhile is not recorded.
    columns: dict[str, object] = {"refused_because": None, "due_at": now}
    if (after.channel, after.frequency) != (before.channel, before.frequency):
        columns |= {"day": None, "ts": None, "shown_sha256": None}
    return resources.change(tx, _DIGESTS, before, after, columns, by=by, now=now)


def delete(tx: Transaction, digest_id: str, *, by: Caller, now: datetime) -> None:
    """Delete a digest; its messages stay in Slack. Raises InsufficientRole or NotFound."""
    resources.lock(tx, by=by)
    resources.remove(tx, _DIGESTS, [get(tx, digest_id, by=by)], by=by, now=now)


def delete_of_department(tx: Transaction, department_id: str, *, by: Caller, now: datetime) -> None:
    resources.remove_of_department(tx, _DIGESTS, department_id, by=by, now=now)


def retry_own(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Post the organisation's digest soon although Slack refused its channel."""
    tx.change(_retry, organisation_id=organisation_id, now=now, lease_expires_at=now + LEASE)


def check_is_free(tx: Transaction, channel: str, *, by: Caller) -> None:
    """Refuse the organisation's own channel if it gets the same digest as one of the others.

    Raises AlreadyExists.
    """
    for other in _all(tx, by.organisation_id):
        if _key(other) == (channel, None, "daily"):
            raise _already()


def _check(
    tx: Transaction, digest: ChannelDigest, others: list[ChannelDigest], *, by: Caller
) -> None:
    """Raises InvalidInput for an unknown department, AlreadyExists."""
    department_rows.check(tx, digest.department_id, by=by)
    organisation = organisation_config.of_organisation(tx, by.organisation_id).organisation
    taken = {_key(other) for other in others if other.id != digest.id}
    if _key(digest) in taken | {(organisation.digest_channel, None, "daily")}:
        raise _already()


def _key(digest: ChannelDigest) -> tuple[str | None, str | None, str]:
    return digest.channel, digest.department_id, digest.frequency


def _already() -> AlreadyExists:
    return AlreadyExists("This channel already gets this digest.")


def _all(tx: Transaction, organisation_id: str) -> list[ChannelDigest]:
    return resources.all_of(tx, _DIGESTS, organisation_id, MAX_DIGESTS)


@compiled
def _retry(
    organisation_id: Param[str], now: Param[datetime], lease_expires_at: Param[datetime]
) -> Update:
    row = DigestRow
    # A digest that is due within a lease may be claimed: its process expects the same due_at.
    due_at = Case(None, ((row.due_at > lease_expires_at, now),), row.due_at)
    changes = {row.refused_channel: None, row.refused_because: None, row.due_at: due_at}
    return row.update(changes).where(
        row.organisation_id == organisation_id, row.refused_channel.is_null(False)
    )
