"""A database full of leave, created by the use cases, and the requests that the load sends."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any

from storage.admin import organisation_settings, organisations, people
from storage.admin.organisations import NewOrganisation
from storage.base.secrets import Secrets
from storage.base.values import SCOPES, Caller, User
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.pages import PageOf
from storage.db.schema import migrate
from storage.keys import api_keys
from storage.leave import decisions, leave_lists, leave_requests, leave_types
from storage.leave.drafts import Draft
from storage.people import people_changes
from storage.webhooks import webhooks
from tests.builders import personal_token

# Of the organisation that is read.
PEOPLE = 500
REQUESTS_EACH = 4
FEED_EVENTS = 50
# Leave is created and approved for 500 people of several organisations.
WRITING_ORGANISATIONS = 10
WRITING_PEOPLE = 50
MAX_HALF_DAYS = 732
_NO_RECEIVER = "https://receiver.example.com/hiatus"

# Leave lies within two years of today.
WEEKS_AHEAD = 100
# From a Tuesday to a Thursday: never public holidays alone.
LENGTH = timedelta(days=2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Organisation:
    """``keys`` are the members' API keys, in the order of ``members``."""

    owner: Caller
    owner_key: str
    leave_type_id: str
    members: list[User]
    keys: list[str]


class Prepared:
    """The requests of each scenario as HTTP/1.1 text; each creation and approval comes once."""

    def __init__(
        self,
        database: Database,
        read: Organisation,
        feed_token: str,
        written: list[Organisation],
    ) -> None:
        self._database = database
        self._read = read
        self._feed_token = feed_token
        self._written = written
        self._creations = _all_creations(written)

    def page(self) -> list[str]:
        return [_request("GET", "/api/v1/leave-requests", self._read.owner_key)]

    def preview(self) -> list[str]:
        """A preview of the same three days for each person."""
        start = _tuesday(1)
        return [
            _leave_request("/api/v1/leave-requests/preview", self._read, number, start)
            for number in range(len(self._read.keys))
        ]

    def feed(self) -> list[str]:
        return [_request("GET", f"/cal/{self._feed_token}")]

    def unchanged_feed(self, entity_tag: str) -> list[str]:
        """Conditional requests for the feed by a client that has it."""
        return [_request("GET", f"/cal/{self._feed_token}.ics", entity_tag=entity_tag)]

    def create(self, most: int) -> list[str]:
        """The next ``most`` creations, by different people in turn."""
        return list(islice(self._creations, most))

    def approve(self) -> list[str]:
        """Approvals of all pending requests, by the owners; organisations take turns."""
        pending = [self._pending(organisation) for organisation in self._written]
        longest = max(map(len, pending))
        return [
            _request("POST", f"/api/v1/approvals/{ids[number]}/approve", organisation.owner_key, "")
            for number in range(longest)
            for organisation, ids in zip(self._written, pending, strict=True)
            if number < len(ids)
        ]

    def _pending(self, organisation: Organisation) -> list[str]:
        ids: list[str] = []
        cursor = None
        while True:
            page = self._database.read_now(
                leave_lists.filtered,
                PageOf(limit=100, cursor=cursor),
                by=organisation.owner,
                statuses=["pending"],
            )
            ids += [request.id for request in page.items]
            cursor = page.next_cursor
            if cursor is None:
                return ids


@contextmanager
def prepared(url: str, secret_key: str) -> Iterator[Prepared]:
    """Migrate the empty database and fill it."""
    migrate(url)
    database = open_database(url, Secrets([secret_key]))
    try:
        read = database.write_now(organisation, 0, PEOPLE)
        # One transaction a person, so that PostgreSQL's and SQLite's logs stay small.
        for member in read.members:
            database.write_now(_history, read, member)
        by = _caller(read, read.members[0])
        token = database.write_now(personal_token, by=by, now=_now())
        written = [
            database.write_now(organisation, number + 1, WRITING_PEOPLE)
            for number in range(WRITING_ORGANISATIONS)
        ]
        yield Prepared(database, read, token, written)
    finally:
        database.close()


