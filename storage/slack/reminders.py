"""Reminding approvers: whom of what and when, kept in the database (contract 10).

A row for every approver who was given a request's card. It comes due, is looked at with everything
else that is due in its organisation, and moves on to when it has to be looked at next. Whether
somebody is reminded is always worked out from what is true then: a request decided meanwhile, an
approver who is away or no longer asked, or other working days need no event of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from peewee import Delete, Insert, Select, Update, fn

from storage.base.clock import local_day
from storage.base.values import Caller, User
from storage.db import locks, rows
from storage.db.compiled import Engine, Expr, Param, any_of, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import LeaveRequestRow, ReminderRow, ReminderSummaryRow, UserRow
from storage.directory import approvers, holiday_sets
from storage.directory.approvers import MOST_APPROVERS
from storage.events import audit, notification_outbox, organisation_config
from storage.events.leased_queue import skip_locked
from storage.events.organisation_config import Reference
from storage.rules import days, request_rules, working_days
from storage.rules.working_days import Hours, Worktime

# Working days of the approver after which he is reminded.
REMINDED_AFTER: Final = (1, 3, 5)
# After that many the next step of the ladder is asked, too.
NEXT_STEP_AFTER: Final = 6
# Who has more than these waiting is sent one summary a working day instead.
MOST_SINGLE: Final = 5
# How many rows of one organisation one transaction looks at.
AT_ONCE: Final = 100
# How many organisations one round looks at; the next round follows within a minute.
MAX_ORGANISATIONS: Final = 1_000
# When an organisation is looked at again whose data met an error.
BACK_OFF: Final = timedelta(minutes=15)
# Where nothing says when to look again.
LOOK_AGAIN: Final = timedelta(days=7)
_MOST_ABSENCES: Final = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What to do with a row now: whether to remind, how many steps are used up, when to look at it
    again (None where no working day is in sight), and whether to ask the ladder's next step."""

    is_due: bool
    sent: int
    next_at: datetime | None
    asks_next: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Waiting:
    """A row that is due, with its request's state and the approver."""

    request_id: str
    asked_at: datetime
    sent: int
    due_at: int
    status: str
    decided_at: datetime | None
    is_next_step: bool
    requester_id: str
    approver: User


def step(
    worktime: Worktime, asked_at: datetime, sent: int, *, now: datetime, is_daily: bool = False
) -> Step:
    """Whether a reminder falls due; only while the approver is at work.

    Those that nobody could send in time, because no process ran, are passed over for the last one.
    ``is_daily``: due on every working day instead.
    """
    asked_on = worktime.local_day(asked_at)
    times = [_begins(worktime, asked_on, number) for number in (*REMINDED_AFTER, NEXT_STEP_AFTER)]
    passed = sum(at is not None and at <= now for at in times)
    next_start = working_days.next_start(worktime, now)
    if not worktime.is_at_work(now) and (is_daily or passed > sent):
        return Step(is_due=False, sent=sent, next_at=next_start)
    asks_next = sent < passed == len(times)
    if is_daily:
        return Step(
            is_due=passed > 0, sent=max(sent, passed), next_at=next_start, asks_next=asks_next
        )
    next_at = times[passed] if passed < len(times) else None
    return Step(
        is_due=passed > sent and not asks_next,
        sent=max(sent, passed),
        next_at=next_at,
        asks_next=asks_next,
    )


def _begins(worktime: Worktime, asked_on: date, number: int) -> datetime | None:
    day = working_days.nth_after(worktime.halves, asked_on, number)
    return None if day is None else worktime.begins_at(day)


def watch(
    tx: Transaction, organisation_id: str, request_id: str, user_id: str, *, now: datetime
) -> None:
    """From now on the request waits for that person; nothing where it does already."""
    tx.change(
        _watch, organisation_id=organisation_id, request_id=request_id, user_id=user_id, now=now
    )


