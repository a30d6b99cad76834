"""People added, saved and activated, with their audit entries, and the chain of their managers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from peewee import Select

from storage.base import texts
from storage.base.errors import Conflict, EmailTaken, EmployeeNumberTaken, InvalidInput, Sentence
from storage.base.event_values import AuditAction
from storage.base.fields import Checked
from storage.base.ids import new_id
from storage.base.values import Caller, User, UserStatus, as_dict, days_or_none, field_names
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import DuplicateRow, Transaction
from storage.db.tables import UserRow
from storage.outbox import audit, organisation_config
from storage.people import people_rows, slack_status_rows
from storage.rules import employment_terms

# What other people's calendars and wallcharts show of a person, and the person's team.
_IN_CALENDARS: Final = (
    "first_name",
    "last_name",
    "status",
    "timezone",
    "department_id",
    "manager_id",
    "start_date",
    "end_date",
    "earlier_periods",
    "working_days",
    "public_holiday_country_code",
    "employment",
)
# Those that the events themselves show.
_IN_EVENTS: Final = frozenset({"first_name", "last_name", "timezone"})
_NOT_AUDITED: Final = frozenset({"id", "created_at", "updated_at", "version"})


class ChangedMeanwhile(Conflict):
    """Another request changed the same resource between your request's read and its write."""

    code = "changed_meanwhile"
    title = "This was changed by another request at the same time."
    cure = "Read it again, and repeat the change if you still want it."
    sentence = Sentence("Read it again, then repeat the change.")


def add(tx: Transaction, values: Checked, status: UserStatus, *, by: Caller, now: datetime) -> User:
    """Write a person whose values have been checked; needs the organisation's lock.

    The lock makes a new person wait for a recalculation of all leave, which would miss theirs.
    Raises EmailTaken or EmployeeNumberTaken.
    """
    user = _new(values, status, now)
    if people_rows.has_email(tx, by.organisation_id, user.email):
        raise EmailTaken(user.email)
    check_employee_number(tx, user, by=by)
    try:
        tx.insert(UserRow, **_row(user, by))
    except DuplicateRow as error:  # Of two concurrent inserts, neither saw the other's row.
        raise _taken(user, error) from error
    audit.record(tx, "user.created", "user", user.id, by=by, now=now, after=audited(user))
    organisation_config.count_feed_change(tx, by.organisation_id, user.id)
    return user


def check_employee_number(tx: Transaction, user: User, *, by: Caller) -> None:
    """Raises EmployeeNumberTaken if another person who is not archived has the person's number."""
    number = user.employee_number
    if number is not None:
        found = people_rows.with_employee_numbers(tx, by.organisation_id, [number])
        if any(other.id != user.id for other in found):
            raise EmployeeNumberTaken(number)


def _taken(user: User, error: DuplicateRow) -> Conflict:
    """Which unique value another person has: address, employee number, or else Slack account."""
    if "email_key" in error.columns:
        return EmailTaken(user.email)
    if "employee_number" in error.columns and user.employee_number is not None:
        return EmployeeNumberTaken(user.employee_number)
    return ChangedMeanwhile()


