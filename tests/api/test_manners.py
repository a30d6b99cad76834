"""Rules for every path: methods, caches, request ids, unknown paths."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from api.service import app
from tests.api.conftest import Client

pytestmark = pytest.mark.shared_database

ID = "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"
PATHS = sorted({operation.path for operation in app.OPERATIONS})


def concrete(path: str) -> str:
    return "/api/v1" + "/".join(ID if part.startswith("{") else part for part in path.split("/"))


def methods_of(path: str) -> set[str]:
    methods = {operation.method for operation in app.OPERATIONS if operation.path == path}
    return {*methods, "OPTIONS", *({"HEAD"} if "GET" in methods else ())}


def test_every_path_lists_its_methods(client: Client) -> None:
    for path in PATHS:
        response = client.request("OPTIONS", concrete(path))
        refused = client.request("PROPFIND", concrete(path))

        assert (response.status_code, response.content) == (204, b""), path
        assert set(response.headers["Allow"].split(", ")) == methods_of(path), path
        assert refused.status_code == 405
        assert refused.json()["code"] == "method_not_allowed"
        assert refused.headers["Allow"] == response.headers["Allow"]


@pytest.mark.parametrize("path", ["/healthz", "/openapi.json", "/cal/token"])
def test_public_paths_list_their_methods(client: Client, path: str) -> None:
    assert client.request("OPTIONS", path).headers["Allow"] == "GET, HEAD, OPTIONS"
    assert client.post(path).headers["Allow"] == "GET, HEAD, OPTIONS"


def test_head_has_the_headers_of_get_on_every_path(client: Client, key: str) -> None:
    for operation in app.OPERATIONS:
        if operation.method == "GET" and "{" not in operation.path:
            read = client.get(concrete(operation.path), key)
            head = client.request("HEAD", concrete(operation.path), key=key)
            assert (head.status_code, own(head)) == (read.status_code, own(read)), operation.path


def own(response: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if "rate" not in name} | {
        "x-request-id": ""
    }


@pytest.mark.parametrize(
    "path", ["/api/v1/users/", "/api/v1/", "/api/v1", "/api/v2/users", "/api/v1/users/x/y/z", "/x"]
)
def test_an_unknown_path_answers_a_problem(client: Client, key: str, path: str) -> None:
    response = client.get(path, key)

    assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json()["request_id"] == response.headers["X-Request-Id"]


def test_only_the_caller_may_cache_responses(client: Client, key: str) -> None:
    read = client.get("/api/v1/departments", key)
    users = client.get("/api/v1/users", key)
    response = client.post("/api/v1/departments", key, json={"name": "Research"})
    refused = client.get("/api/v1/departments")

    assert read.headers["Cache-Control"] == response.headers["Cache-Control"] == "private, no-cache"
    assert read.headers["Vary"] == "Authorization"
    assert users.headers["Vary"] == "Authorization, API-Variant"
    assert refused.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api-keys", {"name": "ci", "scopes": ["leave:read"]}),
        ("POST", "/webhooks", {"url": "https://203.0.114.9/hook", "events": ["*"]}),
        ("POST", "/calendar-feeds", {}),
        ("GET", "/calendar-feeds", None),
        ("GET", "/calendar-feeds/token", None),
        ("POST", "/calendar-feeds/regenerate", None),
    ],
)
def test_secrets_may_not_be_cached(
    client: Client, key: str, method: str, path: str, body: Any
) -> None:
    response = client.request(method, f"/api/v1{path}", key=key, json=body)

    assert response.is_success
    assert response.headers["Cache-Control"] == "no-store"


def test_response_problem_log_and_audit_share_the_request_id(client: Client, key: str) -> None:
    headers = {"X-Request-Id": "trace-7"}
    with capture_logs() as lines:
        created = client.post("/api/v1/departments", key, json={"name": "R"}, headers=headers)
        refused = client.post("/api/v1/departments", key, json={}, headers=headers)

    assert created.headers["X-Request-Id"] == refused.headers["X-Request-Id"] == "trace-7"
    assert refused.json()["request_id"] == "trace-7"
    assert [line["request_id"] for line in lines] == ["trace-7", "trace-7"]
    entry = client.get("/api/v1/audit?action=department.created", key).json()["data"][0]
    assert entry["request_id"] == "trace-7"


@pytest.mark.parametrize("method", ["DELETE", "POST"])
def test_an_unexpected_body_is_limited_too(client: Client, key: str, method: str) -> None:
    path = f"/api/v1/leave-requests/{ID}/cancel" if method == "POST" else f"/api/v1/users/{ID}"

    response = client.request(method, path, key=key, content=b" " * (256 * 1024 + 1))

    assert (response.status_code, response.json()["code"]) == (413, "body_too_large")
