"""The reports over HTTP."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime, timedelta

import pytest

from storage.base.ids import new_id
from storage.base.values import User
from storage.db.database import Database
from storage.leave import lapsing_days
from storage.notifications import expiry_notices
from storage.notifications.slack_messages import PostedMessage
from storage.people import people_changes
from storage.reports import report_links, reports
from storage.reports.reports import Period
from storage.workspaces import slack_workspaces
from tests.api.conftest import Client
from tests.builders import (
    NOW,
    Acme,
    a_key,
    a_person,
    an_organisation,
    approved_leave,
    caller_for,
)

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


@pytest.mark.both_engines
def test_an_office_reads_who_would_lose_days_and_who_was_told(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database, country_code="GB-ENG", carry_over_half_days=10)
    key = a_key(database, acme, scopes=["leave:read"])
    ada = a_person(database, acme, employee_number="0042", leave_allowance_half_days=12)
    grace = a_person(database, acme, first_name="Grace", leave_allowance_half_days=10)
    paul = a_person(database, acme, first_name="Paul", leave_allowance_half_days=13)
    told_ada(database, acme, ada)

    on = client.get(f"{REPORTS}/expiring?on=2026-10-02", key).json()
    as_csv = client.get(f"{REPORTS}/expiring?on=2026-10-02&format=csv", key)

    rows = {row["user_id"]: row for row in on["data"]}
    assert grace.id not in rows
    assert rows[ada.id] == {
        "employee_number": "0042",
        "last_name": "Lovelace",
        "first_name": "Ada",
        "department": None,
        "allowance": "Annual leave",
        "allowance_code": "annual",
        "reason": "year_end",
        "days": 1,
        "lapses_on": "2026-12-31",
        "told_at": "2026-10-01T08:31:00Z",
        "acknowledged_at": "2026-10-02T08:31:00Z",
        "user_id": ada.id,
    }
    assert (rows[paul.id]["days"], rows[paul.id]["told_at"]) == (1.5, None)
    in_csv = csv.DictReader(io.StringIO(as_csv.content.decode("utf-8-sig"), newline=""))
    (of_ada,) = [row for row in in_csv if row["user_id"] == ada.id]
    assert (of_ada["lapses_on"], of_ada["told_at"]) == ("2026-12-31", "2026-10-01T08:31:00Z")


def told_ada(database: Database, acme: Acme, ada: User) -> None:
    """She is told on 1 October and clicks "Got it" a day later."""
    now = datetime(2026, 10, 1, 8, 30, tzinfo=UTC)
    database.write_now(
        slack_workspaces.link, acme.organisation, new_id(now)[-12:], source="cli", now=now
    )
    due = database.read_now(expiry_notices.due_people, acme.id, None, now=now).notices
    database.write_now(expiry_notices.tell, acme.id, {ada.id: due[ada.id]}, now=now)
    notices = database.read_now(lapsing_days.of_people, acme.id, [ada.id], now.date())
    ((notice,),) = notices.values()
    message = PostedMessage(channel="D1", ts="1.1")
    sent_at = now + timedelta(minutes=1)
    database.write_now(expiry_notices.record_sent, [(acme.id, notice.id, message)], now=sent_at)
    seen_at = sent_at + timedelta(days=1)
    database.write_now(expiry_notices.see, notice.id, by=caller_for(acme, ada), now=seen_at)


@pytest.mark.both_engines
def test_a_payroll_link_is_downloaded_once_and_never_used_up_by_a_look(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, employee_number="0042")
    approved_leave(database, acme, ada, date(2026, 5, 6))
    period = Period(first_day=date(2026, 5, 1), last_day=date(2026, 5, 31))
    path = report_links.url("", database.secrets, period, by=acme.caller, now=NOW)

    looks = [client.request(method, path) for method in ("HEAD", "POST")]
    first = client.get(path)
    again = client.get(path)
    forged = client.get(path[:-3])
    for_people = client.get(path, headers={"accept": "text/html", "accept-language": "de"})

    assert [look.status_code for look in looks] == [405, 405]
    assert (first.status_code, first.headers["cache-control"]) == (200, "no-store")
    assert first.headers["content-type"] == "text/csv; charset=utf-8"
    name = 'attachment; filename="leave-2026-05-01-2026-05-31.csv"'
    assert first.headers["content-disposition"] == name
    assert first.content.startswith(b"\xef\xbb\xbfemployee_number,")
    assert b"0042,Lovelace,Ada" in first.content
    assert [(each.status_code, each.json()["code"]) for each in (again, forged)] == [
        (410, "gone")
    ] * 2
    assert "Dieser Link wurde schon benutzt" in for_people.text
