"""German readers get German: every modal, message and Home tab that can be opened is opened.

What can be opened follows from the registered listeners, so a new one has to be reached too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import partial
from typing import Any, Final

import pytest

from api.webhooks.webhook_urls import resolve_and_check
from bot.base import ids
from bot.listeners import commands, registered
from playground.loopback.blocks import is_empty, is_stateful, located
from storage.access import api_keys, feeds
from storage.admin import departments, holiday_overrides, organisation_settings, people
from storage.admin.holiday_overrides import NewOverride
from storage.db.database import Transaction
from storage.directory import holiday_sets, slack_locales
from storage.events import organisation_config
from storage.leave import leave_types
from storage.webhooks import webhooks
from tests import catalogues
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.builders import a_person, a_request
from tests.fakes.slack import Answer, View

ANNA: Final = "UANNA"
CHANNEL: Final = "CWHOISOUT"
URL: Final = "https://93.184.215.14/hook"
MORNINGS: Final = ["monday:am", "tuesday:am", "wednesday", "thursday", "friday"]

# Events that show nothing.
SILENT: Final = {
    (one.kind, one.name)
    for one in registered("/timeoff")
    if one.kind == "event" and one.name != "app_home_opened"
}
# What takes something away, which is done once everything else was.
TAKES_AWAY: Final = re.compile(r"\.(remove|delete|archive|revoke|off|deactivate|cancel)$")

# Beside the words that the command knows.
TYPED: Final = ("3-7 aug", "gibberish", "3-7 aug gibberish")
# Typed into searches, and filled into forms so that they concern a person's leave.
SEARCHED: Final = {
    ids.PEOPLE_PICK: "ada",
    ids.PERSON_SEARCH: "eve",
    ids.COUNTRY_SEARCH: "DE",
    ids.TIMEZONE_SEARCH: "berlin",
    ids.DEPARTMENT_SEARCH: "eng",
}
FILLED: Final[dict[str, dict[str, Any]]] = {
    ids.PERSON_FORM: {"working_days": MORNINGS},
    ids.ORGANISATION_FORM: {"working_days": MORNINGS},
    ids.OVERRIDE_FORM: {"date": "2026-09-07", "name": "Betriebsruhe"},
    ids.PERSON_NEW_FORM: {"email": "neu@example.com", "first_name": "Nina", "last_name": "Neu"},
    ids.WEBHOOK_FORM: {"url": URL},
    ids.WEBHOOK_EDIT_FORM: {"url": URL + "/2"},
}


class Visitor:
    """Anna, who uses everything that she can reach; ``reached`` are the listeners behind it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.slack = world.slack
        self.reached: set[tuple[str, str]] = set()
        self.answers: list[Answer] = []
        self._used: set[tuple[str, ...]] = set()
        self.takes_away = False
        # Of every request that is made a day of its own.
        self._next_day = date(2026, 11, 18)

    def command(self, name: str, text: str) -> None:
        """Type the command, and use everything that it opens."""
        self._heard("command", name, self.slack.command(ANNA, name, text))
        self._through_modals(text)

    def shortcut(self, name: str) -> None:
        self._heard("shortcut", name, self.slack.shortcut(ANNA, name))
        self._through_modals(name)

    def home(self) -> None:
        self._heard("event", "app_home_opened", self.slack.open_home(ANNA))
        self._use_everything("home")

    def everything(self, *, takes_away: bool) -> None:
        """Use all that is reached from the Home tab; forms that were sent are not sent again."""
        self._used = {one for one in self._used if one[0] == "view"}
        self.takes_away = takes_away
        self.home()

    def settings_again(self, button: str) -> None:
        """Open once more what a button of the Home tab opens, as it is now."""
        self._used = {one for one in self._used if one[0] == "view"}
        home = self._shown("home")
        self._use(
            home,
            *next(one for one in located(home.blocks) if one[1]["action_id"] == button),
            "home",
        )

    def click(self, action_id: str) -> None:
        """Press a button of the newest message that has it."""
        told = [*self.slack.dm(ANNA), *(one for one in self.slack.ephemerals if one.user == ANNA)]
        message = next(
            one for one in reversed(told) if action_id in {has.action_id for has in one.buttons}
        )
        button = next(has for has in message.buttons if has.action_id == action_id)
        answer = self.slack.click(
            ANNA, message, action_id, button.value, block_id=button.block_id or None
        )
        self._heard("action", action_id, answer)
        self._through_modals(action_id)
        self.world.deliver()

    def _heard(self, kind: str, name: str, answer: Answer) -> None:
        assert answer.ok, (kind, name, answer.status)
        self.reached.add((kind, name))
        self.answers.append(answer)
        self.world.settled()

    def _through_modals(self, opened_by: str) -> None:
        while self.slack.has_modal(ANNA):
            self._use_everything(opened_by)

    def _shown(self, opened_by: str) -> View:
        return self.slack.home(ANNA) if opened_by == "home" else self.slack.open_modal(ANNA)

    def _use_everything(self, opened_by: str) -> None:
        """Use every element of the view on top that was not used yet, then send or close it."""
        view = self._shown(opened_by)
        while element := self._next_unused(view, opened_by):
            self._use(view, *element, opened_by)
            if opened_by != "home" and not self._is_open(view):
                return
            view = self._shown(opened_by)
        if opened_by == "home":
            return
        sends = ("view", opened_by, view.callback_id)
        if view.body.get("submit") and sends not in self._used and self._may_use(opened_by):
            self._used.add(sends)
            self._send(view)
            if self._is_open(view):
                self._use_everything(opened_by)
        else:
            self.slack.close(ANNA, view)

    def _next_unused(
        self, view: View, opened_by: str
    ) -> tuple[dict[str, Any], dict[str, Any]] | None:
        for block, element in located(view.blocks):
            name = element["action_id"]
            is_used = (opened_by, name) in self._used or not self._may_use(name)
            is_search = element["type"] == "external_select"
            if not is_used and (is_search or (_is_told(block) and "url" not in element)):
                return block, element
        return None

    def _may_use(self, name: str) -> bool:
        return self.takes_away or TAKES_AWAY.search(name) is None

    def _use(
        self, view: View, block: dict[str, Any], element: dict[str, Any], opened_by: str
    ) -> None:
        name, value = element["action_id"], element.get("value")
        self._used.add((opened_by, name))
        if element["type"] == "external_select":
            value = self._option(view, name)
        elif element["type"] in ("static_select", "radio_buttons"):
            value = (element.get("options") or element["option_groups"][0]["options"])[-1]
        elif element["type"] == "datepicker":
            value = "2026-10-05"
        elif element["type"] == "checkboxes":
            value = element["options"][:1]
        if not _is_told(block):
            return
        answer = self.slack.pick(ANNA, view, block["block_id"], name, value)
        self._heard("action", name, answer)
        if self._is_covered(view):
            self._use_everything(name)

    def _option(self, view: View, name: str) -> Any:
        answer = self.slack.suggest(ANNA, view, name, SEARCHED[name])
        self._heard("options", name, answer)
        # Before those who were found there may be "none".
        return answer.body["options"][-1]

    def _send(self, view: View) -> None:
        values = dict(FILLED.get(view.callback_id, {}))
        if view.callback_id in (ids.REQUEST_FORM, ids.EDIT_FORM):
            self._next_day += timedelta(weeks=1)
            values |= dict.fromkeys((ids.FIRST_DAY, ids.LAST_DAY), self._next_day.isoformat())
        for block, element in located(view.blocks):
            if block["type"] != "input" or block.get("optional") or not is_stateful(element):
                continue
            state = view.values[block["block_id"]][element["action_id"]]
            if block["block_id"] not in values and is_empty(state):
                values[block["block_id"]] = self._something(view, element)
        if view.callback_id == ids.DEPARTMENT_FORM:
            values["manager_id"] = self._option(view, ids.PERSON_SEARCH)
        answer = self.slack.submit(ANNA, view, values)
        assert answer.errors == {}, (view.callback_id, answer.errors)
        self._heard("view", view.callback_id, answer)

    def _something(self, view: View, element: dict[str, Any]) -> Any:
        match element["type"]:
            case "plain_text_input":
                return "Neues"
            case "number_input":
                return "1"
            case "datepicker":
                return "2026-10-05"
            case "external_select":
                return self._option(view, element["action_id"])
            case "checkboxes" | "multi_static_select":
                return element["options"][:1]
        return element["options"][0]

    def _is_open(self, view: View) -> bool:
        # Not from a copy of every view there ever was, which takes long.
        return self.slack.workspace.views[view.id].is_open

    def _is_covered(self, view: View) -> bool:
        """Whether there is a modal on top of the view."""
        return self.slack.has_modal(ANNA) and self.slack.open_modal(ANNA).id != view.id


