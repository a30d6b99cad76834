"""Every modal, message and Home tab that an admin can reach: in their language, valid for Slack.

It has to reach every registered listener, so new listeners are covered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from api.webhooks.webhook_urls import resolve_and_check
from bot import screens
from bot.base import ids, language
from bot.blocks import fields
from bot.listeners import commands
from playground.loopback.blocks import is_empty, is_stateful, located
from playground.playground import options_in
from storage.admin import (
    absence_limits,
    allowances,
    channel_digests,
    closures,
    departments,
    holiday_overrides,
    holiday_set_changes,
    organisation_settings,
    people,
)
from storage.admin.holiday_overrides import NewOverride
from storage.base.allowance_values import TenureStep
from storage.calendars import display_links, feeds
from storage.db.database import Transaction
from storage.keys import api_keys
from storage.leave import (
    decisions,
    lapsing_days,
    leave_requests,
    leave_types,
    suggestions,
    time_credits,
)
from storage.leave.drafts import Draft
from storage.leave.suggestions import Dates
from storage.notifications import expiry_notices
from storage.outbox import notification_outbox, organisation_config
from storage.people import holiday_sets, people_rows
from storage.rules.expiring_days import Due, NoticeKind
from storage.webhooks import webhooks
from storage.workspaces import balance_questions, slack_profiles, slack_statuses
from tests import catalogues, slack_types
from tests.bot.registrations import registered
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.builders import a_person, a_request, a_slack_profile
from tests.fakes.slack import Answer, View

ANNA: Final = "UANNA"
# An admin who has not used Slack yet.
NORA: Final = "UNORA"
CHANNEL: Final = "CWHOISOUT"
URL: Final = "https://93.184.215.14/hook"

# Events that show nothing.
SILENT: Final = {
    (listener.kind, listener.name)
    for listener in registered()
    if listener.kind == "event" and listener.name != "app_home_opened"
}
# Actions that remove something come after all others, as does the one that approves everything.
TAKES_AWAY: Final = re.compile(
    r"\.(remove|delete|archive|revoke|off|deactivate|cancel|disconnect)$|^inbox\.approve$"
)

# In addition to the command's own words.
TYPED: Final = (
    *("3-7 aug", "gibberish", "3-7 aug gibberish", "calendar", "calendar everyone"),
    *("@ada 3-7 aug", "@gibberish", "@ada @eve"),
)
TYPED_IN: Final = {
    "es": (
        *("trabajé sáb 1 día entrega", "trabajé el próximo sábado 5 días"),
        *("@weg hoy", "eve enferma hoy", "¿cuándo estoy fuera?"),
    ),
    "de": (
        *("gearbeitet sa 1 Tag Release", "gearbeitet nächsten samstag 5 Tage"),
        *("@weg heute", "eve heute krank", "bin ich weg?"),
    ),
    "fr": (
        *("travaillé sam 1 jour déploiement", "travaillé samedi prochain 5 jours"),
        *("@weg aujourd'hui", "eve malade aujourd'hui", "suis-je absente ?"),
    ),
}
# Written to the app in English, which everyone may use.
WRITTEN: Final = (
    *(
        "help",
        "9-11 dec unpaid",
        "16 dec and 18 dec unpaid",
        "sick starting tuesday",
        "request",
        "next bank holiday",
    ),
    *(
        "who approves my leave?",
        "am i off on 14 dec?",
        "is hedy in on 14 dec?",
        "when is hedy back",
    ),
    *("is hedy off in december?", "anything booked in december?", "move my leave", "@ada 3-7 aug"),
    *("is 25 dec a bank holiday?", "is 7 dec a bank holiday?", "bank holidays in december"),
)
# Typed into searches, and filled into forms so that they concern a person's leave.
SEARCHED: Final = {
    "settings.people.pick": "ada",
    "settings.search.person": "eve",
    "settings.absence_limits.person": "eve",
    ids.RECORD_PERSON: "hedy",
    ids.RECORD_COVER: "eve",
    "settings.search.country": "DE",
    "settings.search.timezone": "berlin",
    "settings.search.department": "eng",
    ids.COVER_SEARCH: "",
}
FILLED: Final[dict[str, dict[str, Any]]] = {
    "settings.absence_limits.form": {"max_away": "0"},
    "settings.people.form": {
        "working_days/monday": "monday:am",
        "working_days/tuesday": "tuesday:am",
    },
    "settings.organisation.form": {
        "working_days/monday": "monday:am",
        "working_days/tuesday": "tuesday:am",
    },
    "settings.leave_year.form": {"default_leave_allowance": "20"},
    ids.SUGGEST_FORM: {ids.FIRST_DAY: "2027-09-20", ids.LAST_DAY: "2027-09-21"},
    "settings.opening_figures.form": {"table": "Ada Lovelace; 12,5\nNiemand; 3"},
    "settings.holidays.categories.form": {"categories": []},
    "settings.overrides.form": {"date": "2026-09-07", "name": "Betriebsruhe"},
    "settings.leave_types.form": {"allowance_id": "none"},
    "settings.allowances.form": {"days_per_year": "0"},
    "settings.people.new.form": {
        "email": "neu@example.com",
        "first_name": "Nina",
        "last_name": "Neu",
    },
    "settings.webhooks.form": {"url": URL},
    "settings.webhook.edit.form": {"url": URL + "/2"},
}

EVERY_TERM: Final[dict[str, Any]] = {
    "granting": "monthly",
    "by_tenure": (TenureStep(after_years=5, half_days_per_year=60),),
    "available_after_months": 3,
    "may_borrow": True,
    "overdraft_half_days": 3,
    "carry_over_half_days": 10,
    "carry_over_expires_after_months": 3,
}


class Visitor:
    """Anna, who uses every element in reach; ``reached`` has the listeners that handled it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.slack = world.slack
        self.reached: set[tuple[str, str]] = set()
        self.responses: list[Answer] = []
        self._used: set[tuple[str, ...]] = set()
        self.takes_away = False
        # Every new request has a date of its own.
        self._next_day = date(2026, 11, 17)
        self._worked_on = date(2026, 5, 1)

    def command(self, name: str, text: str) -> None:
        """Type the command, and use every modal that it opens."""
        self._heard("command", name, self.slack.command(ANNA, name, text))
        self._through_modals(text)

    def write(self, text: str) -> None:
        """Write to the app in the conversation with it."""
        at_seconds = self.world.clock.now.timestamp()
        assert self.slack.write(ANNA, text, at_seconds=at_seconds).status == 200
        self.world.settled()

    def shortcut(self, name: str) -> None:
        self._heard("shortcut", name, self.slack.shortcut(ANNA, name))
        self._through_modals(name)

    def home(self) -> None:
        self._heard("event", "app_home_opened", self.slack.open_home(ANNA))
        self._use_everything("home")

    def everything(self, *, takes_away: bool) -> None:
        """Use every element in reach of the Home tab; a form is submitted once only."""
        self._used = {used for used in self._used if used[0] == "view"}
        self.takes_away = takes_away
        self.home()
        of_admins = (each for _, group in screens.OF_ADMINS for each in group)
        for screen in (*screens.OWN, *screens.OF_OAUTH, *of_admins):
            self._open_screen(screen.name)

    def settings_again(self, button: str) -> None:
        """Open a screen of the settings again."""
        self._used = {used for used in self._used if used[0] == "view"}
        self._open_screen(button)

    def _open_screen(self, button: str) -> None:
        home = self._shown("home")
        (block_id,) = [
            block["block_id"]
            for block, element in located(home.blocks)
            if element["action_id"] == ids.SETTINGS
        ]
        self._heard(
            "action", ids.SETTINGS, self.slack.pick(ANNA, home, block_id, ids.SETTINGS, None)
        )
        menu = self.slack.open_modal(ANNA)
        (block_id,) = [
            block["block_id"]
            for block, element in located(menu.blocks)
            if element["action_id"] == button
        ]
        self._heard("action", button, self.slack.pick(ANNA, menu, block_id, button, None))
        self._use_everything(button)

    def click(self, action_id: str) -> None:
        """Press a button of the newest message that has it."""
        messages = [
            *self.slack.dm(ANNA),
            *(message for message in self.slack.ephemerals if message.user == ANNA),
        ]
        message = next(
            message
            for message in reversed(messages)
            if action_id in {button.action_id for button in message.buttons}
        )
        button = next(button for button in message.buttons if button.action_id == action_id)
        response = self.slack.click(
            ANNA, message, action_id, button.value, block_id=button.block_id or None
        )
        self._heard("action", action_id, response)
        self._through_modals(action_id)
        self.world.deliver()

    def _heard(self, kind: str, name: str, response: Answer) -> None:
        assert response.ok, (kind, name, response.status)
        self.reached.add((kind, name))
        self.responses.append(response)
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
            if not is_used and (is_search or (_dispatches(block) and "url" not in element)):
                return block, element
        return None

    def _may_use(self, name: str) -> bool:
        return self.takes_away or TAKES_AWAY.search(name) is None

    def _use(
        self, view: View, block: dict[str, Any], element: dict[str, Any], opened_by: str
    ) -> None:
        name, value = element["action_id"], element.get("value")
        if element["type"] == "overflow":
            # One option a visit, until all were chosen.
            value = next(
                option["value"]
                for option in element["options"]
                if (opened_by, name, option["value"]) not in self._used
            )
            self._used.add((opened_by, name, value))
            if value != element["options"][-1]["value"]:
                opened_by = f"{opened_by} {value}"
        self._used.add((opened_by, name))
        if element["type"] == "external_select":
            value = self._option(view, name)
        elif element["type"] in ("static_select", "radio_buttons"):
            value = (element.get("options") or element["option_groups"][0]["options"])[-1]
        elif element["type"] == "datepicker":
            value = "2026-10-05"
        elif element["type"] == "checkboxes":
            value = element["options"][:1]
        if not _dispatches(block):
            return
        response = self.slack.pick(ANNA, view, block["block_id"], name, value)
        self._heard("action", name, response)
        if self._is_covered(view):
            self._use_everything(name)

    def _option(self, view: View, name: str) -> Any:
        response = self.slack.suggest(ANNA, view, name, SEARCHED[name])
        self._heard("options", name, response)
        # The first option may be "none".
        return options_in(response.body)[-1]

    def _send(self, view: View) -> None:
        filled = FILLED.get(view.callback_id, {})
        values: dict[str, Any] = {
            block["block_id"]: filled[name]
            for block in view.blocks
            if (name := fields.field_of(block["block_id"])) in filled
        }
        if view.callback_id in (ids.REQUEST_FORM, ids.EDIT_FORM, ids.RECORD_FORM):
            self._next_day += timedelta(weeks=1)
            values |= dict.fromkeys((ids.FIRST_DAY, ids.LAST_DAY), self._next_day.isoformat())
        if view.callback_id == ids.TIME_CREDIT_FORM:
            self._worked_on -= timedelta(days=1)
            values["worked_on"] = self._worked_on.isoformat()
        if view.callback_id == "settings.overrides.form" and not is_empty(
            view.values["date"][ids.ANSWER]
        ):
            # The form of a public holiday in the list proposes its day.
            del values["date"]
        for block, element in located(view.blocks):
            if block["type"] != "input" or block.get("optional") or not is_stateful(element):
                continue
            state = view.values[block["block_id"]][element["action_id"]]
            if block["block_id"] not in values and is_empty(state):
                values[block["block_id"]] = self._something(view, element)
        if view.callback_id == "settings.departments.form":
            values["manager_id"] = self._option(view, "settings.search.person")
        if view.callback_id == "settings.absence_limits.form":
            values["user_ids"] = [self._option(view, "settings.absence_limits.person")]
        response = self.slack.submit(ANNA, view, values)
        assert response.errors == {}, (view.callback_id, response.errors)
        self._heard("view", view.callback_id, response)

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
            case "conversations_select":
                return "CNEU"
            case "checkboxes" | "multi_static_select":
                return element["options"][:1]
        return element["options"][0]

    def _is_open(self, view: View) -> bool:
        # Read from the workspace: `slack.views` copies every view, which is slow.
        return self.slack.workspace.views[view.id].is_open

    def _is_covered(self, view: View) -> bool:
        """Whether there is a modal on top of the view."""
        return self.slack.has_modal(ANNA) and self.slack.open_modal(ANNA).id != view.id


