"""The leave that closures book: for everyone at once, and for one person when something changes.

A person's leave of a closure is the time of the closure in which they are employed, belong to its
department and are not off, as ``storage/rules/closure_days.py`` cuts it. Approved work elsewhere,
such as home office, is no time off: the closure takes its days, which do not come back. Days before
today stay as they are. Callers have locked the people, so no other leave of theirs is booked
meanwhile; all is read and written in a fixed number of statements, however many people there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Final, Literal

from peewee import Select

from storage.base.errors import Conflict, Sentence
from storage.base.leave_values import Closure, ClosureEffect, LeaveRequest
from storage.base.values import Caller, User, local_day
from storage.db import locks, rows
from storage.db.compiled import Engine, Param, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import ClosureRow, UserRow
from storage.leave import card_refreshes, closure_plans, leave_balances, leave_rows
from storage.leave.bookings import NO_BOOKINGS, Bookings
from storage.leave.closure_plans import Task
from storage.outbox import audit, notification_outbox, organisation_config, webhook_outbox
from storage.outbox.organisation_config import OrganisationConfig

# In the audit trail.
WHY: Final = "closure"
_Action = Literal["leave_request.updated", "leave_request.cancelled"]


def lock_everyone(tx: Transaction, organisation_id: str) -> list[User]:
    """The people who are not archived, locked; lock the organisation first."""
    return [rows.user(row) for row in tx.all(_everyone, organisation_id=organisation_id)]


def book(
    tx: Transaction,
    config: OrganisationConfig,
    closure: Closure,
    users: Sequence[User],
    *,
    before: Closure | None = None,
    is_deleted: bool = False,
    by: Caller,
    now: datetime,
) -> list[ClosureEffect]:
    """Book a closure's leave for these people, or recount what ``before`` booked.

    ``is_deleted``: its leave is taken back. People who have too little left are skipped if the
    closure says so, even if their leave was booked before. Effects on other closures are last.
    """
    spans = [closure, *([before] if before else [])]
    first_day = min(each.start_date for each in spans)
    last_day = max(each.end_date for each in spans)
    task = Task(config=config, by=by, now=now, extends=True, is_rebooked=True)
    deleted_ids = {closure.id} if is_deleted else set()
    effects = _run(tx, task, [closure], users, first_day, last_day, deleted_ids)
    if before is None:
        return effects
    # Other closures book the days that this one gives back.
    around = _between(tx, by.organisation_id, before.start_date, before.end_date)
    others = [each for each in around if each.id != closure.id]
    return effects + _run_all(tx, replace(task, is_rebooked=False), others, users)


def fill(
    tx: Transaction,
    config: OrganisationConfig,
    users: Sequence[User],
    *,
    by: Caller,
    now: datetime,
) -> list[ClosureEffect]:
    """Bring the closures of today and later in step with changed people, or with their holidays.

    For people who join, and after changes of employment, departments, working days and holidays.
    """
    today = local_day(now, config.organisation.timezone)
    closures = _between(tx, by.organisation_id, today, date.max) if users else []
    task = Task(config=config, by=by, now=now, extends=True)
    return _run_all(tx, task, closures, users)


def fill_freed(
    tx: Transaction, leave: LeaveRequest, user: User, *, by: Caller, now: datetime
) -> None:
    """Book the closures in which leave of a person's own was declined, cancelled or changed."""
    closures = _between(tx, by.organisation_id, leave.start_date, leave.end_date)
    if not closures:
        return
    # The person is locked: a change of settings is either committed, and read here, or fills the
    # closures afterwards.
    config = organisation_config.of_organisation(tx, by.organisation_id)
    _run_all(tx, Task(config=config, by=by, now=now, extends=False), closures, [user])


MAX_EXCLUDED: Final = 500


