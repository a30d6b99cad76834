from __future__ import annotations

import os
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from storage.base.ids import earliest_id, new_id, random_bytes
from tests.builders import NOW


def test_an_id_is_a_version_7_uuid_in_lower_case() -> None:
    parsed = uuid.UUID(new_id(NOW))

    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    assert str(parsed) == str(parsed).lower()


def test_ids_keep_their_order_within_a_millisecond_and_after_a_clock_is_set_back() -> None:
    ids = [new_id(NOW) for _ in range(10_000)]
    ids += [new_id(NOW - timedelta(hours=1)) for _ in range(100)]

    assert ids == sorted(set(ids))


def test_ids_follow_a_clock_that_is_corrected_by_more_than_a_day() -> None:
    ahead = new_id(NOW + timedelta(days=400))
    right = new_id(NOW)

    assert right < ahead
    assert earliest_id(NOW) <= right < earliest_id(NOW + timedelta(milliseconds=1))


def test_threads_never_make_the_same_id() -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(new_id, [NOW] * 5_000))

    assert len(set(ids)) == 5_000


def test_concurrent_callers_never_get_the_same_bytes() -> None:
    with ThreadPoolExecutor(8) as pool:
        chunks = list(pool.map(random_bytes, [8, 16] * 2_000))

    assert {len(chunk) for chunk in chunks} == {8, 16}
    assert len({chunk[:8] for chunk in chunks}) == len(chunks)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_does_not_repeat_its_parent() -> None:
    random_bytes(16)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, random_bytes(16))
        os._exit(0)
    of_parent = random_bytes(16)
    os.waitpid(child, 0)
    of_child = os.read(reading, 16)
    os.close(reading)
    os.close(writing)

    assert len(of_child) == 16
    assert of_child != of_parent
