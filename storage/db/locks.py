"""Row locks until the end of a transaction, for rules that span more than one row.

SQLite has one writer at a time and needs none. The locks leave foreign key checks possible.

To avoid deadlocks, every transaction locks in the same order: the organisation, its people by id,
then leave, departments and webhooks.
"""

from __future__ import annotations

from typing import Any, Final

from peewee import Select, fn

from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import OrganisationRow

# What locks a row against changes, and leaves foreign key checks possible.
ROW: Final = "FOR NO KEY UPDATE"


def organisation(tx: Transaction, organisation_id: str) -> None:
    """Lock the organisation until this transaction ends."""
    tx.find(OrganisationRow, ROW, id=organisation_id)


def workspace(tx: Transaction, team_id: str) -> None:
    """Lock the Slack workspace until this transaction ends.

    There may be no row to lock yet, so PostgreSQL locks a hash of the id (an advisory lock).
    """
    if tx.engine == "postgresql":
        tx.first(_workspace, team_id=team_id)


def locked(query: Any, engine: str, strength: str = ROW) -> Select:
    """The query with its rows locked; call inside a ``compiled`` function."""
    locked_query: Select = query.for_update(strength) if engine == "postgresql" else query
    return locked_query


@compiled
def _workspace(team_id: Param[str]) -> Select:
    return Select(columns=[fn.pg_advisory_xact_lock(fn.hashtextextended(team_id, 0))])
