"""A feed's token gives access to it, so no error may log the token."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from tests import outside
from tests.flows.days import free_monday
from tests.flows.running import Deployment

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_no_token_reaches_the_log(database_url: str, log_format: str) -> None:
    deployment = Deployment(database_url)
    owner = deployment.init()
    with deployment.serving(LOG_FORMAT=log_format) as server:
        client = server.client(owner["api_key"])
        types = client.get("/api/v1/leave-types").json()["data"]
        for number, name in enumerate(("annual", "unpaid")):
            type_id = next(leave_type["id"] for leave_type in types if leave_type["code"] == name)
            day = f"{free_monday() + timedelta(days=number)}"
            body = {"leave_type_id": type_id, "start_date": day, "end_date": day}
            half = body | {"start_half_day": "am", "end_half_day": "am"}
            client.post("/api/v1/leave-requests", json=half).raise_for_status()
        token = client.get("/api/v1/calendar-feeds/token").json()["token"]
        revoked = client.post("/api/v1/calendar-feeds", json={"name": "Phone"}).json()
        client.delete(f"/api/v1/calendar-feeds/{revoked['id']}")
        dead = revoked["url"].rpartition("/")[2]
        feed = f"{server.url}/cal/{token}"
        chart = f"{server.url}/wallchart/{token}"

        responses = [
            httpx.get(feed),
            httpx.get(feed, headers={"If-None-Match": "*"}),
            httpx.head(f"{feed}.ics"),
            httpx.get(f"{feed}?scope={token}"),
            httpx.post(feed),
            httpx.get(f"{feed}/"),
            httpx.get(f"{server.url}/cal/{dead}"),
            httpx.get(f"{server.url}/cal/x{token}"),
            httpx.get(f"{server.url}//cal/{token}"),
            httpx.get(f"{feed}%0d%0ax"),
            httpx.get(f"{chart}?scope=personal&month={token}"),
            httpx.get(f"{chart}.gif"),
            httpx.get(f"{chart}.png"),
            httpx.get(f"{server.url}/wallchart/{dead}"),
            httpx.get(feed, headers={"X-Request-Id": "a b", "Host": "elsewhere.example"}),
        ]
        # No such zone, so that rendering the feed fails with an unexpected error.
        outside.run(database_url, "UPDATE users SET timezone = 'Nowhere/Land'")
        failed = httpx.get(feed)

    assert [response.status_code for response in responses] == [
        *(200, 304, 200, 422, 405, 404, 404, 404, 404, 404, *(422, 404, 200, 404), 200),
    ]
    assert failed.status_code == 500
    logged = server.logged()
    assert "ZoneInfoNotFoundError" in logged
    assert token not in logged
    assert dead not in logged
    assert owner["api_key"] not in logged
    for response in (*responses, failed):
        assert response.status_code == 200 or token not in response.text
