"""People added and archived in Slack's settings, over signed HTTP."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from storage.admin import people
from storage.base.values import User
from storage.db.pages import PageOf
from storage.leave import ledgers
from storage.people import people_lists
from tests.bot.test_settings_access import as_sent, click, settings
from tests.bot.test_settings_admin import admin, form_of, person, search_result
from tests.bot.world import ADA, ADMIN, EVE, GRACE, World
from tests.builders import a_department, a_key, a_person, a_request, personal_token
from tests.fakes.slack import View

__all__ = ["admin"]

NEW = "UNEW"


def all_users(world: World) -> list[User]:
    return world.database.read_now(people_lists.list_all, by=world.acme.caller)


def newest(world: World) -> User:
    page = world.database.read_now(
        people_lists.page, PageOf(limit=1), by=world.acme.caller, sort="-created_at"
    )
    return page.items[0]


def adding(world: World) -> View:
    """The form that adds a person; Emmy Noether is in Slack and not yet in Hiatus."""
    world.slack.add_person(NEW, "emmy@example.com", "Emmy Noether", tz="Europe/Berlin")
    form = click(world, ADMIN, settings(world, ADMIN, "settings.people"), "settings.people.new")
    assert form.callback_id == "settings.people.new.form"
    return form


def test_a_workspace_member_is_added_once_and_is_pending(world: World) -> None:
    form = adding(world)
    sales = a_department(world.database, world.acme, name="Sales")
    grace = search_result(world, form, "settings.search.person", "grace", world.people[GRACE].id)

    first = world.slack.submit(
        ADMIN, form, {"slack_user_id": NEW, "role": "approver", "manager_id": grace}
    )
    world.slack.send_raw(*as_sent(first.payload))
    world.settled()

    emmy = newest(world)
    assert (emmy.name, emmy.email, emmy.status) == ("Emmy Noether", "emmy@example.com", "pending")
    assert (emmy.role, emmy.manager_id) == ("approver", world.people[GRACE].id)
    assert (emmy.slack_user_id, emmy.timezone) == (NEW, "Europe/Berlin")
    assert len(all_users(world)) == 7
    # The form for the other settings replaces this one and changes the same person.
    modal = world.slack.open_modal(ADMIN, "Hasn't used Hiatus yet")
    assert world.slack.submit(ADMIN, modal, {"department_id": sales.id}).errors == {}
    assert newest(world).department_id == sales.id


def test_an_added_person_is_matched_when_they_use_slack(world: World) -> None:
    world.slack.submit(ADMIN, adding(world), {"slack_user_id": NEW})
    added = newest(world)

    world.home(NEW)

    assert (newest(world).id, newest(world).status) == (added.id, "active")


def test_a_person_is_added_by_address_and_name(world: World) -> None:
    values = {"email": "lise@example.com", "first_name": "Lise", "last_name": "None"}

    assert world.slack.submit(ADMIN, adding(world), values).errors == {}

    lise = newest(world)
    assert (lise.name, lise.email, lise.slack_user_id) == ("Lise None", "lise@example.com", None)
    assert (lise.role, lise.status, lise.department_id) == ("member", "pending", None)
    assert world.audited("user.created") == len(all_users(world))


def test_an_employee_number_is_given_and_refused_at_its_field(world: World) -> None:
    lise = {"email": "lise@example.com", "first_name": "Lise", "last_name": "Meitner"}
    otto = {"email": "otto@example.com", "first_name": "Otto", "last_name": "Hahn"}
    number = {"employee_number": "0042"}

    assert world.slack.submit(ADMIN, adding(world), lise | number).errors == {}
    assert newest(world).employee_number == "0042"
    taken = {"employee_number": "0042 is another person's employee number."}
    assert world.slack.submit(ADMIN, adding(world), otto | number).errors == taken
    assert world.slack.submit(ADMIN, adding(world), otto).errors == {}
    form = world.slack.open_modal(ADMIN, "otto@example.com")
    assert world.slack.submit(ADMIN, form, number).errors == taken
    assert newest(world).employee_number is None


def test_typed_values_win_over_the_slack_profile(world: World) -> None:
    form = adding(world)
    world.slack.change_person(NEW, real_name="Emmy", email=None)

    response = world.slack.submit(ADMIN, form, {"slack_user_id": NEW})
    assert set(response.errors) == {"email", "last_name"}
    assert response.errors["email"] == "Slack doesn't share this. Please fill it in."
    typed = {"email": "noether@example.com", "last_name": "Noether"}
    assert world.slack.submit(ADMIN, form, typed).errors == {}

    assert (newest(world).name, newest(world).email) == ("Emmy Noether", "noether@example.com")
    assert newest(world).slack_user_id == NEW


def test_an_account_with_an_unconfirmed_address_is_added_by_a_typed_address(world: World) -> None:
    form = adding(world)
    world.slack.change_person(NEW, email="boss@example.com", is_email_confirmed=False)

    response = world.slack.submit(ADMIN, form, {"slack_user_id": NEW})

    assert response.errors == {
        "slack_user_id": "Slack hasn't confirmed this account's e-mail address. If you know whose "
        "account it is, fill in their address."
    }
    assert world.slack.submit(ADMIN, form, {"email": "emmy@example.com"}).errors == {}
    assert (newest(world).email, newest(world).slack_user_id) == ("emmy@example.com", NEW)


@pytest.mark.parametrize(
    ("filled", "fields"),
    [
        ({}, {"email", "first_name", "last_name"}),
        ({"email": "lise@example.com"}, {"first_name", "last_name"}),
        ({"email": "lise", "first_name": "Lise", "last_name": "Meitner"}, {"email"}),
        ({"slack_user_id": ADA}, {"slack_user_id"}),
        ({"slack_user_id": ADA, "email": "second@example.com"}, {"slack_user_id"}),
        ({"slack_user_id": "UGUEST"}, {"slack_user_id"}),
        ({"slack_user_id": "UKNOWN"}, {"slack_user_id"}),
        ({"slack_user_id": NEW, "email": "known@example.com"}, {"email"}),
        ({"slack_user_id": NEW, "role": "owner"}, {"slack_user_id"}),
        ({"email": "KNOWN@example.com", "first_name": "A", "last_name": "B"}, {"email"}),
    ],
)
def test_errors_of_a_new_person_are_shown_at_their_field(
    world: World, filled: dict[str, Any], fields: set[str]
) -> None:
    world.slack.open_home(ADA)
    a_person(world.database, world.acme, email="known@example.com")
    world.slack.add_person("UKNOWN", "Known@example.com", "Known Already")
    world.slack.add_person("UGUEST", "guest@example.com", "Gus Guest", is_restricted=True)
    world.settled()
    form, before = adding(world), all_users(world)

    response = world.slack.submit(ADMIN, form, filled)

    assert set(response.errors) == fields
    assert all_users(world) == before


def test_a_timeout_of_slack_is_shown_in_the_form(world: World) -> None:
    form, before = adding(world), all_users(world)
    world.slack.fail_next("users.info", error="internal_error")

    response = world.slack.submit(ADMIN, form, {"slack_user_id": NEW})

    assert response.errors == {
        "slack_user_id": "I can't reach Slack right now. Please try again in a minute."
    }
    assert all_users(world) == before


# Archiving


def test_archiving_shows_its_effects_and_archives_once(world: World) -> None:
    database, now = world.database, world.clock()
    report = a_person(database, world.acme, first_name="Rae", manager_id=world.people[GRACE].id)
    a_request(database, world.acme, report)
    a_request(database, world.acme, world.people[GRACE])
    a_key(database, world.acme, world.people[GRACE])
    database.write_now(personal_token, by=world.caller(GRACE), now=now)

    confirmation = click(world, ADMIN, form_of(world, GRACE), "settings.people.archive")

    assert "Grace Hopper will be removed from Hiatus" in confirmation.visible_text
    assert "1 request will change.\n• Grace Hopper, Mon 3 Aug 2026: cancelled (1 day)" in (
        confirmation.visible_text
    )
    rerouted = "• Rae Lovelace, Mon 3 Aug 2026: Grace Hopper → Olive Owner and Anna Admin"
    assert rerouted in confirmation.visible_text
    assert "• 1 person loses their manager: Rae Lovelace" in confirmation.visible_text
    assert (
        "• 1 API key stops working.\n• 1 calendar link stops working." in confirmation.visible_text
    )
    assert person(world, GRACE).status == "active"

    first = world.slack.submit(ADMIN, confirmation)
    world.slack.send_raw(*as_sent(first.payload))
    world.settled()

    assert person(world, GRACE).status == "archived"
    assert (world.audited("user.archived"), world.audited("leave_request.cancelled")) == (1, 1)
    assert world.audited("leave_request.rerouted") == 1
    assert "Grace Hopper was archived." in world.slack.open_modal(ADMIN).visible_text
    world.deliver()
    assert world.cards(ADMIN)


def test_an_action_that_is_no_longer_possible_shows_an_error_in_its_place(world: World) -> None:
    """Eve becomes an owner between the confirmation and its submission."""
    confirmation = click(world, ADMIN, form_of(world, EVE), "settings.people.archive")
    world.write(people.update, world.people[EVE].id, {"role": "owner"})

    response = world.slack.submit(ADMIN, confirmation)

    assert response.ok
    assert "Owner" in world.slack.open_modal(ADMIN).visible_text
    assert person(world, EVE).status == "active"


def test_a_person_is_added_with_first_day_allowance_and_days_left(world: World) -> None:
    form = adding(world)
    filled = {
        "slack_user_id": NEW,
        "start_date": "2026-02-02",
        "leave_allowance": "28",
        "days_left": "7.5",
    }

    assert world.submit(ADMIN, form, filled).errors == {}

    emmy = newest(world)
    assert (emmy.start_date, emmy.leave_allowance_half_days) == (date(2026, 2, 2), 56)
    balance = world.database.read_now(
        ledgers.balance, emmy.id, on=None, by=world.acme.caller, now=world.clock()
    )
    assert balance.remaining_half_days == 15
    (adjustment,) = [line.adjustment for line in balance.lines if line.type == "adjustment"]
    assert adjustment is not None
    assert adjustment.reason == "7.5 days left on 1 Jun 2026"


def test_days_left_that_half_days_cannot_reach_are_refused_at_their_field(world: World) -> None:
    before = len(all_users(world))

    response = world.submit(ADMIN, adding(world), {"slack_user_id": NEW, "days_left": "7.3"})

    assert response.errors == {
        "days_left": "Leave is taken in half-days, so they can have 7 days or 7.5 days left. "
        "Use one of these."
    }
    assert len(all_users(world)) == before
