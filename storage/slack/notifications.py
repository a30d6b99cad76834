"""Slack notices: claimed by one process at a time, settled, tried again.

What is shown is read when it is sent; sending is the Slack side's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal

from peewee import Delete, Select, Tuple, Update, fn

from storage.admin import recalculation
from storage.admin.recalculation import News
from storage.base.clock import local_day
from storage.base.event_values import NotificationEvent, Webhook
from storage.base.ids import new_id
from storage.base.values import HalfDay, User
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import (
    LeaveRequestRow,
    LeaveTypeRow,
    NoticeRow,
    ReminderRow,
    UserRow,
    WebhookRow,
)
from storage.directory import approvers, pending_approvals, people_rows
from storage.events import notification_outbox, organisation_config
from storage.events.leased_queue import LeasedQueue, skip_locked, wait_after
from storage.events.notification_outbox import NoticeKind
from storage.leave import card_refreshes
from storage.slack import approval_cards, digests, reminders, slack_locales, slack_messages
from storage.slack.approval_cards import ApprovalCard
from storage.slack.slack_messages import Posted

# Waits after the 1st, 2nd … failed attempt; the last one again and again.
RETRY_AFTER_SECONDS: Final = (5, 30, 120, 600, 1_800, 3_600)
# A notice that could not be shown for so long is given up.
WORTH_TRYING: Final = timedelta(hours=24)

# Cards that ask somebody; those of other events only show what became of it.
_ASKING: Final = ("leave_request.created", "leave_request.updated", "leave_request.rerouted")
# How many requests a summary names.
MOST_SUMMARISED: Final = 10

Verdict = Literal["delivered", "retry", "failed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """Something to show one person; ``attempts`` counts those before this claim.

    It is about the webhook if it has one, about leave of the person between two days if it has
    those, else about the leave request.
    """

    organisation_id: str
    id: str
    kind: NoticeKind
    user_id: str
    leave_request_id: str
    event_type: NotificationEvent
    attempts: int
    created_at: datetime
    claim_id: str
    webhook_id: str | None = None
    first_day: date | None = None
    last_day: date | None = None

    @property
    def is_refresh(self) -> bool:
        """Whether it only redraws a card whose request has not changed."""
        return self.event_type == notification_outbox.CARD_REFRESH


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """A card as it went out: where it stands, and the request's version that it shows."""

    message: Posted
    version: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of an attempt.

    ``error`` says why it was not delivered. ``retry_after_seconds`` is what Slack asked for.
    ``drawn`` is set when a card was posted or redrawn, ``gone`` when the one we knew is no more.
    """

    verdict: Verdict
    error: str | None = None
    retry_after_seconds: int | None = None
    drawn: Drawn | None = None
    gone: Posted | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookNotificationData:
    """The data of a message about a webhook that is off, or fails since ``failing_since``."""

    team_id: str | None
    recipient: User
    locale: str | None
    webhook: Webhook
    failing_since: datetime | None
    timezone: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DigestNotificationData:
    """All that the news of a digest takes: its channel, and Slack's word for what is wrong."""

    team_id: str | None
    recipient: User
    locale: str | None
    channel: str
    because: str


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingRequest:
    """A pending request as a summary names it."""

    requester_name: str
    leave_type_name: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    total_half_days: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryNotificationData:
    """All that a summary takes: the requests that wait longest, and how many there are."""

    team_id: str | None
    recipient: User
    locale: str | None
    requests: tuple[WaitingRequest, ...]
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NotificationData:
    """All that drawing a notice takes. ``message`` is the card that the person has already.

    ``news`` is set where the person is told that his leave counts something else now. ``locale``
    is the recipient's, as Slack names it. ``is_superseded``: a later notice draws the same card.
    """

    team_id: str | None
    recipient: User
    locale: str | None
    card: ApprovalCard
    message: Posted | None
    news: News | None = None
    is_superseded: bool = False


def _due(_: Engine, now: Expr, limit: Expr) -> Select:
    notice, other = NoticeRow.alias(), NoticeRow.alias()
    comes_first = other.select(other.id).where(
        other.organisation_id == notice.organisation_id,
        other.user_id == notice.user_id,
        other.leave_request_id == notice.leave_request_id,
        other.status == "pending",
        # What is only due later holds nothing up.
        (other.event_type != notification_outbox.SETTLED) | (other.due_at <= now),
        (other.id < notice.id)
        | ((other.id > notice.id) & other.claim_id.is_null(False) & (other.due_at > now)),
    )
    query: Select = notice.select(notice.organisation_id, notice.id).where(
        notice.status == "pending", notice.due_at <= now, ~fn.EXISTS(comes_first)
    )
    return query.order_by(notice.due_at).limit(limit)


