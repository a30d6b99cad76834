"""The planner's statistics: PostgreSQL needs them, SQLite must have none."""

from __future__ import annotations

from typing import Any, Final

import peewee
from peewee import SQL, Select, fn

from storage.db.compiled import Engine, Param, compiled, compiled_per_engine
from storage.db.database import Transaction

# Smaller tables are read quickly with any plan.
LARGE_ROWS: Final = 10_000
# How much a table may grow or change before its statistics are outdated.
_GROWTH: Final = 5


def has_table(tx: Transaction, name: str) -> bool:
    return tx.first(_table_named, name=name) is not None


def without_statistics(tx: Transaction) -> list[str]:
    """The names of PostgreSQL's large tables that were never analysed, or changed a lot since."""
    return [name for (name,) in tx.all(_not_analysed, large=LARGE_ROWS, growth=_GROWTH)]


@compiled_per_engine
def _table_named(engine: Engine, name: Param[str]) -> Select:
    if engine == "sqlite":
        master = peewee.Table("sqlite_master", ("name", "type"))
        return master.select(master.name).where(master.type == "table", master.name == name)
    tables: Any = peewee.Table("pg_tables", ("tablename", "schemaname"))
    return tables.select(tables.tablename).where(
        tables.tablename == name, tables.schemaname == fn.current_schema()
    )


@compiled
def _not_analysed(large: Param[int], growth: Param[int]) -> Select:
    # Never analysed or vacuumed: reltuples is -1 (PostgreSQL's manual, "pg_class").
    classes: Any = peewee.Table("pg_class", ("oid", "relname", "reltuples"))
    changes: Any = peewee.Table(
        "pg_stat_user_tables", ("relid", "n_live_tup", "n_mod_since_analyze", "schemaname")
    )
    analysed = fn.GREATEST(classes.reltuples, SQL("0"))
    return (
        changes.select(classes.relname)
        .join(classes, on=(classes.oid == changes.relid))
        .where(
            changes.schemaname == fn.current_schema(),
            changes.n_mod_since_analyze > fn.GREATEST(large, analysed * (growth - 1)),
        )
        .order_by(classes.relname)
    )
