"""Leave that two people approve, over REST."""

from __future__ import annotations

from typing import Any

import pytest

from storage.db.database import Database
from tests.api.conftest import Client
from tests.api.team import Team, a_team

pytestmark = pytest.mark.shared_database

TYPES, REQUESTS = "/api/v1/leave-types", "/api/v1/leave-requests"
PENDING = "/api/v1/approvals/pending"


@pytest.fixture
def team(client: Client, database: Database) -> Team:
    """Annual leave over two days is also approved by an admin or owner."""
    team = a_team(database)
    second = {"second_approval": {"over_days": 2, "by": "admins"}}
    client.patch(f"{TYPES}/{team.annual}", team.owners_key, json=second).raise_for_status()
    return team


def requested(client: Client, team: Team, last_day: str) -> dict[str, Any]:
    body = {"leave_type_id": team.annual, "start_date": "2026-08-03", "end_date": last_day}
    created: dict[str, Any] = client.post(REQUESTS, team.adas_key, json=body).json()
    return created


def listed(client: Client, key: str) -> list[str]:
    return [request["id"] for request in client.get(PENDING, key).json()["data"]]


def test_a_request_stays_pending_until_its_second_approval(client: Client, team: Team) -> None:
    request = requested(client, team, "2026-08-07")
    approve = f"/api/v1/approvals/{request['id']}/approve"

    first = client.post(approve, team.graces_key).json()
    between = listed(client, team.graces_key), listed(client, team.owners_key)
    second = client.post(approve, team.owners_key).json()

    assert (request["approvals"], between) == ([], ([], [request["id"]]))
    assert (first["status"], first["decided_by"]) == ("pending", None)
    assert [each["user_id"] for each in first["approvals"]] == [team.grace.id]
    assert (second["status"], second["decided_by"]) == ("approved", team.acme.owner.id)
    assert [each["user_id"] for each in second["approvals"]] == [
        team.grace.id,
        team.acme.owner.id,
    ]


def test_the_first_approver_is_refused_a_second_approval(client: Client, team: Team) -> None:
    request = requested(client, team, "2026-08-07")
    approve = f"/api/v1/approvals/{request['id']}/approve"
    client.post(approve, team.graces_key)

    response = client.post(approve, team.graces_key)

    assert (response.status_code, response.json()["code"]) == (409, "second_approval_awaited")


def test_an_amendment_over_the_limit_stays_open_until_its_second_approval(
    client: Client, team: Team
) -> None:
    request = requested(client, team, "2026-08-04")
    approve = f"/api/v1/approvals/{request['id']}/approve"
    client.post(approve, team.graces_key)
    client.patch(f"{REQUESTS}/{request['id']}", team.adas_key, json={"end_date": "2026-08-07"})

    first = client.post(approve, team.graces_key).json()
    second = client.post(approve, team.owners_key).json()

    assert [each["user_id"] for each in first["amendment"]["approvals"]] == [team.grace.id]
    assert (first["end_date"], second["end_date"]) == ("2026-08-04", "2026-08-07")
    assert second["amendment"] is None


@pytest.mark.parametrize(
    ("second", "pointer", "code"),
    [
        ({"by": "admins"}, "/second_approval", "invalid_second_approval"),
        ({"always": True, "by": "grace"}, "/second_approval/by", "unknown_user"),
    ],
)
def test_a_second_approval_that_cannot_be_is_refused(
    client: Client, team: Team, second: dict[str, Any], pointer: str, code: str
) -> None:
    change = {"second_approval": second}

    response = client.patch(f"{TYPES}/{team.annual}", team.owners_key, json=change)

    errors = response.json()["errors"]
    assert response.status_code == 422
    assert [(error["pointer"], error["code"]) for error in errors] == [(pointer, code)]


def test_a_leave_type_is_sent_back_as_it_was_read(client: Client, team: Team) -> None:
    leave_type = client.get(f"{TYPES}/{team.annual}", team.owners_key).json()
    second = leave_type["second_approval"]

    response = client.patch(
        f"{TYPES}/{team.annual}", team.owners_key, json={"second_approval": second}
    )

    assert second == {"always": False, "over_days": 2, "by": "admins"}
    assert response.json() == leave_type
