"""Time in lieu in Slack: claimed, decided, told, reminded of. Today is Monday, 1 June 2026."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from bot.base import ids
from storage.admin import allowances, people, people_status
from storage.base.allowance_values import Allowance
from storage.base.leave_values import TimeCredit
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import time_credit_lists, time_credits
from storage.notifications import time_credit_reminders
from tests.bot.test_home import menu_of
from tests.bot.test_reminders import TUESDAY, reminded, run_jobs
from tests.bot.test_settings_access import choose
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.fakes.slack import Answer, Message, View
from tests.refusals import at_once

SATURDAY = date(2026, 5, 30)
OWNER = "UOWNER"


def earnable(world: World, name: str = "Lieu", **terms: Any) -> Allowance:
    fields = {"name": name, "earnable": True, "credits_expire_after_months": 3} | terms
    return world.write(allowances.create, fields).allowance


def typed(world: World, text: str, who: str = ADA) -> View:
    """The form that the command opens."""
    world.command(who, text)
    return world.slack.open_modal(who, ids.TIME_CREDIT_FORM)


def claim(world: World, who: str = ADA, text: str = "worked sat 1 day release") -> Answer:
    """Send what was read, and deliver all notifications."""
    answer = world.submit(who, typed(world, text, who), {})
    world.deliver()
    return answer


def credits_of(world: World, who: str = ADA) -> list[TimeCredit]:
    page = world.database.read_now(
        time_credit_lists.page,
        PageOf(limit=10),
        user_id=world.people[who].id,
        by=world.acme.caller,
        now=world.clock(),
    )
    return page.items


def decides(message: Message) -> list[str]:
    deciding = (ids.TIME_CREDIT_APPROVE, ids.TIME_CREDIT_DECLINE)
    return [button.text for button in message.buttons if button.action_id in deciding]


@pytest.mark.both_engines
def test_a_typed_claim_is_shown_sent_and_approved_on_every_card(world: World) -> None:
    earnable(world)

    form = typed(world, "worked sat 1 day Release & more")
    assert credits_of(world) == []
    world.submit(ADA, form, {})
    world.deliver()
    (credit,) = credits_of(world)
    first = world.own_message(ADA)
    (card,) = world.cards(GRACE)
    world.click(GRACE, ids.TIME_CREDIT_APPROVE)
    at_once = world.card(GRACE)
    world.deliver()

    assert (credit.worked_on, credit.half_days, credit.reason, credit.status) == (
        SATURDAY,
        2,
        "Release & more",
        "pending",
    )
    assert "Your time in lieu was sent to Grace Hopper and Hedy Lamarr." in first.visible_text
    assert decides(card) == ["Approve", "Decline"]
    for shown in (
        "Ada Lovelace · Time in lieu",
        "Worked on Sat 30 May 2026 · 1 day",
        "Adds to Lieu",
        "Expires after Sun 30 Aug 2026",
        "Reason: Release & more",
        "Waiting for you and Hedy Lamarr",
    ):
        assert shown in card.visible_text
    assert decides(at_once) == []
    for who, by in ((GRACE, "you"), (HEDY, "Grace Hopper")):
        (card,) = world.cards(who)
        assert decides(card) == []
        assert f"Approved by {by}, 1 Jun 2026, 10:00" in card.visible_text
    assert world.slack.dm(ADA)[-1].text == (
        "Grace Hopper approved your time in lieu. Lieu, Sat 30 May 2026, 1 day. "
        "Expires after Sun 30 Aug 2026. Reason: Release &amp; more"
    )
    assert world.own_message(ADA).buttons == []
    assert credits_of(world)[0].status == "approved"


def test_a_decline_tells_the_reason(world: World) -> None:
    earnable(world)
    claim(world)

    world.click(HEDY, ids.TIME_CREDIT_DECLINE)
    form = world.slack.open_modal(HEDY, ids.TIME_CREDIT_DECLINE_FORM)
    world.submit(HEDY, form, {ids.REASON: "It was <Friday>"})
    world.deliver()

    (credit,) = credits_of(world)
    assert (credit.status, credit.decision_reason) == ("declined", "It was <Friday>")
    for who, by in ((GRACE, "Hedy Lamarr"), (HEDY, "you")):
        assert f"Declined by {by}" in world.card(who).visible_text
        assert decides(world.card(who)) == []
    assert "Hedy Lamarr declined your time in lieu." in world.slack.dm(ADA)[-1].text
    assert world.slack.dm(ADA)[-1].text.endswith("Reason: It was &lt;Friday&gt;")


def test_a_stale_click_says_what_happened_and_repairs_the_card(world: World) -> None:
    earnable(world)
    claim(world)
    world.click(GRACE, ids.TIME_CREDIT_APPROVE)

    world.click(HEDY, ids.TIME_CREDIT_DECLINE)

    assert world.ephemerals(HEDY) == ["This time in lieu was already decided or cancelled."]
    assert decides(world.card(HEDY)) == []
    assert credits_of(world)[0].status == "approved"


def test_cancelling_a_claim_that_was_just_approved_says_that_it_was_decided(world: World) -> None:
    earnable(world)
    claim(world)
    (credit,) = credits_of(world)
    world.write(time_credits.approve, credit.id, by=GRACE)

    world.click(ADA, ids.TIME_CREDIT_CANCEL, world.own_message(ADA))

    (told,) = world.slack.ephemerals
    assert told.text == "This time in lieu was already decided or cancelled."
    assert "Grace Hopper approved your time in lieu." in world.own_message(ADA).visible_text
    assert credits_of(world)[0].status == "approved"


@pytest.mark.both_engines
def test_only_one_of_two_approvers_decides(world: World) -> None:
    earnable(world)
    claim(world)

    at_once(
        lambda: world.slack.click(GRACE, world.card(GRACE), ids.TIME_CREDIT_APPROVE),
        lambda: world.slack.click(HEDY, world.card(HEDY), ids.TIME_CREDIT_APPROVE),
    )
    world.deliver()

    assert world.audited("time_credit.approved") == 1
    assert [decides(world.card(who)) for who in (GRACE, HEDY)] == [[], []]


def test_home_offers_claims_only_with_an_earnable_allowance(world: World) -> None:
    before = world.home(ADA)
    allowance = earnable(world)
    with_one = world.home(ADA)
    world.write(allowances.update, allowance.id, {"is_archived": True})
    archived = world.home(ADA)

    offers = [menu_of(view, ids.HOME_MORE) for view in (before, with_one, archived)]
    assert offers == [[], ["Claim time in lieu"], []]


def test_without_an_earnable_allowance_the_command_says_so(world: World) -> None:
    world.command(ADA, "worked sat 1 day release")

    assert not world.slack.has_modal(ADA)
    assert "no allowance for which days can be earned" in world.ephemerals(ADA)[-1]


def test_a_claim_on_home_is_listed_cancelled_and_claimed_again(world: World) -> None:
    earnable(world)
    world.home(ADA)

    form = choose(world, ADA, world.slack.home(ADA), ids.HOME_MORE, "claim")
    filled = {"worked_on": SATURDAY.isoformat(), "days": "1", ids.REASON: "Fair"}
    world.submit(ADA, form, filled)
    world.deliver()
    listed = world.home(ADA)
    world.click_in_view(ADA, listed, ids.TIME_CREDIT_CANCEL)
    world.deliver()

    assert "*Lieu*: Sat 30 May 2026 · half a day\nAwaiting a decision" in listed.visible_text
    assert "Cancelled" in world.slack.home(ADA).visible_text
    assert [credit.status for credit in credits_of(world)] == ["cancelled"]
    assert "Cancelled" in world.card(GRACE).visible_text
    # Their own action sends no message: the first one shows it.
    (message,) = world.slack.dm(ADA)
    assert "Your time in lieu was cancelled." in message.visible_text
    assert claim(world).errors == {}


@pytest.mark.parametrize(
    ("filled", "field", "error"),
    [
        ({"worked_on": "2026-06-02"}, "worked_on", "Use today or an earlier day."),
        ({"worked_on": "2024-06-02"}, "worked_on", "or a later day"),
        ({ids.REASON: " "}, ids.REASON, "Enter what the work was."),
    ],
)
def test_errors_are_shown_at_their_fields(
    world: World, filled: dict[str, str], field: str, error: str
) -> None:
    earnable(world)
    form = typed(world, "worked sat 1 day release")

    answer = world.submit(ADA, form, filled)

    assert list(answer.errors) == [field]
    assert error in answer.errors[field]
    assert credits_of(world) == []


def test_a_day_that_is_claimed_already_is_an_error_at_the_day(world: World) -> None:
    earnable(world)
    chosen = {"allowance_id": earnable(world, "Overtime").id}
    world.submit(ADA, typed(world, "worked sat 1 day release"), chosen)

    again = world.submit(ADA, typed(world, "worked sat 0.5 fair"), chosen)

    assert again.errors == {"worked_on": "Time in lieu is already claimed for Sat 30 May 2026."}


def test_what_cannot_be_claimed_is_said_in_the_form(world: World) -> None:
    earnable(world)

    three = typed(world, "worked sat 3 days release")
    assert "3 days for the work of one day aren't possible." in three.visible_text
    world.slack.close(ADA, three)
    unclear = typed(world, "worked next sat 1 day")
    assert "“next sat” could mean more than one day." in unclear.visible_text
    world.slack.close(ADA, unclear)
    future = typed(world, "worked tomorrow 1 day")

    assert "days on which you have already worked" in future.visible_text


def test_an_approver_decides_on_home(world: World) -> None:
    earnable(world)
    claim(world)

    waiting = world.home(GRACE)
    world.click_in_view(GRACE, waiting, ids.TIME_CREDIT_APPROVE)

    assert "Waiting for your decision" in waiting.visible_text
    assert "Ada Lovelace · Time in lieu" in waiting.visible_text
    assert "Ada Lovelace · Time in lieu" not in world.slack.home(GRACE).visible_text
    assert credits_of(world)[0].status == "approved"


def test_an_approver_declines_on_home(world: World) -> None:
    earnable(world)
    claim(world)

    world.click_in_view(GRACE, world.home(GRACE), ids.TIME_CREDIT_DECLINE)
    form = world.slack.open_modal(GRACE, ids.TIME_CREDIT_DECLINE_FORM)
    world.submit(GRACE, form, {})

    assert credits_of(world)[0].status == "declined"
    assert "Ada Lovelace · Time in lieu" not in world.slack.home(GRACE).visible_text


def test_people_who_do_not_decide_see_nothing_on_home(world: World) -> None:
    earnable(world)
    claim(world)

    assert "Time in lieu" not in world.home(EVE).visible_text.replace("Claim time in lieu", "")


@pytest.mark.both_engines
def test_a_card_that_was_sent_by_a_killed_process_is_found_by_its_click(world: World) -> None:
    earnable(world)
    world.submit(ADA, typed(world, "worked sat 1 day release"), {})
    world.deliver_and_die()
    assert len(world.cards(GRACE)) == 1

    world.click(GRACE, ids.TIME_CREDIT_APPROVE)
    world.clock.advance(minutes=2)
    world.deliver()

    (card,) = world.cards(GRACE)
    assert decides(card) == []
    assert "Approved by you" in card.visible_text


def test_a_late_notification_shows_the_present_state(world: World) -> None:
    earnable(world)
    world.submit(ADA, typed(world, "worked sat 1 day release"), {})
    (credit,) = credits_of(world)
    world.write(time_credits.decline, credit.id, reason="No", by=GRACE)
    world.deliver()

    assert world.cards(GRACE) == []
    (message,) = world.slack.dm(ADA)
    assert "Grace Hopper declined your time in lieu." in message.text


def test_a_decision_while_the_card_is_sent_removes_its_buttons(world: World) -> None:
    earnable(world)
    world.submit(ADA, typed(world, "worked sat 1 day release"), {})
    (credit,) = credits_of(world)

    def decide() -> None:
        world.write(time_credits.approve, credit.id, by=HEDY)

    world.deliver(meanwhile=decide)

    assert [decides(world.card(who)) for who in (GRACE, HEDY)] == [[], []]


def test_a_deleted_card_is_sent_again_by_the_reminder(world: World) -> None:
    earnable(world)
    claim(world)
    world.delete(world.card(GRACE))

    run_jobs(world, TUESDAY)

    assert decides(world.card(GRACE)) == ["Approve", "Decline"]


def test_what_an_admin_records_is_told_to_the_person(world: World) -> None:
    allowance = earnable(world)
    world.change(
        time_credits.create,
        allowance_id=allowance.id,
        user_id=world.people[ADA].id,
        worked_on=SATURDAY,
        days=0.5,
        reason="Fair",
    )

    (message,) = world.slack.dm(ADA)
    assert "approved your time in lieu. Lieu, Sat 30 May 2026, half a day." in message.text
    assert world.cards(GRACE) == []


def test_approvers_are_reminded_and_then_the_next_level_is_asked(world: World) -> None:
    world.slack.add_person(OWNER, world.acme.owner.email, "Olive Owner", tz="Europe/London")
    earnable(world)
    claim(world)

    for day in range(7):
        run_jobs(world, TUESDAY + timedelta(days=day))
    before = world.cards(OWNER)
    run_jobs(world, TUESDAY + timedelta(days=7))
    run_jobs(world, TUESDAY + timedelta(days=7, minutes=1))

    (card,) = world.cards(OWNER)
    assert before == []
    assert "Waiting for you, Grace Hopper and Hedy Lamarr" in card.visible_text
    assert [reminded(world, who) for who in (GRACE, HEDY, ADA)] == [3, 3, 0]
    assert world.audited("time_credit.next_step_asked") == 1
    world.press(OWNER, ids.TIME_CREDIT_APPROVE, card)
    assert credits_of(world)[0].status == "approved"
    assert [decides(message) for message in world.slack.dm(GRACE)] == [[], []]


def test_an_escalated_claim_is_decided_by_an_approver_of_the_next_level(world: World) -> None:
    earnable(world)
    world.write(people.update, world.people[ADA].id, {"manager_id": world.people[EVE].id})
    claim(world)
    assert [len(world.cards(who)) for who in (EVE, GRACE, HEDY)] == [1, 0, 0]

    for day in range(8):
        run_jobs(world, TUESDAY + timedelta(days=day))
    on_home = world.home(GRACE).visible_text
    world.press(GRACE, ids.TIME_CREDIT_APPROVE)

    assert "Ada Lovelace · Time in lieu" in on_home
    assert credits_of(world)[0].status == "approved"


def test_an_approver_who_comes_back_is_reminded_again(world: World) -> None:
    earnable(world)
    world.write(people.update, world.people[ADA].id, {"manager_id": world.people[EVE].id})
    claim(world)
    world.change(people_status.deactivate, world.people[EVE].id)
    run_jobs(world, TUESDAY)
    assert reminded(world, EVE) == 0

    world.change(people_status.reactivate, world.people[EVE].id)
    run_jobs(world, TUESDAY + timedelta(days=2))

    assert reminded(world, EVE) == 1


@pytest.mark.both_engines
def test_two_processes_remind_once(world: World) -> None:
    earnable(world)
    claim(world)
    world.clock.now = TUESDAY

    def load() -> None:
        world.database.write_now(time_credit_reminders.run, world.acme.id, now=TUESDAY)

    assert at_once(*[load] * 4) == []
    world.deliver()

    assert [reminded(world, who) for who in (GRACE, HEDY)] == [1, 1]


@pytest.mark.both_engines
def test_no_organisation_is_due_without_claims(database: Database) -> None:
    assert database.write_now(time_credit_reminders.due_organisations, now=TUESDAY) == []


def test_archiving_a_person_cancels_what_they_claimed(world: World) -> None:
    earnable(world)
    claim(world)

    world.change(people_status.archive, world.people[ADA].id)

    assert credits_of(world)[0].status == "cancelled"
    assert world.audited("time_credit.cancelled") == 1
    assert decides(world.card(GRACE)) == []


@pytest.mark.parametrize("stop", [people_status.archive, people_status.deactivate])
def test_the_next_approvers_get_the_cards_of_an_approver_who_stops(world: World, stop: Any) -> None:
    earnable(world)
    world.write(people.update, world.people[ADA].id, {"manager_id": world.people[EVE].id})
    claim(world)
    assert [len(world.cards(who)) for who in (EVE, GRACE, HEDY)] == [1, 0, 0]

    world.change(stop, world.people[EVE].id)

    assert [decides(world.card(who)) for who in (GRACE, HEDY)] == [["Approve", "Decline"]] * 2


def test_an_approver_who_is_linked_later_gets_the_cards(world: World) -> None:
    earnable(world)
    claim(world)
    olive = world.acme.owner
    world.write(people.update, world.people[ADA].id, {"manager_id": olive.id})
    world.deliver()
    assert [decides(world.card(who)) for who in (GRACE, HEDY)] == [[], []]

    world.slack.add_person(OWNER, olive.email, "Olive Owner", tz="Europe/London")
    world.home(OWNER)
    world.deliver()

    assert decides(world.card(OWNER)) == ["Approve", "Decline"]


@pytest.mark.both_engines
def test_many_changes_of_people_queue_each_card_once(world: World) -> None:
    earnable(world)
    claim(world)
    olive = world.acme.owner.id
    for _ in range(3):
        for manager_id in (olive, None):
            world.write(people.update, world.people[ADA].id, {"manager_id": manager_id})
    world.write(people.update, world.people[ADA].id, {"manager_id": olive})

    assert world.deliver() == 3
