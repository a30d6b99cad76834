"""The queue of notices: whose turn it is, who claims what, and what a late worker may do."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import closing
from datetime import date, datetime, timedelta

import pytest

from storage.base.secrets import Secrets
from storage.base.values import LeaveRequest, User
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.events.organisation_config import of_organisation
from storage.leave import decisions, leave_requests
from storage.leave.drafts import Draft
from storage.notifications import notification_queue, notifications, slack_messages
from storage.notifications.notification_queue import Notification
from storage.notifications.notifications import Outcome, SentCard
from storage.notifications.slack_messages import PostedMessage
from storage.slack import slack_workspaces
from tests.builders import NOW, Acme, a_person, an_organisation, caller_for
from tests.refusals import in_threads

pytestmark = pytest.mark.both_engines

CARD = PostedMessage(channel="D1", ts="1.1")


class Asked:
    """An organisation in Slack whose Ada asks and whose Grace decides."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.acme: Acme = an_organisation(database)
        database.write_now(slack_workspaces.link_only_organisation, "T1", now=NOW)
        self.grace: User = a_person(database, self.acme, first_name="Grace", role="approver")
        self.ada: User = a_person(database, self.acme, manager_id=self.grace.id)
        known = database.read_now(of_organisation, self.acme.id)
        self.type_id = next(one.id for one in known.leave_types.values() if one.code == "annual")

    def ask(self, week: int = 0) -> LeaveRequest:
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
        """What is due about requests; refreshes of other cards have tests of their own."""
        found = self.database.write_now(
            notification_queue.claim, limit=limit, claim_id=claim_id, now=now
        )
        return [one for one in found if one.kind != "cover_changed"]

    def record_results(
        self, claimed: Sequence[Notification], outcome: Outcome, now: datetime = NOW
    ) -> None:
        done = [(notification, outcome) for notification in claimed]
        self.database.write_now(notifications.record_results, done, now=now)

    def card(self, request: LeaveRequest) -> PostedMessage | None:
        return self.database.read_now(slack_messages.find, self.acme.id, request.id, self.grace.id)


@pytest.fixture
def asked(database: Database) -> Asked:
    return Asked(database)


def test_requester_and_approver_are_notified_once(asked: Asked) -> None:
    asked.ask()

    first = asked.claim()

    assert {(one.kind, one.user_id) for one in first} == {
        ("approval_card", asked.grace.id),
        ("requester_notice", asked.ada.id),
    }
    assert asked.claim(claim_id="two") == []


def test_a_lease_that_ran_out_comes_due_again(asked: Asked) -> None:
    asked.ask()
    asked.claim()

    assert asked.claim(claim_id="two", now=NOW + timedelta(seconds=59)) == []
    assert len(asked.claim(claim_id="two", now=NOW + timedelta(seconds=60))) == 2


def test_of_one_request_a_person_is_shown_one_thing_after_the_other(asked: Asked) -> None:
    request = asked.ask()
    asked.edit(request, "one", NOW + timedelta(seconds=1))
    later = NOW + timedelta(seconds=2)

    first = asked.claim(now=later)
    meanwhile = asked.claim(claim_id="two", now=later)
    asked.record_results(first, Outcome(verdict="delivered"), later)
    second = asked.claim(claim_id="three", now=later)

    assert {one.event_type for one in first} == {"leave_request.created"}
    assert meanwhile == []
    assert {one.event_type for one in second} == {"leave_request.updated"}


def test_a_later_thing_waits_for_an_earlier_one_that_is_tried_again(asked: Asked) -> None:
    request = asked.ask()
    asked.record_results(asked.claim(), Outcome(verdict="retry", error="503"))
    asked.edit(request, "one", NOW + timedelta(seconds=1))

    assert asked.claim(claim_id="two", now=NOW + timedelta(seconds=4)) == []
    due = asked.claim(claim_id="two", now=NOW + timedelta(seconds=5))
    assert {(one.event_type, one.attempts) for one in due} == {("leave_request.created", 1)}


def test_a_late_worker_does_not_undo_what_another_recorded(asked: Asked) -> None:
    asked.ask()
    late = asked.claim()
    after = NOW + timedelta(seconds=60)
    asked.record_results(
        asked.claim(claim_id="two", now=after), Outcome(verdict="delivered"), after
    )

    asked.record_results(late, Outcome(verdict="retry", error="timeout"), after)

    assert asked.claim(claim_id="three", now=after + timedelta(days=1)) == []


