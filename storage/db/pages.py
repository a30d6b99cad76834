"""Pages of a list: signed cursors that hold a position, bound to organisation, filters and sort."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

import orjson
from itsdangerous import BadData, Signer
from itsdangerous.encoding import base64_decode, base64_encode

from storage.base.errors import UnusableCursor
from storage.db.compiled import Table
from storage.db.database import Row, Transaction

T = TypeVar("T")
R = TypeVar("R")
# Decoding ignores any other character, so an altered cursor would pass.
_BASE64: Final = re.compile(r"[\w.-]+", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class PageOf:
    """At most ``limit`` items after ``cursor``; from the start if it is None."""

    limit: int = 25
    cursor: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Page(Generic[T]):
    """``next_cursor`` is None on the last page."""

    items: list[T]
    next_cursor: str | None


def position(tx: Transaction, page: PageOf, *bound_to: object) -> list[Any] | None:
    """The keyset position in ``page.cursor``; None at the start.

    ``bound_to`` is all that the list depends on: its name, organisation, filters, sort. Raises
    UnusableCursor for a cursor that was altered or belongs to anything else.
    """
    if page.cursor is None:
        return None
    if not _BASE64.fullmatch(page.cursor):
        raise UnusableCursor
    try:
        payload = _signer(tx, bound_to).unsign(page.cursor)
    except BadData as error:
        raise UnusableCursor from error
    keyset: list[Any] = orjson.loads(base64_decode(payload))
    return keyset


def page_of(
    tx: Transaction,
    page: PageOf,
    rows: Sequence[R],
    value: Callable[[R], T],
    key: Callable[[R], list[Any]],
    *bound_to: object,
) -> Page[T]:
    """The page made of ``rows``, which were read with a limit of ``page.limit + 1``.

    ``key`` takes a row's position; ``bound_to`` must be what ``position`` was given.
    """
    page_rows = rows[: page.limit]
    next_cursor = None
    if len(rows) > page.limit:
        payload = base64_encode(orjson.dumps(key(page_rows[-1])))
        next_cursor = _signer(tx, bound_to).sign(payload).decode()
    return Page(items=[value(row) for row in page_rows], next_cursor=next_cursor)


def by_id(
    tx: Transaction,
    page: PageOf,
    table: Table,
    value: Callable[[Row], T],
    name: str,
    organisation_id: str,
    *,
    descends: bool = False,
    where: Mapping[str, object] = MappingProxyType({}),
    **filters: object,
) -> Page[T]:
    """A page of the organisation's rows, by id, which is the order of their creation.

    ``name`` is the list's. Columns have the values in ``where``, as in `Transaction.select`, and
    those in ``filters`` that are not None. Raises UnusableCursor.
    """
    matched = {**where, **{name: value for name, value in filters.items() if value is not None}}
    bound_to = (name, organisation_id, *matched.items())
    after = position(tx, page, *bound_to)
    page_rows = tx.select_page(
        table,
        after_id=after[0] if after else None,
        limit=page.limit + 1,
        descends=descends,
        organisation_id=organisation_id,
        **matched,
    )
    return page_of(tx, page, page_rows, value, lambda row: [row.id], *bound_to)


def _signer(tx: Transaction, bound_to: tuple[object, ...]) -> Signer:
    # 48 bytes fill 64 characters of base64, so that no other text decodes to the same signature.
    return Signer(tx.secrets.signing_keys, salt=repr(bound_to), digest_method=hashlib.sha384)
