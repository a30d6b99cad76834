"""`GET`, change, `PATCH` of the whole object: read-only members may be sent back unchanged."""

from __future__ import annotations

from typing import Any, Final

import pytest

from storage.db.database import Database
from tests.api.conftest import Client, a_key
from tests.builders import (
    Acme,
    a_department,
    a_leave_type,
    a_person,
    a_request,
    an_organisation,
)

pytestmark = pytest.mark.shared_database

V1: Final = "/api/v1"
CHANGES: Final[dict[str, dict[str, Any]]] = {
    "users": {"last_name": "King"},
    "departments": {"name": "Research"},
    "digests": {"frequency": "weekly"},
    "display-links": {"name": "Lobby"},
    "leave-types": {"name": "Sabbatical"},
    "leave-requests": {"note": "to the coast"},
    "organisation": {"name": "Acme Ltd"},
    "webhooks": {"events": ["leave_request.approved"]},
}


def a_path(client: Client, database: Database, acme: Acme, kind: str) -> str:
    if kind == "organisation":
        return f"{V1}/organisation"
    if kind == "webhooks":
        body = {"url": "https://example.com/hook", "events": ["*"]}
        made_webhook = client.post(f"{V1}/webhooks", a_key(database, acme), json=body).json()
        return f"{V1}/webhooks/{made_webhook['id']}"
    if kind == "digests":
        body = {"channel": "C024BE91L"}
        made_digest = client.post(f"{V1}/digests", a_key(database, acme), json=body).json()
        return f"{V1}/digests/{made_digest['id']}"
    if kind == "display-links":
        body = {"name": "Kitchen"}
        made_link = client.post(f"{V1}/display-links", a_key(database, acme), json=body).json()
        return f"{V1}/display-links/{made_link['id']}"
    ada = a_person(database, acme)
    builders: dict[str, Any] = {
        "users": lambda: ada,
        "departments": lambda: a_department(database, acme),
        "leave-types": lambda: a_leave_type(database, acme),
        "leave-requests": lambda: a_request(database, acme, ada),
    }
    return f"{V1}/{kind}/{builders[kind]().id}"


@pytest.mark.parametrize("kind", CHANGES)
def test_a_whole_object_is_read_changed_and_sent_back(
    client: Client, database: Database, kind: str
) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    path = a_path(client, database, acme, kind)
    read = client.get(path, key)
    whole: dict[str, Any] = read.json()

    changed = client.patch(
        path, key, json=whole | CHANGES[kind], headers={"If-Match": read.headers["ETag"]}
    )

    assert changed.status_code == 200, changed.text
    assert CHANGES[kind].items() <= changed.json().items()
    assert changed.json().keys() == whole.keys()
    current: dict[str, Any] = client.get(path, key).json()
    assert client.patch(path, key, json=current).json() == current


@pytest.mark.parametrize("kind", CHANGES)
def test_a_read_only_member_that_differs_is_refused_by_name(
    client: Client, database: Database, kind: str
) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    path = a_path(client, database, acme, kind)
    whole: dict[str, Any] = client.get(path, key).json()
    stored = client.get(path, key).content

    response = client.patch(
        path, key, json=whole | CHANGES[kind] | {"id": acme.owner.id, "created_at": None}
    )

    assert response.status_code == 422
    errors = {(error["pointer"], error["code"]) for error in response.json()["errors"]}
    assert errors == {("/id", "read_only"), ("/created_at", "read_only")}
    unknown = client.patch(path, key, json=whole | {"colourr": 1})
    assert [error["code"] for error in unknown.json()["errors"]] == ["unknown_field"]
    assert client.get(path, key).content == stored


def test_a_dry_run_takes_the_whole_object_too(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    path = a_path(client, database, acme, "users")
    whole: dict[str, Any] = client.get(path, key).json()

    foreseen = client.patch(f"{path}?dry_run=true", key, json=whole)
    refused = client.patch(f"{path}?dry_run=true", key, json=whole | {"status": "archived"})

    assert foreseen.status_code == 200
    assert refused.json()["errors"][0]["pointer"] == "/status"


def test_users_can_send_their_whole_record_back(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, working_days=["monday", "friday:am"])
    key = a_key(database, acme, ada)
    path = f"{V1}/users/{ada.id}"
    whole: dict[str, Any] = client.get(path, key).json()

    renamed = client.patch(path, key, json=whole | {"last_name": "King"})
    promoted = client.patch(path, key, json=whole | {"role": "owner"})

    assert (renamed.status_code, renamed.json()["last_name"]) == (200, "King")
    assert (promoted.status_code, promoted.json()["code"]) == (403, "field_not_yours")


def test_only_deactivated_users_are_reactivated(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    pending = a_person(database, acme, status="pending")
    active = a_person(database, acme)

    refused = client.post(f"{V1}/users/{pending.id}/reactivate", key)

    assert (refused.status_code, refused.json()["code"]) == (409, "user_pending")
    assert "pending" in refused.json()["detail"]
    assert client.get(f"{V1}/users/{pending.id}", key).json()["status"] == "pending"
    assert client.post(f"{V1}/users/{active.id}/reactivate", key).status_code == 200
