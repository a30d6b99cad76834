from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from storage.db.database import Database
from tests.api.conftest import Client, a_key
from tests.builders import an_organisation

pytestmark = pytest.mark.shared_database


def test_a_valid_request_id_is_kept_and_any_other_replaced(client: Client) -> None:
    def returned(sent: str) -> str:
        response = client.get("/healthz", headers={"X-Request-Id": sent})
        return str(response.headers["X-Request-Id"])

    assert returned("trace-7") == "trace-7"
    for odd in ("", "two words", "x" * 129, "tab\tbed"):
        assert returned(odd) not in ("", odd)
    assert returned("") != returned("")


def test_one_line_is_logged_for_a_request(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)

    with capture_logs() as lines:
        client.get(f"/api/v1/users/{acme.owner.id}", key, headers={"X-Request-Id": "trace-7"})

    (line,) = lines
    assert line["method"] == "GET"
    assert line["route"] == "/api/v1/users/{id}"
    assert line["status"] == 200
    assert line["request_id"] == "trace-7"
    assert line["organisation_id"] == acme.id
    assert line["key_id"]
    assert line["duration_ms"] > 0


@pytest.mark.parametrize(
    "path", ["/cal/secret-token", "/cal/secret-token.ics", "/cal/x/secret-token"]
)
def test_a_feeds_token_is_never_logged(client: Client, path: str) -> None:
    with capture_logs() as lines:
        client.get(path)

    assert len(lines) == 1
    assert "secret-token" not in str(lines)


def test_health_needs_no_key(client: Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {
        "status": "ready",
        "oldest_undelivered_seconds": 0,
    }