def _dispatches(block: dict[str, Any]) -> bool:
    """Whether Slack sends the app each pick in the block."""
    return block["type"] != "input" or bool(block.get("dispatch_action"))


def amended(world: World, who: str, first_day: date) -> None:
    """Approved leave of a day with an open amendment: two more days and a note."""
    request = a_request(world.database, world.acme, world.people[who], start_date=first_day)
    by, now = world.acme.caller, world.clock()
    world.database.write_now(decisions.approve, request.id, by=by, now=now)
    changes = {"end_date": first_day + timedelta(days=2), "note": "Mit der Bahn"}
    world.database.write_now(
        leave_requests.edit, request.id, changes, by=world.caller(who), now=now
    )


@pytest.fixture(params=sorted(language.available()))
def translated(request: pytest.FixtureRequest) -> str:
    """The language that everyone reads: each of the catalogues."""
    return str(request.param)


def not_right(anna: Visitor) -> None:
    """Anna is welcomed as a member, and says that her days are not right, as Ada does to her."""
    world, anna_id = anna.world, anna.world.people[ANNA].id
    world.write(balance_questions.ask, by=ADA)
    world.deliver()
    anna.click(ids.OPEN_PERSON)
    world.write(people.update, anna_id, {"role": "member"})
    world.database.write_now(
        notification_outbox.welcome, anna_id, organisation_id=world.acme.id, now=world.clock()
    )
    world.deliver()
    anna.click(ids.BALANCE_NOT_RIGHT)
    world.write(people.update, anna_id, {"role": "admin"})


