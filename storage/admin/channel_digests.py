"""Digests for channels: any number of them beside the organisation's own daily one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from peewee import Delete, Select

from storage.base import fields
from storage.base.errors import AlreadyExists, Conflict, InvalidInput, NotFound
from storage.base.event_values import AuditAction
from storage.base.ids import new_id
from storage.base.values import (
    CHANNEL_LOCALES,
    DIGEST_FREQUENCIES,
    Caller,
    ChannelDigest,
    as_dict,
)
from storage.db import locks, rows
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import ChannelDigestRow
from storage.directory import department_rows, people_changes
from storage.events import audit, organisation_config
from storage.rules import roles

MAX_DIGESTS: Final = 100
_CHANNEL_ID: Final = re.compile(r"[CG][A-Z0-9]{2,31}")


class TooManyDigests(Conflict):
    """The organisation has ``MAX_DIGESTS`` digests."""

    code = "too_many_digests"
    title = "There are too many digests."

    def __init__(self) -> None:
        super().__init__(
            "An organisation can have at most {most} digests. Delete one first.", most=MAX_DIGESTS
        )


def check_channel(value: object, field: str) -> str:
    """A Slack channel's id. Raises InvalidInput ``invalid_channel``, also for a name."""
    if not isinstance(value, str) or not _CHANNEL_ID.fullmatch(value):
        raise InvalidInput.of(
            field, "invalid_channel", "Use the id of a Slack channel, such as C024BE91L."
        )
    return value


_CHECKS: Final[Mapping[str, fields.Check]] = {
    "channel": check_channel,
    "department_id": fields.unchecked,
    "frequency": fields.one_of(*DIGEST_FREQUENCIES, code="unknown_frequency"),
    "locale": fields.one_of(*CHANNEL_LOCALES, code="unknown_locale"),
}


def create(
    tx: Transaction, settings: Mapping[str, object], *, by: Caller, now: datetime
) -> ChannelDigest:
    """Add a digest: ``channel`` and any other field of ``update``; daily in English by default.

    Raises InsufficientRole, InvalidInput, AlreadyExists or TooManyDigests.
    """
    roles.check_role(by.role, "admin")
    fields.require(settings, "channel")
    values = fields.checked(settings, _CHECKS)
    locks.organisation(tx, by.organisation_id)
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
    tx.insert(ChannelDigestRow, organisation_id=by.organisation_id, due_at=now, **as_dict(digest))
    _record(tx, "digest.created", None, digest, by=by, now=now)
    return digest


def page(tx: Transaction, page: PageOf, *, by: Caller) -> Page[ChannelDigest]:
    """The organisation's digests, oldest first. Raises InsufficientRole or UnusableCursor."""
    roles.check_role(by.role, "admin")
    bound_to = ("digests", by.organisation_id)
    after = position(tx, page, *bound_to)
    page_rows = tx.all(
        _digests,
        organisation_id=by.organisation_id,
        after_id=after[0] if after else None,
        limit=page.limit + 1,
    )
    return page_of(tx, page, page_rows, rows.channel_digest, lambda row: [row.id], *bound_to)


def get(tx: Transaction, digest_id: str, *, by: Caller) -> ChannelDigest:
    """Raises InsufficientRole or NotFound."""
    roles.check_role(by.role, "admin")
    if fields.is_id(digest_id):
        row = tx.first(_digest, organisation_id=by.organisation_id, digest_id=digest_id)
        if row is not None:
            return rows.channel_digest(row)
    raise NotFound("digest")


