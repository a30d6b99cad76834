from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from storage.admin import people, people_status
from storage.base.errors import (
    CannotArchiveSelf,
    EmailTaken,
    InvalidInput,
    LastOwner,
    NotFound,
    NotYourField,
    UnusableCursor,
)
from storage.base.values import User, as_dict
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.keys import api_keys
from storage.people import people_changes, people_lists, people_rows
from storage.people.people_changes import ChangedMeanwhile
from storage.workspaces import join_policy, slack_profiles
from storage.workspaces.join_policy import NotAMember
from tests import outside
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_key,
    a_person,
    a_slack_profile,
    an_organisation,
    audit_entries,
    caller_for,
    find_personal_token,
    personal_token,
)
from tests.refusals import at_once, codes_of, errors_of, overlapping

pytestmark = pytest.mark.shared_database

LATER = NOW + timedelta(hours=1)
UNKNOWN_ID = "019e8269-4e80-7e8f-9eff-078e9174496d"
ADA_IN_SLACK = a_slack_profile("ada@example.com", timezone="Europe/Paris")
ADA = {"email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"}


def created(database: Database, acme: Acme, **fields: Any) -> User:
    return acme.write(people.create, ADA | fields)


def updated(database: Database, acme: Acme, user: User, **changes: Any) -> User:
    return acme.write(people.update, user.id, changes, now=LATER)


def actions_on(database: Database, acme: Acme, user: User) -> list[str]:
    """Sorted by name: entries of one millisecond have no order."""
    return sorted(
        entry.action for entry in audit_entries(database, acme.caller, subject_id=user.id)
    )


def joined(database: Database, acme: Acme, **profile_fields: Any) -> User:
    return database.write_now(
        join_policy.join_from_slack, acme.id, replace(ADA_IN_SLACK, **profile_fields), now=LATER
    )


def test_a_new_person_is_a_pending_member(database: Database, acme: Acme) -> None:
    ada = created(database, acme)

    assert (ada.role, ada.status, ada.version) == ("member", "pending", 1)
    assert ada.created_at == ada.updated_at == NOW
    assert acme.read(people_rows.get, ada.id) == ada
    assert actions_on(database, acme, ada) == ["user.created"]


def test_a_person_is_created_with_every_field(database: Database, acme: Acme) -> None:
    grace = a_person(database, acme, first_name="Grace")
    engineering = a_department(database, acme)
    fields = {
        "role": "approver",
        "department_id": engineering.id,
        "manager_id": grace.id,
        "job_title": "Analyst",
        "employee_number": "0042",
        "start_date": date(2026, 1, 5),
        "working_days": ("friday:am", "monday"),
        "public_holiday_country_code": "gb-sct",
        "leave_allowance_half_days": 55,
    }

    ada = created(database, acme, **fields)

    expected = fields | {
        "working_days": ("monday", "friday:am"),
        "public_holiday_country_code": "GB-SCT",
    }
    stored = as_dict(acme.read(people_rows.get, ada.id))
    assert {name: stored[name] for name in expected} == expected


def test_every_wrong_field_is_named(database: Database, acme: Acme) -> None:
    errors = errors_of(
        lambda: created(
            database,
            acme,
            email="ada@",
            first_name="  ",
            last_name="Love\x00lace",
            role="king",
            working_days=[],
            public_holiday_country_code="XX",
            leave_allowance_half_days=-1,
            shoe_size=38,
        )
    )

    assert errors == [
        ("/email", "invalid_email"),
        ("/first_name", "invalid_length"),
        ("/last_name", "control_character"),
        ("/role", "unknown_role"),
        ("/working_days", "no_working_days"),
        ("/public_holiday_country_code", "unknown_country"),
        ("/leave_allowance", "invalid_days"),
        ("/shoe_size", "unknown_field"),
    ]


def test_the_required_fields_are_named_when_they_are_missing(database: Database) -> None:
    acme = an_organisation(database)

    errors = errors_of(lambda: acme.write(people.create, {}))

    assert errors == [(f"/{n}", "required") for n in ("email", "first_name", "last_name")]


