"""Previews and explained days as a client sees them."""

from __future__ import annotations

from typing import Any

import pytest

from storage.db.database import Database
from tests.api.conftest import Client
from tests.api.team import Team, a_team
from tests.builders import a_key, a_person, a_request, an_organisation, type_id

pytestmark = pytest.mark.shared_database

PREVIEW = "/api/v1/leave-requests/preview"
REQUESTS = "/api/v1/leave-requests"


@pytest.fixture
def team(database: Database) -> Team:
    return a_team(database, country_code="GB-ENG")


def body_of(team: Team, start: str, end: str, **more: Any) -> dict[str, Any]:
    return {"leave_type_id": team.annual, "start_date": start, "end_date": end, **more}


def previewed(client: Client, team: Team, start: str, end: str, **more: Any) -> dict[str, Any]:
    response = client.post(PREVIEW, team.adas_key, json=body_of(team, start, end, **more))
    assert response.status_code == 200, response.text
    preview: dict[str, Any] = response.json()
    return preview


def test_a_preview_explains_skipped_approvers(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    mona = a_person(database, acme, first_name="Mona", last_name="Manager", status="pending")
    ada = a_person(database, acme, manager_id=mona.id)
    body = {"leave_type_id": type_id(database, acme), "start_date": "2026-08-03"}
    body["end_date"] = "2026-08-05"

    preview = client.post(PREVIEW, a_key(database, acme, ada), json=body).json()

    assert [user["id"] for user in preview["approvers"]] == [acme.owner.id]
    assert preview["approvers_note"] == (
        "Skipped, because they have not used Hiatus yet and no Slack account with their confirmed "
        "e-mail address is known: Mona Manager."
    )


def test_a_preview_shows_the_effects_and_stores_nothing(client: Client, team: Team) -> None:
    preview = previewed(client, team, "2026-08-28", "2026-09-01", end_half_day="am")

    assert preview["status"] == "pending"
    assert preview["total_days"] == 1.5
    assert [(day["date"], day["days"], day["reason"]) for day in preview["days"]] == [
        ("2026-08-28", 1, None),
        ("2026-08-29", 0, "not_worked"),
        ("2026-08-30", 0, "not_worked"),
        ("2026-08-31", 0, "public_holiday"),
        ("2026-09-01", 0.5, "not_asked"),
    ]
    assert preview["days"][3] == {
        "date": "2026-08-31",
        "days": 0,
        "am": "public_holiday",
        "pm": "public_holiday",
        "reason": "public_holiday",
        "holiday": "Late Summer Bank Holiday",
        "has_changed": False,
    }
    assert preview["balances"] == [
        {
            "allowance_id": team.acme.id,
            "leave_year": {"name": "2026", "first_day": "2026-01-01", "last_day": "2026-12-31"},
            "before": 25,
            "days": 1.5,
            "after": 23.5,
        }
    ]
    assert [approver["id"] for approver in preview["approvers"]] == [team.grace.id]
    assert preview["approved_because"] is None
    assert (preview["colleagues_off"], preview["colleagues_off_count"]) == ([], 0)
    assert preview["refusals"] == []
    assert client.get(REQUESTS, team.adas_key).json()["data"] == []


def test_a_preview_names_the_day_that_joins_leave_and_a_public_holiday(
    client: Client, team: Team, database: Database
) -> None:
    # Monday 31 August is a bank holiday, so Tuesday makes nine days off in a row.
    bridged = previewed(client, team, "2026-09-02", "2026-09-04")
    taken = previewed(client, team, "2026-09-01", "2026-09-04")
    sick = type_id(database, team.acme, "sick")
    ill = previewed(client, team, "2026-09-02", "2026-09-04", leave_type_id=sick)

    assert bridged["bridge_day"] == {
        "date": "2026-09-01",
        "public_holiday": "2026-08-31",
        "days_off": 9,
    }
    assert taken["bridge_day"] is None
    assert ill["bridge_day"] is None


def test_a_preview_lists_refusals_with_200(client: Client, team: Team, database: Database) -> None:
    booked = a_request(database, team.acme, team.ada)

    preview = previewed(client, team, "2026-08-03", "2026-12-31")
    created = client.post(
        REQUESTS, team.adas_key, json=body_of(team, "2026-08-03", "2026-12-31")
    ).json()

    overlapping, too_little = preview["refusals"]
    assert preview["status"] is None
    assert overlapping["leave_request_id"] == booked.id
    assert overlapping.items() <= created.items()
    assert (too_little["code"], too_little["status"]) == ("insufficient_allowance", 422)
    assert too_little["remaining_days"] == 24
    assert too_little["needed_days"] == preview["total_days"]


def test_a_refusal_points_at_the_wrong_field(client: Client, team: Team) -> None:
    preview = previewed(client, team, "2026-08-08", "2026-08-09")

    assert preview["refusals"][0]["errors"] == [
        {
            "pointer": "/start_date",
            "code": "no_working_time",
            "detail": preview["refusals"][0]["detail"],
        }
    ]
    assert len(preview["days"]) == 2
    backwards = previewed(client, team, "2026-08-09", "2026-08-08")
    assert (backwards["days"], backwards["refusals"][0]["code"]) == ([], "end_before_start")


def test_private_leave_of_a_colleague_is_only_away(
    client: Client, team: Team, database: Database
) -> None:
    hedy = a_person(database, team.acme, first_name="Hedy", manager_id=team.ada.id)
    a_request(database, team.acme, hedy, code="sick")

    preview = previewed(client, team, "2026-08-03", "2026-08-03")

    assert preview["colleagues_off"] == [
        {
            "name": "Hedy Lovelace",
            "start_date": "2026-08-03",
            "end_date": "2026-08-03",
            "start_half_day": None,
            "end_half_day": None,
            "leave_type": "Away",
        }
    ]


def test_a_requests_days_are_explained(client: Client, team: Team, database: Database) -> None:
    request = a_request(database, team.acme, team.ada, start_half_day="pm")

    days = client.get(f"{REQUESTS}/{request.id}/days", team.adas_key).json()

    assert days == {
        "leave_request_id": request.id,
        "total_days": 0.5,
        "days": [
            {
                "date": "2026-08-03",
                "days": 0.5,
                "am": "not_asked",
                "pm": "counted",
                "reason": "not_asked",
                "holiday": None,
                "has_changed": False,
            }
        ],
    }
    stranger = a_key(database, team.acme, a_person(database, team.acme, first_name="Hedy"))
    assert client.get(f"{REQUESTS}/{request.id}/days", stranger).status_code == 404


def test_leave_without_approval_that_starts_far_ahead_is_warned_of_and_allowed(
    client: Client, database: Database, team: Team
) -> None:
    sick = {"leave_type_id": type_id(database, team.acme, "sick")}
    body = body_of(team, "2026-08-17", "2026-08-28") | sick

    preview = client.post(PREVIEW, team.adas_key, json=body).json()

    assert (preview["status"], preview["refusals"]) == ("approved", [])
    assert preview["warnings"] == [
        {
            "code": "unusually_far_ahead",
            "pointer": "/start_date",
            "detail": "Sick leave needs no approval, and this leave starts more than a week from "
            "now, on 2026-08-17. Check the leave type and the dates.",
        }
    ]
    assert client.post(REQUESTS, team.adas_key, json=body).status_code == 201
    again = client.post(PREVIEW, team.adas_key, json=body).json()
    replaced = client.get(REQUESTS, team.adas_key).json()["data"][0]["id"]
    longer = {**body, "end_date": "2026-08-31", "replaces": replaced}
    assert len(again["warnings"]) == 1
    assert client.post(PREVIEW, team.adas_key, json=longer).json()["warnings"] == []
