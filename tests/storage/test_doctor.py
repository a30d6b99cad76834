"""``hiatus doctor`` on the database, its files and the clock: each defect has its line."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from storage.base.ids import new_id
from storage.base.secrets import Secrets, new_secret_key
from storage.base.settings import StorageSettings
from storage.db.database import Database
from storage.db.engines import open_database
from storage.db.tables import DigestRow, SlackStatusRow
from storage.keys import stored_secrets
from storage.operations import doctor
from storage.operations.doctor import Check, Finding, Reader, ok, run
from storage.outbox import notification_outbox
from tests import outside
from tests.builders import NOW, Acme, a_request, a_webhook, an_organisation

KEY, OTHER = new_secret_key(), new_secret_key()
LATE, STUCK = NOW + timedelta(minutes=4), NOW + timedelta(hours=2)


def reader_of(url: str, *keys: str) -> Reader:
    return Reader(settings=StorageSettings(database_url=url, secret_keys=keys or (KEY,)))


def findings_of(url: str, *keys: str, now: datetime = NOW) -> dict[str, tuple[str, str]]:
    """The state and the text of each check of the database."""
    findings = run(doctor.checks(reader_of(url, *keys), {}, now))
    return {finding.subject: (finding.state, finding.text) for finding in findings}


def a_started_database(url: str, *keys: str) -> None:
    with closing(open_database(url, Secrets(keys))) as database:
        stored_secrets.check_keys(database)


def test_a_migrated_database_that_is_in_order_has_no_finding(database_url: str) -> None:
    a_started_database(database_url, KEY)

    findings = findings_of(database_url)

    assert {state for state, _ in findings.values()} == {"ok"}


def test_the_checks_change_neither_the_file_nor_its_folder(sqlite_url: str, tmp_path: Path) -> None:
    a_started_database(sqlite_url, KEY)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    findings_of(sqlite_url)
    findings_of(f"sqlite:///{tmp_path}/other.db")

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_database_in_use_is_read_with_what_is_only_in_its_log(
    sqlite_url: str, tmp_path: Path
) -> None:
    with closing(open_database(sqlite_url, Secrets([KEY]))) as database:
        stored_secrets.check_keys(database)
        assert (tmp_path / "hiatus.db-wal").stat().st_size > 0

        assert findings_of(sqlite_url, OTHER)["secret keys"][0] == "failed"


NEWER = (
    "INSERT INTO schema_migration (name, applied, compatible_from) "
    "VALUES ('9999_later', '2030-01-01 00:00:00', {})"
)


@pytest.mark.parametrize(
    ("statement", "state", "part"),
    [
        ("DELETE FROM schema_migration", "failed", "hiatus migrate"),
        (NEWER.format("NULL"), "failed", "a newer version of Hiatus"),
        (NEWER.format(1), "warning", "9999_later of a newer version"),
    ],
    ids=["older", "newer", "newer and compatible"],
)
def test_the_schema_of_another_version_is_reported(
    database_url: str, statement: str, state: str, part: str
) -> None:
    outside.run(database_url, statement)

    found, text = findings_of(database_url)["database"]

    assert found == state
    assert part in text


def test_a_file_that_is_damaged_where_no_other_check_looks_is_a_failure(
    sqlite_url: str, tmp_path: Path
) -> None:
    a_started_database(sqlite_url, KEY)
    with closing(sqlite3.connect(tmp_path / "hiatus.db")) as file:
        page = "SELECT rootpage FROM sqlite_master WHERE name = 'digestrow_due_at'"
        ((number,),) = file.execute(page).fetchall()
        ((size,),) = file.execute("PRAGMA page_size").fetchall()
    assert findings_of(sqlite_url)["file"] == ("ok", "is complete")
    with (tmp_path / "hiatus.db").open("r+b") as damaged:
        damaged.seek((number - 1) * size)
        damaged.write(b"x" * size)

    findings = findings_of(sqlite_url)

    assert findings["file"][0] == "failed"
    assert "restore a backup" in findings["file"][1]
    assert findings["database"][0] == "ok"


def test_a_database_without_tables_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()

    findings = findings_of(f"sqlite:///{tmp_path}/empty.db")

    assert findings["database"] == ("failed", "has no tables yet: run `hiatus migrate`")
    assert findings["webhooks"][0] == "warning"


@pytest.mark.parametrize(
    "url", ["postgresql://hiatus:hunter2@127.0.0.1:1/hiatus", "sqlite:///{folder}/damaged.db"]
)
def test_a_database_that_cannot_be_read_is_one_failure(url: str, tmp_path: Path) -> None:
    (tmp_path / "damaged.db").write_bytes(b"SQLite format 3\0" + b"x" * 5_000)

    findings = findings_of(url.format(folder=tmp_path))

    assert findings.pop("database")[0] == "failed"
    # The file is looked at by a check of its own.
    assert {name for name, (state, _) in findings.items() if state == "failed"} <= {"file"}
    assert "hunter2" not in str(findings)


def test_keys_that_do_not_belong_to_the_database_are_a_failure(database_url: str) -> None:
    a_started_database(database_url, KEY)

    state, text = findings_of(database_url, OTHER)["secret keys"]

    assert state == "failed"
    assert "HIATUS_SECRET_KEYS" in text
    assert OTHER not in text


def test_an_incomplete_rotation_of_keys_is_a_warning(database_url: str) -> None:
    a_started_database(database_url, KEY)
    a_started_database(database_url, OTHER, KEY)

    state, text = findings_of(database_url, OTHER, KEY)["secret keys"]

    assert state == "warning"
    assert "hiatus secrets rotate" in text


def test_a_lost_key_file_is_a_failure_and_is_not_created(sqlite_url: str, tmp_path: Path) -> None:
    a_started_database(sqlite_url, KEY)
    reader = Reader(settings=StorageSettings(database_url=sqlite_url, secret_keys=()))

    states = {one.subject: one.state for one in run(doctor.checks(reader, {}, NOW))}

    assert states["secret keys"] == "failed"
    assert not (tmp_path / "hiatus.db.key").exists()


def with_everything_due(database: Database) -> None:
    """A webhook delivery, a message, a digest and a Slack status that are due at NOW."""
    acme = an_organisation(database)
    a_webhook(database, acme, url="https://example.com/hook")
    a_request(database, acme, acme.owner)
    user_id = acme.owner.id
    database.write_now(notification_outbox.remind, acme.id, [], [user_id], now=NOW)
    due_at = round(NOW.timestamp() * 1_000)
    database.write_now(lambda tx: tx.insert(DigestRow, organisation_id=acme.id, due_at=due_at))
    connection = {
        "organisation_id": acme.id,
        "id": new_id(NOW),
        "user_id": user_id,
        "team_id": "T1",
        "slack_user_id": "U1",
        "token_encrypted": "encrypted",
        "connected_at": NOW,
        "due_at": NOW,
        "failures": 0,
    }
    database.write_now(lambda tx: tx.insert(SlackStatusRow, **connection))


QUEUES = ("webhooks", "messages", "digests", "Slack statuses")


@pytest.mark.parametrize(
    ("now", "state"),
    [(NOW, "ok"), (LATE, "warning"), (STUCK, "failed")],
    ids=["just due", "late", "stuck"],
)
def test_queues_are_late_by_their_oldest_due_item(
    database: Database, database_url: str, now: datetime, state: str
) -> None:
    with_everything_due(database)

    findings = findings_of(database_url, now=now)

    assert [findings[queue][0] for queue in QUEUES] == [state] * 4
    if state != "ok":
        assert all("HIATUS_SCHEDULER=on" in findings[queue][1] for queue in QUEUES)


def test_late_deliveries_to_a_failing_endpoint_alone_name_the_endpoint(
    database: Database, database_url: str
) -> None:
    with_everything_due(database)
    outside.run(database_url, "UPDATE webhooks SET failing_since_at = 1")
    ((webhook_id,),) = outside.rows(database_url, "SELECT id FROM webhooks")

    state, text = findings_of(database_url, now=STUCK)["webhooks"]

    assert state == "warning"
    assert str(webhook_id) in text


def test_a_healthy_endpoint_with_late_deliveries_needs_a_process_that_delivers(
    database: Database, acme: Acme, database_url: str
) -> None:
    for path in ("failing", "healthy"):
        url = f"https://example.com/{path}"
        a_webhook(database, acme, url=url)
    a_request(database, acme, acme.owner)
    outside.run(database_url, "UPDATE webhooks SET failing_since_at = 1 WHERE url LIKE '%/failing'")

    state, text = findings_of(database_url, now=STUCK)["webhooks"]

    assert state == "failed"
    assert "HIATUS_SCHEDULER=on" in text


@pytest.mark.parametrize(
    ("queue", "table"),
    [*zip(QUEUES, ("deliveries", "notices", "digests", "slack_statuses"), strict=True)],
)
def test_a_queue_is_judged_by_its_own_items(
    database: Database, database_url: str, queue: str, table: str
) -> None:
    with_everything_due(database)
    outside.run(database_url, f"UPDATE {table} SET due_at = due_at * 2")

    findings = findings_of(database_url, now=STUCK)

    late = {name for name in QUEUES if findings[name][0] == "failed"}
    assert late == {*QUEUES} - {queue}


def test_space_for_less_than_a_copy_is_a_warning_and_none_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "hiatus.db"
    path.touch()
    assert doctor.disk(path)[0].state == "ok"

    # A file with a hole takes no space.
    os.truncate(path, 4 << 40)

    assert doctor.disk(path)[0].state == "warning"
    assert doctor.disk(path, full_bytes=1 << 60)[0].state == "failed"


def test_files_that_other_users_can_read_are_named_with_the_cure(tmp_path: Path) -> None:
    path, key = tmp_path / "hiatus.db", tmp_path / "hiatus.db.key"
    for file in (path, key):
        file.touch(0o600)
    reader = reader_of(f"sqlite:///{path}")

    def found() -> Finding:
        return [*run(doctor.checks(reader, {}, NOW))][-1]

    assert found().state == "ok"

    path.chmod(0o640)
    assert (found().state, found().text.endswith(f"chmod 600 {path}")) == ("warning", True)

    key.chmod(0o604)
    assert (found().state, found().text.endswith(f"chmod o= {key}")) == ("failed", True)


@pytest.mark.parametrize("name", ["HIATUS_SECRET_KEYS_FILE", "DATABASE_URL_FILE"])
def test_a_file_with_a_setting_that_every_user_can_read_is_a_failure(
    name: str, tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    keys.touch(0o644)
    reader = reader_of("postgresql://hiatus@127.0.0.1:1/hiatus")

    [*_, found] = run(doctor.checks(reader, {name: str(keys)}, NOW))

    assert (found.state, str(keys) in found.text) == ("failed", True)


def test_a_check_that_hangs_or_raises_is_a_failure_and_the_others_are_made() -> None:
    def hangs() -> list[Finding]:
        time.sleep(30)
        return []

    def raises() -> list[Finding]:
        raise RuntimeError("hunter2")

    begun = time.monotonic()
    findings = [
        *run(
            [
                Check(subject="hangs", look=hangs, seconds=0.2),
                Check(subject="raises", look=raises),
                Check(subject="works", look=lambda: ok("works", "fine")),
            ]
        )
    ]

    assert time.monotonic() - begun < 20
    assert [(one.subject, one.state) for one in findings] == [
        ("hangs", "failed"),
        ("raises", "failed"),
        ("works", "ok"),
    ]
    assert "check that the database, the name server and the disk answer" in findings[0].text
    assert "hunter2" not in str(findings)
