"""Leave recorded for another person, as they, the recorder and the admins see it in Slack."""

from __future__ import annotations

from typing import Any

from bot.base import ids
from storage.base.leave_values import LeaveRequest
from storage.leave import leave_requests
from storage.leave.drafts import Draft
from tests.bot.world import ADA, EVE, FIRST_DAY, GRACE, HEDY, World
from tests.builders import a_person
from tests.fakes.slack import Message

WHAT = "Sick leave, Mon 3 Aug 2026, 1 day"
BOSS = "UBOSS"


def recorded(world: World, by: str = GRACE, **more: Any) -> LeaveRequest:
    """A day of sick leave that was recorded for Ada over REST."""
    draft = Draft(leave_type_id=world.leave_type("sick"), start_date=FIRST_DAY, end_date=FIRST_DAY)
    request = world.database.write_now(
        leave_requests.create,
        by=world.caller(by),
        draft=draft,
        user_id=world.people[ADA].id,
        now=world.clock(),
        **more,
    )
    world.deliver()
    return request


def with_an_admin(world: World) -> None:
    boss = a_person(world.database, world.acme, first_name="Bea", last_name="Boss", role="admin")
    world.people[BOSS] = boss
    world.slack.add_person(BOSS, boss.email, boss.name)


def objections(world: World, who: str) -> list[Message]:
    return [message for message in world.slack.dm(who) if "objects" in message.text]


def labels(message: Message) -> list[str]:
    return [button.text for button in message.buttons]


def test_a_person_is_told_of_leave_recorded_for_them(world: World) -> None:
    recorded(world)

    (message,) = world.slack.dm(ADA)
    assert message.text == f"Grace Hopper recorded this leave for you. {WHAT}."
    assert labels(message) == ["Object", "Change", "Cancel leave"]
    assert [world.slack.dm(who) for who in (GRACE, EVE)] == [[], []]


def test_the_reason_of_an_exception_is_shown(world: World) -> None:
    with_an_admin(world)

    recorded(world, BOSS, override_reason="A *birth*.")

    (message,) = world.slack.dm(ADA)
    assert "Reason for the exception: A *birth*." in message.visible_text
    assert message.text.endswith("Reason for the exception: A *birth*.")


def test_an_objection_notifies_the_recorder_and_the_admins_once(world: World) -> None:
    with_an_admin(world)
    request = recorded(world)

    world.press(ADA, ids.OBJECT, world.own_message(ADA))

    (to_grace,), (to_boss,) = objections(world, GRACE), objections(world, BOSS)
    assert to_grace.text == f"Ada Lovelace objects to leave that you recorded. {WHAT}."
    assert to_boss.text == f"Ada Lovelace objects to leave that Grace Hopper recorded. {WHAT}."
    assert objections(world, HEDY) == objections(world, EVE) == []
    (message,) = world.slack.dm(ADA)
    assert "You objected. Grace Hopper and the admins were told." in message.visible_text
    assert labels(message) == ["Change", "Cancel leave"]
    assert world.request() == request


def test_a_second_press_says_that_the_objection_was_sent(world: World) -> None:
    recorded(world)
    before = world.slack.dm(ADA)[-1]
    world.press(ADA, ids.OBJECT, before)

    world.slack.click(ADA, before, ids.OBJECT)
    world.deliver()

    assert world.ephemerals(ADA) == ["You have already objected. Your objection was sent."]
    assert len(objections(world, GRACE)) == 1
    assert world.audited("leave_request.objected") == 1


def test_the_recorder_cancels_the_leave_from_the_objection(world: World) -> None:
    recorded(world)
    world.press(ADA, ids.OBJECT, world.own_message(ADA))

    world.press(GRACE, ids.CANCEL_RECORDED, objections(world, GRACE)[-1])

    assert world.request().status == "cancelled"
    (message,) = objections(world, GRACE)
    assert labels(message) == []
    assert "Cancelled by you" in message.visible_text
    assert "Grace Hopper cancelled your request." in world.slack.dm(ADA)[-1].text


def test_an_objection_to_cancelled_leave_is_refused(world: World) -> None:
    request = recorded(world)
    message = world.slack.dm(ADA)[-1]
    world.write(leave_requests.cancel, request.id, by=GRACE)

    world.click(ADA, ids.OBJECT, message)

    assert world.ephemerals(ADA) == ["Already cancelled by Grace Hopper."]
    assert world.audited("leave_request.objected") == 0


def test_another_person_cannot_object(world: World) -> None:
    recorded(world)

    world.slack.click(EVE, world.slack.dm(ADA)[-1], ids.OBJECT)
    world.settled()

    assert world.audited("leave_request.objected") == 0
    assert "no longer have access" in world.ephemerals(EVE)[-1]
