"""Pages of a list: signed cursors that hold a position, bound to organisation, filters and sort."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import orjson

from storage.base.errors import UnusableCursor
from storage.db.database import Transaction

T = TypeVar("T")
SIGNATURE_BYTES = 16


class PageOf(NamedTuple):
    """What a caller asks for: at most ``limit`` items after ``cursor`` (None: from the start)."""

    limit: int = 25
    cursor: str | None = None


class Page(NamedTuple, Generic[T]):
    """``next_cursor`` is None on the last page."""

    items: list[T]
    next_cursor: str | None


def position(tx: Transaction, page: PageOf, *bound_to: object) -> list[Any] | None:
    """The keyset position in ``page.cursor``; None at the start.

    ``bound_to`` is whatever the list depends on: its name, organisation, filters, sort. Raises
    UnusableCursor for a cursor that was altered or belongs to anything else.
    """
    if page.cursor is None:
        return None
    try:
        raw = base64.urlsafe_b64decode(page.cursor.encode("ascii"))
    except (binascii.Error, UnicodeEncodeError) as error:
        raise UnusableCursor from error
    # Decoding passes over characters outside the alphabet, so an altered text may mean the same.
    if base64.urlsafe_b64encode(raw).decode() != page.cursor:
        raise UnusableCursor
    signature, payload = raw[:SIGNATURE_BYTES], raw[SIGNATURE_BYTES:]
    if not tx.secrets.is_signed(_message(payload, bound_to), signature):
        raise UnusableCursor
    found: list[Any] = orjson.loads(payload)
    return found


def page_of(
    tx: Transaction,
    page: PageOf,
    rows: Sequence[Sequence[Any]],
    value: Callable[[Sequence[Any]], T],
    key: Callable[[Sequence[Any]], list[Any]],
    *bound_to: object,
) -> Page[T]:
    """The page made of ``rows``, which were read with a limit of ``page.limit + 1``.

    ``key`` takes a row's position; ``bound_to`` must be what ``position`` was given.
    """
    shown = rows[: page.limit]
    next_cursor = None
    if len(rows) > page.limit:
        payload = orjson.dumps(key(shown[-1]))
        signature = tx.secrets.sign(_message(payload, bound_to))
        next_cursor = base64.urlsafe_b64encode(signature + payload).decode()
    return Page([value(row) for row in shown], next_cursor)


def _message(payload: bytes, bound_to: tuple[object, ...]) -> bytes:
    return hashlib.sha256(repr(bound_to).encode()).digest() + payload
