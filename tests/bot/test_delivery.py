"""Notifications survive Slack's failures: they arrive later, once, and are never lost."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from bot.base import ids
from storage.admin import holiday_overrides
from storage.admin.holiday_overrides import NewOverride
from storage.base.monitoring import REGISTRY
from storage.db.database import Transaction
from storage.leave import decisions, leave_requests
from storage.outbox import notification_outbox, organisation_config
from storage.people import people_rows
from storage.people.people_rows import find
from storage.webhooks import webhooks
from storage.workspaces import slack_profiles
from tests import outside
from tests.bot.world import ADA, EVE, FIRST_DAY, GRACE, HEDY, World, to_decide
from tests.builders import a_person

HANG_SECONDS = 2.0


@pytest.mark.parametrize(
    ("failure", "wait_seconds"),
    [
        ({"error": "ratelimited", "retry_after": 17}, 17),
        ({"status": 500}, 5),
        ({"reset": True}, 5),
        ({"body": "not json"}, 5),
        ({"error": "fatal_error"}, 5),
    ],
)
def test_a_message_that_slack_refuses_temporarily_is_retried(
    world: World, failure: dict[str, Any], wait_seconds: int
) -> None:
    world.send_form()
    world.slack.fail_next("chat.postMessage", times=3, **failure)
    world.deliver()
    assert [world.slack.dm(who) for who in (ADA, GRACE, HEDY)] == [[], [], []]

    world.clock.advance(seconds=wait_seconds - 1)
    assert world.deliver() == 0
    world.clock.advance(seconds=1)
    world.deliver()

    assert [len(world.slack.dm(who)) for who in (ADA, GRACE, HEDY)] == [1, 1, 1]


def test_retries_back_off_and_end_after_a_day(world: World) -> None:
    world.send_form()
    world.slack.fail_next("chat.postMessage", times=1_000, status=503)

    attempts = []
    for _ in range(40):
        if not (attempted := world.deliver()):
            break
        attempts.append(attempted)
        world.clock.advance(seconds=3_600)

    assert len(attempts) == 25
    world.slack.forget_failures()
    world.clock.advance(days=1)
    assert world.deliver() == 0


@pytest.mark.both_engines
def test_a_hanging_slack_does_not_delay_clicks(world: World) -> None:
    world.a_request()
    world.slack.fail_next("chat.update", hang_seconds=HANG_SECONDS)

    response = world.press(GRACE, ids.APPROVE)

    assert response.elapsed_seconds < HANG_SECONDS
    assert to_decide(world.cards(HEDY)[0]) == []


@pytest.mark.parametrize("code", ["channel_not_found", "user_not_found", "account_inactive"])
def test_a_final_error_is_not_retried(world: World, code: str) -> None:
    world.send_form()
    world.slack.fail_next("chat.postMessage", error=code, times=3)
    world.deliver()

    world.clock.advance(hours=1)

    assert world.deliver() == 0


@pytest.mark.parametrize(
    "change",
    [{"is_restricted": True}, {"is_email_confirmed": False}, {"email": "another@example.com"}],
    ids=["guest", "unconfirmed address", "missing in the workspace"],
)
def test_an_approver_without_a_full_account_gets_no_card(
    world: World, change: dict[str, Any]
) -> None:
    world.slack.change_person(GRACE, **change)

    world.send_form()
    world.deliver()

    grace = world.database.read_now(find, world.acme.id, world.people[GRACE].id)
    assert (len(world.slack.dm(GRACE)), len(world.slack.dm(HEDY))) == (0, 1)
    assert grace is not None
    assert grace.slack_user_id is None
    world.clock.advance(days=1)
    assert world.deliver() == 0


def test_an_account_linked_to_another_person_gets_no_card(world: World) -> None:
    # Eve has Grace's address, in Slack only.
    world.open_form(EVE)
    world.slack.change_person(EVE, email=world.people[GRACE].email)
    world.slack.change_person(GRACE, email="grace.hopper@example.com")

    world.send_form()
    world.deliver()

    assert world.slack.dm(EVE) == []


def test_after_unlinking_the_former_account_gets_no_updates(world: World) -> None:
    world.a_request()
    card = world.card(GRACE)
    world.write(slack_profiles.unlink, world.people[GRACE].id)
    world.slack.change_person(GRACE, email="former@example.com")
    world.slack.add_person("UGRACE2", world.people[GRACE].email, "Grace Hopper")

    world.press(HEDY, ids.APPROVE)

    assert world.slack.dm(GRACE) == [card]


def test_people_are_found_by_e_mail_once(world: World) -> None:
    world.a_request()
    world.a_request(start_date="2026-09-07", end_date="2026-09-08")

    grace = world.database.read_now(find, world.acme.id, world.people[GRACE].id)
    assert grace is not None
    assert grace.slack_user_id == GRACE
    # Ada's account was linked when she opened the form.
    assert len(world.slack.calls("users.lookupByEmail")) == 2


def test_an_approver_found_in_slack_gets_each_waiting_card_once(world: World) -> None:
    # Grace cannot be found at first; the next request finds her.
    world.slack.change_person(GRACE, is_email_confirmed=False)
    first = world.a_request()
    assert world.cards(GRACE) == []
    world.slack.change_person(GRACE, is_email_confirmed=True)

    second = world.a_request(**{ids.FIRST_DAY: "2026-09-07", ids.LAST_DAY: "2026-09-08"})

    assert {card.buttons[0].value for card in world.cards(GRACE)} == {first.id, second.id}
    assert [card.history for card in world.cards(GRACE)] == [[], []]
    assert world.deliver() == 0


def test_receiving_a_message_does_not_activate_a_user(world: World) -> None:
    zoe = a_person(world.database, world.acme, first_name="Zoe", status="pending")
    world.slack.add_person("UZOE", zoe.email, zoe.name)
    world.people["UZOE"] = zoe
    world.link()

    world.submit_over_rest("UZOE")
    world.deliver()

    person = world.database.read_now(people_rows.get, zoe.id, by=world.acme.caller)
    assert len(world.slack.dm("UZOE")) == 1
    assert (person.status, person.slack_user_id) == ("pending", "UZOE")


def test_a_request_decided_before_it_was_shown_is_not_shown(world: World) -> None:
    world.link()
    request = world.submit_over_rest()
    world.write(decisions.approve, request.id)

    world.deliver()

    assert world.slack.dm(GRACE) == []
    assert [message.text.split(". ")[0] for message in world.slack.dm(ADA)] == [
        "Olive Owner approved your request"
    ]


@pytest.mark.both_engines
def test_a_card_whose_request_is_decided_while_it_is_posted_is_refreshed(world: World) -> None:
    world.link()
    request = world.submit_over_rest()

    world.deliver(meanwhile=lambda: world.write(decisions.approve, request.id))

    for who in (GRACE, HEDY):
        (card,) = world.cards(who)
        assert [len(blocks[1]["actions"]) for _, blocks in card.history] == [3]
        assert to_decide(card) == []
        assert "Approved by Olive Owner" in card.visible_text


def test_a_deleted_card_is_posted_again_while_the_request_is_pending(world: World) -> None:
    request = world.a_request()
    card = world.card(GRACE)
    world.delete(card)

    world.change(leave_requests.edit, request.id, {"note": "new"}, by=ADA)

    (new,) = world.cards(GRACE)
    assert new.ts != card.ts
    assert "Note: new" in new.visible_text
    world.press(GRACE, ids.APPROVE, new)
    assert to_decide(world.card(GRACE)) == []


def test_a_deleted_card_of_a_decided_request_stays_deleted(world: World) -> None:
    request = world.a_request()
    card = world.card(GRACE)
    world.delete(card)

    world.change(decisions.approve, request.id)

    assert world.cards(GRACE) == []


def test_admins_are_notified_of_a_disabled_webhook(world: World) -> None:
    owner = world.acme.caller
    world.slack.add_person("UOWNER", world.acme.owner.email, "Olive Owner", tz="Europe/London")
    url = "https://receiver.example.com/*bold*"
    webhook, _ = world.database.write_now(
        webhooks.create, url, ["*"], by=owner, now=world.clock.now
    )

    def switch_off(tx: Transaction) -> None:
        webhooks.disable(tx, world.acme.id, webhook.id, "It is *gone*.", now=world.clock.now)
        notification_outbox.notify_admins(
            tx, world.acme.id, "webhook_disabled", webhook_id=webhook.id, now=world.clock.now
        )

    world.database.write_now(switch_off)
    world.deliver()

    (message,) = world.slack.dm("UOWNER")
    assert "switched off" in message.text
    blocks = str(message.blocks)
    assert f"'plain_text', 'text': '{url}'" in blocks
    assert "Reason: It is *gone*." in blocks
    assert [world.slack.dm(who) for who in (ADA, GRACE, HEDY)] == [[], [], []]


@pytest.mark.parametrize("has_recovered", [False, True])
def test_admins_are_notified_of_a_failing_webhook(
    world: World, database_url: str, has_recovered: bool
) -> None:
    owner = world.acme.caller
    world.slack.add_person("UOWNER", world.acme.owner.email, "Olive Owner", tz="Europe/London")
    webhook, _ = world.database.write_now(
        webhooks.create, "https://example.com/", ["*"], by=owner, now=world.clock()
    )
    # World begins on Monday 1 June 2026, 10:00 in London.
    since = round(world.clock().timestamp() * 1000)
    outside.run(database_url, f"UPDATE webhooks SET failing_since_at = {since}")
    world.clock.advance(hours=24)
    world.database.write_now(
        notification_outbox.notify_admins,
        world.acme.id,
        "webhook_failing",
        webhook_id=webhook.id,
        now=world.clock(),
    )
    if has_recovered:
        outside.run(database_url, "UPDATE webhooks SET failing_since_at = NULL")

    world.deliver()

    texts = [message.text for message in world.slack.dm("UOWNER")]
    assert texts == ([] if has_recovered else [FAILING])


FAILING = (
    "One of your organisation's webhooks keeps failing. https://example.com/ Every attempt "
    "has failed since 1 Jun 2026, 10:00. Unless one succeeds, the webhook will be switched "
    "off on 6 Jun 2026, 10:00."
)


def test_an_enabled_webhook_is_not_notified(world: World) -> None:
    owner = world.acme.caller
    world.slack.add_person("UOWNER", world.acme.owner.email, "Olive Owner", tz="Europe/London")
    webhook, _ = world.database.write_now(
        webhooks.create, "https://example.com/", ["*"], by=owner, now=world.clock.now
    )
    world.database.write_now(
        notification_outbox.notify_admins,
        world.acme.id,
        "webhook_disabled",
        webhook_id=webhook.id,
        now=world.clock.now,
    )

    assert world.deliver() == 1
    assert world.slack.dm("UOWNER") == []


def a_holiday(world: World, day: date) -> None:
    config = world.database.read_now(organisation_config.of_organisation, world.acme.id)
    set_id = next(iter(config.holiday_sets))
    new = NewOverride(date=day, name="Market <day>")
    world.clock.advance(seconds=1)
    world.change(holiday_overrides.add, set_id, new)


def test_requesters_are_notified_of_recalculated_days_and_the_reason(world: World) -> None:
    world.a_request()
    world.press(GRACE, ids.APPROVE)

    a_holiday(world, FIRST_DAY)

    assert world.slack.dm(ADA)[-1].text == (
        "Your leave now counts as 2 days instead of 3 days, because Mon 3 Aug 2026 is now "
        "a public holiday (Market &lt;day&gt;). Annual leave, Mon 3 to Wed 5 Aug "
        "2026, 2 days. After this: 23 days left in 2026."
    )


def test_cards_of_recalculated_leave_are_refreshed_without_naming_an_editor(
    world: World,
) -> None:
    world.a_request()
    before = len(world.slack.dm(GRACE))

    a_holiday(world, FIRST_DAY)

    assert "2 days" in world.card(GRACE).text
    assert world.card(GRACE).buttons
    assert len(world.slack.dm(GRACE)) == before
    assert world.slack.dm(ADA)[-1].text.startswith(
        "Your leave now counts as 2 days instead of 3 days"
    )


def test_requesters_are_notified_that_leave_without_days_stays_booked(world: World) -> None:
    world.a_request()

    for number in range(3):
        a_holiday(world, FIRST_DAY + timedelta(days=number))

    assert world.slack.dm(ADA)[-1].text.startswith(
        "Your leave now counts as no days instead of 1 day, "
    )
    assert "It stays booked. Cancel it if you no longer need it." in world.slack.dm(ADA)[-1].text


def outcomes() -> dict[str, float]:
    """How often ``chat.postMessage`` had each outcome so far."""
    return {
        sample.labels["outcome"]: sample.value
        for family in REGISTRY.collect()
        for sample in family.samples
        if sample.name == "hiatus_slack_calls_total"
        and sample.labels["method"] == "chat.postMessage"
    }


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        ({"error": "ratelimited", "retry_after": 17}, "rate_limited"),
        ({"status": 500}, "unavailable"),
        ({"reset": True}, "connection_failed"),
        ({"body": "not json"}, "unavailable"),
        ({"error": "fatal_error"}, "unavailable"),
        ({"error": "token_revoked"}, "token_refused"),
        ({"error": "channel_not_found"}, "refused"),
    ],
)
def test_a_failed_call_is_counted_by_its_outcome(
    world: World, failure: dict[str, Any], outcome: str
) -> None:
    world.send_form()
    world.slack.fail_next("chat.postMessage", times=1_000, **failure)
    before = outcomes()

    world.deliver()

    after = outcomes()
    assert after[outcome] > before.get(outcome, 0)
    assert {name for name, count in after.items() if count != before.get(name, 0)} == {outcome}


def measured(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"hiatus_slack_{name}", labels) or 0


def test_calls_that_succeed_are_counted_and_timed(world: World) -> None:
    world.send_form()
    before = outcomes().get("ok", 0)
    timed_before = measured("call_duration_seconds_count", method="chat.postMessage")

    attempts = world.deliver()

    timed = measured("call_duration_seconds_count", method="chat.postMessage")
    assert attempts > 0
    assert outcomes()["ok"] - before == timed - timed_before == attempts


def test_the_wait_that_slack_asks_for_is_seconds(world: World) -> None:
    world.send_form()
    world.slack.fail_next("chat.postMessage", error="ratelimited", retry_after=17)
    before = measured("retry_after_seconds_sum")

    world.deliver()

    assert measured("retry_after_seconds_sum") - before == 17
