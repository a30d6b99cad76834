"""Balances and adjustments as a client sees them."""

from __future__ import annotations

import pytest

from storage.db.database import Database
from tests.api.conftest import Client
from tests.api.team import Team, a_team
from tests.builders import a_request

pytestmark = pytest.mark.shared_database


@pytest.fixture
def team(database: Database) -> Team:
    return a_team(database)


def balance_of(team: Team) -> str:
    return f"/api/v1/users/{team.ada.id}/balance"


def adjustments_of(team: Team) -> str:
    return f"/api/v1/users/{team.ada.id}/adjustments"


def test_a_balance_shows_lines_that_add_up(client: Client, team: Team, database: Database) -> None:
    request = a_request(database, team.acme, team.ada, start_half_day="pm")
    body = {"days": 1.5, "reason": "Overtime", "leave_year": 2026}
    added = client.post(adjustments_of(team), team.owners_key, json=body).json()

    balance = client.get(balance_of(team), team.adas_key).json()

    assert balance == {
        "user_id": team.ada.id,
        "allowance_id": team.acme.id,
        "on": "2026-06-01",
        "working_days": ["monday", "tuesday", "wednesday", "thursday", "friday"],
        "leave_year": {"name": "2026", "first_day": "2026-01-01", "last_day": "2026-12-31"},
        "ledger": [
            {"type": "allowance", "days": 25, "source": "organisation"},
            {
                "type": "adjustment",
                "days": 1.5,
                "adjustment_id": added["id"],
                "reason": "Overtime",
                "created_by": team.acme.owner.id,
                "created_at": added["created_at"],
            },
            {
                "type": "leave",
                "days": -0.5,
                "leave_request_id": request.id,
                "leave_type_id": request.leave_type_id,
                "status": "pending",
                "start_date": "2026-08-03",
                "end_date": "2026-08-03",
            },
        ],
        "entitled": 26.5,
        "taken": 0,
        "pending": 0.5,
        "remaining": 26,
        "lapsing": None,
    }


def test_pro_rata_is_an_organisations_setting(client: Client, team: Team) -> None:
    rule = {
        "pro_rata": "full_months",
        "pro_rata_rounding": "day_nearest",
        "full_claim_after_months": 6,
        "full_claim_for_leavers_after_june": True,
    }
    before = client.get("/api/v1/organisation", team.adas_key).json()
    future = rule | {"effective_from": "2027-01-01"}

    later = client.patch("/api/v1/organisation", team.owners_key, json=future)
    assert {name: later.json()[name] for name in rule} == {name: before[name] for name in rule}
    changed = client.patch("/api/v1/organisation", team.owners_key, json=rule)

    assert before["pro_rata"] == "days"
    assert changed.json().items() >= rule.items()
    assert client.get("/api/v1/organisation", team.adas_key).json() == changed.json()
    refused = client.patch("/api/v1/organisation", team.owners_key, json={"pro_rata": "weeks"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/pro_rata")


def test_a_change_without_a_day_shows_the_new_figure(client: Client, team: Team) -> None:
    """Also where the figure of today began within the leave year."""
    organisation_id = client.get("/api/v1/organisation", team.adas_key).json()["id"]
    for path, field in (
        (f"/api/v1/allowances/{organisation_id}", "days_per_year"),
        ("/api/v1/organisation", "default_leave_allowance"),
    ):
        began = {field: 26, "effective_from": "2026-05-01"}
        assert client.patch(path, team.owners_key, json=began).json()[field] == 26

        changed = client.patch(path, team.owners_key, json={field: 30})

        assert changed.json()[field] == 30


def test_carry_over_is_an_organisations_setting(client: Client, team: Team) -> None:
    settings = {"carry_over": 2.5, "carry_over_expiry_month": 3}
    changed = client.patch("/api/v1/organisation", team.owners_key, json=settings)
    assert changed.json().items() >= settings.items()
    assert client.get("/api/v1/organisation", team.adas_key).json() == changed.json()

    in_march = client.get(f"{balance_of(team)}?on=2027-03-01", team.adas_key).json()
    in_april = client.get(f"{balance_of(team)}?on=2027-04-01", team.adas_key).json()

    assert in_march["ledger"][1:] == [
        {"type": "carry_over", "days": 2.5, "from_leave_year": "2026"}
    ]
    assert (in_march["remaining"], in_april["remaining"]) == (27.5, 25)
    assert in_march["lapsing"] == {"days": 2.5, "usable_until": "2027-03-31"}
    assert in_april["ledger"][2:] == [
        {"type": "carry_over_expired", "days": -2.5, "usable_until": "2027-03-31"}
    ]
    none = client.patch("/api/v1/organisation", team.owners_key, json={"carry_over": None})
    assert (none.json()["carry_over"], none.json()["carry_over_expiry_month"]) == (0, 3)
