"""A filled database of contract size, and the HTTP requests that its people send.

A large organisation of 2,000 people with ten years of leave stands beside 1,000 small ones. Its
first four departments use Slack and have API keys; everything that is written is theirs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import cycle, product
from typing import Final
from urllib.parse import urlencode

import psycopg
from peewee import Select

from storage.base.secrets import Secrets
from storage.base.values import SCOPES, Caller
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.engines import open_database
from storage.db.schema import migrate
from storage.db.tables import UserRow
from storage.keys import api_keys
from storage.webhooks import webhooks
from tests.bench.filling import DAYS_AHEAD, DEPARTMENT_PEOPLE, Filled, Sizes, fill
from tests.builders import personal_token

SIZES: Final = Sizes(people=2_000, requests=300_000, organisations=1_000)
QUICK_SIZES: Final = Sizes(people=200, requests=5_000, organisations=10)
TEAM_ID: Final = "T1"
DEPARTMENTS: Final = 4
# From a Tuesday to a Thursday: never public holidays alone.
LENGTH: Final = timedelta(days=2)
# Created leave begins after all other leave, and leave lies within two years of today.
FIRST_WEEK: Final = DAYS_AHEAD // 7 + 1
WEEKS: Final = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A person of the large organisation who uses Slack."""

    number: int
    id: str
    key: str
    feed_token: str

    @property
    def slack_id(self) -> str:
        return f"U{self.number}"

    @property
    def email(self) -> str:
        return f"person.{self.number}@example.com"

    @property
    def manager_number(self) -> int:
        return self.number - self.number % DEPARTMENT_PEOPLE

    @property
    def is_manager(self) -> bool:
        return self.number == self.manager_number


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledDatabase:
    """Requests are HTTP/1.1 texts without a body's or path's repetition of what was written."""

    url: str
    secret_key: str
    large: Filled
    owner_key: str
    people: int
    members: Sequence[Member]

    def lists(self) -> list[str]:
        """The lists that people and integrations read every day."""
        own = [_get("/leave", member.key, {"limit": "25"}) for member in self.members[:20]]
        usual = [{}, {"status": "pending"}, {"status": "approved", "sort": "start_date"}]
        owners = [_get("/leave-requests", self.owner_key, filters) for filters in usual]
        return [*own, *owners * 4]

    def unusual_lists(self) -> list[str]:
        """Every combination of the filters and sorts of ``/leave-requests``."""
        first_day = _today() - timedelta(days=7)
        choices: list[list[dict[str, str]]] = [
            [{}, *({"status": status} for status in ("pending", "approved", "declined"))],
            [{}, {"user_id": self.large.member_id}],
            [{}, {"department_id": self.large.department_id}],
            [{}, {"leave_type_id": self.large.leave_type_id}],
            [
                {},
                {"from": first_day.isoformat()},
                {"to": first_day.isoformat()},
                {
                    "from": (first_day - timedelta(days=2_000)).isoformat(),
                    "to": (first_day - timedelta(days=1_986)).isoformat(),
                },
            ],
            [{"sort": sort} for sort in ("-created_at", "created_at", "-start_date", "start_date")],
        ]
        combined = [
            {name: value for part in parts for name, value in part.items()}
            for parts in product(*choices)
        ]
        # Short runs have every filter, too: 17 and the number of combinations are coprime.
        mixed = [combined[number * 17 % len(combined)] for number in range(len(combined))]
        return [_get("/leave-requests", self.owner_key, filters) for filters in mixed]

    def previews(self) -> list[str]:
        days = [_tuesday(week) for week in (2, 9, 30)]
        return [
            _post("/leave-requests/preview", member.key, self._leave(day))
            for day in days
            for member in self.members
        ]

    def balances(self) -> list[str]:
        return [_get(f"/users/{member.id}/balance", member.key) for member in self.members]

    def unchanged_feeds(self) -> list[str]:
        """Personal feeds of managers, who create no leave here."""
        managers = [member for member in self.members if member.is_manager]
        return [_request("GET", f"/cal/{manager.feed_token}.ics") for manager in managers]

    def feeds(self) -> list[str]:
        """Of four subscriptions one is to a team."""
        scopes = ("team", "personal", "personal", "personal")
        return [
            _request("GET", f"/cal/{member.feed_token}.ics?scope={scope}")
            for member, scope in zip(self.members, cycle(scopes), strict=False)
        ]

    def creations(self) -> Iterator[tuple[str, Member]]:
        """Each can succeed once: another person or another week. Few of a team share a week."""
        staff = [member for member in self.members if not member.is_manager]
        for turn in range(WEEKS):
            for member in staff:
                week = FIRST_WEEK + (member.number + turn) % WEEKS
                body = self._leave(_tuesday(week))
                yield _post("/leave-requests", member.key, body), member

    def approval(self, request_id: str) -> str:
        return _post(f"/approvals/{request_id}/approve", self.owner_key, {})

    def _leave(self, first_day: date) -> dict[str, object]:
        return {
            "leave_type_id": self.large.leave_type_id,
            "start_date": first_day.isoformat(),
            "end_date": (first_day + LENGTH).isoformat(),
            "end_half_day": "am",
            "note": "Away to see the family.",
        }


