"""Balances with their ledger lines, who may see them, and adjustments."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from storage.admin import organisation_settings
from storage.base.allowance_values import Amount
from storage.base.errors import InsufficientRole, NotFound
from storage.base.leave_values import Adjustment
from storage.base.values import User
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import adjustments, ledgers
from storage.leave.ledgers import Balance
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    a_request,
    an_organisation,
    approved_leave,
    audit_entries,
    caller_for,
)
from tests.refusals import codes_of, errors_of

pytestmark = pytest.mark.shared_database


def balance_of(
    database: Database, acme: Acme, user: User, on: date | None = None, by: User | None = None
) -> Balance:
    caller = acme.caller if by is None else caller_for(acme, by)
    balance = database.read_now(ledgers.balance, user.id, on=on, by=caller, now=NOW)
    assert sum(line.half_days for line in balance.lines) == balance.remaining_half_days
    remaining = balance.entitled_half_days - balance.taken_half_days - balance.pending_half_days
    assert remaining == balance.remaining_half_days
    return balance


def an_adjustment(database: Database, acme: Acme, user: User, **more: Any) -> Adjustment:
    values: dict[str, Any] = {"half_days": 3, "reason": "Overtime", "leave_year": 2026, **more}
    return database.write_now(adjustments.add, user.id, by=acme.caller, now=NOW, **values)


def shown(balance: Balance) -> list[tuple[str, Amount]]:
    return [(line.type, line.half_days) for line in balance.lines]


def test_a_ledgers_lines_add_up_to_what_remains(database: Database, acme: Acme) -> None:
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id, start_date=date(2026, 7, 1))
    waiting = a_request(database, acme, ada, start_date=date(2026, 8, 3), end_date=date(2026, 8, 4))
    approved = approved_leave(database, acme, ada, start_date=date(2026, 9, 1), start_half_day="pm")
    a_request(database, acme, ada, start_date=date(2026, 9, 3), code="sick")
    added = an_adjustment(database, acme, ada)

    balance = balance_of(database, acme, ada)

    assert shown(balance) == [
        ("allowance", 50),
        ("pro_rata", -24),
        ("adjustment", 3),
        ("leave", -4),
        ("leave", -1),
    ]
    assert (balance.lines[0].source, balance.lines[1].day) == ("organisation", date(2026, 7, 1))
    assert balance.lines[2].adjustment == added
    assert [line.leave.id for line in balance.lines if line.leave] == [waiting.id, approved.id]
    assert (balance.taken_half_days, balance.pending_half_days) == (1, 4)
    assert (balance.entitled_half_days, balance.remaining_half_days) == (29, 24)
    assert balance.year.name == "2026"
    assert balance.working_days == ("monday", "tuesday", "wednesday", "thursday", "friday")


@pytest.mark.parametrize(
    ("own", "of_department", "half_days", "source"),
    [(60, 40, 60, "user"), (0, 40, 0, "user"), (None, 40, 40, "department"),
     (None, None, 50, "organisation")],
)  # fmt: skip
def test_the_most_specific_allowance_applies(
    database: Database, own: int | None, of_department: int | None, half_days: int, source: str
) -> None:
    acme = an_organisation(database)
    team = a_department(database, acme, default_leave_allowance_half_days=of_department)
    ada = a_person(database, acme, department_id=team.id, leave_allowance_half_days=own)

    (line,) = balance_of(database, acme, ada).lines

    assert (line.half_days, line.source) == (half_days, source)


@pytest.mark.parametrize(
    ("settings", "start_date", "on", "name", "granted"),
    [
        ({"leave_year_type": "calendar"}, None, date(2026, 12, 31), "2026", 50),
        (
            {"leave_year_type": "fiscal", "leave_year_start_month": 4, "leave_year_start_day": 6},
            date(2026, 4, 7),
            date(2027, 4, 5),
            "2026/27",
            50,
        ),
        (
            {"leave_year_type": "fiscal", "leave_year_start_month": 4, "leave_year_start_day": 6},
            date(2026, 10, 6),
            date(2026, 4, 6),
            "2026/27",
            25,
        ),
        ({"leave_year_type": "anniversary"}, date(2024, 2, 29), date(2027, 2, 28), "2027/28", 50),
        ({"leave_year_type": "anniversary"}, date(2024, 2, 29), date(2027, 2, 27), "2026/27", 50),
    ],
)
def test_a_balance_follows_the_type_of_leave_year(
    database: Database,
    settings: dict[str, Any],
    start_date: date | None,
    on: date,
    name: str,
    granted: int,
) -> None:
    acme = an_organisation(database, **settings)
    ada = a_person(database, acme, start_date=start_date)

    balance = balance_of(database, acme, ada, on)

    assert (balance.year.name, balance.remaining_half_days) == (name, granted)


def test_nothing_is_carried_over_from_years_before_a_person_was_created(
    database: Database,
) -> None:
    acme = an_organisation(database, carry_over_half_days=10)
    ada = a_person(database, acme, start_date=date(2001, 1, 1))

    assert shown(balance_of(database, acme, ada)) == [("allowance", 50)]
    assert shown(balance_of(database, acme, ada, date(2027, 1, 1)))[1] == ("carry_over", 10)


def test_an_adjustment_stays_in_its_leave_year_when_leave_years_move(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, start_date=date(2021, 9, 15))
    an_adjustment(database, acme, ada)
    move = {"leave_year_type": "anniversary"}
    database.write_now(organisation_settings.update, move, by=acme.caller, now=NOW)

    assert shown(balance_of(database, acme, ada, date(2026, 9, 14)))[1:] == []
    assert shown(balance_of(database, acme, ada, date(2026, 9, 15)))[1:] == [("adjustment", 3)]


def test_adjustments_are_listed_newest_first_and_audited(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    first = an_adjustment(database, acme, ada, leave_year=2025)
    second = an_adjustment(database, acme, ada, half_days=-3, reason="  Wrong person ")

    page = database.read_now(
        adjustments.page, ada.id, PageOf(limit=1), by=caller_for(acme, ada), now=NOW
    )
    rest = database.read_now(
        adjustments.page, ada.id, PageOf(limit=1, cursor=page.next_cursor), by=acme.caller, now=NOW
    )

    assert [*page.items, *rest.items] == [second, first]
    assert rest.next_cursor is None
    assert second.reason == "Wrong person"
    (entry,) = audit_entries(database, acme.caller, subject_id=second.id)
    assert entry.action == "allowance_adjustment.created"
    assert entry.changes["days"] == {"before": None, "after": -1.5}
    assert entry.changes["user_id"]["after"] == ada.id


def test_invalid_adjustments_are_refused(database: Database, acme: Acme, ada: User) -> None:
    def errors(**wrong: Any) -> list[tuple[str, str]]:
        return errors_of(lambda: an_adjustment(database, acme, ada, **wrong))

    assert errors(reason="   ") == [("/reason", "required")]
    assert errors(reason="x" * 501) == [("/reason", "invalid_length")]
    assert errors(leave_year=2047) == [("/leave_year", "out_of_range")]
    assert errors(leave_year=9999) == [("/leave_year", "out_of_range")]
    assert shown(balance_of(database, acme, ada)) == [("allowance", 50)]


@pytest.mark.slow
def test_a_leave_year_has_a_bounded_number_of_adjustments(
    database: Database, acme: Acme, ada: User
) -> None:
    def fill(tx: Any) -> None:
        for _ in range(ledgers.MAX_ADJUSTMENTS):
            adjustments.add(
                tx, ada.id, half_days=1, reason="x", leave_year=2026, by=acme.caller, now=NOW
            )

    database.write_now(fill)

    assert codes_of(lambda: an_adjustment(database, acme, ada)) == ["too_many_adjustments"]
    an_adjustment(database, acme, ada, leave_year=2027)
    balance = balance_of(database, acme, ada)
    assert balance.remaining_half_days == 50 + ledgers.MAX_ADJUSTMENTS


def test_only_admins_add_adjustments(database: Database, acme: Acme) -> None:
    grace = a_person(database, acme, first_name="Grace", role="approver")
    ada = a_person(database, acme, manager_id=grace.id)

    with pytest.raises(InsufficientRole):
        database.write_now(
            adjustments.add,
            ada.id,
            half_days=2,
            reason="Kind",
            leave_year=2026,
            by=caller_for(acme, grace),
            now=NOW,
        )


def test_a_balance_is_visible_to_the_person_approvers_and_admins(database: Database) -> None:
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    hedy = a_person(database, acme, first_name="Hedy")

    for viewer in (ada, grace, acme.owner):
        assert balance_of(database, acme, ada, by=viewer).remaining_half_days == 50
    for viewer, whose in ((hedy, ada), (ada, grace)):
        with pytest.raises(InsufficientRole):
            balance_of(database, acme, whose, by=viewer)


def test_the_balance_of_another_organisations_person_is_not_found(database: Database) -> None:
    acme, globex = an_organisation(database), an_organisation(database, name="Globex")
    eve = a_person(database, globex)

    with pytest.raises(NotFound):
        balance_of(database, acme, eve)
    with pytest.raises(NotFound):
        an_adjustment(database, acme, eve)


def test_a_day_beyond_reach_is_refused(database: Database) -> None:
    acme = an_organisation(database, carry_over_half_days=4)

    for year in (2005, 2047, 9999):
        errors = errors_of(lambda y=year: balance_of(database, acme, acme.owner, date(y, 6, 1)))  # type: ignore[misc]
        assert errors == [("?on", "out_of_range")]
    assert balance_of(database, acme, acme.owner, date(2046, 12, 31)).remaining_half_days == 54


def test_the_organisations_date_decides_when_a_person_was_created(database: Database) -> None:
    # At 11:30 in London it is 2027 in Auckland already.
    new_year = datetime(2026, 12, 31, 11, 30, tzinfo=UTC)
    acme = an_organisation(
        database, timezone="Pacific/Auckland", carry_over_half_days=10, now=new_year
    )
    ada = a_person(database, acme, now=new_year)

    assert shown(balance_of(database, acme, ada, date(2027, 6, 1))) == [("allowance", 50)]
