"""The demo organisation: lively on any day, created once, and never beside real data."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from storage.base.values import SCOPES
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.keys import api_keys, authentication
from storage.leave import leave_lists
from storage.operations import demo
from storage.people import people_lists
from tests.builders import NOW, an_organisation, audit_entries


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
    assert {"pending": 2, "declined": 1, "cancelled": 1}.items() <= statuses.items()
    assert statuses["approved"] >= 6
    approved = [request for request in requests if request.status == "approved"]
    assert any(request.start_date <= NOW.date() <= request.end_date for request in approved)


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
