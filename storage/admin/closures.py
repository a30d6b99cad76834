"""Closures: days on which the company, or a department, is closed.

A change books, recounts or takes back everyone's leave in the same transaction
(``storage/leave/closure_leave.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, get_args

from storage.admin import effects
from storage.admin.effects import EffectsRecorder
from storage.base import fields, texts
from storage.base.errors import Conflict, InvalidInput, Sentence
from storage.base.ids import new_id
from storage.base.leave_values import Closure, WhenShort
from storage.base.values import Caller, User, local_day
from storage.db import rows
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf
from storage.db.tables import ClosureRow
from storage.leave import closure_leave
from storage.outbox import organisation_config, resources
from storage.outbox.organisation_config import OrganisationConfig
from storage.outbox.resources import Resource
from storage.people import department_rows, people_rows
from storage.rules import counted_days, request_rules

MAX_CLOSURES: Final = 50
# How many of the people who were skipped a closure lists.
MAX_SKIPPED_SHOWN: Final = 100
_SKIPPED: Final = ("skipped_people", "skipped_user_ids")
# What decides who gets which leave.
_BOOKED_BY: Final = (
    "leave_type_id",
    "start_date",
    "end_date",
    "start_half_day",
    "end_half_day",
    "department_id",
    "when_short",
    "excluded_user_ids",
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


def _check_excluded(value: Sequence[str], field: str) -> tuple[str, ...]:
    """Raises InvalidInput ``too_many_items``; who they are is checked later."""
    if len(value) > closure_leave.MAX_EXCLUDED:
        raise InvalidInput.of(
            field, "out_of_range", "Use at most {most} people.", most=closure_leave.MAX_EXCLUDED
        )
    return tuple(dict.fromkeys(value))


_REQUIRED: Final = ("name", "leave_type_id", "start_date", "end_date")
_CLOSURES: Final = Resource(
    name="closure",
    table=ClosureRow,
    value=lambda _, row: rows.closure(row),
    checks={
        "name": texts.name,
        "leave_type_id": fields.unchecked,
        "start_date": fields.unchecked,
        "end_date": fields.unchecked,
        "start_half_day": fields.unchecked,
        "end_half_day": fields.unchecked,
        "department_id": fields.unchecked,
        "when_short": fields.one_of(*get_args(WhenShort), code="invalid_value"),
        "excluded_user_ids": _check_excluded,
    },
    actions=("closure.created", "closure.updated", "closure.deleted"),
    read_by="member",
)


def create(
    tx: Transaction,
    settings: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> Closure:
    """Add a closure: ``name``, ``leave_type_id``, ``start_date``, ``end_date`` and other fields.

    Books the leave of everyone who works then and has no other leave, from today on. Raises
    InsufficientRole, InvalidInput or TooManyClosures; then nothing has changed.
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
    config = _check(tx, None, closure, by=by, now=now)
    users = closure_leave.lock_everyone(tx, by.organisation_id)
    closure = _booked(tx, config, None, closure, users, by=by, now=now, recorder=recorder)
    resources.add(tx, _CLOSURES, closure, rows.columns(closure), by=by, now=now)
    return closure


def page(tx: Transaction, page: PageOf, *, by: Caller) -> Page[Closure]:
    """The organisation's closures, oldest first, as the caller sees them. Raises UnusableCursor."""
    found = resources.page(tx, _CLOSURES, page, by=by)
    return replace(found, items=[_seen_by(closure, by) for closure in found.items])


def get(tx: Transaction, closure_id: str, *, by: Caller) -> Closure:
    """A closure as the caller sees it. Raises NotFound."""
    return _seen_by(resources.get(tx, _CLOSURES, closure_id, by=by), by)


def _seen_by(closure: Closure, by: Caller) -> Closure:
    """Only admins see who has too few days left, and who works."""
    if by.is_admin:
        return closure
    return replace(closure, excluded_user_ids=(), skipped_user_ids=(), skipped_people=0)