def _is_told(block: dict[str, Any]) -> bool:
    """Whether the app hears of what is picked in the block at once."""
    return block["type"] != "input" or bool(block.get("dispatch_action"))


@pytest.fixture
def german(world: World) -> World:
    """Everyone reads German; Anna decides on Ada's leave, and every list is longer than a page."""
    by, now = world.acme.caller, world.clock()
    anna = a_person(world.database, world.acme, first_name="Anna", last_name="Admin", role="admin")
    world.people[ANNA] = anna
    world.slack.add_person(ANNA, anna.email, anna.name, tz="Europe/Berlin")
    world.slack.add_channel(CHANNEL, "wer-ist-weg", is_member=True)
    for who in (ADA, GRACE, HEDY, EVE, ANNA):
        world.slack.change_person(who, locale="de-DE")
    world.app.services.check_webhook_url = partial(resolve_and_check, allow_private=False)
    world.link()

    def fill(tx: Transaction) -> None:
        people.update(tx, world.people[ADA].id, {"manager_id": anna.id}, by=by, now=now)
        managed = {"manager_id": world.people[GRACE].id}
        people.update(tx, anna.id, managed, by=by, now=now)
        organisation_settings.update(tx, {"digest_channel": CHANNEL}, by=by, now=now)
        mine = world.caller(ANNA)
        for number in range(100):
            departments.create(tx, {"name": f"Team {number:02}"}, by=by, now=now)
        for number in range(41):
            leave_types.create(tx, {"name": f"Sorte {number:02}"}, by=by, now=now)
            webhooks.create(tx, f"{URL}/{number}", ["leave_request.created"], by=by, now=now)
        for number in range(21):
            feeds.create(tx, f"Kalender {number:02}", by=mine, now=now)
            api_keys.create_key(
                tx,
                for_user=anna.id,
                name=f"Schlüssel {number:02}",
                scopes=["leave:read"],
                variant=1,
                expires_at=None,
                by=mine,
                now=now,
            )
        for code in COUNTRIES:
            holiday_sets.add(tx, code, by=by, now=now)
        config = organisation_config.of_organisation(tx, by.organisation_id).holiday_sets.values()
        (british,) = [one for one in config if one.country_code == "GB"]
        for number in range(31):
            day = date(2026, 7, 1) + timedelta(days=number)
            new = NewOverride(date=day, name="Betriebsruhe", is_holiday=True, half=None)
            holiday_overrides.add(tx, british.id, new, by=by, now=now)
        # The digest is in the owner's language.
        slack_locales.save(tx, by.organisation_id, world.acme.owner.id, "de-DE", now=now)

    world.database.write_now(fill)
    a_request(world.database, world.acme, world.people[HEDY])
    for number in range(14):
        first = date(2026, 8, 3) + timedelta(weeks=number)
        a_request(world.database, world.acme, world.people[ADA], start_date=first)
        a_request(world.database, world.acme, anna, start_date=first)
        one = a_person(world.database, world.acme, first_name=f"Weg{number}")
        a_request(world.database, world.acme, one, start_date=date(2026, 6, 2), code="sick")
    world.deliver()
    return world


