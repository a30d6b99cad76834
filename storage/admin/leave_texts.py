"""Removes what people typed about leave and time in lieu, wherever it is kept.

Days, types, statuses and dates stay, so that every balance stays as it was. Used when a person is
erased, and for leave that is older than the organisation keeps texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

import orjson
from peewee import Case, Update, fn

from storage.admin.personal_data import without_texts
from storage.base.leave_values import Approval
from storage.db import rows
from storage.db.compiled import (
    NOT_NULL,
    Engine,
    Expr,
    Param,
    any_of,
    compiled,
    compiled_per_engine,
    json_table,
    update_each,
)
from storage.db.database import Row, Transaction
from storage.db.tables import (
    AmendmentRow,
    AuditRow,
    DeliveryAttemptRow,
    DeliveryRow,
    EventRow,
    LeaveRequestRow,
    TimeCreditRow,
)


def remove(
    tx: Transaction,
    organisation_id: str,
    *,
    leave_ids: Sequence[str],
    credit_ids: Sequence[str],
    now: datetime,
) -> int:
    """Remove notes and reasons of leave and time credits; returns of how many there were any.

    Changed rows get a new version, so that integrations read them again. Call it with at most some
    thousands of ids, all of one organisation.
    """
    own = {"organisation_id": organisation_id}
    changed = tx.change(_leave, **own, ids=list(leave_ids), now=now)
    changed += tx.change(_credits, **own, ids=list(credit_ids), now=now)
    tx.update(
        AmendmentRow,
        {"note": None, "decision_reason": None},
        **own,
        leave_request_id=list(leave_ids),
    )
    approved = tx.select(AmendmentRow, **own, leave_request_id=list(leave_ids), approvals=NOT_NULL)
    if approved:
        without = [
            {**own, "id": row.id, "approvals": rows.json_text(_without_reasons(row))}
            for row in approved
        ]
        tx.change(_approvals, approvals=rows.json_text(without))
    return changed


def _without_reasons(row: Row) -> list[Approval]:
    """An amendment's approvals. That there was a reason decides what it is checked for."""
    return [
        each if each.override_reason is None else replace(each, override_reason="")
        for each in rows.amendment(row).approvals
    ]


def rewrite_events(
    tx: Transaction,
    organisation_id: str,
    subject_ids: Sequence[str],
    replaced: Mapping[str, object] = MappingProxyType({}),
) -> int:
    """Remove texts from the events of these requests and credits, and from what endpoints answered.

    ``replaced`` are other members of the events' data. Endpoints that have not been sent an event
    get the rewritten one. Returns how many events there were.
    """
    about = {"organisation_id": organisation_id, "leave_request_id": list(subject_ids)}
    events = tx.select(EventRow, **about)
    bodies = [
        {
            "organisation_id": organisation_id,
            "id": row.id,
            "body": orjson.dumps(without_texts(orjson.loads(bytes(row.body)), replaced)).decode(),
        }
        for row in events
    ]
    if bodies:
        tx.change(_bodies, bodies=orjson.dumps(bodies).decode())
        deliveries = [row.id for row in tx.select(DeliveryRow, **about)]
        tx.update(
            DeliveryAttemptRow,
            {"answer_excerpt": None},
            organisation_id=organisation_id,
            delivery_id=deliveries,
        )
    return len(events)


def rewrite_audit(tx: Transaction, organisation_id: str, subject_ids: Sequence[str]) -> None:
    """Remove texts from the audit entries about these requests and credits."""
    entries = tx.select(AuditRow, organisation_id=organisation_id, subject_id=list(subject_ids))
    write_changes(tx, organisation_id, {row.id: row.changes for row in entries})


def write_changes(
    tx: Transaction,
    organisation_id: str,
    changes: Mapping[str, str],
    replaced: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Write the changes of these audit entries, by their ids, without texts.

    ``replaced`` are other fields that are replaced.
    """
    rewritten: list[dict[str, str]] = []
    for entry_id, text in changes.items():
        before = orjson.loads(text)
        after = without_texts(before, replaced)
        if after != before:
            shown = orjson.dumps(after).decode()
            rewritten.append({"organisation_id": organisation_id, "id": entry_id, "changes": shown})
    if rewritten:
        tx.change(_changes, changes=orjson.dumps(rewritten).decode())


def has_text(column: Expr) -> Expr:
    return column.is_null(False) & (column != "")


@compiled
def _leave(organisation_id: Param[str], ids: Param[list[str]], now: Param[datetime]) -> Update:
    row = LeaveRequestRow
    changes: dict[str, object] = {
        "note": None,
        "decision_reason": None,
        # That there was a reason decides what the leave is checked for.
        "override_reason": Case(None, [(row.override_reason.is_null(False), "")]),
        "version": row.version + 1,
        "updated_at": now,
        "shown_updated_at": None,
    }
    texts = has_text(row.note) | has_text(row.decision_reason) | has_text(row.override_reason)
    query: Update = row.update(changes)
    return query.where(row.organisation_id == organisation_id, any_of(row.id, ids), texts)


@compiled
def _credits(organisation_id: Param[str], ids: Param[list[str]], now: Param[datetime]) -> Update:
    row = TimeCreditRow
    changes: dict[str, object] = {
        "reason": "",
        "decision_reason": None,
        "version": row.version + 1,
        "updated_at": now,
    }
    texts = has_text(row.reason) | has_text(row.decision_reason)
    query: Update = row.update(changes)
    return query.where(row.organisation_id == organisation_id, any_of(row.id, ids), texts)


@compiled
def _approvals(approvals: Param[str]) -> Update:
    query: Update = update_each(AmendmentRow, approvals, ["approvals"], {})
    return query


@compiled_per_engine
def _bodies(engine: Engine, bodies: Param[str]) -> Update:
    columns = {"organisation_id": "UUID", "id": "UUID", "body": "TEXT"}
    new = json_table(bodies, "new", columns)
    text = new.column("body")
    body = fn.convert_to(text, "UTF8") if engine == "postgresql" else text.cast("BLOB")
    query: Update = EventRow.update({"body": body}).from_(new)
    return query.where(
        EventRow.organisation_id == new.column("organisation_id"), EventRow.id == new.column("id")
    )


@compiled
def _changes(changes: Param[str]) -> Update:
    query: Update = update_each(AuditRow, changes, ["changes"], {})
    return query
