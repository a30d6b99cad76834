"""Ids: of the right form, and in the order in which they were made."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from storage.base.ids import earliest_id, new_id
from tests.builders import NOW


def test_an_id_is_a_version_7_uuid_in_lower_case() -> None:
    found = uuid.UUID(new_id(NOW))

    assert (found.version, found.variant) == (7, uuid.RFC_4122)
    assert str(found) == str(found).lower()


def test_ids_of_one_millisecond_and_of_a_clock_set_back_keep_their_order() -> None:
    made = [new_id(NOW) for _ in range(10_000)]
    made += [new_id(NOW - timedelta(hours=1)) for _ in range(100)]

    assert made == sorted(set(made))


def test_a_clock_that_was_days_ahead_is_forgotten() -> None:
    ahead = new_id(NOW + timedelta(days=400))
    right = new_id(NOW)

    assert right < ahead
    assert earliest_id(NOW) <= right < earliest_id(NOW + timedelta(milliseconds=1))


def test_threads_never_make_the_same_id() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(new_id, [NOW] * 5_000))

    assert len(set(made)) == 5_000
