"""The reports: days of leave in a period, balances on a day, who reads them, and their formats."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.admin import closures, people, people_status
from storage.base.errors import DomainError
from storage.base.values import Caller, month_end
from storage.db.database import Database
from storage.leave import decisions, interruptions, leave_requests, ledgers
from storage.leave.drafts import Draft
from storage.leave.ledgers import Balance
from storage.people import people_changes
from storage.reports import balances as balance_report
from storage.reports import formats, reports
from storage.reports import leave as leave_report
from storage.reports.balances import BalanceReportRow
from storage.reports.formats import Format
from storage.reports.leave import LeaveReportRow
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_leave_type,
    a_person,
    a_request,
    an_organisation,
    approved_leave,
    caller_for,
    home_office,
    type_id,
)
from tests.refusals import codes_of
from tests.storage.office import LEAVE_YEARS, Office, an_office, drafts
from tests.storage.test_commands import ACME, Shell

pytestmark = pytest.mark.shared_database


def all_rows(database: Database, start: Any, *about: Any, by: Caller) -> list[Any]:
    run = database.read_now(start, *about, by=by, now=NOW)
    found: list[Any] = []
    while run is not None:
        batch = database.read_now(run.read)
        found += batch.rows
        run = batch.next
    return found


def leave_rows(
    database: Database, by: Caller, first_day: date, last_day: date
) -> list[LeaveReportRow]:
    return all_rows(database, leave_report.start, first_day, last_day, by=by)


def balance_rows(database: Database, by: Caller, on: date) -> list[BalanceReportRow]:
    return all_rows(database, balance_report.start, on, by=by)


def days(rows: list[LeaveReportRow]) -> dict[tuple[str, str], float]:
    return {(row.first_name, row.leave_type_code): row.half_days / 2 for row in rows}


def file_of(database: Database, by: Caller, format: Format, **period: date) -> bytes:
    run = database.read_now(
        leave_report.start,
        period.get("first_day"),
        period.get("last_day"),
        by=by,
        now=NOW,
    )
    first = database.read_now(formats.read, run, format)
    return b"".join(database.read_parts_now(first))


def test_days_are_cut_to_the_period(database: Database) -> None:
    acme = an_organisation(database, country_code="GB-ENG")
    ada = a_person(database, acme, employee_number="0042")
    approved_leave(database, acme, ada, date(2027, 5, 28), date(2027, 6, 3))

    may = leave_rows(database, acme.caller, date(2027, 5, 1), date(2027, 5, 31))
    june = leave_rows(database, acme.caller, date(2027, 6, 1), date(2027, 6, 30))

    assert (days(may), days(june)) == ({("Ada", "annual"): 1}, {("Ada", "annual"): 3})
    (row,) = may
    assert (row.employee_number, row.last_name, row.leave_type) == (
        "0042",
        "Lovelace",
        "Annual leave",
    )


def test_only_approved_leave_is_reported_with_halves_and_what_ended_it(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    grace = a_person(database, acme, first_name="Grace", working_days=["monday", "tuesday:am"])
    a_person(database, acme, first_name="Idle")
    home_office(database, acme)
    august = {"first_day": date(2026, 8, 1), "last_day": date(2026, 8, 31)}
    approved_leave(database, acme, ada, date(2026, 8, 3), date(2026, 8, 4), end_half_day="am")
    a_request(database, acme, ada, start_date=date(2026, 8, 10))
    cancelled = a_request(database, acme, ada, start_date=date(2026, 8, 11))
    acme.write(leave_requests.cancel, cancelled.id)
    declined = a_request(database, acme, ada, start_date=date(2026, 8, 12))
    acme.write(decisions.decline, declined.id, reason=None)
    a_request(database, acme, ada, start_date=date(2026, 8, 13), code="home-office")
    approved_leave(database, acme, grace, date(2026, 8, 3), date(2026, 8, 9))
    acme.write(
        leave_requests.create,
        draft=Draft(
            leave_type_id=type_id(database, acme, "unpaid"),
            start_date=date(2026, 8, 10),
            end_date=date(2026, 8, 16),
        ),
        user_id=grace.id,
    )

    rows = leave_rows(database, acme.caller, **august)

    assert days(rows) == {
        ("Ada", "annual"): 1.5,
        ("Ada", "home-office"): 1,
        ("Grace", "annual"): 1.5,
        ("Grace", "unpaid"): 1.5,
    }
    shown = {row.leave_type_code: (row.is_paid, row.is_away) for row in rows}
    assert shown == {"annual": (True, True), "home-office": (True, False), "unpaid": (False, True)}


def test_changed_working_days_closures_and_interruptions_count_as_they_are_now(
    database: Database,
) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    leave = approved_leave(database, acme, ada, date(2026, 8, 3), date(2026, 8, 14))
    sick = Draft(
        leave_type_id=type_id(database, acme, "sick"),
        start_date=date(2026, 8, 5),
        end_date=date(2026, 8, 6),
    )
    acme.write(interruptions.interrupt, leave.id, sick)
    closure = {
        "name": "Summer",
        "leave_type_id": type_id(database, acme),
        "start_date": date(2026, 8, 27),
        "end_date": date(2026, 8, 28),
    }
    acme.write(closures.create, closure)
    week = ["monday", "tuesday", "wednesday", "thursday"]
    changes = {"working_days": week, "effective_from": date(2026, 8, 10)}
    acme.write(people.update, ada.id, changes)

    rows = leave_rows(database, acme.caller, date(2026, 8, 1), date(2026, 8, 31))

    found = {key: value for key, value in days(rows).items() if key[0] == "Ada"}
    # 3, 4, 7 and 10 to 13 August, and the 27th.
    assert found == {("Ada", "annual"): 8, ("Ada", "sick"): 2}


def test_people_who_left_are_reported_where_they_were_employed(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, end_date=date(2026, 7, 31))
    approved_leave(database, acme, ada, date(2026, 7, 6), date(2026, 7, 7))
    acme.write(people_status.archive, ada.id, now=NOW.replace(month=8))
    gone = a_person(database, acme, first_name="Gone")
    acme.write(people_status.archive, gone.id)

    def names(rows: Sequence[LeaveReportRow | BalanceReportRow]) -> set[str]:
        return {row.first_name for row in rows}

    assert names(leave_rows(database, acme.caller, date(2026, 7, 1), date(2026, 7, 31))) == {"Ada"}
    assert names(balance_rows(database, acme.caller, date(2026, 12, 31))) == {"Ada", "Olive"}
    assert names(balance_rows(database, acme.caller, date(2027, 1, 1))) == {"Olive"}


def test_admins_read_everyone_and_approvers_their_people(database: Database) -> None:
    acme = an_organisation(database)
    engineering = a_department(database, acme)
    grace = a_person(database, acme, first_name="Grace", role="approver")
    ada = a_person(database, acme, manager_id=grace.id, department_id=engineering.id)
    bob = a_person(database, acme, first_name="Bob")
    for person in (grace, ada, bob):
        approved_leave(database, acme, person)
    august = date(2026, 8, 1), date(2026, 8, 31)

    def names(by: Caller) -> tuple[list[str], list[str]]:
        return (
            [row.first_name for row in leave_rows(database, by, *august)],
            [row.first_name for row in balance_rows(database, by, august[1])],
        )

    everyone = ["Grace", "Ada", "Bob"]
    assert names(acme.caller) == (everyone, ["Olive", *everyone])
    assert names(caller_for(acme, grace)) == (["Ada"], ["Ada"])
    assert leave_rows(database, caller_for(acme, grace), *august)[0].department == "Engineering"
    assert (
        codes_of(
            lambda: leave_rows(database, caller_for(acme, bob), *august),
            lambda: balance_rows(database, caller_for(acme, bob), august[1]),
        )
        == ["insufficient_role"] * 2
    )


def test_the_period_is_last_month_unless_it_is_given(database: Database, acme: Acme) -> None:
    def period(first_day: date | None, last_day: date | None) -> tuple[date, date]:
        found = acme.read(reports.period, first_day, last_day, now=NOW)
        return found.first_day, found.last_day

    assert period(None, None) == (date(2026, 5, 1), date(2026, 5, 31))
    assert period(date(2028, 2, 10), None) == (date(2028, 2, 10), date(2028, 2, 29))
    assert period(None, date(2026, 12, 24)) == (date(2026, 12, 1), date(2026, 12, 24))
    assert codes_of(
        lambda: period(date(2026, 2, 2), date(2026, 2, 1)),
        lambda: period(date(2026, 1, 1), date(2027, 1, 2)),
    ) == ["to_before_from", "too_long"]


def test_a_name_is_never_a_formula_and_a_file_opens_in_spreadsheets(database: Database) -> None:
    acme = an_organisation(database)
    hostile = a_department(database, acme, name="=cmd|' /C calc'!A0")
    ada = a_person(
        database,
        acme,
        first_name="@SUM(1+1)",
        last_name='-2", Łódź',
        email="ada@x.ie",
        department_id=hostile.id,
        employee_number="+49",
    )
    study = a_leave_type(database, acme, name="＝Study", code="study", requires_approval=False)
    approved_leave(database, acme, ada, date(2026, 5, 6), end_half_day="am", code=study.code)

    content = file_of(database, acme.caller, "csv")
    text = content.decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(text, newline=""))

    assert content.startswith(b"\xef\xbb\xbfemployee_number,last_name,first_name,department,")
    assert row == {
        "employee_number": "'+49",
        "last_name": "'-2\", Łódź",
        "first_name": "'@SUM(1+1)",
        "department": "'=cmd|' /C calc'!A0",
        "leave_type": "'＝Study",
        "leave_type_code": "study",
        "is_paid": "true",
        "is_away": "true",
        "days": "0.5",
        "user_id": ada.id,
    }
    (told,) = orjson.loads(file_of(database, acme.caller, "json"))["data"]
    assert (told["first_name"], told["days"]) == ("@SUM(1+1)", 0.5)


def test_a_negative_amount_is_a_number_in_a_file(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, leave_allowance_half_days=0)
    draft = Draft(
        leave_type_id=type_id(database, acme),
        start_date=date(2026, 8, 3),
        end_date=date(2026, 8, 4),
    )
    acme.write(leave_requests.create, draft=draft, user_id=ada.id, override_reason="Promised")

    run = database.read_now(balance_report.start, None, by=acme.caller, now=NOW)
    text = database.read_now(formats.read, run, "csv").content.decode("utf-8-sig")

    ada_row = list(csv.DictReader(io.StringIO(text, newline="")))[1]
    assert (ada_row["booked"], ada_row["left"]) == ("2", "-2")


def test_every_batch_is_in_the_file(database: Database) -> None:
    acme = an_organisation(database)
    department = a_department(database, acme, name="Sales")
    names = [f"p{number}" for number in range(2 * reports.BATCH_SIZE + 1)]

    new = [
        {
            "email": f"{name}@x.ie",
            "first_name": name,
            "last_name": "X",
            "department_id": department.id,
        }
        for name in names
    ]
    acme.write(people_changes.add_all, new, "active")

    rows = balance_rows(database, acme.caller, NOW.date())
    run = database.read_now(balance_report.start, None, by=acme.caller, now=NOW)
    parts = [*database.read_parts_now(database.read_now(formats.read, run, "json"))]

    assert Counter(row.first_name for row in rows) == Counter(["Olive", *names])
    assert len(parts) == 3
    told = orjson.loads(b"".join(parts))
    assert [row["first_name"] for row in told["data"]] == [row.first_name for row in rows]


def check_reports_agree(office: Office, years: range) -> None:
    """Months add up to years, and both to what the ledgers say."""
    database, by = office.database, office.owner
    for year in years:
        whole = Counter[tuple[str, str]]()
        monthly = Counter[tuple[str, str]]()
        for row in leave_rows(database, by, date(year, 1, 1), date(year, 12, 31)):
            whole[row.user_id, row.leave_type_code] += row.half_days
        for month in range(1, 13):
            first_day = date(year, month, 1)
            for row in leave_rows(database, by, first_day, month_end(first_day)):
                monthly[row.user_id, row.leave_type_code] += row.half_days
        assert monthly == whole
    for on in (*office.year_ends, NOW.date()):
        told = {(row.user_id, row.allowance): row for row in balance_rows(database, by, on)}
        for person in office.people:
            for balance in database.read_now(ledgers.balances, person.id, on=on, by=by, now=NOW):
                check_balance(office, told.pop((person.id, balance.allowance.name)), balance)
        assert not {user_id for user_id, _ in told} & {person.id for person in office.people}


def check_balance(office: Office, told: BalanceReportRow, balance: Balance) -> None:
    assert told.left_half_days == balance.remaining_half_days
    assert told.taken_half_days + told.booked_half_days == balance.taken_half_days
    assert told.pending_half_days == balance.pending_half_days
    net = told.entitled_half_days + told.carried_half_days - told.expired_half_days
    assert net == balance.entitled_half_days
    in_year = leave_rows(office.database, office.owner, told.year_start, told.year_end)
    drawn = [
        row.half_days
        for row in in_year
        if row.user_id == told.user_id and row.leave_type_code in ("annual", "care")
    ]
    assert sum(drawn) == balance.taken_half_days


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    leave_years=st.sampled_from(sorted(LEAVE_YEARS)),
    carry_over=st.sampled_from([0, 3]),
    expiry_month=st.sampled_from([None, 3]),
    booked=st.lists(st.tuples(st.integers(0, 1), drafts), min_size=2, max_size=10),
)
def test_months_add_up_to_the_year_and_agree_with_every_balance(
    database: Database,
    leave_years: str,
    carry_over: int,
    expiry_month: int | None,
    booked: list[tuple[int, dict[str, Any]]],
) -> None:
    office = an_office(
        database,
        leave_years=leave_years,
        allowance=20,
        carry_over=carry_over,
        expiry_month=expiry_month,
    )
    for who, drawn in booked:
        try:
            database.write_now(
                leave_requests.create,
                draft=office.draft(drawn),
                user_id=office.people[who].id,
                by=office.owner,
                now=NOW,
            )
        except DomainError:  # Refused leave is not booked.
            continue

    check_reports_agree(office, range(2025, 2028))


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    assert shell.run("migrate").exit_code == 0
    shell.json_of(*ACME)
    return shell


def test_the_command_writes_what_rest_answers(shell: Shell, tmp_path: Path) -> None:
    output = tmp_path / "balances.csv"

    printed = shell.run("report", "balances", "--on", "2026-12-31", "--organisation", "acme")
    written = shell.run("report", "balances", "--on", "2026-12-31", "--output", str(output))
    again = shell.run("report", "balances", "--output", str(output))
    leave = shell.run("report", "leave", "--from", "2026-05-01", "--format", "json")

    assert (printed.exit_code, written.exit_code, written.stdout) == (0, 0, "")
    assert output.read_bytes() == printed.stdout_bytes
    assert output.stat().st_mode & 0o777 == 0o600
    assert (again.exit_code, again.stderr) == (
        1,
        f"{output} exists already. Choose another name.\n",
    )
    assert json.loads(leave.stdout) == {"from": "2026-05-01", "to": "2026-05-31", "data": []}
    reversed_days = shell.run("report", "leave", "--from", "2026-05-02", "--to", "2026-05-01")
    assert (reversed_days.exit_code, reversed_days.stdout_bytes) == (1, b"")
    assert "The last day is before the first day." in reversed_days.stderr


@pytest.mark.slow
def test_five_thousand_people_need_no_more_memory_than_a_few_hundred(database: Database) -> None:
    acme = an_organisation(database)

    def add_people(numbers: range) -> None:
        for start in range(numbers.start, numbers.stop, 500):
            new = [
                {"email": f"p{number}@x.ie", "first_name": f"P{number}", "last_name": "X"}
                for number in range(start, min(start + 500, numbers.stop))
            ]
            acme.write(people_changes.add_all, new, "active")

    def peak_bytes() -> int:
        """Of a report that is sent part by part."""
        tracemalloc.start()
        run = database.read_now(balance_report.start, None, by=acme.caller, now=NOW)
        first = database.read_now(formats.read, run, "csv")
        rows = sum(part.count(b"\r\n") for part in database.read_parts_now(first))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # With the header and the owner.
        assert rows == people_count + 2
        return peak

    people_count = 2 * reports.BATCH_SIZE
    add_people(range(people_count))
    # The first run fills caches.
    peak_bytes()
    few = peak_bytes()
    add_people(range(people_count, 5_000))
    people_count = 5_000

    assert peak_bytes() < 1.5 * few
