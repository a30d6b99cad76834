"""Once a day people are compared with Slack's member list, to make up for missed events."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any, cast

import pytest

from bot.client.workspaces import InstalledWorkspaces
from bot.messages.jobs import BATCH, MAX_CONCURRENT, DirectorySync
from storage.admin import people
from storage.base.errors import DatabaseUnavailable
from storage.base.values import Caller
from storage.db.database import Database
from storage.people import people_lists, people_rows, slack_syncs
from storage.workspaces import slack_profiles, slack_workspaces
from tests.bot.browser import Browser, by_oauth
from tests.bot.conftest import Logged
from tests.bot.test_events import change, person
from tests.bot.test_listening import Troubled
from tests.bot.world import ADA, EVE, GRACE, PATIENCE_SECONDS, Clock, World
from tests.builders import NOW, a_person, a_slack_profile, an_organisation
from tests.fakes.slack import LoopbackSlack
from tests.refusals import crossing, overlapping


def next_day(world: World) -> None:
    """The scheduler's run a day later, at which every linked workspace is due."""
    world.clock.advance(days=1, seconds=1)
    world.run(world.app.directory.run)


def linked(world: World, who: str) -> None:
    world.open_form(who)
    world.settled()


def test_the_sync_applies_changes_whose_events_were_missed(world: World) -> None:
    linked(world, ADA)
    world.slack.change_person(ADA, real_name="Augusta King", tz="Europe/Rome", locale="it-IT")

    next_day(world)

    ada = person(world, ADA)
    assert (ada.name, ada.timezone) == ("Augusta King", "Europe/Rome")
    stored = world.database.read_now(people_rows.find_applied_profile, world.acme.id, ada.id)
    assert stored.locale == "it-IT"


def test_the_sync_changes_everyone_where_more_differ_than_a_transaction_takes(world: World) -> None:
    numbers = range(2 * BATCH + 1)
    for number in numbers:
        email = f"person.{number}@example.com"
        world.people[f"U{number}"] = a_person(world.database, world.acme, email=email)
        world.slack.add_person(f"U{number}", email, f"Renamed Number{number}")

    next_day(world)

    names = {person(world, f"U{number}").name for number in numbers}
    assert names == {f"Renamed Number{number}" for number in numbers}


def test_the_sync_deactivates_people_who_left_slack(world: World) -> None:
    linked(world, ADA)
    linked(world, EVE)
    world.slack.change_person(ADA, deleted=True)
    del world.slack.workspace.people["T1", EVE]

    next_day(world)

    assert [person(world, who).status for who in (ADA, EVE)] == ["deactivated", "deactivated"]
    assert person(world, GRACE).status == "active"


def person_updated(world: World, who: str) -> int:
    seconds = world.slack.user(who)["updated"]
    assert isinstance(seconds, int)
    return seconds


def test_the_sync_adds_no_users_and_ignores_guests(world: World) -> None:
    world.link()
    world.slack.add_person("UNEW", "nora@example.com", "Nora Newcomer")
    world.slack.change_person(EVE, real_name="Guy Guest", is_restricted=True)
    before = world.database.read_now(people_lists.list_all, by=world.acme.caller)

    next_day(world)

    after = world.database.read_now(people_lists.list_all, by=world.acme.caller)
    assert len(after) == len(before)
    assert person(world, EVE).name == "Eve Elsewhere"


def test_a_workspace_is_listed_once_a_day_page_by_page(world: World) -> None:
    world.link()
    for number in range(450):
        world.slack.add_person(f"UX{number:03}", f"x{number}@example.com", f"X {number}")
    world.slack.change_person(EVE, real_name="Eve Everywhere")

    next_day(world)
    pages = len(world.slack.calls("users.list"))
    world.clock.advance(hours=23)
    world.run(world.app.directory.run)

    assert pages == 3
    assert len(world.slack.calls("users.list")) == pages
    assert person(world, EVE).name == "Eve Everywhere"
    assert len(world.slack.calls("users.info")) == 0


def test_a_rate_limit_is_waited_for(world: World) -> None:
    world.link()
    world.slack.change_person(EVE, real_name="Eve Everywhere")
    world.slack.fail_next("users.list", error="ratelimited", retry_after=1)

    next_day(world)

    assert person(world, EVE).name == "Eve Everywhere"


@pytest.mark.parametrize(
    "failure", [{"status": 500}, {"error": "ratelimited", "retry_after": 3600}, {"body": "no"}]
)
def test_an_incomplete_list_deactivates_no_user_and_is_retried(
    world: World, failure: dict[str, Any]
) -> None:
    linked(world, ADA)
    for number in range(200):
        world.slack.add_person(f"UX{number:03}", f"x{number}@example.com", f"X {number}")
    ada = world.slack.workspace.people.pop(("T1", ADA))
    world.slack.workspace.people["T1", ADA] = ada  # On the second page.
    world.slack.fail_next("users.list", **failure)

    next_day(world)
    assert person(world, ADA).status == "active"
    world.slack.change_person(ADA, real_name="Augusta King")
    world.clock.advance(minutes=4)
    world.run(world.app.directory.run)
    assert person(world, ADA).name == "Ada Lovelace"
    world.clock.advance(hours=1)
    world.run(world.app.directory.run)

    assert person(world, ADA).name == "Augusta King"


