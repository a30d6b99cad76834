"""Leave in both of its shapes, for oneself and recorded for others, as a client sees it."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import httpx
import pytest

from storage.db.database import Database
from tests.api.conftest import Client
from tests.api.team import Team, a_team
from tests.builders import a_key, a_person

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]

REQUESTS = "/api/v1/leave-requests"
LEAVE = "/api/v1/leave"


@pytest.fixture
def team(database: Database) -> Team:
    return a_team(database)


def created(client: Client, team: Team, start: str, end: str, **more: Any) -> dict[str, Any]:
    body = {"leave_type_id": team.annual, "start_date": start, "end_date": end, **more}
    response = client.post(REQUESTS, team.adas_key, json=body)
    assert response.status_code == 201, response.text
    request: dict[str, Any] = response.json()
    return request


def test_a_new_request_is_pending_and_shows_every_documented_field(
    client: Client, team: Team
) -> None:
    body = {
        "leave_type_id": team.annual,
        "start_date": "2026-08-03",
        "end_date": "2026-08-07",
        "end_half_day": "am",
        "note": "Sea.",
    }

    response = client.post(REQUESTS, team.adas_key, json=body)

    request = response.json()
    assert response.status_code == 201
    assert request.items() >= body.items()
    assert request["status"] == "pending"
    assert request["total_days"] == 4.5
    assert request["user_id"] == team.ada.id
    assert request["start_half_day"] is None
    assert request.pop("warnings") == []
    assert client.get(response.headers["Location"], team.adas_key).json() == request


def test_the_second_shape_marks_half_days_at_both_ends(client: Client, team: Team) -> None:
    created(client, team, "2026-08-03", "2026-08-03", start_half_day="pm")

    (request,) = client.get(LEAVE, team.adas_key).json()["requests"]

    assert set(request) == {
        "id",
        "user_id",
        "leave_type",
        "start_date",
        "end_date",
        "half_day_start",
        "half_day_end",
        "days",
        "status",
        "note",
        "created_at",
    }
    assert (request["leave_type"], request["days"], request["note"]) == ("annual", 0.5, "")
    assert (request["half_day_start"], request["half_day_end"]) == (True, False)


@pytest.mark.parametrize("word", ["annual", "Annual leave", "ANNUAL"])
def test_leave_is_requested_by_the_types_code_or_name(
    client: Client, team: Team, word: str
) -> None:
    body = {"leave_type": word, "start_date": "2026-08-03", "end_date": "2026-08-04"}

    response = client.post(LEAVE, team.adas_key, json=body)

    assert response.status_code == 201
    assert (response.json()["leave_type"], response.json()["days"]) == ("annual", 2)
    assert client.get(response.headers["Location"], team.adas_key).status_code == 200


def test_date_filters_of_the_second_list_exclude_the_day_itself(client: Client, team: Team) -> None:
    for day in ("2026-08-03", "2026-08-04", "2026-08-05"):
        created(client, team, day, day)

    query = "?start_date=2026-08-03&end_date=2026-08-05"
    requests = client.get(LEAVE + query, team.adas_key).json()["requests"]

    assert [request["start_date"] for request in requests] == ["2026-08-04"]


def test_a_decided_request_refuses_another_decision(client: Client, team: Team) -> None:
    request = created(client, team, "2026-08-03", "2026-08-07")
    waiting = client.get("/api/v1/approvals/pending", team.graces_key).json()["data"]
    assert [item["id"] for item in waiting] == [request["id"]]

    approved = client.post(f"/api/v1/approvals/{request['id']}/approve", team.graces_key)
    again = client.post(f"/api/v1/approvals/{request['id']}/decline", team.graces_key)

    assert approved.json()["status"] == "approved"
    assert approved.json()["decided_at"] == "2026-06-01T09:00:00Z"
    assert (again.status_code, again.json()["code"]) == (409, "invalid_transition")
    assert again.json()["leave_status"] == "approved"
    assert client.get("/api/v1/approvals/pending", team.graces_key).json()["data"] == []


def test_the_second_list_is_paged_only_on_request(client: Client, team: Team) -> None:
    # More than a page's usual length, in halves so that the allowance suffices.
    for day in range(3, 33):
        weekday = date(2026, 8, 1) + timedelta(days=day)
        if weekday.weekday() < 5:
            for half in ("am", "pm"):
                created(
                    client, team, str(weekday), str(weekday), start_half_day=half, end_half_day=half
                )

    whole = client.get(LEAVE, team.adas_key).json()
    page = client.get(f"{LEAVE}?limit=1", team.adas_key).json()

    assert set(whole) == {"requests"}
    assert len(whole["requests"]) > 25
    assert len(page["requests"]) == 1
    assert page["pagination"]["has_more"] is True


def test_an_approval_past_the_allowance_needs_an_admin_s_reason(client: Client, team: Team) -> None:
    request = created(client, team, "2026-08-03", "2026-08-07")
    allowance = client.patch(
        f"/api/v1/users/{team.ada.id}", team.owners_key, json={"leave_allowance": 2}
    )
    assert allowance.status_code == 200
    url = f"/api/v1/approvals/{request['id']}/approve"

    refused = client.post(url, team.graces_key)
    forbidden = client.post(url, team.graces_key, json={"override_reason": "Agreed"})
    approved = client.post(url, team.owners_key, json={"override_reason": "Agreed"})

    assert (refused.status_code, refused.json()["code"]) == (422, "insufficient_allowance")
    assert (forbidden.status_code, forbidden.json()["code"]) == (403, "override_not_allowed")
    assert approved.status_code == 200
    assert (approved.json()["status"], approved.json()["override_reason"]) == ("approved", "Agreed")


def test_an_admin_changes_leave_past_the_allowance_with_a_reason(
    client: Client, team: Team
) -> None:
    request = created(client, team, "2026-08-03", "2026-08-07")
    client.patch(f"/api/v1/users/{team.ada.id}", team.owners_key, json={"leave_allowance": 2})
    url = f"{REQUESTS}/{request['id']}"
    longer = {"end_date": "2026-08-10", "override_reason": "Agreed"}

    shortened = client.patch(url, team.adas_key, json={"end_date": "2026-08-06"})
    forbidden = client.patch(url, team.adas_key, json=longer)
    changed = client.patch(url, team.owners_key, json=longer)

    assert shortened.status_code == 200
    assert (forbidden.status_code, forbidden.json()["code"]) == (403, "override_not_allowed")
    assert (changed.json()["total_days"], changed.json()["override_reason"]) == (6, "Agreed")


PREVIEW = "/api/v1/leave-requests/preview"


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
    assert request.pop("warnings") == []
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
