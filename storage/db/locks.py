"""Rows held for the rest of a transaction, where a rule spans more than one row.

SQLite has one writer at a time, so there is nothing to hold there. The lock lets foreign keys be
checked meanwhile.

Everybody takes them in one order, so that nobody waits in a circle: the organisation, then its
people by id, then what is theirs or the organisation's own: leave, departments, webhooks.
"""

from __future__ import annotations

from typing import Any

from peewee import Select, fn

from storage.db.compiled import Engine, Param, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import OrganisationRow


def organisation(tx: Transaction, organisation_id: str) -> None:
    """Let no other transaction past this point for the organisation until this one ends."""
    tx.first(_organisation, organisation_id=organisation_id)


def workspace(tx: Transaction, team_id: str) -> None:
    """Let no other transaction past this point for the Slack workspace until this one ends.

    There may be no row to lock yet, so PostgreSQL locks a number that the id makes.
    """
    if tx.engine == "postgresql":
        tx.first(_workspace, team_id=team_id)


def held(query: Any, engine: str, strength: str = "FOR NO KEY UPDATE") -> Select:
    """The query with its rows held; call inside a ``compiled`` function."""
    held_query: Select = query.for_update(strength) if engine == "postgresql" else query
    return held_query


@compiled_per_engine
def _organisation(engine: Engine, organisation_id: Param[str]) -> Select:
    query = OrganisationRow.select(OrganisationRow.id).where(OrganisationRow.id == organisation_id)
    return held(query, engine)


@compiled
def _workspace(team_id: Param[str]) -> Select:
    return Select(columns=[fn.pg_advisory_xact_lock(fn.hashtextextended(team_id, 0))])
