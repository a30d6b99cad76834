"""The audit trail: one entry for every change, written in the transaction that makes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Final, Protocol, TypeVar

import orjson
from peewee import Select, Tuple, fn

from storage.base.event_values import AuditAction, AuditEntry
from storage.base.ids import new_id
from storage.base.values import Caller, days_of
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.rows import instant, mapper
from storage.db.tables import AuditRow

_HALF_DAYS: Final = "_half_days"


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_Identified)


def record(
    tx: Transaction,
    action: AuditAction,
    subject_type: str,
    subject_id: str,
    *,
    by: Caller,
    now: datetime,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> None:
    """Write what ``by`` did to a subject. Only differing fields are stored; never pass a secret."""
    tx.insert(
        AuditRow,
        **_row(action, subject_type, subject_id, before or {}, after or {}, by=by, now=now),
    )


def record_created(
    tx: Transaction,
    action: AuditAction,
    subject_type: str,
    subjects: Iterable[tuple[str, Mapping[str, object]]],
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Write that subjects were created; ``subjects`` are their ids and fields."""
    before: Mapping[str, object] = {}
    changes = ((subject_id, before, after) for subject_id, after in subjects)
    record_all(tx, action, subject_type, changes, by=by, now=now)


def record_all(
    tx: Transaction,
    action: AuditAction,
    subject_type: str,
    changes: Iterable[tuple[str, Mapping[str, object], Mapping[str, object]]],
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Write what ``by`` did to many subjects; ``changes`` are their ids, before and after."""
    rows = [_row(action, subject_type, *change, by=by, now=now) for change in changes]
    tx.insert_all(AuditRow, rows)


def record_value(
    tx: Transaction,
    action: AuditAction,
    subject_type: str,
    before: T | None,
    after: T | None,
    fields: Iterable[str],
    *,
    by: Caller,
    now: datetime,
) -> None:
    """As ``record_shown``, with these fields of the value."""
    record_shown(
        tx,
        action,
        subject_type,
        before,
        after,
        lambda value: {name: getattr(value, name) for name in fields},
        by=by,
        now=now,
    )


def record_shown(
    tx: Transaction,
    action: AuditAction,
    subject_type: str,
    before: T | None,
    after: T | None,
    shown: Callable[[T], Mapping[str, object]],
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Write the change of a value. Without ``before`` it was created, without ``after`` deleted.

    ``shown`` is what the audit trail has of a value.
    """
    value = after or before
    assert value is not None
    record(
        tx,
        action,
        subject_type,
        value.id,
        by=by,
        now=now,
        before=None if before is None else shown(before),
        after=None if after is None else shown(after),
    )


def _row(
    action: AuditAction,
    subject_type: str,
    subject_id: str,
    before: Mapping[str, object],
    after: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
) -> dict[str, object]:
    return {
        "organisation_id": by.organisation_id,
        "id": new_id(now),
        "action": action,
        "occurred_at": now,
        "actor_id": by.user_id,
        "source": by.source,
        "subject_type": subject_type,
        "subject_id": subject_id,
        "changes": _changes(before, after),
        "request_id": by.request_id,
    }


def _changes(before: Mapping[str, object], after: Mapping[str, object]) -> str:
    """``{field: {"before", "after"}}`` of the fields that differ, as JSON.

    Names, units and times are those of the rest of the API.
    """
    changes = {
        name.removesuffix(_HALF_DAYS): {
            "before": _in_api_units(name, before.get(name)),
            "after": _in_api_units(name, after.get(name)),
        }
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    }
    return orjson.dumps(changes, option=orjson.OPT_UTC_Z).decode()


def _in_api_units(name: str, value: object) -> object:
    if isinstance(value, (int, Fraction)) and name.endswith(_HALF_DAYS):
        return days_of(value)
    return value


def entries(
    tx: Transaction,
    page: PageOf,
    *,
    by: Caller,
    action: AuditAction | None = None,
    actor_id: str | None = None,
    subject_id: str | None = None,
    first_day: date | None = None,
    last_day: date | None = None,
) -> Page[AuditEntry]:
    """The organisation's entries, newest first; both days are whole UTC days, included."""
    bound_to = ("audit", by.organisation_id, action, actor_id, subject_id, first_day, last_day)
    after = position(tx, page, *bound_to)
    rows = tx.all(
        _entries,
        organisation_id=by.organisation_id,
        action=action,
        actor_id=actor_id,
        subject_id=subject_id,
        from_at=None if first_day is None else _midnight(first_day),
        until_at=None if last_day is None else _midnight(last_day) + 86_400_000,
        after_at=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=page.limit + 1,
    )
    return page_of(tx, page, rows, _entry, lambda row: [row.timestamp, row.id], *bound_to)


def changes_at(
    tx: Transaction, organisation_id: str, action: AuditAction, subject_id: str, at: datetime
) -> dict[str, dict[str, Any]] | None:
    """What an action changed at that instant, by field; None when it did not happen then."""
    row = tx.find(
        AuditRow,
        organisation_id=organisation_id,
        subject_id=subject_id,
        occurred_at=at,
        action=action,
    )
    return None if row is None else orjson.loads(row.changes)


def last_actor(
    tx: Transaction, organisation_id: str, action: AuditAction, subject_id: str
) -> str | None:
    """Who last did this to the subject; None when it was the system, or did not happen."""
    row = tx.first(_last, organisation_id=organisation_id, action=action, subject_id=subject_id)
    return None if row is None else row.actor_id


def last_at(
    tx: Transaction, organisation_id: str, action: AuditAction, subject_id: str
) -> datetime | None:
    row = tx.first(_last, organisation_id=organisation_id, action=action, subject_id=subject_id)
    return None if row is None else instant(row.occurred_at)


def last_change_at(organisation_id: object) -> Select:
    """A subquery for when an organisation was last changed, in milliseconds; an index answers it.

    Never null: the creation of an organisation has an entry.
    """
    return AuditRow.select(fn.MAX(AuditRow.occurred_at)).where(
        AuditRow.organisation_id == organisation_id
    )


@compiled
def _entries(
    organisation_id: Param[str],
    action: Param[str] | None,
    actor_id: Param[str] | None,
    subject_id: Param[str] | None,
    from_at: Param[int] | None,
    until_at: Param[int] | None,
    after_at: Param[datetime] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    query = AuditRow.select(
        AuditRow.id,
        AuditRow.action,
        AuditRow.occurred_at.alias("timestamp"),
        AuditRow.actor_id,
        AuditRow.source,
        AuditRow.subject_type,
        AuditRow.subject_id,
        AuditRow.changes,
        AuditRow.request_id,
    ).where(AuditRow.organisation_id == organisation_id)
    for column, param in (
        (AuditRow.action, action),
        (AuditRow.actor_id, actor_id),
        (AuditRow.subject_id, subject_id),
    ):
        if param is not None:
            query = query.where(column == param)
    if from_at is not None:
        query = query.where(AuditRow.occurred_at >= from_at)
    if until_at is not None:
        query = query.where(AuditRow.occurred_at < until_at)
    if after_at is not None:
        query = query.where(Tuple(AuditRow.occurred_at, AuditRow.id) < Tuple(after_at, after_id))
    return query.order_by(AuditRow.occurred_at.desc(), AuditRow.id.desc()).limit(limit)


@compiled
def _last(organisation_id: Param[str], action: Param[str], subject_id: Param[str]) -> Select:
    return (
        AuditRow.select(AuditRow.actor_id, AuditRow.occurred_at)
        .where(
            AuditRow.organisation_id == organisation_id,
            AuditRow.subject_id == subject_id,
            AuditRow.action == action,
        )
        .order_by(AuditRow.occurred_at.desc(), AuditRow.id.desc())
        .limit(1)
    )


_entry: Final = mapper(AuditEntry)


def _midnight(day: date) -> int:
    return (day.toordinal() - date(1970, 1, 1).toordinal()) * 86_400_000
