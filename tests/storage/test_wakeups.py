"""Commits in one process wake the dispatchers of another, on PostgreSQL."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import psycopg

from storage.base.secrets import Secrets
from storage.db import wakeups
from storage.db.database import Transaction
from storage.db.engines import open_database


def wake(tx: Transaction) -> None:
    tx.wake("webhooks")


async def until(is_so: Callable[[], bool], seconds: float = 30.0) -> None:
    async with asyncio.timeout(seconds):
        while not is_so():
            await asyncio.sleep(0.005)


async def with_hearer(url: str, story: Callable[[list[str]], object]) -> list[str]:
    """Run a story beside a process that delivers; what woke that."""
    hearer = open_database(url, Secrets.generate())
    heard: list[str] = []
    hearer.on_wake("webhooks", lambda: heard.append("webhooks"))
    hearing = asyncio.create_task(hearer.hear_wakes())
    try:
        await until(lambda: heard == ["webhooks"])  # once, for what was missed before
        await asyncio.to_thread(story, heard)
        await until(lambda: len(heard) > 1)
    finally:
        hearing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await hearing
        hearer.close()
    return heard


def test_a_commit_wakes_the_process_that_delivers(postgres_url: str) -> None:
    def story(_: list[str]) -> None:
        writer = open_database(postgres_url, Secrets.generate())
        writer.write_now(wake)
        writer.close()

    heard = asyncio.run(with_hearer(postgres_url, story))

    assert heard == ["webhooks", "webhooks"]


def test_after_a_lost_connection_it_listens_again(postgres_url: str, postgres_server: str) -> None:
    def story(heard: list[str]) -> None:
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE query = %s AND pid <> pg_backend_pid() AND datname = %s",
                (f"LISTEN {wakeups.CHANNEL}", postgres_url.rpartition("/")[2].partition("?")[0]),
            )

    assert len(asyncio.run(with_hearer(postgres_url, story))) > 1


def test_who_delivers_himself_tells_nobody(postgres_url: str) -> None:
    own: list[str] = []

    def story(heard: list[str]) -> None:
        writer = open_database(postgres_url, Secrets.generate())
        writer.on_wake("webhooks", lambda: own.append("webhooks"))
        writer.write_now(wake)
        writer.close()
        assert (own, heard) == (["webhooks"], ["webhooks"])
        other = open_database(postgres_url, Secrets.generate())
        other.write_now(wake)
        other.close()

    assert len(asyncio.run(with_hearer(postgres_url, story))) == 2
