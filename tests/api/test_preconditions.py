"""Entity tags, dates and codings as clients send them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.preconditions import (
    LastModified,
    http_date,
    is_unmodified,
    last_modified,
    names_tag,
    prefers_gzip,
)

NOON = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "is_named"),
    [
        ('"a"', True),
        ('"a-gzip"', True),
        ('W/"a"', True),
        ('"x", W/"y" ,"a"', True),
        ("*", True),
        (" * ", True),
        ('"A"', False),
        ('"x*", "b"', False),
        ("a", False),
        ('"a', False),
        ("", False),
    ],
)
def test_entity_tags_are_compared_weakly(header: str, is_named: bool) -> None:
    assert names_tag(header, '"a"', '"a-gzip"') is is_named


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


def test_a_change_counts_from_the_next_second_on() -> None:
    changed = NOON + timedelta(milliseconds=300)

    soon = last_modified(changed, NOON + timedelta(milliseconds=900))
    later = last_modified(changed, NOON + timedelta(seconds=40))

    assert soon == LastModified(NOON, False)
    assert later == LastModified(NOON + timedelta(seconds=1), True)


def test_a_change_from_a_clock_ahead_of_ours_is_never_in_the_future() -> None:
    modified = last_modified(NOON + timedelta(seconds=30), NOON)

    assert modified == LastModified(NOON, False)


@given(st.integers(0, 9_000), st.integers(0, 9_000), st.integers(0, 9_000), st.integers(0, 9_000))
def test_no_date_hides_a_later_change(first: int, fetch: int, second: int, again: int) -> None:
    """A client fetches after one change and asks again after another, at whatever moments."""
    moments = sorted([first, fetch, second, again])
    changed, fetched, changed_again, asked = (NOON + timedelta(milliseconds=m) for m in moments)
    if changed_again == fetched:
        return
    given_date = http_date(last_modified(changed, fetched).at)

    modified = last_modified(changed_again, asked)

    assert not is_unmodified(given_date, modified)
    assert is_unmodified(http_date(modified.at), modified) is modified.is_settled


@pytest.mark.parametrize("date", ["", "yesterday", "Mon, 99 Jun 2026 12:00:00 GMT", "0", "\x00"])
def test_a_date_that_cannot_be_read_is_ignored(date: str) -> None:
    assert not is_unmodified(date, LastModified(NOON, True))


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
    assert is_unmodified(date, LastModified(NOON, True))
    assert not is_unmodified(date, LastModified(NOON + timedelta(seconds=2), True))
