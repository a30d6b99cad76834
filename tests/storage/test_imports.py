"""A company's spreadsheet: its people, what they have left, and the leave that is booked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest

from storage.base.allowance_values import Amount
from storage.base.errors import InsufficientRole, InvalidInput
from storage.base.values import Caller, User
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import leave_lists, leave_requests, ledgers, opening_figures
from storage.operations import imports
from storage.operations.csv_file import BadLines, Options
from storage.operations.imports import Imported
from storage.people import people_lists
from tests.builders import (
    NOW,
    Acme,
    a_person,
    a_request,
    a_webhook,
    an_organisation,
    audit_entries,
    caller_for,
)
from tests.storage.test_allowances import an_allowance
from tests.storage.test_commands import ACME, Shell

TODAY = NOW.date()
JUNE = Options(days_left_on=TODAY)


def bring_in(
    database: Database,
    acme: Acme,
    text: str | bytes,
    options: Options = JUNE,
    *,
    by: Caller | None = None,
) -> Imported:
    content = text if isinstance(text, bytes) else text.encode()
    file = imports.read(content, options)
    return database.write_now(
        imports.run, file, options, by=by or acme.caller, now=NOW, progress=lambda _: None
    )


def faults(call: Any) -> list[tuple[int, str | None, str | None, str]]:
    with pytest.raises(BadLines) as bad:
        call()
    return [(each["line"], each["column"], each["value"], each["code"]) for each in bad.value.lines]


def people_of(acme: Acme) -> dict[str, User]:
    return {user.email: user for user in acme.read(people_lists.list_all)}


def leave_of(acme: Acme) -> Sequence[Any]:
    found = acme.read(leave_lists.visible, PageOf(limit=100), now=NOW)
    return sorted(found.items, key=lambda each: each.start_date)


def left(database: Database, acme: Acme, user: User, allowance_id: str | None = None) -> float:
    for each in database.read_now(ledgers.balances, user.id, on=TODAY, by=acme.caller, now=NOW):
        if allowance_id in (None, each.allowance.id):
            return float(each.remaining_half_days) / 2
    raise AssertionError("The person has no such balance.")


class Spreadsheet:
    """Forty people with what they had left on 1 June, leave before and leave after it."""

    def __init__(self) -> None:
        self.left = {f"p{n}@x.example": 8 + n / 4 * 2 for n in range(40)}
        self.later_days = {f"p{n}@x.example": n % 5 + 1 for n in range(40)}

    def people(self) -> str:
        lines = [
            f"p{n}@x.example,First{n},Last{n},Dept {n % 4},"
            f"{'' if n < 4 else f'p{n % 4}@x.example'},2020-01-01,{self.left[f'p{n}@x.example']:g}"
            for n in range(40)
        ]
        header = "email,first_name,last_name,department,manager_email,start_date,days_left"
        return "\n".join([header, *lines])

    def leave(self) -> str:
        lines = ["email,leave_type,start_date,end_date,end_half_day,status,reason"]
        for n, email in enumerate(self.left):
            # Monday 2 February on, and Monday 3 August on, without public holidays.
            lines.append(f"{email},annual,2026-02-02,2026-02-{2 + n % 5:02},,approved,")
            end = 2 + self.later_days[email]
            lines.append(f"{email},Annual leave,2026-08-03,2026-08-{end:02},,Approved,Sea")
            lines.append(f"{email},annual,2026-10-05,2026-10-05,,declined,")
        return "\n".join(lines).replace("reason", "note")

    def expected(self) -> dict[str, float]:
        return {email: self.left[email] - self.later_days[email] for email in self.left}


@pytest.mark.parametrize("order", ["people first", "leave first"])
def test_forty_people_have_the_balance_of_their_spreadsheet(
    database: Database, acme: Acme, order: str
) -> None:
    sheet = Spreadsheet()
    if order == "leave first":
        without = sheet.people().replace(",days_left", "").splitlines()
        names = "\n".join([without[0], *(line.rpartition(",")[0] for line in without[1:])])
        bring_in(database, acme, names)
        booked = bring_in(database, acme, sheet.leave())
        done = bring_in(database, acme, sheet.people())
        assert (done.people_unchanged, done.days_left_set) == (40, 40)
    else:
        done = bring_in(database, acme, sheet.people())
        assert (done.people_created, done.departments_created, done.days_left_set) == (40, 4, 40)
        booked = bring_in(database, acme, sheet.leave())

    assert (booked.leave_created, booked.leave_known, booked.leave_left_out) == (80, 0, 40)
    people = people_of(acme)
    balances = {email: left(database, acme, people[email]) for email in sheet.left}
    assert balances == sheet.expected()

    # The same files again, in any order, change nothing.
    entries = len(audit_entries(database, acme.caller))
    again = bring_in(database, acme, sheet.leave())
    same = bring_in(database, acme, sheet.people())
    assert (again.leave_created, again.leave_known) == (0, 80)
    assert (same.people_created, same.people_unchanged) == (0, 40)
    assert (same.days_left_set, same.days_left_known) == (0, 40)
    assert len(audit_entries(database, acme.caller)) == entries
    assert {email: left(database, acme, people[email]) for email in sheet.left} == balances


def test_imported_leave_is_approved_audited_and_told_to_receivers_of_events(
    database: Database, acme: Acme
) -> None:
    a_webhook(database, acme)
    ada = a_person(database, acme, email="ada@x.example")
    bring_in(
        database,
        acme,
        "email,leave_type,start_date,end_date,start_half_day,end_half_day,note\n"
        "ADA@x.example,annual,2026-08-03,2026-08-05,pm,am,Sea\n"
        "ada@x.example,sick,2026-02-02,,morning,,\n",
    )

    sick, annual = leave_of(acme)
    assert (annual.status, annual.total_half_days, annual.note) == ("approved", 4, "Sea")
    assert (annual.recorded_by, annual.decided_by) == (acme.owner.id, acme.owner.id)
    assert (sick.end_date, sick.start_half_day, sick.total_half_days) == (
        date(2026, 2, 2),
        "am",
        1,
    )
    assert left(database, acme, ada) == 25 - 2
    approved = [
        entry
        for entry in audit_entries(database, acme.caller)
        if entry.action == "leave_request.approved"
    ]
    assert len(approved) == 2
    assert "imported" in str(approved[0].changes)


def test_pending_leave_waits_for_its_approver(database: Database, acme: Acme) -> None:
    a_person(database, acme, email="ada@x.example")
    bring_in(
        database,
        acme,
        "email,leave_type,start_date,end_date,status\n"
        "ada@x.example,annual,2026-08-03,2026-08-07,requested\n"
        "ada@x.example,sick,2026-09-07,2026-09-08,pending\n",
    )

    annual, sick = leave_of(acme)
    assert (annual.status, annual.decided_by) == ("pending", None)
    # Its type needs no approval.
    assert sick.status == "approved"


def test_cancelled_leave_does_not_come_back_with_the_same_file(
    database: Database, acme: Acme
) -> None:
    a_person(database, acme, email="ada@x.example")
    text = "email,leave_type,start_date,end_date\nada@x.example,annual,2026-08-03,2026-08-07\n"
    bring_in(database, acme, text)
    (imported,) = leave_of(acme)
    acme.write(leave_requests.cancel, imported.id)

    again = bring_in(database, acme, text)

    assert (again.leave_created, again.leave_known) == (0, 1)


def test_leave_before_figures_that_slack_saved_is_part_of_them(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme, first_name="Ada", last_name="Lovelace", email="ada@x.example")
    entries = opening_figures.entries_of("Ada Lovelace;12,5")

    def reason_of(half_days: Amount) -> str:
        return f"{float(half_days) / 2:g} left"

    acme.write(opening_figures.save, entries, TODAY, reason_of=reason_of)
    bring_in(
        database,
        acme,
        # Four working days before Monday 1 June, and one after it: Thursday is counted, too.
        "email,leave_type,start_date,end_date\nada@x.example,annual,2026-05-26,2026-06-01\n"
        "ada@x.example,sick,2026-04-07,2026-04-08\n",
    )

    assert left(database, acme, ada) == 12.5 - 1


def test_each_allowance_has_its_own_figure(database: Database, acme: Acme) -> None:
    volunteering = an_allowance(database, acme, half_days_per_year=4)
    bring_in(
        database,
        acme,
        "name;email;days_left;days_left:volunteering;days_left_on\n"
        "Lovelace, Ada;ada@x.example;12,5;1,5;01.06.2026\n"
        "Grace Brewster Hopper;grace@x.example;-1;;01.06.2026\n",
        Options(),
    )

    people = people_of(acme)
    ada, grace = people["ada@x.example"], people["grace@x.example"]
    assert (ada.first_name, ada.last_name) == ("Ada", "Lovelace")
    assert (grace.first_name, grace.last_name) == ("Grace", "Brewster Hopper")
    assert (left(database, acme, ada), left(database, acme, grace)) == (12.5, -1)
    assert left(database, acme, ada, volunteering) == 1.5
    assert left(database, acme, grace, volunteering) == 2


def test_a_file_of_what_known_people_have_left_needs_no_names(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme, email="ada@x.example")

    done = bring_in(database, acme, "email,days_left\nada@x.example,7\n")

    assert (done.people_unchanged, done.days_left_set) == (1, 1)
    assert left(database, acme, ada) == 7


def test_ten_different_errors_of_people_are_told_in_one_round(
    database: Database, acme: Acme
) -> None:
    a_person(database, acme, email="known@x.example", first_name="Kim", last_name="Known")
    text = (
        "email,first_name,last_name,role,start_date,leave_allowance,manager_email,days_left,shoe\n"
        "nowhere,Ada,A,,,,,1,\n"
        "b@x.example,=1+1,B,,,,,1,\n"
        "c@x.example,C,C,boss,,,,1,\n"
        "d@x.example,D,D,,31.02.2026,,,1,\n"
        "e@x.example,E,E,,,lots,,1,\n"
        "f@x.example,F,F,,,,gone@x.example,1,\n"
        "g@x.example,G,G,,,,,1.2.3,\n"
        "g@x.example,H,H,,2026-07-01,,,1,\n"
        "known@x.example,Kim,Other,,,,,1,\n"
        "j@x.example,J,J,,,,,0.25,\n"
    )

    found = faults(lambda: bring_in(database, acme, text))

    assert found == [
        (1, "shoe", None, "wrong_columns"),
        (2, "email", "nowhere", "invalid_email"),
        (3, "first_name", "=1+1", "formula"),
        (4, "role", "boss", "unknown_role"),
        (5, "start_date", "31.02.2026", "invalid_date"),
        (6, "leave_allowance", "lots", "not_a_number"),
        (7, "manager_email", "gone@x.example", "not_found"),
        (8, "days_left", "1.2.3", "not_a_number"),
        (9, "email", "g@x.example", "repeated_email"),
        (10, "email", "known@x.example", "email_taken"),
        (11, "days_left", "0.25", "invalid_days"),
    ]
    assert len(people_of(acme)) == 2


def test_ten_different_errors_of_leave_are_told_in_one_round(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme, email="ada@x.example", start_date=date(2026, 1, 5))
    a_request(database, acme, ada, start_date=date(2026, 9, 7), end_date=date(2026, 9, 8))
    text = (
        "email,leave_type,start_date,end_date,start_half_day,status,amount\n"
        "who@x.example,annual,2026-08-03,2026-08-04,,,\n"
        "who@x.example,annual,2026-08-05,2026-08-06,,,\n"
        "ada@x.example,holyday,2026-08-03,2026-08-04,,,\n"
        "ada@x.example,annual,2026-08-04,2026-08-03,,,\n"
        "ada@x.example,annual,2026-08-32,2026-08-04,,,\n"
        "ada@x.example,annual,2026-08-10,2026-08-11,noon,,\n"
        "ada@x.example,annual,2026-08-10,2026-08-11,,maybe,\n"
        "ada@x.example,annual,2026-09-08,2026-09-09,,,\n"
        "ada@x.example,annual,2026-08-15,2026-08-16,,,\n"
        "ada@x.example,annual,2025-12-29,2025-12-31,,,\n"
        "ada@x.example,annual,2026-08-24,2026-08-28,,,4.5\n"
        "ada@x.example,annual,2026-04-07,2026-04-08,,pending,\n"
        ",annual,2026-07-06,,,,\n"
        "ada@x.example,annual,2026-08-28,2026-08-31,,,\n"
    )

    assert faults(lambda: bring_in(database, acme, text)) == [
        (2, "email", "who@x.example", "not_found"),
        (4, "leave_type", "holyday", "not_found"),
        (5, "end_date", "2026-08-03", "end_before_start"),
        (6, "start_date", "2026-08-32", "invalid_date"),
        (7, "start_half_day", "noon", "unknown_half_day"),
        (8, "status", "maybe", "unknown_status"),
        (9, "start_date", "2026-09-08", "overlapping_leave"),
        (10, "start_date", "2026-08-15", "no_working_time"),
        (11, "start_date", "2025-12-29", "before_start_date"),
        (12, "amount", "4.5", "other_amount"),
        (13, "status", "pending", "past_days"),
        (14, "email", None, "required"),
        (15, "start_date", "2026-08-28", "overlapping_leave"),
    ]
    assert [each.start_date for each in leave_of(acme)] == [date(2026, 9, 7)]


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffemail;leave_type;start_date;end_date\r\nada@x.example;annual;3.8.2026;4.8.2026\r\n",
        "email\tleave_type\tstart_date\tend_date\nada@x.example\tannual\t03/08/2026\t14/08/2026\n",
        "email,leave_type,start_date,end_date\nada@x.example,annual,8/3/2026,8/14/2026\n",
        "email,leave_type,start_date,end_date\n"
        "ada@x.example,annual,2026-08-03T00:00:00,2026-08-04 00:00\n",
    ],
    ids=["germany", "united kingdom", "united states", "timestamps"],
)
def test_dates_are_read_in_the_order_of_the_file(
    database: Database, acme: Acme, content: str
) -> None:
    a_person(database, acme, email="ada@x.example")

    bring_in(database, acme, content.encode("utf-16" if "\t" in content else "utf-8"))

    (leave,) = leave_of(acme)
    assert leave.start_date == date(2026, 8, 3)


def test_dates_that_do_not_show_their_order_are_asked_for_once(
    database: Database, acme: Acme
) -> None:
    a_person(database, acme, email="ada@x.example")
    text = (
        "email,leave_type,start_date,end_date\nada@x.example,annual,03/08/2026,04/08/2026\n"
        "ada@x.example,annual,03/09/2026,04/09/2026\n"
    )

    assert faults(lambda: bring_in(database, acme, text)) == [
        (2, "start_date", "03/08/2026", "ambiguous_date")
    ]
    bring_in(database, acme, text, Options(date_order="dmy"))

    assert [each.start_date for each in leave_of(acme)] == [date(2026, 8, 3), date(2026, 9, 3)]


def test_what_is_left_needs_one_day(database: Database, acme: Acme) -> None:
    header = "email,name,days_left,days_left_on\n"
    none = "email,name,days_left\na@x.example,A B,1\n"
    two = f"{header}a@x.example,A B,1,2026-06-01\nb@x.example,A B,1,2026-06-02\n"

    assert faults(lambda: bring_in(database, acme, none, Options())) == [
        (1, "days_left", None, "required")
    ]
    assert faults(lambda: bring_in(database, acme, two, Options())) == [
        (3, "days_left_on", "2026-06-02", "several_days")
    ]


EXPORTS = {
    "timetastic people": (
        "First name,Last name,Email address,Department,Employment start date,Leave allowance,"
        "Date of birth,Allowance in days or hours\n"
        "Ada,Lovelace,ada@x.example,Research,28/02/2020,28,10/12/1985,Days\n",
        "Timetastic",
        ("Date of birth",),
    ),
    "vacation tracker people": (
        "Email,Name,Department,Location,Start Date,End Date,Employee ID,Birthday\n"
        "ada@x.example,Ada Lovelace,Research,London,2020-02-28,,0042,1985-12-10\n",
        "Vacation Tracker",
        ("Location", "Birthday"),
    ),
    "bamboohr people": (
        "Employee #,First Name,Last Name,Email,Hire Date,Job Title,Department,Division,Location\n"
        "0042,Ada,Lovelace,ada@x.example,02/28/2020,Analyst,Research,North,London\n",
        "BambooHR",
        ("Division", "Location"),
    ),
    "personio people": (
        "First name;Last name;Email;Position;Department;Hire date;Office;Location\n"
        "Ada;Lovelace;ada@x.example;Analyst;Research;28.02.2020;Berlin;Mitte\n",
        "Personio",
        ("Office", "Location"),
    ),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_people_of_other_products_are_read_by_their_columns(
    database: Database, acme: Acme, name: str
) -> None:
    text, product, left_behind = EXPORTS[name]

    done = bring_in(database, acme, text, Options())

    assert (done.product, done.columns_left_behind, done.people_created) == (
        product,
        left_behind,
        1,
    )
    ada = people_of(acme)["ada@x.example"]
    assert (ada.first_name, ada.last_name) == ("Ada", "Lovelace")
    assert ada.start_date == date(2020, 2, 28)
    assert ada.employee_number == ("0042" if "0042" in text else None)
    assert ada.job_title == ("Analyst" if "Analyst" in text else None)
    assert ada.leave_allowance_half_days == (56 if product == "Timetastic" else None)
    assert bring_in(database, acme, text, Options()).people_unchanged == 1


LEAVE_EXPORTS = {
    "vacation tracker": (
        "Email,Leave Type,Date From,Date To,Is Half Day / Hourly,Hour From,Minute From,Hour To,"
        "Minute To,Reason,Approver Email\n"
        "ada@x.example,Annual leave,2026-08-03,2026-08-04,,,,,,Sea,grace@x.example\n"
        "ada@x.example,Annual leave,2026-08-05,2026-08-05,Yes,9,0,12,30,,grace@x.example\n"
        "ada@x.example,Annual leave,2026-08-06,2026-08-06,Yes,13,,17,0,,grace@x.example\n",
        "Vacation Tracker",
    ),
    "bamboohr": (
        "Name,From,To,Type,Amount,Status,Notes\n"
        '"Lovelace, Ada",08/03/2026,08/04/2026,Annual leave,16.00 hours,Approved,Sea\n'
        '"Lovelace, Ada",08/05/2026,08/05/2026,Annual leave,8.00 hours,Requested,\n'
        '"Lovelace, Ada",08/31/2026,08/31/2026,Annual leave,8.00 hours,Rejected,\n',
        "BambooHR",
    ),
    "personio": (
        "Employee's email address;Absence type;Start date;End date;Start time;End time;"
        "Half day first day;Half day last day\n"
        "ada@x.example;Annual leave;03.08.2026;04.08.2026;;;;\n"
        "ada@x.example;Annual leave;05.08.2026;05.08.2026;;;;1\n"
        "ada@x.example;Annual leave;06.08.2026;06.08.2026;;;1;\n",
        "Personio",
    ),
    "personio in german": (
        "E-Mail-Adresse des Mitarbeiters;Abwesenheitsart;Anfangsdatum;Enddatum;Anfangszeit;"
        "Endzeit;Halber Tag erster Tag;Halber Tag letzter Tag\n"
        "ada@x.example;Annual leave;03.08.2026;04.08.2026;;;Nein;nein\n"
        "ada@x.example;Annual leave;05.08.2026;05.08.2026;;;;Ja\n"
        "ada@x.example;Annual leave;06.08.2026;06.08.2026;;;1;\n",
        "Personio",
    ),
}


@pytest.mark.parametrize("name", LEAVE_EXPORTS)
def test_leave_of_other_products_is_read_by_its_columns(
    database: Database, acme: Acme, name: str
) -> None:
    a_person(database, acme, first_name="Ada", last_name="Lovelace", email="ada@x.example")
    text, product = LEAVE_EXPORTS[name]

    done = bring_in(database, acme, text, Options(hours_per_day=8))

    assert done.product == product
    booked = [(each.start_date.day, each.status, each.total_half_days) for each in leave_of(acme)]
    if product == "BambooHR":
        assert booked == [(3, "approved", 4), (5, "pending", 2)]
        assert done.leave_left_out == 1
    else:
        assert booked == [(3, "approved", 4), (5, "approved", 1), (6, "approved", 1)]
        assert [each.counted_halves for each in leave_of(acme)] == ["33", "1", "2"]


def test_hours_that_are_no_half_days_are_told(database: Database, acme: Acme) -> None:
    a_person(database, acme, first_name="Ada", last_name="Lovelace", email="ada@x.example")
    tracker = (
        "Email,Leave Type,Date From,Date To,Hour From,Hour To\n"
        "ada@x.example,Annual leave,2026-08-05,2026-08-05,10,15\n"
    )
    bamboo = (
        "Name,From,To,Type,Amount,Status\n"
        "Ada Lovelace,2026-08-05,2026-08-05,Annual leave,4.00 hours,Approved\n"
    )
    timetastic = (
        "First name,Last name,Email address,Employment start date,Allowance in days or hours\n"
        "G,H,g@x.example,2020-01-01,Hours\n"
    )

    # Errors name the column as the file does.
    assert faults(lambda: bring_in(database, acme, tracker)) == [
        (2, "Hour From", "10", "not_half_days")
    ]
    assert faults(lambda: bring_in(database, acme, bamboo)) == [
        (2, "Amount", "4.00 hours", "hours_per_day_unknown")
    ]
    assert faults(lambda: bring_in(database, acme, bamboo, Options(hours_per_day=8))) == [
        (2, "Amount", "4.00 hours", "other_amount")
    ]
    assert faults(lambda: bring_in(database, acme, timetastic)) == [
        (2, "Allowance in days or hours", "Hours", "not_in_days")
    ]


def test_an_imported_allowance_counts_for_the_whole_leave_year_beside_other_changes(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme, email="ada@x.example", start_date=None)
    text = (
        "email,department,start_date,working_days,leave_allowance\n"
        "ada@x.example,Sales,2015-01-01,monday tuesday wednesday thursday friday,30\n"
    )

    done = bring_in(database, acme, text, Options(is_update=True))

    assert done.people_updated == 1
    assert left(database, acme, people_of(acme)[ada.email]) == 30
    assert bring_in(database, acme, text, Options(is_update=True)).people_unchanged == 1


def test_members_import_nothing_and_admins_make_no_owners(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, email="ada@x.example")
    admin = a_person(database, acme, email="admin@x.example", role="admin")
    leave = "email,leave_type,start_date\nada@x.example,annual,2026-08-03\n"
    owner = "email,name,role\no@x.example,O P,owner\n"

    for text in (leave, owner):
        with pytest.raises(InsufficientRole):
            bring_in(database, acme, text, by=caller_for(acme, ada))
    assert faults(lambda: bring_in(database, acme, owner, by=caller_for(acme, admin))) == [
        (2, "role", "owner", "insufficient_role")
    ]


def test_other_organisations_are_not_touched(database: Database, acme: Acme) -> None:
    other = an_organisation(database, name="Other")
    a_person(database, other, email="ada@x.example")

    assert faults(
        lambda: bring_in(
            database, acme, "email,leave_type,start_date\nada@x.example,annual,2026-08-03\n"
        )
    ) == [(2, "email", "ada@x.example", "not_found")]


def test_ten_thousand_lines_take_few_statements(database: Database, acme: Acme) -> None:
    bring_in(
        database,
        acme,
        "email,name,days_left\n" + "".join(f"p{n}@x.example,P Q{n},9\n" for n in range(500)),
    )
    lines = [
        f"p{n % 500}@x.example,annual,{date.fromordinal(date(2026, 8, 3).toordinal() + n // 500)}\n"
        for n in range(10_000)
    ]
    # Only Mondays to Fridays that are worked.
    worked = [
        line for line in lines if date.fromisoformat(line.rsplit(",", 1)[1].strip()).weekday() < 5
    ]
    text = "email,leave_type,start_date\n" + "".join(worked)
    began = time.monotonic()

    done = bring_in(database, acme, text)

    assert done.leave_created == len(worked)
    # It takes a second or two; a query a line would take minutes on PostgreSQL.
    assert time.monotonic() - began < 60


def test_a_file_has_at_most_so_many_lines() -> None:
    with pytest.raises(InvalidInput) as refusal:
        imports.read(b"email,name\na@x.ie,A B\nb@x.ie,A B\n", Options(), max_lines=1)

    assert refusal.value.code == "too_long"


def test_the_command_imports_leave_and_says_what_it_did(tmp_path: Any) -> None:
    shell = Shell(tmp_path)
    shell.run("migrate")
    shell.run(*ACME)
    path = tmp_path / "leave.csv"
    path.write_text(
        "email,leave_type,start_date,end_date\nada@example.com,annual,03/08/2026,07/08/2026\n"
    )
    words = ["import", str(path), "--organisation=acme", "--date-order=dmy"]

    tried = shell.run(*words, "--dry-run")
    done = shell.run(*words)
    again = shell.json_of(*words)

    assert tried.stdout.startswith("In Acme: leave of 1 line would be booked, 0 known already")
    assert done.stdout.startswith("In Acme: leave of 1 line booked, 0 known already, 0 left out")
    assert (again["kind"], again["leave_created"], again["leave_known"]) == ("leave", 0, 1)