QUEUE: Final = LeasedQueue(
    table=NoticeRow,
    key=("organisation_id", "id"),
    due=_due,
    # Longer than the longest attempt.
    lease=timedelta(seconds=60),
    returned=(
        NoticeRow.organisation_id,
        NoticeRow.id,
        NoticeRow.kind,
        NoticeRow.user_id,
        NoticeRow.leave_request_id,
        NoticeRow.event_type,
        NoticeRow.attempts,
        NoticeRow.created_at,
        NoticeRow.webhook_id,
        NoticeRow.first_day,
        NoticeRow.last_day,
    ),
)


def claim(tx: Transaction, *, limit: int, claim_id: str, now: datetime) -> list[Notice]:
    """Claim up to ``limit`` due notices, those due longest first.

    Of what one person is to see of one request, only the earliest is taken, and nothing while
    something is on its way. ``claim_id`` is new for every call.
    """
    claimed = QUEUE.claim(tx, claim_id=claim_id, now=now, limit=limit)
    notices = [_notice(row, claim_id) for row in claimed]
    return sorted(notices, key=lambda notice: notice.id)


def _notice(row: Row, claim_id: str) -> Notice:
    return Notice(
        organisation_id=row.organisation_id,
        id=row.id,
        kind=row.kind,
        user_id=row.user_id,
        leave_request_id=row.leave_request_id,
        event_type=row.event_type,
        attempts=row.attempts,
        created_at=rows.instant(row.created_at),
        claim_id=claim_id,
        webhook_id=row.webhook_id,
        first_day=rows.day_or_none(row.first_day),
        last_day=rows.day_or_none(row.last_day),
    )


def load(tx: Transaction, notice: Notice, *, now: datetime) -> NotificationData | None:
    """What the notice is about, as it is now; None when the request or the person is gone."""
    recipient = people_rows.find(tx, notice.organisation_id, notice.user_id)
    card = approval_cards.card(
        tx, notice.organisation_id, notice.leave_request_id, viewer_id=notice.user_id, now=now
    )
    if recipient is None or card is None:
        return None
    message = slack_messages.find(
        tx, notice.organisation_id, notice.leave_request_id, notice.user_id
    )
    team_id = organisation_config.of_organisation(
        tx, notice.organisation_id
    ).organisation.slack_team_id
    news = None
    if (notice.kind, notice.event_type) == ("requester_notice", "leave_request.recounted"):
        place = (notice.organisation_id, notice.leave_request_id)
        news = recalculation.news(tx, *place, at=notice.created_at)
    locale = slack_locales.of_person(tx, notice.organisation_id, recipient.id)
    is_superseded = notice.is_refresh and _is_awaited(tx, notice)
    return NotificationData(
        team_id=team_id,
        recipient=recipient,
        locale=locale,
        card=card,
        message=message,
        news=news,
        is_superseded=is_superseded,
    )


def expand(tx: Transaction, notice: Notice, *, now: datetime) -> None:
    """Queue the redraws that follow from a ``cover_changed`` notice."""
    if notice.first_day is not None and notice.last_day is not None:
        change = card_refreshes.CoverChange(
            organisation_id=notice.organisation_id,
            user_id=notice.user_id,
            first_day=notice.first_day,
            last_day=notice.last_day,
        )
        card_refreshes.expand(tx, change, now=now)


def load_webhook(tx: Transaction, notice: Notice) -> WebhookNotificationData | None:
    """The webhook and its admin; None if it has recovered or is gone, or the admin no longer is."""
    recipient = people_rows.find(tx, notice.organisation_id, notice.user_id)
    row = tx.first(_webhook, organisation_id=notice.organisation_id, webhook_id=notice.webhook_id)
    if row is None or recipient is None or recipient.status != "active":
        return None
    webhook = rows.webhook(row)
    is_news = not webhook.is_active
    if notice.kind == "webhook_failing":
        is_news = webhook.is_active and row.failing_since_at is not None
    if not is_news or recipient.role not in ("admin", "owner"):
        return None
    organisation = organisation_config.of_organisation(tx, notice.organisation_id).organisation
    return WebhookNotificationData(
        team_id=organisation.slack_team_id,
        recipient=recipient,
        locale=slack_locales.of_person(tx, notice.organisation_id, recipient.id),
        webhook=webhook,
        failing_since=rows.instant_or_none(row.failing_since_at) if webhook.is_active else None,
        timezone=recipient.timezone or organisation.timezone,
    )


