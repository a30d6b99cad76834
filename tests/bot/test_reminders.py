"""Approvers are reminded once, in their own working time, of requests that are still pending."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from bot.base import ids
from storage.admin import people
from storage.base.errors import NotFound
from storage.db.database import Database
from storage.leave import decisions, leave_requests
from storage.notifications import reminder_checks, reminders
from tests import outside
from tests.bot.world import ADA, EVE, GRACE, HEDY, World, to_decide
from tests.builders import a_person, a_request, an_organisation
from tests.damage import DAMAGES, damaged
from tests.refusals import at_once, overlapping

# ``World`` begins on Monday 1 June 2026, 10:00 in London; work begins at 08:00 UTC.
TUESDAY = datetime(2026, 6, 2, 8, tzinfo=UTC)
STILL = "Still waiting for your decision: Ada Lovelace requested Annual leave, "


def run_jobs(world: World, at: datetime) -> None:
    """Run due jobs at this time, and send the notifications that they queue."""
    world.clock.now = at
    world.run(world.app.reminders.run)
    world.deliver()


def reminded(world: World, who: str) -> int:
    """How many reminders the person got; each replaces the one before it."""
    (channel,) = {message.channel for message in world.slack.dm(who)} or {""}
    return sum(
        call.status == 200 and call.arguments["text"].startswith("Still waiting")
        for call in world.slack.calls("chat.postMessage")
        if channel == call.arguments["channel"]
    )


def test_reminders_follow_after_one_three_and_five_working_days(
    world: World,
) -> None:
    world.a_request()
    reminded_at: list[datetime] = []

    for hour in range(24 * 14):
        run_jobs(world, TUESDAY - timedelta(hours=20) + timedelta(hours=hour))
        if reminded(world, GRACE) > len(reminded_at):
            reminded_at.append(world.clock.now)

    assert reminded_at == [TUESDAY, TUESDAY + timedelta(days=2), TUESDAY + timedelta(days=6)]
    assert reminded(world, HEDY) == 3
    assert reminded(world, ADA) == 0


def test_a_reminder_replies_to_the_card_with_the_pending_request(world: World) -> None:
    world.a_request()
    card = world.card(GRACE)

    run_jobs(world, TUESDAY)
    run_jobs(world, TUESDAY + timedelta(minutes=1))

    (reminder,) = [
        message for message in world.slack.dm(GRACE) if message.text.startswith("Still waiting")
    ]
    assert (reminder.thread_ts, reminder.reply_broadcast) == (card.ts, True)
    assert reminder.text == (STILL + "Mon 3 to Wed 5 Aug 2026, 3 days. Ada Lovelace is back Thu 6.")
    _, *shown = world.card(GRACE).visible_text.splitlines()
    assert reminder.visible_text.splitlines() == ["⏳ *Still waiting for your decision*", *shown]


@pytest.mark.both_engines
def test_a_reminder_decides_and_shows_the_decision_as_the_card_does(world: World) -> None:
    world.a_request()
    run_jobs(world, TUESDAY)
    (grace_reminder,) = world.replies(world.card(GRACE))
    assert to_decide(grace_reminder) == ["Approve", "Decline"]

    world.press(GRACE, ids.APPROVE, grace_reminder)

    assert world.request().status == "approved"
    for who, by in ((GRACE, "you"), (HEDY, "Grace Hopper")):
        (reply,) = world.replies(world.card(who))
        assert reply.visible_text == f"✅ *Approved by {by}, 2 Jun 2026, 09:00*"
        assert "Annual leave: Mon 3 to Wed 5 Aug 2026, 3 days" in reply.text
        assert to_decide(world.card(who)) == []
        assert reply.visible_text in world.card(who).visible_text


def test_a_reminder_takes_the_place_of_the_one_before(world: World) -> None:
    world.a_request()
    run_jobs(world, TUESDAY)
    (first,) = world.replies(world.card(GRACE))

    run_jobs(world, TUESDAY + timedelta(days=2))
    (second,) = world.replies(world.card(GRACE))
    assert (reminded(world, GRACE), second.ts == first.ts) == (2, False)
    assert to_decide(second) == ["Approve", "Decline"]

    world.delete(second)
    run_jobs(world, TUESDAY + timedelta(days=6))
    assert (reminded(world, GRACE), len(world.replies(world.card(GRACE)))) == (3, 1)


def test_decided_and_cancelled_requests_send_no_reminders(world: World) -> None:
    request = world.a_request()
    world.press(GRACE, ids.APPROVE)
    run_jobs(world, TUESDAY)
    other = world.a_request(start_date="2026-09-07", end_date="2026-09-08")
    world.change(leave_requests.cancel, other.id, by=ADA)

    run_jobs(world, TUESDAY + timedelta(days=1))

    assert request.id != other.id
    assert [reminded(world, who) for who in (GRACE, HEDY)] == [0, 0]


def test_a_queued_reminder_of_a_decided_request_is_not_sent(world: World) -> None:
    request = world.a_request()
    world.clock.now = TUESDAY
    world.run(world.app.reminders.run)
    world.write(decisions.approve, request.id)

    world.deliver()

    assert [reminded(world, who) for who in (GRACE, HEDY)] == [0, 0]


@pytest.mark.both_engines
def test_approvers_are_reminded_in_their_time_zone_and_on_their_working_days(world: World) -> None:
    # Grace is in Los Angeles, where it is still night; Hedy has Tuesdays off.
    changes: dict[str, dict[str, Any]] = {
        GRACE: {"timezone": "America/Los_Angeles"},
        HEDY: {"working_days": ["wednesday"]},
    }
    for who, change in changes.items():
        world.write(people.update, world.people[who].id, change)
    world.a_request()

    counts = []
    for at in (TUESDAY, TUESDAY + timedelta(hours=8), TUESDAY + timedelta(days=1)):
        run_jobs(world, at)
        counts.append((reminded(world, GRACE), reminded(world, HEDY)))

    assert counts == [(0, 0), (1, 0), (1, 1)]


def test_an_approver_on_leave_is_not_reminded(world: World) -> None:
    world.a_request()
    a_request(
        world.database,
        world.acme,
        world.people[GRACE],
        code="sick",
        start_date=TUESDAY.date(),
        now=world.clock(),
    )

    run_jobs(world, TUESDAY)
    during = (reminded(world, GRACE), reminded(world, HEDY))
    run_jobs(world, TUESDAY + timedelta(days=1))

    assert during == (0, 1)
    assert reminded(world, GRACE) == 1


def test_an_approver_of_more_than_five_requests_gets_one_summary_a_working_day(
    world: World,
) -> None:
    world.link()
    for week in range(7):
        day = world.clock().date() + timedelta(days=63 + 7 * week)
        world.submit_over_rest(start_date=day, end_date=day)
    world.deliver()

    for hour in range(24 * 7):
        run_jobs(world, TUESDAY + timedelta(hours=hour))

    summaries = [
        message for message in world.slack.dm(GRACE) if "waiting for your decision:" in message.text
    ]
    assert reminded(world, GRACE) == 0
    # Tuesday to Friday, and Monday.
    assert len(summaries) == 5
    assert summaries[0].text.startswith(
        "7 requests are waiting for your decision:\n"
        "• Ada Lovelace: Annual leave, Mon 3 Aug 2026, 1 day\n"
    )


def test_a_summary_omits_requests_that_await_other_approvers(world: World) -> None:
    world.link()
    alan = a_person(
        world.database,
        world.acme,
        first_name="Alan",
        department_id=world.people[ADA].department_id,
    )
    world.people["UALAN"] = alan
    for week in range(7):
        day = world.clock().date() + timedelta(days=63 + 7 * week)
        world.submit_over_rest("UALAN" if week == 0 else ADA, start_date=day, end_date=day)
    world.deliver()
    manager = {"manager_id": world.people[EVE].id}
    world.write(people.update, alan.id, manager)

    run_jobs(world, TUESDAY)

    (summary,) = [
        message for message in world.slack.dm(GRACE) if "waiting for your decision:" in message.text
    ]
    assert summary.text.startswith("6 requests are waiting for your decision:")
    assert "Alan" not in summary.text


def test_a_reminder_that_slack_refuses_temporarily_is_retried(world: World) -> None:
    world.a_request()
    world.slack.fail_next("chat.postMessage", times=2, error="ratelimited", retry_after=9)

    run_jobs(world, TUESDAY)
    first = reminded(world, GRACE)
    run_jobs(world, TUESDAY + timedelta(seconds=10))

    assert (first, reminded(world, GRACE)) == (0, 1)


@pytest.mark.both_engines
def test_two_processes_send_one_reminder(world: World) -> None:
    world.a_request()
    world.clock.now = TUESDAY

    def load() -> None:
        world.database.write_now(reminder_checks.run, world.acme.id, now=TUESDAY)

    assert at_once(*[load] * 4) == []
    world.deliver()

    assert [reminded(world, who) for who in (GRACE, HEDY)] == [1, 1]


@pytest.mark.both_engines
def test_no_organisation_is_due_without_reminders(database: Database) -> None:
    assert database.write_now(reminders.due_organisations, now=TUESDAY) == []


def test_an_unanswered_request_escalates_to_the_next_level(
    world: World,
) -> None:
    world.slack.add_person("UOWNER", world.acme.owner.email, "Olive Owner", tz="Europe/London")
    request = world.a_request()

    for day in range(7):
        run_jobs(world, TUESDAY + timedelta(days=day))
    before = world.cards("UOWNER")
    run_jobs(world, TUESDAY + timedelta(days=7))
    run_jobs(world, TUESDAY + timedelta(days=7, minutes=1))

    (card,) = world.cards("UOWNER")
    assert before == []
    assert "Waiting for you, Grace Hopper and Hedy Lamarr" in card.visible_text
    assert "Olive Owner" in world.cards(GRACE)[0].visible_text
    assert reminded(world, GRACE) == 3
    assert world.audited("leave_request.next_step_asked") == 1
    world.click("UOWNER", ids.APPROVE, card)
    assert world.request().status == "approved"
    assert request.status == "pending"


@pytest.mark.both_engines
def test_two_processes_escalate_once(world: World) -> None:
    world.a_request()
    last = TUESDAY + timedelta(days=7)

    overlapping(
        world.database,
        # The first claims Grace's row, the second Hedy's.
        lambda tx: reminder_checks.run(tx, world.acme.id, now=last, limit=1),
        lambda: world.database.write_now(reminder_checks.run, world.acme.id, now=last, limit=1),
    )

    assert world.audited("leave_request.next_step_asked") == 1


def test_a_request_decided_meanwhile_is_not_escalated(world: World) -> None:
    request = world.a_request()
    last = TUESDAY + timedelta(days=7)

    overlapping(
        world.database,
        lambda tx: decisions.approve(tx, request.id, by=world.acme.caller, now=last),
        lambda: world.database.write_now(reminder_checks.run, world.acme.id, now=last),
    )

    assert world.audited("leave_request.next_step_asked") == 0


def test_an_approver_who_got_the_card_meanwhile_gets_no_escalation(world: World) -> None:
    request = world.a_request()
    owner = world.acme.owner.id

    overlapping(
        world.database,
        lambda tx: reminders.start(tx, world.acme.id, request.id, owner, now=TUESDAY),
        lambda: world.database.write_now(
            reminder_checks.run, world.acme.id, now=TUESDAY + timedelta(days=7)
        ),
    )

    assert world.audited("leave_request.next_step_asked") == 0


def test_the_escalation_reaches_the_next_level_and_only_for_that_request(world: World) -> None:
    people_update = {"manager_id": world.people[EVE].id}
    world.write(people.update, world.people[ADA].id, people_update)
    request = world.a_request()
    assert [len(world.cards(who)) for who in (EVE, GRACE, HEDY)] == [1, 0, 0]

    for day in range(8):
        run_jobs(world, TUESDAY + timedelta(days=day))
    other = world.submit_over_rest(start_date=date(2026, 9, 7), end_date=date(2026, 9, 7))
    world.deliver()

    assert [len(world.cards(who)) for who in (EVE, GRACE, HEDY)] == [2, 1, 1]
    world.home(GRACE)
    waiting = [
        button for button in world.slack.home(GRACE).buttons if button.action_id == ids.HOME_APPROVE
    ]
    assert [button.value for button in waiting] == [request.id]
    world.click(GRACE, ids.APPROVE, world.cards(GRACE)[0])
    assert world.ephemerals(GRACE) == []
    with pytest.raises(NotFound):
        world.write(decisions.approve, other.id, by=GRACE)
    assert request.id != other.id


@pytest.mark.both_engines
@pytest.mark.parametrize("damage", DAMAGES)
def test_an_organisation_with_a_bad_row_does_not_delay_others_reminders(
    world: World, database_url: str, damage: str
) -> None:
    world.a_request()
    bad = an_organisation(world.database, now=world.clock())
    request = a_request(world.database, bad, a_person(world.database, bad))
    # Due before all others.
    world.database.write_now(
        reminders.start, bad.id, request.id, bad.owner.id, now=TUESDAY - timedelta(days=5)
    )
    damaged(database_url, bad, damage)

    run_jobs(world, TUESDAY)

    assert [reminded(world, who) for who in (GRACE, HEDY)] == [1, 1]
    assert world.database.read_now(reminders.due_organisations, now=TUESDAY) == []
    later = TUESDAY + reminders.BACK_OFF
    assert bad.id in world.database.read_now(reminders.due_organisations, now=later)


@pytest.mark.both_engines
def test_a_notification_of_an_organisation_with_a_bad_row_does_not_delay_others(
    world: World, database_url: str
) -> None:
    bad = an_organisation(world.database, now=world.clock())
    damaged(database_url, bad, "timezone = 'Europe/London'")
    a_request(world.database, bad, a_person(world.database, bad), now=world.clock())
    damaged(database_url, bad, "working_days = '{'")
    a_request(world.database, world.acme, world.people[ADA], now=world.clock())

    world.deliver()

    assert len(world.cards(GRACE)) == 1
    # A refresh of cards is due later: it was not attempted yet.
    waiting = (
        "SELECT DISTINCT status, last_error FROM notices WHERE kind <> 'cover_changed' "
        f"AND organisation_id = '{bad.id}'"
    )
    assert outside.rows(database_url, waiting) == [("pending", "JSONDecodeError")]