def other_dates(anna: Visitor) -> None:
    """Anna suggests other dates to Ada, takes those that Grace suggests, and keeps her own."""
    world = anna.world
    anna.click(ids.SUGGEST)
    for day, answer in ((4, ids.SUGGESTION_ACCEPT), (11, ids.SUGGESTION_DECLINE)):
        mine = world.people[ANNA]
        asked = a_request(world.database, world.acme, mine, start_date=date(2027, 10, day))
        later = Dates(start_date=date(2027, 11, day + 4), end_date=date(2027, 11, day + 5))
        world.write(suggestions.suggest, asked.id, later, by=GRACE)
        world.deliver()
        anna.click(answer)


def inbox(anna: Visitor) -> None:
    """A day later Anna is told what waits for her."""
    anna.world.clock.advance(days=1)
    anna.world.run(anna.world.app.reminders.run)
    anna.world.deliver()
    anna.click(ids.INBOX_HOME)


def lapsing_days_told(anna: Visitor) -> None:
    """Anna is told what she has, and a day later what lapses; she says that she saw it."""
    world, anna_id = anna.world, anna.world.people[ANNA].id
    kinds: tuple[NoticeKind, ...] = ("statement", "reminder")
    for kind in kinds:
        world.clock.advance(days=1)
        now = world.clock()

        def tell(tx: Transaction, kind: NoticeKind = kind, now: datetime = now) -> None:
            config = organisation_config.of_organisation(tx, world.acme.id)
            user = people_rows.of_ids(tx, world.acme.id, [anna_id])[anna_id]
            pots = lapsing_days.pots_of_people(tx, config, [user], now.date())[anna_id]
            due = Due(kind=kind, named={id_: pot.lapses for id_, pot in pots.items()})
            notice = expiry_notices.notice(due, pots)
            expiry_notices.tell(tx, world.acme.id, {anna_id: notice}, now=now)

        world.database.write_now(tell)
        world.deliver()
        anna.click(ids.EXPIRY_SEEN)


