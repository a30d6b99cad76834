"""Absence limits over HTTP: requests that would leave too few people at work."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from typing import Any

import pytest

from storage.base.values import User
from storage.db.database import Database
from tests.api.conftest import Client
from tests.builders import Acme, a_department, a_key, a_person, type_id

FRIDAY = date(2026, 12, 18)
pytestmark = pytest.mark.both_engines


class Team:
    """People of one department, each with an API key, and who asks for leave as them."""

    def __init__(self, client: Client, database: Database, acme: Acme, names: str) -> None:
        self.client, self.database, self.acme = client, database, acme
        self.department = a_department(database, acme, name="Support")
        self.people: dict[str, User] = {}
        self.keys: dict[str, str] = {}
        self.admin_key = a_key(database, acme)
        for name in names:
            self.join(name)

    def join(self, name: str, **fields: Any) -> None:
        in_department = {"department_id": self.department.id, "first_name": name}
        person = a_person(self.database, self.acme, **in_department | fields)
        self.people[name] = person
        self.keys[name] = a_key(self.database, self.acme, person)

    def limit(self, **fields: Any) -> str:
        body = {"name": "Support", "department_id": self.department.id} | fields
        response = self.client.post("/api/v1/absence-limits", self.admin_key, json=body)
        assert response.status_code == 201, response.text
        limit_id: str = response.json()["id"]
        return limit_id

    def ask(self, name: str, day: date = FRIDAY, key: str = "", **fields: Any) -> Any:
        body = self.draft(day) | fields
        return self.client.post("/api/v1/leave-requests", key or self.keys[name], json=body)

    def draft(self, day: date = FRIDAY, code: str = "annual") -> dict[str, Any]:
        return {
            "leave_type_id": type_id(self.database, self.acme, code),
            "start_date": day.isoformat(),
            "end_date": day.isoformat(),
        }

    def approve(self, request: Any) -> None:
        path = f"/api/v1/approvals/{request.json()['id']}/approve"
        assert self.client.post(path, self.admin_key).status_code == 200


@pytest.fixture
def team(client: Client, database: Database, acme: Acme) -> Team:
    """Four people from Monday to Friday."""
    return Team(client, database, acme, "ABCD")


def test_max_away_2_of_4_refuses_the_third(team: Team) -> None:
    limit_id = team.limit(max_away=2)
    team.approve(team.ask("A"))
    team.ask("B")

    refused = team.ask("C")

    assert refused.status_code == 422
    problem = refused.json()
    assert problem["code"] == "absence_limit"
    assert problem["detail"] == "Fri 18 Dec: 3 of 4 away (limit 2)"
    assert (problem["day"], problem["absence_limit_id"]) == ("2026-12-18", limit_id)


def test_a_limit_that_warns_lets_the_third_pass(team: Team) -> None:
    team.limit(max_away=2, enforcement="warn")
    team.approve(team.ask("A"))
    second = team.ask("B")

    third = team.ask("C")

    assert second.json()["warnings"] == []
    assert third.status_code == 201
    (warning,) = third.json()["warnings"]
    assert (warning["code"], warning["detail"]) == (
        "absence_limit",
        "Fri 18 Dec: 3 of 4 away (limit 2)",
    )


def test_a_morning_and_an_afternoon_do_not_add_up(team: Team) -> None:
    team.limit(max_away=2)
    team.ask("A", end_half_day="am")
    team.ask("B", start_half_day="pm")

    assert team.ask("C").status_code == 201


def test_min_present_counts_only_people_who_work_then(
    client: Client, database: Database, acme: Acme
) -> None:
    team = Team(client, database, acme, "ABC")
    team.join("D", working_days=["monday", "tuesday", "wednesday", "thursday"])
    team.limit(min_present=2)

    first, second = team.ask("A"), team.ask("B")

    assert first.status_code == 201
    assert second.status_code == 422
    assert second.json()["detail"] == "Fri 18 Dec: 1 of 4 at work (at least 2)"


def test_two_who_ask_at_once_for_the_last_place_one_gets_it(team: Team) -> None:
    two = [team.people[name].id for name in "AB"]
    team.limit(department_id=None, user_ids=two, max_away=1)
    statuses = []

    with ThreadPoolExecutor(2) as pool:
        for number in range(10):
            day = date(2027, 1, 4) + timedelta(weeks=number)
            asked = pool.map(lambda name, day=day: team.ask(name, day).status_code, "AB")
            statuses.append(sorted(asked))

    assert statuses == [[201, 422]] * 10


def test_leave_that_needs_no_approval_is_never_refused(team: Team) -> None:
    team.limit(max_away=0)

    sick = team.ask("A", **team.draft(code="sick"))

    assert sick.status_code == 201
    assert sick.json()["warnings"] == []
    assert team.ask("B").json()["detail"] == "Fri 18 Dec: 2 of 4 away (limit 0)"


def test_an_admin_records_past_a_limit_with_a_reason(team: Team) -> None:
    team.limit(max_away=0)
    for_a: dict[str, Any] = {"user_id": team.people["A"].id}

    refused = team.ask("A", key=team.admin_key, **for_a)
    recorded = team.ask("A", key=team.admin_key, override_reason="Wedding", **for_a)

    assert refused.json()["code"] == "absence_limit"
    assert recorded.status_code == 201
    assert [warning["code"] for warning in recorded.json()["warnings"]] == ["absence_limit"]


def test_a_change_warns_of_the_days_that_it_adds(team: Team) -> None:
    team.limit(max_away=1, enforcement="warn")
    monday = FRIDAY + timedelta(days=3)
    team.ask("A", end_date=monday.isoformat())
    pending, approved = team.ask("B"), team.ask("C")
    team.approve(approved)

    def longer(name: str, request: Any, **fields: Any) -> Any:
        path = f"/api/v1/leave-requests/{request.json()['id']}"
        body = {"end_date": monday.isoformat()} | fields
        return team.client.patch(path, team.keys[name], json=body)

    edited, amended = longer("B", pending), longer("C", approved)
    same = longer("B", pending, **edited.json())

    assert [each["detail"] for each in pending.json()["warnings"]] == [
        "Fri 18 Dec: 2 of 4 away (limit 1)"
    ]
    assert [each["detail"] for each in edited.json()["warnings"]] == [
        "Mon 21 Dec: 2 of 4 away (limit 1)"
    ]
    assert amended.json()["amendment"] is not None
    assert [each["detail"] for each in amended.json()["warnings"]] == [
        "Mon 21 Dec: 3 of 4 away (limit 1)"
    ]
    assert (same.status_code, same.json()["warnings"]) == (200, [])


def test_an_approver_may_approve_what_exceeds_a_new_limit(team: Team) -> None:
    pending = [team.ask(name) for name in "ABC"]
    team.limit(max_away=1)

    for each in pending:
        team.approve(each)


def test_a_change_is_refused_only_for_the_days_it_adds(team: Team) -> None:
    booked = team.ask("A", end_date="2026-12-21").json()
    team.ask("B", date(2026, 12, 22))
    team.limit(max_away=0, to="2026-12-21")
    team.limit(max_away=1)
    path = f"/api/v1/leave-requests/{booked['id']}"

    longer = team.client.patch(path, team.keys["A"], json={"end_date": "2026-12-22"})
    shorter = team.client.patch(path, team.keys["A"], json={"end_date": "2026-12-18"})

    assert longer.json()["detail"] == "Tue 22 Dec: 2 of 4 away (limit 1)"
    assert shorter.status_code == 200


def test_a_dry_run_counts_the_requests_that_a_limit_would_have_refused(team: Team) -> None:
    for name in "AB":
        team.ask(name, date(2026, 6, 5))
    team.ask("C", **team.draft(date(2026, 6, 5), code="sick"))
    for_c = {"user_id": team.people["C"].id, "override_reason": "Wedding"}
    team.ask("C", date(2026, 6, 8), key=team.admin_key, **for_c)
    team.ask("D", date(2026, 6, 5))
    body = {"name": "Support", "department_id": team.department.id, "max_away": 2}
    no_one = {"name": "Monday", "max_away": 0, "from": "2026-06-08"}
    path = "/api/v1/absence-limits?dry_run=true"
    overridden = team.client.post(path, team.admin_key, json=no_one).json()["totals"]

    block, warn = (
        team.client.post(path, team.admin_key, json=body | {"enforcement": enforcement}).json()[
            "totals"
        ]
        for enforcement in ("block", "warn")
    )

    assert overridden["refused"] == 0
    assert (block["refused"], block["warned"]) == (1, 0)
    assert (warn["refused"], warn["warned"]) == (0, 1)
    assert team.client.get("/api/v1/absence-limits", team.admin_key).json()["data"] == []


def test_a_preview_says_what_a_limit_would_say(team: Team) -> None:
    team.limit(max_away=0, to="2026-12-18")
    team.limit(max_away=0, enforcement="warn", **{"from": "2026-12-21"})
    draft = team.draft() | {"end_date": "2026-12-22"}

    preview = team.client.post("/api/v1/leave-requests/preview", team.keys["A"], json=draft).json()

    assert [each["detail"] for each in preview["refusals"]] == ["Fri 18 Dec: 1 of 4 away (limit 0)"]
    assert [each["detail"] for each in preview["warnings"]] == [
        "Mon 21 Dec to Tue 22 Dec: 1 of 4 away (limit 0)"
    ]