def load_digest(tx: Transaction, notice: Notice) -> DigestNotificationData | None:
    """Why the digest cannot be posted; None once another channel was chosen, or for nobody."""
    recipient = people_rows.find(tx, notice.organisation_id, notice.user_id)
    found = digests.refusal(tx, notice.organisation_id)
    if found is None or recipient is None or recipient.status != "active":
        return None
    if recipient.role not in ("admin", "owner"):
        return None
    team_id = organisation_config.of_organisation(
        tx, notice.organisation_id
    ).organisation.slack_team_id
    locale = slack_locales.of_person(tx, notice.organisation_id, recipient.id)
    channel, because = found
    return DigestNotificationData(
        team_id=team_id, recipient=recipient, locale=locale, channel=channel, because=because
    )


def load_summary(
    tx: Transaction, notice: Notice, *, now: datetime
) -> SummaryNotificationData | None:
    """What waits for the person now; None where nothing does, or nobody is there to hear."""
    organisation = organisation_config.of_organisation(tx, notice.organisation_id).organisation
    recipient = people_rows.find(tx, notice.organisation_id, notice.user_id)
    found = tx.all(
        _waiting,
        organisation_id=notice.organisation_id,
        user_id=notice.user_id,
        today=local_day(now, organisation.timezone).isoformat(),
        limit=MOST_SUMMARISED,
    )
    if recipient is None or not approvers.may_be_asked(recipient) or not found:
        return None
    requests = tuple(
        WaitingRequest(
            requester_name=f"{row.first_name} {row.last_name}".strip(),
            leave_type_name=row.type_name,
            start_date=rows.day(row.start_date),
            end_date=rows.day(row.end_date),
            start_half_day=row.start_half_day,
            end_half_day=row.end_half_day,
            total_half_days=row.total_half_days,
        )
        for row in found
    )
    team_id = organisation.slack_team_id
    locale = slack_locales.of_person(tx, notice.organisation_id, recipient.id)
    return SummaryNotificationData(
        team_id=team_id, recipient=recipient, locale=locale, requests=requests, total=found[0].total
    )


def settle(tx: Transaction, outcomes: Iterable[tuple[Notice, Outcome]], *, now: datetime) -> None:
    """Record what came of attempts: delivered, tried again later, or given up.

    Where a card stands is remembered even by a process that lost its claim: the message is there.
    """
    for notice, outcome in outcomes:
        attempts = notice.attempts + 1
        changes: dict[str, object] = {"attempts": attempts, "last_error": outcome.error}
        if outcome.verdict == "retry" and now - notice.created_at < WORTH_TRYING:
            changes["due_at"] = now + timedelta(seconds=retry_delay_seconds(attempts, outcome))
        else:
            status = "delivered" if outcome.verdict == "delivered" else "failed"
            changes |= {"status": status, "settled_at": now}
        QUEUE.release(tx, (notice.organisation_id, notice.id), notice.claim_id, changes)
        _keep_message(tx, notice, outcome, now)
        if notice.event_type in _ASKING and notice.kind == "approval_card":
            reminders.watch(
                tx, notice.organisation_id, notice.leave_request_id, notice.user_id, now=now
            )


