"""The queue of notifications: order, claims, retries and the results of expired claims."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from contextlib import closing
from datetime import date, datetime, timedelta

import pytest

from storage.base.leave_values import LeaveRequest
from storage.base.retention import Retention
from storage.base.secrets import Secrets
from storage.base.values import User
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.tables import NotificationRow
from storage.leave import decisions, leave_requests
from storage.leave.drafts import Draft
from storage.notifications import notification_queue, slack_messages
from storage.notifications.notification_queue import Notification, Outcome, SentCard
from storage.notifications.slack_messages import PostedMessage
from storage.operations import pruning
from storage.workspaces import slack_workspaces
from tests.builders import NOW, Acme, a_person, an_organisation, caller_for, type_id
from tests.refusals import in_threads

pytestmark = pytest.mark.both_engines

CARD = PostedMessage(channel="D1", ts="1.1")


class Setting:
    """An organisation in Slack with Ada, who requests leave, and Grace, who decides."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.acme: Acme = an_organisation(database)
        database.write_now(slack_workspaces.link_only_organisation, "T1", now=NOW)
        self.grace: User = a_person(database, self.acme, first_name="Grace", role="approver")
        self.ada: User = a_person(database, self.acme, manager_id=self.grace.id)
        self.type_id = type_id(database, self.acme)

    def submit(self, week: int = 0) -> LeaveRequest:
        monday = date(2026, 8, 3) + timedelta(weeks=week)
        return self.database.write_now(
            leave_requests.submit,
            by=caller_for(self.acme, self.ada),
            draft=Draft(leave_type_id=self.type_id, start_date=monday, end_date=monday),
            now=NOW,
        )

    def edit(self, request: LeaveRequest, note: str, now: datetime = NOW) -> None:
        self.database.write_now(
            leave_requests.edit,
            request.id,
            {"note": note},
            by=caller_for(self.acme, self.ada),
            now=now,
        )

    def claim(
        self, *, limit: int = 100, claim_id: str = "one", now: datetime = NOW
    ) -> list[Notification]:
        """Claim due notifications of requests, without refreshes of other cards."""
        claims = self.database.write_now(
            notification_queue.claim, limit=limit, claim_id=claim_id, now=now
        )
        return [notification for notification in claims if notification.kind != "cover_changed"]

    def record_results(
        self, claimed: Sequence[Notification], outcome: Outcome, now: datetime = NOW
    ) -> None:
        results = [(notification, outcome) for notification in claimed]
        self.database.write_now(notification_queue.record_results, results, now=now)

    def claim_card(self) -> Notification:
        (card,) = [
            notification for notification in self.claim() if notification.kind == "approval_card"
        ]
        return card

    def card(self, request: LeaveRequest) -> PostedMessage | None:
        return self.database.read_now(slack_messages.find, self.acme.id, request.id, self.grace.id)


@pytest.fixture
def setting(database: Database) -> Setting:
    return Setting(database)


def test_requester_and_approver_are_notified_once(setting: Setting) -> None:
    setting.submit()

    first = setting.claim()

    assert {(notification.kind, notification.user_id) for notification in first} == {
        ("approval_card", setting.grace.id),
        ("requester_notice", setting.ada.id),
    }
    assert setting.claim(claim_id="two") == []


def test_a_persons_notifications_of_a_request_are_claimed_in_order(setting: Setting) -> None:
    request = setting.submit()
    setting.edit(request, "one", NOW + timedelta(seconds=1))
    later = NOW + timedelta(seconds=2)

    first = setting.claim(now=later)
    meanwhile = setting.claim(claim_id="two", now=later)
    setting.record_results(first, Outcome(verdict="delivered"), later)
    second = setting.claim(claim_id="three", now=later)

    assert {notification.event_type for notification in first} == {"leave_request.created"}
    assert meanwhile == []
    assert {notification.event_type for notification in second} == {"leave_request.updated"}


def test_a_notification_waits_for_the_retry_of_the_previous_one(setting: Setting) -> None:
    request = setting.submit()
    setting.record_results(setting.claim(), Outcome(verdict="retry", error="503"))
    setting.edit(request, "one", NOW + timedelta(seconds=1))

    assert setting.claim(claim_id="two", now=NOW + timedelta(seconds=4)) == []
    due = setting.claim(claim_id="two", now=NOW + timedelta(seconds=5))
    assert {(notification.event_type, notification.attempts) for notification in due} == {
        ("leave_request.created", 1)
    }


def test_kinds_of_a_newer_release_stay_queued_and_block_no_others(setting: Setting) -> None:
    request = setting.submit()
    own = {"organisation_id": setting.acme.id, "leave_request_id": request.id}

    def rename(tx: Transaction, kind: str, into: str) -> None:
        tx.update(NotificationRow, {"kind": into}, **own, kind=kind)

    setting.database.write_now(rename, "approval_card", "hologram")
    setting.edit(request, "one", NOW + timedelta(seconds=1))
    later = NOW + timedelta(seconds=2)

    first = setting.claim(now=later)
    setting.record_results(first, Outcome(verdict="delivered"), later)
    second = setting.claim(claim_id="two", now=later)
    setting.record_results(second, Outcome(verdict="delivered"), later)

    assert [(each.kind, each.event_type) for each in (*first, *second)] == [
        ("requester_notice", "leave_request.created"),
        ("approval_card", "leave_request.updated"),
        ("requester_notice", "leave_request.updated"),
    ]
    setting.database.write_now(rename, "hologram", "approval_card")
    assert setting.claim_card().event_type == "leave_request.created"


