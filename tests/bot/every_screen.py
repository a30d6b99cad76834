"""What people do so that the app shows each of its modals and messages.

A new screen needs a line in one of the tables or functions; ``test_slack_types`` names the screens
that are missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Final

from api.webhooks.webhook_urls import resolve_and_check
from bot.base import ids
from playground.loopback.blocks import located
from storage.admin import people
from storage.events import admin_notifications
from storage.webhooks import webhooks
from tests.bot.test_amendments import open_change
from tests.bot.test_settings_rest import URL, webhooks_of
from tests.bot.world import ADA, EVE, FIRST_DAY, GRACE, HEDY, World
from tests.builders import a_person
from tests.fakes.slack import View

ADMIN: Final = "UADMIN"
# In Slack only: one joins, the other is added.
NEW: Final = "UNEW"
ADDED: Final = "UADDED"
GUEST: Final = "UGUEST"
OLD: Final = "UOLD"
CHANNEL: Final = "CWHOISOUT"

COMMANDS: Final = (
    "help",
    "balance",
    "mine",
    "cancel",
    "out",
    "calendar",
    "calendar everyone",
    "next moonday perhaps",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Path:
    """Buttons that an admin presses in turn, the first on Home, each in the modal opened before.

    A button is an action id. A menu's is followed by the choice and the person whose menu it is, ""
    for the first menu with that choice. ``sent`` is what the admin fills in and sends; None if the
    last button opens no form.
    """

    pressed: tuple[str | tuple[str, str, str], ...]
    sent: Mapping[str, object] | None = None


def of_person(choice: str, who: str) -> tuple[str, str, str]:
    return ids.PERSON_MENU, choice, who


SETTINGS: Final = (
    Path(pressed=(ids.KEYS, ids.KEY_NEW), sent={"name": "payroll", "scopes": ["leave:read"]}),
    Path(pressed=(ids.KEYS, ids.KEY_REVOKE)),
    Path(pressed=(ids.FEEDS, ids.FEED_NEW), sent={"name": "Kitchen"}),
    Path(pressed=(ids.FEEDS, ids.FEED_REMOVE)),
    Path(pressed=(ids.FEEDS, ids.FEEDS_REGENERATE)),
    Path(pressed=(ids.PEOPLE, ids.PERSON_NEW), sent={"slack_user_id": ADDED}),
    Path(pressed=(ids.PEOPLE, of_person(ids.MENU_EDIT, ADA)), sent={"leave_allowance": "1"}),
    Path(
        pressed=(ids.PEOPLE, of_person(ids.MENU_BALANCE, ADA)),
        sent={"days": "-1.5", "reason": "Moved"},
    ),
    Path(pressed=(ids.PEOPLE, of_person(ids.MENU_DEACTIVATE, GRACE))),
    Path(pressed=(ids.PEOPLE, of_person(ids.MENU_DEACTIVATE, OLD)), sent={}),
    Path(pressed=(ids.PEOPLE, of_person(ids.MENU_EDIT, OLD), ids.PERSON_REACTIVATE)),
    Path(pressed=(ids.PEOPLE, of_person(ids.MENU_ARCHIVE, OLD)), sent={}),
    Path(pressed=(ids.PEOPLE, of_person(ids.MENU_EDIT, EVE), ids.PERSON_UNLINK)),
    Path(pressed=(ids.DEPARTMENTS, ids.DEPARTMENT_NEW), sent={"name": "Design"}),
    Path(
        pressed=(ids.DEPARTMENTS, (ids.DEPARTMENT_MENU, ids.MENU_EDIT, "")),
        sent={"default_leave_allowance": "1"},
    ),
    Path(pressed=(ids.DEPARTMENTS, (ids.DEPARTMENT_MENU, ids.MENU_DELETE, ""))),
    Path(pressed=(ids.LEAVE_TYPES, ids.LEAVE_TYPE_NEW), sent={"name": "Study"}),
    Path(pressed=(ids.LEAVE_TYPES, (ids.LEAVE_TYPE_MENU, ids.MENU_EDIT, "")), sent={}),
    Path(pressed=(ids.LEAVE_TYPES, (ids.LEAVE_TYPE_MENU, ids.MENU_ARCHIVE, "")), sent={}),
    Path(pressed=(ids.LEAVE_TYPES, (ids.LEAVE_TYPE_MENU, ids.MENU_RESTORE, ""))),
    Path(pressed=(ids.ORGANISATION,), sent={"default_leave_allowance": "1"}),
    Path(pressed=(ids.DIGESTS, ids.DIGEST_NEW), sent={"channel": CHANNEL}),
    Path(pressed=(ids.DIGESTS, ids.DIGEST_EDIT), sent={}),
    Path(pressed=(ids.HOLIDAYS, ids.HOLIDAYS_NEW)),
    Path(
        pressed=(ids.HOLIDAYS, ids.OVERRIDES, ids.OVERRIDE_NEW),
        sent={"date": "2026-09-01", "name": "Founders' day"},
    ),
    Path(
        pressed=(ids.HOLIDAYS, ids.OVERRIDES, ids.OVERRIDE_NEW),
        sent={"date": "2026-08-04", "name": "Founders' day"},
    ),
    Path(pressed=(ids.HOLIDAYS, ids.OVERRIDES, ids.OVERRIDE_OF_DAY)),
    Path(pressed=(ids.HOLIDAYS, ids.OVERRIDES, ids.OVERRIDE_REMOVE), sent={}),
    Path(pressed=(ids.WEBHOOKS, ids.WEBHOOK_NEW), sent={"url": URL}),
    Path(pressed=(ids.WEBHOOKS, ids.WEBHOOK, ids.WEBHOOK_EDIT), sent={}),
    Path(pressed=(ids.WEBHOOKS, ids.WEBHOOK, ids.WEBHOOK_TEST)),
    Path(pressed=(ids.WEBHOOKS, ids.WEBHOOK, ids.WEBHOOK_ROTATE)),
)


def show_all(world: World, locale: str) -> None:
    """Show every screen to people who read this language of Slack's."""
    _prepare(world, locale)
    _join(world)
    _request(world)
    for path in SETTINGS:
        _walk(world, path)
    _decide(world)
    _change(world)
    _record(world)
    _fall_ill(world)
    world.run(world.app.digests.run)
    _webhook_breaks(world)
    for text in COMMANDS:
        world.slack.command(ADA, "/timeoff", text)
        world.settled()