def give_up(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Try no notice of the organisation again: its workspace does not have the app any more.

    What is just being recorded of one is left to that; the next attempt finds no workspace.
    """
    tx.change(
        _give_up,
        organisation_id=organisation_id,
        now=now,
        error="the app was uninstalled",
    )


def retry_delay_seconds(attempts: int, outcome: Outcome) -> int:
    """How long to wait after that many attempts; Slack's own ``Retry-After`` replaces our step."""
    if outcome.retry_after_seconds is not None:
        return min(max(outcome.retry_after_seconds, 1), RETRY_AFTER_SECONDS[-1])
    return wait_after(attempts, RETRY_AFTER_SECONDS)


def prune(tx: Transaction, *, before: datetime, limit: int = 1_000) -> int:
    """Delete up to ``limit`` notices that were settled before that instant; how many there were."""
    return tx.change(_prune, before=before, limit=limit)


def _keep_message(tx: Transaction, notice: Notice, outcome: Outcome, now: datetime) -> None:
    place = (notice.organisation_id, notice.leave_request_id, notice.user_id)
    if outcome.gone is not None:
        slack_messages.forget(tx, *place, outcome.gone)
    if outcome.drawn is None:
        return
    slack_messages.remember(tx, *place, outcome.drawn.message, now=now)
    row = tx.first(
        _version, organisation_id=notice.organisation_id, request_id=notice.leave_request_id
    )
    is_outdated = row is not None and row.version != outcome.drawn.version
    # A requester hears of every change by a notice of its own.
    if notice.kind == "approval_card" and is_outdated and not _is_awaited(tx, notice):
        # The request changed while it was drawn: no live button may stay behind.
        tx.insert(
            NoticeRow,
            organisation_id=notice.organisation_id,
            id=new_id(now),
            kind=notice.kind,
            user_id=notice.user_id,
            leave_request_id=notice.leave_request_id,
            event_type="leave_request.updated",
            status="pending",
            attempts=0,
            due_at=now,
            created_at=now,
        )
        tx.notify(notification_outbox.NOTICES)


def _is_awaited(tx: Transaction, notice: Notice) -> bool:
    """Whether another notice will draw the card anyway."""
    found = tx.first(
        _other_pending,
        organisation_id=notice.organisation_id,
        user_id=notice.user_id,
        leave_request_id=notice.leave_request_id,
        kind=notice.kind,
        notice_id=notice.id,
    )
    return found is not None


@compiled
def _webhook(organisation_id: Param[str], webhook_id: Param[str | None]) -> Select:
    return WebhookRow.select(*rows.WEBHOOK, WebhookRow.failing_since_at).where(
        WebhookRow.organisation_id == organisation_id, WebhookRow.id == webhook_id
    )


@compiled
def _waiting(
    organisation_id: Param[str], user_id: Param[str], today: Param[str], limit: Param[int]
) -> Select:
    """What the person is reminded of, longest first; each row tells how many there are."""
    return (
        rows.with_names(
            ReminderRow.select(
                fn.COUNT(ReminderRow.user_id).over().alias("total"),
                UserRow.first_name,
                UserRow.last_name,
                LeaveTypeRow.name.alias("type_name"),
                LeaveRequestRow.start_date,
                LeaveRequestRow.end_date,
                LeaveRequestRow.start_half_day,
                LeaveRequestRow.end_half_day,
                LeaveRequestRow.total_half_days,
            ).join(
                LeaveRequestRow,
                on=(LeaveRequestRow.organisation_id == ReminderRow.organisation_id)
                & (LeaveRequestRow.id == ReminderRow.leave_request_id),
            )
        )
        .where(
            ReminderRow.organisation_id == organisation_id,
            ReminderRow.user_id == user_id,
            LeaveRequestRow.status == "pending",
            pending_approvals.awaits(organisation_id, user_id, today, for_each=True),
        )
        .order_by(ReminderRow.asked_at, ReminderRow.leave_request_id)
        .limit(limit)
    )


@compiled
def _version(organisation_id: Param[str], request_id: Param[str]) -> Select:
    return LeaveRequestRow.select(LeaveRequestRow.version).where(
        LeaveRequestRow.organisation_id == organisation_id, LeaveRequestRow.id == request_id
    )


@compiled
def _other_pending(
    organisation_id: Param[str],
    user_id: Param[str],
    leave_request_id: Param[str],
    kind: Param[str],
    notice_id: Param[str],
) -> Select:
    return NoticeRow.select(NoticeRow.id).where(
        NoticeRow.organisation_id == organisation_id,
        NoticeRow.user_id == user_id,
        NoticeRow.leave_request_id == leave_request_id,
        NoticeRow.kind == kind,
        NoticeRow.status == "pending",
        NoticeRow.event_type != notification_outbox.SETTLED,
        NoticeRow.id != notice_id,
    )


@compiled_per_engine
def _give_up(
    engine: Engine, organisation_id: Param[str], now: Param[datetime], error: Param[str]
) -> Update:
    waiting = NoticeRow.select(NoticeRow.id).where(
        NoticeRow.organisation_id == organisation_id, NoticeRow.status == "pending"
    )
    return NoticeRow.update(status="failed", settled_at=now, claim_id=None, last_error=error).where(
        NoticeRow.organisation_id == organisation_id,
        NoticeRow.status == "pending",
        NoticeRow.id.in_(skip_locked(waiting, engine)),
    )


@compiled
def _prune(before: Param[datetime], limit: Param[int]) -> Delete:
    old = (
        NoticeRow.select(NoticeRow.organisation_id, NoticeRow.id)
        .where(NoticeRow.settled_at < before)
        .limit(limit)
    )
    return NoticeRow.delete().where(Tuple(NoticeRow.organisation_id, NoticeRow.id).in_(old))
