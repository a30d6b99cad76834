"""Backups of a service that is under load, and `kill -9` at any moment of backup and restore."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from storage.base.secrets import Secrets, new_secret_key
from storage.db.engines import open_database
from tests import outside
from tests.backups import Place, empty_copy_of
from tests.builders import NOW, signing_secrets
from tests.flows.running import ROOT, Deployment, Server

pytestmark = pytest.mark.slow

WRITERS = 4
KILLS = 5


class Installed(Deployment):
    """A deployment whose `hiatus backup` and `hiatus restore` are processes of their own."""

    def __init__(self, url: str, folder: Path, key: str) -> None:
        super().__init__(url, HIATUS_SCHEDULER="off")
        self.place = Place(url, folder, key)
        self.env |= self.place.env

    def start(self, *words: str | Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "serve.py", *map(str, words)],
            cwd=ROOT,
            env=self.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def run(self, *words: str | Path) -> float:
        """Run it to its end, without an error; how long it took, in seconds."""
        started = time.monotonic()
        assert self.start(*words).wait(120) == 0
        return time.monotonic() - started


@pytest.fixture
def empty_url(database_url: str, tmp_path: Path) -> Iterator[str]:
    with empty_copy_of(database_url, tmp_path / "elsewhere") as url:
        yield url


class Writing:
    """Callers who create departments, numbered, as fast as the server acknowledges them."""

    def __init__(self, server: Server, api_key: str) -> None:
        self.acknowledged: list[str] = []
        self._is_over = threading.Event()
        self._threads = [
            threading.Thread(target=self._write, args=(server.client(api_key), number))
            for number in range(WRITERS)
        ]
        for thread in self._threads:
            thread.start()

    def _write(self, client: httpx.Client, writer: int) -> None:
        number = 0
        while not self._is_over.is_set():
            name = f"writer {writer} number {number}"
            answer = client.post("/api/v1/departments", json={"name": name})
            assert answer.status_code == 201, answer.text
            self.acknowledged.append(name)
            number += 1

    def wait_for(self, count: int) -> None:
        deadline = time.monotonic() + 60
        while len(self.acknowledged) < count:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def close(self) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()


def test_a_backup_under_load_has_all_that_was_acknowledged_before(
    database_url: str, empty_url: str, tmp_path: Path
) -> None:
    key = new_secret_key()
    installed = Installed(database_url, tmp_path, key)
    owner = installed.init()
    file = tmp_path / "saved.tar"
    with installed.serving() as server:
        webhook = _post(server, owner, "webhooks", {"url": "https://example.com/", "events": ["*"]})
        with closing(Writing(server, owner["api_key"])) as writing:
            writing.wait_for(50)
            before = {*writing.acknowledged}
            installed.run("backup", file)
            during = len(writing.acknowledged) - len(before)
            writing.wait_for(len(writing.acknowledged) + 20)

    elsewhere = Installed(empty_url, tmp_path / "elsewhere", key)
    elsewhere.run("restore", file)

    with elsewhere.serving() as server:
        listed = server.client(owner["api_key"]).get("/api/v1/departments").json()["data"]
    restored = {str(name) for (name,) in outside.rows(empty_url, "SELECT name FROM departments")}
    with closing(open_database(empty_url, Secrets([key]))) as database:
        secrets = database.read_now(
            signing_secrets, owner["organisation_id"], webhook["id"], now=NOW
        )
    assert during > 0, "the backup stopped the writers"
    assert before - restored == set()
    assert listed
    assert {department["name"] for department in listed} <= restored
    assert secrets == [webhook["secret"]]
    # One moment: of each writer, everything up to its last department.
    numbers = defaultdict(list)
    for name in restored:
        if found := re.fullmatch(r"writer (\d) number (\d+)", name):
            numbers[found[1]].append(int(found[2]))
    assert len(numbers) == WRITERS
    assert all(sorted(found) == [*range(len(found))] for found in numbers.values())


def _post(server: Server, owner: dict[str, Any], path: str, body: dict[str, Any]) -> Any:
    answer = server.client(owner["api_key"]).post(f"/api/v1/{path}", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def with_much_data(url: str) -> None:
    """About 20 MB more, so that a kill finds the commands at their work."""
    numbers = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) "
        "SELECT i AS number, "
    )
    text = "hex(randomblob(300))" if url.startswith("sqlite:") else "repeat(md5(i::text), 18)"
    outside.run(url, f"CREATE TABLE ballast AS {numbers} {text} AS text FROM n")


def killed_after(process: subprocess.Popen[bytes], seconds: float) -> None:
    time.sleep(seconds)
    process.kill()
    process.wait()


def assert_complete(file: Path) -> None:
    with tarfile.open(file) as tar:
        member = tar.getmembers()[-1]
        content = tar.extractfile(member)
        assert content is not None
        assert len(content.read()) == member.size > 100_000


def test_a_killed_backup_leaves_no_archive(database_url: str, tmp_path: Path) -> None:
    installed = Installed(database_url, tmp_path, new_secret_key())
    installed.init()
    with_much_data(database_url)
    seconds = installed.run("backup", tmp_path / "whole.tar")

    for number in range(KILLS):
        file = tmp_path / f"{number}.tar"
        killed_after(installed.start("backup", file), seconds * (number + 1) / KILLS)
        if file.exists():
            assert_complete(file)
        else:
            installed.run("backup", file)
        file.unlink()


def test_a_killed_restore_leaves_all_or_nothing(
    database_url: str, empty_url: str, tmp_path: Path
) -> None:
    key = new_secret_key()
    installed = Installed(database_url, tmp_path, key)
    installed.init()
    with_much_data(database_url)
    file = tmp_path / "saved.tar"
    installed.run("backup", file)
    elsewhere = Installed(empty_url, tmp_path / "elsewhere", key)
    seconds = elsewhere.run("restore", file)
    empty(empty_url)

    for number in range(KILLS):
        killed_after(elsewhere.start("restore", file), seconds * (number + 1) / KILLS)
        wait_until_unused(empty_url)
        if not elsewhere.place.has_tables():
            elsewhere.run("restore", file)
        assert outside.rows(empty_url, "SELECT count(*) FROM ballast") == [(30_000,)]
        assert outside.rows(empty_url, "SELECT count(*) FROM organisations") == [(1,)]
        empty(empty_url)


def killed_at_sight(process: subprocess.Popen[bytes], path: Path, unfinished: str) -> None:
    """Kill it as soon as the file, or the unfinished one that is to become it, is there."""
    partial = f".{path.name}-*/{unfinished}"
    while process.poll() is None and not (path.exists() or [*path.parent.glob(partial)]):
        time.sleep(0.001)
    process.kill()
    process.wait()


def test_an_archive_or_database_is_in_place_only_when_it_is_complete(
    sqlite_url: str, tmp_path: Path
) -> None:
    key = new_secret_key()
    installed = Installed(sqlite_url, tmp_path, key)
    installed.init()
    with_much_data(sqlite_url)
    file, restored = tmp_path / "saved.tar", tmp_path / "restored.db"
    elsewhere = Installed(f"sqlite:///{restored}", tmp_path, key)

    killed_at_sight(installed.start("backup", file), file, "archive")
    if not file.exists():
        installed.run("backup", file)
    assert_complete(file)

    killed_at_sight(elsewhere.start("restore", file), restored, "database")
    if not restored.exists():
        elsewhere.run("restore", file)
    assert outside.rows(elsewhere.place.url, "SELECT count(*) FROM ballast") == [(30_000,)]


def wait_until_unused(url: str) -> None:
    """Wait until PostgreSQL has noticed that the killed process's programs are gone."""
    if url.startswith("sqlite:"):
        return
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    deadline = time.monotonic() + 60
    while outside.rows(url, others) != [(0,)]:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def empty(url: str) -> None:
    if url.startswith("sqlite:"):
        Path(url.removeprefix("sqlite:///")).unlink()
    else:
        outside.run(url, "DROP SCHEMA public CASCADE")
        outside.run(url, "CREATE SCHEMA public")
