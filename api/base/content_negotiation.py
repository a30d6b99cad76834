"""Content negotiation of gzip: RFC 9110, section 12.5.3."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WEIGHT: Final = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")


@lru_cache(256)
def prefers_gzip(accept_encoding: str) -> bool:
    """Whether the client accepts gzip, and prefers it at least as much as identity."""
    weights = dict(_weighed(part) for part in accept_encoding.lower().split(",") if part.strip())
    anything = weights.get("*", 0.0)
    gzip = weights.get("gzip", weights.get("x-gzip", anything))
    return gzip > 0 and gzip >= weights.get("identity", 0.0)


def _weighed(part: str) -> tuple[str, float]:
    coding, _, parameter = part.partition(";")
    name, _, weight = parameter.partition("=")
    weight = weight.strip()
    if name.strip() != "q":
        return coding.strip(), 1.0
    return coding.strip(), float(weight) if _WEIGHT.fullmatch(weight) else 0.0
