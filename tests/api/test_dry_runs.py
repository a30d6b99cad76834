"""``?dry_run=true``: what would follow, in one shape, and nothing is changed."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from api.service import app
from storage.db.database import Database
from storage.leave import decisions
from tests.api.conftest import Client, a_key
from tests.builders import NOW, Acme, a_department, a_person, a_request, an_organisation, type_id
from tests.storage.test_dry_runs import CHANGES
from tests.storage.test_recalculation import FRIDAY, MONDAY

pytestmark = pytest.mark.both_engines

API = "/api/v1"
SETS = f"{API}/organisation/public-holiday-sets"


@pytest.fixture
def acme(database: Database) -> Acme:
    return an_organisation(database)


@pytest.fixture
def key(database: Database, acme: Acme) -> str:
    return a_key(database, acme)


def test_a_dry_run_says_what_a_change_would_do_and_does_nothing(
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
    (one,) = foreseen.json()["leave_requests"]
    assert one["user"]["id"] == ada.id
    assert (one["leave_request_id"], one["effect"]) == (week.id, "recounted")
    assert (one["leave_type_id"], one["status"]) == (type_id(database, acme), "pending")
    assert one["balance_changes"] == [{"leave_year": "2026", "days": 3.5}]
    assert "ETag" not in foreseen.headers
    assert client.get(path, key).json() == before
    assert client.get(f"{API}/audit", key).json() == audited
    client.patch(path, key, json=change)
    found = client.get(f"{API}/leave-requests/{week.id}", key).json()
    assert found["total_days"] == one["days_after"]


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
        found = client.patch(f"{path}?dry_run=true", key, json=change).json()
        assert "balance_negative" in found["warnings"], path
        assert found["totals"]["overdrawn"] == 1
        (balance,) = [one for one in found["balances"] if one["after"] < 0]
        assert (balance["user_id"], balance["after"]) == (ada.id, -2)
        enough = dict.fromkeys(change, 5)
        found = client.patch(f"{path}?dry_run=true", key, json=enough).json()
        assert "balance_negative" not in found["warnings"], path
        assert found["totals"]["overdrawn"] == 0

    for path, change in changes:
        assert client.patch(path, key, json=change).status_code == 200


def test_archiving_is_foreseen(client: Client, database: Database, acme: Acme, key: str) -> None:
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    asked = a_request(database, acme, ada)
    own = a_request(database, acme, grace)
    a_key(database, acme, grace)

    foreseen = client.delete(f"{API}/users/{grace.id}?dry_run=true", key).json()

    assert foreseen["totals"].items() >= {"api_keys": 1, "rerouted": 1, "reports": 1}.items()
    assert [(one["leave_request_id"], one["effect"]) for one in foreseen["leave_requests"]] == [
        (own.id, "cancelled")
    ]
    assert foreseen["rerouted"] == [
        {
            "leave_request_id": asked.id,
            "user_id": ada.id,
            "approvers_before": [grace.id],
            "approvers_after": [acme.owner.id],
        }
    ]
    assert client.get(f"{API}/users/{grace.id}", key).json()["status"] == "active"


def test_balances_before_and_after_are_those_that_balances_show(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    ada = a_person(database, acme)
    a_request(database, acme, ada, start_date=MONDAY, end_date=FRIDAY)
    a_request(database, acme, ada, start_date=date(2026, 12, 21), end_date=date(2027, 1, 8))
    path, change = f"{API}/users/{ada.id}", {"working_days": ["monday", "tuesday:am"]}

    def remaining(one: Any) -> float:
        balance = client.get(f"{path}/balance?on={one['on']}", key).json()
        assert balance["leave_year"] == one["leave_year"]
        return float(balance["remaining"])

    foreseen = client.patch(f"{path}?dry_run=true", key, json=change).json()["balances"]
    before = [remaining(one) for one in foreseen]
    client.patch(path, key, json=change)

    assert [one["leave_year"]["name"] for one in foreseen] == ["2026", "2027"]
    assert {one["user_id"] for one in foreseen} == {ada.id}
    assert [one["before"] for one in foreseen] == before
    assert [one["after"] for one in foreseen] == [remaining(one) for one in foreseen]


def test_dry_runs_of_everything_answer_200_in_the_documented_shape(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    document = client.get("/openapi.json").json()
    ada = a_person(database, acme)
    research = a_department(database, acme)
    set_id = client.get(SETS, key).json()["data"][0]["id"]
    france = client.post(SETS, key, json={"country_code": "FR"}).headers["Location"]
    body = {"date": "2026-08-05", "name": "Market day"}
    made = client.post(f"{SETS}/{set_id}/overrides", key, json=body).json()["id"]
    request = a_request(database, acme, ada, start_date=MONDAY)
    database.write_now(decisions.approve, request.id, by=acme.caller, now=NOW)
    trials: list[tuple[str, str, Any]] = [
        ("PATCH", f"{API}/organisation", {"country_code": "US"}),
        ("POST", f"{SETS}/{set_id}/overrides", {"date": "2026-08-03", "name": "Off"}),
        ("DELETE", f"{SETS}/{set_id}/overrides/{made}", None),
        ("DELETE", france, None),
        ("PATCH", f"{API}/users/{ada.id}", {"public_holiday_country_code": "DE"}),
        ("DELETE", f"{API}/users/{ada.id}", None),
        ("POST", f"{API}/users/{ada.id}/deactivate", None),
        ("PATCH", f"{API}/departments/{research.id}", {"default_leave_allowance": 40}),
    ]
    documented = [one for one in app.OPERATIONS if one.show_effects is not None]
    assert len(trials) == len(documented)
    schema = {
        "$ref": "#/components/schemas/EffectsRecord",
        "components": document["components"],
    }
    found = {}

    for method, path, sent in trials:
        answer = client.request(method, f"{path}?dry_run=true", key=key, json=sent)
        assert answer.status_code == 200
        Draft202012Validator(schema).validate(answer.json())
        found[method, path] = answer.json()

    assert found["PATCH", f"{API}/organisation"]["warnings"] == ["country_has_regions"]
    assert found["PATCH", f"{API}/departments/{research.id}"]["warnings"] == [
        "other_balances_change"
    ]
    off = found["POST", f"{SETS}/{set_id}/overrides"]
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

    codes = [one.json()["code"] for one in (own, myself, unknown, too_low)]
    assert codes == ["holiday_set_in_use", "last_owner", "unknown_country", "insufficient_role"]
    assert client.patch(f"{API}/organisation?dry_run=maybe", key, json={}).status_code == 422


def test_other_approvers_are_foreseen(
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
    documented = {one.operation_id for one in app.OPERATIONS if one.show_effects is not None}

    assert documented == {operation_id for operation_id, _ in CHANGES}


def test_deactivating_and_removing_a_holiday_tell_their_effects(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    set_id = client.get(SETS, key).json()["data"][0]["id"]
    body = {"date": MONDAY.isoformat(), "name": "Market day"}
    made = client.post(f"{SETS}/{set_id}/overrides", key, json=body).json()["id"]
    request = a_request(database, acme, ada, start_date=MONDAY, end_date=FRIDAY)

    deactivation = client.post(f"{API}/users/{grace.id}/deactivate?dry_run=true", key).json()
    removal = client.delete(f"{SETS}/{set_id}/overrides/{made}?dry_run=true", key).json()

    assert [one["approvers_after"] for one in deactivation["rerouted"]] == [[acme.owner.id]]
    (effect,) = removal["leave_requests"]
    assert effect["leave_request_id"] == request.id
    assert (effect["days_before"], effect["days_after"]) == (4, 5)
