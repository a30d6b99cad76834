"""What is kept about a person: which rows are theirs, and what erasure leaves of them.

One list for the export and for erasure, so that neither forgets what the other knows. A new column
with a text belongs here, or into the list of tests/storage/test_erasure.py that says why not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Final, Literal

from storage.base.values import About, Id, User
from storage.db.compiled import Table
from storage.db.database import Transaction
from storage.db.tables import (
    AllowanceAdjustmentRow,
    AmendmentRow,
    ApiKeyRow,
    AuditRow,
    CalendarFeedRow,
    DaysLeftRow,
    DeliveryAttemptRow,
    DeliveryRow,
    EventRow,
    ExpiryNoticeRow,
    LeaveRequestRow,
    NotificationRow,
    ReminderRow,
    ReminderSummaryRow,
    SlackHomeRow,
    SlackMessageRow,
    SlackProfileRow,
    SlackStatusRow,
    SuggestionRow,
    TimeCreditCardRow,
    TimeCreditRow,
    UserRow,
)

# Erased people are shown with this name, in each reader's language in Slack.
ERASED_FIRST_NAME: Final = "Erased"
ERASED_LAST_NAME: Final = "person"
ERASED_NAME: Final = f"{ERASED_FIRST_NAME} {ERASED_LAST_NAME}"

# Whose ids a section's column has: the person's, their leave's, …
Key = Literal["person", "leave", "credits", "subjects", "events", "deliveries"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """The rows of one table that are about a person: those whose ``column`` has an id of ``key``.

    ``left`` is what erasure leaves in columns that could identify them; None: the rows are deleted.
    leave_texts.py removes the texts of ``typed``. ``hidden`` is not exported: secrets, hashes, and
    what only Hiatus needs.
    """

    table: Table
    key: Key = "person"
    column: str = "user_id"
    left: Mapping[str, object] | None = None
    typed: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()


_TEXTS: Final = frozenset({"note", "decision_reason"})
_QUEUE: Final = frozenset({"claim_id", "due_at", "attempts", "failures"})

# By the names in the export.
SECTIONS: Final[Mapping[str, Section]] = {
    "user": Section(
        table=UserRow,
        column="id",
        left={
            "first_name": ERASED_FIRST_NAME,
            "last_name": ERASED_LAST_NAME,
            "job_title": None,
            "employee_number": None,
            "avatar_url": None,
            "timezone": None,
            "locale": None,
            "slack_user_id": None,
        },
        hidden=frozenset({"email_key", "employment_due_on", "leave_allowance_hundredths"}),
    ),
    "slack_profile": Section(table=SlackProfileRow),
    "slack_status": Section(table=SlackStatusRow, hidden=_QUEUE | {"token_encrypted"}),
    "slack_home": Section(table=SlackHomeRow, hidden=frozenset({"cursors"})),
    "leave_requests": Section(
        table=LeaveRequestRow,
        left={},
        typed=_TEXTS | {"override_reason"},
        hidden=frozenset({"counted_halves", "hidden_versions", "shown_updated_at"}),
    ),
    "amendments": Section(
        table=AmendmentRow,
        key="leave",
        column="leave_request_id",
        left={},
        typed=_TEXTS | {"approvals"},
    ),
    "suggestions": Section(table=SuggestionRow, key="leave", column="leave_request_id", left={}),
    "time_credits": Section(
        table=TimeCreditRow, left={}, typed=frozenset({"reason", "decision_reason"})
    ),
    "allowance_adjustments": Section(table=AllowanceAdjustmentRow, left={"reason": ""}),
    "days_left": Section(table=DaysLeftRow),
    "expiry_notices": Section(table=ExpiryNoticeRow, left={}),
    "api_keys": Section(table=ApiKeyRow, hidden=frozenset({"secret_sha256"})),
    "calendar_feeds": Section(
        table=CalendarFeedRow, hidden=frozenset({"token_sha256", "token_encrypted"})
    ),
    "webhook_events": Section(
        table=EventRow, key="events", column="id", left={}, typed=frozenset({"body"})
    ),
    "webhook_attempts": Section(
        table=DeliveryAttemptRow,
        key="deliveries",
        column="delivery_id",
        left={},
        typed=frozenset({"answer_excerpt"}),
    ),
    "audit_entries": Section(
        table=AuditRow,
        key="subjects",
        column="subject_id",
        left={"changes": "{}", "request_id": None},
    ),
    "notifications": Section(table=NotificationRow, hidden=_QUEUE),
    "slack_messages": Section(table=SlackMessageRow),
    "reminders": Section(table=ReminderRow, hidden=_QUEUE),
    "reminder_summaries": Section(table=ReminderSummaryRow),
    "time_credit_messages": Section(table=TimeCreditCardRow, hidden=_QUEUE),
}


def ids_of(tx: Transaction, organisation_id: str, user: User) -> Mapping[Key, list[str]]:
    """The ids of the person and of what is theirs, by what they are the ids of."""
    own = {"organisation_id": organisation_id, "user_id": user.id}
    leave = [row.id for row in tx.select(LeaveRequestRow, **own)]
    credits = [row.id for row in tx.select(TimeCreditRow, **own)]
    subjects = [user.id, *leave, *credits, *_employment_records(user)]
    for table in _WITH_ENTRIES:
        subjects += [row.id for row in tx.select(table, **own)]
    about = {"organisation_id": organisation_id, "leave_request_id": [user.id, *leave, *credits]}
    return {
        "person": [user.id],
        "leave": leave,
        "credits": credits,
        "subjects": subjects,
        "events": [row.id for row in tx.select(EventRow, **about)],
        "deliveries": [row.id for row in tx.select(DeliveryRow, **about)],
    }


# Besides leave and time credits, what of theirs has audit entries.
_WITH_ENTRIES: Final = (
    AllowanceAdjustmentRow,
    ApiKeyRow,
    CalendarFeedRow,
    ExpiryNoticeRow,
    SlackStatusRow,
)


def _employment_records(user: User) -> list[str]:
    if user.employment is None:
        return []
    return [user.employment.id, *(record.id for record in user.employment.others)]


# What people type about leave, wherever a value repeats it: in events and the audit trail.
_TYPED: Final[Mapping[str, str | None]] = {
    "note": None,
    "decision_reason": None,
    "override_reason": None,
    "reason": "",
}


def without_texts(value: object, replaced: Mapping[str, object] = MappingProxyType({})) -> object:
    """A JSON value without what people typed; members of ``replaced`` get its values."""
    if isinstance(value, list):
        return [without_texts(item, replaced) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _without_text(name, member, replaced) for name, member in value.items()}


def _without_text(name: str, member: object, replaced: Mapping[str, object]) -> object:
    if name in replaced:
        return replaced[name]
    if name not in _TYPED or member is None:
        return without_texts(member, replaced)
    if isinstance(member, dict):
        # Of the audit trail: the text before and after.
        return dict.fromkeys(member)
    return _TYPED[name]


@dataclass(frozen=True, kw_only=True, slots=True)
class Remains:
    """A place that erasure does not reach."""

    where: Annotated[str, About(enum=("backups", "database_files", "slack", "receivers", "logs"))]
    what_to_do: Annotated[str, About(example="Let backups expire that were made before.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Erasure:
    """What was erased, or would be; zeros for a person who was erased before."""

    user_id: Id
    erased_at: datetime
    leave_requests: Annotated[int, About(description="Those that stay, without texts.")]
    audit_entries: Annotated[int, About(description="Those that stay, without details.")]
    webhook_events: Annotated[int, About(description="Those that were rewritten.")]
    slack_cards: Annotated[int, About(description="Messages in Slack that are rewritten next.")]
    removed_rows: Annotated[
        int, About(description="API keys, feeds, notifications and what else was deleted.")
    ]
    remains: Annotated[tuple[Remains, ...], About(description="What to do by hand.")]
