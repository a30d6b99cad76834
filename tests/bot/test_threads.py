"""One message a request: updated; news, and a way to ask again, are replies to it."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from bot.base import ids
from storage.admin import organisation_settings
from storage.leave import decisions, leave_requests, leave_types
from tests.bot.world import ADA, GRACE, HEDY, World
from tests.fakes.slack import Message

APPROVED = "Grace Hopper approved your request."


def first_messages(world: World, who: str) -> list[Message]:
    return [message for message in world.slack.dm(who) if not message.thread_ts]


def approve(world: World) -> None:
    world.write(decisions.approve, world.request().id, by=GRACE)


def test_a_request_is_one_message_for_its_whole_life(world: World) -> None:
    request = world.a_request()
    approve(world)
    world.deliver()
    world.clock.advance(days=1)
    by = world.caller(ADA)
    longer = {"end_date": date(2026, 8, 7)}
    world.database.write_now(leave_requests.edit, request.id, longer, by=by, now=world.clock())
    world.deliver()
    world.press(GRACE, ids.AMENDMENT_APPROVE)
    world.change(leave_requests.cancel, request.id)

    (own,) = first_messages(world, ADA)
    assert own.text.startswith("Olive Owner cancelled your request.")
    assert own.buttons == []
    assert [(reply.text.split(".")[0], reply.reply_broadcast) for reply in world.replies(own)] == [
        ("Grace Hopper approved your request", True),
        ("Your change was sent to Grace Hopper and Hedy Lamarr for approval", False),
        ("Grace Hopper approved your change", True),
        ("Olive Owner cancelled your request", True),
    ]
    (card,) = first_messages(world, GRACE)
    assert "Cancelled by Olive Owner" in card.visible_text
    assert [(reply.text[:42], reply.reply_broadcast) for reply in world.replies(card)] == [
        ("Ada Lovelace requested Annual leave: Mon 3", True),
        ("Olive Owner cancelled Ada Lovelace's appro", True),
    ]


def test_a_decline_is_a_reply_with_its_reason_and_a_way_to_ask_again(world: World) -> None:
    request = world.a_request()
    world.change(decisions.decline, request.id, reason="Release week", by=GRACE)

    own = world.own_message(ADA)
    (reply,) = world.replies(own)
    facts = "Annual leave, Mon 3 to Wed 5 Aug 2026, 3 days"
    sentence = "Grace Hopper declined your request."
    assert own.visible_text == f"❌ *{sentence}*\n{facts}"
    assert reply.visible_text == (
        "❌ Grace Hopper declined Mon 3 to Wed 5 Aug 2026.\n"
        "Reason: Release week\nAsk for other dates"
    )
    assert own.text == reply.text == f"{sentence} {facts}. Reason: Release week"


def test_replies_show_what_happened_on_which_dates_and_their_texts_all_facts(world: World) -> None:
    request = world.a_request()
    ada, now = world.caller(ADA), world.clock()
    world.database.write_now(leave_requests.edit, request.id, {"note": "Trip"}, by=ada, now=now)
    world.deliver()
    approve(world)
    world.deliver()
    world.database.write_now(leave_requests.cancel, request.id, by=ada, now=now)
    world.deliver()

    replies = world.replies(world.own_message(ADA)) + world.replies(world.card(GRACE))
    assert [reply.visible_text for reply in replies] == [
        "⏳ Your updated request was sent to Grace Hopper and Hedy Lamarr for approval. "
        "It's now Mon 3 to Wed 5 Aug 2026.",
        "✅ Grace Hopper approved Mon 3 to Wed 5 Aug 2026.",
        "🚫 You cancelled Mon 3 to Wed 5 Aug 2026.",
        "Ada Lovelace edited this request. It's now Mon 3 to Wed 5 Aug 2026, 3 days.",
        "Ada Lovelace cancelled their approved leave. This is about Mon 3 to Wed 5 Aug 2026.",
    ]
    assert {"Mon 3 to Wed 5 Aug 2026, 3 days" in reply.text for reply in replies} == {True}


def test_the_last_reply_tells_the_cancellation_and_not_the_approval_before_it(
    world: World,
) -> None:
    world.a_request()
    approve(world)
    world.deliver()
    own = world.own_message(ADA)

    world.press(ADA, ids.CANCEL, own)

    (reply,) = world.replies(own)
    assert reply.visible_text == "🚫 You cancelled Mon 3 to Wed 5 Aug 2026."
    assert reply.text.startswith("You cancelled your request. Annual leave, Mon 3 to")


@pytest.mark.both_engines
def test_news_about_a_deleted_message_is_a_new_message_with_a_thread_of_its_own(
    world: World,
) -> None:
    world.a_request()
    world.delete(world.own_message(ADA))
    approve(world)
    world.deliver()

    (own,) = world.slack.dm(ADA)
    assert own.text.startswith(APPROVED)
    assert [button.text for button in own.buttons] == ["Change", "Cancel leave"]
    world.change(leave_requests.cancel, world.request().id)
    (news,) = world.replies(own)
    assert news.text.startswith("Olive Owner cancelled your request.")


def test_news_about_a_message_that_is_too_old_to_edit_is_a_new_message(world: World) -> None:
    world.a_request()
    sent = world.own_message(ADA)
    world.slack.fail_next("chat.update", error="edit_window_closed", times=3)
    approve(world)
    world.deliver()

    news = world.own_message(ADA)
    assert news.ts != sent.ts
    assert news.text.startswith(APPROVED)


def test_a_reply_that_failed_is_sent_later(world: World) -> None:
    world.a_request()
    approve(world)
    world.slack.fail_next("chat.postMessage", error="ratelimited", retry_after=30, times=1)

    world.deliver()
    own = world.own_message(ADA)
    assert (own.text.startswith(APPROVED), world.replies(own)) == (True, [])
    world.clock.advance(seconds=30)
    world.deliver()

    (news,) = world.replies(own)
    assert news.text.startswith(APPROVED)
    assert len(first_messages(world, ADA)) == 1


def test_a_process_that_dies_after_sending_news_leaves_one_first_message(world: World) -> None:
    world.a_request()
    approve(world)
    world.deliver_and_die()
    # The lease of the claimed notifications ends.
    world.clock.advance(minutes=2)
    world.deliver()

    (own,) = first_messages(world, ADA)
    assert own.text.startswith(APPROVED)
    assert {reply.text for reply in world.replies(own)} == {own.text}


def test_approvers_whose_card_was_deleted_read_news_in_a_new_message(world: World) -> None:
    request = world.a_request()
    approve(world)
    world.deliver()
    world.clock.advance(days=1)
    world.delete(world.card(GRACE))
    world.change(leave_requests.cancel, request.id, by=ADA)

    (news,) = world.slack.dm(GRACE)
    assert news.text.startswith("Ada Lovelace cancelled their approved leave.")


def test_a_change_of_leave_whose_card_was_deleted_is_asked_with_a_new_card(world: World) -> None:
    request = world.a_request()
    approve(world)
    world.deliver()
    world.delete(world.card(GRACE))
    world.change(leave_requests.edit, request.id, {"end_date": date(2026, 8, 7)}, by=ADA)

    (card,) = world.slack.dm(GRACE)
    assert "Ada Lovelace · change of Annual leave" in card.visible_text
    assert [button.text for button in card.buttons] == ["Approve", "Decline"]


def declined(world: World) -> Message:
    """The reply that told Ada about her declined request."""
    request = world.a_request(note="Wedding", start_half_day=ids.MIDDAY)
    world.change(decisions.decline, request.id, reason="Release week", by=GRACE)
    (reply,) = world.replies(world.own_message(ADA))
    return reply


def test_a_declined_request_offers_the_form_with_all_but_the_declined_dates(world: World) -> None:
    reply = declined(world)
    assert [button.text for button in reply.buttons] == ["Ask for other dates"]

    world.click(ADA, ids.ASK_AGAIN, reply)
    form = world.slack.open_modal(ADA, ids.REQUEST_FORM)
    assert "initial_date" not in str(form.blocks)
    assert "Choose a leave type and days to see the total." in form.visible_text
    days = {ids.FIRST_DAY: "2026-08-10", ids.LAST_DAY: "2026-08-11"}
    assert world.slack.submit(ADA, form, days).errors == {}
    world.deliver()

    again = world.request()
    assert (again.status, str(again.start_date), str(again.end_date)) == (
        "pending",
        "2026-08-10",
        "2026-08-11",
    )
    assert (again.start_half_day, again.note) == (None, "Wedding")
    assert again.leave_type_id == world.leave_type("annual")
    assert world.own_message(ADA).text.startswith("Your request was sent to Grace Hopper")


def test_a_decline_that_is_reversed_offers_no_other_dates(world: World) -> None:
    stale = declined(world)

    world.change(decisions.change_decision, world.request().id, "approved", by=GRACE)

    earlier, news = world.replies(world.own_message(ADA))
    assert earlier.ts == stale.ts
    assert earlier.visible_text == "Grace Hopper changed this decision. See the message below."
    assert news.visible_text == (
        "✅ Grace Hopper changed the decision: Mon 3 from midday to Wed 5 Aug 2026 is now approved."
    )
    assert earlier.buttons == news.buttons == []


def test_a_click_on_an_outdated_offer_tells_that_the_request_was_approved(world: World) -> None:
    stale = declined(world)
    world.write(decisions.change_decision, world.request().id, "approved", by=GRACE)

    world.click(ADA, ids.ASK_AGAIN, stale)

    assert not world.slack.has_modal(ADA)
    assert world.ephemerals(ADA) == ["Already approved by Grace Hopper."]


def test_the_form_asks_for_another_type_in_place_of_an_archived_one(world: World) -> None:
    reply = declined(world)
    world.write(leave_types.delete, world.leave_type("annual"))

    world.click(ADA, ids.ASK_AGAIN, reply)

    form = world.slack.open_modal(ADA, ids.REQUEST_FORM)
    (chosen,) = form.values[ids.LEAVE_TYPE].values()
    assert chosen["selected_option"] is None
    assert world.slack.violations == []


NINE = datetime(2026, 6, 2, 8, tzinfo=UTC)
CHANNEL = "CWHOISOUT"


def missing_words(message: dict[str, Any]) -> list[str]:
    """Words of the card, or in bold in the first section or all of it, that the text lacks."""
    text = message.get("text") or ""
    cards = [block for block in message.get("blocks") or [] if block["type"] == "card"]
    if cards:
        lines = [cards[0][key]["text"] for key in ("title", "subtitle")]
        return [words for line in lines for words in line.split(" · ") if words not in text]
    first = next(
        (block for block in message.get("blocks") or [] if block["type"] == "section"), None
    )
    if first is None:
        return [] if text else ["…"]
    shown = first["text"]["text"]
    stressed = re.findall(r"\*([^*]+)\*", shown)
    if not stressed and "thread_ts" in message:
        # The text of a reply has its names and dates in sentences of its own.
        stressed = re.findall(r"[A-Z]\w{2,}|\d+", shown)
    stressed = stressed or [shown.rstrip(".")]
    return [words for words in stressed if words not in text]


@pytest.mark.both_engines
def test_the_text_of_every_message_has_person_type_and_dates(world: World) -> None:
    world.slack.add_channel(CHANNEL, "who-is-out", is_member=True)
    request = world.a_request()
    world.write(organisation_settings.update, {"digest_channel": CHANNEL})
    world.change(leave_requests.edit, request.id, {"note": "new"}, by=ADA)
    for day in range(3):
        world.clock.now = NINE + timedelta(days=day)
        world.run(world.app.reminders.run)
        world.run(world.app.digests.run)
        world.deliver()
    world.press(HEDY, ids.APPROVE, world.cards(HEDY)[0])
    today = world.clock.now.date()
    world.submit_over_rest(start_date=today, end_date=today)
    world.deliver()
    world.press(GRACE, ids.APPROVE)
    world.clock.now += timedelta(minutes=2)
    world.run(world.app.reminders.run)
    world.run(world.app.digests.run)

    posted = [
        call.arguments
        for method in ("chat.postMessage", "chat.update")
        for call in world.slack.calls(method)
    ]

    assert len(posted) > 10
    assert {message["channel"] for message in posted} >= {CHANNEL}
    assert [
        (message["text"], missing_words(message)) for message in posted if missing_words(message)
    ] == []
    assert all(
        re.search("Ada Lovelace|[Yy]our (updated )?request", message["text"]) for message in posted
    )
    assert all(re.search(r"\d{1,2} (Jun|Aug) 2026", message["text"]) for message in posted)
