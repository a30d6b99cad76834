"""Reads the wallchart for the web page, its pictures and the table in Slack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import TypedDict
from urllib.parse import urlencode

from peewee import SQL, Case, Select, fn

from storage.access import absences
from storage.access.absences import Pending
from storage.access.wallcharts import chart_days
from storage.access.wallcharts.chart_values import (
    MAX_DAYS,
    MAX_PEOPLE,
    PersonDays,
    Scope,
    Wallchart,
)
from storage.base.values import User
from storage.db import rows
from storage.db.compiled import Expr, Param, any_of, any_of_few, compiled
from storage.db.database import Transaction
from storage.db.tables import UserRow
from storage.directory import colleagues
from storage.events import organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.rules.spans import Span


def url(
    base_url: str,
    token: str,
    *,
    scope: Scope = "team",
    first_day: date | None = None,
    department_id: str | None = None,
) -> str:
    """The address of the web page; of the month of ``first_day``, or always of the present one."""
    query: dict[str, str] = {}
    if scope != "team":
        query["scope"] = scope
    if first_day is not None:
        query["month"] = f"{first_day:%Y-%m}"
    if department_id is not None:
        query["department_id"] = department_id
    return f"{base_url}/wallchart/{token}{'?' if query else ''}{urlencode(query)}"


class _InScope(TypedDict):
    organisation_id: str
    viewer_id: str | None
    viewer_department_id: str | None
    scope: Scope
    department_id: str | None


def load(
    tx: Transaction,
    *,
    organisation_id: str,
    viewer_id: str | None,
    viewer_department_id: str | None,
    scope: Scope,
    department_id: str | None = None,
    first_day: date,
    day_count: int,
    page: int = 1,
    page_size: int = MAX_PEOPLE,
    pending: Pending = "none",
    today: date | None = None,
    hides_own: bool = False,
) -> Wallchart:
    """The people of the scope who are not archived: the viewer, then the others by name.

    ``team``: as the team calendar feed. ``org``: everyone, or the people whose department is
    ``department_id`` today. ``page`` past the last one is the last. The viewer's own pending leave
    is always shown; ``pending`` and ``today`` add that of others as in ``absences.away``, and
    ``hides_own`` hides private types as in ``absences.of_people``. Without a viewer, the scope is
    ``org``. Five queries, of at most 200 people and 62 days.
    """
    if not (1 <= day_count <= MAX_DAYS and 1 <= page_size <= MAX_PEOPLE):
        raise ValueError(f"At most {MAX_PEOPLE} people and {MAX_DAYS} days.")
    config = organisation_config.of_organisation(tx, organisation_id)
    span = Span(start_date=first_day, end_date=first_day + timedelta(days=day_count - 1))
    in_scope = _InScope(
        organisation_id=organisation_id,
        viewer_id=viewer_id,
        viewer_department_id=viewer_department_id if scope == "team" else None,
        scope=scope,
        department_id=department_id if scope == "org" else None,
    )
    counted = tx.first(_people_count, **in_scope)
    people_count = 0 if counted is None else int(counted.people_count)
    pages = max(1, -(-people_count // page_size))
    page = min(max(1, page), pages)
    user_rows = tx.all(_people, **in_scope, offset=(page - 1) * page_size, limit=page_size)
    users = [rows.user(row) for row in user_rows]
    chart = _chart_of(
        tx, config, viewer_id, users, span, pending=pending, today=today, hides_own=hides_own
    )
    return replace(chart, people_count=people_count, page=page, pages=pages)


def of_users(
    tx: Transaction,
    config: OrganisationConfig,
    *,
    viewer_id: str,
    user_ids: Sequence[str],
    first_day: date,
    day_count: int,
    pending: Pending = "none",
    today: date | None = None,
) -> Wallchart:
    """As ``load``, in two queries, for people whom the viewer may see; in this order."""
    if not 1 <= day_count <= MAX_DAYS or len(user_ids) > MAX_PEOPLE:
        raise ValueError(f"At most {MAX_PEOPLE} people and {MAX_DAYS} days.")
    user_rows = tx.all(_users, organisation_id=config.organisation.id, user_ids=[*user_ids])
    by_id = {row.id: rows.user(row) for row in user_rows}
    users = [by_id[user_id] for user_id in user_ids if user_id in by_id]
    span = Span(start_date=first_day, end_date=first_day + timedelta(days=day_count - 1))
    return _chart_of(tx, config, viewer_id, users, span, pending=pending, today=today)


def _chart_of(
    tx: Transaction,
    config: OrganisationConfig,
    viewer_id: str | None,
    users: Sequence[User],
    span: Span,
    *,
    pending: Pending,
    today: date | None,
    hides_own: bool = False,
) -> Wallchart:
    """A wallchart of one page with these people."""
    leave = absences.of_people(
        tx,
        config.organisation.id,
        config.leave_types,
        viewer_id,
        [user.id for user in users],
        first_day=span.start_date,
        last_day=span.end_date,
        pending=pending,
        today=today,
        hides_own=hides_own,
    )
    shown_types = chart_days.shown_types_of(config.leave_types.values())
    plain_days = chart_days.PlainDays(config, span)
    return Wallchart(
        config=config,
        first_day=span.start_date,
        last_day=span.end_date,
        people=[
            PersonDays(
                user_id=user.id,
                name=user.name,
                is_viewer=user.id == viewer_id,
                days=chart_days.with_leave(
                    # Charts are shared, and colleagues do not read when a person leaves.
                    plain_days.of(user, shows_end=user.id == viewer_id),
                    leave.get(user.id, ()),
                    shown_types,
                ),
            )
            for user in users
        ],
        leave_types=chart_days.legend(leave.values(), shown_types),
        people_count=len(users),
        page=1,
        pages=1,
    )


def _in_scope(
    organisation_id: Param[str],
    viewer_id: Param[str] | None,
    viewer_department_id: Param[str] | None,
    scope: Scope,
    department_id: Param[str] | None,
) -> Expr:
    is_shown = (UserRow.organisation_id == organisation_id) & (UserRow.status != "archived")
    if scope == "team" and viewer_id is not None:
        # Few people: they are read by id.
        team = colleagues.team(organisation_id, viewer_id, viewer_department_id)
        return is_shown & any_of_few(UserRow.id, team)
    if department_id is not None:
        return is_shown & (UserRow.department_id == department_id)
    return is_shown


@compiled
def _people_count(
    organisation_id: Param[str],
    viewer_id: Param[str] | None,
    viewer_department_id: Param[str] | None,
    scope: Scope,
    department_id: Param[str] | None,
) -> Select:
    return UserRow.select(fn.COUNT(SQL("*")).alias("people_count")).where(
        _in_scope(organisation_id, viewer_id, viewer_department_id, scope, department_id)
    )


@compiled
def _people(
    organisation_id: Param[str],
    viewer_id: Param[str] | None,
    viewer_department_id: Param[str] | None,
    scope: Scope,
    department_id: Param[str] | None,
    offset: Param[int],
    limit: Param[int],
) -> Select:
    order = [UserRow.first_name, UserRow.last_name, UserRow.id]
    if viewer_id is not None:
        order.insert(0, Case(None, ((UserRow.id == viewer_id, SQL("0")),), SQL("1")))
    return (
        UserRow.select(*rows.USER)
        .where(_in_scope(organisation_id, viewer_id, viewer_department_id, scope, department_id))
        .order_by(*order)
        .offset(offset)
        .limit(limit)
    )


@compiled
def _users(organisation_id: Param[str], user_ids: Param[list[str]]) -> Select:
    return UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id, any_of(UserRow.id, user_ids)
    )
