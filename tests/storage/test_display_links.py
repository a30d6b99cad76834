"""Display links: who may change them, how many there are, and what ends them."""

from __future__ import annotations

import pytest
from peewee import Delete

from storage.admin import departments, people_status
from storage.calendars import display_links
from storage.calendars.display_links import MAX_LINKS, DisplayLink, TooManyDisplayLinks
from storage.db.compiled import Param, compiled
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.db.tables import DepartmentRow
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    an_organisation,
    audit_entries,
    caller_for,
)


@compiled
def delete_department(organisation_id: Param[str], department_id: Param[str]) -> Delete:
    return DepartmentRow.delete().where(
        DepartmentRow.organisation_id == organisation_id, DepartmentRow.id == department_id
    )


def a_link(database: Database, acme: Acme, **settings: object) -> DisplayLink:
    return database.write_now(
        display_links.create, {"name": "Kitchen", **settings}, by=acme.caller, now=NOW
    )


def all_links(database: Database, acme: Acme) -> list[DisplayLink]:
    return database.read_now(display_links.page, PageOf(limit=100), by=acme.caller).items


def opens(database: Database, link: DisplayLink) -> bool:
    return database.read_now(display_links.find_by_token, link.token) is not None


def test_a_link_is_read_again_with_its_token_and_audited_without(database: Database) -> None:
    acme = an_organisation(database)
    labs = a_department(database, acme)

    kitchen, lab = a_link(database, acme), a_link(database, acme, name="Lab", department_id=labs.id)
    renamed = database.write_now(
        display_links.update, lab.id, {"name": "Labs"}, by=acme.caller, now=NOW
    )
    database.write_now(display_links.revoke, kitchen.id, by=acme.caller, now=NOW)

    assert all_links(database, acme) == [renamed]
    assert (renamed.token, renamed.department_id, renamed.version) == (lab.token, labs.id, 2)
    assert (opens(database, kitchen), opens(database, lab)) == (False, True)
    entries = [
        entry
        for entry in audit_entries(database, acme.caller)
        if entry.subject_type == "display_link"
    ]
    assert [entry.action for entry in entries] == [
        "display_link.revoked",
        "display_link.updated",
        "display_link.created",
        "display_link.created",
    ]
    assert kitchen.token not in str(entries)


def test_a_department_takes_its_links_with_it(database: Database, acme: Acme) -> None:
    labs, shop = a_department(database, acme), a_department(database, acme, name="Shop")
    of_labs, of_shop = (a_link(database, acme, department_id=each.id) for each in (labs, shop))
    kitchen = a_link(database, acme)

    database.write_now(departments.delete, labs.id, by=acme.caller, now=NOW)
    # As a process of a version without display links deletes it.
    database.write_now(
        lambda tx: tx.change(delete_department, organisation_id=acme.id, department_id=shop.id)
    )

    assert all_links(database, acme) == [kitchen]
    assert [opens(database, link) for link in (of_labs, of_shop, kitchen)] == [False, False, True]
    [newest, *_] = audit_entries(database, acme.caller, subject_id=of_labs.id)
    assert newest.action == "display_link.revoked"


def test_a_link_outlives_the_admin_who_created_it(database: Database, acme: Acme) -> None:
    admin = a_person(database, acme, role="admin")
    link = database.write_now(
        display_links.create, {"name": "Kitchen"}, by=caller_for(acme, admin), now=NOW
    )

    database.write_now(people_status.archive, admin.id, by=acme.caller, now=NOW)

    assert opens(database, link)


def test_an_organisation_has_a_bounded_number_of_links(database: Database, acme: Acme) -> None:
    for _ in range(MAX_LINKS):
        link = a_link(database, acme)

    with pytest.raises(TooManyDisplayLinks):
        a_link(database, acme)
    database.write_now(display_links.revoke, link.id, by=acme.caller, now=NOW)
    a_link(database, acme)