def test_addresses_are_unique_in_every_form_and_case(database: Database, acme: Acme) -> None:
    renee = created(database, acme, email="ren\u00e9e@example.com")

    for same in (
        "rene\u0301e@example.com",
        "\uff52en\u00e9e@example.com",
        "REN\u00c9E@Example.com",
    ):
        with pytest.raises(EmailTaken):
            created(database, acme, email=same)
        page = acme.read(people_lists.page, PageOf(limit=9), email=same)
        assert page.items == [renee]


def test_an_employee_number_is_unique_among_people_who_are_not_archived(
    database: Database, acme: Acme
) -> None:
    ada = created(database, acme, employee_number="0042")
    grace = a_person(database, acme, first_name="Grace")

    def numbered(user: User, number: str | None) -> User:
        return updated(database, acme, user, employee_number=number)

    assert codes_of(lambda: numbered(grace, "0042")) == ["employee_number_taken"]
    acme.write(people_status.archive, ada.id)
    assert numbered(grace, "0042").employee_number == "0042"
    assert codes_of(lambda: acme.write(people.restore, ada.id)) == ["employee_number_taken"]
    assert numbered(grace, None).employee_number is None
    assert acme.write(people.restore, ada.id).employee_number == "0042"


def test_of_two_people_who_get_a_number_at_once_one_has_it(database: Database, acme: Acme) -> None:
    ada, grace = a_person(database, acme), a_person(database, acme, first_name="Grace")

    codes = overlapping(
        database,
        lambda tx: people.update(tx, ada.id, {"employee_number": "7"}, by=acme.caller, now=LATER),
        lambda: updated(database, acme, grace, employee_number="7"),
    )

    assert codes == ["employee_number_taken"]


def test_a_new_address_is_in_one_alphabet(database: Database, acme: Acme) -> None:
    mixed = "\u0430da@example.com"

    errors = errors_of(lambda: created(database, acme, email=mixed))

    assert errors == [("/email", "mixed_scripts")]
    with pytest.raises(NotAMember, match="I can't use the e-mail address"):
        joined(database, acme, email=mixed)


def test_an_address_may_be_used_in_two_organisations(database: Database) -> None:
    acme, globex = an_organisation(database), an_organisation(database, name="Globex")
    created(database, acme)

    ada_of_globex = created(database, globex)

    assert ada_of_globex.email == ADA["email"]


def test_of_two_concurrent_equal_addresses_one_is_stored(database: Database, acme: Acme) -> None:
    codes = at_once(*[lambda: created(database, acme)] * 2)

    assert codes == ["email_taken"]
    assert len(acme.read(people_lists.list_all)) == 2


def test_an_admin_cannot_create_or_change_an_owner(database: Database, acme: Acme) -> None:
    admin = a_person(database, acme, role="admin")
    member = a_person(database, acme, first_name="Hedy")
    by = caller_for(acme, admin)

    codes = codes_of(
        lambda: database.write_now(people.create, ADA | {"role": "owner"}, by=by, now=NOW),
        lambda: database.write_now(people.update, member.id, {"role": "owner"}, by=by, now=NOW),
        lambda: database.write_now(people.update, admin.id, {"role": "owner"}, by=by, now=NOW),
        lambda: database.write_now(
            people.update, acme.owner.id, {"job_title": "Chief"}, by=by, now=NOW
        ),
        lambda: database.write_now(people_status.archive, acme.owner.id, by=by, now=NOW),
        lambda: database.write_now(people_status.deactivate, acme.owner.id, by=by, now=NOW),
    )

    assert codes == ["insufficient_role"] * 6


def test_a_change_raises_version_and_time_and_is_audited(
    database: Database, acme: Acme, ada: User
) -> None:
    after = updated(database, acme, ada, job_title="Countess", manager_id=acme.owner.id)

    assert after == replace(
        ada,
        job_title="Countess",
        manager_id=acme.owner.id,
        updated_at=LATER,
        version=ada.version + 1,
    )
    assert acme.read(people_rows.get, ada.id) == after
    newest = audit_entries(database, acme.caller)[0]
    assert (newest.action, newest.actor_id) == ("user.updated", acme.owner.id)
    assert newest.changes == {
        "job_title": {"before": None, "after": "Countess"},
        "manager_id": {"before": None, "after": acme.owner.id},
    }


