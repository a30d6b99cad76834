"""People are told of days that lapse, once, and say that they saw it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from bot.base import ids
from bot.messages.expiry_notices import ExpiryNotices
from storage.admin import organisation_settings, people, people_status
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import NotificationRow
from storage.leave import leave_requests
from storage.leave.drafts import Draft
from storage.notifications import expiry_notices
from storage.outbox import audit
from storage.people import people_changes
from tests.bot.world import ADA, EVE, GRACE, World
from tests.builders import a_person
from tests.fakes.slack import LoopbackSlack, Message

MONDAY = datetime(2027, 1, 4, 9, 30, tzinfo=UTC)
OCTOBER = datetime(2027, 10, 1, 9, 30, tzinfo=UTC)


@pytest.fixture
def world(database: Database, slack: LoopbackSlack) -> Any:
    with World(database, slack, carry_over_half_days=10, carry_over_expiry_month=3) as running:
        running.link()
        yield running


def run_at(world: World, now: datetime) -> None:
    """The periodic job at that time, with all that it sends."""
    world.clock.now = now
    world.run(world.app.expiry.run)
    world.deliver()


def texts(world: World, who: str) -> list[str]:
    """The person's notices of days that lapse."""
    return [each.text for each in world.slack.dm(who) if "Your employer asks" in each.text]


def button_texts(message: Message) -> list[str]:
    return [button.text for button in message.buttons]


def book(world: World, who: str, first_day: date, last_day: date) -> None:
    draft = Draft(leave_type_id=world.leave_type("annual"), start_date=first_day, end_date=last_day)
    world.write(leave_requests.create, draft=draft, user_id=world.people[who].id)


def test_a_leave_year_begins_with_what_each_person_has_on_their_first_working_day(
    world: World,
) -> None:
    run_at(world, datetime(2027, 1, 1, 9, 30, tzinfo=UTC))
    run_at(world, datetime(2027, 1, 2, 9, 30, tzinfo=UTC))
    assert texts(world, ADA) == []

    run_at(world, MONDAY)

    for who in (ADA, GRACE, EVE):
        assert texts(world, who) == [
            "You have 30 days in 2027: 25 of this year and 5 carried over from 2026.\n"
            "Take the carried 5 by Wed 31 Mar 2027; they lapse after that. "
            "Take your leave by Fri 31 Dec 2027: up to 5 days can be carried over into 2028, "
            "the rest lapses.\n"
            "Your employer asks you to take your leave in time, so that none of it lapses."
        ]
    assert world.audited("expiry_notice.sent") == 4
    run_at(world, datetime(2027, 1, 5, 9, 30, tzinfo=UTC))
    assert len(texts(world, ADA)) == 1


def test_one_day_lapses_of_six_left_if_five_can_be_carried_over(world: World) -> None:
    run_at(world, MONDAY)
    book(world, ADA, date(2027, 2, 1), date(2027, 2, 5))
    book(world, ADA, date(2027, 6, 1), date(2027, 6, 25))
    run_at(world, datetime(2027, 9, 30, 9, 30, tzinfo=UTC))
    before = len(texts(world, ADA))

    run_at(world, OCTOBER)

    assert before == 1
    assert texts(world, ADA)[1:] == [
        "1 day lapses on Fri 31 Dec 2027.\n"
        "You have 6 days left in 2027, and up to 5 days can be carried over. Your employer asks "
        "you to take this leave in time. What you've booked is counted already."
    ]
    book(world, ADA, date(2027, 12, 20), date(2027, 12, 20))
    run_at(world, datetime(2027, 12, 1, 9, 30, tzinfo=UTC))
    assert len(texts(world, ADA)) == 2
    # Who still has all of them hears it again.
    assert texts(world, EVE)[-1].startswith("20 days lapse on Fri 31 Dec 2027.")


def test_people_whom_a_run_leaves_are_told_by_the_next_one(world: World) -> None:
    names = [f"p{each}" for each in range(2 * expiry_notices.BATCH_SIZE)]
    new = [{"email": f"{name}@x.ie", "first_name": name, "last_name": "X"} for name in names]
    world.acme.write(people_changes.add_all, new, "active")
    world.clock.now = MONDAY
    job = ExpiryNotices(world.database, world.clock, people_a_run=expiry_notices.BATCH_SIZE)

    told = [0]
    for _ in range(4):
        world.run(job.run)
        told.append(queued(world))

    # The setting has five more people.
    assert told == [0, 10, 20, 25, 25]


