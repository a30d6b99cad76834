"""Rows whose columns have names."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any


class Row(tuple[Any, ...]):
    """A row: ``row.start_date`` is a column by its name or alias. Few columns may be unpacked."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


@lru_cache(maxsize=2_048)
def row_maker(columns: tuple[str, ...]) -> Callable[[Iterable[Any]], Row]:
    """A function that names the columns of a plain row."""
    # An expression without an alias gets a name like ``_3``.
    names: Any = namedtuple("Names", columns, rename=True)  # type: ignore[misc]
    return partial(tuple.__new__, type("Row", (names, Row), {"__slots__": ()}))