class TooManyExcluded(Conflict):
    """A closure can leave out at most 500 people."""

    code = "too_many_excluded"
    title = "Too many people work during this closure."
    cure = "Make closures of single departments instead."
    sentence = Sentence(
        "At most {most} people can work during a closure. Make closures of single departments "
        "instead.",
        most=MAX_EXCLUDED,
    )


def exclude(tx: Transaction, closure_id: str, user: User, *, by: Caller, now: datetime) -> None:
    """Let a person work during a closure: what it booked from today on is taken back.

    Does nothing for a closure that was deleted. Raises TooManyExcluded.
    """
    row = tx.find(ClosureRow, locks.ROW, organisation_id=by.organisation_id, id=closure_id)
    if row is None or user.id in (before := rows.closure(row)).excluded_user_ids:
        return
    if len(before.excluded_user_ids) >= MAX_EXCLUDED:
        raise TooManyExcluded
    excluded = (*before.excluded_user_ids, user.id)
    after = replace(before, excluded_user_ids=excluded, updated_at=now, version=before.version + 1)
    changes = {name: rows.columns(after)[name] for name in _EXCLUDING}
    tx.update(ClosureRow, changes, organisation_id=by.organisation_id, id=before.id)
    audit.record_value(
        tx, "closure.updated", "closure", before, after, ("excluded_user_ids",), by=by, now=now
    )
    config = organisation_config.of_organisation(tx, by.organisation_id)
    _run_all(tx, Task(config=config, by=by, now=now, extends=True), [after], [user])


_EXCLUDING: Final = ("excluded_user_ids", "updated_at", "version")


def _run_all(
    tx: Transaction, task: Task, closures: Sequence[Closure], users: Sequence[User]
) -> list[ClosureEffect]:
    if not closures or not users:
        return []
    first_day = min(closure.start_date for closure in closures)
    last_day = max(closure.end_date for closure in closures)
    return _run(tx, task, closures, users, first_day, last_day)


def _run(
    tx: Transaction,
    task: Task,
    closures: Sequence[Closure],
    users: Sequence[User],
    first_day: date,
    last_day: date,
    deleted_ids: Collection[str] = (),
) -> list[ClosureEffect]:
    """Plan and write; the effects are those of people whose leave changes, or who are skipped."""
    if last_day < task.today or not users:
        return []
    leave = _leave_of(tx, task, users, max(first_day, task.today), last_day)
    booked = _bookings_of(tx, task, closures, users)
    effects: list[ClosureEffect] = []
    for closure in closures:
        effects_of_closure = []
        for user in users:
            others = [each for each in leave[user.id] if each.closure_id != closure.id]
            existing = [each for each in leave[user.id] if each.closure_id == closure.id]
            planned = closure_plans.planned(
                task,
                closure,
                user,
                existing,
                others,
                booked.get(user.id, NO_BOOKINGS),
                is_open=closure.id not in deleted_ids,
            )
            if planned is not None:
                effects_of_closure.append(planned)
                kept = [each for each in others if each not in planned.replaced]
                changed_leave = (*planned.after, *planned.replaced_after)
                live = [each for each in changed_leave if each.status == "approved"]
                leave[user.id] = [*kept, *live]
        _write(tx, task, closure, effects_of_closure)
        effects += effects_of_closure
    changed = {effect.user.id for effect in effects if effect.before != effect.after}
    if changed:
        card_refreshes.enqueue(tx, config=task.config, now=task.now, user_ids=changed)
    return effects


