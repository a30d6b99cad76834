"""Slack's events are handled once, retried after failures, and update people."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.interaction.interaction import ANSWER_SECONDS, Interaction
from storage.admin import people_status
from storage.base import retention
from storage.base.errors import DatabaseUnavailable, Unauthenticated
from storage.base.values import User
from storage.db import locks
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.keys import authentication
from storage.outbox import audit
from storage.people import people_lists, people_rows
from storage.workspaces import join_policy, slack_events, slack_installations, slack_profiles
from tests.bot.browser import Browser, by_oauth
from tests.bot.registrations import Listener
from tests.bot.test_listening import SOON_SECONDS, Broken, Troubled, until
from tests.bot.world import ADA, EVE, World
from tests.builders import NOW, a_key, a_person, a_slack_profile, an_organisation
from tests.fakes.slack import Answer, LoopbackSlack
from tests.refusals import crossing, overlapping


def change(world: World, who: str, **changes: Any) -> Answer:
    """Change a person in Slack, and send the app the event."""
    world.slack.change_person(who, **changes)
    user = world.slack.user(who) | {"locale": changes.get("locale", "en-GB")}
    response = world.slack.event({"type": "user_change", "user": user})
    world.settled()
    return response


def person(world: World, who: str) -> User:
    user = world.database.read_now(people_rows.find, world.acme.id, world.people[who].id)
    assert user is not None
    return user


def test_names_time_zone_and_locale_follow_slack(world: World) -> None:
    world.open_form(ADA)

    response = change(world, ADA, real_name="Augusta King-Noel", tz="Europe/Rome", locale="it-IT")

    ada = person(world, ADA)
    assert response.status == 200
    assert (ada.name, ada.timezone) == ("Augusta King-Noel", "Europe/Rome")
    locales = world.database.read_now(people_rows.locales_of, world.acme.id, [ada.id])
    assert locales == {ada.id: "it-IT"}
    page = world.database.read_now(
        audit.entries, PageOf(limit=1), by=world.acme.caller, action="user.updated"
    )
    assert [(item.source, item.actor_id, item.subject_id) for item in page.items] == [
        ("slack", None, ada.id)
    ]


def test_characters_that_reorder_text_are_stripped_from_slacks_names(world: World) -> None:
    world.open_form(ADA)

    change(world, ADA, real_name="\u202eAda\u202c \u2066King\u2069\x07")

    assert person(world, ADA).name == "Ada King"


def test_an_invisible_name_in_slack_changes_nothing(world: World) -> None:
    world.open_form(ADA)
    before = person(world, ADA).name

    response = change(world, ADA, real_name="\u3164\u2800 \u200b", tz="Europe/Rome")

    ada = person(world, ADA)
    assert response.status == 200
    assert (ada.name, ada.timezone) == (before, "Europe/Rome")


def test_a_user_who_never_used_slack_is_matched_by_address(world: World) -> None:
    world.link()

    change(world, EVE, real_name="Eve Everywhere")

    eve = person(world, EVE)
    assert (eve.name, eve.slack_user_id) == ("Eve Everywhere", EVE)


def test_nothing_is_written_when_nothing_changed(world: World) -> None:
    world.open_form(ADA)
    change(world, ADA, tz="Europe/Rome")
    before = person(world, ADA).version

    change(world, ADA, tz="Europe/Rome")

    assert person(world, ADA).version == before


def test_a_user_deactivated_in_slack_is_deactivated_with_their_keys(world: World) -> None:
    world.open_form(ADA)
    key = a_key(world.database, world.acme, world.people[ADA])

    change(world, ADA, deleted=True)

    assert person(world, ADA).status == "deactivated"
    with pytest.raises(Unauthenticated):
        world.database.read_now(authentication.authenticate, key, now=NOW)
    page = world.database.read_now(
        audit.entries, PageOf(limit=1), by=world.acme.caller, action="user.deactivated"
    )
    assert [item.source for item in page.items] == ["slack"]


def test_slack_reactivates_those_alone_whom_slack_deactivated(world: World) -> None:
    world.open_form(ADA)
    change(world, ADA, deleted=True)
    change(world, ADA, deleted=False)
    assert person(world, ADA).status == "active"
    world.clock.advance(hours=1)
    world.write(people_status.deactivate, world.people[ADA].id)

    change(world, ADA, tz="Europe/Rome")

    assert person(world, ADA).status == "deactivated"


def test_the_last_owner_stays(world: World) -> None:
    world.link()
    owner = world.acme.owner
    world.people["UOLIVE"] = owner
    world.slack.add_person("UOLIVE", owner.email, owner.name)

    response = change(world, "UOLIVE", deleted=True)

    assert response.status == 200
    assert person(world, "UOLIVE").status == "active"


@pytest.mark.parametrize(
    "flags",
    [
        {"is_restricted": True},
        {"is_ultra_restricted": True},
        {"is_bot": True},
        {"is_stranger": True},
        {"home_team_id": "T9"},
    ],
)
def test_events_of_guests_bots_and_strangers_are_ignored(
    world: World, flags: dict[str, Any]
) -> None:
    world.link()
    before = person(world, EVE)

    response = change(world, EVE, real_name="Guy Guest", **flags)

    assert response.status == 200
    assert person(world, EVE) == before


def test_a_deleted_account_that_is_not_linked_is_ignored(world: World) -> None:
    world.link()
    before = person(world, EVE)
    deleted = world.slack.user(EVE) | {"deleted": True}

    response = world.slack.event({"type": "user_change", "user": deleted})

    assert deleted["is_email_confirmed"]
    assert response.status == 200
    assert person(world, EVE) == before


def test_events_add_no_users(world: World) -> None:
    world.link()
    world.slack.add_person("UNEW", "nora@example.com", "Nora Newcomer")

    response = change(world, "UNEW", tz="Europe/Rome")

    assert response.status == 200
    assert world.database.read_now(people_rows.find_by_slack_id, world.acme.id, "UNEW") is None


def test_an_archived_user_is_not_changed(database: Database) -> None:
    acme = an_organisation(database)
    gone = a_person(database, acme, status="archived")
    profile = a_slack_profile(gone.email, first_name="Other")

    synced = database.write_now(slack_profiles.sync, acme.id, profile, now=NOW)

    assert synced is None
    assert database.read_now(people_rows.find, acme.id, gone.id) == gone


def test_another_account_with_the_same_address_is_not_matched(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    profile = a_slack_profile(ada.email)
    database.write_now(slack_profiles.sync, acme.id, profile, now=NOW)

    other = replace(profile, slack_user_id="UOTHER", first_name="Mallory", is_deleted=True)
    synced = database.write_now(slack_profiles.sync, acme.id, other, now=NOW)

    assert synced is None


# Deduplication and retries


class Counting:
    """A listener that counts its runs and fails the first ``failures`` of them."""

    __name__ = "counting"

    def __init__(self, failures: int = 0) -> None:
        self.runs = 0
        self.failures = failures

    async def __call__(self, interaction: Interaction) -> None:
        self.runs += 1
        await asyncio.sleep(0)
        if self.runs <= self.failures:
            raise KeyError("broken")


@pytest.mark.both_engines
def test_a_user_who_joins_during_an_event_is_added_once(database: Database) -> None:
    acme = an_organisation(database)
    ada, grace = a_person(database, acme), a_person(database, acme, first_name="Grace")
    profile = a_slack_profile(ada.email, last_name="King")
    changed = replace(profile, email=grace.email)

    codes = overlapping(
        database,
        lambda tx: join_policy.join_from_slack(tx, acme.id, changed, now=NOW),
        lambda: database.write_now(slack_profiles.sync, acme.id, profile, now=NOW),
    )

    assert codes == []
    people = database.read_now(people_lists.list_all, by=acme.caller)
    assert [user.id for user in people if user.slack_user_id == "U1"] == [grace.id]


@pytest.mark.both_engines
@pytest.mark.parametrize("is_deleted", [True, False], ids=["switched off", "back"])
def test_slack_and_an_admin_deactivating_a_user_do_not_deadlock(
    database: Database, is_deleted: bool
) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    profile = a_slack_profile(ada.email, last_name="King")
    off = replace(profile, is_deleted=True)
    database.write_now(slack_profiles.sync, acme.id, profile, now=NOW)
    if not is_deleted:
        database.write_now(slack_profiles.sync, acme.id, off, now=NOW)

    runs = crossing(
        database,
        lambda tx: locks.organisation(tx, acme.id),
        lambda tx: people_status.deactivate(tx, ada.id, by=acme.caller, now=NOW),
        lambda tx: slack_profiles.sync(tx, acme.id, off if is_deleted else profile, now=NOW),
    )

    assert runs == 2


def listening_world(database: Database, slack: LoopbackSlack, act: Any) -> World:
    return World(database, slack, listeners=[Listener(kind="event", name="team_join", act=act)])


@pytest.mark.both_engines
def test_a_repeated_event_is_handled_once(database: Database, slack: LoopbackSlack) -> None:
    act = Counting()
    with listening_world(database, slack, act):
        responses = [
            slack.event({"type": "team_join"}, event_id="Ev1", retry_num=number)
            for number in (None, 1, 2, 3)
        ]

    assert [response.status for response in responses] == [200] * 4
    assert act.runs == 1


@pytest.mark.both_engines
def test_an_event_that_another_process_handled_is_skipped(
    database: Database, slack: LoopbackSlack
) -> None:
    act = Counting()
    database.write_now(slack_events.claim, "Ev1", now=NOW)
    database.write_now(slack_events.finish, "Ev1", now=NOW)
    with listening_world(database, slack, act) as world:
        world.clock.advance(minutes=5)
        slack.event({"type": "team_join"}, event_id="Ev1", retry_num=2)

    assert act.runs == 0


@pytest.mark.both_engines
def test_an_event_whose_handler_died_is_handled_again(
    database: Database, slack: LoopbackSlack
) -> None:
    act = Counting()
    database.write_now(slack_events.claim, "Ev1", now=NOW)
    with listening_world(database, slack, act) as world:
        # Slack repeats only events without a 200.
        statuses = [slack.event({"type": "team_join"}, event_id="Ev1", retry_num=1).status]
        assert act.runs == 0
        world.clock.advance(minutes=1)

        statuses.append(slack.event({"type": "team_join"}, event_id="Ev1", retry_num=2).status)

    assert (statuses, act.runs) == ([503, 200], 1)


@pytest.mark.both_engines
def test_an_event_that_another_process_has_claimed_is_not_handled_twice(
    database: Database, slack: LoopbackSlack
) -> None:
    act = Counting()
    database.write_now(slack_events.claim, "Ev1", now=NOW)
    with listening_world(database, slack, act) as world:
        statuses = [slack.event({"type": "team_join"}, event_id="Ev1", retry_num=1).status]
        database.write_now(slack_events.finish, "Ev1", now=NOW)
        world.clock.advance(minutes=1)

        statuses.append(slack.event({"type": "team_join"}, event_id="Ev1", retry_num=2).status)

    assert (statuses, act.runs) == ([503, 200], 0)


class Slow(Counting):
    """A listener that takes longer than Slack waits: until ``may_end`` is set."""

    __name__ = "slow"

    def __init__(self, failures: int = 0) -> None:
        super().__init__(failures)
        self.may_end = threading.Event()

    async def __call__(self, interaction: Interaction) -> None:
        await until(self.may_end)
        await super().__call__(interaction)


@pytest.mark.parametrize("via", ["http", "socket"])
def test_a_slow_event_is_answered_200_only_after_it_was_handled(
    database: Database, slack: LoopbackSlack, via: str
) -> None:
    act = Slow()
    listeners = [Listener(kind="event", name="team_join", act=act)]
    with World(database, slack, listeners=listeners, via=via) as world:
        slack.wait_for_socket(count=int(via == "socket"))
        world.app.services.answer_seconds = SOON_SECONDS
        under_way = [
            slack.event({"type": "team_join"}, event_id="Ev1", retry_num=number).ok
            for number in (None, 1)
        ]
        act.may_end.set()
        world.settled()

        later = slack.event({"type": "team_join"}, event_id="Ev1", retry_num=2).ok

    assert (under_way, later) == ([False, False], True)
    assert act.runs == 1


@pytest.mark.both_engines
@pytest.mark.parametrize("via", ["http", "socket"])
def test_a_slow_event_that_fails_is_handled_when_slack_repeats_it(
    database: Database, slack: LoopbackSlack, via: str
) -> None:
    act = Slow(failures=1)
    listeners = [Listener(kind="event", name="team_join", act=act)]
    with World(database, slack, listeners=listeners, via=via) as world:
        slack.wait_for_socket(count=int(via == "socket"))
        world.app.services.answer_seconds = SOON_SECONDS
        acknowledged = [slack.event({"type": "team_join"}, event_id="Ev1").ok]
        act.may_end.set()
        world.settled()

        acknowledged.append(slack.event({"type": "team_join"}, event_id="Ev1", retry_num=1).ok)

    assert acknowledged == [False, True]
    assert act.runs == 2


class Failing(Troubled):
    """A database that fails to write while ``is_failing``, after Slack's time if ``is_slow``."""

    def __init__(self, database: Database, *, is_slow: bool) -> None:
        super().__init__(database)
        self.is_slow = is_slow
        self.is_failing = False
        self.may_end = threading.Event()

    async def write(self, *args: Any, **kwargs: Any) -> Any:
        if self.is_failing:
            if self.is_slow:
                await until(self.may_end)
            raise DatabaseUnavailable
        return await super().write(*args, **kwargs)