COUNTRIES: Final = (
    *("AT", "BE", "CH", "DE", "DK", "ES", "FI", "FR", "IE", "IT", "LU", "NL", "NO", "PL", "PT"),
    *("SE", "CZ", "SK", "HU", "SI", "HR", "RO", "BG", "GR", "EE", "LV", "LT", "MT", "CY", "IS"),
    *("US", "CA", "MX", "BR", "AR", "CL", "JP", "KR", "AU", "NZ"),
)


def strings(thing: Any) -> Iterator[str]:
    """Every text in a payload that people read or hear."""
    if isinstance(thing, dict):
        for key, value in thing.items():
            if isinstance(value, str) and key in ("text", "accessibility_label", "alt_text"):
                yield value
            elif key == "errors" and isinstance(value, dict):
                yield from map(str, value.values())
            else:
                yield from strings(value)
    elif isinstance(thing, list):
        for one in thing:
            yield from strings(one)


def everything_said(visitor: Visitor) -> set[str]:
    told = [call.arguments for call in visitor.slack.calls()]
    told += [post.body for post in visitor.slack.response_posts]
    told += [answer.body for answer in visitor.answers]
    return set(strings(told))


def forms(message: Any) -> tuple[str, ...]:
    """Singular and plural, where a message has both."""
    return (message,) if isinstance(message, str) else tuple(message)


