"""Entity tags, dates and encodings: unchanged resources are not sent again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.base.content_negotiation import prefers_gzip
from api.http.conditions import LastModified, Tags, http_date, is_unmodified, last_modified, tag_of
from storage.admin import departments
from storage.db.database import Database
from tests.api.conftest import Client
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_key,
    a_person,
    a_request,
)
from tests.refusals import overlapping

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]

NOON = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)


def test_head_is_conditional_like_get(client: Client, key: str) -> None:
    tag = client.get("/api/v1/organisation", key).headers["ETag"]

    head = client.request("HEAD", "/api/v1/organisation", key=key)
    response = client.request(
        "HEAD", "/api/v1/organisation", key=key, headers={"If-None-Match": tag}
    )

    assert (head.status_code, head.headers["ETag"]) == (200, tag)
    assert response.status_code == 304


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


@pytest.mark.parametrize(
    ("accepted", "is_preferred"),
    [
        ("gzip", True),
        ("gzip, deflate, br", True),
        ("GZIP", True),
        ("x-gzip", True),
        ("deflate, gzip;q=1.0, *;q=0.5", True),
        ("*", True),
        ("*;q=0.3", True),
        ("br;q=1, gzip;q=0.001", True),
        ("gzip; q=0.5, identity; q=0.5", True),
        ("gzip;q=0", False),
        ("gzip;q=0.000", False),
        ("gzip;q=0, *", False),
        ("identity", False),
        ("identity;q=1, gzip;q=0.5", False),
        ("br, deflate", False),
        ("*;q=0", False),
        ("gzip;q=nonsense", False),
        ("gzip;q=2", False),
        ("", False),
        (",", False),
    ],
)
def test_gzip_is_chosen_by_weight(accepted: str, is_preferred: bool) -> None:
    assert prefers_gzip(accepted) is is_preferred
