"""Content negotiation: gzip, JSON and languages. Source: RFC 9110, section 12.5."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_WEIGHT: Final = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")


@lru_cache(maxsize=256)
def prefers_gzip(accept_encoding: str) -> bool:
    """Whether the client accepts gzip, and prefers it at least as much as identity."""
    weights = _weights(accept_encoding)
    anything = weights.get("*", 0.0)
    gzip = weights.get("gzip", weights.get("x-gzip", anything))
    return gzip > 0 and gzip >= weights.get("identity", 0.0)


@lru_cache(maxsize=256)
def prefers_json(accept: str) -> bool:
    """Whether the client names JSON, and prefers it to HTML."""
    weights = _weights(accept)
    return weights.get("application/json", 0.0) > weights.get("text/html", 0.0)


@lru_cache(maxsize=256)
def prefers_html(accept: str) -> bool:
    """Whether the client names HTML, as browsers do, and prefers it to JSON."""
    weights = _weights(accept)
    html = weights.get("text/html", 0.0)
    json = (weights.get(name, 0.0) for name in ("application/json", "application/problem+json"))
    return html > 0 and html >= max(json)


def preferred(accept_language: str, languages: Sequence[str]) -> str:
    """The language, such as ``de``, that the client prefers; the first one if it names none.

    ``de-AT`` is German. Of languages that the client likes as much, the first one in its header.
    """
    best, best_weight = languages[0], 0.0
    for tag, weight in _weights(accept_language).items():
        language = tag.partition("-")[0]
        if language in languages and weight > best_weight:
            best, best_weight = language, weight
    return best


def _weights(header: str) -> dict[str, float]:
    return dict(_weighed(part) for part in header.lower().split(",") if part.strip())


def _weighed(part: str) -> tuple[str, float]:
    coding, _, parameter = part.partition(";")
    name, _, weight = parameter.partition("=")
    weight = weight.strip()
    if name.strip() != "q":
        return coding.strip(), 1.0
    return coding.strip(), float(weight) if _WEIGHT.fullmatch(weight) else 0.0
