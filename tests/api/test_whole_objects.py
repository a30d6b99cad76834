"""`GET`, change, `PATCH` of the whole object: read-only members may be sent back unchanged."""

from __future__ import annotations

from typing import Any, Final

import pytest

from storage.db.database import Database
from tests.api.conftest import Client, a_key
from tests.builders import (
    a_person,
    an_organisation,
)

pytestmark = pytest.mark.shared_database

V1: Final = "/api/v1"


def test_a_dry_run_takes_the_whole_object_too(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    path = f"{V1}/users/{a_person(database, acme).id}"
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
