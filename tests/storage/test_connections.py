"""Connections to several hosts, and a listener for commits that reconnects."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import psycopg
import pytest

from storage.base.secrets import Secrets
from storage.db.connections import parameters_of, with_first
from storage.db.database import Transaction
from storage.db.engines import open_database
from storage.db.postgresql import CHANNEL


@pytest.mark.parametrize(
    ("parameters", "host", "port", "first"),
    [
        ({"host": "a,b", "port": "1,2"}, "b", 2, {"host": "b,a", "port": "2,1"}),
        ({"host": "a,b", "port": "1,2"}, "a", 1, {"host": "a,b", "port": "1,2"}),
        ({"host": "a,b,c", "port": "1"}, "c", 1, {"host": "c,a,b", "port": "1,1,1"}),
        ({"host": "a,b"}, "b", 5432, {"host": "b,a"}),
        ({"host": "a,a", "port": "1,2"}, "a", 2, {"host": "a,a", "port": "2,1"}),
        ({"hostaddr": "::1,::2", "user": "x"}, "::2", 5432, {"hostaddr": "::2,::1", "user": "x"}),
        ({"host": "a", "port": "1"}, "b", 2, {"host": "a", "port": "1"}),
    ],
)
def test_the_host_that_answered_last_is_tried_first(
    parameters: dict[str, str], host: str, port: int, first: dict[str, str]
) -> None:
    assert with_first(parameters, host, port) == first


def test_of_several_hosts_the_primary_is_connected_to_in_time() -> None:
    one = parameters_of("postgresql://a/hiatus", 10)
    two = parameters_of("postgresql://a,b/hiatus", 10)
    own = parameters_of("postgresql://a,b/hiatus?connect_timeout=9&target_session_attrs=any", 10)

    assert (one["connect_timeout"], "target_session_attrs" in one) == (5, False)
    assert (two["connect_timeout"], two["target_session_attrs"]) == (2, "read-write")
    assert (own["connect_timeout"], own["target_session_attrs"]) == ("9", "any")


def notify(tx: Transaction) -> None:
    tx.notify("webhooks")


async def until(is_so: Callable[[], bool], seconds: float = 30.0) -> None:
    async with asyncio.timeout(seconds):
        while not is_so():
            await asyncio.sleep(0.005)


async def with_listener(url: str, story: Callable[[list[str]], object]) -> list[str]:
    """Run a story beside a process that delivers; the notifications that it got."""
    listener = open_database(url, Secrets.generate())
    notified: list[str] = []
    listener.on_notify("webhooks", lambda: notified.append("webhooks"))
    listening = asyncio.create_task(listener.listen())
    try:
        await until(lambda: notified == ["webhooks"])  # once, for what was missed before
        await asyncio.to_thread(story, notified)
        await until(lambda: len(notified) > 1)
    finally:
        listening.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await listening
        listener.close()
    return notified


def test_a_commit_notifies_the_process_that_delivers(postgres_url: str) -> None:
    def story(_: list[str]) -> None:
        writer = open_database(postgres_url, Secrets.generate())
        writer.write_now(notify)
        writer.close()

    notified = asyncio.run(with_listener(postgres_url, story))

    assert notified == ["webhooks", "webhooks"]


def test_after_a_lost_connection_it_listens_again(postgres_url: str, postgres_server: str) -> None:
    def story(notified: list[str]) -> None:
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE query = %s AND pid <> pg_backend_pid() AND datname = %s",
                (f"LISTEN {CHANNEL}", postgres_url.rpartition("/")[2].partition("?")[0]),
            )

    assert len(asyncio.run(with_listener(postgres_url, story))) > 1


def test_a_process_that_delivers_itself_notifies_no_other(postgres_url: str) -> None:
    own: list[str] = []

    def story(notified: list[str]) -> None:
        writer = open_database(postgres_url, Secrets.generate())
        writer.on_notify("webhooks", lambda: own.append("webhooks"))
        writer.write_now(notify)
        writer.close()
        assert (own, notified) == (["webhooks"], ["webhooks"])
        other = open_database(postgres_url, Secrets.generate())
        other.write_now(notify)
        other.close()

    assert len(asyncio.run(with_listener(postgres_url, story))) == 2
