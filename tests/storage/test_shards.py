"""docs/scaling.md lists what stands in the way of sharding by organisation in the real schema."""

from __future__ import annotations

import re
from pathlib import Path

from tests import outside

PAGE = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text(encoding="utf-8")
TABLES, INDEXES = re.findall(r"^```sql\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def rows_of_the_page() -> dict[str, set[str]]:
    """By table: the indexes that the page names."""
    listed: dict[str, set[str]] = {}
    for table, indexes in re.findall(r"^\| `(\w+)` \| (`\w+`(?:, `\w+`)*) \|", PAGE, re.MULTILINE):
        listed.setdefault(table, set()).update(re.findall(r"\w+", indexes))
    return listed


def test_the_page_lists_every_unique_index_without_the_organisation(postgres_url: str) -> None:
    listed = rows_of_the_page()

    assert {name for (name,) in outside.rows(postgres_url, INDEXES)} == set().union(
        *listed.values()
    )
    tables = {name for (name,) in outside.rows(postgres_url, TABLES)}
    assert tables <= listed.keys()


def test_the_page_counts_tables_and_foreign_keys(postgres_url: str) -> None:
    of_public = "connamespace = 'public'::regnamespace AND contype = 'f'"
    [(all_keys, with_organisation)] = outside.rows(
        postgres_url,
        "SELECT count(*), count(*) FILTER (WHERE pg_get_constraintdef(oid) LIKE "
        f"'FOREIGN KEY (organisation_id%') FROM pg_constraint WHERE {of_public}",
    )
    [(tables,)] = outside.rows(
        postgres_url, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
    )
    distributed = tables - len(outside.rows(postgres_url, TABLES))
    keyed = outside.rows(
        postgres_url,
        "SELECT conrelid FROM pg_constraint WHERE contype = 'p' AND "
        "pg_get_constraintdef(oid) LIKE 'PRIMARY KEY (organisation_id%'",
    )

    assert (all_keys, distributed) == (with_organisation, len(keyed))
    assert f"all {all_keys} foreign keys contain `organisation_id`" in PAGE
    assert f"{distributed} of {tables} tables" in PAGE
