"""Closures: days on which the company, or a department, is closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Annotated, Final, Literal, get_args

from storage.base import fields, texts
from storage.base.errors import Conflict, InvalidInput, Sentence
from storage.base.ids import new_id
from storage.base.leave_values import HalfDay
from storage.base.values import HIDDEN, About, Caller, Id, local_day
from storage.db import rows
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf
from storage.db.tables import ClosureRow
from storage.outbox import organisation_config, resources
from storage.outbox.resources import Resource
from storage.people import department_rows
from storage.rules import counted_days, request_rules
from storage.rules.counted_days import Span

MAX_CLOSURES: Final = 50


WhenShort = Literal["overdraft", "skip"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Closure:
    """Days on which the company, or a department, is closed."""

    id: Id
    name: Annotated[str, About(example="Christmas closure")]
    leave_type_id: Id
    start_date: date
    end_date: date
    start_half_day: Annotated[
        HalfDay | None, About(description="The half of the first day in which it starts.")
    ]
    end_half_day: Annotated[
        HalfDay | None, About(description="The half of the last day in which it ends.")
    ]
    department_id: Annotated[
        Id | None, About(description="Only people of this department; null for everyone.")
    ]
    when_short: Annotated[
        WhenShort,
        About(
            description="What happens for people who have too little left of the allowance: "
            "`overdraft` goes below zero, `skip` books nothing."
        ),
    ]
    created_at: datetime
    updated_at: Annotated[datetime, HIDDEN]
    version: Annotated[int, HIDDEN]

    @property
    def span(self) -> Span:
        return Span(
            start_date=self.start_date,
            end_date=self.end_date,
            start_half_day=self.start_half_day,
            end_half_day=self.end_half_day,
        )


class TooManyClosures(Conflict):
    """The organisation has reached the limit for closures."""

    code = "too_many_closures"
    title = "There are too many closures."
    cure = "Delete one that is over: its leave stays."
    sentence = Sentence(
        "An organisation can have at most {most} closures. Delete one that is over: its leave "
        "stays.",
        most=MAX_CLOSURES,
    )


_closure: Final = rows.mapper(Closure)
_REQUIRED: Final = ("name", "leave_type_id", "start_date", "end_date")
_CLOSURES: Final = Resource(
    name="closure",
    table=ClosureRow,
    value=lambda _, row: _closure(row),
    checks={
        "name": texts.name,
        "leave_type_id": fields.unchecked,
        "start_date": fields.unchecked,
        "end_date": fields.unchecked,
        "start_half_day": fields.unchecked,
        "end_half_day": fields.unchecked,
        "department_id": fields.unchecked,
        "when_short": fields.one_of(*get_args(WhenShort), code="invalid_value"),
    },
    actions=("closure.created", "closure.updated", "closure.deleted"),
    read_by="member",
)


def create(
    tx: Transaction, settings: Mapping[str, object], *, by: Caller, now: datetime
) -> Closure:
    """Add a closure: ``name``, ``leave_type_id``, ``start_date``, ``end_date`` and other fields.

    Raises InsufficientRole, InvalidInput or TooManyClosures.
    """
    resources.lock(tx, by=by)
    fields.require(settings, *_REQUIRED)
    values = fields.checked(settings, _CLOSURES.checks)
    if len(resources.all_of(tx, _CLOSURES, by.organisation_id, MAX_CLOSURES)) >= MAX_CLOSURES:
        raise TooManyClosures
    optional = dict.fromkeys(("start_half_day", "end_half_day", "department_id"))
    closure = Closure(
        **{**optional, "when_short": "overdraft", **values},
        id=new_id(now),
        created_at=now,
        updated_at=now,
        version=1,
    )
    _check(tx, None, closure, by=by, now=now)
    resources.add(tx, _CLOSURES, closure, rows.columns(closure), by=by, now=now)
    return closure


def page(tx: Transaction, page: PageOf, *, by: Caller) -> Page[Closure]:
    """The organisation's closures, oldest first. Raises UnusableCursor."""
    return resources.page(tx, _CLOSURES, page, by=by)


def get(tx: Transaction, closure_id: str, *, by: Caller) -> Closure:
    """Raises NotFound."""
    return resources.get(tx, _CLOSURES, closure_id, by=by)


def update(
    tx: Transaction, closure_id: str, changes: Mapping[str, object], *, by: Caller, now: datetime
) -> Closure:
    """Change a closure. Raises InsufficientRole, NotFound or InvalidInput."""
    resources.lock(tx, by=by)
    before = get(tx, closure_id, by=by)
    after = replace(before, **fields.checked(changes, _CLOSURES.checks))
    if after == before:
        return before
    _check(tx, before, after, by=by, now=now)
    columns = rows.columns(after)
    changed = {name: columns[name] for name in _CLOSURES.checks}
    return resources.change(tx, _CLOSURES, before, after, changed, by=by, now=now)


def delete(tx: Transaction, closure_id: str, *, by: Caller, now: datetime) -> None:
    """Delete a closure. Raises InsufficientRole or NotFound."""
    resources.lock(tx, by=by)
    resources.remove(tx, _CLOSURES, [get(tx, closure_id, by=by)], by=by, now=now)


def delete_of_department(tx: Transaction, department_id: str, *, by: Caller, now: datetime) -> None:
    closures = resources.all_of(tx, _CLOSURES, by.organisation_id, MAX_CLOSURES)
    of_department = [closure for closure in closures if closure.department_id == department_id]
    resources.remove(tx, _CLOSURES, of_department, by=by, now=now)


def _check(
    tx: Transaction, before: Closure | None, after: Closure, *, by: Caller, now: datetime
) -> None:
    """Raises InvalidInput for impossible dates, an unknown leave type or department."""
    fields.require(
        {name: getattr(after, name) for name in (*_REQUIRED, "when_short")},
        *_REQUIRED,
        "when_short",
    )
    config = organisation_config.of_organisation(tx, by.organisation_id)
    span = counted_days.requested_span(
        after.start_date, after.end_date, after.start_half_day, after.end_half_day
    )
    if before is None or span != before.span:
        today = local_day(now, config.organisation.timezone)
        request_rules.check_dates_in_reach(span, today)
    leave_type = config.leave_types.get(after.leave_type_id)
    is_new = before is None or before.leave_type_id != after.leave_type_id
    if leave_type is None or (is_new and leave_type.is_archived):
        raise InvalidInput.of(
            "leave_type_id",
            "unknown_leave_type",
            "There is no leave type in use with this id. GET /api/v1/leave-types lists them.",
        )
    department_rows.check(tx, after.department_id, by=by)
