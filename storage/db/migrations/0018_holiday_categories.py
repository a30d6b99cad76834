"""Categories of holiday sets, and overrides of every year. Released: never edit this file."""

from __future__ import annotations

import time
import uuid
from typing import Any

from storage.db.migrations.statements import drop_index, run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
ALTER TABLE holiday_sets ADD COLUMN categories TEXT NOT NULL DEFAULT '["public"]';
ALTER TABLE holiday_overrides ADD COLUMN every_year BOOLEAN NOT NULL DEFAULT FALSE;
CREATE UNIQUE INDEX holiday_overrides_of_a_day
    ON holiday_overrides (organisation_id, holiday_set_id, date, every_year);
"""
# Where countries without a set have more than public holidays from now on.
_MORE_BY_DEFAULT = ("DE-BY", "IS", "SE", "TR")


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
    drop_index(db, "holidayoverriderow_organisation_id_holiday_set_id_date")
    for code in _MORE_BY_DEFAULT:
        _keep_public_only(db, code)


def _keep_public_only(db: Any, code: str) -> None:
    """Give organisations whose people have the country without a set one, so no count changes."""
    without_set = db.execute_sql(
        f"""
        SELECT DISTINCT organisation_id FROM users
        WHERE (public_holiday_country_code = {db.param} OR employment LIKE {db.param})
        AND organisation_id NOT IN (
            SELECT organisation_id FROM holiday_sets WHERE country_code = {db.param}
        )
        """,
        (code, f'%"{code}"%', code),
    ).fetchall()
    for (organisation_id,) in without_set:
        db.execute_sql(
            "INSERT INTO holiday_sets (organisation_id, id, country_code, created_at) "
            f"VALUES ({', '.join([db.param] * 4)})",
            (organisation_id, str(uuid.uuid4()), code, time.time_ns() // 1_000_000),
        )