def literal(message: str) -> str:
    return re.sub(r"\{\w*\}", " ", message)


class English:
    """Finds English: messages that are translated, dates, and words that no German text has."""

    def __init__(self) -> None:
        self._words = re.compile(
            r"\b([Tt]he|[Tt]his|[Tt]hat|[Yy]ours?|[Yy]ou|[Nn]o|[Nn]ot|it|is|are|has|have|of|to|and|or"
            r"|by|for|from|with|yet|after|before|left|days?|morning|afternoon|midday)\b"
        )
        self._whole: dict[re.Pattern[str], str] = {}
        self._parts: dict[re.Pattern[str], str] = {}
        for message in catalogues.read("de"):
            if not message.id:
                continue
            for english in forms(message.id):
                if english in forms(message.string) or not re.search(r"[a-z]{2}", literal(english)):
                    continue
                pattern = ".*?".join(map(re.escape, re.split(r"\{\w*\}", english)))
                self._whole[re.compile(pattern, re.DOTALL)] = english
                if len(re.findall(r"[A-Za-z]{2,}", literal(english))) >= 3:
                    self._parts[re.compile(rf"\b{pattern}")] = english
        self._dates = re.compile(
            r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun|January|February|March|May|June|July|October|December)\b"
        )

    def found(self, said: str) -> list[str]:
        bare = re.sub(r"^[*_•\s]+|[*_\s]+$", "", said)
        found = [english for one, english in self._whole.items() if one.fullmatch(bare)]
        found += [english for one, english in self._parts.items() if one.search(said)]
        return found + self._dates.findall(said) + self._words.findall(said)


def test_a_german_admin_finds_no_english_wherever_they_look(german: World) -> None:
    anna = Visitor(german)

    for listener in registered("/timeoff"):
        if listener.kind == "command":
            # The same command under its other name needs no second round.
            typed = [*commands.SUBCOMMANDS, *TYPED] if listener.name == ids.COMMAND else [""]
            for words in typed:
                anna.command(listener.name, words)
        elif listener.kind == "shortcut":
            anna.shortcut(listener.name)
    anna.click(ids.APPROVE)
    anna.click(ids.RECONSIDER)
    anna.click(ids.DECLINE)
    anna.click(ids.RECONSIDER)
    anna.click(ids.EDIT)
    anna.click(ids.CANCEL_LISTED)
    anna.click(ids.CANCEL)
    anna.everything(takes_away=False)
    anna.everything(takes_away=True)
    anna.settings_again(ids.LEAVE_TYPES)
    german.clock.advance(days=1)
    german.run(german.app.periodic_jobs.run_due)
    german.deliver()

    english = English()
    in_english = {one: found for one in everything_said(anna) if (found := english.found(one))}
    assert in_english == {}
    every = {(listener.kind, listener.name) for listener in registered("/timeoff")}
    assert every - anna.reached == SILENT
