"""Access to Hiatus from Slack, joining, and the link of workspaces to organisations."""

from __future__ import annotations

from typing import Any

import pytest

from bot.base import ids
from storage.admin import organisations, people_status
from storage.base.values import Organisation
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.outbox import audit
from storage.people.people_rows import find_by_slack_id
from storage.workspaces import slack_workspaces
from tests.bot.world import ADA, GRACE, World
from tests.builders import NOW, a_person, an_organisation
from tests.fakes.slack import LoopbackSlack
from tests.refusals import overlapping

NO_FULL_MEMBER = "Hiatus is for full members of this workspace"
UNKNOWN_WORKSPACE = "This Slack workspace isn't linked to an organisation in Hiatus."


@pytest.mark.parametrize(
    "flags",
    [
        {"is_restricted": True},
        {"is_ultra_restricted": True},
        {"is_bot": True},
        {"is_stranger": True},
        {"deleted": True},
        {"home_team_id": "T9"},
    ],
)
def test_only_full_members_get_in(world: World, flags: dict[str, Any]) -> None:
    world.slack.add_person("UGUEST", "guest@example.com", "Guy Guest", **flags)

    response = world.slack.command("UGUEST", "/timeoff")
    world.settled()

    (message,) = world.ephemerals("UGUEST")
    assert response.ok
    assert message.startswith(NO_FULL_MEMBER)
    assert not world.slack.has_modal("UGUEST")
    assert world.database.read_now(find_by_slack_id, world.acme.id, "UGUEST") is None


def test_a_guests_shortcut_opens_a_modal_with_the_reason(world: World) -> None:
    world.slack.add_person("UGUEST", "guest@example.com", "Guy Guest", is_restricted=True)

    world.slack.shortcut("UGUEST", ids.REQUEST_SHORTCUT)

    assert world.slack.open_modal("UGUEST", "full members").callback_id == ""


def test_a_guest_who_clicks_decides_nothing(world: World) -> None:
    world.a_request()
    world.slack.add_person("UGUEST", "guest@example.com", "Guy Guest", is_restricted=True)

    world.click("UGUEST", ids.APPROVE, world.card(GRACE))

    assert world.ephemerals("UGUEST")[0].startswith(NO_FULL_MEMBER)
    assert world.request().status == "pending"


def test_an_unknown_full_member_joins(world: World) -> None:
    world.slack.add_person("UNEW", "nora@example.com", "Nora New", tz="Europe/Oslo")

    world.open_form("UNEW")

    nora = world.database.read_now(find_by_slack_id, world.acme.id, "UNEW")
    assert nora is not None
    assert (nora.name, nora.email, nora.role, nora.status, nora.timezone) == (
        "Nora New",
        "nora@example.com",
        "member",
        "active",
        "Europe/Oslo",
    )
    assert len(world.slack.calls("users.info")) == 1


def test_a_known_user_is_not_looked_up_again(world: World) -> None:
    world.open_form(ADA)
    world.open_form(ADA)

    assert len(world.slack.calls("users.info")) == 1
    assert len(world.slack.calls("auth.test")) == 1


def test_members_are_not_added_if_the_organisation_does_not_allow_it(
    database: Database, slack: LoopbackSlack
) -> None:
    with World(database, slack, slack_members_join=False) as world:
        slack.add_person("UNEW", "nora@example.com", "Nora New")

        slack.command("UNEW", "/timeoff")
        world.open_form(ADA)

        world.settled()
        assert world.ephemerals("UNEW") == ["Ask an admin of your organisation to add you."]


@pytest.mark.parametrize("status", ["deactivated", "archived"])
def test_deactivated_and_archived_people_have_no_access(world: World, status: Any) -> None:
    gone = a_person(world.database, world.acme, first_name="Gus", status=status)
    world.slack.add_person("UGUS", gone.email, gone.name)

    world.command("UGUS")

    (message,) = world.ephemerals("UGUS")
    assert message == "Your account is deactivated. Ask an admin of your organisation."


