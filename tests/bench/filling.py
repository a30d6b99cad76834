"""A database with one large organisation beside many small ones, all of the same shape."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

import psycopg

from storage.admin import allowances, organisation_settings, organisations
from storage.admin.organisations import NewOrganisation
from storage.base.ids import new_id
from storage.base.secrets import Secrets
from storage.base.values import SCOPES, Caller, Role
from storage.db.compiled import milliseconds
from storage.db.database import Transaction
from storage.db.engines import open_database
from storage.db.pages import PageOf
from storage.db.tables import (
    TABLES,
    AuditRow,
    DepartmentRow,
    DigestRow,
    LeaveRequestRow,
    OrganisationRow,
    ReminderRow,
    UserRow,
)
from storage.leave import leave_types
from storage.people import people_changes
from storage.workspaces import slack_workspaces

SMALL_PEOPLE: Final = 20
SMALL_REQUESTS: Final = 200
# Of each department; its first person manages the others.
DEPARTMENT_PEOPLE: Final = 50
# Leave of nine years, and of the next one.
DAYS: Final = 3_650
DAYS_AHEAD: Final = 365

_CREATED_BEFORE: Final = timedelta(days=30)
_DECIDED_AFTER: Final = timedelta(days=1)
# Of reminders and digests: those of all organisations would begin together.
_DUE_AFTER: Final = timedelta(days=2)
# Rows of each table in one statement.
_BATCH: Final = 10_000
_MAX_HALF_DAYS: Final = 732
# Beside that of annual leave.
OTHER_ALLOWANCES: Final = 4
_LONG_AGO: Final = date(2000, 1, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """Of the large organisation, and how many small ones are beside it.

    Each request has two audit entries.
    """

    people: int
    requests: int
    organisations: int
    small_requests: int = SMALL_REQUESTS


@dataclass(frozen=True, kw_only=True, slots=True)
class Filled:
    """An organisation, and the people who call its operations.

    ``manager_id`` leads the department in which ``member_id`` is; neither is an admin.
    """

    organisation_id: str
    owner_id: str
    manager_id: str
    member_id: str
    department_id: str
    leave_type_id: str

    def caller(self, user_id: str, role: Role = "member") -> Caller:
        return Caller(
            organisation_id=self.organisation_id,
            user_id=user_id,
            role=role,
            scopes=frozenset(SCOPES),
            source="api",
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Empty:
    """An organisation with its owner alone; of the types the first one deducts allowance."""

    organisation_id: str
    owner_id: str
    leave_type_ids: list[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Person:
    id: str
    manager_id: str


def fill(url: str, secrets: Secrets, sizes: Sizes, now: datetime) -> tuple[Filled, Filled]:
    """Fill a migrated database; returns a small organisation and the large one.

    The other small organisations are copies of the one that is returned. Handles that are open must
    not have read these organisations: they keep their departments.
    """
    with closing(open_database(url, secrets)) as database:
        empty = [database.write_now(_organisation, number, now) for number in range(2)]
    with filling(url) as bulk:
        small = _fill_one(bulk, empty[0], SMALL_PEOPLE, sizes.small_requests, now)
        large = _fill_one(bulk, empty[1], sizes.people, sizes.requests, now)
        _copy(bulk, small.organisation_id, range(2, sizes.organisations + 1), now)
    return small, large


def _copy(bulk: Bulk, organisation_id: str, numbers: Sequence[int], now: datetime) -> None:
    organisations = [
        {"id": new_id(now), "slug": f"organisation-{number}", "slack_team_id": f"T{number}"}
        for number in numbers
    ]
    if organisations:
        bulk.copy(OrganisationRow, "id", organisation_id, organisations)
        copies = [{"organisation_id": organisation["id"]} for organisation in organisations]
        for table in TABLES:
            if "organisation_id" in table._meta.fields:
                bulk.copy(table, "organisation_id", organisation_id, copies)


def _organisation(tx: Transaction, number: int, now: datetime) -> _Empty:
    new = NewOrganisation(
        name=f"Organisation {number}",
        country_code="GB",
        timezone="Europe/London",
        owner_email=f"owner.{number}@example.com",
        owner_first_name="Olive",
        owner_last_name="Owner",
    )
    organisation, owner = organisations.create(tx, new, source="cli", now=now)
    slack_workspaces.link(tx, organisation, f"T{number}", source="cli", now=now)
    by = Caller.system(organisation.id, "cli")
    people_changes.activate(tx, owner, by=by, now=now)
    settings = {
        "default_leave_allowance_half_days": _MAX_HALF_DAYS,
        "digest_channel": f"C{number:08}",
    }
    organisation_settings.update(tx, settings, by=by, now=now)
    _grant_monthly(tx, by, now)
    types = leave_types.page(tx, PageOf(), by=by).items
    types.sort(key=lambda leave_type: not leave_type.deducts_allowance)
    return _Empty(
        organisation_id=organisation.id,
        owner_id=owner.id,
        leave_type_ids=[leave_type.id for leave_type in types],
    )


def _grant_monthly(tx: Transaction, by: Caller, now: datetime) -> None:
    """Five allowances that grant by the month, carry over and let days expire, each with a type."""
    terms = {
        "half_days_per_year": _MAX_HALF_DAYS,
        "granting": "monthly",
        "may_borrow": True,
        "carry_over_half_days": None,
        "carry_over_expires_after_months": 3,
    }
    allowances.update(tx, by.organisation_id, terms, effective_from=_LONG_AGO, by=by, now=now)
    for number in range(OTHER_ALLOWANCES):
        fields = {"name": f"Allowance {number}", **terms}
        allowance = allowances.create(tx, fields, by=by, now=now)
        fields = {"name": f"Leave {number}", "allowance_id": allowance.allowance.id}
        leave_types.create(tx, fields, by=by, now=now)


def _fill_one(
    bulk: Bulk, empty: _Empty, people_count: int, request_count: int, now: datetime
) -> Filled:
    joined_at = now - timedelta(days=DAYS)
    people: list[_Person] = []
    departments: list[Row] = []
    users: list[Row] = []
    for number in range(people_count):
        user_id, manager_id = new_id(joined_at), empty.owner_id
        if number % DEPARTMENT_PEOPLE:
            manager_id = departments[-1]["manager_id"]
        else:
            departments.append(_department(empty, len(departments), user_id, joined_at))
        people.append(_Person(id=user_id, manager_id=manager_id))
        users.append(_user(empty, number, people[-1], departments[-1]["id"], joined_at))
    bulk.insert(DepartmentRow, departments)
    bulk.insert(UserRow, users)
    for first in range(0, request_count, _BATCH):
        numbers = range(first, min(first + _BATCH, request_count))
        requests = [_request(empty, people, number, request_count, now) for number in numbers]
        bulk.insert(LeaveRequestRow, requests)
        bulk.insert(AuditRow, [entry for request in requests for entry in _audit_entries(request)])
        bulk.insert(ReminderRow, [*_reminders(requests, people, now)])
    digest = {"organisation_id": empty.organisation_id, "due_at": milliseconds(now + _DUE_AFTER)}
    bulk.insert(DigestRow, [digest])
    return Filled(
        organisation_id=empty.organisation_id,
        owner_id=empty.owner_id,
        manager_id=people[0].id,
        member_id=people[2].id,
        department_id=departments[0]["id"],
        leave_type_id=empty.leave_type_ids[0],
    )


def _department(empty: _Empty, number: int, manager_id: str, at: datetime) -> Row:
    return {
        "organisation_id": empty.organisation_id,
        "id": new_id(at),
        "name": f"Department {number}",
        "manager_id": manager_id,
        "created_at": milliseconds(at),
        "updated_at": milliseconds(at),
        "version": 1,
    }


def _user(empty: _Empty, number: int, person: _Person, department_id: str, at: datetime) -> Row:
    # The second person of each department approves, too.
    is_approver = number % DEPARTMENT_PEOPLE == 1
    email = f"person.{number}@example.com"
    return {
        "organisation_id": empty.organisation_id,
        "id": person.id,
        "email": email,
        "email_key": email,
        "first_name": "Person",
        "last_name": f"Number {number}",
        "role": "approver" if is_approver else "member",
        "status": "active",
        "department_id": department_id,
        "manager_id": person.manager_id,
        "slack_user_id": f"U{number}",
        "created_at": milliseconds(at) + number,
        "updated_at": milliseconds(at) + number,
        "version": 1,
    }


def _request(
    empty: _Empty, people: Sequence[_Person], number: int, count: int, now: datetime
) -> Row:
    """By first day; everyone's requests are spread over all years."""
    person = people[number % len(people)]
    started_at = now + timedelta(days=DAYS_AHEAD - DAYS + number * DAYS / count)
    created_at = min(started_at - _CREATED_BEFORE, now - _CREATED_BEFORE)
    created_at += timedelta(milliseconds=number)
    start, days = started_at.date(), 1 + number % 4
    status = _status(_mixed(number), is_ahead=started_at > now)
    is_decided = status in ("approved", "declined")
    decided_at = created_at + _DECIDED_AFTER
    return {
        "organisation_id": empty.organisation_id,
        "id": new_id(created_at),
        "user_id": person.id,
        "leave_type_id": empty.leave_type_ids[_mixed(number) // 20 % len(empty.leave_type_ids)],
        "status": status,
        "start_date": start.isoformat(),
        "end_date": (start + timedelta(days=days - 1)).isoformat(),
        "total_half_days": 2 * days,
        "counted_halves": "3" * days,
        "decided_by": person.manager_id if is_decided else None,
        "decided_at": milliseconds(decided_at) if is_decided else None,
        "cancelled_at": milliseconds(decided_at) if status == "cancelled" else None,
        "created_at": milliseconds(created_at),
        "updated_at": milliseconds(created_at if status == "pending" else decided_at),
        "version": 1 if status == "pending" else 2,
    }


def _status(number: int, *, is_ahead: bool) -> str:
    """Leave that has begun is decided; of leave ahead, one request in ten is pending."""
    if is_ahead and number % 10 == 0:
        return "pending"
    return {1: "declined", 2: "cancelled"}.get(number % 20, "approved")


def _mixed(number: int) -> int:
    """Numbers in no order, the same in every run."""
    return number * 2_654_435_761 % 2**32 >> 8


def _audit_entries(request: Row) -> Iterator[Row]:
    """Its creation, and its decision or an edit."""
    last = {"pending": "updated"}.get(request["status"], request["status"])
    for action, actor_id, at in (
        ("created", request["user_id"], request["created_at"]),
        (last, request["decided_by"] or request["user_id"], request["updated_at"]),
    ):
        yield {
            "organisation_id": request["organisation_id"],
            "id": new_id(datetime.fromtimestamp(at / 1000).astimezone()),
            "action": f"leave_request.{action}",
            "occurred_at": at,
            "actor_id": actor_id,
            "source": "api",
            "subject_type": "leave_request",
            "subject_id": request["id"],
            "changes": f'{{"status":{{"from":null,"to":"{request["status"]}"}}}}',
        }


def _reminders(requests: Sequence[Row], people: Sequence[_Person], now: datetime) -> Iterator[Row]:
    """Of pending requests, for the managers."""
    managers = {person.id: person.manager_id for person in people}
    pending = [request for request in requests if request["status"] == "pending"]
    for request in pending:
        yield {
            "organisation_id": request["organisation_id"],
            "leave_request_id": request["id"],
            "user_id": managers[request["user_id"]],
            "asked_at": request["created_at"],
            "sent": 1,
            "is_next_step": False,
            "due_at": milliseconds(now + _DUE_AFTER),
        }


Row = dict[str, Any]

# Neither the benchmark nor its file survives a crash. Indexes of a million requests fit the cache.
_FAST: Final = (
    "PRAGMA journal_mode=OFF",
    "PRAGMA synchronous=OFF",
    "PRAGMA cache_size=-1500000",
)


class Bulk:
    """Adds rows without checking foreign keys."""

    def __init__(
        self,
        insert: Callable[[str, Sequence[str], Sequence[Row]], None],
        run_many: Callable[[str, Sequence[Sequence[Any]]], object],
    ) -> None:
        self._insert = insert
        self._run_many = run_many

    def insert(self, table: Any, rows: Sequence[Row]) -> None:
        """Add rows that have the same columns; a column that is left out is null."""
        if rows:
            self._insert(table._meta.table_name, [*rows[0]], rows)

    def copy(self, table: Any, key: str, original: str, copies: Sequence[Row]) -> None:
        """For each of ``copies``, copy the rows whose ``key`` is ``original``.

        ``copies`` are the columns that differ.
        """
        changed = copies[0].keys()
        columns = [*changed, *(table._meta.columns.keys() - changed)]
        values = [*("?" for _ in changed), *columns[len(changed) :]]
        name = table._meta.table_name
        self._run_many(
            f"INSERT INTO {name} ({', '.join(columns)}) SELECT {', '.join(values)} "
            f"FROM {name} WHERE {key} = ?",
            [[*copy.values(), original] for copy in copies],
        )


@contextmanager
def filling(url: str) -> Iterator[Bulk]:
    """Add rows to a migrated database; committed at the end."""
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
            for pragma in _FAST:
                file.execute(pragma)
            with file:
                yield Bulk(lambda *args: _insert(file, *args), file.executemany)
            file.execute("PRAGMA journal_mode=WAL")
        return
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        # Foreign keys are triggers, which would take most of the time.
        cursor.execute("SET session_replication_role = replica")
        yield Bulk(
            lambda *args: _copy_in(cursor, *args),
            lambda sql, params: cursor.executemany(sql.replace("?", "%s").encode(), params),
        )


def _insert(
    file: sqlite3.Connection, table: str, columns: Sequence[str], rows: Sequence[Row]
) -> None:
    places = ", ".join("?" * len(columns))
    statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"
    file.executemany(statement, [[*row.values()] for row in rows])


def _copy_in(
    cursor: psycopg.Cursor[Any], table: str, columns: Sequence[str], rows: Sequence[Row]
) -> None:
    with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row([*row.values()])
