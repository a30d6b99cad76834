"""``?dry_run=true``: the effects of a change in one shape, without the change."""

from __future__ import annotations

from typing import Any

import pytest

from api.service import app
from storage.db.database import Database
from tests.api.conftest import Client
from tests.builders import Acme, a_department, a_person, a_request, approved_leave, type_id
from tests.storage.test_dry_runs import CHANGES
from tests.storage.test_recalculation import FRIDAY, MONDAY

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]

API = "/api/v1"
SETS = f"{API}/organisation/public-holiday-sets"


def test_a_dry_run_shows_the_effects_and_changes_nothing(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    ada = a_person(database, acme)
    week = a_request(database, acme, ada, start_date=MONDAY, end_date=FRIDAY)
    path, change = f"{API}/users/{ada.id}", {"working_days": ["monday", "tuesday:am"]}
    before = client.get(path, key).json()
    audited = client.get(f"{API}/audit", key).json()

    foreseen = client.patch(f"{path}?dry_run=true", key, json=change)

    assert foreseen.status_code == 200
    assert foreseen.json()["dry_run"] is True
    totals = foreseen.json()["totals"]
    expected = {"users": 1, "leave_requests": 1, "days_before": 5, "days_after": 1.5}
    assert totals.items() >= expected.items()
    (effect,) = foreseen.json()["leave_requests"]
    assert effect["user"]["id"] == ada.id
    assert (effect["leave_request_id"], effect["effect"]) == (week.id, "recounted")
    assert (effect["leave_type_id"], effect["status"]) == (type_id(database, acme), "pending")
    assert effect["balance_changes"] == [{"leave_year": "2026", "days": 3.5}]
    assert "ETag" not in foreseen.headers
    assert client.get(path, key).json() == before
    assert client.get(f"{API}/audit", key).json() == audited
    client.patch(path, key, json=change)
    leave_request = client.get(f"{API}/leave-requests/{week.id}", key).json()
    assert leave_request["total_days"] == effect["days_after"]


def test_a_dry_run_reports_balances_that_an_allowance_overdraws(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    team = a_department(database, acme)
    ada = a_person(database, acme, department_id=team.id)
    grace = a_person(database, acme, first_name="Grace", leave_allowance_half_days=60)
    for person in (ada, grace):
        a_request(database, acme, person, start_date=MONDAY, end_date=FRIDAY)
    changes: list[tuple[str, dict[str, Any]]] = [
        (f"{API}/users/{ada.id}", {"leave_allowance": 3}),
        (f"{API}/departments/{team.id}", {"default_leave_allowance": 3}),
        (f"{API}/organisation", {"default_leave_allowance": 3}),
    ]

    for path, change in changes:
        effects = client.patch(f"{path}?dry_run=true", key, json=change).json()
        assert "balance_negative" in effects["warnings"], path
        assert effects["totals"]["overdrawn"] == 1
        (balance,) = [balance for balance in effects["balances"] if balance["after"] < 0]
        assert (balance["user_id"], balance["after"]) == (ada.id, -2)
        assert balance["allowance_id"] == acme.id
        enough = dict.fromkeys(change, 5)
        effects = client.patch(f"{path}?dry_run=true", key, json=enough).json()
        assert "balance_negative" not in effects["warnings"], path
        assert effects["totals"]["overdrawn"] == 0

    for path, change in changes:
        assert client.patch(path, key, json=change).status_code == 200


def test_every_dry_run_is_compared_with_its_change() -> None:
    documented = {
        operation.operation_id for operation in app.OPERATIONS if operation.dry_run is not None
    }

    assert documented == {operation_id for operation_id, _ in CHANGES}


def test_a_dry_run_warns_of_what_the_change_concerns_too(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    ada = a_person(database, acme)
    research = a_department(database, acme)
    set_id = client.get(SETS, key).json()["data"][0]["id"]
    approved_leave(database, acme, ada, start_date=MONDAY)
    annual = f"{API}/leave-types/{type_id(database, acme)}"
    trials: list[tuple[str, str, dict[str, Any], str]] = [
        ("PATCH", f"{API}/organisation", {"country_code": "US"}, "country_has_regions"),
        (
            "PATCH",
            f"{API}/departments/{research.id}",
            {"default_leave_allowance": 40},
            "other_balances_change",
        ),
        (
            "PATCH",
            annual,
            {"deducts_allowance": False, "effective_from": "2026-01-01"},
            "all_years_change",
        ),
        (
            "POST",
            f"{SETS}/{set_id}/overrides",
            {"date": "2026-08-03", "name": "Off"},
            "leave_counts_nothing",
        ),
    ]

    for method, path, sent, warning in trials:
        effects = client.request(method, f"{path}?dry_run=true", key=key, json=sent).json()
        assert effects["warnings"] == [warning]