def test_a_deactivated_user_cannot_submit_an_open_form(world: World) -> None:
    form = world.open_form(ADA)
    world.settled()
    world.write(people_status.deactivate, world.people[ADA].id)

    response = world.slack.submit(ADA, form, {ids.LEAVE_TYPE: world.leave_type("annual")})

    assert response.errors == {
        ids.LEAVE_TYPE: "Your account is deactivated. Ask an admin of your organisation."
    }


def test_the_first_start_links_the_only_organisation(world: World) -> None:
    organisation = _organisation(world)

    assert organisation.slack_team_id == "T1"
    assert world.audited("organisation.slack_linked") == 1


def test_the_first_use_links_the_organisation_if_slack_was_unavailable_at_the_start(
    database: Database, slack: LoopbackSlack
) -> None:
    slack.fail_next("auth.test", status=503)
    with World(database, slack) as world:
        assert _organisation(world).slack_team_id is None

        world.open_form(ADA)

        assert _organisation(world).slack_team_id == "T1"


def test_another_workspace_cannot_link_the_organisation(
    database: Database, slack: LoopbackSlack
) -> None:
    slack.add_team("T2", token="xoxb-other")
    slack.add_person("UMALLORY", "mallory@example.com", "Mallory", team_id="T2")
    slack.fail_next("auth.test", status=503)
    with World(database, slack) as world:
        world.slack.command("UMALLORY", "/timeoff", team_id="T2")
        world.settled()

        assert world.ephemerals("UMALLORY")[0].startswith(UNKNOWN_WORKSPACE)
        assert _organisation(world).slack_team_id is None


def test_neither_of_two_organisations_is_linked_automatically(
    database: Database, slack: LoopbackSlack
) -> None:
    an_organisation(database, name="Other")
    with World(database, slack) as world:
        world.command(ADA)

        assert world.ephemerals(ADA)[0].startswith(UNKNOWN_WORKSPACE)
        assert _organisation(world).slack_team_id is None


def test_an_organisation_of_another_workspace_is_not_linked(
    database: Database, slack: LoopbackSlack
) -> None:
    world = World(database, slack)
    database.write_now(slack_workspaces.link_only_organisation, "T7", now=world.clock())
    with world:
        world.command(ADA)

        assert world.ephemerals(ADA)[0].startswith(UNKNOWN_WORKSPACE)
        assert _organisation(world).slack_team_id == "T7"


def test_a_linked_workspace_of_another_token_is_refused(world: World) -> None:
    other = an_organisation(world.database, name="Other")
    world.database.write_now(
        slack_workspaces.link, other.organisation, "T2", source="cli", now=world.clock()
    )
    world.slack.add_team("T2", token="xoxb-other")
    world.slack.add_person("UADA", "ada@example.com", "Ada", team_id="T2")

    world.slack.command("UADA", "/timeoff", team_id="T2")
    world.settled()

    assert world.ephemerals("UADA")[0].startswith(UNKNOWN_WORKSPACE)
    assert world.slack.calls("users.info") == []


@pytest.mark.both_engines
def test_two_processes_that_start_at_once_both_get_the_organisation(database: Database) -> None:
    acme = an_organisation(database)
    linked_organisations: list[Organisation | None] = []

    def begin(tx: Transaction) -> None:
        linked_organisations.append(slack_workspaces.link_only_organisation(tx, "T1", now=NOW))

    codes = overlapping(database, begin, lambda: database.write_now(begin))

    assert codes == []
    assert [organisation and organisation.id for organisation in linked_organisations] == [
        acme.id,
        acme.id,
    ]
    linked = database.read_now(
        audit.entries, PageOf(), by=acme.caller, action="organisation.slack_linked"
    )
    assert len(linked.items) == 1


def _organisation(world: World) -> Organisation:
    # Read again: `world.acme.organisation` is the value at the test's start.
    return world.database.read_now(organisations.get, by=world.acme.caller, now=world.clock())
