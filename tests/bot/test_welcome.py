"""The first messages: to the installer, to people who join, and whom the help says to ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.base import ids
from storage.admin import people
from storage.db.database import Database
from storage.people import people_lists
from storage.workspaces import slack_profiles
from tests.bot.browser import Browser, by_oauth
from tests.bot.world import ADA, ADMIN, World
from tests.builders import a_person
from tests.fakes.slack import LoopbackSlack, Message

INA = "UINA"
REST = "Type `/timeoff` to request leave, or write to me here. My Home tab has the rest."
FIGURES = "Welcome to Hiatus! You have 25 days until Thu 31 Dec 2026; Olive Owner approves. " + REST


@pytest.fixture
def installable(database: Database, slack: LoopbackSlack) -> Iterator[World]:
    """A deployment that any workspace can install, and Ina in a workspace that has not."""
    slack.add_team("T2", None, name="Umbrella & Sons", domain="umbrella")
    slack.add_person(INA, "ina@umbrella.example", "Ina Installer", team_id="T2")
    with World(database, slack, slack_settings=by_oauth(slack)) as running:
        yield running


def welcomed(world: World) -> Message:
    """The welcome of Nora, who has just joined."""
    world.slack.add_person("UNEW", "nora@example.com", "Nora New")
    world.command("UNEW", "balance")
    world.deliver()
    (message,) = world.slack.dm("UNEW")
    return message


def texts(world: World, who: str, team_id: str = "T1") -> list[str]:
    return [message.text for message in world.slack.dm(who, team_id=team_id)]


def test_the_installer_gets_three_steps_once(installable: World) -> None:
    Browser(installable).install(installable.slack, INA, "T2")
    installable.deliver()
    Browser(installable).install(installable.slack, INA, "T2")
    installable.slack.command(INA, "/timeoff", team_id="T2")
    installable.deliver()

    assert texts(installable, INA, "T2") == [
        "Welcome to Hiatus! Umbrella &amp; Sons is ready in three steps:\n"
        "1. Open my Home tab. The list there shows what's left to set up.\n"
        "2. Type `/timeoff` and look at the form that everyone will use.\n"
        "3. Tell your team. They join when they type `/timeoff` for the first time."
    ]
    (message,) = installable.slack.dm(INA, team_id="T2")
    assert [button.text for button in message.buttons] == ["Request leave"]


def test_people_who_join_get_their_figures_once(world: World) -> None:
    world.slack.add_person("UNEW", "nora@example.com", "Nora New")

    for _ in range(2):
        world.slack.command("UNEW", "/timeoff", "balance")
        world.deliver()

    assert texts(world, "UNEW") == [FIGURES]
    (message,) = world.slack.dm("UNEW")
    assert [button.text for button in message.buttons] == [
        "Request leave",
        "I'm sick",
        "Add my calendar",
        "Not right?",
    ]


def test_the_buttons_of_the_welcome_open_what_they_say(world: World) -> None:
    message = welcomed(world)

    for action_id, title in (
        (ids.HOME_REQUEST, "Request leave"),
        (ids.SICK, "Request leave"),
        (ids.FEEDS, "Calendar feeds"),
    ):
        world.click("UNEW", action_id, message)
        shown = world.slack.open_modal("UNEW")
        assert shown.title == title
        world.slack.close("UNEW", shown)


def test_admins_hear_once_a_day_that_someones_days_are_not_right(world: World) -> None:
    world.add_admin()
    message = welcomed(world)

    for _ in range(2):
        world.press("UNEW", ids.BALANCE_NOT_RIGHT, message)

    assert world.ephemerals("UNEW")[-2:] == [
        "Sent to your admins. They can correct your days.",
        "Your admins know already. Write to one of them if it's urgent.",
    ]
    assert world.audited("balance.questioned") == 1
    (told,) = [each for each in world.slack.dm(ADMIN) if "aren't right" in each.text]
    assert told.text == (
        "Nora New says that their days aren't right. Hiatus has 25 days left until Thu 31 Dec 2026."
    )
    world.click(ADMIN, ids.OPEN_PERSON, told)
    assert "Nora New" in world.slack.open_modal(ADMIN).visible_text

    world.clock.advance(days=1)
    world.press("UNEW", ids.BALANCE_NOT_RIGHT, message)
    assert world.audited("balance.questioned") == 2


def test_people_whose_account_is_unlinked_meanwhile_get_no_welcome(world: World) -> None:
    world.slack.add_person("UNEW", "nora@example.com", "Nora New")
    world.command("UNEW", "balance")
    everyone = world.database.read_now(people_lists.list_all, by=world.acme.caller)
    (nora,) = [person for person in everyone if person.slack_user_id == "UNEW"]
    world.write(slack_profiles.unlink, nora.id)

    world.deliver()

    assert texts(world, "UNEW") == []


def test_people_whom_an_admin_added_get_it_when_they_first_use_slack(world: World) -> None:
    new = {"email": "pia@example.com", "first_name": "Pia", "last_name": "Pending"}
    world.write(people.create, new)
    world.slack.add_person("UPIA", "pia@example.com", "Pia Pending", locale="de-DE")

    world.slack.command("UPIA", "/timeoff", "balance")
    world.deliver()

    assert texts(world, "UPIA") == [
        "Willkommen bei Hiatus! Du hast bis Do 31. Dez. 2026 noch 25 Tage; Olive Owner "
        "genehmigt. Mit `/timeoff` beantragst du Urlaub, oder schreib mir hier. Alles andere steht "
        "auf meinem Home-Tab."
    ]


def test_active_people_whose_account_is_only_linked_are_not_welcomed(world: World) -> None:
    world.slack.command(ADA, "/timeoff", "balance")
    world.deliver()

    assert texts(world, ADA) == []


def test_an_admin_who_joins_gets_the_steps_and_adds_people_where_members_may_not_join(
    database: Database, slack: LoopbackSlack
) -> None:
    with World(database, slack, slack_members_join=False) as world:
        admin = a_person(database, world.acme, first_name="Anna", role="admin", status="pending")
        slack.add_person("UANNA", admin.email, admin.name)

        slack.command("UANNA", "/timeoff", "balance")
        world.deliver()

        (message,) = slack.dm("UANNA")
        assert "3. Add your team on my Home tab, under People." in message.text
        (button,) = message.buttons
        slack.click("UANNA", message, button.action_id)
        assert slack.open_modal("UANNA").callback_id == ids.REQUEST_FORM


@pytest.mark.parametrize(
    ("contact", "line"),
    [
        ("", "Questions or feedback? Ask an admin of your organisation."),
        (
            "help@example.com",
            "Questions or feedback? Write to <mailto:help@example.com|help@example.com>.",
        ),
        (
            "https://example.com/?a=1&b=2",
            "Questions or feedback? Write to <https://example.com/?a=1&amp;b=2>.",
        ),
    ],
)
def test_the_help_names_the_contact(world: World, contact: str, line: str) -> None:
    world.app.services.support_contact = contact

    world.command(ADA, "help")

    (help_text,) = world.ephemerals(ADA)
    assert help_text.splitlines()[-1] == line