@pytest.fixture
def office(world: World, translated: str) -> World:
    """Everyone reads it; Anna decides on Ada's leave, and every list is longer than a page."""
    by, now = world.acme.caller, world.clock()
    annual = world.leave_type("annual")
    anna = a_person(world.database, world.acme, first_name="Anna", last_name="Admin", role="admin")
    world.people[ANNA] = anna
    world.slack.add_person(ANNA, anna.email, anna.name, tz="Europe/Berlin")
    nora = {"email": "nora@example.com", "first_name": "Nora", "last_name": "Nagel"}
    world.slack.add_person(NORA, nora["email"], "Nora Nagel", tz="Europe/Berlin")
    world.slack.add_channel(CHANNEL, "wer-ist-weg", is_member=True)
    for who in (ADA, GRACE, HEDY, EVE, ANNA, NORA):
        world.slack.change_person(who, locale=f"{translated}-{translated.upper()}")
    world.app.services.check_webhook_url = partial(resolve_and_check, allow_private=False)
    # As if workspaces installed the app by OAuth: people can connect their Slack status.
    world.app.services.install_url = f"{world.slack.app_url}/slack/install"
    world.link()

    def fill(tx: Transaction) -> None:
        people.update(tx, world.people[ADA].id, {"manager_id": anna.id}, by=by, now=now)
        managed = {"manager_id": world.people[GRACE].id}
        people.update(tx, anna.id, managed, by=by, now=now)
        people.create(tx, nora | {"role": "admin"}, by=by, now=now)
        # Hedy decides on one request only, so that her reminder is of that one.
        managed = {"manager_id": world.people[HEDY].id}
        people.update(tx, world.people[EVE].id, managed, by=by, now=now)
        organisation_settings.update(tx, {"digest_channel": CHANNEL}, by=by, now=now)
        mine = world.caller(ANNA)
        locale = f"{translated}-{translated.upper()}"
        profile = a_slack_profile(anna.email, slack_user_id=ANNA, locale=locale)
        slack_profiles.link(tx, world.acme.id, anna.id, profile, now=now)
        slack_statuses.connect(
            tx,
            organisation_id=world.acme.id,
            user_id=anna.id,
            team_id=world.slack.team_id,
            slack_user_id=ANNA,
            token="xoxp-1",
            now=now,
        )
        for number in range(100):
            departments.create(tx, {"name": f"Team {number:02}"}, by=by, now=now)
        for number in range(41):
            digest = {"channel": f"C{number:08}", "locale": translated}
            channel_digests.create(tx, digest, by=by, now=now)
            leave_types.create(tx, {"name": f"Sorte {number:02}"}, by=by, now=now)
            pot = allowances.create(tx, {"name": f"Topf {number:02}"}, by=by, now=now).allowance
            if number:
                allowances.update(tx, pot.id, {"is_archived": True}, by=by, now=now)
            events = ["leave_request.created"]
            webhook, _ = webhooks.create(tx, f"{URL}/{number}", events, by=by, now=now)
        overtime = {"name": "Überstunden", "earnable": True, "credits_expire_after_months": 3}
        lieu = allowances.create(tx, overtime, by=by, now=now).allowance
        for who, first_day, count in ((ADA, date(2026, 5, 9), 7), (ANNA, date(2026, 5, 2), 1)):
            for number in range(count):
                time_credits.create(
                    tx,
                    allowance_id=lieu.id,
                    worked_on=first_day + timedelta(days=number),
                    days=0.5,
                    reason="Umzug",
                    by=world.caller(who),
                    now=now,
                )
        second = {"always": True, "by": world.people[HEDY].id}
        leave_types.create(tx, {"name": "Sabbatical", "second_approval": second}, by=by, now=now)
        for days, day in ((50, date(2026, 5, 1)), (56, date(2027, 1, 1))):
            terms = {"half_days_per_year": days} | EVERY_TERM
            allowances.update(tx, world.acme.id, terms, effective_from=day, by=by, now=now)
        webhooks.disable(tx, world.acme.id, webhook.id, "410", now=now)
        notification_outbox.notify_admins(
            tx, world.acme.id, "webhook_disabled", webhook_id=webhook.id, now=now
        )
        for number in range(21):
            feeds.create(tx, f"Kalender {number:02}", by=mine, now=now)
            display_links.create(tx, {"name": f"Bildschirm {number:02}"}, by=mine, now=now)
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
        for number in range(41):
            bridge = {"start_date": date(2028, 5, 1), "end_date": date(2028, 5, 1)}
            closed = {"name": f"Brückentag {number:02}", "leave_type_id": annual} | bridge
            closures.create(tx, closed, by=mine, now=now)
            limit = {"name": f"Grenze {number:02}", "max_away": 90, "is_active": number > 1}
            absence_limits.create(tx, limit, by=mine, now=now)
        day = date(2027, 12, 29)
        closed |= {"name": "Betriebsferien", "start_date": day, "end_date": day}
        closures.create(tx, closed, by=mine, now=now)
        # Its set, which becomes the first, has categories to choose from, and no regions: the step
        # of the checklist that is left opens the search for a person.
        organisation_settings.update(tx, {"country_code": "SE"}, by=by, now=now)
        for code in COUNTRIES:
            holiday_sets.add(tx, code, by=by, now=now)
        config = organisation_config.of_organisation(tx, by.organisation_id).holiday_sets.values()
        sets = {holiday_set.country_code: holiday_set.id for holiday_set in config}
        holiday_set_changes.remove(tx, sets["GB"], by=by, now=now)
        for number in range(31):
            day = date(2026, 7, 1) + timedelta(days=number)
            new = NewOverride(date=day, name="Betriebsruhe", is_holiday=True, half=None)
            holiday_overrides.add(tx, sets["SE"], new, by=by, now=now)
        # The digest is in the owner's language.
        owner, locale = world.acme.owner.id, f"{translated}-{translated.upper()}"
        people_rows.save_locale(tx, by.organisation_id, owner, locale, now=now)

    world.database.write_now(fill)
    astrid = a_person(world.database, world.acme, first_name="Astrid")
    eve = date(2026, 12, 24)
    a_request(world.database, world.acme, astrid, start_date=date(2026, 12, 23), end_date=eve)
    a_request(world.database, world.acme, anna, start_date=date(2026, 6, 1), code="sick")
    hedy, soon = world.people[HEDY], date(2026, 6, 3)
    covered = a_request(world.database, world.acme, anna, start_date=soon, cover_user_id=hedy.id)
    world.database.write_now(decisions.approve, covered.id, by=world.caller(GRACE), now=now)
    a_request(world.database, world.acme, hedy, start_date=soon, code="sick")
    # First, so that they are on the first page of Home.
    for number in range(4):
        amended(world, ADA, date(2027, 3, 1) + timedelta(weeks=number))
    for number in range(4):
        amended(world, ANNA, date(2026, 6, 8) + timedelta(weeks=number))
    for who in (HEDY, EVE):
        a_request(world.database, world.acme, world.people[who])
    for number in range(14):
        first = date(2026, 8, 3) + timedelta(weeks=number)
        a_request(world.database, world.acme, world.people[ADA], start_date=first)
        a_request(world.database, world.acme, anna, start_date=first, note="Hochzeit")
        colleague = a_person(world.database, world.acme, first_name=f"Weg{number}")
        a_request(world.database, world.acme, colleague, start_date=date(2026, 6, 2), code="sick")
    past = Draft(
        leave_type_id=world.leave_type("sick"),
        start_date=date(2026, 5, 20),
        end_date=date(2026, 5, 20),
    )

    def record(tx: Transaction) -> None:
        leave_requests.create(tx, by=world.caller(GRACE), draft=past, user_id=anna.id, now=now)
        for_ada = leave_requests.create(
            tx, by=world.caller(ANNA), draft=past, user_id=world.people[ADA].id, now=now
        )
        leave_requests.object_to(tx, for_ada.id, by=world.caller(ADA), now=now)

    world.database.write_now(record)
    declined = a_request(world.database, world.acme, anna, start_date=date(2027, 6, 1))
    world.database.write_now(
        decisions.decline, declined.id, by=world.caller(GRACE), reason="Messe", now=now
    )
    world.deliver()
    return world


