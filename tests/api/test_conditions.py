"""Entity tags and dates: unchanged resources are not sent again, no change is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.http.conditions import LastModified, Tags, http_date, is_unmodified, last_modified, tag_of
from api.http.operations import Operation
from api.service import app
from storage.admin import departments
from storage.db.database import Database
from tests.api.conftest import Client, a_key
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_leave_type,
    a_person,
    a_request,
    type_id,
)
from tests.refusals import overlapping

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]

TAG = re.compile(r'"[0-9a-f]{32}"')
NOON = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)
SINGLE = [operation for operation in app.OPERATIONS if operation.is_resource]


class Things:
    """One resource of each kind, by its path."""

    def __init__(self, client: Client, database: Database, acme: Acme, key: str) -> None:
        def create(path: str, **body: Any) -> str:
            return str(client.post(f"/api/v1{path}", key, json=body).json()["id"])

        def first(path: str) -> str:
            return str(client.get(f"/api/v1{path}", key).json()["data"][0]["id"])

        ada = a_person(database, acme)
        # An approver, so that the leave below stays pending.
        a_person(database, acme, first_name="Grace", role="admin")
        leave = create(
            "/leave-requests",
            leave_type_id=type_id(database, acme, "unpaid"),
            start_date="2026-08-03",
            end_date="2026-08-03",
        )
        self.ids = {
            "/users/{id}": ada.id,
            "/departments/{id}": create("/departments", name="Research"),
            "/digests/{id}": create("/digests", channel="C024BE91L"),
            "/display-links/{id}": create("/display-links", name="Kitchen"),
            "/leave-requests/{id}": leave,
            "/leave/{id}": leave,
            "/leave-types/{id}": a_leave_type(database, acme).id,
            "/calendar-feeds/{id}": create("/calendar-feeds"),
            "/webhooks/{id}": create("/webhooks", url="https://203.0.114.9/hook", events=["*"]),
            "/api-keys/{id}": first("/api-keys"),
            "/organisation": "",
            # Not the organisation's own, which cannot be deleted.
            "/organisation/public-holiday-sets/{id}": create(
                "/organisation/public-holiday-sets", country_code="DE-BY"
            ),
            "/users/{id}/adjustments/{adjustment_id}": ada.id,
            "/users/{id}/employment/{record_id}": ada.id,
        }
        self.adjustment_id = create(
            f"/users/{ada.id}/adjustments", days=1, reason="Moved house.", leave_year=2026
        )
        self.record_id = create(f"/users/{ada.id}/employment", valid_from="2026-09-01")

    def path(self, operation: Operation) -> str:
        path = operation.path.replace("{adjustment_id}", self.adjustment_id)
        path = path.replace("{record_id}", self.record_id)
        return "/api/v1" + path.replace("{id}", self.ids[operation.path])


@pytest.fixture
def things(client: Client, database: Database, acme: Acme, key: str) -> Things:
    return Things(client, database, acme, key)


def test_every_single_resource_has_a_tag_and_answers_304(
    client: Client, things: Things, key: str
) -> None:
    for operation in SINGLE:
        path = things.path(operation)
        first = client.get(path, key)
        tag = first.headers["ETag"]
        response = client.get(path, key, headers={"If-None-Match": f'"other", W/{tag}'})
        other = client.get(path, key, headers={"If-None-Match": '"other"'})

        assert first.status_code == 200, path
        assert TAG.fullmatch(tag), path
        assert (response.status_code, response.content) == (304, b""), path
        assert response.headers["ETag"] == tag
        assert response.headers["Cache-Control"] == first.headers["Cache-Control"]
        assert "Content-Type" not in response.headers
        assert (other.status_code, other.headers["ETag"]) == (200, tag)


def test_head_is_conditional_like_get(client: Client, key: str) -> None:
    tag = client.get("/api/v1/organisation", key).headers["ETag"]

    head = client.request("HEAD", "/api/v1/organisation", key=key)
    response = client.request(
        "HEAD", "/api/v1/organisation", key=key, headers={"If-None-Match": tag}
    )

    assert (head.status_code, head.headers["ETag"]) == (200, tag)
    assert response.status_code == 304


def test_a_created_resource_keeps_its_tag_on_reading(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    bodies: dict[str, Any] = {
        "/users": {"email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"},
        "/departments": {"name": "Research"},
        "/digests": {"channel": "C024BE91L"},
        "/display-links": {"name": "Kitchen"},
        "/leave-requests": {
            "leave_type_id": type_id(database, acme, "unpaid"),
            "start_date": "2026-08-03",
            "end_date": "2026-08-03",
        },
        "/leave": {"leave_type": "unpaid", "start_date": "2026-08-04", "end_date": "2026-08-04"},
        "/leave-types": {"name": "Study"},
        "/calendar-feeds": {"name": "Phone"},
        "/organisation/public-holiday-sets": {"country_code": "DE"},
        "/webhooks": {"url": "https://203.0.114.9/hook", "events": ["*"]},
        "/api-keys": {"name": "ci", "scopes": ["leave:read"]},
    }
    for operation in app.OPERATIONS:
        if operation.method != "POST" or operation.status != 201 or "{" in operation.path:
            continue
        created = client.post(f"/api/v1{operation.path}", key, json=bodies[operation.path])
        response = client.get(created.headers["Location"], key)

        assert (created.status_code, response.status_code) == (201, 200), operation.path
        assert created.headers["ETag"] == response.headers["ETag"]
        if operation.path in ("/webhooks", "/api-keys"):
            # The response to the creation also has the secret.
            assert created.json().items() > response.json().items()
        else:
            assert created.content == response.content


def changes(things: Things) -> Iterator[tuple[str, str, Any]]:
    """Method, path and body of every conditional change, deletions last."""
    bodies: dict[str, Any] = {
        "/users/{id}": {"job_title": "Analyst"},
        "/users/{id}/employment/{record_id}": {"leave_allowance": 12},
        "/departments/{id}": {"name": "Development"},
        "/digests/{id}": {"frequency": "weekly"},
        "/display-links/{id}": {"name": "Lobby"},
        "/leave-requests/{id}": {"note": "Changed"},
        "/leave-types/{id}": {"name": "Learning"},
        "/organisation/public-holiday-sets/{id}": {"categories": []},
        "/webhooks/{id}": {"events": ["leave_request.created"]},
        "/organisation": {"name": "Acme Ltd"},
    }
    conditional = [
        operation
        for operation in app.OPERATIONS
        if operation.changes_resource and operation.path in things.ids
    ]
    # Records are deleted before the people to whom they belong.
    conditional.sort(key=lambda item: (item.method, item.path.count("/")), reverse=True)
    for operation in conditional:
        body = bodies[operation.path] if operation.method == "PATCH" else None
        yield operation.method, things.path(operation), body


def test_a_conditional_change_needs_the_current_tag(
    client: Client, things: Things, key: str
) -> None:
    # The key's last use, which is shown too, is recorded now, and then not for a minute.
    client.get("/api/v1/leave-types", key)
    checked = 0
    for method, path, body in changes(things):
        before = client.get(path, key)
        stale = client.request(
            method,
            path,
            key=key,
            json=body,
            headers={"If-Match": '"00000000000000000000000000000000"'},
        )
        weak = client.request(
            method, path, key=key, json=body, headers={"If-Match": f"W/{before.headers['ETag']}"}
        )

        assert (stale.status_code, stale.json()["code"]) == (412, "precondition_failed"), path
        assert weak.status_code == 412
        assert client.get(path, key).content == before.content

        fresh = {"If-Match": before.headers["ETag"]}
        assert client.request(method, path, key=key, json=body, headers=fresh).is_success, path
        checked += 1
    assert checked >= 12


def test_use_of_a_key_between_reading_and_revoking_it_is_no_conflict(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    used = a_key(database, acme)
    (used_id,) = (
        api_key["id"]
        for api_key in client.get("/api/v1/api-keys", key).json()["data"]
        if used.startswith(api_key["prefix"])
    )
    path = f"/api/v1/api-keys/{used_id}"
    before = client.get(path, key)

    client.get("/api/v1/leave-types", used)

    after = client.get(path, key, headers={"If-None-Match": before.headers["ETag"]})
    assert (before.json()["last_used_at"], after.status_code) == (None, 200)
    assert after.json()["last_used_at"] == "2026-06-01T09:00:00Z"
    revoked = client.delete(path, key, headers={"If-Match": before.headers["ETag"]})
    assert revoked.status_code == 204


def test_a_fetch_between_reading_and_revoking_a_feed_is_no_conflict(
    client: Client, key: str
) -> None:
    feed = client.post("/api/v1/calendar-feeds", key, json={"name": "Phone"})
    path = f"/api/v1/calendar-feeds/{feed.json()['id']}"
    before = client.get(path, key)

    client.get(feed.json()["url"].removeprefix("https://hiatus.test"))

    assert client.get(path, key).headers["ETag"] != before.headers["ETag"]
    revoked = client.delete(path, key, headers={"If-Match": feed.headers["ETag"]})
    assert revoked.status_code == 204


def test_a_delivery_between_reading_and_changing_a_webhook_is_no_conflict(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    webhook = {"url": "https://hook.invalid/", "events": ["*"]}
    path = "/api/v1/webhooks/" + client.post("/api/v1/webhooks", key, json=webhook).json()["id"]
    before = client.get(path, key)
    a_request(database, acme, a_person(database, acme))
    headers = {"If-Match": before.headers["ETag"]}
    whole = before.json() | {"events": ["leave_request.approved"]}

    unknown = client.patch(path, key, json=whole)
    changed = client.patch(path, key, json=whole, headers=headers)
    late = client.patch(path, key, json=whole, headers=headers)

    assert before.json()["next_attempt_at"] is None
    assert [error["pointer"] for error in unknown.json()["errors"]] == ["/next_attempt_at"]
    assert (changed.status_code, changed.json()["events"]) == (200, ["leave_request.approved"])
    assert changed.json()["next_attempt_at"] == "2026-06-01T09:00:00Z"
    assert changed.headers["ETag"] == client.get(path, key).headers["ETag"]
    # What an admin has changed is a conflict.
    assert late.status_code == 412


def test_the_tag_of_a_change_allows_the_next_change(
    client: Client, things: Things, key: str
) -> None:
    path = f"/api/v1/departments/{things.ids['/departments/{id}']}"

    first = client.patch(path, key, json={"name": "A"}, headers={"If-Match": "*"})
    second = client.patch(
        path, key, json={"name": "B"}, headers={"If-Match": first.headers["ETag"]}
    )
    third = client.patch(path, key, json={"name": "C"}, headers={"If-Match": first.headers["ETag"]})

    assert [response.status_code for response in (first, second, third)] == [200, 200, 412]
    assert client.get(path, key).json()["name"] == "B"


def test_a_missing_resource_is_404_with_any_etag(client: Client, key: str) -> None:
    path = "/api/v1/departments/0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"

    assert client.patch(path, key, json={}, headers={"If-Match": "*"}).status_code == 404
    assert client.delete(path, key, headers={"If-Match": '"x"'}).status_code == 404


def test_the_resource_is_locked_between_the_check_and_the_change(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    research = a_department(database, acme)
    path = f"/api/v1/departments/{research.id}"
    tag = client.get(path, key).headers["ETag"]
    responses = []

    overlapping(
        database,
        lambda tx: departments.update(tx, research.id, {"name": "Sales"}, by=acme.caller, now=NOW),
        lambda: responses.append(
            client.patch(path, key, json={"name": "Late"}, headers={"If-Match": tag})
        ),
    )

    assert [response.status_code for response in responses] == [412]
    assert client.get(path, key).json()["name"] == "Sales"


def test_an_action_returns_the_tag_of_the_changed_resource(
    client: Client, things: Things, key: str
) -> None:
    path = f"/api/v1/leave-requests/{things.ids['/leave-requests/{id}']}"

    cancelled = client.post(f"{path}/cancel", key)

    assert cancelled.headers["ETag"] == client.get(path, key).headers["ETag"]


def test_equal_bytes_have_equal_tags_and_different_bytes_do_not() -> None:
    assert tag_of(b"{}") == tag_of(b"{}") != tag_of(b"{} ")


@pytest.mark.parametrize(
    ("values", "strong", "weak"),
    [
        ([b'"a"'], True, True),
        ([b'W/"a"'], False, True),
        ([b'"b", "a"'], True, True),
        ([b'"b"', b'W/"c","a"'], True, True),
        ([b"*"], True, True),
        ([b'"b"'], False, False),
        ([b"a"], False, False),
        ([b""], False, False),
        ([b'"*"'], False, False),
        ([b" * "], True, True),
        ([b'"A"'], False, False),
        ([b'"x*", "b"'], False, False),
        ([b'"a'], False, False),
        ([b'"x", W/"y" ,"a"'], True, True),
    ],
)
def test_tags_are_compared_by_rfc_9110(values: list[bytes], strong: bool, weak: bool) -> None:
    tags = Tags(values)

    assert (tags.match(b'"a"'), tags.match_weakly(b'"a"')) == (strong, weak)


def test_lists_have_no_tag(client: Client, key: str) -> None:
    assert "ETag" not in client.get("/api/v1/departments", key).headers


def test_a_change_counts_from_the_next_second_on() -> None:
    changed = NOON + timedelta(milliseconds=300)

    soon = last_modified(changed, NOON + timedelta(milliseconds=900))
    later = last_modified(changed, NOON + timedelta(seconds=40))

    assert soon == LastModified(at=NOON, is_settled=False)
    assert later == LastModified(at=NOON + timedelta(seconds=1), is_settled=True)


def test_a_change_from_a_clock_ahead_of_ours_is_never_in_the_future() -> None:
    modified = last_modified(NOON + timedelta(seconds=30), NOON)

    assert modified == LastModified(at=NOON, is_settled=False)


@given(st.integers(0, 9_000), st.integers(0, 9_000), st.integers(0, 9_000), st.integers(0, 9_000))
def test_no_date_hides_a_later_change(first: int, fetch: int, second: int, again: int) -> None:
    """A client fetches after one change and asks again after another, at any moments."""
    moments = sorted([first, fetch, second, again])
    changed, fetched, changed_again, fetched_again = (
        NOON + timedelta(milliseconds=m) for m in moments
    )
    if changed_again == fetched:
        return
    given_date = http_date(last_modified(changed, fetched).at)

    modified = last_modified(changed_again, fetched_again)

    assert not is_unmodified(given_date, modified)
    assert is_unmodified(http_date(modified.at), modified) is modified.is_settled


@pytest.mark.parametrize("date", ["", "yesterday", "Mon, 99 Jun 2026 12:00:00 GMT", "0", "\x00"])
def test_a_date_that_cannot_be_read_is_ignored(date: str) -> None:
    assert not is_unmodified(date, LastModified(at=NOON, is_settled=True))


@pytest.mark.parametrize(
    "date",
    [
        "Mon, 01 Jun 2026 12:00:00 GMT",
        "Monday, 01-Jun-26 12:00:00 GMT",
        "Mon Jun  1 12:00:00 2026",
        "Mon, 01 Jun 2026 12:00:01 GMT",
    ],
)
def test_every_form_of_date_is_read(date: str) -> None:
    assert is_unmodified(date, LastModified(at=NOON, is_settled=True))
    assert not is_unmodified(date, LastModified(at=NOON + timedelta(seconds=2), is_settled=True))