def test_a_late_worker_ends_nothing_that_another_is_doing(asked: Asked) -> None:
    asked.ask()
    late = asked.claim()
    after = NOW + timedelta(seconds=60)
    current = asked.claim(claim_id="two", now=after)

    asked.record_results(late, Outcome(verdict="failed", error="timeout"), after)
    asked.record_results(current, Outcome(verdict="retry", error="503"), after)

    assert len(asked.claim(claim_id="three", now=after + timedelta(seconds=5))) == 2


def test_a_card_drawn_at_another_version_is_drawn_again(asked: Asked) -> None:
    request = asked.ask()
    (card,) = [one for one in asked.claim() if one.kind == "approval_card"]

    asked.record_results(
        [card],
        Outcome(verdict="delivered", sent_card=SentCard(message=CARD, version=request.version - 1)),
    )

    (again,) = asked.claim(claim_id="two")
    assert (again.kind, again.user_id) == ("approval_card", asked.grace.id)
    assert asked.card(request) == CARD


def test_a_card_drawn_as_it_is_needs_no_other(asked: Asked) -> None:
    request = asked.ask()
    (card,) = [one for one in asked.claim() if one.kind == "approval_card"]

    asked.record_results(
        [card],
        Outcome(verdict="delivered", sent_card=SentCard(message=CARD, version=request.version)),
    )

    assert asked.claim(claim_id="two") == []


def test_a_card_that_is_gone_is_forgotten(asked: Asked) -> None:
    request = asked.ask()
    (card,) = [one for one in asked.claim() if one.kind == "approval_card"]
    asked.record_results(
        [card],
        Outcome(verdict="delivered", sent_card=SentCard(message=CARD, version=request.version)),
    )

    asked.record_results(
        [card],
        Outcome(verdict="delivered", deleted_message=PostedMessage(channel="D1", ts="another")),
    )
    kept = asked.card(request)
    asked.record_results([card], Outcome(verdict="delivered", deleted_message=CARD))

    assert (kept, asked.card(request)) == (CARD, None)


def test_every_card_is_refreshed(asked: Asked) -> None:
    request = asked.ask()
    (card,) = [one for one in asked.claim() if one.kind == "approval_card"]
    asked.record_results(
        [card],
        Outcome(verdict="delivered", sent_card=SentCard(message=CARD, version=request.version)),
    )

    asked.database.write_now(decisions.approve, request.id, by=asked.acme.caller, now=NOW)

    assert [one.user_id for one in asked.claim(claim_id="two")] == [asked.grace.id]


def test_many_claim_at_once_and_nothing_is_taken_twice(asked: Asked) -> None:
    for week in range(10):
        asked.ask(week)
    taken: list[str] = []
    start = threading.Barrier(4)

    def work(number: int) -> None:
        start.wait(30)
        for turn in range(20):
            for notification in asked.claim(limit=2, claim_id=f"{number}-{turn}"):
                taken.append(notification.id)

    in_threads(4, work)

    assert len(taken) == len(set(taken)) == 20


def test_a_claim_never_waits_for_the_claim_of_another_process(postgres_url: str) -> None:
    with closing(open_database(postgres_url, Secrets.generate())) as database:
        asked = Asked(database)
        asked.ask()
        asked.ask(week=1)
        later: list[Notification] = []
        other = threading.Thread(target=lambda: later.extend(asked.claim(limit=1)))

        def claim_meanwhile(tx: Transaction) -> tuple[list[Notification], bool]:
            first = notification_queue.claim(tx, limit=1, claim_id="another", now=NOW)
            other.start()
            other.join(10)
            return first, other.is_alive()

        first, has_waited = database.write_now(claim_meanwhile)
        other.join()

    assert not has_waited
    assert len({notification.id for notification in first + later}) == 2


def test_settled_notices_are_pruned_and_others_kept(asked: Asked) -> None:
    asked.ask()
    asked.record_results(asked.claim(limit=1), Outcome(verdict="delivered"))

    def pruned(before: datetime) -> int:
        return asked.database.write_now(notifications.prune, before=before)

    assert [pruned(NOW), pruned(NOW + timedelta(seconds=1))] == [0, 1]
    assert pruned(NOW + timedelta(days=99)) == 0


def test_an_organisation_without_a_workspace_gets_no_notifications(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    known = database.read_now(of_organisation, acme.id)
    type_id = next(iter(known.leave_types))
    day = date(2026, 8, 3)

    database.write_now(
        leave_requests.submit,
        by=caller_for(acme, ada),
        draft=Draft(leave_type_id=type_id, start_date=day, end_date=day),
        now=NOW,
    )

    assert database.write_now(notification_queue.claim, limit=10, claim_id="one", now=NOW) == []