def test_null_returns_to_the_organisations_working_days(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, working_days=["monday"])

    after = updated(database, acme, ada, working_days=None)

    assert after.working_days is None


def test_a_change_of_nothing_changes_nothing(database: Database, acme: Acme, ada: User) -> None:
    after = updated(database, acme, ada, first_name=ada.first_name, role=ada.role)

    assert after == ada
    assert actions_on(database, acme, ada) == ["user.activated", "user.created"]


def test_people_change_their_own_names_and_nothing_else(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, role="approver")
    by = caller_for(acme, ada)

    after = database.write_now(people.update, ada.id, {"first_name": " Augusta "}, by=by, now=NOW)

    assert after.first_name == "Augusta"
    with pytest.raises(NotYourField) as refusal:
        database.write_now(
            people.update, ada.id, {"role": "owner", "job_title": "x"}, by=by, now=NOW
        )
    assert refusal.value.fields == ("role",)


@pytest.mark.parametrize(
    "wrong_id",
    ["no-id", "", UNKNOWN_ID, UNKNOWN_ID.upper(), "\x00"],
    ids=["a word", "nothing", "unknown", "upper case", "NUL"],
)
def test_a_malformed_id_is_not_found(database: Database, acme: Acme, wrong_id: str) -> None:
    with pytest.raises(NotFound):
        acme.read(people_rows.get, wrong_id)


def test_references_into_another_organisation_are_not_found(database: Database) -> None:
    acme, globex = an_organisation(database), an_organisation(database, name="Globex")
    ada, stranger = a_person(database, acme), a_person(database, globex)
    elsewhere = a_department(database, globex)

    manager = errors_of(lambda: updated(database, acme, ada, manager_id=stranger.id))
    department = errors_of(lambda: created(database, acme, department_id=elsewhere.id))
    no_id = errors_of(lambda: updated(database, acme, ada, department_id="engineering"))

    assert manager == [("/manager_id", "not_found")]
    assert department == no_id == [("/department_id", "not_found")]


def test_a_cycle_of_three_managers_is_rejected(database: Database, acme: Acme, ada: User) -> None:
    grace = a_person(database, acme, first_name="Grace", manager_id=ada.id)
    hedy = a_person(database, acme, first_name="Hedy", manager_id=grace.id)

    errors = errors_of(lambda: updated(database, acme, ada, manager_id=hedy.id))

    assert errors == [("/manager_id", "manager_cycle")]


def test_people_cannot_be_their_own_manager(database: Database, acme: Acme, ada: User) -> None:
    with pytest.raises(InvalidInput, match="People cannot be their own manager.") as refusal:
        updated(database, acme, ada, manager_id=ada.id)

    assert [(e.pointer, e.code) for e in refusal.value.errors] == [("/manager_id", "manager_cycle")]


def test_two_people_who_concurrently_become_each_others_manager_form_no_cycle(
    database: Database, acme: Acme
) -> None:
    ada, grace = a_person(database, acme), a_person(database, acme, first_name="Grace")

    codes = overlapping(
        database,
        lambda tx: people.update(tx, ada.id, {"manager_id": grace.id}, by=acme.caller, now=LATER),
        lambda: updated(database, acme, grace, manager_id=ada.id),
    )

    assert codes == ["manager_cycle"]


def test_an_archived_person_cannot_become_manager_but_stays_one(database: Database) -> None:
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace")
    hedy = a_person(database, acme, first_name="Hedy", manager_id=grace.id)
    ada = a_person(database, acme)
    acme.write(people_status.archive, grace.id)

    errors = errors_of(lambda: updated(database, acme, ada, manager_id=grace.id))
    after = updated(database, acme, hedy, manager_id=grace.id, job_title="Inventor")

    assert errors == [("/manager_id", "manager_archived")]
    assert after.manager_id == grace.id


