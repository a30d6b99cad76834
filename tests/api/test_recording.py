"""Leave that one person records for another, over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from storage.db.database import Database
from tests.api.conftest import Client
from tests.api.team import Team, a_team
from tests.builders import a_key, a_person

pytestmark = pytest.mark.shared_database

REQUESTS = "/api/v1/leave-requests"
PREVIEW = "/api/v1/leave-requests/preview"


@pytest.fixture
def team(database: Database) -> Team:
    return a_team(database)


def body_of(team: Team, leave_type_id: str, **more: Any) -> dict[str, Any]:
    return {
        "leave_type_id": leave_type_id,
        "start_date": "2026-05-28",
        "end_date": "2026-05-29",
        "user_id": team.ada.id,
        **more,
    }


def refused(response: httpx.Response) -> tuple[int, str, list[str]]:
    problem = response.json()
    return (
        response.status_code,
        problem["code"],
        [error["pointer"] for error in problem.get("errors", [])],
    )


def test_a_manager_records_sick_leave_in_the_past(client: Client, team: Team) -> None:
    body = body_of(team, team.sick, note="Flu")

    response = client.post(REQUESTS, team.graces_key, json=body)

    request = response.json()
    assert response.status_code == 201
    assert request.items() >= body.items()
    assert request["status"] == "approved"
    assert request["recorded_by"] == request["decided_by"] == team.grace.id
    assert request["override_reason"] is None
    assert client.get(response.headers["Location"], team.graces_key).json() == request
    listed = client.get(f"{REQUESTS}?user_id={team.ada.id}", team.owners_key).json()["data"]
    assert listed == [request]
    cancelled = client.post(f"{REQUESTS}/{request['id']}/cancel", team.graces_key)
    assert cancelled.json()["status"] == "cancelled"


def test_refusals_name_the_field(client: Client, database: Database, team: Team) -> None:
    hedys_key = a_key(database, team.acme, a_person(database, team.acme, first_name="Hedy"))
    cases: list[tuple[str, str, dict[str, Any], tuple[int, str, list[str]]]] = [
        (hedys_key, team.sick, {}, (403, "recording_not_allowed", ["/user_id"])),
        (team.graces_key, team.annual, {}, (403, "leave_type_not_recordable", ["/leave_type_id"])),
        (
            team.owners_key,
            team.sick,
            {"override_reason": "Why", "user_id": None},
            (422, "override_of_own_leave", ["/override_reason"]),
        ),
    ]

    for key, leave_type_id, more, refusal in cases:
        body = body_of(team, leave_type_id, **more)
        assert refused(client.post(REQUESTS, key, json=body)) == refusal
        previewed = client.post(PREVIEW, key, json=body)
        if refusal[1] == "leave_type_not_recordable":
            assert [each["code"] for each in previewed.json()["refusals"]] == [refusal[1]]
        else:
            assert refused(previewed) == refusal
    assert client.get(REQUESTS, team.owners_key).json()["data"] == []


def test_a_preview_of_a_change_has_no_user(client: Client, database: Database, team: Team) -> None:
    adas_key = a_key(database, team.acme, team.ada)
    body = body_of(team, team.annual, start_date="2026-07-06", end_date="2026-07-06")
    request = client.post(REQUESTS, adas_key, json=body).json()

    replacing = body | {"replaces": request["id"]}
    assert refused(client.post(PREVIEW, team.owners_key, json=replacing)) == (
        422,
        "not_with_replaces",
        ["/user_id"],
    )
