"""Texts of leave are removed once they are older than the organisation keeps them."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import pytest

from storage.admin import allowances, leave_retention, organisation_settings
from storage.base.errors import InvalidInput
from storage.base.values import User
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import AmendmentRow, AuditRow, EventRow, LeaveRequestRow, TimeCreditRow
from storage.leave import decisions, leave_lists, leave_requests, time_credits
from storage.operations import pruning
from tests.builders import NOW, Acme, a_person, a_request, a_webhook, an_organisation, caller_for

TEXT: Final = "Hospital"
# A year and a day after the leave of 3 August 2026.
AFTERWARDS: Final = datetime(2027, 8, 4, 9, tzinfo=UTC)


def with_notes(database: Database, acme: Acme, first_day: date) -> User:
    """A person with leave on that day and the next, with texts wherever leave has them."""
    grace = a_person(database, acme, first_name="Grace", role="approver")
    ada = a_person(database, acme, manager_id=grace.id)
    by, boss = caller_for(acme, ada), caller_for(acme, grace)
    request = a_request(database, acme, ada, start_date=first_day, note=TEXT)
    database.write_now(decisions.approve, request.id, by=boss, now=NOW)
    longer = {"end_date": first_day + timedelta(days=1), "note": TEXT}
    database.write_now(leave_requests.edit, request.id, longer, by=by, now=NOW)
    database.write_now(decisions.decline, request.id, by=boss, reason=TEXT, now=NOW)
    shown = acme.write(allowances.create, {"name": f"Lieu {first_day}", "earnable": True})
    credit = database.write_now(
        time_credits.create,
        allowance_id=shown.allowance.id,
        worked_on=date(2026, 5, 30),
        days=1,
        reason=TEXT,
        by=by,
        now=NOW,
    )
    database.write_now(time_credits.decline, credit.id, reason=TEXT, by=boss, now=NOW)
    return ada


def texts(database: Database, acme: Acme) -> dict[str, int]:
    """In how many rows of each table the text is."""
    tables: tuple[Any, ...] = (LeaveRequestRow, AmendmentRow, TimeCreditRow, AuditRow, EventRow)
    found = {}
    for table in tables:
        rows = database.read_now(Transaction.select, table, organisation_id=acme.id)
        with_text = [row for row in rows if any(map(has_text, row))]
        found[table._meta.table_name] = len(with_text)
    return found


def has_text(value: Any) -> bool:
    if isinstance(value, (bytes, memoryview)):
        value = bytes(value).decode()
    return isinstance(value, str) and TEXT in value


def test_texts_are_kept_until_leave_is_old_enough(database: Database) -> None:
    acme = an_organisation(database, retention_months=12)
    other = an_organisation(database)
    a_webhook(database, acme)
    ada = with_notes(database, acme, date(2026, 8, 3))
    with_notes(database, other, date(2026, 8, 3))
    before, others_before = texts(database, acme), texts(database, other)
    assert all(before.values())

    # Twelve months after the leave ended it is still kept, and the time credit of May is not.
    asyncio.run(pruning.prune(database, now=AFTERWARDS - timedelta(days=1)))
    assert texts(database, acme)["leave_requests"] == 1
    assert texts(database, acme)["time_credits"] == 0
    asyncio.run(pruning.prune(database, now=AFTERWARDS))

    assert set(texts(database, acme).values()) == {0}
    assert texts(database, other)["leave_requests"] == others_before["leave_requests"]
    (leave,) = database.read_now(Transaction.select, LeaveRequestRow, user_id=ada.id)
    assert (leave.total_half_days, leave.status) == (2, "approved")


def test_integrations_that_ask_for_changes_hear_of_removed_texts(database: Database) -> None:
    acme = an_organisation(database, retention_months=12)
    ada = a_person(database, acme)
    noted = a_request(database, acme, ada, start_date=date(2026, 8, 3), note=TEXT)
    a_request(database, acme, ada, start_date=date(2026, 8, 4))

    asyncio.run(pruning.prune(database, now=AFTERWARDS))

    changed = acme.read(leave_lists.filtered, PageOf(limit=10), updated_since=AFTERWARDS)
    assert [(each.id, each.note, each.updated_at) for each in changed.items] == [
        (noted.id, None, AFTERWARDS)
    ]


def test_a_text_that_is_added_to_old_leave_goes_with_the_next_run(
    database: Database,
) -> None:
    acme = an_organisation(database, retention_months=1)
    ada = a_person(database, acme)
    request = a_request(database, acme, ada, start_date=date(2026, 7, 6))
    asyncio.run(pruning.prune(database, now=AFTERWARDS))
    acme.write(leave_requests.edit, request.id, {"note": TEXT}, now=AFTERWARDS)

    asyncio.run(pruning.prune(database, now=AFTERWARDS + timedelta(days=1)))

    assert texts(database, acme)["leave_requests"] == 0
    assert texts(database, acme)["audit_entries"] == 0


def test_a_run_of_the_same_day_has_nothing_to_do(database: Database) -> None:
    acme = an_organisation(database, retention_months=12)
    assert database.read_now(leave_retention.due, now=AFTERWARDS) == [acme.id]

    asyncio.run(pruning.prune(database, now=AFTERWARDS))

    assert database.read_now(leave_retention.due, now=AFTERWARDS) == []
    tomorrow = AFTERWARDS + timedelta(days=1)
    assert database.read_now(leave_retention.due, now=tomorrow) == [acme.id]


@pytest.mark.parametrize("months", [0, 241, True, "12"])
def test_the_time_is_one_month_to_twenty_years(database: Database, months: object) -> None:
    acme = an_organisation(database)

    with pytest.raises(InvalidInput) as refused:
        acme.write(organisation_settings.update, {"retention_months": months})

    assert [error.pointer for error in refused.value.errors] == ["/retention_months"]
