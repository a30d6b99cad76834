"""Changes of approved leave over REST: what the owner, the approver and the feeds see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from icalendar import Calendar

from storage.db.database import Database
from tests.api.conftest import Client
from tests.builders import a_key, a_person, an_organisation

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]

REQUESTS = "/api/v1/leave-requests"
PENDING = "/api/v1/approvals/pending"


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Ada's approved week, from Monday 3 to Friday 7 August; Grace approves."""

    client: Client
    ada: str
    grace: str
    owner: str
    request: dict[str, Any]

    @property
    def path(self) -> str:
        return f"{REQUESTS}/{self.request['id']}"

    def change(self, key: str | None = None, **to: Any) -> httpx.Response:
        return self.client.patch(self.path, key or self.ada, json=to)

    def decide(self, decision: str, **body: Any) -> httpx.Response:
        path = f"/api/v1/approvals/{self.request['id']}/{decision}"
        return self.client.post(path, self.grace, json=body)

    def current(self) -> dict[str, Any]:
        current: dict[str, Any] = self.client.get(self.path, self.ada).json()
        return current


@pytest.fixture
def case(client: Client, database: Database) -> Case:
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    keys = [a_key(database, acme, user) for user in (ada, grace, acme.owner)]
    types = client.get("/api/v1/leave-types", keys[0]).json()["data"]
    annual = next(leave_type["id"] for leave_type in types if leave_type["code"] == "annual")
    body = {"leave_type_id": annual, "start_date": "2026-08-03", "end_date": "2026-08-07"}
    request = client.post(REQUESTS, keys[0], json=body).json()
    client.post(f"/api/v1/approvals/{request['id']}/approve", keys[1])
    return Case(client=client, ada=keys[0], grace=keys[1], owner=keys[2], request=request)


def test_an_amendment_is_shown_beside_the_leave_as_it_is(case: Case) -> None:
    response = case.change(end_date="2026-08-10", note="By train")

    amended = response.json()
    assert amended.pop("warnings") == []
    amendment = amended["amendment"]
    assert (response.status_code, amended["status"], amended["end_date"]) == (
        200,
        "approved",
        "2026-08-07",
    )
    assert amended["note"] is None
    assert amendment == {
        "id": amendment["id"],
        "leave_type_id": case.request["leave_type_id"],
        "start_date": "2026-08-03",
        "end_date": "2026-08-10",
        "start_half_day": None,
        "end_half_day": None,
        "note": "By train",
        "cancels": False,
        "total_days": 6,
        "requested_at": amended["updated_at"],
        "requested_by": case.request["user_id"],
        "approvals": [],
    }
    listed = case.client.get(REQUESTS, case.ada).json()["data"]
    assert (case.current(), listed) == (amended, [amended])


def test_its_approver_lists_and_approves_it(case: Case) -> None:
    other = {**case.request, "start_date": "2026-09-07", "end_date": "2026-09-07"}
    fields = ("leave_type_id", "start_date", "end_date")
    pending = case.client.post(REQUESTS, case.ada, json={name: other[name] for name in fields})
    amended = case.change(end_date="2026-08-10").json()

    listed = case.client.get(PENDING, case.grace).json()["data"]
    response = case.decide("approve")

    assert [{**each, "warnings": []} for each in listed] == [
        {**amended, "kind": "amendment", "warnings": []},
        {**pending.json(), "kind": "request"},
    ]
    assert response.status_code == 200
    assert response.json() == case.current()
    assert (response.json()["end_date"], response.json()["amendment"]) == ("2026-08-10", None)
    assert (
        response.json()["decided_at"] == case.client.get(case.path, case.owner).json()["decided_at"]
    )


def test_feeds_show_nothing_before_the_approval(case: Case) -> None:
    feed = case.client.get("/api/v1/calendar-feeds/token", case.ada).json()["feeds"]["personal"]

    def event() -> tuple[bytes, Any]:
        content = case.client.get(feed).content
        (shown,) = [
            event
            for event in Calendar.from_ical(content).walk("VEVENT")
            if str(event["UID"]).startswith(case.request["id"])
        ]
        return content, shown

    before, event_before = event()
    case.change(end_date="2026-08-10")
    case.decide("decline")
    case.change(end_date="2026-08-11")
    meanwhile, _ = event()
    case.decide("approve")
    _, event_after = event()

    assert meanwhile == before
    assert event_after["UID"] == event_before["UID"]
    assert event_after["SEQUENCE"] > event_before["SEQUENCE"]
    assert str(event_after["DTEND"].dt) == "2026-08-12"
