"""A request repeated after a crash or in another process is executed once."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import pytest

from storage.db.schema import migrate
from tests.flows.running import Deployment, Server

pytestmark = pytest.mark.slow

KEY = {"Idempotency-Key": "3f0b7c1e-5d0c-4c8e-9a52-7c1e6a3d9b20"}
BODY = {"name": "Research"}


@pytest.fixture
def deployment(database_url: str) -> Deployment:
    migrate(database_url)
    return Deployment(database_url)


def departments(client: httpx.Client) -> list[str]:
    departments_data = client.get("/api/v1/departments").raise_for_status().json()["data"]
    return [department["name"] for department in departments_data]


def test_a_response_that_a_killed_server_never_sent_is_replayed(deployment: Deployment) -> None:
    key = deployment.init()["api_key"]
    with deployment.serving() as server:
        # The client does not wait; the server is killed once the change is visible.
        lost = threading.Thread(target=_send_and_lose, args=(server, key))
        lost.start()
        reader = server.client(key)
        while not departments(reader):
            pass
        server.kill()
        lost.join()

    with deployment.serving() as server:
        client = server.client(key)
        again = client.post("/api/v1/departments", json=BODY, headers=KEY)
        assert again.status_code == 201
        assert again.headers["Idempotent-Replayed"] == "true"
        assert client.get(again.headers["Location"]).content == again.content
        assert departments(client) == ["Research"]


def test_two_processes_execute_a_request_once(deployment: Deployment) -> None:
    key = deployment.init()["api_key"]
    responses: list[httpx.Response] = []
    with deployment.serving() as first, deployment.serving() as second:
        clients = [server.client(key) for server in (first, second)] * 4
        barrier = threading.Barrier(len(clients))

        def send(client: httpx.Client) -> None:
            barrier.wait(20)
            responses.append(client.post("/api/v1/departments", json=BODY, headers=KEY))

        threads = [threading.Thread(target=send, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        replayed = clients[0].post("/api/v1/departments", json=BODY, headers=KEY)
        names = departments(clients[1])

    assert names == ["Research"]
    assert {response.status_code for response in responses} <= {201, 409}
    created_responses = [response for response in responses if response.status_code == 201]
    assert {response.content for response in created_responses} == {replayed.content}
    assert sum("Idempotent-Replayed" not in response.headers for response in created_responses) == 1


def _send_and_lose(server: Server, key: str) -> None:
    request: dict[str, Any] = {"json": BODY, "headers": {**KEY, "Authorization": f"Bearer {key}"}}
    try:
        httpx.post(f"{server.url}/api/v1/departments", **request)
    except httpx.TransportError:
        return
