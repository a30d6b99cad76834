"""Use cases run one after the other, and at the same moment."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from threading import Barrier
from typing import Final, TypeVar

from storage.base.errors import DomainError
from storage.db.database import Database, Transaction
from tests.refusals import TIMEOUT_SECONDS

T = TypeVar("T")

# Long enough for the other transaction to finish, unless it has to wait.
HELD_OPEN_SECONDS: Final = 0.02


# A use case with its arguments.
Act = Callable[[Transaction], object]


class Refused(Exception):
    """A use case refused an act."""

    def __init__(self, act: Act) -> None:
        self.act = act


def outcome(database: Database, acts: Sequence[Act], read: Callable[[Transaction], T]) -> T:
    """What is read after the acts, one after the other, without those that are refused.

    Nothing is stored.
    """

    def run(tx: Transaction) -> T:
        for act in acts:
            try:
                act(tx)
            except DomainError as refusal:
                raise Refused(act) from refusal
        return read(tx)

    try:
        return database.dry_run_now(run)
    except Refused as refused:
        return outcome(database, [act for act in acts if act is not refused.act], read)


def take_at_once(database: Database, threads: Executor, acts: Sequence[Act]) -> None:
    """Run acts at the same moment, each in its thread and transaction; any may be refused.

    Each transaction stays open for a while after its act.
    """
    begin = Barrier(len(acts))
    runs: list[Act] = []

    def take(act: Act) -> None:
        def held_open(tx: Transaction) -> None:
            runs.append(act)
            act(tx)
            time.sleep(HELD_OPEN_SECONDS)

        begin.wait(TIMEOUT_SECONDS)
        with suppress(DomainError):
            database.write_now(held_open)

    list(threads.map(take, acts))
    assert len(runs) == len(acts), "A transaction that ended in a deadlock was run again."
