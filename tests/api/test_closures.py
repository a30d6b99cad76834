"""Closures over HTTP: dry runs, what leave and events show, and what is refused."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from storage.db.database import Database
from storage.leave import leave_requests
from storage.leave.drafts import Draft
from tests.api.conftest import Client
from tests.builders import NOW, Acme, a_key, a_leave_type, a_person, caller_for, type_id

pytestmark = pytest.mark.shared_database

CLOSURES = "/api/v1/closures"


def christmas(database: Database, acme: Acme, **fields: Any) -> dict[str, Any]:
    return {
        "name": "Christmas closure",
        "leave_type_id": type_id(database, acme),
        "start_date": "2026-12-24",
        "end_date": "2027-01-01",
        **fields,
    }


def test_a_dry_run_lists_home_office_that_the_closure_takes(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    ada = a_person(database, acme)
    home = a_leave_type(database, acme, name="Home office", is_away=False, requires_approval=False)
    day = date(2026, 12, 30)
    draft = Draft(leave_type_id=home.id, start_date=day, end_date=day)
    database.write_now(leave_requests.submit, by=caller_for(acme, ada), draft=draft, now=NOW)

    effects = client.post(f"{CLOSURES}?dry_run=true", key, json=christmas(database, acme)).json()

    replaced = {person["user"]["id"]: person["days_replaced"] for person in effects["people"]}
    assert replaced == {ada.id: 1, acme.owner.id: 0}


def test_dry_runs_list_each_person_with_days_and_balances(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    ada = a_person(database, acme, leave_allowance_half_days=6)
    body = christmas(database, acme)

    booked = client.post(f"{CLOSURES}?dry_run=true", key, json=body)
    skipped = client.post(f"{CLOSURES}?dry_run=true", key, json=body | {"when_short": "skip"})
    closure = client.post(CLOSURES, key, json=body).json()
    path = f"{CLOSURES}/{closure['id']}?dry_run=true"
    shortened = client.patch(path, key, json={"end_date": "2026-12-30"})
    deleted = client.request("DELETE", path, key=key)

    assert {answer.status_code for answer in (booked, skipped, shortened, deleted)} == {200}
    first, olive = booked.json()["people"]
    # Negative balances come first.
    assert first["user"]["id"] == ada.id
    assert olive["user"]["id"] == acme.owner.id
    assert (first["days_before"], first["days_after"]) == (0, 4)
    (leave,) = first["leave"]
    assert (leave["start_date"], leave["end_date"], leave["days"], leave["leave_request_id"]) == (
        "2026-12-24",
        "2026-12-31",
        4,
        None,
    )
    (balance,) = first["balances"]
    assert (balance["before"], balance["after"]) == (3, -1)
    assert booked.json()["totals"] == {
        "people": 2,
        "days_before": 0,
        "days_after": 8,
        "skipped": 0,
        "overdrawn": 1,
    }
    assert [user["id"] for user in skipped.json()["skipped"]] == [ada.id]
    assert [person["user"]["id"] for person in skipped.json()["people"]] == [acme.owner.id]
    assert shortened.json()["totals"]["days_after"] == 6
    assert {person["days_after"] for person in deleted.json()["people"]} == {0}
    assert client.get(CLOSURES, key).json()["data"] == [closure]


def test_leave_of_a_closure_is_marked_and_cannot_be_changed(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    ada = a_person(database, acme)
    own = a_key(database, acme, ada)
    closure = client.post(CLOSURES, key, json=christmas(database, acme)).json()
    (leave,) = client.get("/api/v1/leave-requests", own).json()["data"]
    path = f"/api/v1/leave-requests/{leave['id']}"

    answers = [
        client.post(f"{path}/cancel", own),
        client.patch(path, own, json={"note": "Mine"}),
        client.patch(path, key, json={"end_date": "2026-12-30"}),
    ]
    cancelled = client.post(f"{path}/cancel", key)
    listed, others = (
        client.get(f"/api/v1/leave-requests?user_id={ada.id}&closure_id={each}", key).json()["data"]
        for each in (closure["id"], ada.id)
    )

    assert [each["id"] for each in listed] == [leave["id"]]
    assert others == []
    assert (leave["closure_id"], leave["status"]) == (closure["id"], "approved")
    assert leave["total_days"] == 4
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [
        (409, "closure_leave")
    ] * 3
    assert cancelled.json()["status"] == "cancelled"
    shown = client.get(f"{CLOSURES}/{closure['id']}", key).json()
    assert shown["excluded_user_ids"] == [ada.id]


def test_a_closure_that_is_over_is_refused(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    body = christmas(database, acme, start_date="2026-05-04", end_date="2026-05-05")

    refused = client.post(CLOSURES, key, json=body)

    assert refused.status_code == 422
    assert [error["code"] for error in refused.json()["errors"]] == ["past_days"]


def test_a_dry_run_of_a_persons_change_counts_their_leave_of_closures(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    ada = a_person(database, acme, end_date=date(2026, 12, 1))
    client.post(CLOSURES, key, json=christmas(database, acme))

    effects = client.patch(f"/api/v1/users/{ada.id}?dry_run=true", key, json={"end_date": None})

    assert effects.json()["totals"]["closures"] == 1
