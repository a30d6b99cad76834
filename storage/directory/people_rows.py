"""Rows of people: read as values, written as a whole. Who may do so is decided elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from peewee import SQL, Case, Select, Tuple

from storage.base import fields
from storage.base.errors import Conflict, EmailTaken, InvalidInput, NotFound
from storage.base.event_values import AuditAction
from storage.base.fields import Checked
from storage.base.ids import new_id
from storage.base.values import Caller, User, UserStatus, as_dict, field_names
from storage.db import locks, rows
from storage.db.compiled import Engine, Param, any_of, compiled, compiled_per_engine
from storage.db.database import DuplicateRow, Transaction
from storage.db.tables import DepartmentRow, UserRow
from storage.events import audit, feed_changes

# What other people's calendars show of somebody, and whose team he is in.
_IN_CALENDARS: Final = ("first_name", "last_name", "timezone", "department_id", "manager_id")
# Those of them that the events themselves show.
_IN_EVENTS: Final = frozenset({"first_name", "last_name", "timezone"})
_NOT_AUDITED: Final = frozenset({"id", "created_at", "updated_at", "version"})


class ChangedMeanwhile(Conflict):
    """Somebody else changed the same thing between reading and writing it."""

    code = "changed_meanwhile"
    title = "Somebody else changed this at the same moment."

    def __init__(self) -> None:
        super().__init__("Read it again, then repeat the change.")


def find(
    tx: Transaction, organisation_id: str, user_id: str, *, for_update: bool = False
) -> User | None:
    """The person of that id. ``for_update``: locked for this transaction."""
    if not fields.is_id(user_id):
        return None
    row = tx.first(_user, organisation_id=organisation_id, user_id=user_id, for_update=for_update)
    return None if row is None else rows.user(row)


def get(tx: Transaction, user_id: str, *, by: Caller, for_update: bool = False) -> User:
    """Anybody of the caller's organisation, archived people included. Raises NotFound.

    ``for_update`` locks the person until this transaction ends.
    """
    user = find(tx, by.organisation_id, user_id, for_update=for_update)
    if user is None:
        raise NotFound("user")
    return user


def hold(tx: Transaction, organisation_id: str, user_ids: Collection[str]) -> None:
    """Lock these people until this transaction ends.

    Before the first of several is written: the counters of feed_changes.py come after people.
    """
    tx.all(_held, organisation_id=organisation_id, user_ids=sorted(user_ids))


def find_by_email(tx: Transaction, organisation_id: str, email: str) -> User | None:
    """The person with the address, compared without case; an archived one where no other has it."""
    row = tx.first(_user_of_email, organisation_id=organisation_id, email_key=email.casefold())
    return None if row is None else rows.user(row)


def has_email(tx: Transaction, organisation_id: str, email: str) -> bool:
    """Whether a person who is not archived has the address."""
    user = find_by_email(tx, organisation_id, email)
    return user is not None and user.status != "archived"


def find_by_slack_id(tx: Transaction, organisation_id: str, slack_user_id: str) -> User | None:
    """The person of that Slack account; an archived one where no other has it."""
    row = tx.first(_user_of_slack_id, organisation_id=organisation_id, slack_user_id=slack_user_id)
    return None if row is None else rows.user(row)


def names(tx: Transaction, organisation_id: str, user_ids: Collection[str]) -> dict[str, str]:
    """The names of the people of these ids, whatever their status."""
    if not user_ids:
        return {}
    found = tx.all(_names, organisation_id=organisation_id, user_ids=sorted(user_ids))
    return {user_id: f"{first} {last}".strip() for user_id, first, last in found}


def add(tx: Transaction, values: Checked, status: UserStatus, *, by: Caller, now: datetime) -> User:
    """Write a person whose values have been checked; needs the organisation's lock.

    A newcomer waits for whoever counts everybody's leave anew: his own cannot be missed then.
    Raises EmailTaken.
    """
    user = _new(values, status, now)
    if has_email(tx, by.organisation_id, user.email):
        raise EmailTaken(user.email)
    try:
        tx.insert(UserRow, **_row(user, by))
    except DuplicateRow as error:  # Two at once: neither saw the other's row.
        raise _taken(user, error) from error
    audit.record(tx, "user.created", "user", user.id, by=by, now=now, after=audited(user))
    return user


def _taken(user: User, error: DuplicateRow) -> EmailTaken | ChangedMeanwhile:
    """Which of a person's unique values another has got: the address, or else the Slack account."""
    return EmailTaken(user.email) if "email_key" in error.columns else ChangedMeanwhile()