def due_organisations(
    tx: Transaction, *, now: datetime, limit: int = MAX_ORGANISATIONS
) -> list[str]:
    """The organisations in which reminders are due, those due longest first."""
    return [organisation_id for (organisation_id,) in tx.all(_due_in, now=now, limit=limit)]


def back_off(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Look at what is due in the organisation later: ``run`` met an error."""
    tx.change(_back_off, organisation_id=organisation_id, now=now, until=now + BACK_OFF)


def run(tx: Transaction, organisation_id: str, *, now: datetime, limit: int = AT_ONCE) -> int:
    """Look at what is due in one organisation and queue the reminders; how many rows there were.

    Each row is moved on by a conditional UPDATE in the transaction that queues its notice, so two
    processes or a restart never remind twice.
    """
    found = [
        _waiting(row) for row in tx.all(_due, organisation_id=organisation_id, now=now, limit=limit)
    ]
    over = [
        one for one in found if one.status != "pending" or not approvers.may_be_asked(one.approver)
    ]
    for one in over:
        # What made it his to decide makes it his to decide otherwise, for as long as one may.
        if (
            one.is_next_step
            and one.decided_at
            and now < one.decided_at + request_rules.REVERSAL_WINDOW
        ):
            until = one.decided_at + request_rules.REVERSAL_WINDOW
            _moved_on(
                tx, organisation_id, one, Step(is_due=False, sent=one.sent, next_at=until), now
            )
        else:
            _forget(tx, organisation_id, one)
    open_ = [one for one in found if one not in over]
    known = organisation_config.of_organisation(tx, organisation_id)
    if open_ and known.is_in_slack:
        _look_at(tx, known, open_, now)
    elif open_:
        # Nobody can be reminded; `begin_anew` is called as soon as somebody can.
        for one in open_:
            _moved_on(
                tx, organisation_id, one, Step(is_due=False, sent=one.sent, next_at=None), now
            )
    return len(found)


def begin_anew(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Whatever waits waits from now on: before, nobody could have been reminded of it."""
    tx.change(_begin_anew, organisation_id=organisation_id, now=now)


def _look_at(tx: Transaction, known: Reference, waiting: Sequence[_Waiting], now: datetime) -> None:
    organisation_id = known.organisation.id
    today = local_day(now, known.organisation.timezone)
    people = {one.approver.id: one.approver for one in waiting}
    asked = approvers.of_people(
        tx, organisation_id, {one.requester_id for one in waiting}, today=today
    )
    counts: dict[str, int] = dict(
        tx.all(_counts, organisation_id=organisation_id, user_ids=sorted(people))
    )
    first_day = min(local_day(one.asked_at, "UTC") for one in waiting)
    worktimes = _worktimes(tx, known, people.values(), first_day, today)
    unanswered: dict[str, str] = {}
    for one in waiting:
        is_asked = one.is_next_step or one.approver.id in {
            user.id for user in asked.get(one.requester_id, ())
        }
        is_daily = counts.get(one.approver.id, 0) > MOST_SINGLE
        worktime = worktimes[one.approver.id]
        done = step(worktime, one.asked_at, one.sent, now=now, is_daily=is_daily)
        if not is_asked:
            done = Step(is_due=False, sent=one.sent, next_at=working_days.next_start(worktime, now))
        if not _moved_on(tx, organisation_id, one, done, now):
            continue
        if done.asks_next:
            unanswered[one.request_id] = one.requester_id
        if done.is_due:
            _remind(tx, organisation_id, one, worktime.local_day(now), now, is_daily=is_daily)
    if unanswered:
        _ask_next_steps(tx, known, unanswered, today, now)


def _ask_next_steps(
    tx: Transaction,
    known: Reference,
    unanswered: Mapping[str, str],
    today: date,
    now: datetime,
) -> None:
    """Give the cards of requests, here with their requesters, to the next rung of the ladder."""
    organisation_id = known.organisation.id
    found = tx.all(_requests, organisation_id=organisation_id, request_ids=sorted(unanswered))
    requests = [one for one in map(rows.leave_request, found) if one.status == "pending"]
    ladders = approvers.rungs(tx, organisation_id, set(unanswered.values()), today=today)
    asked: dict[str, set[str]] = defaultdict(set)
    for request_id, user_id in tx.all(
        _asked, organisation_id=organisation_id, request_ids=sorted(unanswered)
    ):
        asked[request_id].add(user_id)
    added = {one.id: next_rung(ladders.get(one.user_id, []), asked[one.id]) for one in requests}
    added = {request_id: user_ids for request_id, user_ids in added.items() if user_ids}
    if not added:
        return
    new = [
        {
            "organisation_id": organisation_id,
            "leave_request_id": request_id,
            "user_id": user_id,
            "asked_at": now,
            "sent": 0,
            "is_next_step": True,
            "due_at": now,
        }
        for request_id, user_ids in added.items()
        for user_id in user_ids
    ]
    tx.insert_all(ReminderRow, new)
    changes = [
        (
            request_id,
            {"approvers": sorted(asked[request_id])},
            {"approvers": sorted(asked[request_id] | set(user_ids))},
        )
        for request_id, user_ids in added.items()
    ]
    by = Caller(
        organisation_id=organisation_id,
        user_id=None,
        role="owner",
        scopes=frozenset(),
        source="scheduler",
    )
    audit.record_all(tx, "leave_request.next_step_asked", "leave_request", changes, by=by, now=now)
    notification_outbox.notify_all(
        tx,
        "leave_request.rerouted",
        [request for request in requests if request.id in added],
        approvers=added,
        reference=known,
        now=now,
    )


def next_rung(ladder: Sequence[tuple[int, User]], asked: Collection[str]) -> list[str]:
    """The ids of those on the first rung above all who were asked; empty at the top."""
    highest = max((rung for rung, user in ladder if user.id in asked), default=0)
    above = [(rung, user.id) for rung, user in ladder if rung > highest]
    lowest = min((rung for rung, _ in above), default=0)
    return [user_id for rung, user_id in above if rung == lowest][:MOST_APPROVERS]


def _moved_on(
    tx: Transaction, organisation_id: str, one: _Waiting, done: Step, now: datetime
) -> bool:
    next_at = done.next_at
    changed = tx.change(
        _move_on,
        organisation_id=organisation_id,
        request_id=one.request_id,
        user_id=one.approver.id,
        due_at=one.due_at,
        sent=done.sent,
        next_at=now + LOOK_AGAIN if next_at is None else next_at,
    )
    return changed == 1


def _remind(
    tx: Transaction,
    organisation_id: str,
    one: _Waiting,
    today: date,
    now: datetime,
    *,
    is_daily: bool,
) -> None:
    user_id = one.approver.id
    if not is_daily:
        notification_outbox.remind(tx, organisation_id, user_id, one.request_id, now=now)
        return
    counted = tx.change(
        _summarise, organisation_id=organisation_id, user_id=user_id, day=today.isoformat()
    )
    # At most one a day, however many requests are due.
    if counted == 1:
        notification_outbox.remind(tx, organisation_id, user_id, None, now=now)


def _forget(tx: Transaction, organisation_id: str, one: _Waiting) -> None:
    tx.change(
        _forget_row,
        organisation_id=organisation_id,
        request_id=one.request_id,
        user_id=one.approver.id,
    )


def _worktimes(
    tx: Transaction, known: Reference, people: Iterable[User], first_day: date, today: date
) -> dict[str, Worktime]:
    """What each of them works from some days before ``first_day`` on, for more than a year."""
    users = list(people)
    first, last = first_day - timedelta(days=2), today + timedelta(working_days.MAX_DAYS)
    away = _away(tx, known.organisation.id, [user.id for user in users], first)
    organisation = known.organisation
    found = {}
    for user in users:
        country_code = holiday_sets.country_code_of(known, user)
        found[user.id] = Worktime(
            week=days.working_week(user.working_days or organisation.working_days),
            holidays=holiday_sets.holidays_between(known, country_code, first, last),
            away=away[user.id],
            hours=Hours(
                starts_at=organisation.day_starts_at,
                midday_at=organisation.midday_at,
                ends_at=organisation.day_ends_at,
                timezone=user.timezone or organisation.timezone,
            ),
        )
    return found


def _away(
    tx: Transaction, organisation_id: str, user_ids: Sequence[str], first_day: date
) -> Mapping[str, dict[date, int]]:
    """The halves that approved leave takes of their days."""
    found = tx.all(
        _leave,
        organisation_id=organisation_id,
        user_ids=sorted(user_ids),
        first_day=first_day.isoformat(),
        limit=_MOST_ABSENCES,
    )
    away: dict[str, dict[date, int]] = defaultdict(dict)
    for user_id, start_date, counted_halves in found:
        for offset, halves in enumerate(counted_halves):
            day = rows.day(start_date) + timedelta(days=offset)
            away[user_id][day] = away[user_id].get(day, 0) | int(halves)
    return away


def _waiting(row: Row) -> _Waiting:
    return _Waiting(
        request_id=row.leave_request_id,
        asked_at=rows.instant(row.asked_at),
        sent=row.sent,
        due_at=row.due_at,
        status=row.request_status,
        decided_at=rows.instant_or_none(row.decided_at),
        is_next_step=bool(row.is_next_step),
        requester_id=row.requester_id,
        approver=rows.user(row),
    )


@compiled
def _watch(
    organisation_id: Param[str], request_id: Param[str], user_id: Param[str], now: Param[datetime]
) -> Insert:
    return ReminderRow.insert(
        organisation_id=organisation_id,
        leave_request_id=request_id,
        user_id=user_id,
        asked_at=now,
        sent=0,
        is_next_step=False,
        # When that is, is worked out when it is looked at: not while somebody waits.
        due_at=now,
    ).on_conflict_ignore()


@compiled
def _due_in(now: Param[datetime], limit: Param[int]) -> Select:
    return (
        ReminderRow.select(ReminderRow.organisation_id)
        .where(ReminderRow.due_at <= now)
        .group_by(ReminderRow.organisation_id)
        .order_by(fn.MIN(ReminderRow.due_at))
        .limit(limit)
    )


@compiled
def _back_off(organisation_id: Param[str], now: Param[datetime], until: Param[datetime]) -> Update:
    return ReminderRow.update(due_at=until).where(
        ReminderRow.organisation_id == organisation_id, ReminderRow.due_at <= now
    )


@compiled_per_engine
def _due(
    engine: Engine, organisation_id: Param[str], now: Param[datetime], limit: Param[int]
) -> Select:
    query: Expr = (
        ReminderRow.select(
            ReminderRow.leave_request_id,
            ReminderRow.asked_at,
            ReminderRow.sent,
            ReminderRow.due_at,
            LeaveRequestRow.status.alias("request_status"),
            LeaveRequestRow.decided_at,
            ReminderRow.is_next_step,
            LeaveRequestRow.user_id.alias("requester_id"),
            *rows.USER,
        )
        .join(
            LeaveRequestRow,
            on=(LeaveRequestRow.organisation_id == ReminderRow.organisation_id)
            & (LeaveRequestRow.id == ReminderRow.leave_request_id),
        )
        .join(
            UserRow,
            on=(UserRow.organisation_id == ReminderRow.organisation_id)
            & (UserRow.id == ReminderRow.user_id),
        )
        .where(ReminderRow.organisation_id == organisation_id, ReminderRow.due_at <= now)
        .order_by(ReminderRow.due_at)
        .limit(limit)
    )
    # No lease: the transaction that locks the rows moves them on and queues the reminders.
    return skip_locked(query, engine, ReminderRow)


@compiled
def _move_on(
    organisation_id: Param[str],
    request_id: Param[str],
    user_id: Param[str],
    due_at: Param[int],
    sent: Param[int],
    next_at: Param[datetime],
) -> Update:
    return ReminderRow.update(sent=sent, due_at=next_at).where(
        ReminderRow.organisation_id == organisation_id,
        ReminderRow.leave_request_id == request_id,
        ReminderRow.user_id == user_id,
        ReminderRow.due_at == due_at,
    )


@compiled
def _begin_anew(organisation_id: Param[str], now: Param[datetime]) -> Update:
    return ReminderRow.update(asked_at=now, sent=0, due_at=now).where(
        ReminderRow.organisation_id == organisation_id
    )


@compiled
def _forget_row(organisation_id: Param[str], request_id: Param[str], user_id: Param[str]) -> Delete:
    return ReminderRow.delete().where(
        ReminderRow.organisation_id == organisation_id,
        ReminderRow.leave_request_id == request_id,
        ReminderRow.user_id == user_id,
    )


@compiled
def _summarise(organisation_id: Param[str], user_id: Param[str], day: Param[str]) -> Insert:
    """Note that the person's summary of that day is on its way; changes no row the second time."""
    return ReminderSummaryRow.insert(
        organisation_id=organisation_id, user_id=user_id, day=day
    ).on_conflict(
        conflict_target=(ReminderSummaryRow.organisation_id, ReminderSummaryRow.user_id),
        update={"day": day},
        where=(ReminderSummaryRow.day < day),
    )


@compiled
def _counts(organisation_id: Param[str], user_ids: Param[list[str]]) -> Select:
    """How many pending requests were put before each of them."""
    return (
        ReminderRow.select(ReminderRow.user_id, fn.COUNT(ReminderRow.leave_request_id))
        .join(
            LeaveRequestRow,
            on=(LeaveRequestRow.organisation_id == ReminderRow.organisation_id)
            & (LeaveRequestRow.id == ReminderRow.leave_request_id),
        )
        .where(
            ReminderRow.organisation_id == organisation_id,
            any_of(ReminderRow.user_id, user_ids),
            LeaveRequestRow.status == "pending",
        )
        .group_by(ReminderRow.user_id)
    )


@compiled
def _asked(organisation_id: Param[str], request_ids: Param[list[str]]) -> Select:
    return ReminderRow.select(ReminderRow.leave_request_id, ReminderRow.user_id).where(
        ReminderRow.organisation_id == organisation_id,
        any_of(ReminderRow.leave_request_id, request_ids),
    )


@compiled_per_engine
def _requests(engine: Engine, organisation_id: Param[str], request_ids: Param[list[str]]) -> Select:
    """Held: who puts one before somebody at the same moment is through before, or comes after."""
    query = (
        LeaveRequestRow.select(*rows.LEAVE_REQUEST)
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            any_of(LeaveRequestRow.id, request_ids),
        )
        .order_by(LeaveRequestRow.id)
    )
    # The strongest: even a foreign key that is about to point here has to wait.
    return locks.locked(query, engine, "FOR UPDATE")


@compiled
def _leave(
    organisation_id: Param[str],
    user_ids: Param[list[str]],
    first_day: Param[str],
    limit: Param[int],
) -> Select:
    return (
        LeaveRequestRow.select(
            LeaveRequestRow.user_id, LeaveRequestRow.start_date, LeaveRequestRow.counted_halves
        )
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            any_of(LeaveRequestRow.user_id, user_ids),
            LeaveRequestRow.status == "approved",
            LeaveRequestRow.end_date >= first_day,
        )
        .order_by(LeaveRequestRow.user_id, LeaveRequestRow.end_date)
        .limit(limit)
    )
