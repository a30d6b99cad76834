"""`/readyz` while something is wrong with the database: always 503 with a reason."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from storage.base.secrets import Secrets
from storage.db.database import Database
from storage.db.engines import open_database
from tests import outside
from tests.api.conftest import Client, application

pytestmark = pytest.mark.both_engines


def not_ready(response: httpx.Response) -> str:
    """The reason in a 503 of `/readyz`."""
    body = response.json()
    assert (response.status_code, body["code"]) == (503, "unavailable"), body
    assert int(response.headers["Retry-After"]) > 0
    reason: str = body["reason"]
    return reason


def test_a_database_of_another_version_is_not_ready(client: Client, database_url: str) -> None:
    outside.run(database_url, "DELETE FROM schema_migration")

    assert not_ready(client.get("/readyz")) == "schema_out_of_date"


def migrated_by_a_newer_version(url: str, name: str, compatible_from: int) -> None:
    outside.run(
        url,
        "INSERT INTO schema_migration (name, applied, compatible_from) "
        f"VALUES ('{name}', '2030-01-01 00:00:00', {compatible_from})",
    )


def test_a_database_of_a_newer_version_that_allows_it_is_ready(
    client: Client, database_url: str
) -> None:
    # A name of this test's own: each is logged once in a process.
    name = f"9999_compatible_{database_url.partition(':')[0]}"
    migrated_by_a_newer_version(database_url, name, compatible_from=1)

    with capture_logs() as lines:
        assert [client.get("/readyz").status_code for _ in range(3)] == [200] * 3

    (line,) = [line for line in lines if line["event"] == "database.newer"]
    assert (line["migration"], line["log_level"]) == (name, "info")


def test_a_database_that_only_newer_versions_can_use_is_not_ready(
    client: Client, database_url: str
) -> None:
    migrated_by_a_newer_version(database_url, "9999_incompatible", compatible_from=9999)

    with capture_logs() as lines:
        assert not_ready(client.get("/readyz")) == "schema_too_new"

    (line,) = [line for line in lines if line["event"] == "not ready"]
    assert "9999_incompatible" in line["error"]


def test_a_database_without_a_table_is_not_ready(client: Client, database_url: str) -> None:
    outside.run(database_url, "ALTER TABLE schema_migration RENAME TO away")

    assert not_ready(client.get("/readyz")) in ("check_failed", "database_unavailable")


def test_an_overwritten_database_file_is_not_ready(tmp_path: Path) -> None:
    path = tmp_path / "hiatus.db"
    path.write_bytes(b"no database " * 1_000)
    database = open_database(f"sqlite:///{path}", Secrets.generate())
    client = Client(application(database))

    with capture_logs() as lines:
        reason = not_ready(client.get("/readyz"))

    assert reason in ("check_failed", "database_unavailable")
    assert [line["reason"] for line in lines if line["event"] == "not ready"] == [reason]
    client.close()
    database.close()


def test_a_closed_database_is_not_ready(client: Client, database: Database) -> None:
    database.close()

    assert not_ready(client.get("/readyz"))