def add_all(
    tx: Transaction,
    people: Sequence[Checked],
    status: UserStatus,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Write many people whose values have been checked, addresses included, and audit each.

    A value's ``id`` may be given. Raises ChangedMeanwhile when an address has been taken since.
    """
    users = [_new(values, status, now) for values in people]
    try:
        tx.insert_all(UserRow, [_row(user, by) for user in users])
    except DuplicateRow as error:
        raise ChangedMeanwhile from error
    made = [(user.id, audited(user)) for user in users]
    audit.record_created(tx, "user.created", "user", made, by=by, now=now)


def _new(values: Checked, status: UserStatus, now: datetime) -> User:
    blank: Checked = dict.fromkeys(field_names(User))
    given = {"role": "member", "id": values.get("id") or new_id(now)} | values
    made = {"status": status, "created_at": now, "updated_at": now, "version": 1}
    return User(**blank | given | made)


def _row(user: User, by: Caller) -> dict[str, object]:
    return {
        "organisation_id": by.organisation_id,
        "id": user.id,
        "email": user.email,
        "email_key": user.email.casefold(),
        "created_at": user.created_at,
        **_columns(user),
    }


def save(
    tx: Transaction, before: User, after: User, action: AuditAction, *, by: Caller, now: datetime
) -> User:
    """Write what has been checked, if the person still is as ``before``, and audit it.

    Gives the person with the next version. Raises ChangedMeanwhile or EmailTaken.
    """
    after = replace(after, updated_at=now, version=before.version + 1)
    try:
        changed = tx.update(
            UserRow,
            _columns(after),
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
        feed_changes.count(tx, by.organisation_id, after.id)
    if changed_fields & _IN_EVENTS:
        feed_changes.raise_sequence(tx, by.organisation_id, now=now)
    return after


def activate(tx: Transaction, user: User, *, by: Caller, now: datetime) -> User:
    """Turn pending into active, on the first key or the first word in Slack; else do nothing."""
    if user.status != "pending":
        return user
    return save(tx, user, replace(user, status="active"), "user.activated", by=by, now=now)


def record_updates(
    tx: Transaction, changed: Iterable[tuple[User, User]], *, by: Caller, now: datetime
) -> None:
    """Audit what was changed of many people at once: each before and after."""
    changes = [(after.id, audited(before), audited(after)) for before, after in changed]
    audit.record_all(tx, "user.updated", "user", changes, by=by, now=now)


def audited(user: User) -> dict[str, object]:
    """What the audit trail shows of a person."""
    return {name: value for name, value in as_dict(user).items() if name not in _NOT_AUDITED}


def has_other_active_owner(tx: Transaction, organisation_id: str, user_id: str) -> bool:
    """Whether an active owner would remain without this one."""
    found = tx.all(active_owners, organisation_id=organisation_id, limit=2)
    return any(owner_id != user_id for (owner_id,) in found)


def check_can_manage(tx: Transaction, organisation_id: str, manager_id: str | None) -> None:
    """Refuse a manager who is unknown or archived; none at all is fine.

    Raises InvalidInput ``not_found`` or ``manager_archived`` at ``/manager_id``.
    """
    if manager_id is None:
        return
    manager = find(tx, organisation_id, manager_id)
    if manager is None:
        raise InvalidInput.of("manager_id", "not_found", "There is no such user.")
    if manager.status == "archived":
        raise InvalidInput.of("manager_id", "manager_archived", "This user is archived.")


def is_above(tx: Transaction, organisation_id: str, user_id: str, manager_id: str) -> bool:
    """Whether the user is that manager, or manages him at whatever distance."""
    row = tx.first(
        _in_chain_above, organisation_id=organisation_id, user_id=user_id, manager_id=manager_id
    )
    return row is not None


def has_department(
    tx: Transaction, organisation_id: str, department_id: str, *, for_update: bool = False
) -> bool:
    """Whether there is such a department. ``for_update``: it is not deleted meanwhile either."""
    if not fields.is_id(department_id):
        return False
    row = tx.first(
        _department,
        organisation_id=organisation_id,
        department_id=department_id,
        for_update=for_update,
    )
    return row is not None


def _columns(user: User) -> dict[str, object]:
    """Every column that may change: always all of them, so that one statement serves."""
    return {
        "first_name": user.first_name,
        "last_name": user.last_name,
        "role": user.role,
        "status": user.status,
        "department_id": user.department_id,
        "manager_id": user.manager_id,
        "job_title": user.job_title,
        "start_date": None if user.start_date is None else user.start_date.isoformat(),
        "working_days": None if user.working_days is None else rows.json_text(user.working_days),
        "public_holiday_country_code": user.public_holiday_country_code,
        "leave_allowance_half_days": user.leave_allowance_half_days,
        "avatar_url": user.avatar_url,
        "timezone": user.timezone,
        "slack_user_id": user.slack_user_id,
        "updated_at": user.updated_at,
        "version": user.version,
    }


def living(
    tx: Transaction, organisation_id: str, *, department_id: str | None = None, limit: int
) -> list[User]:
    """Everyone who is not archived, of the organisation or of one department, by id."""
    found = tx.all(
        _living, organisation_id=organisation_id, department_id=department_id, limit=limit
    )
    return [rows.user(row) for row in found]


@compiled
def _living(
    organisation_id: Param[str], department_id: Param[str] | None, limit: Param[int]
) -> Select:
    query = UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id, UserRow.status != "archived"
    )
    if department_id is not None:
        query = query.where(UserRow.department_id == department_id)
    return query.order_by(UserRow.id).limit(limit)


@compiled_per_engine
def _user(
    engine: Engine, organisation_id: Param[str], user_id: Param[str], for_update: bool
) -> Select:
    query = UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id, UserRow.id == user_id
    )
    return locks.locked(query, engine) if for_update else query


@compiled_per_engine
def _held(engine: Engine, organisation_id: Param[str], user_ids: Param[list[str]]) -> Select:
    query = UserRow.select(UserRow.id).where(
        UserRow.organisation_id == organisation_id, any_of(UserRow.id, user_ids)
    )
    return locks.locked(query.order_by(UserRow.id), engine)


def _not_archived_first(query: Select) -> Select:
    """At most one is not archived; of the archived, the one who was added last."""
    is_archived = Case(None, ((UserRow.status == "archived", SQL("1")),), SQL("0"))
    return query.order_by(is_archived, UserRow.id.desc()).limit(1)


@compiled
def _user_of_email(organisation_id: Param[str], email_key: Param[str]) -> Select:
    query = UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id, UserRow.email_key == email_key
    )
    return _not_archived_first(query)


@compiled
def _names(organisation_id: Param[str], user_ids: Param[list[str]]) -> Select:
    return UserRow.select(UserRow.id, UserRow.first_name, UserRow.last_name).where(
        UserRow.organisation_id == organisation_id, any_of(UserRow.id, user_ids)
    )


@compiled
def of_emails(organisation_id: Param[str], email_keys: Param[list[str]]) -> Select:
    """Whoever has one of the addresses, which are case-folded; whole rows."""
    return UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id, any_of(UserRow.email_key, email_keys)
    )


@compiled
def managers_of(organisation_id: Param[str], user_ids: Param[list[str]]) -> Select:
    """Ids of the people and of their managers."""
    return UserRow.select(UserRow.id, UserRow.manager_id).where(
        UserRow.organisation_id == organisation_id, any_of(UserRow.id, user_ids)
    )


@compiled
def active_owners(organisation_id: Param[str], limit: Param[int]) -> Select:
    """Ids of the organisation's active owners."""
    return (
        UserRow.select(UserRow.id)
        .where(
            UserRow.organisation_id == organisation_id,
            UserRow.role == "owner",
            UserRow.status == "active",
        )
        .limit(limit)
    )


@compiled
def _user_of_slack_id(organisation_id: Param[str], slack_user_id: Param[str]) -> Select:
    query = UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id, UserRow.slack_user_id == slack_user_id
    )
    return _not_archived_first(query)