@pytest.mark.parametrize("is_slow", [False, True], ids=["at once", "slowly"])
@pytest.mark.parametrize(
    "event",
    [{"type": "app_uninstalled"}, {"type": "tokens_revoked", "tokens": {"bot": ["UBOT"]}}],
    ids=["app_uninstalled", "tokens_revoked"],
)
def test_the_end_of_an_installation_that_fails_is_handled_when_slack_repeats_it(
    database: Database, slack: LoopbackSlack, event: dict[str, Any], is_slow: bool
) -> None:
    failing = Failing(database, is_slow=is_slow)
    with World(database, slack, app_database=failing, slack_settings=by_oauth(slack)) as world:
        world.link()
        assert Browser(world).install(slack, ADA).status_code == 200
        happened_at = {"event_time": int(world.clock().timestamp())}
        failing.is_failing, world.app.services.answer_seconds = True, SOON_SECONDS

        first = slack.event(event, event_id="Ev1", overrides=happened_at)
        failing.may_end.set()
        world.settled()
        installation = database.read_now(slack_installations.find, slack.team_id)
        failing.is_failing = False
        world.app.services.answer_seconds = ANSWER_SECONDS
        world.clock.advance(minutes=1)
        second = slack.event(event, event_id="Ev1", retry_num=2, overrides=happened_at)

    assert (first.status, second.status) == (503, 200)
    assert installation is not None
    assert database.read_now(slack_installations.find, slack.team_id) is None


@pytest.mark.both_engines
def test_without_a_database_slack_is_asked_to_resend_the_event(
    database: Database, slack: LoopbackSlack
) -> None:
    act = Counting()
    broken = Broken(database)
    with World(
        database,
        slack,
        listeners=[Listener(kind="event", name="team_join", act=act)],
        app_database=broken,
    ):
        database.close()
        response = slack.event({"type": "team_join"}, event_id="Ev1")

    assert response.status == 503
    assert act.runs == 0


@pytest.mark.both_engines
def test_old_events_are_pruned(database: Database) -> None:
    database.write_now(slack_events.claim, "Ev1", now=NOW)
    database.write_now(slack_events.claim, "Ev2", now=NOW + timedelta(hours=1))

    later = NOW + retention.SLACK_EVENTS + timedelta(seconds=1)

    assert database.write_now(slack_events.prune, now=later) == 1
    assert database.write_now(slack_events.prune, now=later) == 0


def test_an_event_without_a_listener_is_acknowledged(world: World) -> None:
    assert world.slack.event({"type": "channel_rename"}).status == 200
