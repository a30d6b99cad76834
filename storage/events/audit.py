"""The audit trail: one entry for every change, written in the transaction that makes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, Protocol, TypeVar

import orjson

from storage.base.amounts import days_of
from storage.base.event_values import AuditAction
from storage.base.ids import new_id
from storage.base.values import Caller
from storage.db.database import Transaction
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
    """Write the change of a value. Without ``before`` it was created, without ``after`` deleted."""
    value = after or before
    assert value is not None
    record(
        tx,
        action,
        subject_type,
        value.id,
        by=by,
        now=now,
        before=None if before is None else {name: getattr(before, name) for name in fields},
        after=None if after is None else {name: getattr(after, name) for name in fields},
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
    if isinstance(value, int) and name.endswith(_HALF_DAYS):
        return days_of(value)
    return value
