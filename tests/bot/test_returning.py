"""Uninstalling the app stops notifications; reinstalling it shows what is still pending."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from bot.base import ids
from bot.base.settings import SlackSettings
from bot.service.app import build_app
from storage.admin import organisation_settings
from storage.db.database import Database, Transaction
from storage.db.tables import NotificationRow, ReminderRow
from storage.leave import decisions
from storage.notifications import notification_queue
from storage.notifications.notification_queue import Outcome
from storage.workspaces import slack_installations
from tests.bot.browser import Browser, by_oauth
from tests.bot.conftest import Logged
from tests.bot.world import ADA, GRACE, HEDY, World, to_decide
from tests.builders import NOW, a_slack_installation, a_slack_profile
from tests.fakes.slack import LoopbackSlack
from tests.refusals import crossing, overlapping

pytestmark = pytest.mark.both_engines

TUESDAY = datetime(2026, 6, 2, 8, tzinfo=UTC)


@pytest.fixture
def world(database: Database, slack: LoopbackSlack) -> Iterator[World]:
    with World(database, slack, slack_settings=by_oauth(slack)) as running:
        running.link()
        install(running)
        yield running


def install(world: World) -> None:
    assert Browser(world).install(world.slack, ADA, "T1").status_code == 200


def uninstall(world: World) -> None:
    happened_at = {"event_time": int(world.clock().timestamp())}
    assert world.slack.event({"type": "app_uninstalled"}, overrides=happened_at).ok
    world.settled()


def rows_of(world: World, table: Any) -> list[dict[str, Any]]:
    names = [field.name for field in table._meta.sorted_fields]

    def read(tx: Transaction) -> list[dict[str, Any]]:
        cursor = tx._execute(f"SELECT {', '.join(names)} FROM {table._meta.table_name}", [])
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    return world.database.read_now(read)


def notifications_to_people(world: World, status: str) -> list[dict[str, Any]]:
    """Notifications of this status, except those that only search for cards to refresh."""
    return [
        row
        for row in rows_of(world, NotificationRow)
        if row["status"] == status and row["kind"] != "cover_changed"
    ]


def undelivered(world: World) -> list[dict[str, Any]]:
    return notifications_to_people(world, "pending")


def decide(world: World, request_id: str, how: Any = decisions.approve, **more: Any) -> None:
    world.clock.advance(minutes=1)
    by = world.acme.caller
    world.database.write_now(how, request_id, by=by, now=world.clock(), **more)


def test_nothing_is_queued_for_a_workspace_without_the_app(world: World, logged: Logged) -> None:
    before = world.a_request()
    uninstall(world)
    lines, calls = len(logged.lines), len(world.slack.calls("chat.postMessage"))

    world.clock.advance(minutes=1)
    world.submit_over_rest(start_date=date(2026, 9, 7), end_date=date(2026, 9, 7))
    decide(world, before.id)
    world.clock.now = TUESDAY + timedelta(days=30)
    world.run(world.app.reminders.run)
    world.run(world.app.digests.run)

    assert undelivered(world) == []
    assert world.deliver() == 0
    assert len(world.slack.calls("chat.postMessage")) == calls
    assert logged.lines[lines:] == []


def test_uninstalling_discards_pending_notifications(world: World, logged: Logged) -> None:
    assert world.send_form().errors == {}
    world.settled()
    waiting = len(undelivered(world))

    uninstall(world)

    assert (waiting, undelivered(world)) == (3, [])
    world.clock.advance(hours=2)
    assert world.deliver() == 0
    assert "slack.notification_not_delivered" not in "".join(logged.lines)


def test_uninstalling_and_recording_messages_do_not_deadlock(
    world: World,
) -> None:
    assert world.send_form().errors == {}
    world.settled()
    first, *_, last = world.run(lambda: world.app.notifier.claim(100))
    now, refused = world.clock(), Outcome(verdict="retry", error="token_revoked")

    runs = crossing(
        world.database,
        lambda tx: notification_queue.record_results(tx, [(last.notification, refused)], now=now),
        lambda tx: notification_queue.record_results(tx, [(first.notification, refused)], now=now),
        lambda tx: slack_installations.uninstall(tx, "T1", at=now, now=now),
    )

    assert runs == 2
    world.clock.advance(minutes=5)
    assert world.deliver() <= 1
    assert undelivered(world) == []


def test_a_refused_token_ends_the_installation_with_one_log_line(
    world: World, logged: Logged
) -> None:
    assert world.send_form().errors == {}
    world.settled()
    world.slack.revoke(world.slack.team("T1").token or "")
    notifier = world.app.notifier

    async def all_at_once() -> None:
        claimed = await notifier.claim(100)
        outcomes = await asyncio.gather(
            *(notifier.deliver(notification) for notification in claimed)
        )
        await notifier.record_results(list(zip(claimed, outcomes, strict=True)))

    world.run(all_at_once)
    world.clock.advance(hours=2)

    assert world.deliver() == 0
    warned = [line for line in logged.lines if '"level": "warning"' in line]
    assert len(warned) == 1
    assert "slack.installation_ended" in warned[0]


def test_a_token_refused_twice_concurrently_ends_the_installation_once(world: World) -> None:
    now = world.clock()
    ended: list[bool] = []

    def end(tx: Transaction) -> None:
        ended.append(slack_installations.uninstall(tx, "T1", at=now, now=now))

    overlapping(world.database, end, lambda: world.database.write_now(end))

    assert ended == [True, False]
    assert world.audited("slack_installation.ended") == 1


def test_reinstalling_during_an_uninstallation_shows_pending_requests(world: World) -> None:
    request = world.a_request()
    card = world.card(GRACE)
    now = world.clock()

    overlapping(
        world.database,
        lambda tx: slack_installations.uninstall(tx, "T1", at=now, now=now),
        lambda: install(world),
    )

    request_ids = [notification["leave_request_id"] for notification in undelivered(world)]
    assert request_ids != []
    assert set(request_ids) == {request.id}
    world.deliver()
    assert world.card(GRACE).ts == card.ts


def test_reinstalling_while_the_old_token_is_refused_keeps_the_installation(world: World) -> None:
    workspaces = world.app.services.workspaces
    old = world.run(lambda: workspaces.for_delivery("T1"))
    assert old is not None
    world.clock.advance(minutes=1)
    installer = a_slack_profile(world.people[ADA].email, slack_user_id=ADA)
    reinstalled = a_slack_installation(
        installer, team_id="T1", team_name="Acme", bot_token="xoxb-new", bot_id="B1"
    )
    is_gone: list[bool] = []

    overlapping(
        world.database,
        lambda tx: slack_installations.install(tx, reinstalled, now=world.clock()),
        lambda: is_gone.append(world.run(lambda: workspaces.token_refused(old))),
    )

    installation = world.database.read_now(slack_installations.find, "T1")
    assert (installation and installation.bot_token, is_gone) == ("xoxb-new", [False])


def test_pending_requests_are_shown_after_the_app_is_reinstalled(world: World) -> None:
    request = world.a_request()
    card = world.card(GRACE)
    uninstall(world)
    world.clock.advance(minutes=1)
    unseen = world.submit_over_rest(start_date=date(2026, 9, 7), end_date=date(2026, 9, 7))

    world.clock.advance(days=1)
    install(world)
    world.deliver()

    first, second = [card for card in world.cards(GRACE) if to_decide(card)]
    assert (first.ts, first.buttons[0].value) == (card.ts, request.id)
    assert second.buttons[0].value == unseen.id
    assert world.slack.dm(ADA)[-1].text.startswith("Your request was sent to Grace Hopper")
    world.home(GRACE)
    waiting = [
        button for button in world.slack.home(GRACE).buttons if button.action_id == ids.HOME_APPROVE
    ]
    assert {button.value for button in waiting} == {request.id, unseen.id}
    world.click(GRACE, ids.APPROVE, second)
    assert notifications_to_people(world, "failed") == []


@pytest.mark.parametrize("error", ["cant_update_message", "channel_not_found"])
def test_a_card_of_the_old_installation_is_posted_again(world: World, error: str) -> None:
    request = world.a_request()
    old = world.card(GRACE)
    uninstall(world)

    install(world)
    world.slack.fail_next("chat.update", times=2, error=error)
    world.deliver()

    card = world.card(GRACE)
    assert card.ts != old.ts
    assert card.buttons[0].value == request.id
    world.press(GRACE, ids.APPROVE, card)
    assert to_decide(world.card(GRACE)) == []


def test_decisions_without_the_app_are_notified_and_their_cards_lose_their_buttons(
    world: World,
) -> None:
    request = world.a_request()
    uninstall(world)
    decide(world, request.id, decisions.decline, reason="Release week")

    world.clock.advance(days=1)
    install(world)
    world.deliver()

    for who in (GRACE, HEDY):
        (card,) = world.cards(who)
        assert to_decide(card) == []
        assert "Declined by Olive Owner" in card.visible_text
    assert world.slack.dm(ADA)[-1].text.startswith("Olive Owner declined your request.")
    assert world.slack.dm(ADA)[-1].text.endswith("Reason: Release week")


def test_decisions_before_the_uninstallation_are_not_notified_again(world: World) -> None:
    request = world.a_request()
    decide(world, request.id)
    world.deliver()
    world.clock.advance(minutes=11)
    world.deliver()
    texts = [message.text for message in world.slack.dm(ADA)]
    world.clock.advance(minutes=1)
    uninstall(world)

    world.clock.advance(days=1)
    install(world)

    assert world.deliver() == 0
    assert [message.text for message in world.slack.dm(ADA)] == texts


def test_reminders_restart_after_the_app_is_reinstalled(world: World) -> None:
    world.a_request()
    uninstall(world)
    world.clock.now = TUESDAY + timedelta(days=20)
    world.run(world.app.reminders.run)
    meanwhile = {
        (reminder["sent"], bool(reminder["is_next_step"]))
        for reminder in rows_of(world, ReminderRow)
    }

    install(world)
    world.deliver()
    world.run(world.app.reminders.run)
    world.deliver()
    at_once = [
        message.text for message in world.slack.dm(GRACE) if message.text.startswith("Still")
    ]
    world.clock.advance(days=1)
    world.run(world.app.reminders.run)
    world.deliver()

    assert meanwhile == {(0, False)}
    assert at_once == []
    assert (
        len([message for message in world.slack.dm(GRACE) if message.text.startswith("Still")]) == 1
    )
    assert world.audited("leave_request.next_step_asked") == 0


def test_a_digest_is_neither_claimed_nor_posted_without_the_app(world: World) -> None:
    world.slack.add_channel("CDIGEST", "who-is-out", is_member=True)
    world.database.write_now(
        organisation_settings.update, {"digest_channel": "CDIGEST"}, by=world.acme.caller, now=NOW
    )
    world.submit_over_rest(
        leave_type_id=world.leave_type("sick"), start_date=TUESDAY.date(), end_date=TUESDAY.date()
    )
    uninstall(world)
    calls = len(world.slack.calls("chat.postMessage"))
    for minute in range(0, 120, 10):
        world.clock.now = TUESDAY + timedelta(minutes=minute)
        world.run(world.app.digests.run)
    gone = len(world.slack.calls("chat.postMessage")) - calls

    install(world)
    world.clock.advance(hours=1)
    world.run(world.app.digests.run)

    assert gone == 0
    assert len(world.slack.in_channel("CDIGEST")) == 1


def test_a_token_in_the_settings_replaces_an_installation_that_ended(world: World) -> None:
    uninstall(world)
    world.clock.advance(minutes=1)
    world.submit_over_rest()
    settings = SlackSettings(api_url=world.slack.api_url, bot_token=world.slack.team("T1").token)
    by_token = build_app(settings, world.database, world.clock)

    async def send_due() -> list[str]:
        async with by_token.running():
            return [
                (await by_token.notifier.deliver(claimed)).verdict
                for claimed in await by_token.notifier.claim(10)
            ]

    assert asyncio.run(send_due()) == ["delivered"] * 3
    assert [len(world.cards(who)) for who in (GRACE, HEDY)] == [1, 1]
    assert world.audited("slack_installation.replaced") == 1