def _prepare(world: World, locale: str) -> None:
    """Add an admin, a colleague who leaves, three who are in Slack only, and a channel."""
    anna = {"email": "anna@example.com", "first_name": "Anna", "last_name": "Admin"}
    world.people[ADMIN] = world.database.write_now(
        people.create, anna | {"role": "admin"}, by=world.acme.caller, now=world.clock()
    )
    world.people[OLD] = a_person(world.database, world.acme, first_name="Otto")
    world.slack.add_person(ADMIN, "anna@example.com", "Anna Admin", tz="Europe/London")
    world.slack.add_person(NEW, "emmy@example.com", "Emmy Noether", tz="Europe/London")
    world.slack.add_person(ADDED, "mary@example.com", "Mary Cartwright", tz="Europe/London")
    world.slack.add_person(GUEST, "guest@example.com", "Gus Guest", is_restricted=True)
    for who in (ADMIN, NEW, ADDED, GUEST, ADA, GRACE, HEDY, EVE):
        world.slack.change_person(who, locale=locale)
    world.slack.add_channel(CHANNEL, "who-is-out", is_member=True)
    world.app.services.check_webhook_url = partial(resolve_and_check, allow_private=False)
    world.link()


def _home(world: World, who: str) -> View:
    world.slack.open_home(who)
    world.settled()
    return world.slack.home(who)


def _press(world: World, who: str, view: View, action_id: str, choice: str = "") -> View:
    """Press the first such button, or choose in a menu; returns the modal that is then on top."""
    matching = [
        (block["block_id"], value)
        for block, element in located(view.blocks)
        if element.get("action_id") == action_id
        for value in _values(element)
        if value is None or value.startswith(choice)
    ]
    assert matching, f"{view.title} has no {action_id} {choice}"
    block_id, chosen = matching[0]
    assert world.slack.pick(who, view, block_id, action_id, chosen).ok
    world.settled()
    return world.slack.open_modal(who)


def _values(element: dict[str, Any]) -> list[str | None]:
    """What pressing the element may send."""
    if element["type"] == "overflow":
        return [option["value"] for option in element["options"]]
    return [element.get("value")]


def _walk(world: World, path: Path) -> None:
    shown = _home(world, ADMIN)
    for button in path.pressed:
        if isinstance(button, str):
            shown = _press(world, ADMIN, shown, button)
        else:
            action_id, choice, who = button
            about = world.people[who].id if who else ""
            shown = _press(world, ADMIN, shown, action_id, f"{choice} {about}")
        _search(world, shown)
    if path.sent is not None:
        assert world.slack.submit(ADMIN, shown, path.sent).errors == {}, path
        world.settled()
    while world.slack.has_modal(ADMIN):
        world.slack.close(ADMIN, world.slack.open_modal(ADMIN), is_cleared=True)


def _search(world: World, view: View) -> None:
    """Type into every search of the view."""
    for _, element in located(view.blocks):
        if element["type"] == "external_select":
            assert world.slack.suggest(ADMIN, view, element["action_id"], "a").ok


