"""The reports over HTTP."""

from __future__ import annotations

import csv
import io
from datetime import date

import pytest

from storage.db.database import Database
from storage.people import people_changes
from storage.reports import reports
from tests.api.conftest import Client
from tests.builders import NOW, a_key, a_person, an_organisation, approved_leave

pytestmark = pytest.mark.shared_database

REPORTS = "/api/v1/reports"


@pytest.mark.both_engines
def test_a_payroll_office_reads_a_months_leave(client: Client, database: Database) -> None:
    acme = an_organisation(database, country_code="GB-ENG")
    key = a_key(database, acme, scopes=["leave:read"])
    ada = a_person(database, acme, employee_number="0042")
    approved_leave(database, acme, ada, date(2027, 5, 28), date(2027, 6, 3))

    as_json = client.get(f"{REPORTS}/leave?from=2027-06-01&to=2027-06-30", key)
    as_csv = client.get(f"{REPORTS}/leave?from=2027-05-01&format=csv", key)

    assert as_json.json() == {
        "from": "2027-06-01",
        "to": "2027-06-30",
        "data": [
            {
                "employee_number": "0042",
                "last_name": "Lovelace",
                "first_name": "Ada",
                "department": None,
                "leave_type": "Annual leave",
                "leave_type_code": "annual",
                "is_paid": True,
                "is_away": True,
                "days": 3,
                "user_id": ada.id,
            }
        ],
    }
    assert as_csv.headers["content-type"] == "text/csv; charset=utf-8"
    name = 'attachment; filename="leave-2027-05-01-2027-05-31.csv"'
    assert as_csv.headers["content-disposition"] == name
    (row,) = csv.DictReader(io.StringIO(as_csv.content.decode("utf-8-sig"), newline=""))
    assert (row["employee_number"], row["days"]) == ("0042", "1")


@pytest.mark.both_engines
def test_a_report_of_many_people_is_sent_in_parts(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    count = 2 * reports.BATCH_SIZE + 50
    new = [
        {"email": f"p{each}@x.ie", "first_name": f"P{each}", "last_name": "X"}
        for each in range(count)
    ]
    acme.write(people_changes.add_all, new, "active")

    response = client.get(f"{REPORTS}/balances?on=2026-12-31", key)

    rows = response.json()["data"]
    assert (response.status_code, len({row["user_id"] for row in rows})) == (200, count + 1)
    assert "content-length" not in response.headers
    assert {row["left"] for row in rows} == {25}


def test_members_read_no_report_and_wrong_periods_are_refused(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    member = a_key(database, acme, user=a_person(database, acme))
    key = a_key(database, acme)

    refused = client.get(f"{REPORTS}/balances", member)
    too_long = client.get(f"{REPORTS}/leave?from=2026-01-01&to=2027-01-02", key)
    reversed_days = client.get(f"{REPORTS}/leave?from=2026-02-02&to=2026-02-01&format=csv", key)
    no_format = client.get(f"{REPORTS}/leave?format=xlsx", key)

    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_role")
    found = [
        (response.status_code, response.json()["errors"][0]["code"])
        for response in (too_long, reversed_days)
    ]
    assert found == [(422, "too_long"), (422, "to_before_from")]
    assert no_format.status_code == 422
    assert NOW.date() == date(2026, 6, 1)
