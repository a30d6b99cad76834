"""Organisations and people for tests, with plain defaults: pass only what the test is about.

The cast: Ada requests, Grace approves, Hedy is on another team.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import count
from typing import Any, TypeVar

from storage.admin import departments, organisation_settings, organisations, people, people_status
from storage.admin.effects import Effects, EffectsRecorder
from storage.admin.organisations import NewOrganisation
from storage.base.allowance_values import Allowance
from storage.base.event_values import AuditEntry, Webhook
from storage.base.leave_values import HalfDay, LeaveRequest, LeaveType
from storage.base.values import SCOPES, Caller, Department, Organisation, Source, User, UserStatus
from storage.calendars import feed_owners, feeds
from storage.calendars.feed_owners import FeedOwner
from storage.db.compiled import Param, compiled
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import WebhookRow
from storage.keys import api_keys
from storage.leave import decisions, leave_requests, leave_rows, leave_types
from storage.leave.drafts import Draft
from storage.outbox import audit, organisation_config
from storage.people import people_changes
from storage.people.people_rows import SlackProfile
from storage.webhooks import webhooks
from storage.workspaces.slack_workspaces import NewInstallation

T = TypeVar("T")

# A Monday.
NOW = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)

_numbers = count(1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Acme:
    """An organisation, its active owner, and the owner as a caller with every scope."""

    database: Database
    organisation: Organisation
    owner: User
    caller: Caller

    @property
    def id(self) -> str:
        return self.organisation.id

    def write(self, change: Callable[..., T], *args: Any, now: datetime = NOW, **how: Any) -> T:
        """Change something as the owner."""
        return self.database.write_now(change, *args, by=self.caller, now=now, **how)

    def read(self, query: Callable[..., T], *args: Any, **how: Any) -> T:
        """Read something as the owner."""
        return self.database.read_now(query, *args, by=self.caller, **how)


def an_organisation(
    database: Database,
    *,
    name: str = "Acme",
    country_code: str = "GB",
    timezone: str = "Europe/London",
    now: datetime = NOW,
    **settings: Any,
) -> Acme:
    """A fresh organisation whose owner is active; ``settings`` are what ``update`` takes."""
    number = next(_numbers)
    new = NewOrganisation(
        name=name,
        country_code=country_code,
        timezone=timezone,
        owner_email=f"olive.{number}@example.com",
        owner_first_name="Olive",
        owner_last_name="Owner",
    )

    def make(tx: Transaction) -> Acme:
        organisation, owner = organisations.create(tx, new, source="cli", now=now)
        caller = Caller(
            organisation_id=organisation.id,
            user_id=owner.id,
            role="owner",
            scopes=frozenset(SCOPES),
            source="api",
        )
        owner = people_changes.activate(tx, owner, by=caller, now=now)
        if settings:
            # Terms count for all leave years of a test.
            organisation = organisation_settings.update(
                tx, settings, effective_from=date(2000, 1, 1), by=caller, now=now
            )
        return Acme(database=database, organisation=organisation, owner=owner, caller=caller)

    return database.write_now(make)


def a_person(
    database: Database,
    acme: Acme,
    *,
    first_name: str = "Ada",
    last_name: str = "Lovelace",
    email: str | None = None,
    status: UserStatus = "active",
    now: datetime = NOW,
    **fields: Any,
) -> User:
    """A member with an e-mail address of their own; ``fields`` are what ``create`` takes."""
    fields |= {
        "email": email or f"{first_name.lower()}.{next(_numbers)}@example.com",
        "first_name": first_name,
        "last_name": last_name,
    }

    def make(tx: Transaction) -> User:
        user = people.create(tx, fields, by=acme.caller, now=now)
        if status == "active":
            user = people_changes.activate(tx, user, by=acme.caller, now=now)
        elif status == "deactivated":
            user = people_status.deactivate(tx, user.id, by=acme.caller, now=now)
        elif status == "archived":
            user = people_status.archive(tx, user.id, by=acme.caller, now=now)
        return user

    return database.write_now(make)


def caller_for(
    acme: Acme,
    user: User,
    *,
    scopes: frozenset[str] = frozenset(SCOPES),
    source: Source = "api",
) -> Caller:
    return Caller(
        organisation_id=acme.id, user_id=user.id, role=user.role, scopes=scopes, source=source
    )


def an_allowance(name: str = "Annual leave", *, is_default: bool = True) -> Allowance:
    """The value of an allowance, for views."""
    return Allowance(
        id="allowance",
        name=name,
        code="annual",
        is_default=is_default,
        is_archived=False,
        earnable=False,
        terms=(),
        created_at=NOW,
        updated_at=NOW,
        version=1,
    )


def dry_run(database: Database, change: Callable[..., Any], *args: Any, **how: Any) -> Effects:
    """The effects that an admin's change would have on other people."""

    def carry_out(tx: Transaction) -> Effects:
        recorder = EffectsRecorder()
        change(tx, *args, recorder=recorder, **how)
        return recorder.effects

    return database.dry_run_now(carry_out)


def a_department(
    database: Database, acme: Acme, *, name: str = "Engineering", now: datetime = NOW, **fields: Any
) -> Department:
    """A department without a manager; ``fields`` are what ``create`` takes."""
    fields["name"] = name
    return database.write_now(departments.create, fields, by=acme.caller, now=now)


def a_leave_type(
    database: Database, acme: Acme, *, name: str = "Study leave", now: datetime = NOW, **fields: Any
) -> LeaveType:
    """A type beside the default ones; ``fields`` are what ``create`` takes."""
    fields["name"] = name
    return database.write_now(leave_types.create, fields, by=acme.caller, now=now)


