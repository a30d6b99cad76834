"""What the generated groups of operations share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hiatus_client.transport import QueryValue, Transport

MAX_PAGE: Final = 100


class Group:
    """Operations of one subject."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def pages(
        self,
        path: str,
        query: Mapping[str, QueryValue],
        *,
        headers: Mapping[str, str | None] | None = None,
    ) -> Iterator[Any]:
        """The items of all pages of a list, each page read when its first item is asked for."""
        query = {"limit": MAX_PAGE, **query}
        while True:
            page: Any = self._transport.call("GET", path, query=query, headers=headers)
            yield from page["data"]
            cursor = page["pagination"]["next_cursor"]
            if cursor is None:
                return
            query = {**query, "cursor": cursor}
