"""Balances and adjustments as a client sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from storage.base.values import User
from storage.db.database import Database
from tests.api.conftest import Client, a_key
from tests.builders import Acme, a_person, a_request, an_organisation

pytestmark = pytest.mark.shared_database


@dataclass(frozen=True, kw_only=True, slots=True)
class Team:
    """Ada reports to Grace; each with a key of every scope."""

    acme: Acme
    ada: User
    adas_key: str
    graces_key: str
    owners_key: str

    @property
    def balance(self) -> str:
        return f"/api/v1/users/{self.ada.id}/balance"

    @property
    def adjustments(self) -> str:
        return f"/api/v1/users/{self.ada.id}/adjustments"


@pytest.fixture
def team(database: Database) -> Team:
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    return Team(
        acme=acme,
        ada=ada,
        adas_key=a_key(database, acme, ada),
        graces_key=a_key(database, acme, grace),
        owners_key=a_key(database, acme, acme.owner),
    )


def test_a_balance_shows_lines_that_add_up(client: Client, team: Team, database: Database) -> None:
    request = a_request(database, team.acme, team.ada, start_half_day="pm")
    body = {"days": 1.5, "reason": "Overtime", "leave_year": 2026}
    added = client.post(team.adjustments, team.owners_key, json=body).json()

    balance = client.get(team.balance, team.adas_key).json()

    assert balance == {
        "user_id": team.ada.id,
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


def test_carry_over_is_an_organisations_setting(client: Client, team: Team) -> None:
    settings = {"carry_over": 2.5, "carry_over_expiry_month": 3}
    changed = client.patch("/api/v1/organisation", team.owners_key, json=settings)
    assert changed.json().items() >= settings.items()
    assert client.get("/api/v1/organisation", team.adas_key).json() == changed.json()

    in_march = client.get(f"{team.balance}?on=2027-03-01", team.adas_key).json()
    in_april = client.get(f"{team.balance}?on=2027-04-01", team.adas_key).json()

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


@pytest.mark.parametrize(
    ("settings", "pointer", "code"),
    [
        ({"carry_over": -1}, "/carry_over", "not_half_days"),
        ({"carry_over": 2.25}, "/carry_over", "not_half_days"),
        ({"carry_over": 367}, "/carry_over", "not_half_days"),
        ({"carry_over": "5"}, "/carry_over", "wrong_type"),
        ({"carry_over_expiry_month": 0}, "/carry_over_expiry_month", "out_of_range"),
        ({"carry_over_expiry_month": 13}, "/carry_over_expiry_month", "out_of_range"),
        ({"carry_over_expiry_month": 1.5}, "/carry_over_expiry_month", "wrong_type"),
    ],
)
def test_carry_over_out_of_range_is_refused(
    client: Client, team: Team, settings: dict[str, Any], pointer: str, code: str
) -> None:
    refused = client.patch("/api/v1/organisation", team.owners_key, json=settings)

    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert (error["pointer"], error["code"]) == (pointer, code)


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"days": 0}, "/days", "not_half_days"),
        ({"days": 0.25}, "/days", "not_half_days"),
        ({"days": -366.5}, "/days", "not_half_days"),
        ({"days": 1e300}, "/days", "not_half_days"),
        ({"days": "1"}, "/days", "wrong_type"),
        ({"reason": ""}, "/reason", "required"),
        ({"reason": "x" * 501}, "/reason", "too_long"),
        ({"reason": None}, "/reason", "wrong_type"),
        ({"leave_year": 1}, "/leave_year", "out_of_range"),
        ({"leave_year": 10**30}, "/leave_year", "out_of_range"),
        ({"leave_year": "2026/27"}, "/leave_year", "wrong_type"),
    ],
)
def test_a_wrong_adjustment_names_its_field(
    client: Client, team: Team, change: dict[str, Any], pointer: str, code: str
) -> None:
    body = {"days": -1, "reason": "Mistake", "leave_year": 2026, **change}

    refused = client.post(team.adjustments, team.owners_key, json=body)

    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert (error["pointer"], error["code"]) == (pointer, code)
    assert client.get(team.adjustments, team.owners_key).json()["data"] == []


def test_an_adjustment_is_served_at_its_location(client: Client, team: Team) -> None:
    body = {"days": -1.5, "reason": "Mistake", "leave_year": 2025}

    adjustment = client.post(team.adjustments, team.owners_key, json=body)

    assert adjustment.status_code == 201
    assert adjustment.json().items() >= body.items()
    assert client.get(adjustment.headers["Location"], team.adas_key).json() == adjustment.json()
    assert client.get(team.adjustments, team.adas_key).json()["data"] == [adjustment.json()]
    own = adjustment.headers["Location"].replace(team.ada.id, team.acme.owner.id)
    assert client.get(own, team.owners_key).status_code == 404


def test_only_admins_adjust_balances_and_approvers_see_them(
    client: Client, team: Team, database: Database
) -> None:
    stranger = a_key(database, team.acme, a_person(database, team.acme, first_name="Hedy"))
    body = {"days": 1, "reason": "Overtime", "leave_year": 2026}

    statuses = [
        client.get(path, key).status_code
        for path in (team.balance, team.adjustments)
        for key in (team.adas_key, team.graces_key, team.owners_key, stranger)
    ]
    adjusted = [
        client.post(team.adjustments, key, json=body).status_code
        for key in (team.adas_key, team.graces_key, stranger, team.owners_key)
    ]

    assert statuses == [200, 200, 200, 403] * 2
    assert adjusted == [403, 403, 403, 201]


def test_a_balance_can_be_read_for_any_day_within_reach(client: Client, team: Team) -> None:
    assert client.get(f"{team.balance}?on=2019-06-01", team.adas_key).status_code == 200
    for on, code in (("9999-12-31", "out_of_range"), ("0001-01-01", "out_of_range"),
                     ("2027-02-29", "invalid_date"), ("", "invalid_date")):  # fmt: skip
        refused = client.get(f"{team.balance}?on={on}", team.adas_key)
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (422, code)
