"""Imported approvers are matched in Slack, get cards, and become active when they use them."""

from __future__ import annotations

from typing import Any

import pytest

from bot.base import ids
from storage.admin import people
from storage.base.values import User
from storage.leave import previews
from storage.leave.drafts import Draft
from storage.operations import people_file, people_import
from storage.operations.people_import import Imported
from storage.people import people_rows
from storage.workspaces import slack_profiles
from tests.bot.world import ADA, FIRST_DAY, GRACE, HEDY, LAST_DAY, World, to_decide
from tests.builders import a_person, audit_entries

MONA = "UMONA"
FILE = "email,first_name,last_name\nmona@example.com,Mona,Manager\n"


def imported(world: World) -> User:
    """Ada's manager, as `hiatus import` adds her."""
    world.link()

    def import_manager(tx: Any) -> Imported:
        people = people_file.read(FILE.encode())
        return people_import.import_people(
            tx,
            people,
            by=world.acme.caller,
            now=world.clock(),
            is_update=False,
            progress=lambda _: None,
        )

    world.database.write_now(import_manager)
    mona = world.database.read_now(people_rows.find_by_email, world.acme.id, "mona@example.com")
    assert mona is not None
    world.people[MONA] = mona
    manages(world, mona)
    return mona


def manages(world: World, manager: User) -> None:
    world.write(people.update, world.people[ADA].id, {"manager_id": manager.id})


def scheduler_runs(world: World) -> None:
    world.clock.advance(seconds=30)
    world.run(world.app.directory.run)


def stored(world: World, who: str = MONA) -> User:
    return world.database.read_now(people_rows.get, world.people[who].id, by=world.acme.caller)


def test_an_imported_manager_is_found_in_slack_and_gets_the_card(world: World) -> None:
    imported(world)
    world.slack.add_person(MONA, "Mona@example.com", "Mona Manager")
    scheduler_runs(world)
    assert (stored(world).status, stored(world).slack_user_id) == ("pending", MONA)

    world.a_request()

    assert to_decide(world.card(MONA)) == ["Approve", "Decline"]
    assert [world.cards(who) for who in (GRACE, HEDY)] == [[], []]


def test_a_pending_approver_becomes_active_by_using_the_card(world: World) -> None:
    imported(world)
    world.slack.add_person(MONA, "mona@example.com", "Mona Manager")
    scheduler_runs(world)
    world.a_request()

    world.click(MONA, ids.APPROVE)

    assert world.request().status == "approved"
    assert stored(world).status == "active"


def test_the_next_run_after_an_import_lists_slacks_members_once(world: World) -> None:
    world.link()
    scheduler_runs(world)
    before = len(world.slack.calls("users.list"))
    imported(world)
    world.slack.add_person(MONA, "mona@example.com", "Mona Manager")

    scheduler_runs(world)

    assert stored(world).slack_user_id == MONA
    assert len(world.slack.calls("users.list")) == before + 1
    assert world.slack.calls("users.lookupByEmail") == []


def test_a_request_of_a_pending_approvers_report_lists_slacks_members(world: World) -> None:
    world.link()
    scheduler_runs(world)
    world.clock.advance(hours=1)
    mona = a_person(
        world.database, world.acme, first_name="Mona", email="mona@example.com", status="pending"
    )
    world.people[MONA] = mona
    manages(world, mona)
    world.slack.add_person(MONA, "mona@example.com", "Mona Manager")
    world.a_request()
    assert world.cards(MONA) == []
    assert to_decide(world.card(GRACE)) == ["Approve", "Decline"]

    scheduler_runs(world)
    world.deliver()

    assert to_decide(world.card(MONA)) == ["Approve", "Decline"]
    assert to_decide(world.card(GRACE)) == []
    assert world.audited("leave_request.rerouted") == 1


@pytest.mark.both_engines
def test_requests_list_slacks_members_at_most_every_ten_minutes(world: World) -> None:
    imported(world)
    scheduler_runs(world)
    before = len(world.slack.calls("users.list"))

    for day in ("2026-08-03", "2026-08-10", "2026-08-17"):
        world.a_request(**{ids.FIRST_DAY: day, ids.LAST_DAY: day})
        scheduler_runs(world)
    assert len(world.slack.calls("users.list")) == before
    world.clock.advance(minutes=10)
    world.run(world.app.directory.run)

    assert len(world.slack.calls("users.list")) == before + 1


def test_an_unconfirmed_account_gets_no_card(world: World) -> None:
    imported(world)
    world.slack.add_person(MONA, "mona@example.com", "Mallory", is_email_confirmed=False)
    scheduler_runs(world)

    world.a_request()

    assert world.slack.dm(MONA) == []
    assert to_decide(world.card(GRACE)) == ["Approve", "Decline"]


def test_the_form_names_skipped_approvers(world: World) -> None:
    imported(world)

    world.command(ADA, "3-5 aug annual")

    text = world.slack.open_modal(ADA, "Skipped").visible_text
    assert "This will go to Grace Hopper and Hedy Lamarr for approval." in text
    assert (
        "Skipped: Mona Manager. They haven't used Hiatus yet, and I don't know their Slack "
        "account." in text
    )


def test_unlinking_a_pending_approver_gives_their_requests_to_others(world: World) -> None:
    imported(world)
    world.slack.add_person(MONA, "mona@example.com", "Mona Manager")
    scheduler_runs(world)
    world.a_request()

    world.change(slack_profiles.unlink, world.people[MONA].id)

    assert to_decide(world.card(GRACE)) == ["Approve", "Decline"]


def test_a_preview_names_only_people_before_the_approvers(world: World) -> None:
    world.link()
    a_person(
        world.database,
        world.acme,
        first_name="Pia",
        role="approver",
        department_id=world.people[ADA].department_id,
        status="pending",
    )
    draft = Draft(leave_type_id=world.leave_type("annual"), start_date=FIRST_DAY, end_date=LAST_DAY)

    preview = world.database.read_now(
        previews.preview, by=world.caller(ADA), draft=draft, now=world.clock()
    )

    assert preview.unreachable == []
    assert len(preview.approvers) == 2


def test_linking_by_the_directory_sync_is_audited_with_the_source_slack(world: World) -> None:
    mona = imported(world)
    world.slack.add_person(MONA, "mona@example.com", "Mona Manager")

    scheduler_runs(world)

    entries = audit_entries(world.database, world.acme.caller, subject_id=mona.id)
    assert [(entry.action, entry.source) for entry in entries if entry.source == "slack"] == [
        ("user.linked_to_slack", "slack")
    ]
