"""How many new messages each person gets in each flow; updates of messages do not notify."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from bot.base import ids
from storage.leave import leave_requests, leave_types
from storage.leave.drafts import Draft
from tests.bot.test_closures import closed
from tests.bot.test_time_credits import claim, earnable
from tests.bot.world import ADA, EVE, FIRST_DAY, GRACE, HEDY, World

PEOPLE = {"requester": ADA, "approver": GRACE, "other approver": HEDY, "cover": EVE}


def counts(world: World) -> tuple[int, ...]:
    """What Ada, Grace, Hedy and Eve got: messages and replies that Slack took."""
    world.deliver()
    posted = [
        str(call.arguments["channel"])
        for call in world.slack.calls("chat.postMessage")
        if call.status == 200
    ]
    dms = {
        who: {who, *(message.channel for message in world.slack.dm(who))} for who in PEOPLE.values()
    }
    return tuple(sum(channel in dms[who] for channel in posted) for who in PEOPLE.values())


def test_a_request_with_a_cover_and_its_approval(world: World) -> None:
    world.link()
    world.submit_over_rest(cover_user_id=world.people[EVE].id)
    world.deliver()
    world.press(GRACE, ids.APPROVE)

    assert counts(world) == (2, 1, 1, 1)


def test_a_request_and_its_decline(world: World) -> None:
    world.a_request()
    world.click(GRACE, ids.DECLINE)
    world.submit(GRACE, world.slack.open_modal(GRACE, ids.DECLINE_FORM), {})

    assert counts(world) == (2, 1, 1, 0)


def test_an_edit_of_a_pending_request_is_a_reply_to_each_approver(world: World) -> None:
    request = world.a_request()
    world.write(leave_requests.edit, request.id, {"end_date": date(2026, 8, 6)}, by=ADA)

    assert counts(world)[1:] == (2, 2, 0)


def test_a_cancelled_request_is_told_by_updates(world: World) -> None:
    world.a_request()
    world.press(ADA, ids.CANCEL, world.own_message(ADA))

    assert counts(world) == (1, 1, 1, 0)


def test_cancelled_leave_is_told_to_its_approvers(world: World) -> None:
    world.a_request()
    world.press(GRACE, ids.APPROVE)
    world.press(ADA, ids.CANCEL, world.own_message(ADA))

    assert counts(world) == (2, 2, 2, 0)


def test_a_sick_day(world: World) -> None:
    sick = world.leave_type("sick")
    today = world.clock().date().isoformat()
    world.a_request(**{ids.LEAVE_TYPE: sick, ids.FIRST_DAY: today, ids.LAST_DAY: today})

    assert counts(world) == (1, 1, 1, 0)


def test_a_sick_day_with_a_cover(world: World) -> None:
    world.link()
    today = world.clock().date()
    sick = world.leave_type("sick")
    cover_id = world.people[EVE].id
    world.submit_over_rest(
        leave_type_id=sick, start_date=today, end_date=today, cover_user_id=cover_id
    )
    world.deliver()

    assert counts(world) == (1, 1, 1, 1)


def test_leave_recorded_for_someone(world: World) -> None:
    world.link()
    draft = Draft(leave_type_id=world.leave_type("sick"), start_date=FIRST_DAY, end_date=FIRST_DAY)
    world.change(leave_requests.create, draft=draft, user_id=world.people[ADA].id, by=GRACE)

    assert counts(world) == (1, 0, 1, 0)


def test_six_requests_are_one_inbox_a_day(world: World) -> None:
    world.link()
    for week in range(6):
        day = FIRST_DAY + timedelta(days=7 * week)
        world.submit_over_rest(start_date=day, end_date=day)
    before = counts(world)

    world.clock.now = datetime(2026, 6, 2, 8, tzinfo=UTC)
    world.run(world.app.reminders.run)

    after = counts(world)
    assert before == (6, 6, 6, 0)
    assert [now - then for now, then in zip(after, before, strict=True)] == [0, 1, 1, 0]


def test_a_suggestion_that_is_taken(world: World) -> None:
    world.a_request()
    world.click(GRACE, ids.SUGGEST)
    form = world.slack.open_modal(GRACE, ids.SUGGEST_FORM)
    world.submit(GRACE, form, {ids.FIRST_DAY: "2026-08-10", ids.LAST_DAY: "2026-08-12"})
    world.deliver()
    suggested = counts(world)
    world.press(ADA, ids.SUGGESTION_ACCEPT, world.replies(world.own_message(ADA))[-1])

    # The request, the suggestion; each approver reads the new dates in a reply.
    assert (suggested, counts(world)) == ((2, 1, 1, 0), (2, 2, 2, 0))


def test_a_change_of_approved_leave_and_its_approval(world: World) -> None:
    request = world.a_request()
    world.press(GRACE, ids.APPROVE)
    before = counts(world)
    world.write(leave_requests.edit, request.id, {"end_date": date(2026, 8, 7)}, by=ADA)
    asked = counts(world)
    world.press(GRACE, ids.AMENDMENT_APPROVE)

    assert [now - then for now, then in zip(asked, before, strict=True)] == [1, 1, 1, 0]
    assert [now - then for now, then in zip(counts(world), before, strict=True)] == [2, 1, 1, 0]


def test_a_second_approval(world: World) -> None:
    second = {"second_approval": {"always": True, "by": world.people[EVE].id}}
    world.write(leave_types.update, world.leave_type("annual"), second)
    world.a_request()
    world.press(GRACE, ids.APPROVE)
    world.press(EVE, ids.APPROVE)

    assert counts(world) == (3, 1, 1, 1)


def test_time_in_lieu(world: World) -> None:
    earnable(world)
    claim(world)
    world.press(GRACE, ids.TIME_CREDIT_APPROVE)

    assert counts(world) == (2, 1, 1, 0)


def test_a_closure(world: World) -> None:
    world.link()
    closed(world)

    assert counts(world) == (1, 1, 1, 1)


def test_days_that_lapse_in_a_year(world: World) -> None:
    """Reminders in October and December, the statement in January; each once."""
    world.link()
    for month, year in ((9, 2026), (10, 2026), (11, 2026), (12, 2026), (1, 2027), (2, 2027)):
        for day in (1, 4, 5):
            world.clock.now = datetime(year, month, day, 9, 30, tzinfo=UTC)
            world.run(world.app.expiry.run)

    assert counts(world) == (3, 3, 3, 3)
