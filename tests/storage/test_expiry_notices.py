"""Notices of days that lapse: once for each person, whatever runs beside or ends in between."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from storage.admin import allowances, organisation_settings, people
from storage.base.errors import NotFound
from storage.base.event_values import AuditAction
from storage.base.ids import new_id
from storage.base.values import User
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import ExpiryNoticeRow, NotificationRow
from storage.leave import lapsing_days, leave_types
from storage.leave.lapsing_days import ExpiryNotice
from storage.notifications import expiry_notices
from storage.notifications.slack_messages import PostedMessage
from storage.outbox import audit
from storage.people import people_changes
from storage.workspaces import slack_workspaces
from tests.builders import NOW, Acme, a_person, an_organisation, caller_for, type_id

pytestmark = pytest.mark.shared_database

MONDAY = datetime(2027, 1, 4, 9, 30, tzinfo=UTC)


def in_slack(database: Database, **settings: Any) -> Acme:
    acme = an_organisation(database, **{"carry_over_half_days": 10} | settings)
    team_id = f"T{new_id(NOW)[-12:]}"
    database.write_now(slack_workspaces.link, acme.organisation, team_id, source="cli", now=NOW)
    return acme


def check(database: Database, acme: Acme, now: datetime) -> bool:
    """The daily check, as the periodic job makes it; whether it was due."""
    if not database.write_now(expiry_notices.claim, acme.id, now=now):
        return False
    after_id = None
    while True:
        batch = database.read_now(expiry_notices.due_people, acme.id, after_id, now=now)
        database.write_now(expiry_notices.tell, acme.id, batch.notices, now=now)
        after_id = batch.after_id
        if after_id is None:
            break
    database.write_now(expiry_notices.finish, acme.id, now=now)
    return True


def notices(database: Database, acme: Acme, user: User) -> list[ExpiryNotice]:
    found = database.read_now(lapsing_days.of_people, acme.id, [user.id], date(2020, 1, 1))
    return found.get(user.id, [])


def told_on(database: Database, acme: Acme, user: User) -> list[tuple[str, str]]:
    return [(each.kind, each.told_on.isoformat()) for each in notices(database, acme, user)]


def queued(database: Database, acme: Acme) -> int:
    def count(tx: Transaction) -> int:
        return len(tx.select(NotificationRow, organisation_id=acme.id, kind="expiry_notice"))

    return database.read_now(count)


def audited(database: Database, acme: Acme, action: AuditAction) -> int:
    page = database.read_now(audit.entries, PageOf(limit=100), by=acme.caller, action=action)
    return len(page.items)


@pytest.mark.both_engines
def test_of_two_processes_one_tells_each_person(database: Database) -> None:
    acme = in_slack(database)
    for _ in range(5):
        a_person(database, acme)
    due = database.read_now(expiry_notices.due_people, acme.id, None, now=MONDAY).notices

    with ThreadPoolExecutor(4) as threads:
        told = list(
            threads.map(
                lambda _: database.write_now(expiry_notices.tell, acme.id, due, now=MONDAY),
                range(4),
            )
        )

    assert sorted(told) == [0, 0, 0, 6]
    assert queued(database, acme) == 6


@pytest.mark.both_engines
def test_a_check_that_was_killed_in_between_is_made_again(database: Database) -> None:
    acme = in_slack(database)
    first, second = acme.owner, a_person(database, acme)
    assert database.write_now(expiry_notices.claim, acme.id, now=MONDAY)
    due = database.read_now(expiry_notices.due_people, acme.id, None, now=MONDAY).notices
    database.write_now(expiry_notices.tell, acme.id, {first.id: due[first.id]}, now=MONDAY)

    too_early = check(database, acme, MONDAY + expiry_notices.LEASE - timedelta(minutes=1))
    again = check(database, acme, MONDAY + expiry_notices.LEASE + timedelta(minutes=1))

    assert (too_early, again) == (False, True)
    assert queued(database, acme) == 2
    assert [len(notices(database, acme, each)) for each in (first, second)] == [1, 1]


def test_a_check_that_goes_on_in_later_runs_is_kept_from_other_processes(
    database: Database,
) -> None:
    acme = in_slack(database)
    assert database.write_now(expiry_notices.claim, acme.id, now=MONDAY)

    later = MONDAY + expiry_notices.LEASE - timedelta(minutes=1)
    database.write_now(expiry_notices.go_on_later, acme.id, now=later)

    assert not check(database, acme, MONDAY + expiry_notices.LEASE + timedelta(minutes=1))


@pytest.mark.both_engines
def test_a_message_that_slack_took_twice_is_audited_once(database: Database) -> None:
    acme = in_slack(database)
    check(database, acme, MONDAY)
    (notice,) = notices(database, acme, acme.owner)
    sent = [(acme.id, notice.id, PostedMessage(channel="D1", ts="1.1"))]

    for _ in range(2):
        database.write_now(expiry_notices.record_sent, sent, now=MONDAY)
        database.write_now(expiry_notices.see, notice.id, by=acme.caller, now=MONDAY)

    assert audited(database, acme, "expiry_notice.sent") == 1
    assert audited(database, acme, "expiry_notice.seen") == 1


def test_a_notice_of_another_organisation_or_person_is_unknown(database: Database) -> None:
    acme, other = in_slack(database), in_slack(database)
    check(database, acme, MONDAY)
    (notice,) = notices(database, acme, acme.owner)
    colleague = caller_for(acme, a_person(database, acme))

    for by in (other.caller, colleague):
        with pytest.raises(NotFound):
            database.write_now(expiry_notices.see, notice.id, by=by, now=MONDAY)


def test_more_people_than_a_batch_are_told_with_few_queries(database: Database) -> None:
    acme = in_slack(database)
    new = [
        {"email": f"p{each}@x.ie", "first_name": f"P{each}", "last_name": "X"}
        for each in range(2 * expiry_notices.BATCH_SIZE + 50)
    ]
    acme.write(people_changes.add_all, new, "active")

    check(database, acme, MONDAY)

    assert queued(database, acme) == len(new) + 1


def test_each_person_hears_at_their_own_leave_year(database: Database) -> None:
    acme = in_slack(database, leave_year_type="anniversary")
    ada = a_person(database, acme, start_date=date(2024, 9, 21))

    for day in range(60):
        check(database, acme, datetime(2026, 9, 1, 9, 30, tzinfo=UTC) + timedelta(days=day))

    # 21 September 2026 is a Monday. Before, she would lose days of the year that ends then.
    assert told_on(database, acme, ada) == [
        ("reminder", "2026-09-01"),
        ("statement", "2026-09-21"),
    ]


def test_a_joiner_hears_on_their_first_working_day_and_a_leaver_nothing(
    database: Database,
) -> None:
    acme = in_slack(database)
    ada = a_person(database, acme, start_date=date(2026, 8, 1))
    paul = a_person(database, acme)
    acme.write(people.update, paul.id, {"end_date": date(2026, 11, 30)})

    for day in range(70):
        check(database, acme, datetime(2026, 7, 30, 9, 30, tzinfo=UTC) + timedelta(days=day))

    # Saturday 1 August; 5.5 of 10.5 days could be carried over.
    assert told_on(database, acme, ada) == [
        ("statement", "2026-08-03"),
        ("reminder", "2026-10-01"),
    ]
    assert notices(database, acme, paul) == []


def test_what_was_missed_is_told_once_when_the_process_runs_again(database: Database) -> None:
    acme = in_slack(database)
    check(database, acme, datetime(2026, 9, 30, 9, 30, tzinfo=UTC))

    check(database, acme, datetime(2026, 12, 3, 9, 30, tzinfo=UTC))
    check(database, acme, datetime(2026, 12, 4, 9, 30, tzinfo=UTC))
    check(database, acme, datetime(2027, 1, 20, 9, 30, tzinfo=UTC))

    assert told_on(database, acme, acme.owner) == [
        ("reminder", "2026-12-03"),
        ("statement", "2027-01-20"),
    ]


def test_switched_off_or_without_slack_no_one_is_told(database: Database) -> None:
    without_slack = an_organisation(database, carry_over_half_days=10)
    switched_off = in_slack(database)
    switched_off.write(organisation_settings.update, {"expiry_notices": False})

    due = database.read_now(expiry_notices.due_organisations, now=MONDAY)

    assert not {without_slack.id, switched_off.id} & {*due}
    assert not check(database, switched_off, MONDAY)


def test_a_notice_keeps_the_figures_that_it_told(database: Database) -> None:
    acme = in_slack(database)
    check(database, acme, MONDAY)
    (before,) = notices(database, acme, acme.owner)

    acme.write(
        organisation_settings.update,
        {"default_leave_allowance_half_days": 60},
        effective_from=date(2026, 1, 1),
        now=MONDAY,
    )

    (after,) = notices(database, acme, acme.owner)
    assert after == before
    assert after.contents[0].pot.granted_half_days == 50


def test_no_notice_is_stored_without_its_notification(database: Database) -> None:
    acme = in_slack(database)
    check(database, acme, MONDAY)

    def ids(tx: Transaction) -> tuple[set[str], set[str]]:
        stored = tx.select(ExpiryNoticeRow, organisation_id=acme.id)
        sent = tx.select(NotificationRow, organisation_id=acme.id, kind="expiry_notice")
        return {row.id for row in stored}, {row.expiry_notice_id for row in sent}

    stored, sent = database.read_now(ids)
    assert stored == sent
    assert len(stored) == 1


def test_sick_days_are_left_out(database: Database) -> None:
    acme = in_slack(database)
    sick, volunteering = (
        acme.write(allowances.create, {"name": name, "half_days_per_year": 20}).allowance
        for name in ("Sick days", "Volunteering")
    )
    changes = {"allowance_id": sick.id, "deducts_allowance": True, "allow_overdraft": True}
    acme.write(leave_types.update, type_id(database, acme, "sick"), changes)
    acme.write(leave_types.create, {"name": "Volunteering", "allowance_id": volunteering.id})

    check(database, acme, MONDAY)

    (notice,) = notices(database, acme, acme.owner)
    assert [each.allowance_id for each in notice.contents] == [acme.id, volunteering.id]
