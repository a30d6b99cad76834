"""Departments, leave types, organisation, feeds, webhooks, keys and the audit trail over HTTP."""

from __future__ import annotations

import pytest

from storage.db.database import Database
from tests.api.conftest import Client, a_key
from tests.builders import an_organisation

pytestmark = pytest.mark.shared_database

API = "/api/v1"


def test_a_duplicate_name_is_409_with_the_id_of_the_existing_record(
    client: Client, key: str
) -> None:
    research = client.post(f"{API}/departments", key, json={"name": "Research"}).json()
    study = client.post(f"{API}/leave-types", key, json={"name": "Study"}).json()

    department = client.post(f"{API}/departments", key, json={"name": "research"})
    leave_type = client.post(f"{API}/leave-types", key, json={"name": "STUDY", "code": "other"})

    for refused, other in ((department, research), (leave_type, study)):
        assert (refused.status_code, refused.json()["code"]) == (409, "name_taken")
        assert refused.json()["other_id"] == other["id"]
        assert f"{other['name']} already exists" in refused.json()["detail"]


def test_a_calendar_feed_opens_until_it_is_revoked(client: Client, key: str) -> None:
    response = client.post(f"{API}/calendar-feeds", key, json={"name": "Phone"})
    feed = response.json()

    assert response.status_code == 201
    assert client.get(f"{API}/calendar-feeds", key).json()["data"] == [feed]
    assert client.get(feed["url"]).status_code == 200
    assert client.delete(f"{API}/calendar-feeds/{feed['id']}", key).status_code == 204
    assert client.get(feed["url"]).status_code == 404
    assert client.post(f"{API}/calendar-feeds", key).json()["name"] == "Leave: Olive Owner"


def test_the_personal_token_stays_until_it_is_regenerated(client: Client, key: str) -> None:
    token = client.get(f"{API}/calendar-feeds/token", key).json()
    again = client.get(f"{API}/calendar-feeds/token", key).json()
    new = client.post(f"{API}/calendar-feeds/regenerate", key).json()

    path = f"/cal/{token['token']}"
    assert again == token
    assert token["feeds"] == {
        "personal": path,
        "team": f"{path}?scope=team",
        "organisation": f"{path}?scope=org",
    }
    assert set(new) == {"token", "feeds", "last_fetched_at", "last_fetched_by"}
    assert client.get(path).status_code == 404
    assert client.get(new["feeds"]["organisation"]).status_code == 200


def test_an_admin_can_redeliver_missed_events(client: Client, key: str) -> None:
    body = {"url": "https://203.0.114.9/hook", "events": ["leave_request.approved"]}
    path = client.post(f"{API}/webhooks", key, json=body).headers["Location"]
    again = f"{path}/redeliver-failed"

    webhook = client.get(path, key).json()
    done = client.post(again, key, json={"since": "2026-06-01T09:00:00Z"})
    unclear = client.post(again, key, json={"since": "yesterday"})
    client.patch(path, key, json={"is_active": False})
    refused = client.post(again, key, json={"since": "2026-06-01T09:00:00Z"})

    assert (webhook["failing_since"], webhook["next_attempt_at"]) == (None, None)
    assert (done.status_code, done.json()) == (202, {"count": 0, "has_more": False})
    assert (unclear.status_code, unclear.json()["errors"][0]["pointer"]) == (422, "/since")
    assert (refused.status_code, refused.json()["code"]) == (409, "webhook_disabled")


def test_a_new_key_works_with_no_more_scopes_than_its_maker(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    maker = a_key(database, acme, scopes=["keys:write", "leave:read"])
    keys = f"{API}/api-keys"

    response = client.post(keys, maker, json={"name": "ci", "scopes": ["leave:read"]})
    beyond = client.post(keys, maker, json={"name": "ci", "scopes": ["users:read"]})

    assert response.status_code == 201
    assert response.json()["scopes"] == ["leave:read"]
    assert client.get(f"{API}/leave-requests", response.json()["api_key"]).status_code == 200
    assert (beyond.status_code, beyond.json()["code"]) == (422, "scope_not_held")
    assert "api_key" not in client.get(keys, maker).json()["data"][0]
    assert client.delete(response.headers["Location"], maker).status_code == 204
    assert client.get(f"{API}/leave-requests", response.json()["api_key"]).status_code == 401
