"""Feeds as calendar programs poll them: validators, compression, and changes of both."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import httpx
import pytest

from api.service import app
from storage.admin import departments, organisation_settings, people, people_status
from storage.base.leave_values import LeaveRequest
from storage.base.values import User
from storage.calendars import feeds
from storage.db.database import Database
from storage.leave import decisions, leave_requests, leave_types
from tests.api.conftest import SETTINGS, Client
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    a_request,
    an_organisation,
    approved_leave,
    caller_for,
    personal_token,
    type_id,
)

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]

HOUR = timedelta(hours=1)


class Clock:
    """A clock that changes only when a test sets it."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """Ada and Grace are of one department; Ada has leave on the 3rd of August and on the 10th.

    ``other`` is a second process over the same database.
    """

    database: Database
    acme: Acme
    ada: User
    grace: User
    approved: LeaveRequest
    pending: LeaveRequest
    clock: Clock
    client: Client
    other: Client

    def path(self, viewer: User, scope: str = "personal") -> str:
        token = self.database.write_now(personal_token, by=caller_for(self.acme, viewer), now=NOW)
        return f"/cal/{token}" if scope == "personal" else f"/cal/{token}?scope={scope}"

    def write(self, use_case: Callable[..., Any], *args: Any, **more: Any) -> Any:
        """Run a use case as the organisation's owner, at the clock's time."""
        return self.database.write_now(
            use_case, *args, by=self.acme.caller, now=self.clock.now, **more
        )


def a_client(database: Database, clock: Clock) -> Client:
    return Client(app.application(app.routes(database, SETTINGS, clock), SETTINGS))


@pytest.fixture
def world(database: Database) -> Iterator[World]:
    acme = an_organisation(database, country_code="GB-ENG")
    department = a_department(database, acme)
    ada = a_person(database, acme, department_id=department.id)
    grace = a_person(database, acme, first_name="Grace", department_id=department.id)
    approved = approved_leave(database, acme, ada, start_date=date(2026, 8, 3), note="to the coast")
    pending = a_request(database, acme, ada, start_date=date(2026, 8, 10))
    clock = Clock()
    clock.now = NOW + HOUR
    client, other = a_client(database, clock), a_client(database, clock)
    yield World(
        database=database,
        acme=acme,
        ada=ada,
        grace=grace,
        approved=approved,
        pending=pending,
        clock=clock,
        client=client,
        other=other,
    )
    client.close()
    other.close()


def validators(response: httpx.Response) -> tuple[str, str]:
    return response.headers["ETag"], response.headers["Last-Modified"]


@pytest.mark.parametrize("scope", ["personal", "team", "org"])
def test_an_unchanged_feed_is_not_sent_again(world: World, scope: str) -> None:
    path = world.path(world.ada, scope)
    first = world.client.get(path)
    tag, modified = validators(first)

    for conditions in (
        {"If-None-Match": tag},
        {"If-None-Match": f'"other", W/{tag}'},
        {"If-None-Match": "*"},
        {"If-Modified-Since": modified},
        {"If-None-Match": tag, "If-Modified-Since": "Mon, 01 Jan 2024 00:00:00 GMT"},
        {"If-None-Match": tag, "If-Modified-Since": "nonsense"},
    ):
        again = world.client.get(path, headers=conditions)
        assert (again.status_code, again.content) == (304, b""), conditions
        assert validators(again)[1] == modified
        assert again.headers["Vary"] == "Accept-Encoding"
        assert again.headers["Cache-Control"] == "private, no-cache"
        assert "Content-Type" not in again.headers
    for conditions in (
        {"If-None-Match": '"other"', "If-Modified-Since": modified},
        {"If-Modified-Since": "Mon, 01 Jan 2024 00:00:00 GMT"},
        {"If-Modified-Since": "nonsense"},
    ):
        assert world.client.get(path, headers=conditions).status_code == 200, conditions


def test_a_process_that_never_rendered_the_feed_knows_its_tag(world: World) -> None:
    path = world.path(world.ada, "org")
    first = world.client.get(path)

    again = world.other.get(path, headers={"If-None-Match": first.headers["ETag"]})
    whole = world.other.get(path)

    assert again.status_code == 304
    assert (whole.content, whole.headers["ETag"]) == (first.content, first.headers["ETag"])


def test_gzip_has_a_tag_of_its_own_and_the_same_calendar(world: World) -> None:
    path = world.path(world.ada)
    plain = world.client.get(path, headers={"Accept-Encoding": "identity"})
    packed = world.client.get(path, headers={"Accept-Encoding": "br, gzip;q=0.5"})
    refused = world.client.get(path, headers={"Accept-Encoding": "gzip;q=0, *"})

    assert "Content-Encoding" not in plain.headers
    assert "Content-Encoding" not in refused.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert int(packed.headers["Content-Length"]) < len(plain.content) / 3
    assert packed.content == plain.content == refused.content
    assert packed.headers["ETag"] == plain.headers["ETag"][:-1] + '-gzip"'
    for tag in (packed.headers["ETag"], plain.headers["ETag"]):
        again = world.client.get(path, headers={"Accept-Encoding": "gzip", "If-None-Match": tag})
        assert (again.status_code, again.headers["ETag"]) == (304, packed.headers["ETag"])


def test_head_has_the_headers_of_get(world: World) -> None:
    path = world.path(world.ada)
    got = world.client.get(path, headers={"Accept-Encoding": "identity"})

    head = world.client.request("HEAD", path, headers={"Accept-Encoding": "identity"})
    unchanged = world.client.request("HEAD", path, headers={"If-None-Match": got.headers["ETag"]})

    assert (head.status_code, head.content) == (200, b"")
    for name in ("ETag", "Last-Modified", "Content-Length", "Content-Type", "Content-Disposition"):
        assert head.headers[name] == got.headers[name]
    assert unchanged.status_code == 304


# Changes to a feed: the scopes that show them, and the functions that make them.
def cancels(world: World) -> None:
    world.write(leave_requests.cancel, world.approved.id)


def approves(world: World) -> None:
    world.write(decisions.approve, world.pending.id)


def edits(world: World) -> None:
    world.write(leave_requests.edit, world.pending.id, {"end_date": date(2026, 8, 12)})


def declines(world: World) -> None:
    world.write(decisions.decline, world.pending.id, reason=None)


def asks(world: World) -> None:
    a_request(
        world.database, world.acme, world.ada, start_date=date(2026, 9, 7), now=world.clock.now
    )


def renames_person(world: World) -> None:
    world.write(people.update, world.ada.id, {"last_name": "King"})


def moves_person(world: World) -> None:
    world.write(people.update, world.ada.id, {"department_id": None})


def renames_type(world: World) -> None:
    annual = type_id(world.database, world.acme)
    world.write(leave_types.update, annual, {"name": "Holiday"})


def hides_type(world: World) -> None:
    annual = type_id(world.database, world.acme)
    world.write(leave_types.update, annual, {"is_private": True})


def renames_organisation(world: World) -> None:
    world.write(organisation_settings.update, {"name": "Acme Ltd"})


def heads_department(world: World) -> None:
    """Hedy has leave, and becomes the head of Grace's department."""
    hedy = a_person(world.database, world.acme, first_name="Hedy")
    leave_request = a_request(world.database, world.acme, hedy)
    world.write(decisions.approve, leave_request.id)
    changes = {"manager_id": hedy.id}
    world.write(departments.update, str(world.grace.department_id), changes)