def _join(world: World) -> None:
    """The first messages to an admin and to a person who joins; a guest is refused."""
    for who in (ADMIN, EVE, GUEST):
        _home(world, who)
    world.slack.command(NEW, "/timeoff", "balance")
    world.deliver()


def _request(world: World) -> None:
    """A form with a refusal, with the parts of a day, with halves and a cover; it is sent."""
    form = world.open_form()
    for block_id, value in (
        (ids.FIRST_DAY, "2026-08-01"),
        (ids.FIRST_DAY, FIRST_DAY.isoformat()),
        (ids.PART_OF_DAY, ids.MORNING),
    ):
        world.slack.pick(ADA, form, block_id, ids.RECOUNT, value)
        world.settled()
        form = world.slack.open_modal(ADA)
    world.slack.suggest(ADA, form, ids.COVER_SEARCH, "")
    world.slack.close(ADA, form)
    world.a_request(note="Wedding", **{ids.BEGINS: ids.MIDDAY})
    _home(world, ADA)
    form = _press(world, GRACE, _home(world, GRACE), ids.HOME_DECLINE)
    world.slack.close(GRACE, form)
    calendar = _press(world, GRACE, _home(world, GRACE), ids.CALENDAR)
    world.slack.close(GRACE, calendar)


def _decide(world: World) -> None:
    """A reminder, a decline and both ways to reverse it."""
    world.clock.advance(days=1)
    world.run(world.app.reminders.run)
    world.deliver()
    world.click(GRACE, ids.DECLINE)
    form = world.slack.open_modal(GRACE, ids.DECLINE_FORM)
    world.slack.submit(GRACE, form, {ids.REASON: "Release week"})
    world.deliver()
    world.click(ADA, ids.ASK_AGAIN, world.slack.dm(ADA)[-1])
    world.slack.close(ADA, world.slack.open_modal(ADA, ids.REQUEST_FORM))
    world.click(GRACE, ids.REVERSE)
    world.slack.submit(GRACE, world.slack.open_modal(GRACE, ids.REVERSE_TO_APPROVED_FORM))
    world.deliver()
    world.click(GRACE, ids.REVERSE)
    form = world.slack.open_modal(GRACE, ids.REVERSE_TO_DECLINED_FORM)
    world.slack.close(GRACE, form)


def _change(world: World) -> None:
    """A change of approved leave that awaits a decision, as all see it; it is declined."""
    world.clock.advance(days=1)
    world.deliver()
    longer = {ids.LAST_DAY: (FIRST_DAY + timedelta(days=4)).isoformat()}
    assert world.slack.submit(ADA, open_change(world), longer).errors == {}
    world.deliver()
    _home(world, ADA)
    form = _press(world, GRACE, _home(world, GRACE), ids.HOME_AMENDMENT_DECLINE)
    world.slack.close(GRACE, form)
    world.click(GRACE, ids.AMENDMENT_DECLINE)
    form = world.slack.open_modal(GRACE, ids.AMENDMENT_DECLINE_FORM)
    world.slack.submit(GRACE, form, {ids.REASON: "Release week"})
    world.deliver()


def _record(world: World) -> None:
    """Leave that an approver records, and the objection to it."""
    world.slack.command(GRACE, "/timeoff", f"<@{ADA}|ada> sick today")
    world.settled()
    form = world.slack.open_modal(GRACE, ids.RECORD_FORM)
    world.slack.suggest(GRACE, form, ids.RECORD_PERSON, "a")
    world.slack.suggest(GRACE, form, ids.RECORD_COVER, "")
    assert world.slack.submit(GRACE, form).errors == {}
    world.deliver()
    world.slack.close(GRACE, world.slack.open_modal(GRACE))
    world.click(ADA, ids.OBJECT, world.own_message(ADA))
    world.deliver()


def _fall_ill(world: World) -> None:
    """Illness on the second day of the approved leave."""
    day = FIRST_DAY + timedelta(days=1)
    world.clock.advance(days=(day - world.clock().date()).days)
    form = _press(world, ADA, _home(world, ADA), ids.INTERRUPT)
    assert world.slack.submit(ADA, form).errors == {}
    world.deliver()
    _home(world, EVE)


def _webhook_breaks(world: World) -> None:
    """The message to admins about a webhook, and the webhook that it opens."""
    (webhook,) = webhooks_of(world)
    acme, now = world.acme.id, world.clock()
    write = world.database.write_now
    write(webhooks.disable, acme, webhook.id, "It answered 410.", now=now)
    write(admin_notifications.notify_of_disabled_webhook, acme, webhook.id, now=now)
    world.deliver()
    world.click(ADMIN, ids.WEBHOOK, world.slack.dm(ADMIN)[-1])
