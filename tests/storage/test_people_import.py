"""People from a file: valid lines, refusals, and the records written."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from storage.admin import people
from storage.base.errors import InvalidInput
from storage.base.values import SCOPES, Caller, User
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.db.tables import DepartmentRow
from storage.operations import people_file, people_import
from storage.operations.csv_file import BadLines, Options
from storage.operations.people_import import Imported
from storage.people import department_rows, people_lists, people_rows
from storage.rules import employment_terms
from tests.builders import NOW, Acme, a_department, a_person, an_organisation, audit_entries
from tests.refusals import crossing
from tests.storage.test_allowances import an_allowance
from tests.storage.test_commands import ACME, Shell

HEADER = "email,first_name,last_name,role,department,manager_email,job_title,start_date,"
HEADER += "working_days,public_holiday_country_code,leave_allowance\n"


def bring_in(
    database: Database,
    acme: Acme,
    text: str,
    *,
    is_update: bool = False,
    needed: Sequence[str] = ("email",),
) -> Imported:
    by = Caller(
        organisation_id=acme.id, user_id=None, role="owner", scopes=frozenset(SCOPES), source="cli"
    )
    return database.write_now(
        people_import.import_people,
        people_file.read(text.encode(), options=Options(is_update="first_name" not in needed)),
        by=by,
        now=NOW,
        is_update=is_update,
        progress=lambda done: None,
    )


def faults(call: Any) -> list[tuple[int, str, str]]:
    with pytest.raises(BadLines) as bad:
        call()
    return [(cell["line"], cell["column"] or "", cell["code"]) for cell in bad.value.lines]


def all_users(database: Database, acme: Acme) -> dict[str, User]:
    users = acme.read(people_lists.list_all)
    return {user.email: user for user in users}


def test_every_column_is_kept(database: Database, acme: Acme) -> None:
    done = bring_in(
        database,
        acme,
        HEADER
        + "ada@x.example,Ada,Lovelace,Admin,Engineering,grace@x.example,Analyst,2026-02-28,"
        + '"monday, tuesday friday:am",gb-sct,12.5\n'
        + "grace@x.example,Grace,Hopper,,Engineering,,,,,,\n",
    )

    assert done == Imported(
        people_created=2, people_updated=0, people_unchanged=0, departments_created=1
    )
    users = all_users(database, acme)
    ada, grace = users["ada@x.example"], users["grace@x.example"]
    (made,) = acme.read(department_rows.page, PageOf(limit=9)).items
    assert (ada.department_id, grace.department_id, made.name) == (made.id, made.id, "Engineering")
    assert (ada.manager_id, ada.role, ada.status) == (grace.id, "admin", "pending")
    assert ada.working_days == ("monday", "tuesday", "friday:am")
    assert (ada.public_holiday_country_code, ada.leave_allowance_half_days) == ("GB-SCT", 25)
    assert (ada.job_title, str(ada.start_date)) == ("Analyst", "2026-02-28")
    assert (grace.role, grace.manager_id, grace.working_days) == ("member", None, None)


def test_each_person_and_department_is_audited_once(database: Database, acme: Acme) -> None:
    a_department(database, acme, name="Sales")
    before = {entry.id for entry in audit_entries(database, acme.caller)}

    bring_in(
        database,
        acme,
        "email,first_name,last_name,department\na@x.ie,A,B,sales\nb@x.ie,A,B,Lab\n",
    )

    entries = audit_entries(database, acme.caller)
    new_entries = [entry for entry in entries if entry.id not in before]
    assert {(entry.source, entry.actor_id) for entry in new_entries} == {("cli", None)}
    assert sorted(entry.action for entry in new_entries) == [
        "department.created",
        "user.created",
        "user.created",
    ]
    emails = {entry.changes["email"]["after"] for entry in new_entries if "email" in entry.changes}
    assert emails == {"a@x.ie", "b@x.ie"}


@pytest.mark.parametrize(
    ("content", "email"),
    [
        (b"\xef\xbb\xbfEmail;First Name;last-name\r\na@x.ie;\xc3\x85sa;B\r\n", "a@x.ie"),
        ("email\tfirst_name\tlast_name\na@x.ie\tA\tB\n".encode("utf-16"), "a@x.ie"),
        (b'email,first_name,last_name\n\n,,\n"a@x.ie","A, the\xe2\x80\x8f1st","B"\n', "a@x.ie"),
    ],
    ids=["bom and semicolons", "utf-16 and tabs", "quotes and blank lines"],
)
def test_spreadsheets_own_forms_are_read(content: bytes, email: str) -> None:
    people = people_file.read(content)

    assert ([line.email for line in people.lines], people.errors) == ([email], [])


@pytest.mark.parametrize(
    ("content", "code", "part"),
    [
        (b"", "empty", "empty"),
        (b"email,first_name,last_name\na@x.ie,\xe5sa,B\n", "not_utf_8", "Line 2"),
        (b"\xff\xfee\x00m", "not_utf_16", "UTF-16"),
        (b"e\0m\0a\0i\0l\0", "not_text", "UTF-8"),
        (b"ada@x.ie,Ada,Lovelace\n", "wrong_columns", "Line 1 has to name the columns"),
        (b'email,"first"name\n', "not_csv", "Line 1"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.islower() else "",
)
def test_a_file_that_cannot_be_read_is_refused(content: bytes, code: str, part: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        people_file.read(content)

    assert refusal.value.code == code
    assert part in refusal.value.detail


def test_every_wrong_cell_of_every_line_is_reported_in_one_round(database: Database) -> None:
    acme = an_organisation(database)
    a_person(database, acme, email="old@x.ie", status="archived")
    a_person(database, acme, email="eve@x.ie")
    rows = [
        "ada,,L,boss,,x,,2026-02-30,someday,XX,400",
        ",A,B,,,gone@x.ie,,,,,",
        'ok@x.ie,"two\nlines",B,,,old@x.ie,,,,,',
        "a@x.ie,A,B,,,,,,,,,one,two",
        "OK2@x.ie,A,B,,,ok2@x.ie,,,,,1e3",
        "ok2@x.ie,A,,,,a@x.ie,,,,,25,",
        "OK3@X.ie,A\0,B",
        'c@x.ie,"A"x,B',
        "eve@x.ie,A,B,,,ok@x.ie,,,,,",
    ]

    assert faults(lambda: bring_in(database, acme, HEADER + "\n".join(rows))) == [
        (2, "email", "invalid_email"),
        (2, "role", "unknown_role"),
        (2, "manager_email", "invalid_email"),
        (2, "start_date", "invalid_date"),
        (2, "working_days", "unknown_working_day"),
        (2, "public_holiday_country_code", "unknown_country"),
        (2, "leave_allowance", "invalid_days"),
        (2, "first_name", "required"),
        (3, "email", "required"),
        (3, "manager_email", "not_found"),
        (4, "first_name", "control_character"),
        (4, "manager_email", "manager_archived"),
        (6, "", "too_many_cells"),
        (7, "leave_allowance", "not_a_number"),
        (7, "manager_email", "manager_cycle"),
        (8, "email", "repeated_email"),
        (8, "last_name", "required"),
        (9, "first_name", "control_character"),
        (10, "", "not_csv"),
        (11, "email", "email_taken"),
    ]


def test_wrong_columns_are_reported_with_the_lines(database: Database, acme: Acme) -> None:
    text = "email,frist_name,Email,shoe,role\na@x.ie,A,a@x.ie,44,boss\n"

    with pytest.raises(BadLines) as bad:
        bring_in(database, acme, text, needed=["email", "first_name", "last_name"])

    wrong = {(cell["line"], cell["column"] or ""): cell["detail"] for cell in bad.value.lines}
    assert {place: detail.partition(".")[0] for place, detail in wrong.items()} == {
        (1, "frist_name"): "There is no such column",
        (1, "email"): "The column email is there twice",
        (1, "shoe"): "There is no such column",
        (1, "first_name"): "The column first_name is missing",
        (1, "last_name"): "The column last_name is missing",
        (2, "role"): "Use one of member, approver, admin, owner",
    }
    assert wrong[1, "frist_name"].endswith("Did you mean first_name?")


def test_a_quotation_mark_that_is_not_closed_names_its_line(database: Database, acme: Acme) -> None:
    text = 'email,first_name,last_name\nada,A,B\na@x.ie,"A,B\nb@x.ie,A,B\n'

    assert faults(lambda: bring_in(database, acme, text)) == [
        (2, "email", "invalid_email"),
        (3, "", "not_csv"),
    ]


def test_people_who_manage_each_other_are_told_how(database: Database, acme: Acme) -> None:
    grace = a_person(database, acme, email="grace@x.ie")
    a_person(database, acme, email="eve@x.ie", manager_id=grace.id)
    text = (
        "email,first_name,last_name,manager_email\n"
        "ada@x.ie,A,B,ADA@x.ie\n"
        # Eve reports to Grace already, and is not in the file.
        "grace@x.ie,,,bo@x.ie\n"
        "bo@x.ie,A,B,eve@x.ie\n"
    )

    with pytest.raises(BadLines) as bad:
        bring_in(database, acme, text, is_update=True)

    assert [(cell["line"], cell["value"] or "", cell["detail"]) for cell in bad.value.lines] == [
        (
            2,
            "ADA@x.ie",
            "People cannot be their own manager. Name another one, or leave the cell empty.",
        ),
        (
            3,
            "bo@x.ie",
            "The managers lead back to this person: grace@x.ie → bo@x.ie → eve@x.ie → grace@x.ie. "
            "Change one of these managers.",
        ),
        (
            4,
            "eve@x.ie",
            "The managers lead back to this person: bo@x.ie → eve@x.ie → grace@x.ie → bo@x.ie. "
            "Change one of these managers.",
        ),
    ]


def test_an_address_is_in_a_file_once() -> None:
    people = people_file.read(b"email\na@x.ie\nb@x.ie\nA@X.ie\n", options=Options(is_update=True))

    assert [(error.pointer, error.code) for error in people.errors] == [
        ("/4/email", "repeated_email")
    ]


def test_employee_numbers_are_imported_and_each_belongs_to_one_person(
    database: Database, acme: Acme
) -> None:
    header = "email,first_name,last_name,employee_number\n"
    bring_in(database, acme, header + "a@x.ie,A,B,007\nb@x.ie,B,B,8\n")
    numbers = {email: user.employee_number for email, user in all_users(database, acme).items()}
    assert (numbers["a@x.ie"], numbers["b@x.ie"]) == ("007", "8")

    wrong = faults(
        lambda: bring_in(database, acme, header + "c@x.ie,C,B,007\nd@x.ie,D,B,9\ne@x.ie,E,B,9\n")
    )
    exchanged = faults(
        lambda: bring_in(
            database, acme, "email,employee_number\na@x.ie,8\nb@x.ie,007\n", is_update=True
        )
    )

    assert wrong == [
        (2, "employee_number", "employee_number_taken"),
        (4, "employee_number", "repeated_employee_number"),
    ]
    assert exchanged == [
        (2, "employee_number", "employee_number_taken"),
        (3, "employee_number", "employee_number_taken"),
    ]


def test_conflicts_with_the_organisation_are_reported_and_nothing_is_imported(
    database: Database, acme: Acme
) -> None:
    a_person(database, acme, email="ada@x.ie")
    a_department(database, acme, name="Twin")
    other = a_department(database, acme, name="Other")
    # As an older version could make them.
    database.write_now(
        lambda tx: tx.update(DepartmentRow, {"name": "twin"}, organisation_id=acme.id, id=other.id)
    )
    before = all_users(database, acme)
    text = (
        "email,first_name,last_name,department,manager_email\n"
        "ADA@x.ie,A,B,,\n"
        "c@x.ie,A,B,TWIN,\n"
        "i@x.ie,A,B,New,\n"
    )

    assert faults(lambda: bring_in(database, acme, text)) == [
        (2, "email", "email_taken"),
        (3, "department", "ambiguous"),
    ]
    assert all_users(database, acme) == before


def test_an_update_changes_what_is_filled_in(database: Database, acme: Acme) -> None:
    grace = a_person(database, acme, email="grace@x.ie", first_name="Grace", job_title="Admiral")
    ada = a_person(database, acme, email="ada@x.ie", manager_id=grace.id)
    text = (
        "email,first_name,job_title,manager_email\n"
        # The report becomes the manager, which is possible only if the whole file counts at once.
        "GRACE@x.ie,,,ada@x.ie\n"
        f"ada@x.ie,Augusta,,{acme.owner.email}\n"
        f"{acme.owner.email},Olive,,\n"
    )

    done = bring_in(database, acme, text, is_update=True)

    users = all_users(database, acme)
    assert done == Imported(
        people_created=0, people_updated=2, people_unchanged=1, departments_created=0
    )
    assert (users["ada@x.ie"].first_name, users["ada@x.ie"].manager_id) == (
        "Augusta",
        acme.owner.id,
    )
    assert users["grace@x.ie"].manager_id == ada.id
    assert (users["grace@x.ie"].job_title, users["grace@x.ie"].email) == ("Admiral", "grace@x.ie")


def test_an_update_does_not_cross_the_renaming_of_one_of_its_people(database: Database) -> None:
    acme = an_organisation(database)
    a_person(database, acme, email="ada@x.ie")
    eve = a_person(database, acme, email="eve@x.ie")
    text = "email,first_name\nada@x.ie,Augusta\neve@x.ie,Evelyn\n"

    runs = crossing(
        database,
        lambda tx: people_rows.get(tx, eve.id, by=acme.caller, for_update=True),
        lambda tx: people.update(tx, eve.id, {"last_name": "King"}, by=acme.caller, now=NOW),
        lambda tx: people_import.import_people(
            tx,
            people_file.read(text.encode(), options=Options(is_update=True)),
            by=acme.caller,
            now=NOW,
            is_update=True,
            progress=lambda _: None,
        ),
    )

    assert runs == 2


def test_an_update_is_bound_by_the_same_rules(database: Database, acme: Acme) -> None:
    grace = a_person(database, acme, email="grace@x.ie")
    ada = a_person(database, acme, email="ada@x.ie", manager_id=grace.id)
    a_person(database, acme, email="eve@x.ie", manager_id=ada.id)
    a_person(database, acme, email="old@x.ie", status="archived")
    text = (
        "email,role,manager_email,first_name\n"
        f"{acme.owner.email},member,,\n"
        "grace@x.ie,,eve@x.ie,\n"
        "old@x.ie,,,New\n"
    )

    assert faults(lambda: bring_in(database, acme, text, is_update=True)) == [
        (2, "role", "last_owner"),
        (3, "manager_email", "manager_cycle"),
        (4, "last_name", "required"),
    ]


def test_changes_have_dates_and_people_a_last_day(database: Database, acme: Acme) -> None:
    a_person(database, acme, email="ada@x.ie")
    text = (
        "email,first_name,last_name,department,working_days,effective_from,end_date\n"
        "ada@x.ie,,,Sales,monday tuesday,2026-09-01,2026-12-31\n"
        "bo@x.ie,Bo,Lind,,,,2026-08-31\n"
    )

    first = bring_in(database, acme, text, is_update=True)
    again = bring_in(database, acme, text, is_update=True)

    users = all_users(database, acme)
    ada, bo = users["ada@x.ie"], users["bo@x.ie"]
    assert (first.people_created, first.people_updated, again.people_unchanged) == (1, 1, 2)
    assert (ada.working_days, ada.department_id, ada.end_date) == (None, None, date(2026, 12, 31))
    planned = employment_terms.records_of(ada)[1]
    assert (planned.valid_from, planned.working_days) == (
        date(2026, 9, 1),
        ("monday", "tuesday"),
    )
    assert planned.department_id is not None
    assert bo.end_date == date(2026, 8, 31)


def test_a_column_for_each_allowance_has_days_with_two_decimals(database: Database) -> None:
    acme = an_organisation(database)
    pot, sick = an_allowance(database, acme), an_allowance(database, acme, "Sick days")
    a_person(database, acme, email="eve@x.ie", start_date=date(2020, 3, 1))
    head = "email,first_name,last_name,Allowance:Volunteering,allowance:sick-days,effective_from\n"

    done = bring_in(database, acme, head + "ada@x.ie,Ada,L,16.8,,\n", is_update=True)
    text = head + 'ada@x.ie,,,"2,25",,2027-01-01\neve@x.ie,,,2,,\n'
    updated = bring_in(database, acme, text, is_update=True)
    again = bring_in(database, acme, text, is_update=True)

    users = all_users(database, acme)
    figures = {
        email: [(each.allowance_id, each.valid_from, each.half_days) for each in user.figures]
        for email, user in users.items()
    }
    assert figures["ada@x.ie"] == [
        (pot, None, Fraction(168, 5)),
        (pot, date(2027, 1, 1), Fraction(9, 2)),
    ]
    assert figures["eve@x.ie"] == [(pot, date(2026, 1, 1), 4)]
    assert sick not in {figure[0] for of_user in figures.values() for figure in of_user}
    assert (done.people_created, updated.people_updated, again.people_unchanged) == (1, 2, 2)


def test_figures_and_columns_of_allowances_are_checked_with_their_place(database: Database) -> None:
    acme = an_organisation(database)
    an_allowance(database, acme)
    a_person(database, acme, email="eve@x.ie")
    head = "email,first_name,last_name,allowance:volunteering,allowance:study,allowance:annual"

    text = head + ",effective_from\na@x.ie,A,L,2.125,1,25,\nb@x.ie,B,L,367,,,\n"
    text += "eve@x.ie,,,1,,,2099-01-01\n"

    assert faults(lambda: bring_in(database, acme, text, is_update=True)) == [
        (1, "allowance:study", "wrong_columns"),
        (1, "allowance:annual", "wrong_columns"),
        (2, "allowance:volunteering", "not_a_number"),
        (3, "allowance:volunteering", "invalid_days"),
        (4, "effective_from", "out_of_range"),
    ]
    assert "a@x.ie" not in all_users(database, acme)


def test_impossible_dates_are_reported_before_anything_is_imported(database: Database) -> None:
    acme = an_organisation(database)
    for name in ("ada", "eve"):
        a_person(database, acme, email=f"{name}@x.ie", start_date=date(2026, 2, 1))
    text = (
        "email,first_name,last_name,job_title,working_days,effective_from,start_date,end_date\n"
        "ada@x.ie,,,,monday,2026-01-31,,\n"
        "eve@x.ie,,,Analyst,,2026-08-01,,\n"
        "bo@x.ie,Bo,Lind,,monday,2026-08-01,,\n"
        "al@x.ie,Al,Lind,,,,2026-08-01,2026-07-31\n"
        f"{acme.owner.email},,,,,,,2026-12-31\n"
    )

    assert faults(lambda: bring_in(database, acme, text, is_update=True)) == [
        (2, "effective_from", "before_start_date"),
        (3, "effective_from", "nothing_effective"),
        (4, "effective_from", "new_person"),
        (5, "end_date", "end_date_before_start_date"),
        (6, "end_date", "last_owner"),
    ]


def test_ownership_can_be_handed_over_in_one_file(database: Database, acme: Acme) -> None:
    a_person(database, acme, email="ada@x.ie")

    bring_in(
        database, acme, f"email,role\n{acme.owner.email},member\nada@x.ie,owner\n", is_update=True
    )

    users = all_users(database, acme)
    assert (users[acme.owner.email].role, users["ada@x.ie"].role) == ("member", "owner")


@pytest.mark.slow
def test_ten_thousand_people_take_seconds(database: Database, acme: Acme) -> None:
    rows = [
        f"p{number}@x.ie,P{number},Tester,member,Department {number % 40},"
        f"{f'p{number * 7 % 5_000}@x.ie' if number % 9 else ''},,2020-01-06,,GB-ENG,25"
        for number in range(5_000, 10_000)
    ]
    managers = [f"p{number}@x.ie,P,M,approver,,,,,,," for number in range(5_000)]

    started = time.process_time()
    done = bring_in(database, acme, HEADER + "\n".join(rows + managers))
    seconds = time.process_time() - started

    assert (done.people_created, done.departments_created) == (10_000, 40)
    # Idle, it is a tenth of this.
    assert seconds < 30


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    assert shell.run("migrate").exit_code == 0
    shell.json_of(*ACME)
    return shell


def a_file(folder: Path, text: str) -> str:
    path = folder / "people.csv"
    path.write_text(text)
    return str(path)


def test_the_command_prints_one_object_and_a_dry_run_changes_nothing(
    shell: Shell, tmp_path: Path
) -> None:
    words = ["import", a_file(tmp_path, "email,first_name,last_name\ng@x.ie,G,H\n")]
    words.append("--organisation=acme")

    tried = shell.json_of(*words, "--dry-run")
    done = shell.json_of(*words)

    assert (tried["dry_run"], tried["people_created"]) == (True, 1)
    assert (done["dry_run"], done["people_created"]) == (False, 1)
    again = shell.json_of(*words)
    assert (again["people_created"], again["people_unchanged"]) == (0, 1)
    words[1] = a_file(tmp_path, "email,first_name,last_name\ng@x.ie,Grace,H\n")
    refused = shell.run(*words)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == (
        'line 2, email "g@x.ie": A person with this address exists already, with other values. Add '
        "--update to change them (update in REST), or remove the line.\n"
        "Nothing was imported: 1 error in 1 line.\n"
    )


def test_the_command_reports_every_line(shell: Shell, tmp_path: Path) -> None:
    text = "email,first_name,last_name\n" + "unknown,A,B\n" * 1_200
    words = ["import", a_file(tmp_path, text), "--organisation=acme"]

    for_people = shell.run(*words)
    for_programs = shell.run(*words, "--json")

    assert (for_people.exit_code, for_people.stdout) == (1, "")
    assert for_people.stderr.count("\n") == 1_001
    assert "Nothing was imported: 1,200 errors in 1,200 lines. The first 1,000 are shown." in (
        for_people.stderr
    )
    assert for_programs.exit_code == 1
    reported = json.loads(for_programs.stdout)
    assert (reported["error_count"], len(reported["errors"])) == (1_200, 1_000)
    assert reported["errors"][7] == {
        "line": 9,
        "column": "email",
        "value": "unknown",
        "code": "invalid_email",
        "detail": "email must be an e-mail address such as ada@example.com.",
    }


def test_a_hostile_cell_never_reaches_the_terminal(shell: Shell, tmp_path: Path) -> None:
    cells = f"\x1b]0;owned\x07,\u202e{'x' * 300},B"
    path = a_file(tmp_path, f"email,first_name,last_name,\ufeff\x1b[2J,\n{cells}\n")

    for options in ([], ["--json"]):
        printed = shell.run("import", path, "--organisation=acme", *options)

        shown = (printed.stdout + printed.stderr).replace("\n", "")
        assert shown.isprintable()
        assert "\\x1b]0;owned\\x07" in shown.replace("\\\\", "\\")
        assert "x" * 100 not in shown
        assert "A column has no name. Name it in line 1, or remove it." in shown


def test_a_country_with_regions_is_named_after_the_import(shell: Shell, tmp_path: Path) -> None:
    path = a_file(
        tmp_path,
        "email,first_name,last_name,public_holiday_country_code\n"
        "a@x.ie,A,B,gb\nb@x.ie,A,B,GB-SCT\nc@x.ie,A,B,SI\nd@x.ie,A,B,GB\n",
    )

    done = shell.run("import", path, "--organisation=acme", "--json")

    assert (done.exit_code, done.stdout.count("\n")) == (0, 1)
    assert done.stderr.count("national holidays only") == 1
    assert done.stderr.startswith("GB counts national holidays only.")


def test_a_dry_run_finds_what_the_import_would(shell: Shell, tmp_path: Path) -> None:
    shell.json_of(
        "import",
        a_file(tmp_path, "email,first_name,last_name\ng@x.ie,G,H\n"),
        "--organisation=acme",
    )
    path = a_file(tmp_path, "email,job_title,role\ng@x.ie,Admiral,\nada@example.com,,member\n")
    words = ["import", path, "--organisation=acme", "--update", "--json"]

    tried, done = shell.run(*words, "--dry-run"), shell.run(*words)

    assert tried.stdout == done.stdout
    assert [error["code"] for error in json.loads(done.stdout)["errors"]] == ["last_owner"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["import"], 2),
        (["import", "nowhere.csv", "--organisation=acme"], 2),
        (["import", "pyproject.toml"], 2),
        (["import", "pyproject.toml", "--organisation=acme"], 1),
        (["slack", "link", "--team=T1"], 2),
        (["slack", "link", "--team=nonsense", "--organisation=acme"], 1),
        (["slack", "link", "--team=T1", "--organisation=unknown"], 1),
    ],
)
def test_commands_exit_with_one_or_two(shell: Shell, words: list[str], code: int) -> None:
    result = shell.run(*words)

    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr


def test_a_workspace_is_linked_once(shell: Shell) -> None:
    link = ["slack", "link", "--organisation=acme"]

    first = shell.json_of(*link, "--team=T0123ABCD")
    again = shell.json_of(*link, "--team=T0123ABCD")

    assert first == again
    assert first["slack_team_id"] == "T0123ABCD"
    assert "another workspace" in shell.run(*link, "--team=T9").stderr


def test_look_alike_addresses_are_refused(database: Database) -> None:
    acme = an_organisation(database)
    a_person(database, acme, email="ren\u00e9e@x.example")

    assert faults(
        lambda: bring_in(
            database,
            acme,
            "email,first_name,last_name\n"
            "\u0430da@x.example,Ada,Bee\n"
            "rene\u0301e@x.example,Renee,Cee\n"
            "dee@x.example,Dee,Dee\n"
            "\uff44ee@x.example,Dee,Dee\n",
        )
    ) == [
        (2, "email", "mixed_scripts"),
        (3, "email", "email_taken"),
        (5, "email", "repeated_email"),
    ]
