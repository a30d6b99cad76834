"""Rows: the short way to the public shape leads to the same place as the long one."""

from __future__ import annotations

from datetime import date

import orjson
import pytest

from storage.base import records
from storage.db import rows

PENDING = (
    "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
    "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b12",
    "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b13",
    "pending",
    "2026-08-03",
    "2026-08-07",
    None,
    "am",
    9,
    "33331",
    "To the sea.",
    None,
    None,
    None,
    None,
    1_780_000_000_000,
    1_780_000_000_007,
    1,
)
DECLINED_THEN_CANCELLED = (
    *PENDING[:3],
    "cancelled",
    *PENDING[4:8],
    10,
    "33333",
    None,
    "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b14",
    1_780_000_000_120,
    "Too many are away.",
    1_780_000_000_999,
    *PENDING[15:],
)


@pytest.mark.parametrize("row", [PENDING, DECLINED_THEN_CANCELLED])
def test_a_row_and_its_value_have_the_same_public_shape(row: tuple[object, ...]) -> None:
    value = rows.leave_request(row)

    assert value.start_date == date(2026, 8, 3)
    long_way = orjson.dumps(records.leave_request(value), option=orjson.OPT_UTC_Z)
    short_way = orjson.dumps(rows.leave_request_record(row), option=orjson.OPT_UTC_Z)
    assert short_way == long_way
