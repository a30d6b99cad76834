"""The data of notifications, read when they are sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from storage.admin import recalculation
from storage.admin.recalculation import TotalChange
from storage.base.event_values import Webhook
from storage.base.leave_values import LeaveRequest, TypeName
from storage.base.values import Organisation, User, local_day
from storage.db import rows
from storage.db.database import Transaction
from storage.db.tables import (
    ClosureRow,
    LeaveRequestRow,
    SlackStatusRow,
    WebhookRow,
)
from storage.leave import decision_inbox, form_defaults, leave_balances, ledgers
from storage.leave.decision_inbox import Inbox
from storage.leave.leave_balances import YearBalance
from storage.leave.ledgers import Balance
from storage.notifications import (
    approval_cards,
    digests,
    expiry_notices,
    notification_queue,
    slack_messages,
)
from storage.notifications.approval_cards import ApprovalCard
from storage.notifications.digests import DigestKey
from storage.notifications.expiry_notices import ShownNotice
from storage.notifications.notification_queue import Notification
from storage.notifications.slack_messages import PostedMessage
from storage.outbox import audit, organisation_config
from storage.people import approval_rule, approvers, people_rows


@dataclass(frozen=True, kw_only=True, slots=True)
class NotificationData:
    """``message`` is the one that shows the person's card already.

    ``total_change`` is set where recalculation changed the days of the person's leave. ``locale``
    is the recipient's, as Slack names it. ``is_superseded``: a later notification renders the same
    card.
    """

    team_id: str | None
    recipient: User
    locale: str | None
    card: ApprovalCard
    message: PostedMessage | None
    total_change: TotalChange | None = None
    is_superseded: bool = False


def load_leave(
    tx: Transaction, batch: Sequence[Notification], *, now: datetime
) -> dict[str, NotificationData]:
    """The data of notifications about one request as it is now, by the notifications' ids.

    Those whose request or recipient no longer exists are absent.
    """
    organisation_id, request_id = batch[0].organisation_id, batch[0].leave_request_id
    user_ids = {notification.user_id for notification in batch}
    config = organisation_config.of_organisation(tx, organisation_id)
    cards = approval_cards.cards(tx, config, request_id, viewer_ids=user_ids, now=now)
    if not cards:
        return {}
    messages = slack_messages.of_request(tx, organisation_id, request_id)
    locales = people_rows.locales_of(tx, organisation_id, user_ids)
    return {
        notification.id: NotificationData(
            team_id=config.organisation.slack_team_id,
            recipient=cards[notification.user_id].viewer,
            locale=locales.get(notification.user_id),
            card=cards[notification.user_id],
            message=messages.get(notification.user_id),
            total_change=recalculation.total_change_at(
                tx,
                config,
                cards[notification.user_id].requester,
                request_id,
                at=notification.created_at,
            )
            if (notification.kind, notification.event_type)
            == ("requester_notice", "leave_request.recounted")
            else None,
            is_superseded=notification.is_refresh
            and notification_queue.has_another_pending(tx, notification),
        )
        for notification in batch
        if notification.user_id in cards
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookNotificationData:
    """A webhook that was disabled, or that fails since ``failing_since``."""

    team_id: str | None
    recipient: User
    locale: str | None
    webhook: Webhook
    failing_since: datetime | None
    timezone: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DigestNotificationData:
    """The channel that Slack refuses for the digest; ``because`` is Slack's error code."""

    team_id: str | None
    recipient: User
    locale: str | None
    channel: str
    because: str


def load_webhook(tx: Transaction, notification: Notification) -> WebhookNotificationData | None:
    """None if the webhook has recovered or was deleted, or the recipient is no admin now."""
    recipient = people_rows.find(tx, notification.organisation_id, notification.user_id)
    row = None
    if notification.webhook_id is not None:
        key = {"organisation_id": notification.organisation_id, "id": notification.webhook_id}
        row = tx.find(WebhookRow, **key)
    if row is None or recipient is None or recipient.status != "active":
        return None
    webhook = rows.webhook(row)
    is_news = not webhook.is_active
    if notification.kind == "webhook_failing":
        is_news = webhook.is_active and row.failing_since_at is not None
    if not is_news or recipient.role not in ("admin", "owner"):
        return None
    organisation = organisation_config.of_organisation(
        tx, notification.organisation_id
    ).organisation
    return WebhookNotificationData(
        team_id=organisation.slack_team_id,
        recipient=recipient,
        locale=people_rows.locale_of(tx, notification.organisation_id, recipient.id),
        webhook=webhook,
        failing_since=rows.instant_or_none(row.failing_since_at) if webhook.is_active else None,
        timezone=recipient.timezone or organisation.timezone,
    )


