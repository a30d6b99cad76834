"""The audit trail's queries are served by their indexes, however many entries there are."""

from __future__ import annotations

from typing import Any

import pytest

from storage.base.ids import new_id
from storage.db.database import Database, Transaction
from storage.db.tables import AuditRow
from storage.events import audit
from tests.builders import NOW, an_organisation

ENTRIES = 3_000


def make_entries(tx: Transaction, organisation_id: str) -> None:
    rows = [
        {
            "organisation_id": organisation_id,
            "id": new_id(NOW),
            "action": f"thing.changed_{number % 40}",
            "occurred_at": NOW,
            "actor_id": new_id(NOW),
            "source": "api",
            "subject_type": "thing",
            "subject_id": new_id(NOW),
            "changes": "{}",
            "request_id": None,
        }
        for number in range(ENTRIES)
    ]
    tx.insert_all(AuditRow, rows)


def plan(tx: Transaction, /, **params: Any) -> str:
    sql, values = audit._entries.bind(tx.engine, (), params)
    explain = "EXPLAIN " if tx.engine == "postgresql" else "EXPLAIN QUERY PLAN "
    found = tx._execute(explain + sql, values)
    return "\n".join(str(row[-1]) for row in found.fetchall())


@pytest.mark.parametrize(
    ("filters", "column"),
    [
        ({}, "occurred_at"),
        ({"action": "thing.changed_7"}, "action"),
        ({"actor_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"}, "actor_id"),
        ({"subject_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"}, "subject_id"),
        ({"from_at": 1, "until_at": 2}, "occurred_at"),
    ],
    ids=["none", "action", "actor", "subject", "days"],
)
@pytest.mark.parametrize("is_later", [False, True], ids=["first page", "later page"])
def test_a_page_is_read_from_an_index_in_its_order(
    database: Database, filters: dict[str, Any], column: str, is_later: bool
) -> None:
    acme = an_organisation(database)
    database.write_now(make_entries, acme.id)
    database.write_now(lambda tx: tx._execute("ANALYZE", []))
    absent = dict.fromkeys(
        ("action", "actor_id", "subject_id", "from_at", "until_at", "after_at", "after_id")
    )
    params = {"organisation_id": acme.id, "limit": 26, **absent, **filters}
    if is_later:
        params |= {"after_at": NOW, "after_id": new_id(NOW)}

    found = database.read_now(plan, **params)

    assert f"auditrow_organisation_id_{column}" in found
    assert "Sort" not in found
    assert "TEMP B-TREE" not in found
