"""Time in lieu as its approvers and the person who claimed it see it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from storage.base.allowance_values import Allowance
from storage.base.leave_values import TimeCredit
from storage.base.values import Caller, User, local_day
from storage.db.database import Transaction
from storage.db.tables import TimeCreditRow
from storage.leave import leave_balances, time_credit_lists, time_credits
from storage.notifications import time_credit_messages
from storage.notifications.notification_queue import Notification
from storage.notifications.slack_messages import PostedMessage
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approval_rule, approvers, people_rows
from storage.people.approvers import MAX_APPROVERS


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeCreditCard:
    """A time credit as one person may see it.

    ``expires_on`` is the last day on which its days can be taken. ``awaited_names`` are the
    approvers of a pending one, without the viewer; ``awaits_viewer``: whether the viewer is one of
    them. ``timezone`` is the viewer's.
    """

    credit: TimeCredit
    claimer: User
    viewer: User
    allowance: Allowance
    expires_on: date | None
    decided_by_name: str | None
    awaited_names: tuple[str, ...]
    awaits_viewer: bool
    may_decide: bool
    timezone: str

    @property
    def is_own(self) -> bool:
        return self.viewer.id == self.claimer.id


def get(tx: Transaction, credit_id: str, *, by: Caller, now: datetime) -> TimeCreditCard:
    """The credit as the caller sees it. Raises NotFound."""
    credit = time_credits.get(tx, credit_id, by=by, now=now)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    viewer_id = str(by.user_id)
    return _cards(tx, config, credit, viewer_ids=[viewer_id], now=now)[viewer_id]


def of_credits(
    tx: Transaction, config: OrganisationConfig, credits: Sequence[TimeCredit], viewer: User
) -> list[TimeCreditCard]:
    """Credits that the viewer claimed or decides on, as Home lists them: without approvers."""
    decider_ids = {credit.decided_by for credit in credits if credit.decided_by is not None}
    people = people_rows.of_ids(
        tx, config.organisation.id, {*decider_ids, *(credit.user_id for credit in credits)}
    )
    return [
        _card(config, credit, people, viewer, may_decide=credit.user_id != viewer.id)
        for credit in credits
    ]


def _card(
    config: OrganisationConfig,
    credit: TimeCredit,
    people: Mapping[str, User],
    viewer: User,
    *,
    may_decide: bool = False,
) -> TimeCreditCard:
    claimer = people[credit.user_id]
    decided_by = people.get(credit.decided_by or "")
    return TimeCreditCard(
        credit=credit,
        claimer=claimer,
        viewer=viewer,
        allowance=config.allowances[credit.allowance_id],
        expires_on=leave_balances.usable_until(config, claimer, credit),
        decided_by_name=None if decided_by is None else decided_by.name,
        awaited_names=(),
        awaits_viewer=False,
        may_decide=may_decide,
        timezone=viewer.timezone or config.organisation.timezone,
    )


def _cards(
    tx: Transaction,
    config: OrganisationConfig,
    credit: TimeCredit,
    *,
    viewer_ids: Collection[str],
    now: datetime,
) -> dict[str, TimeCreditCard]:
    """The credit for each of these people who exist."""
    organisation_id = config.organisation.id
    today = local_day(now, config.organisation.timezone)
    known = {*viewer_ids, credit.user_id, *filter(None, [credit.decided_by])}
    people = people_rows.of_ids(tx, organisation_id, known)
    awaited: list[User] = []
    if credit.status == "pending":
        awaited = approvers.of_person(tx, organisation_id, credit.user_id, today=today)
        awaited += time_credit_lists.escalated_to(tx, organisation_id, credit.id, awaited)
    shared = _card(config, credit, people, people[credit.user_id])
    awaited_ids = {approver.id for approver in awaited}
    return {
        viewer.id: replace(
            shared,
            viewer=viewer,
            timezone=viewer.timezone or config.organisation.timezone,
            awaited_names=tuple(each.name for each in awaited if each.id != viewer.id),
            awaits_viewer=viewer.id in awaited_ids,
            may_decide=_may_decide(tx, organisation_id, credit, viewer, awaited_ids, today=today),
        )
        for viewer in (people[user_id] for user_id in viewer_ids if user_id in people)
    }


def _may_decide(
    tx: Transaction,
    organisation_id: str,
    credit: TimeCredit,
    viewer: User,
    awaited_ids: Collection[str],
    *,
    today: date,
) -> bool:
    if (
        credit.status != "pending"
        or viewer.id == credit.user_id
        or not approval_rule.is_reachable(viewer)
    ):
        return False
    if viewer.id in awaited_ids or viewer.role in ("admin", "owner"):
        return True
    # Fewer than the most that are read are all approvers.
    return len(awaited_ids) >= MAX_APPROVERS and time_credit_lists.is_approver(
        tx, credit, organisation_id=organisation_id, user_id=viewer.id, today=today
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeCreditNotificationData:
    """``message`` is the one that the person has already; ``locale`` as Slack names it."""

    team_id: str | None
    recipient: User
    locale: str | None
    card: TimeCreditCard
    message: PostedMessage | None


def load(
    tx: Transaction, batch: Sequence[Notification], *, now: datetime
) -> dict[str, TimeCreditNotificationData]:
    """The data of notifications about one credit as it is now, by the notifications' ids."""
    organisation_id, credit_id = batch[0].organisation_id, batch[0].time_credit_id
    row = tx.find(TimeCreditRow, organisation_id=organisation_id, id=credit_id)
    if row is None:
        return {}
    config = organisation_config.of_organisation(tx, organisation_id)
    user_ids = {notification.user_id for notification in batch}
    credit = time_credit_lists.time_credit(row)
    cards = _cards(tx, config, credit, viewer_ids=user_ids, now=now)
    messages = time_credit_messages.of_credit(tx, organisation_id, credit.id)
    locales = people_rows.locales_of(tx, organisation_id, user_ids)
    return {
        notification.id: TimeCreditNotificationData(
            team_id=config.organisation.slack_team_id,
            recipient=cards[notification.user_id].viewer,
            locale=locales.get(notification.user_id),
            card=cards[notification.user_id],
            message=messages.get(notification.user_id),
        )
        for notification in batch
        if notification.user_id in cards
    }
