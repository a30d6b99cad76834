"""Falling ill on leave over REST: what the owner, the approver and the feed see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from icalendar import Calendar

from storage.db.database import Database
from tests.api.conftest import Client
from tests.builders import (
    NOW,
    Acme,
    a_key,
    a_person,
    an_organisation,
    caller_for,
    personal_token,
    type_id,
)

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]

REQUESTS = "/api/v1/leave-requests"


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Ada's approved week, from Monday 3 to Friday 7 August; Grace approves."""

    client: Client
    acme: Acme
    ada: str
    grace: str
    token: str
    sick: str
    request: dict[str, Any]

    def interrupt(self, key: str | None = None, **body: Any) -> httpx.Response:
        headers = body.pop("headers", None)
        path = f"{REQUESTS}/{self.request['id']}/interruptions"
        body = {"leave_type_id": self.sick, "start_date": "2026-08-05", **body}
        body.setdefault("end_date", body["start_date"])
        return self.client.post(path, key or self.ada, json=body, headers=headers)

    def events(self) -> dict[str, tuple[int, str]]:
        """SEQUENCE and STATUS of the leave in Ada's feed, by UID."""
        feed = Calendar.from_ical(self.client.get(f"/cal/{self.token}").content)
        return {
            str(event["UID"]): (int(str(event["SEQUENCE"])), str(event["STATUS"]))
            for event in feed.walk("VEVENT")
            if not str(event["UID"]).startswith("holiday-")
        }


@pytest.fixture
def case(client: Client, database: Database) -> Case:
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    keys = [a_key(database, acme, user) for user in (ada, grace)]
    body = {
        "leave_type_id": type_id(database, acme),
        "start_date": "2026-08-03",
        "end_date": "2026-08-07",
    }
    request = client.post(REQUESTS, keys[0], json=body).json()
    client.post(f"/api/v1/approvals/{request['id']}/approve", keys[1])
    return Case(
        client=client,
        acme=acme,
        ada=keys[0],
        grace=keys[1],
        token=database.write_now(personal_token, by=caller_for(acme, ada), now=NOW),
        sick=type_id(database, acme, "sick"),
        request=client.get(f"{REQUESTS}/{request['id']}", keys[0]).json(),
    )


def test_two_sick_days_in_the_middle_and_one_of_them_cancelled(case: Case) -> None:
    before = case.events()

    response = case.interrupt(end_date="2026-08-06", note="Flu")

    interrupted = response.json()
    request, interruption, remainder = (
        interrupted[name] for name in ("request", "interruption", "remainder")
    )
    assert response.status_code == 201
    assert response.headers["Location"] == f"{REQUESTS}/{interruption['id']}"
    assert (request["id"], request["end_date"], request["total_days"]) == (
        case.request["id"],
        "2026-08-04",
        2,
    )
    assert (
        interruption.items()
        >= {
            "status": "approved",
            "leave_type_id": case.sick,
            "start_date": "2026-08-05",
            "end_date": "2026-08-06",
            "total_days": 2,
            "note": "Flu",
            "interrupts": request["id"],
            "split_from": None,
            "recorded_by": None,
        }.items()
    )
    assert (
        remainder.items()
        >= {
            "status": "approved",
            "start_date": "2026-08-07",
            "total_days": 1,
            "split_from": request["id"],
            "interrupts": None,
            "decided_by": case.request["decided_by"],
        }.items()
    )
    shown = case.client.get(f"{REQUESTS}?status=approved", case.ada).json()["data"]
    assert {each["id"]: each for each in shown} == {
        each["id"]: each for each in (request, interruption, remainder)
    }
    after = case.events()
    assert after[request["id"]][0] > before[request["id"]][0]
    assert after.keys() == {request["id"], interruption["id"], remainder["id"]}

    shorter = case.client.patch(
        f"{REQUESTS}/{interruption['id']}", case.ada, json={"end_date": "2026-08-05"}
    )

    assert shorter.json()["total_days"] == 1
    longer = case.client.get(f"{REQUESTS}/{remainder['id']}", case.ada).json()
    assert (longer["start_date"], longer["total_days"]) == ("2026-08-06", 2)

    case.client.post(f"{REQUESTS}/{interruption['id']}/cancel", case.ada)

    whole = case.client.get(f"{REQUESTS}/{request['id']}", case.ada).json()
    assert (whole["end_date"], whole["total_days"]) == ("2026-08-05", 3)
    assert case.events()[request["id"]][0] > after[request["id"]][0]


def test_refusals_name_the_field(case: Case) -> None:
    cases: list[tuple[dict[str, Any], tuple[int, str, list[str]]]] = [
        ({"end_date": "2026-08-08"}, (422, "outside_leave", ["/end_date"])),
        (
            {"leave_type_id": case.request["leave_type_id"]},
            (422, "leave_type_cannot_interrupt", ["/leave_type_id"]),
        ),
        ({"colour": "red"}, (422, "unknown_field", ["/colour"])),
    ]

    for body, refusal in cases:
        problem = case.interrupt(**body)
        assert (
            problem.status_code,
            problem.json()["code"],
            [error["pointer"] for error in problem.json()["errors"]],
        ) == refusal
    assert case.client.get(f"{REQUESTS}/{case.request['id']}", case.ada).json() == case.request
    case.client.post(f"{REQUESTS}/{case.request['id']}/cancel", case.ada)
    problem = case.interrupt()
    assert (problem.status_code, problem.json()["leave_status"]) == (409, "cancelled")
