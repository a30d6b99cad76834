"""The people for whom a caller may record leave: whether there are any, and a search."""

from __future__ import annotations

from datetime import datetime

from peewee import Select

from storage.base.clock import local_day
from storage.base.values import Caller, User
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import UserRow
from storage.directory import approval_rule, people_search
from storage.directory.people_search import MAX_OPTIONS
from storage.events import organisation_config
from storage.leave.recorded import permissions


def are_any(tx: Transaction, *, by: Caller, now: datetime) -> bool:
    """Whether the caller may record leave for anyone at all."""
    if by.user_id is None or by.is_admin:
        return by.user_id is not None
    config = organisation_config.of_organisation(tx, by.organisation_id)
    if not permissions.may_record_any(config.leave_types.values(), by=by):
        return False
    today = local_day(now, config.organisation.timezone)
    row = tx.first(
        _any_assigned,
        organisation_id=by.organisation_id,
        viewer_id=by.user_id,
        today=today.isoformat(),
    )
    return row is not None


def find(tx: Transaction, words: str, *, by: Caller, now: datetime) -> list[User]:
    """Those of them whom ``people_search`` finds by the text, at most 99, without the caller."""
    if by.is_admin:
        return [user for user in people_search.find(tx, words, by=by) if user.id != by.user_id]
    config = organisation_config.of_organisation(tx, by.organisation_id)
    typed = people_search.normalised(words)
    users = tx.all(
        _matching,
        organisation_id=by.organisation_id,
        viewer_id=str(by.user_id),
        today=local_day(now, config.organisation.timezone).isoformat(),
        typed=typed,
        lowered=typed.lower(),
        limit=MAX_OPTIONS,
    )
    return [rows.user(row) for row in users]


@compiled_per_engine
def _matching(
    engine: Engine,
    organisation_id: Param[str],
    viewer_id: Param[str],
    today: Param[str],
    typed: Param[str],
    lowered: Param[str],
    limit: Param[int],
) -> Select:
    query = people_search.matching(engine, organisation_id, typed, lowered)
    assigned, _ = _assigned(organisation_id, viewer_id, today)
    return query.where(UserRow.id.in_(assigned)).limit(limit)


@compiled
def _any_assigned(organisation_id: Param[str], viewer_id: Param[str], today: Param[str]) -> Select:
    query, requester = _assigned(organisation_id, viewer_id, today)
    return query.where(requester.status != "archived").limit(1)


def _assigned(organisation_id: Expr, viewer_id: Expr, today: Expr) -> tuple[Select, Expr]:
    query, requester = approval_rule.assigned_to(organisation_id, viewer_id, today)
    # Redundant for all but admins, but the planner then reads only these people.
    potential = approval_rule.potential_requesters(organisation_id, viewer_id)
    return query.where(requester.id.in_(potential)), requester