def update(
    tx: Transaction, digest_id: str, changes: Mapping[str, object], *, by: Caller, now: datetime
) -> ChannelDigest:
    """Change a digest. Any change, also to the same channel, retries one that Slack refused.

    Another channel or frequency gets a message of its own; other changes update the last one.
    Raises InsufficientRole, NotFound, InvalidInput or AlreadyExists; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    before = get(tx, digest_id, by=by)
    after = replace(before, **fields.checked(changes, _CHECKS))
    is_changed = after != before
    is_retry = before.refused_because is not None and "channel" in changes
    if not is_changed and not is_retry:
        return before
    _check(tx, after, _all(tx, by.organisation_id), by=by)
    after = replace(after, refused_because=None, updated_at=now, version=before.version + 1)
    # The new time ends a claim: what its process posts meanwhile is not recorded.
    columns: dict[str, object] = {**as_dict(after), "due_at": now}
    if (after.channel, after.frequency) != (before.channel, before.frequency):
        columns |= {"day": None, "ts": None, "shown_sha256": None}
    if not tx.update(ChannelDigestRow, columns, organisation_id=by.organisation_id, id=before.id):
        raise people_changes.ChangedMeanwhile
    if is_changed:
        _record(tx, "digest.updated", before, after, by=by, now=now)
    return after


def delete(tx: Transaction, digest_id: str, *, by: Caller, now: datetime) -> None:
    """Delete a digest; its messages stay in Slack. Raises InsufficientRole or NotFound."""
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    _delete_all(tx, [get(tx, digest_id, by=by)], by=by, now=now)


def delete_of_department(tx: Transaction, department_id: str, *, by: Caller, now: datetime) -> None:
    """Delete the digests of a department that is about to be deleted."""
    digests = [
        digest for digest in _all(tx, by.organisation_id) if digest.department_id == department_id
    ]
    if digests:
        _delete_all(tx, digests, by=by, now=now)


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
    if digest.department_id is not None and not department_rows.exists(
        tx, by.organisation_id, digest.department_id, for_update=True
    ):
        raise InvalidInput.of("department_id", "not_found", "There is no such department.")
    organisation = organisation_config.of_organisation(tx, by.organisation_id).organisation
    taken = {_key(other) for other in others if other.id != digest.id}
    if _key(digest) in taken | {(organisation.digest_channel, None, "daily")}:
        raise _already()


def _key(digest: ChannelDigest) -> tuple[str | None, str | None, str]:
    return digest.channel, digest.department_id, digest.frequency


def _already() -> AlreadyExists:
    return AlreadyExists("This channel already gets this digest.")


def _delete_all(
    tx: Transaction, digests: Sequence[ChannelDigest], *, by: Caller, now: datetime
) -> None:
    digest_ids = [digest.id for digest in digests]
    tx.change(_delete, organisation_id=by.organisation_id, digest_ids=digest_ids)
    after: Mapping[str, object] = {}
    deleted = [
        (digest.id, {name: getattr(digest, name) for name in _CHECKS}, after) for digest in digests
    ]
    audit.record_all(tx, "digest.deleted", "digest", deleted, by=by, now=now)


def _all(tx: Transaction, organisation_id: str) -> list[ChannelDigest]:
    digest_rows = tx.all(
        _digests, organisation_id=organisation_id, after_id=None, limit=MAX_DIGESTS
    )
    return [rows.channel_digest(row) for row in digest_rows]


def _record(
    tx: Transaction,
    action: AuditAction,
    before: ChannelDigest | None,
    after: ChannelDigest,
    *,
    by: Caller,
    now: datetime,
) -> None:
    audit.record_value(tx, action, "digest", before, after, _CHECKS, by=by, now=now)


@compiled
def _digest(organisation_id: Param[str], digest_id: Param[str]) -> Select:
    return ChannelDigestRow.select(*rows.CHANNEL_DIGEST).where(
        ChannelDigestRow.organisation_id == organisation_id, ChannelDigestRow.id == digest_id
    )


@compiled
def _digests(organisation_id: Param[str], after_id: Param[str] | None, limit: Param[int]) -> Select:
    query = ChannelDigestRow.select(*rows.CHANNEL_DIGEST).where(
        ChannelDigestRow.organisation_id == organisation_id
    )
    if after_id is not None:
        query = query.where(ChannelDigestRow.id > after_id)
    return query.order_by(ChannelDigestRow.id).limit(limit)


@compiled
def _delete(organisation_id: Param[str], digest_ids: Param[list[str]]) -> Delete:
    return ChannelDigestRow.delete().where(
        ChannelDigestRow.organisation_id == organisation_id,
        any_of(ChannelDigestRow.id, digest_ids),
    )
