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
from tests.bot.world import ADA, World
from tests.builders import a_person
from tests.fakes.slack import LoopbackSlack

INA = "UINA"
ONE_LINE = "Welcome to Hiatus! Type `/timeoff` to request leave; your balance is on my Home tab."


@pytest.fixture
def installable(database: Database, slack: LoopbackSlack) -> Iterator[World]:
    """A deployment that any workspace can install, and Ina in a workspace that has not."""
    slack.add_team("T2", None, name="Umbrella & Sons", domain="umbrella")
    slack.add_person(INA, "ina@umbrella.example", "Ina Installer", team_id="T2")
    with World(database, slack, slack_settings=by_oauth(slack)) as running:
        yield running


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


def test_people_who_join_get_one_line_once(world: World) -> None:
    world.slack.add_person("UNEW", "nora@example.com", "Nora New")

    for _ in range(2):
        world.slack.command("UNEW", "/timeoff", "balance")
        world.deliver()

    assert texts(world, "UNEW") == [ONE_LINE]


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
        "Willkommen bei Hiatus! Mit `/timeoff` beantragst du Urlaub; dein Urlaubskonto steht auf "
        "meinem Home-Tab."
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