def _write(tx: Transaction, task: Task, closure: Closure, effects: Sequence[ClosureEffect]) -> None:
    """Write the planned leave with its audit entries and events; each person is told once."""
    config, by, now = task.config, task.by, task.now
    new: list[tuple[LeaveRequest, User]] = []
    changed: list[tuple[LeaveRequest, LeaveRequest]] = []
    users = {effect.user.id: effect.user for effect in effects}
    for effect in effects:
        known = {request.id: request for request in (*effect.before, *effect.replaced)}
        for after in (*effect.after, *effect.replaced_after):
            before = known.get(after.id)
            if before is None:
                new.append((after, effect.user))
            elif before != after:
                changed.append((before, after))
    if new:
        leave_rows.add_approved(tx, [request for request, _ in new], by=by, now=now, why=WHY)
        created = [(leave_rows.before_approval(request), user) for request, user in new]
        webhook_outbox.enqueue_all(tx, "leave_request.created", created, config=config, now=now)
        webhook_outbox.enqueue_all(tx, "leave_request.approved", new, config=config, now=now)
    actions: tuple[tuple[_Action, bool], ...] = (
        ("leave_request.updated", False),
        ("leave_request.cancelled", True),
    )
    for action, is_cancelled in actions:
        pairs = [pair for pair in changed if (pair[1].status == "cancelled") == is_cancelled]
        if pairs:
            leave_rows.save_all(tx, action, pairs, by=by, now=now, why={"why": WHY})
            events = [(after, users[after.user_id]) for _, after in pairs]
            webhook_outbox.enqueue_all(tx, action, events, config=config, now=now)
    elsewhere = [after for before, after in changed if before.closure_id is None]
    notification_outbox.notify_all(
        tx, "own_message.refresh", elsewhere, notified=elsewhere, config=config, now=now
    )
    told = [
        (effect.user.id, effect.half_days_before)
        for effect in effects
        if _counted(effect.before) != _counted(effect.after)
    ]
    notification_outbox.tell_closure(tx, closure.id, told, config=config, now=now)


def _counted(requests: Iterable[LeaveRequest]) -> set[tuple[date, str, str]]:
    """The days off that count, with their halves and their leave type."""
    return {
        (request.start_date + timedelta(days=number), mask, request.leave_type_id)
        for request in requests
        if request.status == "approved"
        for number, mask in enumerate(request.counted_halves)
        if mask != "0"
    }


def _leave_of(
    tx: Transaction, task: Task, users: Sequence[User], first_day: date, last_day: date
) -> dict[str, list[LeaveRequest]]:
    """The pending and approved leave of each person between two days, by first day."""
    leave: dict[str, list[LeaveRequest]] = {user.id: [] for user in users}
    found = leave_rows.standing_between(tx, task.by.organisation_id, leave, first_day, last_day)
    for request in sorted(found, key=lambda request: (request.start_date, request.id)):
        leave[request.user_id].append(request)
    return leave


def _bookings_of(
    tx: Transaction, task: Task, closures: Iterable[Closure], users: Sequence[User]
) -> Mapping[str, Bookings]:
    """What the balances of these people depend on, if a closure skips people."""
    starts = [closure.start_date for closure in closures if closure.when_short == "skip"]
    if not starts:
        return {}
    return leave_balances.bookings_of(tx, task.config, users, min(starts))


def _between(
    tx: Transaction, organisation_id: str, first_day: date, last_day: date
) -> list[Closure]:
    """The closures of these days, by first day."""
    found = tx.all(
        _closures_between,
        organisation_id=organisation_id,
        first_day=first_day.isoformat(),
        last_day=last_day.isoformat(),
    )
    return sorted(map(rows.closure, found), key=lambda each: (each.start_date, each.id))


@compiled
def _closures_between(
    organisation_id: Param[str], first_day: Param[str], last_day: Param[str]
) -> Select:
    return ClosureRow.select(*rows.columns_of(ClosureRow, Closure)).where(
        ClosureRow.organisation_id == organisation_id,
        ClosureRow.end_date >= first_day,
        ClosureRow.start_date <= last_day,
    )


@compiled_per_engine
def _everyone(engine: Engine, organisation_id: Param[str]) -> Select:
    # Always in the same order, to avoid deadlocks.
    query = (
        UserRow.select(*rows.USER)
        .where(UserRow.organisation_id == organisation_id, UserRow.status != "archived")
        .order_by(UserRow.id)
    )
    return locks.locked(query, engine)
