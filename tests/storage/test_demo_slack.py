"""The demo organisation enters the playground's workspace, and leaves it for a real one."""

from __future__ import annotations

from storage.base.values import User
from storage.db.database import Database, Transaction
from storage.notifications import notification_queue
from storage.notifications.notification_queue import Notification, Outcome
from storage.operations import demo
from storage.operations.demo import DemoOrganisation
from storage.workspaces import slack_workspaces
from tests.builders import NOW
from tests.refusals import overlapping


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
        assert cards == ["Grace", "Marta"]


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
