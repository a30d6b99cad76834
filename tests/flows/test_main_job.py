"""The main job end to end: a process, HTTP, a webhook receiver, a calendar, and SIGKILL."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from typing import Any

import httpx
import icalendar
import pytest
import standardwebhooks

from storage.db.schema import migrate
from tests.fakes.receiver import LoopbackReceiver
from tests.flows.days import free_monday
from tests.flows.running import INIT, ROOT, Deployment


def a_week(**changes: Any) -> dict[str, Any]:
    """The body of a request from a Monday to the Wednesday at midday."""
    monday = free_monday()
    return {
        "start_date": f"{monday}",
        "end_date": f"{monday + timedelta(days=2)}",
        "end_half_day": "am",
        **changes,
    }


def unpaid(client: httpx.Client) -> str:
    """The id of a type that needs approval and has no allowance."""
    types = client.get("/api/v1/leave-types").raise_for_status().json()["data"]
    type_id: str = next(leave_type["id"] for leave_type in types if leave_type["code"] == "unpaid")
    return type_id


def hire(owner: httpx.Client, first_name: str, **fields: Any) -> dict[str, Any]:
    body = {
        "email": f"{first_name.lower()}@example.com",
        "first_name": first_name,
        "last_name": "Tester",
        **fields,
    }
    user: dict[str, Any] = owner.post("/api/v1/users", json=body).raise_for_status().json()
    return user


def listen(owner: httpx.Client, url: str) -> standardwebhooks.Webhook:
    response = owner.post("/api/v1/webhooks", json={"url": url, "events": ["*"]})
    return standardwebhooks.Webhook(response.raise_for_status().json()["secret"])


@pytest.fixture
def deployment(database_url: str) -> Deployment:
    migrate(database_url)
    return Deployment(database_url, HIATUS_WEBHOOK_ALLOW_PRIVATE="on")


def test_an_approved_request_reaches_webhooks_and_the_calendar(
    deployment: Deployment,
) -> None:
    owner_key = deployment.init()["api_key"]
    with deployment.serving() as server, LoopbackReceiver() as receiver:
        owner = server.client(owner_key)
        grace = hire(owner, "Grace")
        hire(owner, "Ada", manager_id=grace["id"])
        keys = {
            name: deployment.command(
                *("keys", "create", "--email", f"{name}@example.com", "--name", "test", "--json")
            )["api_key"]
            for name in ("ada", "grace")
        }
        ada, manager = server.client(keys["ada"]), server.client(keys["grace"])
        webhook = listen(owner, receiver.url)
        (registered,) = owner.get("/api/v1/webhooks").json()["data"]
        pinged = owner.post(f"/api/v1/webhooks/{registered['id']}/test")
        (ping,) = receiver.wait_for(1)
        assert (pinged.status_code, pinged.json()["id"]) == (202, ping.headers["webhook-id"])
        assert webhook.verify(ping.body, ping.headers)["type"] == "ping"

        created = ada.post("/api/v1/leave-requests", json=a_week(leave_type_id=unpaid(ada)))
        assert (created.status_code, created.json()["status"]) == (201, "pending")
        request_id = created.json()["id"]
        pending = manager.get("/api/v1/approvals/pending").json()["data"]
        assert [item["id"] for item in pending] == [request_id]
        approved = manager.post(f"/api/v1/approvals/{request_id}/approve")

        assert (approved.status_code, approved.json()["status"]) == (200, "approved")
        assert approved.json()["decided_by"] == grace["id"]
        assert ada.get(created.headers["location"]).json() == approved.json()
        events = [
            webhook.verify(received.body, received.headers) for received in receiver.wait_for(3)[1:]
        ]
        assert [event["type"] for event in events] == [
            "leave_request.created",
            "leave_request.approved",
        ]
        assert events[1]["data"]["total_days"] == approved.json()["total_days"]

        feeds = ada.get("/api/v1/calendar-feeds/token").json()["feeds"]
        calendar = icalendar.Calendar.from_ical(httpx.get(server.url + feeds["personal"]).content)
        (event,) = [event for event in calendar.events if str(event["uid"]) == request_id]
        assert str(event["summary"]) == "Unpaid leave"
        ada.post("/api/v1/calendar-feeds/regenerate").raise_for_status()
        assert httpx.get(server.url + feeds["personal"]).status_code == 404

    assert server.stop() == 0
    log = server.logged()
    assert "Traceback" not in log
    assert feeds["personal"].rsplit("/", 1)[1] not in log


@pytest.mark.slow
def test_kill_9_between_a_change_and_its_delivery_loses_nothing(
    deployment: Deployment,
) -> None:
    owner_key = deployment.init()["api_key"]
    with LoopbackReceiver() as receiver:
        # This process delivers nothing, so it is killed with events in the outbox.
        with deployment.serving(HIATUS_SCHEDULER="off") as server:
            owner = server.client(owner_key)
            webhook = listen(owner, receiver.url)
            created = owner.post("/api/v1/leave-requests", json=a_week(leave_type_id=unpaid(owner)))
            cancelled = owner.post(f"/api/v1/leave-requests/{created.json()['id']}/cancel")
            assert cancelled.status_code == 200
            server.kill()

        with deployment.serving() as server:
            # No one else could approve the owner's leave, so it is approved at once.
            received = receiver.wait_for(3)
            shown = server.client(owner_key).get(f"/api/v1/leave-requests/{created.json()['id']}")

    assert shown.json() == cancelled.json()
    events = [webhook.verify(delivery.body, delivery.headers) for delivery in received]
    assert [event["type"].removeprefix("leave_request.") for event in events] == [
        *("created", "approved", "cancelled")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("revoke_through", [0, 1])
def test_a_revoked_key_stops_working_at_once_in_every_process(
    deployment: Deployment, revoke_through: int
) -> None:
    owner_key = deployment.init()["api_key"]
    second_key = deployment.command(
        *("keys", "create", "--email", "olive@example.com", "--name", "second", "--json")
    )
    with deployment.serving() as first, deployment.serving() as second:
        for server in (first, second):
            assert server.client(second_key["api_key"]).get("/api/v1/users").status_code == 200

        revoker = (first, second)[revoke_through].client(owner_key)
        assert revoker.delete(f"/api/v1/api-keys/{second_key['id']}").status_code in (200, 204)

        for server in (first, second):
            assert server.client(second_key["api_key"]).get("/api/v1/users").status_code == 401


@pytest.mark.slow
def test_an_old_schema_stops_the_start_and_names_the_cure(tmp_path: Any) -> None:
    deployment = Deployment(f"sqlite:///{tmp_path}/new.db")

    with pytest.raises(AssertionError, match="run `hiatus migrate` first"), deployment.serving():
        pass


@pytest.mark.slow
def test_wrong_settings_stop_the_start_and_are_all_named(tmp_path: Any) -> None:
    deployment = Deployment(
        f"sqlite:///{tmp_path}/new.db", HIATUS_SCHEDULER="perhaps", LOG_FORMAT="xml"
    )

    with pytest.raises(AssertionError) as stopped, deployment.serving():
        pass

    assert "HIATUS_SCHEDULER" in str(stopped.value)
    assert "LOG_FORMAT" in str(stopped.value)


def test_the_program_prints_json_and_nothing_else(sqlite_url: str) -> None:
    done = subprocess.run(
        [sys.executable, "serve.py", *INIT],
        cwd=ROOT,
        env=Deployment(sqlite_url).env,
        capture_output=True,
        check=True,
    )

    assert sorted(json.loads(done.stdout)) == ["api_key", "organisation_id", "user_id"]
