"""Two workspaces in one process are isolated from each other, through every listener.

Every registered listener is tried, so new listeners are covered. The intruder is in another
workspace and uses the ids of Acme's data; Slack signs the intruder's payloads.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bot.base import ids
from storage.db.database import Database
from storage.db.tables import TABLES
from storage.workspaces import slack_installations, slack_workspaces
from tests.bot.anything import Subject, send_all
from tests.bot.browser import Browser, by_oauth
from tests.bot.registrations import registered
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.builders import NOW, a_person, an_organisation
from tests.fakes.slack import LoopbackSlack

NOTE = "Only for my approvers"
# In the other workspace; the second has the same id there as Grace has in Acme's.
INTRUDERS = ("UMALLORY", GRACE)
LISTENERS = {f"{listener.kind}:{listener.name}": listener for listener in registered()}
# Each of these removes the intruder or the app, which would hide defects of later listeners.
ENDINGS = ("event:user_change", "event:app_uninstalled", "event:tokens_revoked")
TRIED = {name: [name] for name in ENDINGS} | {
    "the others": [name for name in LISTENERS if name not in ENDINGS]
}


@pytest.fixture(params=["oauth", "token"])
def world(
    request: pytest.FixtureRequest, database: Database, slack: LoopbackSlack
) -> Iterator[World]:
    """Acme in T1 with a request of Ada's, Other in T2; both served by one process."""
    slack.add_team("T2", "xoxb-other")
    other = an_organisation(database, name="Other")
    for slack_id in INTRUDERS:
        owner = a_person(database, other, first_name="Mallory", last_name="Malone", role="admin")
        slack.add_person(slack_id, owner.email, "Mallory M", team_id="T2")
    database.write_now(slack_workspaces.link, other.organisation, "T2", source="cli", now=NOW)
    by = by_oauth(slack) if request.param == "oauth" else {}
    with World(database, slack, slack_settings=by) as running:
        ours = running.acme.organisation
        database.write_now(slack_workspaces.link, ours, "T1", source="cli", now=NOW)
        if request.param == "oauth":
            for slack_id, team_id in ((ADA, "T1"), ("UMALLORY", "T2")):
                assert Browser(running).install(slack, slack_id, team_id).status_code == 200
        running.a_request(**{ids.NOTE: NOTE})
        yield running


def acmes_subject(world: World) -> Subject:
    card = world.card(HEDY)
    return Subject(world.request().id, world.leave_type("annual"), card.channel, card.ts)


def of_acme(world: World, tmp_path: Path) -> dict[str, Any]:
    """Every row of Acme's."""
    rows: dict[str, Any] = {}
    with closing(sqlite3.connect(tmp_path / "hiatus.db")) as connection:
        for table in TABLES:
            names = set(table._meta.fields)
            column = "organisation_id" if "organisation_id" in names else "id"
            if table._meta.table_name == "organisations" or column == "organisation_id":
                query = f'SELECT * FROM "{table._meta.table_name}" WHERE {column} = ?'
                rows[table._meta.table_name] = connection.execute(
                    query, (world.acme.id,)
                ).fetchall()
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "intruder", "names"),
    [
        pytest.param(
            *(world, intruder, names),
            id=f"{world}-{tried}",
            # All listeners take seconds; a workspace by token has the same ones.
            marks=[pytest.mark.slow] if world == "token" and len(names) > 1 else [],
        )
        for world, intruder in (("oauth", GRACE), ("token", "UMALLORY"))
        for tried, names in TRIED.items()
    ],
    indirect=["world"],
)
def test_users_of_another_workspace_cannot_read_or_change_anything(
    world: World, tmp_path: Path, names: list[str], intruder: str
) -> None:
    subject = acmes_subject(world)

    reached = {name: _reached(world, tmp_path, name, intruder, subject) for name in names}

    assert {name: how for name, how in reached.items() if how} == {}
    if len(names) > 1:
        assert _active_intruders(tmp_path) == len(INTRUDERS), (
            "an intruder was removed before the end"
        )


def _reached(world: World, tmp_path: Path, name: str, intruder: str, subject: Subject) -> list[str]:
    """Sends the intruder's payloads; returns the ways in which they reached Acme."""
    before, calls = of_acme(world, tmp_path), world.slack.call_count
    posts, messages = len(world.slack.response_posts), _shown(world)

    responses = send_all(world.slack, LISTENERS[name], intruder, subject, team_id="T2")
    world.settled()
    world.deliver()

    calls_of_app = world.slack.calls(since=calls)
    payloads = json.dumps(
        [
            [call.arguments for call in calls_of_app],
            [post.body for post in world.slack.response_posts[posts:]],
            [response.body for response in responses],
        ]
    )
    people = world.people
    secrets = ("Lovelace", "Hopper", NOTE, people[ADA].email, people[EVE].email)
    reached = {
        "rows were changed": of_acme(world, tmp_path) != before,
        "messages were changed": _shown(world) != messages,
        "its token was used": world.slack.team("T1").token in {call.token for call in calls_of_app},
        "a secret was disclosed": any(secret in payloads for secret in secrets),
        "not answered with 200": any(response.status != 200 for response in responses),
    }
    return [how for how, is_so in reached.items() if is_so]


def _active_intruders(tmp_path: Path) -> int:
    query = "SELECT COUNT(*) FROM users WHERE first_name = 'Mallory' AND status = 'active'"
    with closing(sqlite3.connect(tmp_path / "hiatus.db")) as connection:
        count: int = connection.execute(query).fetchone()[0]
    return count


def _shown(world: World) -> dict[str, list[str]]:
    return {
        who: [message.visible_text for message in world.slack.dm(who)] for who in (ADA, GRACE, HEDY)
    }


def test_the_same_payloads_work_in_their_own_workspace(world: World, tmp_path: Path) -> None:
    approve = LISTENERS[f"action:{ids.APPROVE}"]
    before = of_acme(world, tmp_path)

    send_all(world.slack, approve, GRACE, acmes_subject(world), team_id="T1")
    world.settled()

    assert of_acme(world, tmp_path) != before
    assert world.request().status == "approved"


def test_uninstalling_one_workspace_leaves_the_other(world: World) -> None:
    uninstalled = LISTENERS["event:app_uninstalled"]
    installation = world.database.read_now(slack_installations.find, "T1")

    send_all(world.slack, uninstalled, "UMALLORY", acmes_subject(world), team_id="T2")

    assert world.database.read_now(slack_installations.find, "T1") == installation
    assert world.database.read_now(slack_installations.find, "T2") is None