def update(
    tx: Transaction,
    closure_id: str,
    changes: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> Closure:
    """Change a closure, and recount its leave from today on.

    Raises InsufficientRole, NotFound or InvalidInput; then nothing has changed.
    """
    resources.lock(tx, by=by)
    users = closure_leave.lock_everyone(tx, by.organisation_id)
    # Read after the locks: an admin who cancels a person's leave changes the closure, too.
    before = get(tx, closure_id, by=by)
    after = replace(before, **fields.checked(changes, _CLOSURES.checks))
    if after == before:
        return before
    config = _check(tx, before, after, by=by, now=now)
    if any(getattr(after, name) != getattr(before, name) for name in _BOOKED_BY):
        after = _booked(tx, config, before, after, users, by=by, now=now, recorder=recorder)
    columns = rows.columns(after)
    changed = {name: columns[name] for name in (*_CLOSURES.checks, *_SKIPPED)}
    return resources.change(tx, _CLOSURES, before, after, changed, by=by, now=now)


def delete(
    tx: Transaction,
    closure_id: str,
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> None:
    """Delete a closure, and take back its leave from today on; days that have passed stay.

    Raises InsufficientRole or NotFound.
    """
    resources.lock(tx, by=by)
    users = closure_leave.lock_everyone(tx, by.organisation_id)
    closure = get(tx, closure_id, by=by)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    _booked(tx, config, closure, None, users, by=by, now=now, recorder=recorder)
    resources.remove(tx, _CLOSURES, [closure], by=by, now=now)


def _booked(
    tx: Transaction,
    config: OrganisationConfig,
    before: Closure | None,
    after: Closure | None,
    users: Sequence[User],
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None,
) -> Closure:
    """Book the leave; the closure with those who were skipped. ``after``: None if it is deleted."""
    if recorder is not None:
        checked = users[: effects.MAX_CHECKED]
        closures = [closure for closure in (before, after) if closure is not None]
        recorder.read_balances_before(
            tx,
            config,
            checked,
            today=local_day(now, config.organisation.timezone),
            until=max(closure.end_date for closure in closures),
        )
    closure = after or before
    assert closure is not None
    closed = closure_leave.book(
        tx, config, closure, users, before=before, is_deleted=after is None, by=by, now=now
    )
    if recorder is not None:
        changed_ids = {effect.user.id for effect in closed}
        balances = recorder.balance_changes(
            tx, config, [user for user in checked if user.id in changed_ids]
        )
        recorder.effects = replace(
            recorder.effects,
            closed=tuple(closed),
            balances=balances,
            overdrawn=effects.overdrawn(balances),
        )
    skipped = [effect.user.id for effect in closed if effect.is_skipped]
    return replace(
        closure, skipped_people=len(skipped), skipped_user_ids=tuple(skipped[:MAX_SKIPPED_SHOWN])
    )


def delete_of_department(tx: Transaction, department_id: str, *, by: Caller, now: datetime) -> None:
    resources.remove_of_department(tx, _CLOSURES, department_id, by=by, now=now)


def _check(
    tx: Transaction, before: Closure | None, after: Closure, *, by: Caller, now: datetime
) -> OrganisationConfig:
    """Raises InvalidInput for impossible dates, an unknown leave type, department or person."""
    fields.require(
        {name: getattr(after, name) for name in (*_REQUIRED, "when_short")},
        *_REQUIRED,
        "when_short",
    )
    config = organisation_config.of_organisation(tx, by.organisation_id)
    span = counted_days.requested_span(
        after.start_date, after.end_date, after.start_half_day, after.end_half_day
    )
    if before is None or span != counted_days.span_of(before):
        today = local_day(now, config.organisation.timezone)
        request_rules.check_dates_in_reach(span, today)
        if span.end_date < today:
            raise InvalidInput.of(
                "end_date",
                "past_days",
                "A closure books days from today ({today}) on. Choose a later last day.",
                today=today,
            )
    leave_type = config.leave_types.get(after.leave_type_id)
    is_new = before is None or before.leave_type_id != after.leave_type_id
    if leave_type is None or (is_new and leave_type.is_archived):
        raise InvalidInput.of(
            "leave_type_id",
            "unknown_leave_type",
            "There is no leave type in use with this id. GET /api/v1/leave-types lists them.",
        )
    department_rows.check(tx, after.department_id, by=by)
    added = set(after.excluded_user_ids) - set(() if before is None else before.excluded_user_ids)
    if added and len(people_rows.of_ids(tx, by.organisation_id, added)) != len(added):
        raise InvalidInput.of("excluded_user_ids", "not_found", "There is no such user.")
    return config
