"""The demo organisation: lively on any day, created once, and never beside real data."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest

from storage.base.secrets import Secrets
from storage.base.values import SCOPES, User, days_of
from storage.calendars import absences
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.pages import PageOf
from storage.db.schema import migrate
from storage.keys import api_keys, authentication
from storage.leave import leave_lists, ledgers
from storage.notifications import notification_queue
from storage.notifications.notification_queue import Notification, Outcome
from storage.operations import demo, demo_files
from storage.operations.demo import DemoOrganisation
from storage.outbox import organisation_config
from storage.people import people_lists, people_rows
from storage.workspaces import slack_workspaces
from tests.builders import NOW, an_organisation, audit_entries
from tests.refusals import overlapping


def test_the_demo_has_people_and_leave_of_every_status(database: Database) -> None:
    keys = database.write_now(demo.fill, now=NOW)

    owner = database.read_now(authentication.authenticate, keys.api_key, now=NOW).caller
    member = database.read_now(authentication.authenticate, keys.member_api_key, now=NOW).caller
    staff = database.read_now(people_lists.list_all, by=owner)
    requests = database.read_now(leave_lists.filtered, PageOf(limit=100), by=owner).items
    statuses = Counter(request.status for request in requests)
    assert (owner.role, owner.scopes) == ("owner", frozenset(SCOPES))
    assert member.role == "member"
    assert {user.status for user in staff} == {"active"}
    assert len(staff) == 9
    assert {"pending": 3, "declined": 1, "cancelled": 1}.items() <= statuses.items()
    assert statuses["approved"] >= 6
    approved = [request for request in requests if request.status == "approved"]
    assert any(request.start_date <= NOW.date() <= request.end_date for request in approved)


def test_the_demo_has_leave_that_awaits_a_second_approval(database: Database) -> None:
    keys = database.write_now(demo.fill, now=NOW)

    owner = database.read_now(authentication.authenticate, keys.api_key, now=NOW).caller
    requests = database.read_now(leave_lists.filtered, PageOf(limit=100), by=owner).items
    names = {
        user.id: user.first_name for user in database.read_now(people_lists.list_all, by=owner)
    }
    assert [
        (names[request.user_id], names[str(request.first_approver_id)])
        for request in requests
        if request.first_approver_id is not None
    ] == [("Kenji", "Grace")]


def test_the_demo_has_people_at_work_elsewhere(database: Database) -> None:
    keys = database.write_now(demo.fill, now=NOW)

    owner = database.read_now(authentication.authenticate, keys.api_key, now=NOW).caller
    config = database.read_now(organisation_config.of_organisation, owner.organisation_id)
    user = database.read_now(people_rows.get, str(owner.user_id), by=owner)
    elsewhere = database.read_now(
        absences.elsewhere,
        user,
        config.organisation,
        "org",
        config.leave_types,
        first_day=NOW.date(),
        last_day=NOW.date(),
    )
    assert [each.person_name for each in elsewhere] == ["Grace Okafor"]


def test_the_demo_has_several_allowances(database: Database) -> None:
    keys = database.write_now(demo.fill, now=NOW)

    owner = database.read_now(authentication.authenticate, keys.api_key, now=NOW).caller
    remaining = {
        user.first_name: {
            each.allowance.name: days_of(each.remaining_half_days)
            for each in database.read_now(ledgers.balances, user.id, on=None, by=owner, now=NOW)
        }
        for user in database.read_now(people_lists.list_all, by=owner)
        if user.first_name in ("Amir", "Noor")
    }
    # Three days of them are for the closure.
    annual = {"Annual leave": 14, "Sick days": 6}
    assert remaining["Noor"] == {**annual, "Volunteering": 1}
    assert remaining["Amir"] == {**annual, "Annual leave": 13, "Volunteering": 2, "Time in lieu": 1}


@pytest.mark.parametrize("days", [0, 24, 25, 55, 150, 178, 205, 207, 210, 212, 214, 300, 340])
def test_the_demo_can_be_created_on_any_day(database: Database, days: int) -> None:
    now = datetime(2026, 6, 1, 23, 30, tzinfo=UTC) + timedelta(days=days)

    keys = database.write_now(demo.fill, now=now)

    owner = database.read_now(authentication.authenticate, keys.api_key, now=now).caller
    requests = database.read_now(leave_lists.filtered, PageOf(limit=100), by=owner).items
    assert len(requests) >= 10


def test_a_second_run_keeps_the_data_and_shows_the_same_keys(database: Database) -> None:
    first = database.write_now(demo.ensure, now=NOW)
    assert first is not None
    owner = database.read_now(authentication.authenticate, first.api_key, now=NOW).caller
    entries = len(audit_entries(database, owner))

    second = database.write_now(demo.ensure, now=NOW + timedelta(days=3))

    assert second == first
    assert len(audit_entries(database, owner)) == entries


def test_other_organisations_are_left_alone(database: Database) -> None:
    an_organisation(database)

    assert database.write_now(demo.ensure, now=NOW) is None


def test_a_demo_key_that_was_revoked_is_not_shown_any_more(database: Database) -> None:
    keys = database.write_now(demo.fill, now=NOW)
    owner = database.read_now(authentication.authenticate, keys.api_key, now=NOW).caller
    assert owner.key_id is not None

    database.write_now(api_keys.revoke, owner.key_id, by=owner, now=NOW)

    assert database.write_now(demo.ensure, now=NOW) is None


def a_demo(database: Database) -> DemoOrganisation:
    return database.write_now(demo.fill, now=NOW)


def enter(database: Database, organisation: DemoOrganisation) -> list[User] | None:
    return database.write_now(demo.enter, organisation.organisation_id, now=NOW)


def delivered(database: Database) -> list[Notification]:
    claimed = database.write_now(notification_queue.claim, limit=100, claim_id="a test", now=NOW)
    database.write_now(
        notification_queue.record_results,
        [(notification, Outcome(verdict="delivered")) for notification in claimed],
        now=NOW,
    )
    return claimed


def test_every_user_has_a_slack_id(database: Database) -> None:
    users = enter(database, a_demo(database))

    assert users is not None
    ids = {user.email: user.slack_user_id for user in users}
    assert len(set(ids.values())) == len(users) == 9
    assert ids["amir@acme.example"] == "U0AMIR"
    person = database.read_now(slack_workspaces.find_person, demo.TEAM_ID, "U0AMIR")
    assert person is not None
    assert person.user is not None
    assert person.user.email == "amir@acme.example"


def test_entering_the_playground_shows_approvers_their_pending_requests(database: Database) -> None:
    acme = a_demo(database)
    users = {user.id: user.first_name for user in enter(database, acme) or []}
    first = delivered(database)

    enter(database, acme)
    again = delivered(database)

    for notification_list in (first, again):
        cards = sorted(
            users[notification.user_id]
            for notification in notification_list
            if notification.kind == "approval_card"
        )
        # Henrik gives the second approval of Kenji's unpaid leave.
        assert cards == ["Grace", "Henrik", "Marta"]


def test_an_organisation_of_another_workspace_stays_there(database: Database) -> None:
    acme = a_demo(database)
    database.write_now(slack_workspaces.link_only_organisation, "T0REAL", now=NOW)

    assert enter(database, acme) is None

    organisation = database.read_now(slack_workspaces.find, "T0REAL")
    assert organisation is not None
    assert organisation.id == acme.organisation_id
    assert database.write_now(demo.leave, now=NOW) is False


def test_leaving_the_playground_frees_the_organisation_for_a_real_workspace(
    database: Database,
) -> None:
    acme = a_demo(database)
    enter(database, acme)

    has_left = database.write_now(demo.leave, now=NOW)

    tied = database.write_now(slack_workspaces.link_only_organisation, "T0REAL", now=NOW)
    assert has_left is True
    assert tied is not None
    assert tied.slack_team_id == "T0REAL"
    person = database.read_now(slack_workspaces.find_person, "T0REAL", "U0AMIR")
    assert person is not None
    assert person.user is None


def test_a_process_that_starts_late_keeps_the_real_workspace_linked(database: Database) -> None:
    acme = a_demo(database)
    enter(database, acme)
    has_left: list[bool] = []

    def tie(tx: Transaction) -> None:
        has_left.append(demo.leave(tx, now=NOW))
        slack_workspaces.link_only_organisation(tx, "T0REAL", now=NOW)

    overlapping(database, tie, lambda: has_left.append(database.write_now(demo.leave, now=NOW)))

    organisation = database.read_now(slack_workspaces.find, "T0REAL")
    assert organisation is not None
    assert organisation.id == acme.organisation_id
    assert has_left == [True, False]


def test_starting_over_removes_the_demo_and_keeps_its_key(tmp_path: Path) -> None:
    path = tmp_path / "hiatus.db"
    url = f"sqlite:///{path}"
    path.with_name("hiatus.db.key").write_text("key")
    migrate(url)
    with closing(open_database(url, Secrets.generate())) as database:
        database.write_now(demo.ensure, now=NOW)

    demo_files.start_over(url)
    demo_files.start_over(url)

    assert [file.name for file in tmp_path.iterdir()] == ["hiatus.db.key"]


def test_starting_over_removes_nothing_but_a_demo(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "hiatus.db"
    url = f"sqlite:///{path}"
    migrate(url)
    with closing(open_database(url, Secrets.generate())) as database:
        database.write_now(demo.ensure, now=NOW)
        with pytest.raises(click.exceptions.Exit):
            demo_files.start_over(url)
        assert "is in use" in capsys.readouterr().err
        an_organisation(database)

    for refused in (url, "postgresql://hiatus@127.0.0.1:1/hiatus"):
        with pytest.raises(click.exceptions.Exit):
            demo_files.start_over(refused)

    assert "not the demo: nothing was removed" in capsys.readouterr().err
    assert path.exists()
