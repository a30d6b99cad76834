"""A database that the version before allowances filled says the same of every balance.

``before_allowances.json`` has the rows of five organisations, with calendar, fiscal and anniversary
leave years, carry-over that expires, people who started, left, were hired again and have figures of
their own from a day on; and the balances that the version before migration 0022 showed for them.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any, Final

import orjson
import psycopg
import pytest
from psycopg import sql

from storage.base.secrets import Secrets
from storage.base.values import SCOPES, Caller
from storage.db.engines import open_database
from storage.db.schema import MIGRATIONS, migrate
from storage.leave import ledgers
from storage.leave.ledgers import Balance
from tests import postgres
from tests.builders import NOW

_BEFORE: Final = Path(__file__).parent / "before_allowances.json"


@pytest.fixture
def old_url(database_url: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database with the migrations before 0022, on the engine of ``database_url``."""
    migrations = tmp_path / "migrations"
    migrations.mkdir()
    for path in MIGRATIONS.glob("[0-9]*.py"):
        if path.stem < "0022":
            shutil.copy(path, migrations)
    if database_url.startswith("sqlite:"):
        url = f"sqlite:///{tmp_path}/old.db"
        migrate(url, migrations=migrations)
        yield url
        return
    name = database_url.rpartition("/")[2].partition("?")[0]
    url = postgres.make_database(request.getfixturevalue("postgres_server"), f"{name}_old")
    migrate(url, migrations=migrations)
    yield url
    postgres.drop_database(url)


def test_the_migration_to_allowances_changes_no_balance(old_url: str) -> None:
    before = orjson.loads(_BEFORE.read_bytes())
    _insert(old_url, before["rows"])

    assert "0022_allowances" in migrate(old_url)

    database = open_database(old_url, Secrets.generate())
    try:
        for organisation_id, owner_id, user_id, balances in before["balances"]:
            by = _owner(organisation_id, owner_id)
            for day, shown in balances.items():
                found = database.read_now(
                    ledgers.balances, user_id, on=date.fromisoformat(day), by=by, now=NOW
                )
                assert [_shown(balance) for balance in found] == [shown], (user_id, day)
    finally:
        database.close()


def _insert(url: str, rows_by_table: dict[str, list[dict[str, Any]]]) -> None:
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file, file:
            for table, rows in rows_by_table.items():
                for row in rows:
                    values = ", ".join("?" * len(row))
                    file.execute(
                        f"INSERT INTO {table} ({', '.join(row)}) VALUES ({values})", [*row.values()]
                    )
        return
    with psycopg.connect(url) as connection:
        for table, rows in rows_by_table.items():
            insert = sql.SQL("INSERT INTO {0} SELECT * FROM json_populate_recordset(null::{0}, %s)")
            connection.execute(insert.format(sql.Identifier(table)), [orjson.dumps(rows).decode()])


def _owner(organisation_id: str, owner_id: str) -> Caller:
    return Caller(
        organisation_id=organisation_id,
        user_id=owner_id,
        role="owner",
        scopes=frozenset(SCOPES),
        source="api",
    )


def _shown(balance: Balance) -> list[Any]:
    """As the file has it."""
    until = balance.lapsing_after
    return [
        balance.year.name,
        balance.remaining_half_days,
        balance.entitled_half_days,
        balance.taken_half_days,
        balance.pending_half_days,
        balance.lapsing_half_days,
        None if until is None else until.isoformat(),
        [
            [line.type, line.half_days, line.source, line.day and line.day.isoformat()]
            for line in balance.lines
        ],
    ]