def test_a_failing_workspace_does_not_stop_others(database: Database, slack: LoopbackSlack) -> None:
    slack.add_team("T2", None, name="Umbrella")
    slack.add_team("T3", None, name="Initech")
    slack.add_person("UINA", "ina@umbrella.example", "Ina Installer", team_id="T2")
    slack.add_person("UBILL", "bill@initech.example", "Bill Lumbergh", team_id="T3")
    with World(database, slack, slack_settings=by_oauth(slack)) as world:
        Browser(world).install(slack, "UINA", "T2")
        Browser(world).install(slack, "UBILL", "T3")
        token = slack.team("T2").token
        assert token is not None
        slack.revoke(token)
        slack.change_person("UBILL", team_id="T3", real_name="Bill Changed")

        next_day(world)

        assert "Bill Changed" in all_names(world, "T3")


@pytest.mark.parametrize("due_later", [False, True], ids=["due", "due later"])
def test_a_slow_workspace_does_not_delay_others(database: Database, due_later: bool) -> None:
    clock = Clock()
    workspaces = SlowFirst()
    linked_teams = ["TFIRST"] if due_later else ["TFIRST", *OTHERS]
    for team_id in linked_teams:
        link_to(database, team_id, clock)
        clock.advance(seconds=1)
    directory = DirectorySync(database, workspaces, clock, claim_seconds=0.01)

    async def run() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            running = asyncio.create_task(directory.run())
            await workspaces.slow_began.wait()
            for team_id in OTHERS if due_later else []:
                await asyncio.to_thread(link_to, database, team_id, clock)
            await running

    asyncio.run(run())

    assert sorted(workspaces.compared) == OTHERS


# With the slow workspace there are more than are compared at the same time.
OTHERS = [f"T{number:02}" for number in range(MAX_CONCURRENT)]


def link_to(database: Database, team_id: str, clock: Clock) -> None:
    acme = an_organisation(database)
    database.write_now(slack_workspaces.link, acme.organisation, team_id, source="cli", now=clock())


class SlowFirst(InstalledWorkspaces):
    """Looking TFIRST up takes until all the other workspaces were looked up."""

    def __init__(self) -> None:
        self.compared: list[str] = []
        self.slow_began = asyncio.Event()
        self._all_others = asyncio.Event()

    async def for_delivery(self, team_id: str) -> None:
        if team_id == "TFIRST":
            self.slow_began.set()
            await self._all_others.wait()
            return
        self.compared.append(team_id)
        if len(self.compared) == len(OTHERS):
            self._all_others.set()


class FailingToFail(Troubled):
    """The database is unavailable when a failed comparison is recorded."""

    async def write(self, *args: Any, **kwargs: Any) -> Any:
        if args[0] is slack_syncs.fail:
            raise DatabaseUnavailable
        return await super().write(*args, **kwargs)


@pytest.mark.both_engines
def test_a_failure_that_cannot_be_recorded_does_not_stop_others(database: Database) -> None:
    clock = Clock()
    for team_id in ("TFIRST", *OTHERS):
        link_to(database, team_id, clock)
        clock.advance(seconds=1)
    workspaces = AllFailing()
    directory = DirectorySync(cast(Database, FailingToFail(database)), workspaces, clock)

    asyncio.run(directory.run())

    assert sorted(workspaces.tried) == [*OTHERS, "TFIRST"]


class AllFailing(InstalledWorkspaces):
    def __init__(self) -> None:
        self.tried: list[str] = []

    async def for_delivery(self, team_id: str) -> None:
        self.tried.append(team_id)
        raise TimeoutError


