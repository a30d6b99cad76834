"""Runs calls that should be refused, also concurrently, and returns the error codes."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from threading import Barrier, Event, Thread

import pytest

from storage.base.errors import DomainError, InvalidInput
from storage.db.database import Database, Transaction

TIMEOUT_SECONDS = 60
# Long enough for the other transaction to finish, unless it has to wait.
HELD_OPEN_SECONDS = 0.2


def errors_of(call: Callable[[], object]) -> list[tuple[str, str]]:
    """Pointer and code of every error with which the call is refused."""
    with pytest.raises(InvalidInput) as refusal:
        call()
    return [(error.pointer, error.code) for error in refusal.value.errors]


def codes_of(*calls: Callable[[], object]) -> list[str]:
    """The code with which each call is refused."""
    return [_refusal_of(call).code for call in calls]


def in_threads(count: int, work: Callable[[int], object]) -> None:
    """Run ``work`` with the numbers from 0 in as many threads."""
    threads = [Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def at_once(*calls: Callable[[], object]) -> list[str]:
    """Run every call at the same moment, each in its thread; returns the codes of refusals."""
    barrier = Barrier(len(calls))

    def after_the_others(call: Callable[[], object]) -> object:
        barrier.wait(TIMEOUT_SECONDS)
        return call()

    return _codes_of_threads([partial(after_the_others, call) for call in calls])


def overlapping(
    database: Database, first: Callable[[Transaction], object], second: Callable[[], object]
) -> list[str]:
    """Run ``second`` before ``first`` is committed; returns the codes of refusals."""
    is_done = Event()

    def first_held_open(tx: Transaction) -> None:
        first(tx)
        is_done.set()
        time.sleep(HELD_OPEN_SECONDS)

    def second_meanwhile() -> None:
        is_done.wait(TIMEOUT_SECONDS)
        second()

    return _codes_of_threads([lambda: database.write_now(first_held_open), second_meanwhile])


def crossing(
    database: Database,
    begin: Callable[[Transaction], object],
    finish: Callable[[Transaction], object],
    second: Callable[[Transaction], object],
) -> int:
    """Begin ``second`` between two steps of a transaction; returns the number of runs of both.

    More than two mean a deadlock, after which the database aborted a transaction.
    """
    has_begun = Event()
    runs: list[str] = []

    def first(tx: Transaction) -> None:
        runs.append("first")
        begin(tx)
        has_begun.set()
        time.sleep(HELD_OPEN_SECONDS)
        finish(tx)

    def meanwhile(tx: Transaction) -> None:
        runs.append("second")
        second(tx)

    def second_meanwhile() -> None:
        has_begun.wait(TIMEOUT_SECONDS)
        database.write_now(meanwhile)

    assert _codes_of_threads([lambda: database.write_now(first), second_meanwhile]) == []
    return len(runs)


def _codes_of_threads(calls: list[Callable[[], object]]) -> list[str]:
    codes: list[str] = []

    def run(call: Callable[[], object]) -> None:
        try:
            call()
        except DomainError as refusal:
            codes.append(refusal.code)

    threads = [Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return codes


def _refusal_of(call: Callable[[], object]) -> DomainError:
    with pytest.raises(DomainError) as refusal:
        call()
    return refusal.value