COUNTRIES: Final = (
    *("AT", "BE", "CH", "DE", "DK", "ES", "FI", "FR", "IE", "IT", "LU", "NL", "NO", "PL", "PT"),
    *("TR", "CZ", "SK", "HU", "SI", "HR", "RO", "BG", "GR", "EE", "LV", "LT", "MT", "CY", "IS"),
    *("US", "CA", "MX", "BR", "AR", "CL", "JP", "KR", "AU", "NZ"),
)


def strings(thing: Any) -> Iterator[str]:
    """The texts of a payload that people or screen readers read."""
    if isinstance(thing, dict):
        for key, value in thing.items():
            if isinstance(value, str) and key in ("text", "accessibility_label", "alt_text"):
                yield value
            elif key == "errors" and isinstance(value, dict):
                yield from map(str, value.values())
            else:
                yield from strings(value)
    elif isinstance(thing, list):
        for item in thing:
            yield from strings(item)


def all_payloads(visitor: Visitor) -> list[Any]:
    payloads: list[Any] = [call.arguments for call in visitor.slack.calls()]
    payloads += [post.body for post in visitor.slack.response_posts]
    payloads += [response.body for response in visitor.responses]
    return payloads


def misnamed(visitor: Visitor) -> set[tuple[str, str]]:
    """Buttons whose name for screen readers does not contain their label (WCAG 2.5.3)."""
    return {
        (label, name)
        for label, name in named_buttons(all_payloads(visitor))
        if label.rstrip("…").casefold() not in name.casefold()
    }


