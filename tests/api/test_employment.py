"""Employment records over HTTP: dated changes of a user, single records, and the last day."""

from __future__ import annotations

from typing import Any

import pytest

from storage.base.values import User
from storage.db.database import Database
from tests.api.conftest import Client
from tests.builders import Acme, a_key, a_person

API = "/api/v1"
THREE = ["monday", "tuesday", "wednesday"]
FIVE = [*THREE, "thursday", "friday"]


@pytest.fixture
def ada(database: Database, acme: Acme) -> User:
    return a_person(database, acme)


def records(client: Client, key: str, user: User) -> list[dict[str, Any]]:
    body = client.get(f"{API}/users/{user.id}/employment", key).json()
    assert body["pagination"] == {"next_cursor": None, "has_more": False}
    data: list[dict[str, Any]] = body["data"]
    return data


def test_a_user_always_has_a_first_record(client: Client, key: str, ada: User) -> None:
    assert records(client, key, ada) == [
        {
            "id": ada.id,
            "valid_from": None,
            "working_days": FIVE,
            "leave_allowance": None,
            "public_holiday_country_code": None,
            "department_id": None,
        }
    ]

    client.patch(f"{API}/users/{ada.id}", key, json={"start_date": "2024-03-01"})

    assert [record["valid_from"] for record in records(client, key, ada)] == ["2024-03-01"]


def test_effective_from_dates_a_change(client: Client, key: str, ada: User) -> None:
    change = {"working_days": THREE, "leave_allowance": 15, "effective_from": "2026-09-01"}

    user = client.patch(f"{API}/users/{ada.id}", key, json=change).json()

    assert (user["working_days"], user["leave_allowance"]) == (FIVE, None)
    first, second = records(client, key, ada)
    assert first["working_days"] == FIVE
    assert (second["valid_from"], second["working_days"], second["leave_allowance"]) == (
        "2026-09-01",
        THREE,
        15,
    )
    balance = client.get(f"{API}/users/{ada.id}/balance?on=2026-06-01", key).json()
    assert balance["working_days"] == FIVE
    # 243 days of 25 and 122 of 15: 21.66, rounded up to 22.
    assert balance["ledger"] == [
        {"type": "allowance", "days": 25, "source": "organisation"},
        {"type": "allowance_change", "days": -3, "valid_from": "2026-09-01"},
    ]
    later = client.get(f"{API}/users/{ada.id}/balance?on=2026-09-01", key).json()
    assert later["working_days"] == THREE


def test_refusals_name_the_field(client: Client, key: str, ada: User) -> None:
    path = f"{API}/users/{ada.id}"
    client.patch(path, key, json={"start_date": "2026-02-01", "end_date": "2026-11-30"})
    client.post(f"{path}/employment", key, json={"valid_from": "2026-08-01"})

    def refused(response: Any) -> tuple[int, str, str | None]:
        problem = response.json()
        errors = problem.get("errors") or [{"pointer": None}]
        return response.status_code, problem["code"], errors[0]["pointer"]

    dated = {"working_days": THREE, "effective_from": "2026-01-01"}
    assert refused(client.patch(path, key, json=dated)) == (
        422,
        "before_start_date",
        "/effective_from",
    )
    again = client.post(f"{path}/employment", key, json={"valid_from": "2026-08-01"})
    assert refused(again) == (409, "employment_record_exists", None)
    first = f"{path}/employment/{ada.id}"
    assert refused(client.delete(first, key)) == (409, "first_employment_record", None)
    new = {"email": "x@example.com", "first_name": "X", "last_name": "Y"}
    dated_person = client.post(f"{API}/users", key, json=new | {"effective_from": "2026-02-01"})
    assert refused(dated_person) == (422, "unknown_field", "/effective_from")


def test_the_personal_feed_has_the_public_holidays_of_each_record(
    client: Client, database: Database, acme: Acme, key: str, ada: User
) -> None:
    own = a_key(database, acme, ada)
    change = {"public_holiday_country_code": "FR", "effective_from": "2026-08-01"}
    feed = client.get(f"{API}/calendar-feeds/token", own).json()["feeds"]["personal"]
    before = client.get(feed)

    client.patch(f"{API}/users/{ada.id}", key, json=change)

    after = client.get(feed)
    assert after.headers["ETag"] != before.headers["ETag"]
    # 14 July is before the change, 15 August after it.
    assert "DTSTART;VALUE=DATE:20260714" not in after.text
    assert "DTSTART;VALUE=DATE:20260815" in after.text
    assert "DTSTART;VALUE=DATE:20260815" not in before.text
