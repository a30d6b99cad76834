"""Leave by the period in which it was requested, for lists by creation that are filtered by days.

Most leave is requested a few months ahead. So the leave of given days is found in few periods of
creation, and an index look-up skips each of the others. Reading in the list's order instead could
pass most of the organisation's leave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final
from uuid import UUID

from peewee import SQL, Select, fn

from storage.db.compiled import Expr
from storage.db.named_rows import Row
from storage.db.tables import PERIOD_MILLISECONDS, LeaveRequestRow
from storage.leave.lists.sorting import Sort

_BEFORE_ALL: Final = 0
_AFTER_ALL: Final = 2**31
# So many rows of a period can be filtered and sorted in 20 ms. Of more, a page is found sooner by
# reading in the list's order.
MANY_ROWS: Final = 20_000
# Sorts before the id of every leave request.
_NO_ID: Final = str(UUID(int=0))


@dataclass(frozen=True, kw_only=True, slots=True)
class Periods:
    """Where a page's rows are: in periods with few matches, then from the first with many on."""

    with_few: list[int]
    with_many: int | None


def page_rows(
    periods: Periods,
    sort: Sort,
    after: list[Any] | None,
    count: int,
    *,
    in_periods: Callable[[list[int]], list[Row]],
    in_order: Callable[[list[Any], int], list[Row]],
) -> list[Row]:
    """The rows of a page: first those in the periods with few, then in order after a position."""
    page = in_periods(periods.with_few) if periods.with_few else []
    if periods.with_many is None or len(page) == count:
        return page
    begins_at = after
    if begins_at is None or first_period(sort, begins_at) != periods.with_many:
        instant = periods.with_many * PERIOD_MILLISECONDS
        begins_at = [instant + PERIOD_MILLISECONDS if sort.startswith("-") else instant - 1, _NO_ID]
    return page + in_order(begins_at, count - len(page))


def period_of(leave: Any) -> Expr:
    """The number since 1970 of the period in which leave was requested, as two indexes have it."""
    return leave.created_at / SQL(str(PERIOD_MILLISECONDS))


def first_period(sort: Sort, after: list[Any] | None) -> int:
    """The period of a position in a list; without one, a period beyond the list's beginning."""
    if after is not None:
        period: int = after[0] // PERIOD_MILLISECONDS
        return period
    return _AFTER_ALL if sort.startswith("-") else _BEFORE_ALL


def periods_of(period_rows: Sequence[Row]) -> Periods:
    """The periods from the rows of ``until_found``."""
    with_few: list[int] = []
    for row, following in pairwise(period_rows):
        if following.follows_many:
            return Periods(with_few=with_few, with_many=row.period)
        if following.found > row.found:
            with_few.append(row.period)
    return Periods(with_few=with_few, with_many=None)


def until_found(
    of_days: Select,
    conditions: Sequence[Expr],
    *,
    sort: Sort,
    organisation_id: Expr,
    period: Expr,
    is_after: Expr,
    enough: Expr,
) -> Select:
    """Periods in the list's order from ``period`` on, until enough rows are found, and one more.

    ``of_days`` selects from ``LeaveRequestRow`` by an index of periods and days. The first period
    in which it selects many rows ends the list. ``found`` is the number of matching rows in all
    earlier periods: rows that meet the conditions and, in the first period, ``is_after``.
    """
    # Both parts of the recursive query need the same numeric type.
    zero = SQL("CAST(0 AS BIGINT)")
    first = Select(columns=[_nearest(sort, organisation_id, period, includes=True), zero, SQL("0")])
    names = ("period", "found", "follows_many")
    periods: Any = first.cte("periods", recursive=True, columns=names)
    in_period = of_days.where(period_of(LeaveRequestRow) == periods.c.period)
    matches = in_period.where(*conditions)
    if is_after is not None:
        matches = matches.where((periods.c.period != period) | is_after)
    matches = matches.limit(enough).alias("matches")
    beyond_few = in_period.limit(1).offset(SQL(str(MANY_ROWS)))
    following = Select(
        [periods],
        [
            _nearest(sort, organisation_id, periods.c.period, includes=False),
            periods.c.found + Select([matches], [fn.COUNT(SQL("*"))]),
            fn.COALESCE(beyond_few, SQL("0")),
        ],
    ).where(
        periods.c.found < enough,
        periods.c.follows_many == SQL("0"),
        periods.c.period.is_null(False),
    )
    all_periods = periods.union_all(following)
    query: Select = all_periods.select_from(*(getattr(all_periods.c, name) for name in names))
    return query


def _nearest(sort: Sort, organisation_id: Expr, period: Expr, *, includes: bool) -> Expr:
    """The next period with leave of the organisation; null after the last one."""
    leave = LeaveRequestRow.alias()
    number = period_of(leave)
    if sort.startswith("-"):
        is_next, order = (number <= period if includes else number < period), number.desc()
    else:
        is_next, order = (number >= period if includes else number > period), number
    return (
        leave.select(number)
        .where(leave.organisation_id == organisation_id, is_next)
        .order_by(order)
        .limit(1)
    )