def load_digest(tx: Transaction, notification: Notification) -> DigestNotificationData | None:
    """None if the channel has changed, or the recipient is no admin now."""
    recipient = people_rows.find(tx, notification.organisation_id, notification.user_id)
    key = DigestKey(organisation_id=notification.organisation_id, digest_id=notification.digest_id)
    refusal = digests.refusal(tx, key)
    if refusal is None or recipient is None or recipient.status != "active":
        return None
    if recipient.role not in ("admin", "owner"):
        return None
    team_id = organisation_config.of_organisation(
        tx, notification.organisation_id
    ).organisation.slack_team_id
    locale = people_rows.locale_of(tx, notification.organisation_id, recipient.id)
    channel, because = refusal
    return DigestNotificationData(
        team_id=team_id, recipient=recipient, locale=locale, channel=channel, because=because
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ClosureNotificationData:
    """A person's leave of a closure, by first day, and what it was before, in half-days.

    ``name`` is the closure's, None if it is not known any more. ``balances`` are those after the
    leave, of each leave year that it is in.
    """

    team_id: str | None
    recipient: User
    locale: str | None
    name: str | None
    leave: tuple[LeaveRequest, ...]
    leave_types: tuple[TypeName, ...]
    half_days_before: int
    balances: tuple[YearBalance, ...]

    @property
    def half_days(self) -> int:
        return sum(request.total_half_days for request in self.leave)


def load_closure(tx: Transaction, notification: Notification) -> ClosureNotificationData | None:
    """None if the person has left, or never heard of leave that was taken back meanwhile."""
    organisation_id, closure_id = notification.organisation_id, str(notification.closure_id)
    recipient = people_rows.find(tx, organisation_id, notification.user_id)
    before = notification.half_days_before or 0
    found = tx.select(
        LeaveRequestRow,
        organisation_id=organisation_id,
        user_id=notification.user_id,
        closure_id=closure_id,
        status="approved",
    )
    leave = sorted(map(rows.leave_request, found), key=lambda request: request.start_date)
    if recipient is None or recipient.status in ("archived", "deactivated"):
        return None
    if not leave and not before:
        return None
    config = organisation_config.of_organisation(tx, organisation_id)
    around = leave_balances.around_requests(tx, config, leave, {recipient.id: recipient})
    balances = {
        (balance.allowance_name, balance.year_name): balance
        for balances in around.values()
        for balance in balances
    }
    types = dict.fromkeys(config.leave_types[request.leave_type_id].type_name for request in leave)
    return ClosureNotificationData(
        team_id=config.organisation.slack_team_id,
        recipient=recipient,
        locale=people_rows.locale_of(tx, organisation_id, recipient.id),
        name=_closure_name(tx, organisation_id, closure_id),
        leave=tuple(leave),
        leave_types=tuple(types),
        half_days_before=before,
        balances=tuple(balances.values()),
    )


def _closure_name(tx: Transaction, organisation_id: str, closure_id: str) -> str | None:
    """The closure's name; of a deleted one from the audit trail."""
    row = tx.find(ClosureRow, organisation_id=organisation_id, id=closure_id)
    if row is not None:
        return str(row.name)
    deleted_at = audit.last_at(tx, organisation_id, "closure.deleted", closure_id)
    if deleted_at is None:
        return None
    changes = audit.changes_at(tx, organisation_id, "closure.deleted", closure_id, deleted_at)
    return None if changes is None else str(changes["name"]["before"])


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryNotificationData:
    """What waits for the person, in one message."""

    team_id: str | None
    recipient: User
    locale: str | None
    inbox: Inbox


def load_summary(
    tx: Transaction, notification: Notification, *, now: datetime
) -> SummaryNotificationData | None:
    """None if nothing waits for the person any more, or without a recipient."""
    organisation_id = notification.organisation_id
    recipient = people_rows.find(tx, organisation_id, notification.user_id)
    if recipient is None or not approval_rule.is_reachable(recipient):
        return None
    inbox = decision_inbox.load(tx, recipient, organisation_id=organisation_id, now=now)
    if inbox.is_empty:
        return None
    organisation = organisation_config.of_organisation(tx, organisation_id).organisation
    return SummaryNotificationData(
        team_id=organisation.slack_team_id,
        recipient=recipient,
        locale=people_rows.locale_of(tx, organisation_id, recipient.id),
        inbox=inbox,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Welcome:
    """``recipient`` is told how to set the organisation up if they are an admin or owner.

    ``balance`` is theirs of today's leave year; ``approver_names`` decide on their leave.
    ``may_report_sick``: whether there is a type for sick leave that needs no approval.
    """

    recipient: User
    organisation: Organisation
    locale: str | None
    balance: Balance
    approver_names: tuple[str, ...]
    may_report_sick: bool

    @property
    def team_id(self) -> str | None:
        return self.organisation.slack_team_id


def load_welcome(tx: Transaction, notification: Notification, *, now: datetime) -> Welcome | None:
    """None if the person is no longer active."""
    organisation_id = notification.organisation_id
    recipient = people_rows.find(tx, organisation_id, notification.user_id)
    if recipient is None or recipient.status != "active":
        return None
    config = organisation_config.of_organisation(tx, organisation_id)
    today = local_day(now, config.organisation.timezone)
    decide = approvers.of_person(tx, organisation_id, recipient.id, today=today)
    return Welcome(
        recipient=recipient,
        organisation=config.organisation,
        locale=people_rows.locale_of(tx, organisation_id, recipient.id),
        balance=ledgers.from_today(tx, config, recipient, now=now)[0],
        approver_names=tuple(user.name for user in decide),
        may_report_sick=form_defaults.sick_type(config.leave_types.values()) is not None,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class BalanceQuestion:
    """``user`` says that their balance of the default allowance is not right."""

    recipient: User
    user: User
    balance: Balance
    locale: str | None
    team_id: str | None


def load_balance_question(
    tx: Transaction, notification: Notification, *, now: datetime
) -> BalanceQuestion | None:
    """None if one of the two is no longer active."""
    organisation_id = notification.organisation_id
    ids = {notification.user_id, str(notification.about_user_id)}
    people = people_rows.of_ids(tx, organisation_id, ids)
    if any(user.status != "active" for user in people.values()) or len(people) < len(ids):
        return None
    recipient = people[notification.user_id]
    user = people[str(notification.about_user_id)]
    config = organisation_config.of_organisation(tx, organisation_id)
    return BalanceQuestion(
        recipient=recipient,
        user=user,
        balance=ledgers.from_today(tx, config, user, now=now)[0],
        locale=people_rows.locale_of(tx, organisation_id, recipient.id),
        team_id=config.organisation.slack_team_id,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusEndedData:
    """``recipient`` is told that their Slack status no longer shows their leave."""

    team_id: str | None
    recipient: User
    locale: str | None


def load_status_ended(tx: Transaction, notification: Notification) -> StatusEndedData | None:
    """None if the person is no longer active, or has connected their status again."""
    organisation_id, user_id = notification.organisation_id, notification.user_id
    recipient = people_rows.find(tx, organisation_id, user_id)
    if recipient is None or recipient.status != "active":
        return None
    if tx.find(SlackStatusRow, organisation_id=organisation_id, user_id=user_id) is not None:
        return None
    config = organisation_config.of_organisation(tx, organisation_id)
    return StatusEndedData(
        team_id=config.organisation.slack_team_id,
        recipient=recipient,
        locale=people_rows.locale_of(tx, organisation_id, user_id),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpiryNoticeData:
    """``recipient`` is told what they have, or of days that lapse."""

    team_id: str | None
    recipient: User
    locale: str | None
    shown: ShownNotice


def load_expiry_notice(tx: Transaction, notification: Notification) -> ExpiryNoticeData | None:
    """None if the person was deactivated or archived meanwhile."""
    organisation_id, user_id = notification.organisation_id, notification.user_id
    recipient = people_rows.find(tx, organisation_id, user_id)
    shown = expiry_notices.find(tx, organisation_id, str(notification.expiry_notice_id))
    if recipient is None or shown is None or not approval_rule.is_reachable(recipient):
        return None
    config = organisation_config.of_organisation(tx, organisation_id)
    return ExpiryNoticeData(
        team_id=config.organisation.slack_team_id,
        recipient=recipient,
        locale=people_rows.locale_of(tx, organisation_id, user_id),
        shown=shown,
    )