def organisation(tx: Transaction, number: int, people_count: int) -> Organisation:
    """Create an organisation with a webhook for every event, an owner and as many members."""
    now = _now()
    new = NewOrganisation(
        name=f"Organisation {number}",
        country_code="GB",
        timezone="Europe/London",
        owner_email=f"owner.{number}@example.com",
        owner_first_name="Olive",
        owner_last_name="O",
    )
    new_organisation, owner = organisations.create(tx, new, source="cli", now=now)
    system = Caller(
        organisation_id=new_organisation.id,
        user_id=None,
        role="owner",
        scopes=frozenset(SCOPES),
        source="cli",
    )
    owner_key = _key(tx, owner, system)
    by = Caller(
        organisation_id=new_organisation.id,
        user_id=owner.id,
        role="owner",
        scopes=frozenset(SCOPES),
        source="api",
    )
    organisation_settings.update(
        tx, {"default_leave_allowance_half_days": MAX_HALF_DAYS}, by=by, now=now
    )
    webhooks.create(tx, _NO_RECEIVER, ["*"], by=by, now=now)
    leave_type_id = _deducting_type(tx, by)
    members: list[User] = []
    for index in range(people_count):
        fields: dict[str, Any] = {
            "email": f"person.{index}@example.com",
            "first_name": "Person",
            "last_name": f"Number {index}",
            "manager_id": members[0].id if members else owner.id,
        }
        member = people.create(tx, fields, by=by, now=now)
        members.append(people_changes.activate(tx, member, by=by, now=now))
    keys = [_key(tx, member, system) for member in members]
    return Organisation(
        owner=by, owner_key=owner_key, leave_type_id=leave_type_id, members=members, keys=keys
    )


def _deducting_type(tx: Transaction, by: Caller) -> str:
    types = leave_types.page(tx, PageOf(), by=by).items
    return next(leave_type.id for leave_type in types if leave_type.deducts_allowance)


def _history(tx: Transaction, organisation: Organisation, member: User) -> None:
    """A person's requests, three in four of them approved; the first person has the feed."""
    is_feed = member is organisation.members[0]
    amount = FEED_EVENTS if is_feed else REQUESTS_EACH
    for number in range(amount):
        start = _tuesday(number - amount // 2)
        request = leave_requests.submit(
            tx,
            by=_caller(organisation, member),
            draft=Draft(
                leave_type_id=organisation.leave_type_id, start_date=start, end_date=start + LENGTH
            ),
            now=_now(),
        )
        if number % 4 or is_feed:
            decisions.approve(tx, request.id, by=organisation.owner, now=_now())


def _caller(organisation: Organisation, member: User) -> Caller:
    return Caller(
        organisation_id=organisation.owner.organisation_id,
        user_id=member.id,
        role="member",
        scopes=frozenset(SCOPES),
        source="api",
    )


def _key(tx: Transaction, user: User, by: Caller) -> str:
    _, secret = api_keys.create_key(
        tx,
        for_user=user.id,
        name="Benchmark",
        scopes=None,
        variant=1,
        expires_at=None,
        by=by,
        now=_now(),
    )
    return secret


def _all_creations(written: Sequence[Organisation]) -> Iterator[str]:
    for week in range(1, WEEKS_AHEAD):
        start = _tuesday(week)
        for number in range(len(written[0].keys)):
            for organisation in written:
                yield _leave_request("/api/v1/leave-requests", organisation, number, start)


def _leave_request(path: str, organisation: Organisation, number: int, start: date) -> str:
    body = {
        "leave_type_id": organisation.leave_type_id,
        "start_date": start.isoformat(),
        "end_date": (start + LENGTH).isoformat(),
        "end_half_day": "am",
        "note": "Away to see the family.",
    }
    return _request("POST", path, organisation.keys[number], json.dumps(body))


def _request(
    method: str,
    path: str,
    key: str | None = None,
    body: str | None = None,
    entity_tag: str | None = None,
) -> str:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Accept: */*"]
    if entity_tag is not None:
        lines.append(f"If-None-Match: {entity_tag}")
    if key is not None:
        lines.append(f"Authorization: Bearer {key}")
    if body:
        lines.append("Content-Type: application/json")
    if body is not None:
        lines.append(f"Content-Length: {len(body.encode())}")
    return "\r\n".join([*lines, "", body or ""])


def _tuesday(weeks_ahead: int) -> date:
    today = _now().date()
    return today + timedelta(days=1 - today.weekday(), weeks=weeks_ahead)


def _now() -> datetime:
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)