MALFORMED: dict[str, Any] = {
    "no object": "UODD",
    "no profile": {"profile": "none"},
    "no id": {"id": ["UODD"]},
    "a number as address": {"profile": {"email": 5}},
    "NUL in the address": {"profile": {"email": "odd\0@acme.test"}, "is_email_confirmed": True},
    "a lone surrogate as picture": {"profile": {"image_192": "\ud800"}},
    "a number as zone": {"tz": 1},
    "an endless locale": {"locale": "x" * 1_000},
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_member_is_skipped_and_the_others_are_compared(
    world: World, logged: Logged, kind: str
) -> None:
    linked(world, ADA)
    linked(world, EVE)
    odd = MALFORMED[kind]
    if isinstance(odd, dict):
        odd = world.slack.user(ADA) | odd
    eve = world.slack.user(EVE) | {"profile": {"real_name": "Eve Everywhere"}}
    body = json.dumps({"ok": True, "members": [odd, eve]})
    world.slack.fail_next("users.list", body=body)

    next_day(world)

    skipped = [line for line in logged.lines if "slack.member_skipped" in line]
    assert person(world, EVE).name == "Eve Everywhere"
    assert person(world, ADA).status == "active"
    assert len(skipped) == 1


def all_names(world: World, team_id: str) -> list[str]:
    organisation = world.database.read_now(slack_workspaces.find, team_id)
    assert organisation is not None
    by = Caller(
        organisation_id=organisation.id,
        user_id=None,
        role="owner",
        scopes=frozenset(),
        source="cli",
    )
    return [user.name for user in world.database.read_now(people_lists.list_all, by=by)]


@pytest.mark.both_engines
def test_two_processes_never_sync_the_same_workspace(world: World) -> None:
    world.link()
    world.clock.advance(days=1)
    other = DirectorySync(world.database, world.app.workspaces, world.clock)

    async def both() -> None:
        await asyncio.gather(world.app.directory.run(), other.run())

    world.run(both)

    assert len(world.slack.calls("users.list")) == 1


@pytest.mark.both_engines
def test_the_sync_of_a_process_that_crashed_is_taken_over(database: Database) -> None:
    acme = an_organisation(database)
    database.write_now(slack_workspaces.link, acme.organisation, "T1", source="cli", now=NOW)
    claim = slack_syncs.claim

    (first,) = database.write_now(claim, claim_id="a", now=NOW, limit=8)
    assert database.write_now(claim, claim_id="b", now=NOW, limit=8) == []
    later = NOW + slack_syncs.QUEUE.lease
    (second,) = database.write_now(claim, claim_id="b", now=later, limit=8)

    assert database.write_now(slack_syncs.renew, first, now=later) is False
    assert database.write_now(slack_syncs.renew, second, now=later) is True
    database.write_now(slack_syncs.finish, first, now=later)
    database.write_now(slack_syncs.finish, second, now=later)
    tomorrow = later + timedelta(days=1)
    assert database.write_now(claim, claim_id="c", now=later, limit=8) == []
    assert len(database.write_now(claim, claim_id="c", now=tomorrow, limit=8)) == 1


# Late events


def test_an_event_older_than_the_last_one_applied_changes_nothing(world: World) -> None:
    linked(world, ADA)
    at = person_updated(world, ADA)
    change(world, ADA, real_name="Ada King", updated=at + 10)
    change(world, ADA, deleted=True, updated=at + 20)

    response = change(world, ADA, deleted=False, real_name="Ada Old", updated=at + 15)

    ada = person(world, ADA)
    assert response.status == 200
    assert (ada.status, ada.name) == ("deactivated", "Ada King")


def test_an_event_older_than_a_look_up_changes_nothing(world: World) -> None:
    at = 1_780_000_000
    world.slack.change_person(ADA, updated=at)
    linked(world, ADA)

    change(world, ADA, real_name="Ada Old", updated=at - 1)

    assert person(world, ADA).name == "Ada Lovelace"


@pytest.mark.both_engines
def test_of_two_concurrent_profiles_the_newer_is_applied(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    newer = a_slack_profile(ada.email, first_name="New", updated_at=NOW)
    older = a_slack_profile(ada.email, first_name="Old", updated_at=NOW - timedelta(seconds=1))

    codes = overlapping(
        database,
        lambda tx: slack_profiles.sync(tx, acme.id, newer, now=NOW),
        lambda: database.write_now(slack_profiles.sync, acme.id, older, now=NOW),
    )

    person = database.read_now(people_rows.find, acme.id, ada.id)
    assert codes == []
    assert person is not None
    assert person.first_name == "New"


@pytest.mark.both_engines
def test_syncing_many_profiles_and_one_of_them_do_not_deadlock(database: Database) -> None:
    acme = an_organisation(database)
    ada, eve = a_person(database, acme), a_person(database, acme)
    named = [
        a_slack_profile(ada.email, slack_user_id="U1", first_name="Augusta"),
        a_slack_profile(eve.email, slack_user_id="U2", first_name="Evelyn"),
    ]

    runs = crossing(
        database,
        lambda tx: people_rows.get(tx, eve.id, by=acme.caller, for_update=True),
        lambda tx: people.update(tx, eve.id, {"last_name": "King"}, by=acme.caller, now=NOW),
        lambda tx: slack_profiles.sync_all(tx, acme.id, named, now=NOW),
    )

    assert runs == 2


def test_unlinking_deletes_the_time_of_the_applied_profile(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    first = a_slack_profile(ada.email, updated_at=NOW)
    database.write_now(slack_profiles.sync, acme.id, first, now=NOW)
    database.write_now(slack_profiles.unlink, ada.id, by=acme.caller, now=NOW)

    other = a_slack_profile(
        ada.email, slack_user_id="U2", first_name="Ada", updated_at=NOW - timedelta(days=9)
    )
    database.write_now(slack_profiles.sync, acme.id, other, now=NOW)

    person = database.read_now(people_rows.find, acme.id, ada.id)
    assert person is not None
    assert person.slack_user_id == "U2"
