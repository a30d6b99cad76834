"""What integrations read: who a key acts for, changes since a point in time, expanded requests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from api.service import app
from api.service.app import OPERATIONS
from storage.admin import departments, people, people_status
from storage.base.monitoring import REGISTRY
from storage.base.values import SCOPES
from storage.db.database import Database
from storage.leave import decisions, leave_requests
from tests.api import conftest, exercising
from tests.api.conftest import Client
from tests.builders import NOW, Acme, a_department, a_key, a_person, a_request, caller_for

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]


@dataclass
class Clock:
    now: datetime = NOW


def at(minutes: int) -> datetime:
    return NOW + timedelta(minutes=minutes)


def since(minutes: int) -> str:
    return f"updated_since={at(minutes):%Y-%m-%dT%H:%M:%SZ}"


def data(client: Client, key: str, path: str) -> Any:
    return client.get(f"/api/v1/{path}", key).raise_for_status().json()["data"]


def ids(client: Client, key: str, path: str) -> list[str]:
    return [item["id"] for item in data(client, key, path)]


def statement_count() -> float:
    return REGISTRY.get_sample_value("hiatus_database_statement_duration_seconds_count") or 0


def test_a_key_with_any_scope_reads_who_it_acts_for(
    client: Client, database: Database, acme: Acme
) -> None:
    grace = a_person(database, acme, first_name="Grace", last_name="Hopper", role="approver")
    key = a_key(database, acme, grace, scopes=["leave:write"])

    me = client.get("/api/v1/me", key).raise_for_status().json()

    assert me["user"] == {
        "id": grace.id,
        "email": grace.email,
        "first_name": "Grace",
        "last_name": "Hopper",
        "role": "approver",
        "timezone": None,
        "locale": None,
    }
    assert me["key"]["scopes"] == ["leave:read", "leave:write"]
    assert me["organisation"]["name"] == "Acme"
    assert me["organisation"]["timezone"] == "Europe/London"
    assert me["links"]["user"] == f"https://hiatus.test/api/v1/users/{grace.id}"
    assert client.get("/api/v1/me").status_code == 401


def test_polling_finds_every_leave_request_that_changed(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    ada = a_person(database, acme)
    old, approved, cancelled = [
        a_request(database, acme, ada, start_date=day) for day in _mondays(3)
    ]
    database.write_now(decisions.approve, approved.id, by=acme.caller, now=at(10))
    by = caller_for(acme, ada)
    database.write_now(leave_requests.cancel, cancelled.id, by=by, now=at(5))

    assert ids(client, key, f"leave-requests?{since(5)}") == [cancelled.id, approved.id]
    assert ids(client, key, f"leave-requests?{since(10)}") == [approved.id]
    assert ids(client, key, f"leave-requests?{since(11)}") == []
    assert {*ids(client, key, f"leave-requests?{since(0)}")} == {old.id, approved.id, cancelled.id}


LISTS = ("leave-requests", "users", "departments")
WRITES = sorted(
    (operation for operation in OPERATIONS if operation.method != "GET"),
    key=lambda operation: (operation.method == "DELETE", -operation.path.count("/")),
)


def test_polling_finds_whatever_an_operation_changes(database: Database) -> None:
    clock = Clock()
    settings = conftest.SETTINGS
    client = Client(app.application(app.routes(database, settings, lambda: clock.now), settings))
    there = exercising.things(client, database)

    def listed(name: str, query: str = "") -> dict[str, Any]:
        headers = {"API-Variant": "1"}
        path = f"/api/v1/{name}?limit=100{query}"
        return {
            each["id"]: each for each in client.get(path, there.key, headers=headers).json()["data"]
        }

    missed, found = [], 0
    before = {name: listed(name) for name in LISTS}
    for operation in WRITES:
        clock.now += timedelta(minutes=1)
        exercising.call(client, operation, there)
        for name in LISTS:
            after = listed(name)
            polled = listed(name, f"&updated_since={clock.now:%Y-%m-%dT%H:%M:%SZ}")
            changed = {key for key, value in after.items() if value != before[name].get(key)}
            found += len(changed)
            missed += [(operation.operation_id, name) for key in changed - polled.keys()]
            before[name] = after
    client.close()

    assert missed == []
    assert found > 20


def test_a_request_that_changes_between_two_pages_is_on_a_later_page_again(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    ada = a_person(database, acme)
    requests = [a_request(database, acme, ada, start_date=day) for day in _mondays(4)]
    path = f"/api/v1/leave-requests?{since(0)}&limit=2"
    first = client.get(path, key).json()
    changed_id = first["data"][0]["id"]

    database.write_now(decisions.approve, changed_id, by=acme.caller, now=at(1))
    second = client.get(f"{path}&cursor={first['pagination']['next_cursor']}", key).json()
    third = client.get(f"{path}&cursor={second['pagination']['next_cursor']}", key).json()

    seen = [item["id"] for page in (first, second, third) for item in page["data"]]
    assert {*seen} == {request.id for request in requests}
    assert seen[-1] == changed_id
    assert third["data"][-1]["status"] == "approved"


def test_a_poll_from_the_start_of_the_last_one_finds_what_was_saved_late(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    ada = a_person(database, acme)
    request = a_request(database, acme, ada, start_date=_mondays(1)[0])
    poll_began = at(20)
    before = ids(client, key, f"leave-requests?updated_since={poll_began:%Y-%m-%dT%H:%M:%SZ}")

    # The change began before that poll, and is saved after it.
    database.write_now(decisions.approve, request.id, by=acme.caller, now=at(19))

    overlapping = at(20) - timedelta(minutes=5)
    after = ids(client, key, f"leave-requests?updated_since={overlapping:%Y-%m-%dT%H:%M:%SZ}")
    assert (before, after) == ([], [request.id])


def test_polling_finds_people_who_changed_or_were_archived(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    unchanged, promoted, archived = [a_person(database, acme) for _ in range(3)]
    by = acme.caller
    database.write_now(people.update, promoted.id, {"role": "approver"}, by=by, now=at(6))
    database.write_now(people_status.archive, archived.id, by=by, now=at(5))

    everything = client.get(f"/api/v1/users?{since(1)}", key).json()

    assert [user["id"] for user in everything] == [archived.id, promoted.id]
    assert unchanged.id not in ids(client, key, f"users?{since(1)}&limit=9")
    first = client.get(f"/api/v1/users?{since(1)}&limit=1", key).json()
    rest = f"users?{since(1)}&limit=1&cursor={first['pagination']['next_cursor']}"
    assert ids(client, key, rest) == [promoted.id]
    by_creation = client.get(f"/api/v1/users?{since(1)}&sort=created_at", key).json()
    assert {user["id"] for user in by_creation} == {archived.id, promoted.id}


def test_polling_finds_departments_that_changed(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    a_department(database, acme, name="Sales")
    renamed = a_department(database, acme, name="Reserch")
    database.write_now(
        departments.update, renamed.id, {"name": "Research"}, by=acme.caller, now=at(5)
    )

    assert ids(client, key, f"departments?{since(5)}") == [renamed.id]
    assert ids(client, key, f"departments?{since(6)}") == []
    assert len(ids(client, key, f"departments?{since(0)}")) == 2


@pytest.mark.parametrize("path", ["leave-requests", "users", "departments"])
@pytest.mark.parametrize("value", ["yesterday", "2026-06-01", "2026-06-01T09:00:00"])
def test_a_point_in_time_without_an_offset_is_refused(
    client: Client, key: str, path: str, value: str
) -> None:
    response = client.get(f"/api/v1/{path}?updated_since={value}", key)

    (error,) = response.json()["errors"]
    assert (response.status_code, error["code"]) == (422, "invalid_date_time")
    assert error["pointer"] == "?updated_since"
    assert "2026-01-31T09:00:00Z" in error["detail"]


@pytest.mark.parametrize(
    "query",
    [
        "status=pending,approved",
        "status=pending&status=approved",
        "status=approved,pending,pending",
    ],
)
def test_requests_of_several_statuses_are_listed(
    client: Client, database: Database, acme: Acme, key: str, query: str
) -> None:
    ada = a_person(database, acme)
    pending, approved, cancelled = [
        a_request(database, acme, ada, start_date=day) for day in _mondays(3)
    ]
    acme.write(decisions.approve, approved.id)
    by = caller_for(acme, ada)
    database.write_now(leave_requests.cancel, cancelled.id, by=by, now=NOW)

    assert {*ids(client, key, f"leave-requests?{query}")} == {pending.id, approved.id}


@pytest.mark.parametrize("query", ["status=pending,done", "status=", "status=pending&status=x"])
def test_an_unknown_status_among_several_is_refused(client: Client, key: str, query: str) -> None:
    response = client.get(f"/api/v1/leave-requests?{query}", key)

    assert response.status_code == 422
    assert response.json()["errors"] == [
        {
            "pointer": "?status",
            "code": "not_one_of",
            "detail": "status must be 'pending', 'approved', 'declined' or 'cancelled'.",
        }
    ]


def test_other_parameters_are_still_sent_once(client: Client, key: str) -> None:
    response = client.get("/api/v1/leave-requests?limit=1&limit=2&status=pending", key)

    assert [error["code"] for error in response.json()["errors"]] == ["repeated_parameter"]


def test_people_and_leave_types_of_a_page_come_with_one_more_query(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    people_ = [a_person(database, acme, first_name=name) for name in ("Ada", "Hedy", "Joan")]
    for person in people_:
        a_request(database, acme, person, start_date=_mondays(1)[0])
    client.get("/api/v1/leave-requests?expand=leave_type", key)

    before = statement_count()
    client.get("/api/v1/leave-requests", key)
    between = statement_count()
    items = data(client, key, "leave-requests?expand=user,leave_type")
    after = statement_count()

    assert [item["user"]["first_name"] for item in items] == ["Joan", "Hedy", "Ada"]
    assert {item["leave_type"]["code"] for item in items} == {"annual"}
    assert all(item["user"]["id"] == item["user_id"] for item in items)
    assert after - between == between - before + 1


def test_one_request_is_expanded_without_an_entity_tag(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    ada = a_person(database, acme, first_name="Ada")
    request = a_request(database, acme, ada, start_date=_mondays(1)[0])
    path = f"/api/v1/leave-requests/{request.id}"
    plain = client.get(path, key)

    expanded = client.request(
        "GET", f"{path}?expand=user", key=key, headers={"If-None-Match": plain.headers["ETag"]}
    )

    assert expanded.status_code == 200
    assert "ETag" not in expanded.headers
    assert expanded.json() == {**plain.json(), "user": expanded.json()["user"]}
    assert expanded.json()["user"]["first_name"] == "Ada"


@pytest.mark.parametrize(
    ("expand", "scope"), [("user", "users:read"), ("leave_type", "organisation:read")]
)
def test_expanding_needs_the_scope_of_what_is_added(
    client: Client, database: Database, acme: Acme, expand: str, scope: str
) -> None:
    others = [each for each in SCOPES if not each.startswith(scope.partition(":")[0])]
    key = a_key(database, acme, scopes=others)

    response = client.get(f"/api/v1/leave-requests?expand={expand}", key)

    assert (response.status_code, response.json()["missing_scope"]) == (403, scope)


def test_an_unknown_expansion_is_refused(client: Client, key: str) -> None:
    response = client.get("/api/v1/leave-requests?expand=user,cover", key)

    (error,) = response.json()["errors"]
    assert (error["pointer"], error["code"]) == ("?expand", "not_one_of")
    assert error["detail"] == "expand must be 'user' or 'leave_type'."


def _mondays(count: int) -> list[Any]:
    first = NOW.date() + timedelta(days=7 - NOW.weekday())
    return [first + timedelta(weeks=week) for week in range(count)]