def named_buttons(thing: Any) -> Iterator[tuple[str, str]]:
    """The label and the accessible name of each button that has one."""
    if isinstance(thing, dict):
        if thing.get("type") == "button" and "accessibility_label" in thing:
            yield thing["text"]["text"], thing["accessibility_label"]
        for value in thing.values():
            yield from named_buttons(value)
    elif isinstance(thing, list):
        for item in thing:
            yield from named_buttons(item)


def forms(message: Any) -> tuple[str, ...]:
    """The message's singular, and its plural if it has one."""
    return (message,) if isinstance(message, str) else tuple(message)


def literal(message: str) -> str:
    return re.sub(r"\{\w*\}", " ", message)


# Words of other languages that are also English.
NOT_ENGLISH: Final = {"es": frozenset(("No", "has", "no")), "fr": frozenset(("Mon", "or"))}


class English:
    """Finds English: messages that are translated, dates, and words that no translation has.

    Generated secrets are left out: random letters can be an English word. So are the own names of
    public holidays and regions.
    """

    _SECRET: Final = re.compile(
        r"\bwhsec_[A-Za-z0-9+/=]+|(?<=/cal/)[\w-]+|(?<=%2Fcal%2F)[\w-]+"
        r"|(?<=/wallchart/)[\w-]+|May Day$|: .*\([A-Z]{2}-\w+\)$"
    )

    def __init__(self, translated: str) -> None:
        self._not_english = NOT_ENGLISH.get(translated, frozenset())
        self._words = re.compile(
            r"\b([Tt]he|[Tt]his|[Tt]hat|[Yy]ours?|[Yy]ou|[Nn]o|[Nn]ot|it|is|are|has|have|of|to|and|or"
            r"|by|for|from|with|yet|after|before|left|days?|morning|afternoon|midday)\b"
        )
        self._whole: dict[re.Pattern[str], str] = {}
        self._parts: dict[re.Pattern[str], str] = {}
        # The longest part between placeholders: few texts have it, and `in` beats a pattern.
        self._longest: dict[str, str] = {}
        for message in catalogues.read(translated):
            if not message.id:
                continue
            for english in forms(message.id):
                if english in forms(message.string) or not re.search(r"[a-z]{2}", literal(english)):
                    continue
                between = re.split(r"\{\w*\}", english)
                # The letter of a leave type is one: "Gearbeitet am" is not "{letter} am".
                wildcard = "." if "{letter}" in english else ".*?"
                pattern = wildcard.join(map(re.escape, between))
                self._longest[english] = max(between, key=len)
                self._whole[re.compile(pattern, re.DOTALL)] = english
                if len(re.findall(r"[A-Za-z]{2,}", literal(english))) >= 3:
                    self._parts[re.compile(rf"\b{pattern}")] = english
        self._dates = re.compile(
            r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun|January|February|March|May|June|July|October|December)\b"
        )

    def words_in(self, text: str) -> list[str]:
        text = self._SECRET.sub("", text)
        bare = re.sub(r"^[*_•\s]+|[*_\s]+$", "", text)
        matches = [
            english
            for pattern, english in self._whole.items()
            if self._longest[english] in bare and pattern.fullmatch(bare)
        ]
        matches += [
            english
            for pattern, english in self._parts.items()
            if self._longest[english] in text and pattern.search(text)
        ]
        words = [*self._dates.findall(text), *self._words.findall(text)]
        return matches + [word for word in words if word not in self._not_english]