def changes_country(world: World) -> None:
    world.write(organisation_settings.update, {"country_code": "FR"})


@pytest.mark.parametrize(
    ("change", "viewer", "scope"),
    [
        (cancels, "ada", "personal"),
        (cancels, "grace", "team"),
        (cancels, "grace", "org"),
        (approves, "ada", "personal"),
        (approves, "grace", "team"),
        (edits, "ada", "personal"),
        (declines, "ada", "personal"),
        (asks, "ada", "personal"),
        (renames_person, "ada", "personal"),
        (renames_person, "grace", "team"),
        (moves_person, "grace", "team"),
        (renames_type, "grace", "org"),
        (hides_type, "grace", "org"),
        (renames_organisation, "grace", "org"),
        (heads_department, "grace", "team"),
        (changes_country, "ada", "personal"),
    ],
)
def test_both_validators_change_with_visible_changes(
    world: World, change: Callable[[World], None], viewer: str, scope: str
) -> None:
    path = world.path(getattr(world, viewer), scope)
    before = world.client.get(path)
    world.other.get(path)
    world.clock.now += HOUR

    change(world)
    at_once = world.other.get(path, headers={"If-Modified-Since": before.headers["Last-Modified"]})
    world.clock.now += HOUR

    for client in (world.client, world.other):
        for name, shown in (("If-None-Match", "ETag"), ("If-Modified-Since", "Last-Modified")):
            after = client.get(path, headers={name: before.headers[shown]})
            assert after.status_code == 200
            assert after.content == at_once.content != before.content
            assert after.headers["ETag"] != before.headers["ETag"]
            assert after.headers["Last-Modified"] != before.headers["Last-Modified"]


