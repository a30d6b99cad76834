"""The checklist of a new organisation: which steps are open, for whom, and until when."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import pytest

from storage.admin import channel_digests, departments, organisation_settings, people, people_status
from storage.base.errors import InsufficientRole
from storage.base.values import Caller
from storage.calendars import feeds
from storage.db.database import Database, Transaction
from storage.leave import leave_types
from storage.outbox import audit, organisation_config
from storage.workspaces import setup_checklist
from storage.workspaces.setup_checklist import NEW_FOR, Checklist
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    an_organisation,
    audit_entries,
    caller_for,
    type_id,
)

pytestmark = pytest.mark.shared_database

OF_YEAR: Final = ("allowance", "leave_year", "carry_over")
CHANGES: Final[dict[str, dict[str, object]]] = {
    "allowance": {"default_leave_allowance_half_days": 56},
    "leave_year": {"leave_year_type": "fiscal", "leave_year_start_month": 4},
    "carry_over": {"carry_over_half_days": 10},
}


@pytest.fixture
def acme(database: Database) -> Acme:
    return an_organisation(database, country_code="DE")


def found(database: Database, by: Caller, now: datetime = NOW) -> Checklist | None:
    def find(tx: Transaction) -> Checklist | None:
        config = organisation_config.of_organisation(tx, by.organisation_id)
        return setup_checklist.find(tx, config, by=by, now=now)

    return database.read_now(find)


def steps(database: Database, acme: Acme) -> tuple[str, ...]:
    checklist = found(database, acme.caller)
    return () if checklist is None else checklist.steps


def test_a_new_organisation_has_every_step_until_its_data_show_that_it_is_done(
    database: Database, acme: Acme
) -> None:
    by = acme.caller
    last = ("opening_figures", "digest", "feed")
    assert steps(database, acme) == ("country", *OF_YEAR, "leave_types", "people", *last)

    ada = a_person(database, acme)
    later = ("leave_types", "managers", *last)
    assert steps(database, acme) == ("country", *OF_YEAR, *later)

    database.write_now(organisation_settings.update, {"country_code": "DE-BY"}, by=by, now=NOW)
    assert steps(database, acme) == (*OF_YEAR, *later)

    for step in OF_YEAR:
        assert step in steps(database, acme)
        database.write_now(organisation_settings.update, CHANGES[step], by=by, now=NOW)
        assert step not in steps(database, acme)
    assert steps(database, acme) == ("leave_types", "managers", "opening_figures", "digest", "feed")

    annual = type_id(database, acme)
    database.write_now(leave_types.update, annual, {"name": "Holiday"}, by=by, now=NOW)
    assert steps(database, acme) == ("managers", "opening_figures", "digest", "feed")

    database.write_now(people.update, ada.id, {"manager_id": acme.owner.id}, by=by, now=NOW)
    assert steps(database, acme) == ("opening_figures", "digest", "feed")

    database.write_now(setup_checklist.check_off, "opening_figures", by=by, now=NOW)
    assert steps(database, acme) == ("digest", "feed")

    database.write_now(organisation_settings.update, {"digest_channel": "C0123"}, by=by, now=NOW)
    assert steps(database, acme) == ("feed",)

    database.write_now(feeds.get_or_create_personal, by=by, now=NOW)
    assert found(database, by) is None


def test_a_digest_for_any_channel_will_do(database: Database, acme: Acme) -> None:
    new = {"channel": "C0123", "frequency": "weekly"}
    acme.write(channel_digests.create, new)

    assert "digest" not in steps(database, acme)


def test_a_country_without_regions_needs_none(database: Database) -> None:
    estonian = an_organisation(database, country_code="EE")

    assert "country" not in steps(database, estonian)


def test_settings_that_are_right_already_are_checked_off_once(
    database: Database, acme: Acme
) -> None:
    for step in ("country", *OF_YEAR, "leave_types") * 2:
        acme.write(setup_checklist.check_off, step)

    assert steps(database, acme) == ("people", "opening_figures", "digest", "feed")
    entries = audit_entries(database, acme.caller)
    actions = [entry.action for entry in entries if entry.action.startswith("setup_checklist.")]
    assert sorted(actions) == [
        "setup_checklist.allowance_checked",
        "setup_checklist.carry_over_checked",
        "setup_checklist.country_checked",
        "setup_checklist.leave_types_checked",
        "setup_checklist.leave_year_checked",
    ]


def test_an_owner_who_is_alone_is_told_how_people_come(database: Database, acme: Acme) -> None:
    leaver = a_person(database, acme)
    acme.write(people_status.archive, leaver.id)
    alone = found(database, acme.caller)
    changes = {"slack_members_join": False}
    acme.write(organisation_settings.update, changes)
    alone_and_closed = found(database, acme.caller)

    assert alone is not None
    assert alone_and_closed is not None
    assert "people" in alone.steps
    assert (alone.members_join, alone_and_closed.members_join) == (True, False)


def test_people_without_a_manager_are_counted(database: Database, acme: Acme) -> None:
    grace = a_person(database, acme, role="approver")
    led, without_head = a_department(database, acme), a_department(database, acme, name="Sales")
    changes = {"manager_id": grace.id}
    acme.write(departments.update, led.id, changes)
    # Their department's manager decides; that manager has no approver.
    a_person(database, acme, department_id=led.id)
    acme.write(people.update, grace.id, {"department_id": led.id})
    # Their manager decides.
    a_person(database, acme, manager_id=grace.id)
    # No approver: no department, or one without a manager.
    a_person(database, acme)
    a_person(database, acme, department_id=without_head.id)
    # Admins and people who left need no manager.
    a_person(database, acme, role="admin")
    leaver = a_person(database, acme)
    acme.write(people_status.archive, leaver.id)

    checklist = found(database, acme.caller)

    assert checklist is not None
    assert checklist.without_manager == 3


def test_only_admins_of_a_new_organisation_see_it(database: Database, acme: Acme) -> None:
    member = caller_for(acme, a_person(database, acme, role="approver"))

    assert found(database, member) is None
    assert found(database, acme.caller, NOW + NEW_FOR) is not None
    assert found(database, acme.caller, NOW + NEW_FOR + timedelta(days=1)) is None


def test_hiding_it_hides_it_from_every_admin_and_is_audited(database: Database, acme: Acme) -> None:
    other_admin = caller_for(acme, a_person(database, acme, role="admin"))
    other_organisation = an_organisation(database, name="Other")

    database.write_now(setup_checklist.hide, by=other_admin, now=NOW)

    assert found(database, acme.caller) is None
    assert found(database, other_organisation.caller) is not None
    hidden_by = database.read_now(audit.last_actor, acme.id, "setup_checklist.hidden", acme.id)
    assert hidden_by == other_admin.user_id


def test_members_cannot_hide_it(database: Database, acme: Acme) -> None:
    by = replace(caller_for(acme, a_person(database, acme)), role="member")

    with pytest.raises(InsufficientRole):
        database.write_now(setup_checklist.hide, by=by, now=NOW)
