"""CSS colour names, for formats that take only names (RFC 7986, 5.9)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import webcolors

# One name for each colour: of aqua/cyan and grey/gray, only one is here.
_RGB: Final[dict[str, tuple[int, int, int]]] = {
    webcolors.hex_to_name(webcolors.name_to_hex(name)): webcolors.name_to_rgb(name)
    for name in webcolors.names()
}


@lru_cache(maxsize=1_024)
def nearest_css_name(colour: str) -> str:
    """The CSS name nearest to ``#rrggbb`` by distance in RGB; of equals, the alphabetically first.

    >>> nearest_css_name("#fe0102")
    'red'
    """
    rgb = webcolors.hex_to_rgb(colour)
    return min(sorted(_RGB), key=lambda name: _distance(_RGB[name], rgb))


def _distance(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    return sum((left - right) ** 2 for left, right in zip(first, second, strict=True))