def fill_database(url: str, secret_key: str, sizes: Sizes, receiver: str) -> FilledDatabase:
    """Migrate and fill an empty database; the large organisation has a webhook to ``receiver``."""
    migrate(url)
    secrets, now = Secrets([secret_key]), _now()
    _, large = fill(url, secrets, sizes, now)
    if url.startswith("postgresql:"):
        # As autovacuum does within a minute of so many changes.
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
    with closing(open_database(url, secrets)) as database:
        owner = large.caller(large.owner_id, "owner")
        database.write_now(webhooks.create, receiver, ["*"], by=owner, now=now)
        ids = database.read_now(_first_people, large.organisation_id)
        members = [
            Member(
                number=number,
                id=user_id,
                key=database.write_now(_key, large, user_id, now),
                feed_token=database.write_now(personal_token, by=large.caller(user_id), now=now),
            )
            for number, user_id in enumerate(ids)
        ]
        owner_key = database.write_now(_key, large, large.owner_id, now)
    return FilledDatabase(
        url=url,
        secret_key=secret_key,
        large=large,
        owner_key=owner_key,
        people=sizes.people,
        members=members,
    )


def _first_people(tx: Transaction, organisation_id: str) -> list[str]:
    rows = tx.all(
        _people_by_creation,
        organisation_id=organisation_id,
        limit=DEPARTMENTS * DEPARTMENT_PEOPLE + 1,
    )
    # The owner was created now, the others years ago.
    return [row.id for row in rows][: DEPARTMENTS * DEPARTMENT_PEOPLE]


@compiled
def _people_by_creation(organisation_id: Param[str], limit: Param[int]) -> Select:
    return (
        UserRow.select(UserRow.id)
        .where(UserRow.organisation_id == organisation_id)
        .order_by(UserRow.created_at)
        .limit(limit)
    )


def _key(tx: Transaction, large: Filled, user_id: str, now: datetime) -> str:
    _, secret = api_keys.create_key(
        tx,
        for_user=user_id,
        name="Benchmark",
        scopes=None,
        variant=1,
        expires_at=None,
        by=Caller(
            organisation_id=large.organisation_id,
            user_id=None,
            role="owner",
            scopes=frozenset(SCOPES),
            source="cli",
        ),
        now=now,
    )
    return secret


def with_entity_tag(request: str, entity_tag: str) -> str:
    """The request of a client that has this version."""
    head, _, body = request.partition("\r\n\r\n")
    return f"{head}\r\nIf-None-Match: {entity_tag}\r\n\r\n{body}"


def _get(path: str, key: str, filters: dict[str, str] | None = None) -> str:
    query = f"?{urlencode(filters)}" if filters else ""
    return _request("GET", f"/api/v1{path}{query}", key)


def _post(path: str, key: str, body: dict[str, object]) -> str:
    return _request("POST", f"/api/v1{path}", key, json.dumps(body))


def _request(method: str, path: str, key: str | None = None, body: str | None = None) -> str:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Accept: */*"]
    if key is not None:
        lines.append(f"Authorization: Bearer {key}")
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", body or ""])


def _tuesday(weeks_ahead: int) -> date:
    return _today() + timedelta(days=1 - _today().weekday(), weeks=weeks_ahead)


def _today() -> date:
    return _now().date()


def _now() -> datetime:
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)
