"""Departments, leave types, organisation, feeds, webhooks, keys and the audit trail over HTTP."""

from __future__ import annotations

import pytest

from tests.api.conftest import Client

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