def test_an_expired_claim_does_not_overwrite_a_result(setting: Setting) -> None:
    setting.submit()
    late = setting.claim()
    after = NOW + timedelta(seconds=60)
    setting.record_results(
        setting.claim(claim_id="two", now=after), Outcome(verdict="delivered"), after
    )

    setting.record_results(late, Outcome(verdict="retry", error="timeout"), after)

    assert setting.claim(claim_id="three", now=after + timedelta(days=1)) == []


def test_a_card_of_an_older_version_is_sent_again(setting: Setting) -> None:
    request = setting.submit()
    card = setting.claim_card()

    setting.record_results(
        [card],
        Outcome(verdict="delivered", sent_card=SentCard(message=CARD, version=request.version - 1)),
    )

    (again,) = setting.claim(claim_id="two")
    assert (again.kind, again.user_id) == ("approval_card", setting.grace.id)
    assert setting.card(request) == CARD


def test_a_card_of_the_current_version_is_not_sent_again(setting: Setting) -> None:
    request = setting.submit()
    card = setting.claim_card()

    setting.record_results(
        [card],
        Outcome(verdict="delivered", sent_card=SentCard(message=CARD, version=request.version)),
    )

    assert setting.claim(claim_id="two") == []


def test_the_message_of_a_deleted_card_is_deleted(setting: Setting) -> None:
    request = setting.submit()
    card = setting.claim_card()
    setting.record_results(
        [card],
        Outcome(verdict="delivered", sent_card=SentCard(message=CARD, version=request.version)),
    )

    setting.record_results(
        [card],
        Outcome(verdict="delivered", deleted_message=PostedMessage(channel="D1", ts="another")),
    )
    after_another_message = setting.card(request)
    setting.record_results([card], Outcome(verdict="delivered", deleted_message=CARD))

    assert (after_another_message, setting.card(request)) == (CARD, None)


def test_every_card_is_refreshed(setting: Setting) -> None:
    request = setting.submit()
    card = setting.claim_card()
    setting.record_results(
        [card],
        Outcome(verdict="delivered", sent_card=SentCard(message=CARD, version=request.version)),
    )

    setting.acme.write(decisions.approve, request.id)

    assert [notification.user_id for notification in setting.claim(claim_id="two")] == [
        setting.grace.id
    ]


def test_concurrent_claims_never_share_a_notification(setting: Setting) -> None:
    for week in range(10):
        setting.submit(week)
    claimed_ids: list[str] = []
    start = threading.Barrier(4)

    def work(number: int) -> None:
        start.wait(30)
        for turn in range(20):
            for notification in setting.claim(limit=2, claim_id=f"{number}-{turn}"):
                claimed_ids.append(notification.id)

    in_threads(4, work)

    assert len(claimed_ids) == len(set(claimed_ids)) == 20


def test_a_claim_never_waits_for_the_claim_of_another_process(postgres_url: str) -> None:
    with closing(open_database(postgres_url, Secrets.generate())) as database:
        setting = Setting(database)
        setting.submit()
        setting.submit(week=1)
        later: list[Notification] = []
        other = threading.Thread(target=lambda: later.extend(setting.claim(limit=1)))

        def claim_meanwhile(tx: Transaction) -> tuple[list[Notification], bool]:
            first = notification_queue.claim(tx, limit=1, claim_id="another", now=NOW)
            other.start()
            other.join(10)
            return first, other.is_alive()

        first, has_waited = database.write_now(claim_meanwhile)
        other.join()

    assert not has_waited
    assert len({notification.id for notification in first + later}) == 2


def test_only_notifications_that_ended_are_pruned(setting: Setting) -> None:
    setting.submit()
    setting.record_results(setting.claim(limit=1), Outcome(verdict="delivered"))

    def pruned(now: datetime) -> int:
        return setting.database.write_now(notification_queue.prune, days=30, now=now, limit=10)

    later = NOW + timedelta(days=30)
    assert [pruned(later), pruned(later + timedelta(seconds=1))] == [0, 1]
    assert pruned(later + timedelta(days=99)) == 0


def test_notifications_are_pruned_earlier_where_the_operator_chose_so(setting: Setting) -> None:
    setting.submit()
    setting.record_results(setting.claim(limit=1), Outcome(verdict="delivered"))
    later = NOW + timedelta(days=8)

    def left_after(kept: Retention) -> int:
        asyncio.run(pruning.prune(setting.database, now=later, retention=kept))
        return setting.database.dry_run_now(notification_queue.prune, days=7, now=later, limit=10)

    assert left_after(Retention()) == 1
    assert left_after(Retention(notification_days=7)) == 0


def test_an_organisation_without_a_workspace_gets_no_notifications(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    day = date(2026, 8, 3)

    database.write_now(
        leave_requests.submit,
        by=caller_for(acme, ada),
        draft=Draft(leave_type_id=type_id(database, acme), start_date=day, end_date=day),
        now=NOW,
    )

    assert database.write_now(notification_queue.claim, limit=10, claim_id="one", now=NOW) == []