@pytest.mark.parametrize(
    "secret",
    [
        "whsec_Rkx/to+not/is+QmFzZTY0c2VjcmV0c2VjcmV0c2VjcmU=",
        "https://hiatus.example.com/cal/3v-to-not-Jx9wQ2k5-is-yR7uT1oP4aS6dF8gH0j",
        "webcal%3A%2F%2Fhiatus.example.com%2Fcal%2F3v-to-not-Jx9wQ2k5-is-yR7uT1oP4aS6dF8gH0j",
    ],
)
def test_generated_secrets_are_not_taken_for_english(secret: str) -> None:
    english = English("de")

    assert english.words_in(f"Geheimnis: ```{secret}```") == []
    assert english.words_in(f"The secret: ```{secret}``` it is") == ["The", "it", "is"]


@pytest.mark.slow
def test_every_screen_is_translated_and_passes_slacks_types(
    office: World, translated: str, tmp_path: Path
) -> None:
    anna = Visitor(office)

    for listener in registered():
        if listener.kind == "command":
            # The same command under its other name needs no second round.
            typed = [*commands.SUBCOMMANDS, *TYPED, *TYPED_IN[translated]]
            for words in typed if listener.name == ids.COMMAND else [""]:
                anna.command(listener.name, words)
        elif listener.kind == "shortcut":
            anna.shortcut(listener.name)
    for words in (*WRITTEN, TYPED_IN[translated][0]):
        anna.write(words)
    for action_id in (ids.SEND_UNDERSTOOD, ids.CLAIM_UNDERSTOOD):
        anna.click(action_id)
    for action_id in (ids.ASK_OUT, ids.ASK_BALANCE, ids.ASK_MINE):
        anna.click(action_id)
    anna.click(ids.APPROVE)
    anna.click(ids.REVERSE)
    anna.click(ids.DECLINE)
    anna.click(ids.REVERSE)
    first = date(2027, 7, 5)
    a_request(office.database, office.acme, office.people[ADA], start_date=first, code="sabbatical")
    office.deliver()
    anna.click(ids.APPROVE)
    anna.click(ids.TAKE_BACK)
    allowance = {"leave_allowance_half_days": 0}
    office.change(people.update, office.people[ADA].id, allowance)
    anna.click(ids.APPROVE)
    office.write(people.update, office.people[ADA].id, dict.fromkeys(allowance))
    anna.click(ids.EDIT)
    anna.click(ids.OPEN_UNDERSTOOD)
    anna.click(ids.RECORD_UNDERSTOOD)
    # Before these are cancelled.
    anna.click(ids.INTERRUPT)
    anna.click(ids.OTHER_COVER)
    anna.click(ids.STILL_SICK)
    anna.click(ids.CANCEL_LISTED)
    anna.click(ids.CANCEL)
    anna.click(ids.OBJECT)
    anna.click(ids.CANCEL_RECORDED)
    anna.click(ids.AMENDMENT_APPROVE)
    anna.click(ids.AMENDMENT_DECLINE)
    anna.click(ids.TIME_CREDIT_APPROVE)
    anna.click(ids.TIME_CREDIT_DECLINE)
    anna.click(ids.WITHDRAW)
    anna.click(ids.ASK_AGAIN)
    other_dates(anna)
    inbox(anna)
    lapsing_days_told(anna)
    not_right(anna)
    # Fewer days are confirmed first; other screens change them, too.
    office.home(ANNA)
    anna.settings_again("settings.leave_year")
    anna.everything(takes_away=False)
    anna.everything(takes_away=True)
    anna.settings_again("settings.leave_types")
    office.slack.command(NORA, ids.COMMAND, "balance")
    office.settled()
    office.clock.advance(days=1)
    office.run(office.app.reminders.run)
    office.run(office.app.digests.run)
    office.deliver()

    english = English(translated)
    english_words = {text: english.words_in(text) for text in set(strings(all_payloads(anna)))}
    assert {text: words for text, words in english_words.items() if words} == {}
    assert misnamed(anna) == set()
    every = {(listener.kind, listener.name) for listener in registered()}
    assert every - anna.reached == SILENT
    assert slack_types.problems_of(office.slack, tmp_path) == []