def queued(world: World) -> int:
    def count(tx: Transaction) -> int:
        return len(tx.select(NotificationRow, kind="expiry_notice"))

    return world.database.read_now(count)


def test_got_it_is_recorded_once_and_shown(world: World) -> None:
    run_at(world, MONDAY)
    (notice,) = world.slack.dm(ADA)
    assert button_texts(notice) == ["Got it", "Request leave"]

    world.press(ADA, ids.EXPIRY_SEEN, notice)
    world.clock.advance(days=3)
    world.press(ADA, ids.EXPIRY_SEEN, notice)

    (shown,) = world.slack.dm(ADA)
    assert button_texts(shown) == ["Request leave"]
    assert shown.blocks[-1]["elements"][0]["text"] == "✅ Seen Mon 4 Jan"
    assert shown.text == notice.text
    assert world.audited("expiry_notice.seen") == 1


def test_a_notice_of_another_person_cannot_be_confirmed(world: World) -> None:
    run_at(world, MONDAY)
    (of_ada,) = world.slack.dm(ADA)

    world.press(GRACE, ids.EXPIRY_SEEN, of_ada)

    assert world.audited("expiry_notice.seen") == 0


def test_a_process_that_is_killed_while_sending_leaves_one_audit_entry(world: World) -> None:
    world.clock.now = MONDAY
    world.run(world.app.expiry.run)
    world.deliver_and_die()
    world.clock.advance(minutes=2)
    world.run(world.app.expiry.run)
    world.deliver()

    # Slack may show a message twice, as for every other.
    assert len(set(texts(world, ADA))) == 1
    assert world.audited("expiry_notice.sent") == 4


def test_the_audit_trail_has_what_was_said_and_where(world: World) -> None:
    run_at(world, MONDAY)
    (notice,) = world.slack.dm(ADA)

    page = world.database.read_now(
        audit.entries,
        PageOf(limit=9),
        by=world.acme.caller,
        action="expiry_notice.sent",
        subject_id=world.people[ADA].id,
    )

    (entry,) = page.items
    changes = {name: change["after"] for name, change in entry.changes.items()}
    assert changes["kind"] == "statement"
    assert changes["lapses"] == [
        {"allowance_id": world.acme.id, "days": 5, "lapses_on": "2027-03-31"},
        {"allowance_id": world.acme.id, "days": 20, "lapses_on": "2027-12-31"},
    ]
    assert (changes["slack_channel"], changes["slack_ts"]) == (notice.channel, notice.ts)


def test_people_who_take_everything_in_time_hear_nothing_more(world: World) -> None:
    run_at(world, MONDAY)
    book(world, ADA, date(2027, 2, 1), date(2027, 2, 5))

    run_at(world, datetime(2027, 3, 1, 9, 30, tzinfo=UTC))

    assert len(texts(world, ADA)) == 1
    assert texts(world, EVE)[-1].startswith("5 days carried over from 2026 lapse on Wed 31 Mar")


def test_no_one_is_told_outside_of_working_hours_or_where_it_is_switched_off(world: World) -> None:
    run_at(world, datetime(2027, 1, 4, 8, 59, tzinfo=UTC))
    run_at(world, datetime(2027, 1, 4, 17, 30, tzinfo=UTC))
    assert texts(world, ADA) == []
    world.write(organisation_settings.update, {"expiry_notices": False})
    run_at(world, datetime(2027, 1, 6, 9, 30, tzinfo=UTC))
    assert texts(world, ADA) == []

    world.write(organisation_settings.update, {"expiry_notices": True})
    run_at(world, datetime(2027, 1, 7, 9, 30, tzinfo=UTC))

    assert len(texts(world, ADA)) == 1


def test_people_who_left_or_are_deactivated_hear_nothing(world: World) -> None:
    world.write(people_status.deactivate, world.people[EVE].id)
    world.write(people.update, world.people[ADA].id, {"end_date": date(2027, 1, 3)})

    run_at(world, MONDAY)

    assert texts(world, EVE) == []
    assert texts(world, ADA) == []


def test_a_person_without_a_slack_account_is_not_recorded_as_told(world: World) -> None:
    paper = a_person(world.database, world.acme, first_name="Paul", last_name="Paper")

    run_at(world, MONDAY)

    page = world.database.read_now(
        audit.entries, PageOf(limit=9), by=world.acme.caller, subject_id=paper.id
    )
    assert "expiry_notice.sent" not in {entry.action for entry in page.items}
