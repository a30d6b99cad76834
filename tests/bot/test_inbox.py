"""What waits for an approver in one message a day and on Home, and what is approved together."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from bot.base import ids
from storage.admin import people
from storage.leave import decisions, leave_requests
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.builders import a_person
from tests.fakes.slack import Message

# ``World`` begins on Monday 1 June 2026, 10:00 in London; work begins at 08:00 UTC.
TUESDAY = datetime(2026, 6, 2, 8, tzinfo=UTC)
MONDAY = date(2026, 8, 3)


def run_jobs(world: World, at: datetime) -> None:
    world.clock.now = at
    world.run(world.app.reminders.run)
    world.deliver()


def requests(world: World, weeks: int = 4) -> list[str]:
    """Ada's requests for single Mondays, which wait for Grace and Hedy."""
    world.link()
    made = []
    for week in range(weeks):
        day = MONDAY + timedelta(days=7 * week)
        made.append(world.submit_over_rest(start_date=day, end_date=day).id)
    world.deliver()
    return made


def alan(world: World) -> None:
    """Another member of Ada's team."""
    world.people["UALAN"] = a_person(
        world.database,
        world.acme,
        first_name="Alan",
        last_name="Turing",
        department_id=world.people[ADA].department_id,
    )


def messages(world: World, who: str = GRACE) -> list[Message]:
    return [
        message
        for message in world.slack.dm(who)
        if "waiting for your decision" in message.text.splitlines()[0]
        and not message.text.startswith("Still")
    ]


def approve_all(world: World, who: str = GRACE) -> str:
    """Confirm "Approve these"; what the form says then."""
    form = world.slack.open_modal(who, ids.INBOX_FORM)
    world.submit(who, form, {})
    world.deliver()
    return world.slack.open_modal(who).visible_text


@pytest.mark.both_engines
def test_several_waiting_requests_are_one_message_and_approved_together(world: World) -> None:
    made = requests(world)
    alan(world)
    meeting = world.submit_over_rest("UALAN", start_date=MONDAY, end_date=MONDAY)
    world.deliver()

    run_jobs(world, TUESDAY)
    run_jobs(world, TUESDAY + timedelta(hours=1))

    (inbox,) = messages(world)
    assert inbox.visible_text.splitlines()[:6] == [
        "⏳ *5 requests are waiting for your decision*",
        "3 have no conflict",
        "• Ada Lovelace: Annual leave, Mon 10 Aug 2026, 1 day",
        "• Ada Lovelace: Annual leave, Mon 17 Aug 2026, 1 day",
        "• Ada Lovelace: Annual leave, Mon 24 Aug 2026, 1 day",
        "Approve these 3",
    ]
    assert inbox.visible_text.splitlines()[6:9] == [
        "2 meet on Mon 3 Aug",
        "• Ada Lovelace: Annual leave, Mon 3 Aug 2026, 1 day. Also off: Alan Turing",
        "• Alan Turing: Annual leave, Mon 3 Aug 2026, 1 day. Also off: Ada Lovelace",
    ]
    world.click(GRACE, ids.INBOX_APPROVE, inbox)
    form = world.slack.open_modal(GRACE, ids.INBOX_FORM)
    assert form.visible_text.count("• Ada Lovelace: Annual leave, Mon") == 3

    outcome = approve_all(world)

    assert outcome.splitlines() == ["✅ *3 requests were approved.*"]
    by = world.caller(GRACE)
    status = [
        world.database.read_now(leave_requests.editable, each, by=world.acme.caller, now=TUESDAY)
        for each in (*made, meeting.id)
    ]
    assert [each.status for each in status] == ["pending", *["approved"] * 3, "pending"]
    assert {each.decided_by for each in status[1:4]} == {by.user_id}
    assert world.audited("leave_request.approved") == 3
    told = [
        message
        for message in world.slack.dm(ADA)
        if message.thread_ts and message.text.startswith("Grace Hopper approved")
    ]
    assert len(told) == 3
    (shown,) = messages(world)
    assert shown.visible_text.startswith("⏳ *2 requests are waiting for your decision*")


def test_what_was_decided_edited_or_meets_leave_meanwhile_is_listed_and_not_lost(
    world: World,
) -> None:
    made = requests(world)
    run_jobs(world, TUESDAY)
    world.click(GRACE, ids.INBOX_APPROVE, messages(world)[0])
    alan(world)

    world.write(decisions.decline, made[0], reason=None, by=HEDY)
    world.write(leave_requests.edit, made[1], {"note": "Trip"}, by=ADA)
    third = MONDAY + timedelta(days=14)
    world.submit_over_rest("UALAN", start_date=third, end_date=third)

    assert approve_all(world).splitlines() == [
        "✅ *1 request was approved.*",
        "*3 requests were not approved:*",
        "• Ada Lovelace: Already declined by Hedy Lamarr.",
        "• Ada Lovelace: The request was edited meanwhile.",
        "• Ada Lovelace: It meets other leave or a limit now.",
    ]
    assert world.audited("leave_request.approved") == 1


def test_authority_is_checked_again_at_each(world: World) -> None:
    requests(world, 2)
    run_jobs(world, TUESDAY)
    world.click(GRACE, ids.INBOX_APPROVE, messages(world)[0])
    world.write(people.update, world.people[ADA].id, {"manager_id": world.people[EVE].id})

    outcome = approve_all(world)

    assert outcome.startswith("*2 requests were not approved:*")
    assert world.audited("leave_request.approved") == 0


def test_an_old_message_asks_for_what_waits_now(world: World) -> None:
    made = requests(world, 2)
    run_jobs(world, TUESDAY)
    for request_id in made:
        world.write(decisions.approve, request_id, by=HEDY)

    world.click(GRACE, ids.INBOX_APPROVE, messages(world)[0])

    assert world.ephemerals(GRACE) == ["None of these requests is without a conflict any more."]
    (shown,) = [m for m in world.slack.dm(GRACE) if "Nothing waits" in m.text]
    assert shown.visible_text == "✅ *Nothing waits for your decision.*"


def test_home_shows_the_same_above_its_cards(world: World) -> None:
    requests(world, 3)
    home = world.home(GRACE)
    assert "3 requests are waiting for your decision\n3 have no conflict" in home.visible_text

    world.click_in_view(GRACE, home, ids.INBOX_APPROVE)
    outcome = approve_all(world)

    assert outcome == "✅ *3 requests were approved.*"
    assert "waiting for your decision" not in world.slack.home(GRACE).visible_text


def test_a_single_request_is_reminded_of_by_itself(world: World) -> None:
    requests(world, 1)

    run_jobs(world, TUESDAY)

    assert messages(world) == []
    assert any(m.text.startswith("Still waiting") for m in world.slack.dm(GRACE))


def test_several_requests_are_reminded_of_after_one_three_and_five_working_days(
    world: World,
) -> None:
    requests(world, 2)

    for day in range(7):
        run_jobs(world, TUESDAY + timedelta(days=day))

    assert [len(messages(world, who)) for who in (GRACE, HEDY)] == [3, 3]
    assert not any(m.text.startswith("Still waiting") for m in world.slack.dm(GRACE))