@pytest.mark.parametrize(
    "lose",
    [
        lambda database, acme: updated(database, acme, acme.owner, role="admin"),
        lambda database, acme: acme.write(people_status.archive, acme.owner.id),
        lambda database, acme: acme.write(people_status.deactivate, acme.owner.id),
    ],
    ids=["demoted", "archived", "deactivated"],
)
def test_the_last_active_owner_stays(database: Database, acme: Acme, lose: Any) -> None:
    a_person(database, acme, role="owner", status="pending")
    a_person(database, acme, role="owner", status="deactivated")

    with pytest.raises(LastOwner):
        lose(database, acme)


def test_of_two_owners_demoted_concurrently_one_remains(database: Database, acme: Acme) -> None:
    second = a_person(database, acme, role="owner")

    codes = overlapping(
        database,
        lambda tx: people.update(tx, acme.owner.id, {"role": "member"}, by=acme.caller, now=LATER),
        lambda: updated(database, acme, second, role="member"),
    )

    assert codes == ["last_owner"]
    owners = acme.read(people_lists.page, PageOf(limit=10), role="owner")
    assert len(owners.items) == 1


def test_of_two_owners_who_archive_each_other_concurrently_one_remains(database: Database) -> None:
    acme = an_organisation(database)
    second = a_person(database, acme, role="owner")
    by_second = caller_for(acme, second)

    codes = overlapping(
        database,
        lambda tx: people_status.archive(tx, second.id, by=acme.caller, now=NOW),
        lambda: database.write_now(people_status.deactivate, acme.owner.id, by=by_second, now=NOW),
    )

    assert codes == ["last_owner"]


@pytest.mark.parametrize("use_case", [people_status.archive, people_status.deactivate])
def test_people_cannot_deactivate_or_archive_themselves(database: Database, use_case: Any) -> None:
    acme = an_organisation(database)
    a_person(database, acme, role="owner")

    with pytest.raises(CannotArchiveSelf):
        acme.write(use_case, acme.owner.id)


