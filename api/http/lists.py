"""The wrapper and the cursor that lists share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Generic, TypeVar

from pydantic import Field
from typing_extensions import TypedDict

from storage.db.pages import Page

T = TypeVar("T")

R = TypeVar("R")


class PaginationRecord(TypedDict):
    """The cursor of the next page."""

    next_cursor: Annotated[str | None, Field(description="Null on the last page.")]
    has_more: bool


class Listing(TypedDict, Generic[T]):
    """One page of a list."""

    data: list[T]
    pagination: PaginationRecord


def pagination(page: Page[T]) -> PaginationRecord:
    return {"next_cursor": page.next_cursor, "has_more": page.next_cursor is not None}


def listing(page: Page[T]) -> Listing[T]:
    """A page in the wrapper that all lists share."""
    return {"data": page.items, "pagination": pagination(page)}


def listing_of(page: Page[T], record: Callable[[T], R]) -> Listing[R]:
    """As ``listing``, of what ``record`` makes of each item."""
    return {"data": [record(item) for item in page.items], "pagination": pagination(page)}


def whole(items: list[T]) -> Listing[T]:
    """A list that is bounded by its subject, so it has no pages."""
    return {"data": items, "pagination": {"next_cursor": None, "has_more": False}}
