"""An approver suggests other dates, and the requester answers with one click."""

from __future__ import annotations

from typing import Any

import pytest

from bot.base import ids
from storage.admin import people
from storage.leave import decisions, leave_requests
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.fakes.slack import Answer, Message

LATER = {ids.FIRST_DAY: "2026-08-10", ids.LAST_DAY: "2026-08-12"}
SUGGESTED = "Grace Hopper suggests other dates: Mon 10 to Wed 12 Aug 2026, 3 days."


def send(world: World, who: str = GRACE, **dates: Any) -> Answer:
    """Open the form on the card, and send these dates, by default a week later."""
    world.click(who, ids.SUGGEST)
    form = world.slack.open_modal(who, ids.SUGGEST_FORM)
    answer = world.submit(who, form, LATER | dates)
    world.deliver()
    return answer


def news(world: World) -> Message:
    """The last reply to the requester's message."""
    return world.replies(world.own_message(ADA))[-1]


def labels(message: Message) -> list[str]:
    return [button.text for button in message.buttons]


@pytest.mark.both_engines
def test_a_suggestion_is_taken_with_one_click(world: World) -> None:
    world.a_request()
    send(world)

    assert news(world).visible_text.splitlines() == [
        f"📅 {SUGGESTED}",
        "Take these dates",
        "Keep my dates",
        "Choose other dates",
    ]
    assert news(world).reply_broadcast
    assert SUGGESTED in world.own_message(ADA).visible_text
    yours = "You suggested Mon 10 to Wed 12 Aug 2026, 3 days."
    assert yours in world.card(GRACE).visible_text
    assert yours.replace("You", "Grace Hopper") in world.card(HEDY).visible_text
    assert world.request().start_date.isoformat() == "2026-08-03"

    world.press(ADA, ids.SUGGESTION_ACCEPT, news(world))

    request = world.request()
    assert (request.status, request.start_date.isoformat(), request.end_date.isoformat()) == (
        "pending",
        "2026-08-10",
        "2026-08-12",
    )
    assert "You took the suggested dates." in [
        reply.visible_text for reply in world.replies(world.own_message(ADA))
    ]
    assert "suggests other dates" not in world.own_message(ADA).visible_text
    assert "Mon 10 to Wed 12 Aug 2026" in world.card(HEDY).visible_text
    assert [
        world.audited(action)
        for action in (
            "leave_request.dates_suggested",
            "leave_request.suggestion_accepted",
            "leave_request.updated",
        )
    ] == [1, 1, 1]


def test_the_form_has_the_requested_dates_and_counts_the_chosen_ones(world: World) -> None:
    world.a_request()
    world.click(GRACE, ids.SUGGEST)
    form = world.slack.open_modal(GRACE, ids.SUGGEST_FORM)
    assert "'selected_date': '2026-08-03'" in str(form.values[ids.FIRST_DAY])
    assert "*3 days*" in form.visible_text

    world.pick(GRACE, form, ids.LAST_DAY, ids.SUGGEST_RECOUNT, "2026-08-07")

    assert "*5 days*" in world.slack.open_modal(GRACE, ids.SUGGEST_FORM).visible_text


def test_a_declined_suggestion_is_told_to_who_made_it(world: World) -> None:
    world.a_request()
    send(world)

    world.press(ADA, ids.SUGGESTION_DECLINE, news(world))

    keeps = "Ada Lovelace keeps these dates. Suggested were Mon 10 to Wed 12 Aug 2026, 3 days."
    assert [reply.visible_text for reply in world.replies(world.card(GRACE))] == [keeps]
    assert world.replies(world.card(HEDY)) == []
    assert keeps in world.card(HEDY).visible_text
    assert world.request().start_date.isoformat() == "2026-08-03"
    assert labels(world.own_message(ADA)) == ["Edit", "Cancel leave"]
    assert world.audited("leave_request.suggestion_declined") == 1


