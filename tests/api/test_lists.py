"""Filters and sort orders of lists over HTTP; a filter refuses unknown values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, get_args

import httpx
import pytest

from storage.base.event_values import AuditAction
from storage.base.ids import new_id
from storage.db.database import Database, Transaction
from storage.db.tables import UserRow
from storage.keys import api_keys
from tests.api.conftest import Client
from tests.builders import NOW, Acme, a_department, a_key, a_leave_type, a_person, an_organisation
from tests.documented import document, parameters_of

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]

NEVER = "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"


def ids(client: Client, key: str, path: str) -> list[str]:
    content: Any = client.get(f"/api/v1/{path}", key).raise_for_status().json()
    return [item["id"] for item in (content if isinstance(content, list) else content["data"])]


def test_users_are_filtered_by_manager_and_address_and_sorted(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    grace = a_person(database, acme, first_name="Grace", now=NOW + timedelta(minutes=1))
    ada = a_person(
        database,
        acme,
        email="Ada.L@example.com",
        manager_id=grace.id,
        now=NOW + timedelta(minutes=2),
    )

    assert ids(client, key, f"users?manager_id={grace.id}") == [ada.id]
    assert ids(client, key, "users?email=aDA.l@EXAMPLE.com") == [ada.id]
    assert ids(client, key, "users?email=unknown@example.com") == []
    assert ids(client, key, "users?sort=-created_at") == [ada.id, grace.id, acme.owner.id]
    first = client.get("/api/v1/users?sort=-created_at&limit=2", key).json()
    cursor = first["pagination"]["next_cursor"]
    rest = f"users?sort=-created_at&limit=2&cursor={cursor}"
    assert ids(client, key, rest) == [acme.owner.id]
    assert client.get(f"/api/v1/users?limit=2&cursor={cursor}", key).status_code == 400
    assert client.get(f"/api/v1/users?manager_id={NEVER}", key).status_code == 404


def test_a_truncated_list_of_users_links_to_the_rest(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    def hire(tx: Transaction) -> None:
        tx.insert_all(UserRow, [_user_row(acme.id, number) for number in range(10_000)])

    database.write_now(hire)

    cut = client.get("/api/v1/users?sort=-created_at", key)
    rest = client.get(cut.headers["Link"].partition(">")[0].removeprefix("<"), key).json()

    assert len(cut.json()) == 10_000
    assert cut.headers["Link"].endswith('rel="next"')
    assert [user["id"] for user in rest["data"]] == [acme.owner.id]
    assert rest["pagination"] == {"next_cursor": None, "has_more": False}


def test_a_complete_list_of_users_has_no_link(client: Client, key: str) -> None:
    assert "Link" not in client.get("/api/v1/users", key).headers


def test_departments_are_filtered_by_manager(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    a_department(database, acme)
    led = a_department(database, acme, name="Led", manager_id=acme.owner.id)

    assert ids(client, key, f"departments?manager_id={acme.owner.id}") == [led.id]
    assert client.get(f"/api/v1/departments?manager_id={NEVER}", key).status_code == 404


def test_leave_types_are_filtered_by_whether_they_are_archived(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    study = a_leave_type(database, acme)
    client.patch(f"/api/v1/leave-types/{study.id}", key, json={"is_archived": True})

    assert ids(client, key, "leave-types?is_archived=true") == [study.id]
    assert study.id not in ids(client, key, "leave-types?is_archived=false")
    assert client.get("/api/v1/leave-types?is_archived=1", key).status_code == 422


def test_webhooks_are_filtered_by_whether_they_are_active(client: Client, key: str) -> None:
    webhook_ids = [
        client.post(
            "/api/v1/webhooks", key, json={"url": "https://203.0.114.9/hook", "events": ["*"]}
        ).json()["id"]
        for _ in range(2)
    ]
    client.patch(f"/api/v1/webhooks/{webhook_ids[0]}", key, json={"is_active": False})

    assert ids(client, key, "webhooks?is_active=true") == [webhook_ids[1]]
    assert ids(client, key, "webhooks?is_active=false") == [webhook_ids[0]]


def test_api_keys_are_filtered_by_person_and_by_whether_they_still_work(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    ada = a_person(database, acme)
    adas = a_key(database, acme, ada)
    (adas_id,) = ids(client, adas, "api-keys")
    old = client.post(
        "/api/v1/api-keys", key, json={"name": "old", "scopes": ["leave:read"]}
    ).json()

    assert ids(client, key, f"api-keys?user_id={ada.id}") == [adas_id]
    assert ids(client, adas, f"api-keys?user_id={ada.id}") == [adas_id]
    assert client.get(f"/api/v1/api-keys?user_id={acme.owner.id}", adas).status_code == 403
    assert client.get(f"/api/v1/api-keys?user_id={NEVER}", key).status_code == 404
    acme.write(api_keys.revoke, old["id"])
    assert ids(client, key, "api-keys?is_revoked=true") == [old["id"]]
    assert len(ids(client, key, "api-keys?is_revoked=false")) == 2


def _user_row(organisation_id: str, number: int) -> dict[str, Any]:
    then = NOW + timedelta(seconds=number + 1)
    return {
        "organisation_id": organisation_id,
        "id": new_id(then),
        "email": f"p{number}@example.com",
        "email_key": f"p{number}@example.com",
        "first_name": "P",
        "last_name": str(number),
        "role": "member",
        "status": "active",
        "created_at": then,
        "updated_at": then,
        "version": 1,
    }


SOME_ID = "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"
NONSENSE = "nonsense"


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """A query parameter that takes one of a few values."""

    method: str
    path: str
    name: str
    values: tuple[str, ...]


def choices() -> list[Choice]:
    """All such parameters in the OpenAPI document."""
    filters = []
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            if method not in ("get", "post", "patch", "put", "delete"):
                continue
            for parameter in parameters_of(operation, document()):
                values = allowed(parameter.get("schema", {}))
                if parameter.get("in") == "query" and values:
                    filters.append(
                        Choice(method=method, path=path, name=parameter["name"], values=values)
                    )
    return filters


def allowed(schema: dict[str, Any]) -> tuple[str, ...]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return allowed(document()["components"]["schemas"][name])
    if schema.get("type") == "boolean":
        return ("true", "false")
    if "const" in schema:
        return (schema["const"],)
    several = schema.get("anyOf", [schema["items"]] if "items" in schema else [])
    inside = tuple(value for alternative in several for value in allowed(alternative))
    return tuple(str(value) for value in schema.get("enum", inside))


def refused(client: Client, key: str, choice: Choice) -> httpx.Response:
    path = re.sub(r"\{\w+\}", SOME_ID, choice.path)
    sending: Any = getattr(client, choice.method)
    body: dict[str, Any] = {"json": {}} if choice.method == "patch" else {}
    response: httpx.Response = sending(f"{path}?{choice.name}={NONSENSE}", key, **body)
    return response


def test_every_filter_with_a_closed_set_refuses_other_values(
    client: Client, database: Database
) -> None:
    key = a_key(database, an_organisation(database))
    filters = [
        choice
        for choice in choices()
        # Feeds and wallcharts check their token first; their own tests have their scopes. A POST
        # or PUT reports errors of its body first.
        if not choice.path.startswith(("/cal/", "/wallchart/"))
        and choice.method not in ("post", "put")
    ]
    names = {(choice.path, choice.name) for choice in filters if choice.method == "get"}
    assert names >= {
        ("/api/v1/audit", "action"),
        ("/api/v1/users", "status"),
        ("/api/v1/users", "role"),
        ("/api/v1/users", "sort"),
        ("/api/v1/leave-requests", "status"),
        ("/api/v1/leave-requests", "expand"),
        ("/api/v1/leave-requests", "sort"),
        ("/api/v1/leave", "status"),
        ("/api/v1/leave-types", "is_archived"),
        ("/api/v1/webhooks", "is_active"),
        ("/api/v1/webhooks/{id}/deliveries", "status"),
        ("/api/v1/webhooks/{id}/deliveries", "event"),
        ("/api/v1/api-keys", "is_revoked"),
    }

    for choice in filters:
        response = refused(client, key, choice)
        assert response.status_code == 422, (choice, response.text)
        details = {error["pointer"]: error["detail"] for error in response.json()["errors"]}
        detail = details.get(f"?{choice.name}", "")
        assert all(value in detail for value in choice.values), (choice, details)


def test_the_audit_trail_can_be_filtered_by_every_action(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    a_person(database, acme)

    for action in get_args(AuditAction):
        response = client.get(f"/api/v1/audit?action={action}", key)
        assert response.status_code == 200, action
        assert {entry["action"] for entry in response.json()["data"]} <= {action}
    created = client.get("/api/v1/audit?action=user.created", key).json()["data"]
    assert len(created) == 2


def test_every_list_of_a_period_refuses_one_that_ends_before_it_begins(
    client: Client, database: Database
) -> None:
    key = a_key(database, an_organisation(database))
    whole = document()
    paths = [
        path
        for path, item in whole["paths"].items()
        if {"from", "to"} <= {each["name"] for each in parameters_of(item.get("get", {}), whole)}
    ]

    assert {*paths} >= {"/api/v1/audit", "/api/v1/leave-requests"}
    for path in paths:
        response = client.get(f"{path}?from=2026-06-02&to=2026-06-01", key)
        assert response.status_code == 422, path
        assert response.json()["errors"] == [
            {
                "pointer": "?to",
                "code": "to_before_from",
                "detail": "to is before from. Swap the two dates, or leave one of them out.",
            }
        ]
        assert client.get(f"{path}?from=2026-06-01&to=2026-06-01", key).status_code == 200