def add_all(
    tx: Transaction,
    people: Sequence[Checked],
    status: UserStatus,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Write many people whose values have been checked, addresses included, and audit each.

    ``id`` and ``figures`` may be among the values. Raises ChangedMeanwhile when an address has been
    taken since.
    """
    users = [_new(values, status, now) for values in people]
    try:
        tx.insert_all(UserRow, [_row(user, by) for user in users])
    except DuplicateRow as error:
        raise ChangedMeanwhile from error
    created = [(user.id, audited(user)) for user in users]
    audit.record_created(tx, "user.created", "user", created, by=by, now=now)
    if users:
        # One counter is enough: their sum is what counts.
        organisation_config.count_feed_change(tx, by.organisation_id, users[0].id)


def new_person(values: Checked, *, now: datetime) -> User:
    """A person of checked values, as ``add_all`` writes them."""
    return _new(values, "pending", now)


def _new(values: Checked, status: UserStatus, now: datetime) -> User:
    empty: Checked = dict.fromkeys(field_names(User))
    defaults = {"role": "member", "id": new_id(now), "figures": ()}
    fixed: Checked = {"status": status, "created_at": now, "updated_at": now, "version": 1}
    fixed["earlier_periods"] = ()
    return User(**empty | defaults | values | fixed)


def _row(user: User, by: Caller) -> dict[str, object]:
    return {
        "organisation_id": by.organisation_id,
        "email_key": texts.email_key(user.email),
        **rows.columns(user),
        **_due(user),
    }


def _due(user: User) -> dict[str, object]:
    """The columns that are not as the person's fields."""
    due_on = employment_terms.due_on(user)
    return {
        "employment_due_on": None if due_on is None else due_on.isoformat(),
        "earlier_periods": rows.json_text(user.earlier_periods) if user.earlier_periods else None,
    }


def save(
    tx: Transaction, before: User, after: User, action: AuditAction, *, by: Caller, now: datetime
) -> User:
    """Write checked values if the person still is as ``before``, and audit the change.

    Returns the person with the next version. Raises ChangedMeanwhile, EmailTaken or
    EmployeeNumberTaken.
    """
    is_restored = before.status == "archived" != after.status
    if is_restored or after.employee_number != before.employee_number:
        check_employee_number(tx, after, by=by)
    after = replace(after, updated_at=now, version=before.version + 1)
    try:
        changed = tx.update(
            UserRow,
            rows.changes(after) | _due(after),
            organisation_id=by.organisation_id,
            id=before.id,
            status=before.status,
            version=before.version,
        )
    except DuplicateRow as error:
        raise _taken(after, error) from error
    if not changed:
        raise ChangedMeanwhile
    audit.record(
        tx, action, "user", after.id, by=by, now=now, before=audited(before), after=audited(after)
    )
    changed_fields = {
        name for name in _IN_CALENDARS if getattr(before, name) != getattr(after, name)
    }
    if changed_fields:
        organisation_config.count_feed_change(tx, by.organisation_id, after.id)
    if changed_fields & _IN_EVENTS:
        organisation_config.raise_feed_sequence(tx, by.organisation_id, now=now)
    slack_status_rows.check_soon(tx, by.organisation_id, [after.id], now=now)
    return after


def activate(tx: Transaction, user: User, *, by: Caller, now: datetime) -> User:
    """Activate a pending person, at their first API key or use of Slack; others stay unchanged."""
    if user.status != "pending":
        return user
    return save(tx, user, replace(user, status="active"), "user.activated", by=by, now=now)


def record_updates(
    tx: Transaction, changes: Iterable[tuple[User, User]], *, by: Caller, now: datetime
) -> None:
    """Audit changes of many people, each as before and after."""
    entries = [(after.id, audited(before), audited(after)) for before, after in changes]
    audit.record_all(tx, "user.updated", "user", entries, by=by, now=now)


def audited(user: User) -> dict[str, object]:
    shown = {name: value for name, value in as_dict(user).items() if name not in _NOT_AUDITED}
    if not user.earlier_periods:
        del shown["earlier_periods"]
    del shown["figures"]
    if user.figures:
        shown["allowances"] = [
            {
                "allowance_id": figure.allowance_id,
                "valid_from": figure.valid_from,
                "days_per_year": days_or_none(figure.half_days),
            }
            for figure in user.figures
        ]
    if user.employment is not None:
        shown["employment"] = [
            {
                "id": record.id,
                "valid_from": record.valid_from or employment_terms.first_day(user),
                "working_days": record.working_days,
                "leave_allowance": days_or_none(record.leave_allowance_half_days),
                "public_holiday_country_code": record.public_holiday_country_code,
                "department_id": record.department_id,
            }
            for record in employment_terms.records_of(user)
        ]
    return shown


def check_can_manage(tx: Transaction, organisation_id: str, manager_id: str | None) -> None:
    """Refuse a manager who is unknown or archived; none at all is fine.

    Raises InvalidInput ``not_found`` or ``manager_archived`` at ``/manager_id``.
    """
    if manager_id is None:
        return
    manager = people_rows.find(tx, organisation_id, manager_id)
    if manager is None:
        raise InvalidInput.of("manager_id", "not_found", "There is no such user.")
    if manager.status == "archived":
        raise InvalidInput.of("manager_id", "manager_archived", "This user is archived.")


def is_above(tx: Transaction, organisation_id: str, user_id: str, manager_id: str) -> bool:
    """Whether the user is that manager, or above them in the chain of managers."""
    row = tx.first(
        _in_chain_above, organisation_id=organisation_id, user_id=user_id, manager_id=manager_id
    )
    return row is not None


def with_all_above(
    tx: Transaction, organisation_id: str, managers: Mapping[str, str | None]
) -> Mapping[str, str | None]:
    """The manager of each of these people and of all people above them, by person."""
    chain = dict(managers)
    while unread := sorted({manager for manager in chain.values() if manager} - chain.keys()):
        people = tx.select(UserRow, organisation_id=organisation_id, id=unread)
        chain |= {row.id: row.manager_id for row in people}
    return chain


def in_cycles(managers: Mapping[str, str | None]) -> set[str]:
    """The people who would be their own manager, directly or not."""
    cycles: set[str] = set()
    visited: set[str] = set()
    for user_id in managers:
        path: dict[str, int] = {}
        at: str | None = user_id
        while at is not None and at not in visited and at not in path:
            path[at] = len(path)
            at = managers.get(at)
        if at in path:
            cycles |= {each for each, index in path.items() if index >= path[at]}
        visited |= path.keys()
    return cycles


def depth(user_id: str, managers: Mapping[str, str | None], depths: dict[str, int]) -> int:
    """The number of managers above the person; ``depths`` caches the results."""
    path: list[str] = []
    at: str | None = user_id
    while at is not None and at not in depths:
        path.append(at)
        at = managers.get(at)
    result = -1 if at is None else depths[at]
    for person_id in reversed(path):
        result += 1
        depths[person_id] = result
    return result


@compiled
def _in_chain_above(
    organisation_id: Param[str], manager_id: Param[str], user_id: Param[str]
) -> Select:
    """The user, if they are the manager or above the manager."""
    first = UserRow.select(UserRow.id, UserRow.manager_id).where(
        UserRow.organisation_id == organisation_id, UserRow.id == manager_id
    )
    below = first.cte("chain", recursive=True, columns=("id", "manager_id"))
    above = UserRow.alias()
    step = (
        above.select(above.id, above.manager_id)
        .join(below, on=(above.id == below.c.manager_id))
        .where(above.organisation_id == organisation_id)
    )
    # UNION, not UNION ALL: it ends even if the data has a cycle.
    chain = below.union(step)
    return chain.select_from(chain.c.id).where(chain.c.id == user_id)