def home_office(database: Database, acme: Acme, **fields: Any) -> LeaveType:
    """A type that does not count as away and needs no approval."""
    usual: dict[str, Any] = {
        "name": "Home office",
        "code": "home-office",
        "is_away": False,
        "requires_approval": False,
        "deducts_allowance": False,
    }
    return a_leave_type(database, acme, **usual | fields)


def type_id(database: Database, acme: Acme, code: str = "annual") -> str:
    """The id of one of the default leave types."""
    config = database.read_now(organisation_config.of_organisation, acme.id)
    return next(
        leave_type.id for leave_type in config.leave_types.values() if leave_type.code == code
    )


def a_request(
    database: Database,
    acme: Acme,
    user: User,
    *,
    start_date: date = date(2026, 8, 3),
    end_date: date | None = None,
    start_half_day: HalfDay | None = None,
    end_half_day: HalfDay | None = None,
    note: str | None = None,
    cover_user_id: str | None = None,
    code: str = "annual",
    now: datetime = NOW,
) -> LeaveRequest:
    """The person's request: a Monday of annual leave by default."""
    draft = Draft(
        leave_type_id=type_id(database, acme, code),
        start_date=start_date,
        end_date=end_date or start_date,
        start_half_day=start_half_day,
        end_half_day=end_half_day,
        note=note,
        cover_user_id=cover_user_id,
    )
    return database.write_now(
        leave_requests.submit, by=caller_for(acme, user), draft=draft, now=now
    )


def approved_leave(
    database: Database,
    acme: Acme,
    user: User,
    start_date: date = date(2026, 8, 3),
    end_date: date | None = None,
    **more: Any,
) -> LeaveRequest:
    """As ``a_request``, approved by the owner if it needs a decision."""
    request = a_request(database, acme, user, start_date=start_date, end_date=end_date, **more)
    if request.status != "pending":
        return request
    now = more.get("now", NOW)
    return database.write_now(decisions.approve, request.id, by=acme.caller, now=now)


def as_it_is(database: Database, acme: Acme, request: LeaveRequest) -> LeaveRequest:
    """The request as it is stored now."""
    return database.read_now(leave_rows.get, request.id, by=acme.caller, now=NOW)


def personal_token(tx: Transaction, *, by: Caller, now: datetime) -> str:
    """The caller's own feed token, made when it is first read: run it as a write."""
    return feeds.readable_token(feeds.get_or_create_personal(tx, by=by, now=now))


def find_personal_token(tx: Transaction, *, by: Caller) -> str | None:
    """The caller's own feed token, if it has been made."""
    feed = feeds.find_personal(tx, by=by)
    return None if feed is None else feed.token


def a_webhook(
    database: Database, acme: Acme, *events: str, url: str = "https://example.com/"
) -> Webhook:
    """A webhook of the organisation, by default for every event."""
    webhook, _ = database.write_now(webhooks.create, url, events or ["*"], by=acme.caller, now=NOW)
    return webhook


def audit_entries(database: Database, by: Caller, **filters: Any) -> list[AuditEntry]:
    """The newest 100, newest first."""
    return database.read_now(audit.entries, PageOf(limit=100), by=by, **filters).items


def signing_secrets(
    tx: Transaction, organisation_id: str, webhook_id: str, *, now: datetime
) -> list[str]:
    """The secrets that sign a webhook's deliveries, newest first; [] if the webhook is deleted."""
    row = tx.first(_stored_secrets, organisation_id=organisation_id, webhook_id=webhook_id)
    return [] if row is None else webhooks.signing_secrets(tx, row, now=now)


@compiled
def _stored_secrets(organisation_id: Param[str], webhook_id: Param[str]) -> Any:
    return WebhookRow.select(
        WebhookRow.secret_encrypted,
        WebhookRow.previous_secret_encrypted,
        WebhookRow.previous_secret_until,
    ).where(WebhookRow.organisation_id == organisation_id, WebhookRow.id == webhook_id)


def owner_of_feed(database: Database, token: str) -> FeedOwner:
    owner = database.read_now(feed_owners.find_by_token, token)
    assert owner is not None
    return owner


def a_key(
    database: Database,
    acme: Acme,
    user: User | None = None,
    *,
    name: str = "test",
    scopes: list[str] | None = None,
    variant: int = 1,
    now: datetime = NOW,
) -> str:
    """An API key of the user, by default of the owner and with every scope."""
    user = user or acme.owner
    _, key = database.write_now(
        api_keys.create_key,
        for_user=user.id,
        name=name,
        scopes=list(SCOPES) if scopes is None else scopes,
        variant=variant,
        expires_at=None,
        by=caller_for(acme, user),
        now=now,
    )
    return key


def a_slack_profile(
    email: str,
    *,
    slack_user_id: str = "U1",
    first_name: str = "Ada",
    last_name: str = "Lovelace",
    **fields: Any,
) -> SlackProfile:
    """A member of a workspace whose e-mail address Slack has confirmed."""
    profile = SlackProfile(
        slack_user_id=slack_user_id,
        email=email,
        first_name=first_name,
        last_name=last_name,
        timezone=None,
        locale=None,
        avatar_url=None,
        is_email_confirmed=True,
    )
    return replace(profile, **fields)


def a_slack_installation(
    installer: SlackProfile, *, team_id: str, team_name: str, bot_token: str, bot_id: str = "B2"
) -> NewInstallation:
    """An installation whose bot is ``bot_id`` and, as a user, the same after a U."""
    return NewInstallation(
        team_id=team_id,
        team_name=team_name,
        enterprise_id=None,
        bot_id=bot_id,
        bot_user_id=f"U{bot_id}",
        bot_token=bot_token,
        scopes=(),
        installer=installer,
    )