def test_archiving_revokes_keys_and_feeds_and_keeps_the_record(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    by_ada = caller_for(acme, ada)
    database.write_now(personal_token, by=by_ada, now=NOW)
    a_key(database, acme, ada)

    archived = acme.write(people_status.archive, ada.id, now=LATER)

    assert (archived.status, archived.version) == ("archived", ada.version + 1)
    assert acme.read(people_rows.get, ada.id) == archived
    keys = acme.read(api_keys.page, PageOf()).items
    assert [key.revoked_at for key in keys] == [LATER]
    assert database.read_now(find_personal_token, by=by_ada) is None
    assert "user.archived" in actions_on(database, acme, ada)


def test_an_archived_person_is_never_changed_again(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, status="archived")

    again = acme.write(people_status.archive, ada.id, now=LATER)

    assert again == ada
    codes = codes_of(
        lambda: updated(database, acme, ada, first_name="Augusta"),
        lambda: acme.write(people_status.deactivate, ada.id, now=LATER),
        lambda: acme.write(people_status.reactivate, ada.id, now=LATER),
    )

    assert codes == ["user_archived"] * 3


def test_a_deactivated_person_is_reactivated(database: Database, acme: Acme, ada: User) -> None:
    off = acme.write(people_status.deactivate, ada.id, now=LATER)
    still_off = acme.write(people_status.deactivate, ada.id, now=LATER)
    back = acme.write(people_status.reactivate, ada.id, now=LATER)

    assert (off.status, back.status) == ("deactivated", "active")
    assert still_off == off
    assert actions_on(database, acme, ada) == [
        "user.activated",
        "user.created",
        "user.deactivated",
        "user.reactivated",
    ]


def test_only_pending_people_are_activated(database: Database, acme: Acme) -> None:
    ada = created(database, acme)

    active = acme.write(people_changes.activate, ada, now=LATER)
    again = acme.write(people_changes.activate, active, now=LATER)

    assert active.status == "active"
    assert again == active


def test_the_list_is_filtered_and_in_the_order_of_creation(database: Database, acme: Acme) -> None:
    engineering = a_department(database, acme)
    ada = a_person(database, acme, department_id=engineering.id, now=NOW + timedelta(minutes=2))
    grace = a_person(
        database, acme, role="approver", status="pending", now=NOW + timedelta(minutes=1)
    )

    def ids(**filters: Any) -> list[str]:
        page = database.read_now(people_lists.page, PageOf(), by=acme.caller, **filters)
        return [user.id for user in page.items]

    assert ids() == [acme.owner.id, grace.id, ada.id]
    assert ids(status="active") == [acme.owner.id, ada.id]
    assert ids(role="approver") == [grace.id]
    assert ids(department_id=engineering.id) == [ada.id]
    assert ids(department_id=engineering.id, role="approver") == []


def test_filtering_by_a_foreign_department_is_not_found(database: Database) -> None:
    acme, globex = an_organisation(database), an_organisation(database, name="Globex")
    elsewhere = a_department(database, globex)

    with pytest.raises(NotFound):
        acme.read(people_lists.page, PageOf(), department_id=elsewhere.id)


def test_a_cursor_belongs_to_its_filters(database: Database, acme: Acme) -> None:
    a_person(database, acme)
    cursor = acme.read(people_lists.page, PageOf(limit=1)).next_cursor

    with pytest.raises(UnusableCursor):
        acme.read(people_lists.page, PageOf(limit=1, cursor=cursor), role="member")


def test_an_unknown_slack_member_joins_as_an_active_member(database: Database, acme: Acme) -> None:
    ada = joined(database, acme)

    assert (ada.role, ada.status, ada.slack_user_id) == ("member", "active", "U1")
    assert ada.timezone == "Europe/Paris"
    assert joined(database, acme) == ada


def test_a_slack_member_is_matched_by_address_ignoring_case(database: Database, acme: Acme) -> None:
    ada = created(database, acme, role="admin")

    member = joined(database, acme, email="ADA@example.com", first_name="Countess")

    assert (member.id, member.role, member.first_name) == (ada.id, "admin", "Ada")
    assert (member.status, member.slack_user_id) == ("active", "U1")
    assert actions_on(database, acme, ada) == ["user.activated", "user.created"]


def test_a_slack_member_is_matched_by_id_first(database: Database, acme: Acme) -> None:
    ada = joined(database, acme)
    created(database, acme, email="augusta@example.com")

    member = joined(database, acme, email="augusta@example.com")

    assert member.id == ada.id


def test_an_unconfirmed_address_proves_nothing(database: Database, acme: Acme) -> None:
    with pytest.raises(NotAMember, match="Confirm it in your Slack account settings"):
        joined(database, acme, email=acme.owner.email, is_email_confirmed=False)
    with pytest.raises(NotAMember, match="Confirm it in your Slack account settings"):
        joined(database, acme, email="new@example.com", is_email_confirmed=False)

    assert acme.read(people_lists.list_all) == [acme.owner]


def test_a_second_slack_account_never_replaces_the_first(database: Database, acme: Acme) -> None:
    ada = joined(database, acme, slack_user_id="U1")

    with pytest.raises(NotAMember, match="Ask an admin of your organisation to unlink it"):
        joined(database, acme, slack_user_id="U2")

    assert acme.read(people_rows.get, ada.id) == ada


def test_an_unlinked_person_is_linked_to_the_next_account_with_their_address(
    database: Database, acme: Acme
) -> None:
    ada = joined(database, acme, slack_user_id="U1")

    unlinked = acme.write(slack_profiles.unlink, ada.id, now=LATER)
    again = acme.write(slack_profiles.unlink, ada.id, now=LATER)
    relinked = joined(database, acme, slack_user_id="U2")

    assert (unlinked.slack_user_id, unlinked.status) == (None, "active")
    assert again == unlinked
    assert (relinked.id, relinked.slack_user_id) == (ada.id, "U2")
    assert actions_on(database, acme, ada) == [
        "user.created",
        "user.linked_to_slack",
        "user.unlinked_from_slack",
    ]


def test_only_an_owner_unlinks_an_owner_and_members_unlink_no_one(database: Database) -> None:
    acme, globex = an_organisation(database), an_organisation(database, name="Globex")
    admin = a_person(database, acme, first_name="Anna", role="admin")
    ada = joined(database, acme)
    unlink = slack_profiles.unlink

    codes = codes_of(
        lambda: database.write_now(unlink, acme.owner.id, by=caller_for(acme, admin), now=LATER),
        lambda: database.write_now(unlink, admin.id, by=caller_for(acme, ada), now=LATER),
        lambda: globex.write(unlink, ada.id, now=LATER),
    )

    assert codes == ["insufficient_role", "insufficient_role", "not_found"]


@pytest.mark.parametrize("status", ["deactivated", "archived"])
def test_a_deactivated_user_stays_deactivated(database: Database, acme: Acme, status: Any) -> None:
    a_person(database, acme, email="ada@example.com", status=status)

    with pytest.raises(NotAMember):
        joined(database, acme)


def test_members_do_not_join_an_organisation_that_does_not_allow_it(database: Database) -> None:
    acme = an_organisation(database, slack_members_join=False)
    grace = a_person(database, acme, first_name="Grace")

    with pytest.raises(NotAMember):
        joined(database, acme)
    assert joined(database, acme, email=grace.email).id == grace.id


def test_values_of_a_slack_profile_are_shortened_to_fit(database: Database, acme: Acme) -> None:
    ada = joined(
        database,
        acme,
        first_name="",
        last_name="Love\nlace " + "x" * 300,
        timezone="Mars/Olympus",
    )

    assert (ada.first_name, ada.timezone) == ("ada", None)
    eve = joined(
        database,
        acme,
        slack_user_id="U2",
        email="eve@example.com",
        first_name="\u3164",
        last_name="\u200b\u2800",
    )
    assert eve.name == "eve"
    assert ada.last_name.startswith("Love lace xxx")
    assert len(ada.last_name) == 200


def test_a_slack_member_without_an_address_cannot_join(database: Database, acme: Acme) -> None:
    with pytest.raises(NotAMember):
        joined(database, acme, email=None)


def test_concurrent_first_messages_of_a_slack_member_create_one_person(database: Database) -> None:
    acme = an_organisation(database)

    codes = overlapping(
        database,
        lambda tx: join_policy.join_from_slack(tx, acme.id, ADA_IN_SLACK, now=LATER),
        lambda: joined(database, acme),
    )

    assert codes == []
    assert len(acme.read(people_lists.list_all)) == 2


def test_a_user_changed_while_joining_is_changed_and_joins(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, email="ada@example.com", status="pending")

    codes = overlapping(
        database,
        lambda tx: people.update(tx, ada.id, {"job_title": "Analyst"}, by=acme.caller, now=LATER),
        lambda: joined(database, acme),
    )

    assert codes == []
    person = acme.read(people_rows.get, ada.id)
    assert (person.job_title, person.status, person.slack_user_id) == ("Analyst", "active", "U1")


def test_a_slack_user_looked_up_while_joining_is_one_person(database: Database, acme: Acme) -> None:
    ada, grace = a_person(database, acme), a_person(database, acme, first_name="Grace")
    linked_profile = replace(ADA_IN_SLACK, email=ada.email)

    codes = overlapping(
        database,
        lambda tx: slack_profiles.link(tx, acme.id, ada.id, linked_profile, now=LATER),
        lambda: joined(database, acme, email=grace.email),
    )

    assert codes == []
    everyone = acme.read(people_lists.list_all)
    assert [user.id for user in everyone if user.slack_user_id == "U1"] == [ada.id]


def test_a_slack_user_joining_while_looked_up_is_one_person(database: Database, acme: Acme) -> None:
    ada, grace = a_person(database, acme), a_person(database, acme, first_name="Grace")
    linked_profile = replace(ADA_IN_SLACK, email=ada.email)
    joining_profile = replace(ADA_IN_SLACK, email=grace.email)

    overlapping(
        database,
        lambda tx: join_policy.join_from_slack(tx, acme.id, joining_profile, now=LATER),
        lambda: database.write_now(slack_profiles.link, acme.id, ada.id, linked_profile, now=LATER),
    )

    everyone = acme.read(people_lists.list_all)
    assert [user.id for user in everyone if user.slack_user_id == "U1"] == [grace.id]


def test_slack_members_of_two_organisations_are_kept_apart(database: Database) -> None:
    acme, globex = an_organisation(database), an_organisation(database, name="Globex")
    ada = joined(database, acme)

    other = joined(database, globex)

    assert other.id != ada.id


def test_only_a_taken_address_is_called_a_taken_address(
    database: Database, acme: Acme, database_url: str
) -> None:
    grace = a_person(database, acme, first_name="Grace")
    outside.run(database_url, f"UPDATE users SET slack_user_id = 'U1' WHERE id = '{grace.id}'")
    ada = a_person(database, acme, first_name="Ada")
    values = {"email": "eve@example.com", "first_name": "Eve", "last_name": "", "timezone": None}

    def add_with_the_same_account(tx: Transaction) -> None:
        people_changes.add(tx, values | {"slack_user_id": "U1"}, "active", by=acme.caller, now=NOW)

    def save_with_the_same_account(tx: Transaction) -> None:
        after = replace(ada, slack_user_id="U1")
        people_changes.save(tx, ada, after, "user.updated", by=acme.caller, now=NOW)

    with pytest.raises(ChangedMeanwhile):
        database.write_now(add_with_the_same_account)
    with pytest.raises(ChangedMeanwhile):
        database.write_now(save_with_the_same_account)


def archived(database: Database, acme: Acme, user: User) -> User:
    return acme.write(people_status.archive, user.id)


def restored(database: Database, acme: Acme, user: User) -> User:
    return acme.write(people.restore, user.id, now=LATER)


def test_an_archived_persons_address_is_free_again(database: Database, acme: Acme) -> None:
    former = archived(database, acme, created(database, acme))

    again = created(database, acme, email="ADA@example.com")

    assert again.id != former.id
    assert codes_of(lambda: created(database, acme)) == ["email_taken"]


def test_a_restored_person_is_pending_and_keeps_their_record(database: Database) -> None:
    acme = an_organisation(database)
    ada = created(database, acme, job_title="Analyst")
    archived(database, acme, ada)

    back = restored(database, acme, ada)

    assert (back.status, back.email, back.job_title) == ("pending", ada.email, "Analyst")
    assert restored(database, acme, ada) == back
    assert actions_on(database, acme, ada) == ["user.archived", "user.created", "user.restored"]


def test_a_person_is_not_restored_while_another_has_the_address(database: Database) -> None:
    acme = an_organisation(database)
    ada = created(database, acme)
    archived(database, acme, ada)
    other = created(database, acme)

    assert codes_of(lambda: restored(database, acme, ada)) == ["email_taken"]
    archived(database, acme, other)

    assert restored(database, acme, ada).status == "pending"


def test_only_an_owner_restores_an_owner(database: Database, acme: Acme) -> None:
    owner = created(database, acme, role="owner")
    admin = a_person(database, acme, first_name="Anna", role="admin")
    archived(database, acme, owner)

    codes = codes_of(
        lambda: database.write_now(people.restore, owner.id, by=caller_for(acme, admin), now=LATER)
    )

    assert codes == ["insufficient_role"]
    assert restored(database, acme, owner).role == "owner"


def test_of_two_people_who_concurrently_take_a_free_address_one_gets_it(database: Database) -> None:
    acme = an_organisation(database)
    ada = created(database, acme)
    archived(database, acme, ada)

    codes = overlapping(
        database,
        lambda tx: people.create(tx, ADA, by=acme.caller, now=LATER),
        lambda: restored(database, acme, ada),
    )

    assert codes == ["email_taken"]


def test_a_rehired_person_uses_slack_as_a_new_person(database: Database, acme: Acme) -> None:
    former = joined(database, acme)
    archived(database, acme, former)
    with pytest.raises(NotAMember):
        joined(database, acme)
    new = created(database, acme)

    rehired = joined(database, acme)

    assert (rehired.id, rehired.slack_user_id) == (new.id, "U1")
    archived(database, acme, new)
    assert restored(database, acme, former).slack_user_id == "U1"
    assert acme.write(people.restore, former.id, now=LATER).id == former.id


def test_a_restored_person_does_not_take_back_a_relinked_slack_account(
    database: Database, acme: Acme
) -> None:
    former = joined(database, acme)
    archived(database, acme, former)
    created(database, acme, email="ada.new@example.com")
    joined(database, acme, email="ada.new@example.com")

    assert restored(database, acme, former).slack_user_id is None
