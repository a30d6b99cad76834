"""The audit trail's queries are served by indexes."""

from __future__ import annotations

from typing import Any

from storage.base.ids import new_id
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import AuditRow
from storage.events import audit
from tests import outside
from tests.builders import NOW, an_organisation
from tests.plans import plans_of

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


# The filters of a page, and the last column of the index that serves them.
FILTERS: list[tuple[dict[str, Any], str]] = [
    ({}, "occurred_at"),
    ({"action": "thing.changed_7"}, "action"),
    ({"actor_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"}, "actor_id"),
    ({"subject_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"}, "subject_id"),
    ({"first_day": NOW.date(), "last_day": NOW.date()}, "occurred_at"),
]


def test_every_page_is_read_from_an_index_in_its_order(
    database: Database, database_url: str
) -> None:
    acme = an_organisation(database)
    database.write_now(make_entries, acme.id)
    outside.run(database_url, "ANALYZE")

    for filters, column in FILTERS:
        first = database.read_now(audit.entries, PageOf(), by=acme.caller, **filters)
        for page in (PageOf(), PageOf(cursor=first.next_cursor)):
            (plan,) = plans_of(
                *(database, database_url, audit.entries, page),
                has_few_rows=False,
                by=acme.caller,
                **filters,
            )

            assert f"auditrow_organisation_id_{column}" in plan, (filters, page)
            assert "Sort" not in plan, (filters, page)
            assert "TEMP B-TREE" not in plan, (filters, page)
