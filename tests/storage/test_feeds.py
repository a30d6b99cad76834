"""Calendar feeds and display links: tokens that open one calendar and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from peewee import Delete

from storage.admin import departments, people_status
from storage.base.errors import Forbidden, NotFound
from storage.calendars import display_links, feed_owners, feeds
from storage.calendars.display_links import MAX_LINKS, DisplayLink, TooManyDisplayLinks
from storage.calendars.feeds import MAX_FEEDS, TooManyFeeds
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
    find_personal_token,
    owner_of_feed,
    personal_token,
)
from tests.refusals import overlapping

pytestmark = pytest.mark.shared_database


def test_a_token_belongs_to_its_owner(database: Database) -> None:
    acme = an_organisation(database, timezone="Europe/London")
    department = a_department(database, acme)
    ada = a_person(database, acme, timezone="Asia/Tokyo", department_id=department.id)
    feed = database.write_now(feeds.create, "Phone", by=caller_for(acme, ada), now=NOW)

    owner = owner_of_feed(database, feed.token)

    assert (owner.organisation_id, owner.user_id) == (acme.id, ada.id)
    assert (owner.name, owner.feed_name) == ("Ada Lovelace", "Phone")
    assert (owner.timezone, owner.organisation_timezone) == ("Asia/Tokyo", "Europe/London")
    assert owner.holiday_countries == ((date.min, "GB"),)
    assert owner.department_id == department.id


def test_every_feed_has_a_token_of_its_own_that_may_be_seen_again(database: Database) -> None:
    acme = an_organisation(database)
    first = acme.write(feeds.create, None)
    second = acme.write(feeds.create, "Wall")
    acme.write(personal_token)

    listed_feeds = acme.read(feeds.page, PageOf()).items

    assert {feed.id: feed.token for feed in listed_feeds} == {
        first.id: first.token,
        second.id: second.token,
    }
    assert first.token != second.token


def test_the_personal_token_cannot_be_revoked_as_a_feed(database: Database, acme: Acme) -> None:
    later = NOW + timedelta(hours=1)
    token = acme.write(personal_token, now=later)
    entries = audit_entries(database, acme.caller)

    with pytest.raises(NotFound):
        acme.write(feeds.revoke, entries[0].subject_id)

    assert entries[0].subject_type == "calendar_feed"
    assert owner_of_feed(database, token).user_id == acme.owner.id


def test_two_first_reads_at_once_get_the_same_token(database: Database, acme: Acme) -> None:
    tokens: list[str] = []

    overlapping(
        database,
        lambda tx: tokens.append(personal_token(tx, by=acme.caller, now=NOW)),
        lambda: tokens.append(acme.write(personal_token)),
    )

    assert tokens[0] == tokens[1] == acme.read(find_personal_token)


def test_regenerating_kills_the_old_personal_token_and_no_other(database: Database) -> None:
    acme = an_organisation(database)
    feed = acme.write(feeds.create, None)
    old = acme.write(personal_token)

    new = acme.write(feeds.regenerate_personal)

    assert acme.write(personal_token) == new
    assert owner_of_feed(database, new).user_id == acme.owner.id
    assert owner_of_feed(database, feed.token).user_id == acme.owner.id
    assert database.read_now(feed_owners.find_by_token, old) is None


def test_a_first_token_may_come_from_regenerating(database: Database, acme: Acme) -> None:
    token = acme.write(feeds.regenerate_personal)

    assert owner_of_feed(database, token).user_id == acme.owner.id


def test_all_feeds_of_one_person_are_revoked_together(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    by = caller_for(acme, ada)
    feed = database.write_now(feeds.create, None, by=by, now=NOW)
    token = database.write_now(personal_token, by=by, now=NOW)
    owners_token = acme.write(personal_token)

    count = acme.write(feeds.revoke_all, ada.id)

    assert count == 2
    assert owner_of_feed(database, owners_token).user_id == acme.owner.id
    for dead in (feed.token, token):
        assert database.read_now(feed_owners.find_by_token, dead) is None


def test_a_person_has_a_bounded_number_of_feeds(database: Database, acme: Acme) -> None:
    acme.write(personal_token)
    created_feeds = [acme.write(feeds.create, None) for _ in range(MAX_FEEDS)]

    with pytest.raises(TooManyFeeds):
        acme.write(feeds.create, None)

    acme.write(feeds.revoke, created_feeds[0].id)
    acme.write(feeds.create, None)


def test_the_system_has_no_feed(database: Database, acme: Acme) -> None:
    with pytest.raises(Forbidden):
        database.write_now(personal_token, by=replace(acme.caller, user_id=None), now=NOW)


@compiled
def delete_department(organisation_id: Param[str], department_id: Param[str]) -> Delete:
    return DepartmentRow.delete().where(
        DepartmentRow.organisation_id == organisation_id, DepartmentRow.id == department_id
    )


def a_link(database: Database, acme: Acme, **settings: object) -> DisplayLink:
    return acme.write(display_links.create, {"name": "Kitchen", **settings})


def all_links(database: Database, acme: Acme) -> list[DisplayLink]:
    return acme.read(display_links.page, PageOf(limit=100)).items


def opens(database: Database, link: DisplayLink) -> bool:
    return database.read_now(display_links.find_by_token, link.token) is not None


def test_a_link_is_read_again_with_its_token_and_audited_without(database: Database) -> None:
    acme = an_organisation(database)
    labs = a_department(database, acme)

    kitchen, lab = a_link(database, acme), a_link(database, acme, name="Lab", department_id=labs.id)
    renamed = acme.write(display_links.update, lab.id, {"name": "Labs"})
    acme.write(display_links.revoke, kitchen.id)

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

    acme.write(departments.delete, labs.id)
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

    acme.write(people_status.archive, admin.id)

    assert opens(database, link)


def test_an_organisation_has_a_bounded_number_of_links(database: Database, acme: Acme) -> None:
    for _ in range(MAX_LINKS):
        link = a_link(database, acme)

    with pytest.raises(TooManyDisplayLinks):
        a_link(database, acme)
    acme.write(display_links.revoke, link.id)
    a_link(database, acme)
