"""Views name the user who cancelled leave, and approvers are notified of leave that ended."""

from __future__ import annotations

from datetime import date

import pytest

from bot.base import ids
from storage.admin import people, people_status
from storage.base.values import LeaveRequest
from storage.directory import people_rows
from storage.leave import leave_requests
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.builders import a_person
from tests.fakes.slack import Message

WHAT = "Annual leave, Mon 3 August to Wed 5 August 2026, 3 days."


def approved(world: World, by: str = GRACE) -> LeaveRequest:
    """Ada's three days, approved over Slack a while ago."""
    request = world.a_request()
    world.click(by, ids.APPROVE)
    world.deliver()
    world.clock.advance(hours=1)
    world.deliver()
    return request


def cancel(world: World, request: LeaveRequest, by: str) -> None:
    world.write(leave_requests.cancel, request.id, by=by)
    world.deliver()


def news(world: World, who: str) -> list[Message]:
    """Messages to an approver about approved leave that ended."""
    return [message for message in world.slack.dm(who) if "approved leave" in message.text.lower()]


def test_card_and_message_name_the_user_who_cancelled(world: World) -> None:
    request = world.a_request()

    by = world.acme.caller
    world.database.write_now(leave_requests.cancel, request.id, by=by, now=world.clock())
    world.deliver()

    card = world.card(GRACE)
    assert "Cancelled by Olive Owner, 1 June 2026, 10:00" in card.visible_text
    assert "Olive Owner cancelled your request." in world.slack.dm(ADA)[-1].text


def test_people_with_the_same_name_are_told_apart(world: World) -> None:
    world.write(
        people.update,
        world.acme.caller.user_id,
        {"first_name": "Ada", "last_name": "Lovelace"},
    )
    request = approved(world)

    world.write(leave_requests.cancel, request.id)
    world.deliver()

    assert world.slack.dm(ADA)[-1].text.startswith("Ada Lovelace cancelled ")
    assert news(world, GRACE)[0].text.startswith("Ada Lovelace cancelled Ada Lovelace's approved")


def test_approvers_are_notified_of_cancelled_leave(world: World) -> None:
    request = approved(world)

    cancel(world, request, ADA)

    for who in (GRACE, HEDY):
        (message,) = news(world, who)
        assert message.text == f"Ada Lovelace cancelled their approved leave. {WHAT}"
        # As a reply to the card that is also sent to the conversation, where Slack notifies.
        (card,) = world.cards(who)
        assert message.thread_ts == card.ts
        assert "Cancelled by Ada Lovelace" in card.visible_text
    assert news(world, EVE) == []


def test_users_who_cancel_get_no_message_about_it(world: World) -> None:
    request = approved(world)
    grace = world.people[GRACE]
    world.write(people.update, grace.id, {"role": "admin"})
    world.people[GRACE] = world.database.read_now(people_rows.get, grace.id, by=world.acme.caller)

    cancel(world, request, GRACE)

    assert news(world, GRACE) == []
    (message,) = news(world, HEDY)
    assert message.text == f"Grace Hopper cancelled Ada Lovelace's approved leave. {WHAT}"


def test_a_later_approver_without_a_card_is_notified_of_a_cancellation(world: World) -> None:
    request = approved(world)
    zoe = a_person(
        world.database,
        world.acme,
        first_name="Zoe",
        role="approver",
        department_id=world.people[ADA].department_id,
    )
    world.slack.add_person("UZOE", zoe.email, zoe.name)

    cancel(world, request, ADA)

    assert [message.text for message in world.slack.dm("UZOE")] == [
        f"Ada Lovelace cancelled their approved leave. {WHAT}"
    ]


def test_pending_leave_and_leave_that_needs_no_approval_end_without_news(world: World) -> None:
    pending = world.a_request()
    cancel(world, pending, ADA)
    sick = world.submit_over_rest(ADA, leave_type_id=world.leave_type("sick"))
    cancel(world, sick, ADA)

    assert news(world, GRACE) == news(world, HEDY) == []


def test_approvers_are_notified_of_leave_that_archiving_shortens(world: World) -> None:
    world.a_request(start_date="2026-06-01", end_date="2026-06-05")
    world.click(GRACE, ids.APPROVE)
    world.deliver()
    later = world.a_request(start_date="2026-09-07", end_date="2026-09-07")
    world.click(HEDY, ids.APPROVE, world.cards(HEDY)[-1])
    world.deliver()
    assert later.start_date == date(2026, 9, 7)

    ada = world.people[ADA]
    world.write(people_status.archive, ada.id)
    world.deliver()

    for who in (GRACE, HEDY):
        assert sorted(message.text for message in news(world, who)) == [
            "Ada Lovelace's approved leave was shortened. Annual leave, Mon 1 June 2026, 1 day.",
            "Olive Owner cancelled Ada Lovelace's approved leave. Annual leave, Mon 7 "
            "September 2026, 1 day.",
        ]


@pytest.mark.parametrize(
    ("halves", "shown"),
    [
        ({"start_half_day": "pm"}, "Mon 3 August from midday to Wed 5 August 2026"),
        ({"end_half_day": "am"}, "Mon 3 August to Wed 5 August 2026 until midday"),
    ],
)
def test_an_overlap_in_the_form_names_the_halves(
    world: World, halves: dict[str, str], shown: str
) -> None:
    world.submit_over_rest(ADA, **halves)

    response = world.send_form(ADA, start_date="2026-08-04", end_date="2026-08-04")

    assert response.errors == {ids.FIRST_DAY: f"This overlaps your leave ({shown})."}
