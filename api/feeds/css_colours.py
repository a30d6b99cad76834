"""CSS colour names, for formats that take a name and no number (RFC 7986, 5.9)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import webcolors

# Of two names for one colour (aqua/cyan, grey/gray) only one is here.
_RGB: Final[dict[str, tuple[int, int, int]]] = {
    webcolors.hex_to_name(webcolors.name_to_hex(name)): webcolors.name_to_rgb(name)
    for name in webcolors.names()
}


@lru_cache(maxsize=1_024)
def nearest_css_name(colour: str) -> str:
    """The CSS name nearest to ``#rrggbb`` by distance in RGB; of several, the first by alphabet.

    >>> nearest_css_name("#fe0102")
    'red'
    """
    wanted = webcolors.hex_to_rgb(colour)
    return min(sorted(_RGB), key=lambda name: _distance(_RGB[name], wanted))


def _distance(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum((left - right) ** 2 for left, right in zip(one, other, strict=True))