def test_leave_of_others_does_not_change_a_personal_feed(world: World) -> None:
    path = world.path(world.grace)
    before = world.client.get(path)
    world.clock.now += HOUR

    cancels(world)
    moves_person(world)

    after = world.client.get(path, headers={"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 304


def test_a_reverted_change_restores_the_tag(world: World) -> None:
    path = world.path(world.grace, "team")
    before = world.client.get(path)

    moves_person(world)
    assert world.client.get(path).content != before.content
    world.write(people.update, world.ada.id, {"department_id": world.grace.department_id})

    assert world.client.get(path).headers["ETag"] == before.headers["ETag"]


def test_cancelled_leave_stays_marked_for_30_days(world: World) -> None:
    path = world.path(world.grace, "team")
    content = world.client.get(path).text
    cancels(world)

    marked = world.client.get(path)
    world.clock.now += timedelta(days=30)
    last = world.client.get(path)
    world.clock.now += timedelta(days=1)
    gone = world.client.get(path, headers={"If-Modified-Since": last.headers["Last-Modified"]})

    assert "STATUS:CONFIRMED" in content
    assert f"SEQUENCE:{world.approved.version}\r\n" in content
    for response in (marked, last):
        assert "STATUS:CANCELLED" in response.text
        assert f"UID:{world.approved.id}\r\n" in response.text
        assert f"SEQUENCE:{world.approved.version + 1}\r\n" in response.text
    assert gone.status_code == 200
    assert "VEVENT" not in gone.text
    assert gone.headers["ETag"] != last.headers["ETag"]


def test_the_window_moves_with_the_day(world: World) -> None:
    path = world.path(world.grace, "org")
    world.clock.now = datetime(2027, 8, 4, 23, 59, 59, tzinfo=UTC)
    before = world.client.get(path)
    world.clock.now += timedelta(seconds=2)

    after = world.client.get(path, headers={"If-Modified-Since": before.headers["Last-Modified"]})

    assert world.approved.id in before.text
    assert after.status_code == 200
    assert world.approved.id not in after.text
    assert after.headers["ETag"] != before.headers["ETag"]


def event_of(world: World, path: str, request: LeaveRequest) -> str:
    """The request's event in the feed; empty where there is none."""
    events = world.client.get(path).text.split("BEGIN:VEVENT")
    return next((event for event in events if f"UID:{request.id}\r\n" in event), "")


def test_declined_leave_is_marked_for_30_days_in_its_owners_feed(world: World) -> None:
    path = world.path(world.ada)
    tentative = event_of(world, path, world.pending)
    declines(world)

    marked = event_of(world, path, world.pending)
    world.clock.now += timedelta(days=31)

    assert "STATUS:TENTATIVE" in tentative
    assert f"SEQUENCE:{world.pending.version}\r\n" in tentative
    assert "STATUS:CANCELLED" in marked
    assert f"SEQUENCE:{world.pending.version + 1}\r\n" in marked
    assert event_of(world, path, world.pending) == ""


@pytest.mark.parametrize("scope", ["team", "org"])
def test_a_reversed_approval_stays_marked_for_30_days(world: World, scope: str) -> None:
    path = world.path(world.grace, scope)
    world.clock.now = NOW + timedelta(minutes=5)
    confirmed = event_of(world, path, world.approved)
    world.write(decisions.change_decision, world.approved.id, "declined")
    declines(world)

    marked = event_of(world, path, world.approved)
    never_shown = event_of(world, path, world.pending)
    world.clock.now += timedelta(days=31)

    assert "STATUS:CONFIRMED" in confirmed
    assert "STATUS:CANCELLED" in marked
    assert f"SEQUENCE:{world.approved.version + 1}\r\n" in marked
    assert never_shown == ""
    assert event_of(world, path, world.approved) == ""


def regenerates(world: World) -> None:
    by = caller_for(world.acme, world.ada)
    world.database.write_now(feeds.regenerate_personal, by=by, now=NOW)


def deactivates(world: World) -> None:
    world.write(people_status.deactivate, world.ada.id)


def archives(world: World) -> None:
    world.write(people_status.archive, world.ada.id)


@pytest.mark.parametrize("close", [regenerates, deactivates, archives])
def test_a_closed_feed_is_404_at_once_in_every_process(
    world: World, close: Callable[[World], None]
) -> None:
    path = world.path(world.ada)
    tag = world.client.get(path).headers["ETag"]
    world.other.get(path)

    close(world)

    for client in (world.client, world.other):
        for headers in ({}, {"If-None-Match": tag}, {"If-None-Match": "*"}):
            assert client.get(path, headers=headers).status_code == 404
            assert client.get(f"{path}.ics", headers=headers).status_code == 404


def test_a_feed_has_its_given_name(world: World) -> None:
    by = caller_for(world.acme, world.ada)
    phone = world.database.write_now(feeds.create, "Phone; R&D", by=by, now=NOW)

    for scope in ("", "?scope=team", "?scope=org"):
        content = world.client.get(f"/cal/{phone.token}{scope}").text
        assert "X-WR-CALNAME:Phone\\; R&D\r\n" in content


@pytest.mark.parametrize("word", ["", "Personal", "all", "org,team", "%00"])
def test_an_unknown_scope_is_422(world: World, word: str) -> None:
    path = f"{world.path(world.ada)}?scope={word}"

    response = world.client.get(path)

    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "?scope"


def test_compressed_feeds_are_identical_in_every_process(world: World) -> None:
    path = world.path(world.ada)

    def raw(client: Client) -> bytes:
        response = client.get(path, headers={"Accept-Encoding": "gzip"})
        # httpx decompresses; an optional field of the gzip header would change the length.
        assert response.headers["Content-Length"] == str(
            len(gzip.compress(response.content, 6, mtime=0))
        )
        return response.content

    assert raw(world.client) == raw(world.other)


def test_a_feed_ends_in_ics_or_not_and_ignores_unknown_parameters(world: World) -> None:
    path = world.path(world.ada)

    plain = world.client.get(path)

    assert plain.headers["Content-Type"] == "text/calendar; charset=utf-8"
    assert plain.headers["Content-Disposition"] == 'inline; filename="leave.ics"'
    assert plain.headers["Cache-Control"] == "private, no-cache"
    assert world.client.get(f"{path}.ics?utm_source=x").content == plain.content


def test_only_the_personal_feed_has_public_holidays(world: World) -> None:
    assert "SUMMARY:Christmas Day" in world.client.get(world.path(world.ada)).text
    assert "Christmas" not in world.client.get(world.path(world.ada, "team")).text


def test_all_unusable_tokens_get_the_same_404(world: World) -> None:
    by = caller_for(world.acme, world.ada)
    replaced, inactive = (world.path(each).rpartition("/")[2] for each in (world.ada, world.grace))
    world.database.write_now(feeds.regenerate_personal, by=by, now=NOW)
    revoked = world.database.write_now(feeds.create, None, by=by, now=NOW)
    world.database.write_now(feeds.revoke, revoked.id, by=by, now=NOW)
    world.write(people_status.deactivate, world.grace.id)

    responses = [
        world.client.get(f"/cal/{token}{scope}", headers={"X-Request-Id": "same"})
        for token in ("unknown", "%C3%A9", replaced, revoked.token, inactive)
        for scope in ("", "?scope=team", "?scope=nonsense")
    ]

    assert {response.status_code for response in responses} == {404}
    assert len({response.content for response in responses}) == 1