@compiled
def users(
    organisation_id: Param[str],
    status: Param[str] | None,
    department_id: Param[str] | None,
    role: Param[str] | None,
    manager_id: Param[str] | None,
    email_key: Param[str] | None,
    descends: bool,
    after_at: Param[datetime] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    query = UserRow.select(*rows.USER).where(UserRow.organisation_id == organisation_id)
    for column, param in (
        (UserRow.status, status),
        (UserRow.department_id, department_id),
        (UserRow.role, role),
        (UserRow.manager_id, manager_id),
        (UserRow.email_key, email_key),
    ):
        if param is not None:
            query = query.where(column == param)
    order = (UserRow.created_at, UserRow.id)
    if after_at is not None:
        after = Tuple(after_at, after_id)
        query = query.where(Tuple(*order) < after if descends else Tuple(*order) > after)
    return query.order_by(*(one.desc() for one in order) if descends else order).limit(limit)


@compiled
def _in_chain_above(
    organisation_id: Param[str], manager_id: Param[str], user_id: Param[str]
) -> Select:
    """The user, if he is met on the way up from the manager, who counts himself."""
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
    # UNION, not UNION ALL: it ends even in a circle that got in some other way.
    chain = below.union(step)
    return chain.select_from(chain.c.id).where(chain.c.id == user_id)


@compiled_per_engine
def _department(
    engine: Engine, organisation_id: Param[str], department_id: Param[str], for_update: bool
) -> Select:
    query = DepartmentRow.select(DepartmentRow.id).where(
        DepartmentRow.organisation_id == organisation_id, DepartmentRow.id == department_id
    )
    # As the foreign key does: a delete waits, everything else goes on.
    return locks.locked(query, engine, "FOR KEY SHARE") if for_update else query
