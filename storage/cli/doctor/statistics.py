"""Which large tables have no current statistics for the planner."""

from __future__ import annotations

from typing import Any, Final

import peewee
from peewee import SQL, Select, fn

from storage.db.compiled import Engine, Param, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import TABLES

# Smaller tables are read quickly with any plan.
LARGE_ROWS: Final = 10_000
# How much a table may grow or change before its statistics are outdated.
_GROWTH: Final = 5


def has_table(tx: Transaction, name: str) -> bool:
    return tx.first(_table_named, name=name) is not None


def without_statistics(tx: Transaction) -> list[str]:
    """The names of large tables that were never analysed, or have changed a lot since."""
    if tx.engine == "postgresql":
        return [name for (name,) in tx.all(_not_analysed, large=LARGE_ROWS, growth=_GROWTH)]
    analysed: dict[str, int] = {}
    if has_table(tx, "sqlite_stat1"):
        # The first number of ``stat`` is the table's rows as ANALYZE counted or estimated them.
        for table, stat in tx.all(_analysed):
            analysed[table] = max(analysed.get(table, 0), int(str(stat).split(" ")[0]))
    names = [model._meta.table_name for model in TABLES]
    return [
        name
        for name in names
        if _has_rows(tx, name, max(LARGE_ROWS, analysed.get(name, 0) * _GROWTH))
    ]


def _has_rows(tx: Transaction, table: str, count: int) -> bool:
    """Whether there are more rows than ``count``."""
    return tx.first(_row_at, table=table, offset=count) is not None


@compiled
def _row_at(table: str, offset: Param[int]) -> Select:
    return Select([peewee.Table(table)], [SQL("1").alias("found")]).limit(1).offset(offset)


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
def _analysed() -> Select:
    statistics = peewee.Table("sqlite_stat1", ("tbl", "stat"))
    return statistics.select(statistics.tbl, statistics.stat)


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
