"""The orders of lists: each is an index's, with the id as its last column."""

from __future__ import annotations

from typing import Final, Literal

from peewee import Select, Tuple

from storage.db.compiled import Engine, Expr, unindexed
from storage.db.named_rows import Row
from storage.db.tables import LeaveRequestRow

Sort = Literal["start_date", "-start_date", "created_at", "-created_at"]


def is_by_start(sort: Sort) -> bool:
    return sort in ("start_date", "-start_date")


def _by_start(row: Row) -> list[object]:
    return [row.start_date, row.id]


def _by_creation(row: Row) -> list[object]:
    return [row.created_at, row.id]


KEYS: Final = {
    "start_date": _by_start,
    "-start_date": _by_start,
    "created_at": _by_creation,
    "-created_at": _by_creation,
}


def sorted_after(
    query: Select,
    sort: Sort,
    after_key: Expr,
    after_id: Expr,
    *,
    few_on: Engine | None = None,
) -> Select:
    """Order by the sort's column and id, starting after a position; each order has an index.

    ``few_on`` names the engine if few rows pass the filters: these are then filtered first and
    sorted afterwards. Neither engine can know that, and both would scan the index in order.
    """
    if after_key is not None:
        query = query.where(is_after(sort, after_key, after_id, few_on=few_on))
    order = _key(sort, few_on)
    return query.order_by(*(part.desc() for part in order) if sort.startswith("-") else order)


def is_after(sort: Sort, after_key: Expr, after_id: Expr, *, few_on: Engine | None = None) -> Expr:
    """Whether leave comes after a position in the list."""
    key, after = Tuple(*_key(sort, few_on)), Tuple(after_key, after_id)
    return key < after if sort.startswith("-") else key > after


def _key(sort: Sort, few_on: Engine | None) -> tuple[Expr, Expr]:
    column = getattr(LeaveRequestRow, sort.removeprefix("-"))
    return unindexed(column, few_on) if few_on is not None else column, LeaveRequestRow.id
