"""``?dry_run=true``: the effects of a change in one shape, without the change."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from api.service import app
from storage.db.database import Database
from tests.api.conftest import Client, a_key
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
        enough = dict.fromkeys(change, 5)
        effects = client.patch(f"{path}?dry_run=true", key, json=enough).json()
        assert "balance_negative" not in effects["warnings"], path
        assert effects["totals"]["overdrawn"] == 0

    for path, change in changes:
        assert client.patch(path, key, json=change).status_code == 200


def test_a_dry_run_shows_the_effects_of_archiving(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    leave_request = a_request(database, acme, ada)
    own = a_request(database, acme, grace)
    a_key(database, acme, grace)

    foreseen = client.delete(f"{API}/users/{grace.id}?dry_run=true", key).json()

    assert foreseen["totals"].items() >= {"api_keys": 1, "rerouted": 1, "reports": 1}.items()
    assert [
        (effect["leave_request_id"], effect["effect"]) for effect in foreseen["leave_requests"]
    ] == [(own.id, "cancelled")]
    assert foreseen["rerouted"] == [
        {
            "leave_request_id": leave_request.id,
            "user_id": ada.id,
            "approvers_before": [grace.id],
            "approvers_after": [acme.owner.id],
        }
    ]
    assert client.get(f"{API}/users/{grace.id}", key).json()["status"] == "active"


def test_a_dry_run_shows_the_same_balances_as_the_balance_resource(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    ada = a_person(database, acme)
    a_request(database, acme, ada, start_date=MONDAY, end_date=FRIDAY)
    a_request(database, acme, ada, start_date=date(2026, 12, 21), end_date=date(2027, 1, 8))
    path, change = f"{API}/users/{ada.id}", {"working_days": ["monday", "tuesday:am"]}

    def remaining(change: Any) -> float:
        balance = client.get(f"{path}/balance?on={change['on']}", key).json()
        assert balance["leave_year"] == change["leave_year"]
        return float(balance["remaining"])

    foreseen = client.patch(f"{path}?dry_run=true", key, json=change).json()["balances"]
    before = [remaining(balance) for balance in foreseen]
    client.patch(path, key, json=change)

    assert [balance["leave_year"]["name"] for balance in foreseen] == ["2026", "2027"]
    assert {balance["user_id"] for balance in foreseen} == {ada.id}
    assert [balance["before"] for balance in foreseen] == before
    assert [balance["after"] for balance in foreseen] == [
        remaining(balance) for balance in foreseen
    ]


def test_every_dry_run_answers_200_in_the_documented_shape(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    document = client.get("/openapi.json").json()
    ada = a_person(database, acme)
    research = a_department(database, acme)
    set_id = client.get(SETS, key).json()["data"][0]["id"]
    france = client.post(SETS, key, json={"country_code": "FR"}).headers["Location"]
    body = {"date": "2026-08-05", "name": "Market day"}
    override_id = client.post(f"{SETS}/{set_id}/overrides", key, json=body).json()["id"]
    approved_leave(database, acme, ada, start_date=MONDAY)
    employment = f"{API}/users/{a_person(database, acme).id}/employment"
    from_august = {"valid_from": "2026-08-01", "working_days": ["tuesday"]}
    record = client.post(employment, key, json=from_august).headers["Location"]
    annual = f"{API}/leave-types/{type_id(database, acme)}"
    trials: list[tuple[str, str, Any]] = [
        ("PATCH", f"{API}/organisation", {"country_code": "US"}),
        ("POST", SETS, {"country_code": "SE", "categories": []}),
        ("PATCH", france, {"categories": ["public"]}),
        ("POST", f"{SETS}/{set_id}/overrides", {"date": "2026-08-03", "name": "Off"}),
        ("DELETE", f"{SETS}/{set_id}/overrides/{override_id}", None),
        ("DELETE", france, None),
        ("PATCH", f"{API}/users/{ada.id}", {"public_holiday_country_code": "DE"}),
        ("POST", employment, {"valid_from": "2026-09-01"}),
        ("PATCH", record, {"valid_from": "2026-08-04"}),
        ("DELETE", record, None),
        ("DELETE", f"{API}/users/{ada.id}", None),
        ("POST", f"{API}/users/{ada.id}/deactivate", None),
        ("PATCH", f"{API}/departments/{research.id}", {"default_leave_allowance": 40}),
        ("PATCH", annual, {"deducts_allowance": False}),
    ]
    documented = [operation for operation in app.OPERATIONS if operation.dry_run is not None]
    assert len(trials) == len(documented)
    schema = {
        "$ref": "#/components/schemas/EffectsRecord",
        "components": document["components"],
    }
    effects = {}

    for method, path, sent in trials:
        response = client.request(method, f"{path}?dry_run=true", key=key, json=sent)
        assert response.status_code == 200
        Draft202012Validator(schema).validate(response.json())
        effects[method, path] = response.json()

    assert effects["PATCH", f"{API}/organisation"]["warnings"] == ["country_has_regions"]
    assert effects["PATCH", f"{API}/departments/{research.id}"]["warnings"] == [
        "other_balances_change"
    ]
    switched = effects["PATCH", annual]
    assert (switched["warnings"], switched["totals"]["rebalanced"]) == (["all_years_change"], 1)
    assert [(each["user_id"], each["before"], each["after"]) for each in switched["balances"]] == [
        (ada.id, 24, 25)
    ]
    off = effects["POST", f"{SETS}/{set_id}/overrides"]
    assert (off["warnings"], off["leave_requests"][0]["warnings"]) == (
        ["leave_counts_nothing"],
        ["counts_nothing"],
    )
    assert len(client.get(f"{SETS}/{set_id}/overrides", key).json()["data"]) == 1


def test_a_dry_run_is_refused_as_the_change_would_be(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    member = a_key(database, acme, a_person(database, acme))
    set_id = client.get(SETS, key).json()["data"][0]["id"]

    own = client.delete(f"{SETS}/{set_id}?dry_run=true", key)
    myself = client.delete(f"{API}/users/{acme.owner.id}?dry_run=true", key)
    unknown = client.patch(f"{API}/organisation?dry_run=true", key, json={"country_code": "XX"})
    too_low = client.delete(f"{API}/users/{acme.owner.id}?dry_run=true", member)

    codes = [response.json()["code"] for response in (own, myself, unknown, too_low)]
    assert codes == ["holiday_set_in_use", "last_owner", "unknown_country", "insufficient_role"]
    assert client.patch(f"{API}/organisation?dry_run=maybe", key, json={}).status_code == 422


def test_a_dry_run_shows_reassigned_requests(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    grace = a_person(database, acme, first_name="Grace")
    team = a_department(database, acme)
    ada = a_person(database, acme, department_id=team.id)
    request = a_request(database, acme, ada)
    change = {"manager_id": grace.id}
    expected = [
        {
            "leave_request_id": request.id,
            "user_id": ada.id,
            "approvers_before": [acme.owner.id],
            "approvers_after": [grace.id],
        }
    ]

    for path in (f"{API}/departments/{team.id}", f"{API}/users/{ada.id}"):
        foreseen = client.patch(f"{path}?dry_run=true", key, json=change).json()

        assert foreseen["rerouted"] == expected
        assert foreseen["totals"]["rerouted"] == 1
        assert client.get(path, key).json()["manager_id"] is None


def test_every_dry_run_is_compared_with_its_change() -> None:
    documented = {
        operation.operation_id for operation in app.OPERATIONS if operation.dry_run is not None
    }

    assert documented == {operation_id for operation_id, _ in CHANGES}


def test_dry_runs_of_deactivation_and_removal_show_their_effects(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    set_id = client.get(SETS, key).json()["data"][0]["id"]
    body = {"date": MONDAY.isoformat(), "name": "Market day"}
    override_id = client.post(f"{SETS}/{set_id}/overrides", key, json=body).json()["id"]
    request = a_request(database, acme, ada, start_date=MONDAY, end_date=FRIDAY)

    deactivation = client.post(f"{API}/users/{grace.id}/deactivate?dry_run=true", key).json()
    removal = client.delete(f"{SETS}/{set_id}/overrides/{override_id}?dry_run=true", key).json()

    assert [reassignment["approvers_after"] for reassignment in deactivation["rerouted"]] == [
        [acme.owner.id]
    ]
    (effect,) = removal["leave_requests"]
    assert effect["leave_request_id"] == request.id
    assert (effect["days_before"], effect["days_after"]) == (4, 5)