def test_the_newest_of_two_suggestions_counts(world: World) -> None:
    world.a_request()
    send(world)
    earlier = news(world)
    send(world, HEDY, **{ids.FIRST_DAY: "2026-08-17", ids.LAST_DAY: "2026-08-18"})

    world.press(ADA, ids.SUGGESTION_ACCEPT, earlier)

    assert world.ephemerals(ADA)[-1].startswith("This suggestion is no longer open")
    assert world.request().start_date.isoformat() == "2026-08-03"
    assert "Hedy Lamarr suggested Mon 17 to Tue 18 Aug" in world.card(GRACE).visible_text
    world.press(ADA, ids.SUGGESTION_ACCEPT, news(world))
    assert world.request().start_date.isoformat() == "2026-08-17"


@pytest.mark.parametrize("what", ["decided", "edited", "cancelled"])
def test_a_click_after_the_request_changed_says_so(world: World, what: str) -> None:
    request = world.a_request()
    send(world)
    asked = news(world)
    match what:
        case "decided":
            world.write(decisions.approve, request.id, by=HEDY)
        case "edited":
            world.write(leave_requests.edit, request.id, {"note": "Trip"}, by=ADA)
        case "cancelled":
            world.write(leave_requests.cancel, request.id, by=ADA)
    before = world.request()

    world.press(ADA, ids.SUGGESTION_ACCEPT, asked)

    assert world.ephemerals(ADA) != []
    assert world.request() == before
    assert asked.ts in {reply.ts for reply in world.replies(world.own_message(ADA))}
    assert all(
        ids.SUGGESTION_ACCEPT not in {button.action_id for button in reply.buttons}
        for reply in world.replies(world.own_message(ADA))
    )


def test_dates_that_became_impossible_are_refused_and_nothing_is_lost(world: World) -> None:
    world.a_request()
    send(world)
    world.submit_over_rest(
        leave_type_id=world.leave_type("sick"),
        start_date=world.request().start_date.replace(day=11),
        end_date=world.request().start_date.replace(day=11),
    )

    world.click(ADA, ids.SUGGESTION_ACCEPT, news(world))

    assert "This overlaps your leave" in world.ephemerals(ADA)[-1]
    assert SUGGESTED in news(world).visible_text


def test_the_requested_dates_and_impossible_ones_are_refused_in_the_form(world: World) -> None:
    world.a_request()

    same = {ids.FIRST_DAY: "2026-08-03", ids.LAST_DAY: "2026-08-05"}
    for dates, why in (
        (same, "These dates are requested already."),
        ({ids.FIRST_DAY: "2026-08-08", ids.LAST_DAY: "2026-08-09"}, "not working"),
    ):
        send(world, **dates)
        assert why in world.slack.open_modal(GRACE, ids.SUGGEST_FORM).visible_text

    assert world.audited("leave_request.dates_suggested") == 0


def test_only_those_who_may_decide_suggest(world: World) -> None:
    world.a_request()
    world.click(GRACE, ids.SUGGEST)
    form = world.slack.open_modal(GRACE, ids.SUGGEST_FORM)
    world.write(people.update, world.people[ADA].id, {"manager_id": world.people[EVE].id})

    world.submit(GRACE, form, LATER)

    assert world.audited("leave_request.dates_suggested") == 0


def test_a_stale_button_says_who_decided_and_repairs_the_card(world: World) -> None:
    request = world.a_request()
    world.write(decisions.approve, request.id, by=HEDY)

    world.click(GRACE, ids.SUGGEST)

    assert "Already approved by Hedy Lamarr." in world.ephemerals(GRACE)
    assert ids.SUGGEST not in {button.action_id for button in world.card(GRACE).buttons}


def test_a_suggestion_is_made_from_home(world: World) -> None:
    world.a_request()
    home = world.home(GRACE)

    world.click_in_view(GRACE, home, ids.SUGGEST)
    form = world.slack.open_modal(GRACE, ids.SUGGEST_FORM)
    world.submit(GRACE, form, LATER)
    world.deliver()

    assert SUGGESTED in world.own_message(ADA).visible_text


def test_a_change_of_approved_leave_offers_no_suggestion(world: World) -> None:
    request = world.a_request()
    world.press(GRACE, ids.APPROVE)
    world.write(leave_requests.edit, request.id, {"end_date": world.request().end_date}, by=ADA)

    assert ids.SUGGEST not in {button.action_id for button in world.card(GRACE).buttons}
